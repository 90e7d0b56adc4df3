//! Procedure calls of the AAPCS64 convention.
//!
//! The procedure lies at label 7, after the kernel. The caller adds what it returns to the checksum.

use super::super::shell::{caller, kernel};
use super::super::table::{TABLE_BYTES, TABLE_OFFSET};
use super::super::{Call, Code};
use crate::Unsupported;

/// Calls with integer arguments 1, 2, 3…; returns the last, or 1.
macro_rules! integers {
    ($name:ident: [$($argument:literal),*], return $last:literal) => {
        caller! {
            $name: prepare [],
            arguments [$($argument),*], call "bl 7f", then ["add x20, x20, x0"], procedure [$last, "ret"]
        }
    };
}

integers! { INTEGER_0: [], return "mov x0, 1" }
// The one argument is where the result goes; it is 0, so that the result shows that the procedure ran.
integers! { INTEGER_1: ["mov x0, 0"], return "add x0, x0, 1" }
integers! { INTEGER_2: ["mov x0, 1", "mov x1, 2"], return "mov x0, x1" }
integers! { INTEGER_3: ["mov x0, 1", "mov x1, 2", "mov x2, 3"], return "mov x0, x2" }
integers! { INTEGER_4: ["mov x0, 1", "mov x1, 2", "mov x2, 3", "mov x3, 4"], return "mov x0, x3" }
integers! {
    INTEGER_5: ["mov x0, 1", "mov x1, 2", "mov x2, 3", "mov x3, 4", "mov x4, 5"], return "mov x0, x4"
}
integers! {
    INTEGER_6: ["mov x0, 1", "mov x1, 2", "mov x2, 3", "mov x3, 4", "mov x4, 5", "mov x5, 6"],
    return "mov x0, x5"
}
integers! {
    INTEGER_7: ["mov x0, 1", "mov x1, 2", "mov x2, 3", "mov x3, 4", "mov x4, 5", "mov x5, 6", "mov x6, 7"],
    return "mov x0, x6"
}
integers! {
    INTEGER_8: ["mov x0, 1", "mov x1, 2", "mov x2, 3", "mov x3, 4", "mov x4, 5", "mov x5, 6", "mov x6, 7", "mov x7, 8"],
    return "mov x0, x7"
}

/// By the number of arguments.
pub(in super::super) const INTEGERS: [Code; 9] = [
    INTEGER_0, INTEGER_1, INTEGER_2, INTEGER_3, INTEGER_4, INTEGER_5, INTEGER_6, INTEGER_7,
    INTEGER_8,
];

/// Calls with floating-point arguments from memory. Sums alternate between four registers, so that
/// the additions do not wait for each other.
macro_rules! doubles {
    ($name:ident: [$($argument:literal),*], return $last:literal) => {
        kernel! {
            $name: 8 times 4, chains 1,
            prepare ["mov x21, x1", "movi d16, 0", "movi d17, 0", "movi d18, 0", "movi d19, 0"],
            body [".irp s,16,17,18,19", $($argument,)* "bl 7f", "fadd d\\s, d\\s, d0", ".endr"],
            after [],
            finish [".irp s,16,17,18,19", "fcvtzs x3, d\\s", "add x20, x20, x3", ".endr"],
            procedures [".p2align 6", "7:", $last, "ret"]
        }
    };
}

doubles! { DOUBLE: ["ldr d0, [x21]"], return "fadd d0, d0, d0" }
doubles! {
    EIGHT_DOUBLES: ["ldp d0, d1, [x21]", "ldp d2, d3, [x21, 16]", "ldp d4, d5, [x21, 32]", "ldp d6, d7, [x21, 48]"],
    return "fmov d0, d7"
}

caller! {
    STRUCT_ARGUMENT_16: prepare ["mov x21, x1"],
    arguments ["ldp x0, x1, [x21]"], call "bl 7f", then ["add x20, x20, x0"],
    procedure ["add x0, x0, x1", "ret"]
}
caller! {
    STRUCT_ARGUMENT_64: prepare ["mov x21, x1"],
    arguments ["ldp q0, q1, [x21]", "ldp q2, q3, [x21, 32]", "stp q0, q1, [sp]", "stp q2, q3, [sp, 32]", "mov x0, sp"],
    call "bl 7f", then ["add x20, x20, x0"],
    procedure ["ldr x3, [x0]", "ldr x4, [x0, 56]", "add x0, x3, x4", "ret"]
}
caller! {
    STRUCT_RETURN_16: prepare [],
    arguments [], call "bl 7f", then ["add x20, x20, x0", "add x20, x20, x1"],
    procedure ["mov x0, 1", "mov x1, 2", "ret"]
}
caller! {
    STRUCT_RETURN_64: prepare ["ldr q0, [x1]"],
    arguments ["mov x8, sp"], call "bl 7f", then ["ldr x3, [sp, 56]", "add x20, x20, x3"],
    procedure ["stp q0, q0, [x8]", "stp q0, q0, [x8, 32]", "ret"]
}
caller! {
    POINTER: prepare ["adr x21, 7f"],
    arguments [], call "blr x21", then ["add x20, x20, x0"], procedure ["mov x0, 1", "ret"]
}
// The object is at the start of the memory, its table of methods at word 8; the method is the third.
caller! {
    VIRTUAL: prepare ["mov x21, x1", "add x3, x1, 64", "str x3, [x1]", "adr x3, 7f", "str x3, [x1, 80]"],
    arguments ["mov x0, x21", "ldr x3, [x0]", "ldr x3, [x3, 16]"], call "blr x3", then ["add x20, x20, x0"],
    procedure ["ldr x0, [x0, 8]", "ret"]
}
kernel! {
    POINTER_BY_TABLE: 32 times 1, chains 1,
    prepare [
        "mov x21, x1",
        "adr x3, 7f",
        ".irp k,0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120",
        "str x3, [x21, \\k]",
        "add x3, x3, 8",
        ".endr",
        "add x22, x1, {offset}",
        "lsl x23, x2, 5",
        "and x23, x23, {mask}",
    ],
    body [
        "ldrb w3, [x22, x23]", "add x23, x23, 1", "ldr x3, [x21, x3, lsl 3]", "blr x3", "add x20, x20, x0"
    ],
    after ["and x23, x23, {mask}"],
    finish [],
    procedures [
        ".p2align 6",
        "7:",
        ".irp k,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
        "mov x0, \\k",
        "ret",
        ".endr",
    ],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES - 1 }
}
kernel! {
    RECURSION: 16 times 1, chains 1,
    prepare ["ldr x21, [x1]"],
    body ["mov x9, x21", "mov x0, 0", "bl 7f", "add x20, x20, x0"],
    after [],
    finish [],
    procedures [
        ".p2align 6",
        "7:", "stp x29, x30, [sp, -16]!", "subs x9, x9, 1", "b.eq 6f", "bl 7b",
        "6:", "add x0, x0, 1", "ldp x29, x30, [sp], 16", "ret",
    ]
}
// Bit `d` of a random word chooses the site from which level `d` calls the next one.
kernel! {
    RECURSION_BY_CHANCE: 16 times 1, chains 1,
    prepare ["ldr x21, [x1]", "add x22, x1, {offset}", "lsl x23, x2, 4", "and x23, x23, {mask}"],
    body [
        "mov x9, x21", "mov x0, 0", "ldr x10, [x22, x23, lsl 3]", "add x23, x23, 1",
        "bl 7f", "add x20, x20, x0",
    ],
    after ["and x23, x23, {mask}"],
    finish [],
    procedures [
        ".p2align 6",
        "7:", "stp x29, x30, [sp, -16]!", "subs x9, x9, 1", "b.eq 6f", "lsr x11, x10, x9", "tbnz x11, 0, 5f",
        "bl 7b", "6:", "add x0, x0, 1", "ldp x29, x30, [sp], 16", "ret",
        "5:", "bl 7b", "add x0, x0, 1", "ldp x29, x30, [sp], 16", "ret",
    ],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES / 8 - 1 }
}

/// The kernel of [`Call::LinkageStub`](crate::kernel::Call::LinkageStub).
pub(in super::super) fn linkage_stub() -> Result<Code, Unsupported> {
    Err(Unsupported::new(
        "no linkage stub has been written for aarch64 yet",
    ))
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(call: Call) -> String {
    match call {
        Call::Integer(arguments) => {
            let passed = "mov x, n; ".repeat(arguments as usize);
            let returned = match arguments {
                0 => "mov x, n",
                1 => "add x, same, n",
                _ => "mov x, x",
            };
            format!("{passed}bl; add x, same, x; {returned}; ret")
        }
        Call::Double => "4 of (ldr d, m; bl; fadd d, same, d); fadd d, same, same; ret".into(),
        Call::EightDoubles => {
            let passed = "ldp d, d, m; ".repeat(4);
            format!("4 of ({passed}bl; fadd d, same, d); fmov d, d; ret")
        }
        Call::StructArgument16 => "ldp x, x, m; bl; add x, same, x; add x, same, x; ret".into(),
        Call::StructArgument64 => {
            "ldp q, q, m; ldp q, q, m; stp q, q, m; stp q, q, m; mov x, sp; bl; add x, same, x; \
             ldr x, m; ldr x, m; add x, x, x; ret"
                .into()
        }
        Call::StructReturn16 => {
            "bl; add x, same, x; add x, same, x; mov x, n; mov x, n; ret".into()
        }
        Call::StructReturn64 => {
            "mov x, sp; bl; ldr x, m; add x, same, x; stp q, same, m; stp q, same, m; ret".into()
        }
        Call::Pointer => "blr x; add x, same, x; mov x, n; ret".into(),
        Call::PointerByTable(_) => {
            "ldrb w, m; add x, same, n; ldr x, m; blr x; add x, same, x; 16 of (mov x, n; ret)"
                .into()
        }
        Call::LinkageStub => "none".into(),
        Call::Virtual => {
            "mov x, x; ldr x, m; ldr x, m; blr x; add x, same, x; ldr x, m; ret".into()
        }
        Call::Recursion(_) => "mov x, x; mov x, n; bl; add x, same, x; \
             stp x, x, m; subs x, same, n; b.eq; bl; add x, same, n; ldp x, x, m, n; ret"
            .into(),
        Call::RecursionByChance { .. } => {
            "mov x, x; mov x, n; ldr x, m; add x, same, n; bl; add x, same, x; \
             stp x, x, m; subs x, same, n; b.eq; lsr x, x, x; tbnz x, n; \
             bl; add x, same, n; ldp x, x, m, n; ret; bl; add x, same, n; ldp x, x, m, n; ret"
                .into()
        }
    }
}
