//! Pointer chases; `rsi` points to a table of the chains' positions.

use super::super::Code;
use super::super::chase::no_such_chains;
use super::{Entry, kernel};
use crate::Unsupported;

/// Chains whose positions stay in registers while they run; `rcx` keeps the table.
macro_rules! in_registers {
    ($name:ident: $times:literal times $chains:literal, $($place:literal $register:literal),+) => {
        kernel! {
            $name: "mov r64, [r64]", $times times $chains, chains $chains,
            prepare ["mov rcx, rsi", $(concat!("mov ", $register, ", [rcx + ", $place, "]")),+],
            body [$(concat!("mov ", $register, ", [", $register, "]")),+],
            after [],
            finish [
                $(concat!("add r12, [", $register, " + 8]")),+,
                $(concat!("mov [rcx + ", $place, "], ", $register)),+
            ]
        }
    };
}

/// More chains than there are registers: each step loads its chain's position from the table and
/// stores it back.
macro_rules! in_table {
    ($name:ident: $times:literal times $chains:literal, $places:literal) => {
        kernel! {
            $name: "mov r64, [table]; mov r64, [r64]; mov [table], r64", $times times $chains, chains $chains,
            prepare [],
            body [concat!(
                ".irp place,", $places, "\n",
                "mov rax, [rsi + 8 * \\place]\nmov rax, [rax]\nmov [rsi + 8 * \\place], rax\n.endr"
            )],
            after [],
            finish [concat!(
                ".irp place,", $places, "\n",
                "mov rax, [rsi + 8 * \\place]\nadd r12, [rax + 8]\n.endr"
            )]
        }
    };
}

in_registers! { ONE: 64 times 1, 0 "rax" }
in_registers! { TWO: 32 times 2, 0 "rax", 8 "rdx" }
in_registers! { THREE: 24 times 3, 0 "rax", 8 "rdx", 16 "rsi" }
in_registers! { FOUR: 16 times 4, 0 "rax", 8 "rdx", 16 "rsi", 24 "rdi" }
in_registers! { FIVE: 16 times 5, 0 "rax", 8 "rdx", 16 "rsi", 24 "rdi", 32 "r8" }
in_registers! { SIX: 16 times 6, 0 "rax", 8 "rdx", 16 "rsi", 24 "rdi", 32 "r8", 40 "r9" }
in_registers! { SEVEN: 12 times 7, 0 "rax", 8 "rdx", 16 "rsi", 24 "rdi", 32 "r8", 40 "r9", 48 "r10" }
in_registers! {
    EIGHT: 12 times 8,
    0 "rax", 8 "rdx", 16 "rsi", 24 "rdi",
    32 "r8", 40 "r9", 48 "r10", 56 "r11"
}
in_registers! {
    NINE: 12 times 9,
    0 "rax", 8 "rdx", 16 "rsi", 24 "rdi", 32 "r8",
    40 "r9", 48 "r10", 56 "r11", 64 "rbp"
}
in_registers! {
    TEN: 12 times 10,
    0 "rax", 8 "rdx", 16 "rsi", 24 "rdi", 32 "r8",
    40 "r9", 48 "r10", 56 "r11", 64 "rbp", 72 "r13"
}
in_registers! {
    ELEVEN: 12 times 11,
    0 "rax", 8 "rdx", 16 "rsi", 24 "rdi", 32 "r8", 40 "r9",
    48 "r10", 56 "r11", 64 "rbp", 72 "r13", 80 "r14"
}
in_registers! {
    TWELVE: 12 times 12,
    0 "rax", 8 "rdx", 16 "rsi", 24 "rdi", 32 "r8", 40 "r9",
    48 "r10", 56 "r11", 64 "rbp", 72 "r13", 80 "r14", 88 "r15"
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

/// The largest number of `mov rax, [rax]` in a row.
pub(in super::super) fn loads_in_a_row(entry: Entry) -> usize {
    const LOAD: [u8; 3] = [0x48, 0x8B, 0x00];
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
