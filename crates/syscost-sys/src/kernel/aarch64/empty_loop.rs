//! Loops that do nothing.

use super::super::LoopShape;
use super::super::shell::empty_loop;

empty_loop! {
    COUNT_DOWN: prepare ["mov x20, x19"], iteration ["subs x19, x19, 1", "b.ne 2b"], finish ["sub x20, x20, x19"]
}
empty_loop! {
    COUNT_UP: prepare [], iteration ["add x20, x20, 1", "cmp x20, x19", "b.ne 2b"], finish []
}
empty_loop! {
    NOP: prepare ["mov x20, x19"], iteration ["nop", "subs x19, x19, 1", "b.ne 2b"], finish ["sub x20, x20, x19"]
}
empty_loop! {
    MEMORY: prepare ["stp xzr, x19, [sp]"],
    iteration [
        "ldr x3, [sp]", "add x3, x3, 1", "str x3, [sp]", "ldr x3, [sp]", "ldr x4, [sp, 8]", "cmp x3, x4", "b.lo 2b"
    ],
    finish ["ldr x20, [sp]"]
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) const fn instructions(shape: LoopShape) -> &'static str {
    match shape {
        LoopShape::CountDown => "subs x, same, n; b.ne",
        LoopShape::CountUp => "add x, same, n; cmp x, x; b.ne",
        LoopShape::Nop => "nop; subs x, same, n; b.ne",
        LoopShape::Memory => {
            "ldr x, m; add x, same, n; str x, m; ldr x, m; ldr x, m; cmp x, x; b.lo"
        }
    }
}
