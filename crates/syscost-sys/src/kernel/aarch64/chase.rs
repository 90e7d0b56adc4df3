//! Pointer chases; `x1` points to a table of the chains' positions.

use super::super::Entry;

/// What a kernel does for a chain of this number, whose position is the table's word of that number.
macro_rules! chain {
    (keep the table) => {
        ""
    };
    (begin $number:tt) => {
        concat!("ldr ", chain!($number), ", [x1, 8 * ", $number, "]")
    };
    (step $number:tt) => {
        concat!("ldr ", chain!($number), ", [", chain!($number), "]")
    };
    (add $number:tt) => {
        concat!("ldr x2, [", chain!($number), ", 8]\nadd x20, x20, x2")
    };
    (end $number:tt) => {
        concat!("str ", chain!($number), ", [x1, 8 * ", $number, "]")
    };
    (step in the table) => {
        "ldr x3, [x1, 8 * \\place]\nldr x3, [x3]\nstr x3, [x1, 8 * \\place]"
    };
    (add from the table) => {
        "ldr x3, [x1, 8 * \\place]\nldr x3, [x3, 8]\nadd x20, x20, x3"
    };
    // The register of a chain.
    (0) => {
        "x3"
    };
    (1) => {
        "x4"
    };
    (2) => {
        "x5"
    };
    (3) => {
        "x6"
    };
    (4) => {
        "x7"
    };
    (5) => {
        "x8"
    };
    (6) => {
        "x9"
    };
    (7) => {
        "x10"
    };
    (8) => {
        "x11"
    };
    (9) => {
        "x12"
    };
    (10) => {
        "x13"
    };
    (11) => {
        "x14"
    };
}

pub(in super::super) use chain;

/// The largest number of `ldr x3, [x3]` in a row.
pub(in super::super) fn loads_in_a_row(entry: Entry) -> usize {
    const LOAD: u32 = 0xF940_0063; // ldr x3, [x3]
    const END: u32 = 0xD65F_03C0; // ret
    let code = entry as *const u32;
    // SAFETY: every kernel ends with `ret`, and code may be read up to its end.
    let at = |number: usize| unsafe { code.add(number).read() };
    let words = (0..).map(at).take_while(|word| *word != END);
    let rows = words.scan(0, |row, word| {
        *row = if word == LOAD { *row + 1 } else { 0 };
        Some(*row)
    });
    rows.max().unwrap_or(0)
}
