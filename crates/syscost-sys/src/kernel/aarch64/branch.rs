//! Conditional and indirect branches.

use super::super::Branch;
use super::super::shell::kernel;
use super::super::table::{TABLE_BYTES, TABLE_OFFSET};

kernel! {
    TAKEN: 64 times 1, chains 1,
    prepare [],
    begin ["add x20, x20, 1", "cmp x20, x20", ".p2align 4"],
    body ["b.eq 4f", "mov x20, -1", ".p2align 4", "4:"],
    after [],
    finish []
}
kernel! {
    NOT_TAKEN: 64 times 1, chains 1,
    prepare [],
    begin ["add x20, x20, 1", "cmp x20, x20"],
    body ["b.ne 9f"],
    after [],
    finish ["b 8f", "9:", "mov x20, -1", "8:"]
}
kernel! {
    ON_BIT: 64 times 1, chains 1,
    prepare ["add x1, x1, {offset}", "and x2, x2, {mask}"],
    begin ["ldr x3, [x1, x2, lsl 3]", "add x2, x2, 1", "and x2, x2, {mask}"],
    body ["tbz x3, 0, 4f", "add x20, x20, 1", "4:", "lsr x3, x3, 1"],
    after [],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES / 8 - 1 }
}
kernel! {
    ON_LOAD: 64 times 1, chains 1,
    prepare ["add x1, x1, {offset}", "lsl x2, x2, 6", "and x2, x2, {mask}"],
    body ["ldrb w3, [x1, x2]", "cbz w3, 4f", "add x20, x20, 1", "4:", "add x2, x2, 1"],
    after ["and x2, x2, {mask}"],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES - 1 }
}
kernel! {
    INDIRECT: 32 times 1, chains 1,
    prepare [],
    body ["adr x3, 4f", "br x3", "mov x20, -1", ".p2align 4", "4:"],
    after ["add x20, x20, 1"],
    finish []
}
kernel! {
    INDIRECT_BY_TABLE: 16 times 1, chains 1,
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

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) const fn instructions(branch: Branch) -> &'static str {
    match branch {
        Branch::Taken => "b.eq; mov x, n",
        Branch::NotTaken => "b.ne",
        Branch::OnBit(_) => "tbz x, n; add x, same, n; lsr x, same, n",
        Branch::OnLoad(_) => "ldrb w, m; cbz w; add x, same, n; add x, same, n",
        Branch::Indirect => "adr x; br x; mov x, n",
        Branch::IndirectByTable(_) => {
            "ldrb w, m; add x, same, n; adr x; add x, same, x, lsl; br x; \
             16 of (add x, same, n; b)"
        }
    }
}
