//! Conditional and indirect branches.

use super::super::shell::kernel;
use super::super::table::{TABLE_BYTES, TABLE_OFFSET};

kernel! {
    TAKEN: "b.eq (taken, 16 bytes apart)", 64 times 1, chains 1,
    prepare [],
    begin ["add x20, x20, 1", "cmp x20, x20", ".p2align 4"],
    body ["b.eq 4f", "mov x20, -1", ".p2align 4", "4:"],
    after [],
    finish []
}
kernel! {
    NOT_TAKEN: "b.ne (not taken)", 64 times 1, chains 1,
    prepare [],
    begin ["add x20, x20, 1", "cmp x20, x20"],
    body ["b.ne 9f"],
    after [],
    finish ["b 8f", "9:", "mov x20, -1", "8:"]
}
kernel! {
    ON_BIT: "tbz x, 0; (add x, x, 1); lsr x, x, 1", 64 times 1, chains 1,
    prepare ["add x1, x1, {offset}", "and x2, x2, {mask}"],
    begin ["ldr x3, [x1, x2, lsl 3]", "add x2, x2, 1", "and x2, x2, {mask}"],
    body ["tbz x3, 0, 4f", "add x20, x20, 1", "4:", "lsr x3, x3, 1"],
    after [],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES / 8 - 1 }
}
kernel! {
    ON_LOAD: "ldrb w, [x, x]; cbz; (add x, x, 1); add x, x, 1", 64 times 1, chains 1,
    prepare ["add x1, x1, {offset}", "lsl x2, x2, 6", "and x2, x2, {mask}"],
    body ["ldrb w3, [x1, x2]", "cbz w3, 4f", "add x20, x20, 1", "4:", "add x2, x2, 1"],
    after ["and x2, x2, {mask}"],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES - 1 }
}
kernel! {
    INDIRECT: "adr x; br x", 32 times 1, chains 1,
    prepare [],
    body ["adr x3, 4f", "br x3", "mov x20, -1", ".p2align 4", "4:"],
    after ["add x20, x20, 1"],
    finish []
}
kernel! {
    INDIRECT_BY_TABLE: "br x to one of 16 (with its address from a table, adr, add, and b back)", 16 times 1, chains 1,
    prepare ["add x1, x1, {offset}", "lsl x2, x2, 4", "and x2, x2, {mask}"],
    body [
        "ldrb w3, [x1, x2]",
        "add x2, x2, 1",
        "adr x4, 5f",
        "add x4, x4, x3, lsl 3",
        "br x4",
        "5:",
        ".irp k,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
        "add x20, x20, \\k",
        "b 6f",
        ".endr",
        "6:",
    ],
    after ["and x2, x2, {mask}"],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES - 1 }
}
