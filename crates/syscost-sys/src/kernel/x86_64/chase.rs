//! Pointer chases; `rsi` points to a table of the chains' positions.

use super::super::Entry;

/// What a kernel does for a chain of this number, whose position is the table's word of that number; `rcx`
/// keeps the table.
macro_rules! chain {
    (keep the table) => {
        "mov rcx, rsi"
    };
    (begin $number:tt) => {
        concat!("mov ", chain!($number), ", [rcx + 8 * ", $number, "]")
    };
    (step $number:tt) => {
        concat!("mov ", chain!($number), ", [", chain!($number), "]")
    };
    (add $number:tt) => {
        concat!("add r12, [", chain!($number), " + 8]")
    };
    (end $number:tt) => {
        concat!("mov [rcx + 8 * ", $number, "], ", chain!($number))
    };
    (step in the table) => {
        "mov rax, [rsi + 8 * \\place]\nmov rax, [rax]\nmov [rsi + 8 * \\place], rax"
    };
    (add from the table) => {
        "mov rax, [rsi + 8 * \\place]\nadd r12, [rax + 8]"
    };
    // The register of a chain.
    (0) => {
        "rax"
    };
    (1) => {
        "rdx"
    };
    (2) => {
        "rsi"
    };
    (3) => {
        "rdi"
    };
    (4) => {
        "r8"
    };
    (5) => {
        "r9"
    };
    (6) => {
        "r10"
    };
    (7) => {
        "r11"
    };
    (8) => {
        "rbp"
    };
    (9) => {
        "r13"
    };
    (10) => {
        "r14"
    };
    (11) => {
        "r15"
    };
}

pub(in super::super) use chain;

/// The largest number of `mov rax, [rax]` in a row.
pub(in super::super) fn loads_in_a_row(entry: Entry) -> usize {
    const LOAD: [u8; 3] = [0x48, 0x8B, 0x00]; // mov rax, [rax]
    const END: [u8; 3] = [0x5D, 0x5B, 0xC3]; // pop rbp; pop rbx; ret
    let code = entry as *const u8;
    // SAFETY: every kernel ends with these bytes, and code may be read up to its end.
    let at = |offset: usize| unsafe { code.add(offset).cast::<[u8; 3]>().read() };
    let (mut offset, mut row, mut longest) = (0, 0, 0);
    while at(offset) != END {
        let is_load = at(offset) == LOAD;
        row = if is_load { row + 1 } else { 0 };
        longest = longest.max(row);
        offset += if is_load { LOAD.len() } else { 1 };
    }
    longest
}
