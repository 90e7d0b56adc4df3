//! Loads of what was stored just before; the value goes through `x1`'s memory and `x3`.

use super::super::shell::kernel;

/// A chain of additions of `x4` to `x3`; `x5` points to the end of a cache line. The upper halves
/// show which store a loaded value comes from.
macro_rules! chain {
    ($name:ident: [$($body:literal),*]) => {
        kernel! {
            $name: 64 times 1, chains 1,
            prepare [
                "mov x3, 0x200000000", "str x3, [x1]", "str wzr, [x1, 64]",
                "mov x3, 0x100000000", "mov w6, 3", "mov x4, 1", "add x5, x1, 60"
            ],
            body [$($body),*, "add x3, x3, x4"],
            after ["mov x20, x3"],
            finish ["ldr w6, [x1, 64]", "add x20, x20, x6, lsl 40"]
        }
    };
}

chain! { SAME: ["str x3, [x1]", "ldr x3, [x1]"] }
chain! { NARROWER: ["str x3, [x1]", "ldr w3, [x1]"] }
chain! { WIDER: ["str w3, [x1]", "ldr x3, [x1]"] }
chain! { HALVES: ["str w3, [x1]", "str w6, [x1, 4]", "ldr x3, [x1]"] }
chain! { ACROSS_LINES: ["str x3, [x5]", "ldr x3, [x5]"] }
