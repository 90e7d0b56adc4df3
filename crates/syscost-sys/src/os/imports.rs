//! Which files the functions are in that this program takes from shared libraries.
#![allow(unsafe_code)] // tables that the linker made, by address

use std::ffi::{CStr, c_char};
use std::mem;

/// An entry of the program's table of dynamic linking (gABI, "Dynamic Section").
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

/// A place that the dynamic linker fills, with the symbol whose address it writes there.
#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

/// Tags of the dynamic section: a needed library, the table of strings, that of symbols (`DT_NEEDED`,
/// `DT_STRTAB`, `DT_SYMTAB`).
const NEEDED: i64 = 1;
const STRINGS: i64 = 5;
const SYMBOLS: i64 = 6;
/// How many of the first relocations of data name no symbol.
const RELATIVE: i64 = 0x6fff_fff9;
/// Tables of relocations, and how many bytes each has: those of data, and those of calls.
const RELOCATIONS: [(i64, i64); 2] = [(7, 8), (23, 2)];

/// STT_FUNC, the low half of a symbol's info.
const FUNCTION: u8 = 2;

unsafe extern "C" {
    // Both are made by the linker, for this program alone.
    static _DYNAMIC: Dynamic;
    static __ehdr_start: u8;
}

/// Where the program begins.
fn base() -> usize {
    (&raw const __ehdr_start).addr()
}

/// The values with this tag.
fn values(tag: i64) -> impl Iterator<Item = usize> {
    let mut entry = &raw const _DYNAMIC;
    std::iter::from_fn(move || {
        // SAFETY: the table ends with an entry of tag 0, beyond which this never goes.
        let Dynamic { tag, value } = unsafe { entry.read() };
        (tag != 0).then(|| {
            // SAFETY: another entry follows one that is not the last.
            entry = unsafe { entry.add(1) };
            (tag, value)
        })
    })
    .filter(move |(found, _)| *found == tag)
    .map(|(_, value)| value)
}

/// The table with this tag; not all C libraries make its offset an address.
fn table<T>(tag: i64) -> Option<*const T> {
    let at = values(tag).next()?;
    let address = if at < base() { base() + at } else { at };
    Some(std::ptr::with_exposed_provenance(address))
}

/// A text of the program's table of names.
fn name(strings: *const c_char, offset: usize) -> String {
    // SAFETY: the table holds texts that end in zero, and offsets of the program are within it.
    let text = unsafe { CStr::from_ptr(strings.add(offset)) };
    text.to_string_lossy().into_owned()
}

/// The functions that the program takes from shared libraries, and where they are.
fn functions(strings: *const c_char) -> Vec<(String, usize)> {
    let Some(symbols) = table::<libc::Elf64_Sym>(SYMBOLS) else {
        return Vec::new();
    };
    let named = relocations().filter_map(|relocation| {
        let number = (relocation.info >> 32) as usize;
        // SAFETY: the linker numbers no symbol that is not in the table.
        let symbol = unsafe { symbols.add(number).read() };
        if symbol.st_shndx != 0 || symbol.st_info & 0xf != FUNCTION {
            return None;
        }
        let place: *const usize = std::ptr::with_exposed_provenance(base() + relocation.offset);
        // SAFETY: the dynamic linker has written the function's address there.
        let at = unsafe { place.read() }.wrapping_sub(relocation.addend as usize);
        Some((name(strings, symbol.st_name as usize), at))
    });
    named.collect()
}

/// The places that are filled with addresses of symbols.
fn relocations() -> impl Iterator<Item = &'static Relocation> {
    let tables = RELOCATIONS.into_iter().filter_map(|(start, length)| {
        let count = values(length).next()? / mem::size_of::<Relocation>();
        // SAFETY: the table has this many entries, and nothing changes it.
        Some(unsafe { std::slice::from_raw_parts(table::<Relocation>(start)?, count) })
    });
    let relative = values(RELATIVE).next().unwrap_or(0);
    tables.enumerate().flat_map(move |(index, table)| {
        let skipped = if index == 0 { relative } else { 0 };
        table.iter().skip(skipped)
    })
}

/// The file that the function at this address is in; `None` for this program's own and the kernel's, and where nothing is.
fn file_of(address: usize) -> Option<String> {
    // SAFETY: all zeros are a valid value.
    let mut found: libc::Dl_info = unsafe { mem::zeroed() };
    let address = std::ptr::without_provenance(address);
    // SAFETY: the call looks the address up, whatever it is, and fills `found`.
    let known = unsafe { libc::dladdr(address, &raw mut found) } != 0;
    // The kernel's own code answers what the C library lets it.
    let is_own = [base(), super::vdso()].contains(&found.dli_fbase.addr());
    if !known || found.dli_fname.is_null() || is_own {
        return None;
    }
    // SAFETY: the name of a loaded file, which lives as long as it is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(name.to_string_lossy().into_owned())
}

/// The functions that the program takes from shared libraries and that are in a file which it does not name, with that file.
pub(crate) fn replaced() -> Vec<(String, String)> {
    let Some(strings) = table::<c_char>(STRINGS) else {
        return Vec::new();
    };
    let named: Vec<String> = values(NEEDED).map(|at| name(strings, at)).collect();
    let is_named = |path: &str| {
        path.rsplit('/')
            .next()
            .is_some_and(|file| named.iter().any(|one| one == file))
    };
    let functions = functions(strings).into_iter();
    let found = functions.filter_map(|(function, at)| Some((function, file_of(at)?)));
    let mut found: Vec<_> = found.filter(|(_, file)| !is_named(file)).collect();
    found.sort_unstable();
    found.dedup();
    found
}
