//! Pointer chases; `x1` points to a table of the chains' positions.

use super::super::Code;
use super::super::chase::no_such_chains;
use super::{Entry, kernel};
use crate::Unsupported;

/// Chains whose positions stay in registers while they run.
macro_rules! in_registers {
    ($name:ident: $times:literal times $chains:literal, $($place:literal $register:literal),+) => {
        kernel! {
            $name: "ldr x, [x]", $times times $chains, chains $chains,
            prepare [$(concat!("ldr ", $register, ", [x1, ", $place, "]")),+],
            body [$(concat!("ldr ", $register, ", [", $register, "]")),+],
            after [],
            finish [
                $(concat!("ldr x2, [", $register, ", 8]\nadd x20, x20, x2")),+,
                $(concat!("str ", $register, ", [x1, ", $place, "]")),+
            ]
        }
    };
}

/// More chains than there are registers: each step loads its chain's position from the table and
/// stores it back.
macro_rules! in_table {
    ($name:ident: $times:literal times $chains:literal, $places:literal) => {
        kernel! {
            $name: "ldr x, [table]; ldr x, [x]; str x, [table]", $times times $chains, chains $chains,
            prepare [],
            body [concat!(
                ".irp place,", $places, "\n",
                "ldr x3, [x1, 8 * \\place]\nldr x3, [x3]\nstr x3, [x1, 8 * \\place]\n.endr"
            )],
            after [],
            finish [concat!(
                ".irp place,", $places, "\n",
                "ldr x3, [x1, 8 * \\place]\nldr x3, [x3, 8]\nadd x20, x20, x3\n.endr"
            )]
        }
    };
}

in_registers! { ONE: 64 times 1, 0 "x3" }
in_registers! { TWO: 32 times 2, 0 "x3", 8 "x4" }
in_registers! { THREE: 24 times 3, 0 "x3", 8 "x4", 16 "x5" }
in_registers! { FOUR: 16 times 4, 0 "x3", 8 "x4", 16 "x5", 24 "x6" }
in_registers! { FIVE: 16 times 5, 0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7" }
in_registers! { SIX: 16 times 6, 0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7", 40 "x8" }
in_registers! { SEVEN: 12 times 7, 0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7", 40 "x8", 48 "x9" }
in_registers! { EIGHT: 12 times 8, 0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7", 40 "x8", 48 "x9", 56 "x10" }
in_registers! {
    NINE: 12 times 9,
    0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7",
    40 "x8", 48 "x9", 56 "x10", 64 "x11"
}
in_registers! {
    TEN: 12 times 10,
    0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7",
    40 "x8", 48 "x9", 56 "x10", 64 "x11", 72 "x12"
}
in_registers! {
    ELEVEN: 12 times 11,
    0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7", 40 "x8",
    48 "x9", 56 "x10", 64 "x11", 72 "x12", 80 "x13"
}
in_registers! {
    TWELVE: 12 times 12,
    0 "x3", 8 "x4", 16 "x5", 24 "x6", 32 "x7", 40 "x8",
    48 "x9", 56 "x10", 64 "x11", 72 "x12", 80 "x13", 88 "x14"
}
in_table! {
    SIXTEEN: 8 times 16,
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
}
in_table! {
    TWENTY_FOUR: 6 times 24,
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
}
in_table! {
    THIRTY_TWO: 4 times 32,
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
}

/// The largest number of `ldr x3, [x3]` in a row.
pub(in super::super) fn loads_in_a_row(entry: Entry) -> usize {
    const LOAD: u32 = 0xF940_0063;
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

pub(in super::super) fn chase(chains: usize) -> Result<Code, Unsupported> {
    Ok(match chains {
        1 => ONE,
        2 => TWO,
        3 => THREE,
        4 => FOUR,
        5 => FIVE,
        6 => SIX,
        7 => SEVEN,
        8 => EIGHT,
        9 => NINE,
        10 => TEN,
        11 => ELEVEN,
        12 => TWELVE,
        16 => SIXTEEN,
        24 => TWENTY_FOUR,
        32 => THIRTY_TWO,
        _ => return Err(no_such_chains(chains)),
    })
}
