//! Loops that do nothing.

use super::super::shell::empty_loop;

empty_loop! {
    COUNT_DOWN: "subs x, x, 1; b.ne",
    prepare ["mov x20, x19"], iteration ["subs x19, x19, 1", "b.ne 2b"], finish ["sub x20, x20, x19"]
}
empty_loop! {
    COUNT_UP: "add x, x, 1; cmp x, x; b.ne",
    prepare [], iteration ["add x20, x20, 1", "cmp x20, x19", "b.ne 2b"], finish []
}
empty_loop! {
    NOP: "nop; subs x, x, 1; b.ne",
    prepare ["mov x20, x19"], iteration ["nop", "subs x19, x19, 1", "b.ne 2b"], finish ["sub x20, x20, x19"]
}
empty_loop! {
    MEMORY: "ldr; add x, x, 1; str; ldr; ldr; cmp x, x; b.lo",
    prepare ["stp xzr, x19, [sp]"],
    iteration [
        "ldr x3, [sp]", "add x3, x3, 1", "str x3, [sp]", "ldr x3, [sp]", "ldr x4, [sp, 8]", "cmp x3, x4", "b.lo 2b"
    ],
    finish ["ldr x20, [sp]"]
}
