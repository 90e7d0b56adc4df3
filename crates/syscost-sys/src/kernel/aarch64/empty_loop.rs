//! Loops that do nothing.

use super::super::{Code, LoopShape};
use super::function;
use crate::Unsupported;

/// A whole loop between `2:` and `3:`. For 0 turns it is skipped.
macro_rules! shape {
    ($name:ident: $text:literal, prepare [$($prepare:literal),*], turn [$($turn:literal),*],
     finish [$($finish:literal),*]) => {
        function! {
            $name: $text, operations 1, chains 1,
            inside [
                $($prepare,)*
                "cbz x19, 3f",
                ".p2align 6",
                "2:",
                $($turn,)*
                "3:",
                $($finish,)*
            ],
            procedures []
        }
    };
}

shape! {
    COUNT_DOWN: "subs x, x, 1; b.ne",
    prepare ["mov x20, x19"], turn ["subs x19, x19, 1", "b.ne 2b"], finish ["sub x20, x20, x19"]
}
shape! {
    COUNT_UP: "add x, x, 1; cmp x, x; b.ne",
    prepare [], turn ["add x20, x20, 1", "cmp x20, x19", "b.ne 2b"], finish []
}
shape! {
    NOP: "nop; subs x, x, 1; b.ne",
    prepare ["mov x20, x19"], turn ["nop", "subs x19, x19, 1", "b.ne 2b"], finish ["sub x20, x20, x19"]
}
shape! {
    MEMORY: "ldr; add x, x, 1; str; ldr; ldr; cmp x, x; b.lo",
    prepare ["stp xzr, x19, [sp]"],
    turn [
        "ldr x3, [sp]", "add x3, x3, 1", "str x3, [sp]", "ldr x3, [sp]", "ldr x4, [sp, 8]", "cmp x3, x4", "b.lo 2b"
    ],
    finish ["ldr x20, [sp]"]
}

pub(in super::super) fn empty_loop(shape: LoopShape) -> Result<Code, Unsupported> {
    Ok(match shape {
        LoopShape::CountDown => COUNT_DOWN,
        LoopShape::CountUp => COUNT_UP,
        LoopShape::Nop => NOP,
        LoopShape::Memory => MEMORY,
    })
}
