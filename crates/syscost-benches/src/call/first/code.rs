//! A procedure of this program in a page of its own, whose code can be evicted from the caches.
#![allow(unsafe_code)] // mapping code and calling it

use std::ffi::c_void;
use std::fs::{self, File};
use std::mem::transmute;
use std::{ptr, slice};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::cold_code::evict;

/// The procedure that is called. It refers to no memory and calls nothing, even without
/// optimisation, so that a copy of it runs at any address.
#[inline(never)]
extern "C" fn complement(number: u64) -> u64 {
    !number
}

/// Pages mapped: the one in which the procedure begins, and the next, should it end there.
const PAGES: usize = 2;

/// Bytes that hold the procedure: compared before the second mapping is called, and evicted.
const PROCEDURE_BYTES: usize = 16;

/// Where in this program's file the code at `address` is, by /proc/self/maps.
fn file_position(address: usize) -> Result<u64, Failure> {
    const MAPS: &str = "/proc/self/maps";
    let maps =
        fs::read_to_string(MAPS).map_err(|cause| Failure::of(&format!("read {MAPS}"), cause))?;
    maps.lines()
        .find_map(|line| position_in(line, address as u64))
        .ok_or_else(|| Failure::Unsupported(format!("{MAPS} does not name this program's code")))
}

/// Parses one line: `start-end permissions offset device inode path`.
fn position_in(line: &str, address: u64) -> Option<u64> {
    let mut fields = line.split_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let offset = fields.nth(1)?;
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    (start..end)
        .contains(&address)
        .then_some(hexadecimal(offset)? + (address - start))
}

/// The page of this program's file that holds [`complement`], mapped a second time.
pub(super) struct Code {
    page: *mut c_void,
    procedure: extern "C" fn(u64) -> u64,
}

impl Code {
    pub(super) fn map() -> Result<Self, Failure> {
        const EXE: &str = "/proc/self/exe";
        let original = complement as *const u8;
        let within = original.addr() % page_size();
        let offset = file_position(original.addr())? - within as u64;
        let file = File::open(EXE).map_err(|cause| Failure::of(&format!("open {EXE}"), cause))?;
        let access = ProtFlags::READ | ProtFlags::EXEC;
        let length = PAGES * page_size();
        // SAFETY: a fresh private mapping, which nothing else refers to, of a file that is being executed.
        let page = unsafe {
            mmap(
                ptr::null_mut(),
                length,
                access,
                MapFlags::PRIVATE,
                &file,
                offset,
            )
        }
        .map_err(|cause| Failure::of(&format!("map {EXE} as code"), cause))?;
        let copy = page.wrapping_byte_add(within);
        // SAFETY: its bytes are compared with those of `complement` before it is called; they refer
        // to no address.
        let procedure = unsafe { transmute::<*mut c_void, extern "C" fn(u64) -> u64>(copy) };
        let code = Self { page, procedure };
        // SAFETY: code is readable, and what follows the procedure in its page or the next is code too.
        let bytes = unsafe { slice::from_raw_parts(original, PROCEDURE_BYTES) };
        if code.bytes() == bytes {
            Ok(code)
        } else {
            Err(Failure::Broken(
                "finds other code in the program's file than in its memory".into(),
            ))
        }
    }

    /// Calls the procedure, which returns the complement of `number`.
    #[inline(always)]
    pub(super) fn call(&self, number: u64) -> u64 {
        (self.procedure)(number)
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable, nothing writes to it, and the procedure begins in the
        // first of its pages.
        unsafe { slice::from_raw_parts(self.procedure as *const u8, PROCEDURE_BYTES) }
    }

    /// Evicts the procedure from all caches.
    pub(super) fn evict(&self) {
        evict(self.bytes());
    }

    /// Evicts the procedure, and removes its page from the page table; it stays in the page cache.
    pub(super) fn unmap(&self) -> Result<(), Failure> {
        self.evict();
        // SAFETY: a private file mapping that was never written: its pages come back from the file
        // as they were.
        unsafe { madvise(self.page, PAGES * page_size(), Advice::LinuxDontNeed) }
            .tried("madvise(MADV_DONTNEED) of a page of code")
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `map`; `self` held the only pointers into it.
        let _ = unsafe { munmap(self.page, PAGES * page_size()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_maps_gives_the_position_in_its_file() {
        let line = "5500a000-5500c000 r-xp 00003000 08:01 4711                       /opt/a b/tool";
        assert_eq!(position_in(line, 0x5500_b010), Some(0x4010));
        assert_eq!(
            position_in(line, 0x5500_c000),
            None,
            "the end is not part of the mapping"
        );
    }

    #[test]
    fn the_procedure_answers_from_its_second_mapping_in_every_state() {
        let code = Code::map().expect("this program's own file can be mapped");
        assert_ne!(code.procedure as *const (), complement as *const ());
        assert_eq!(code.call(41), !41);
        code.unmap().expect("unmapped");
        assert_eq!(code.call(1), !1);
    }
}
