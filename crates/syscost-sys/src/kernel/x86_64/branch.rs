//! Conditional and indirect branches.

use super::super::Branch;
use super::super::shell::kernel;
use super::super::table::{TABLE_BYTES, TABLE_OFFSET};

kernel! {
    TAKEN: 64 times 1, chains 1,
    prepare [],
    begin ["inc r12", "cmp r12, r12", ".p2align 4"],
    body ["je 4f", "mov r12, -1", ".p2align 4", "4:"],
    after [],
    finish []
}
kernel! {
    NOT_TAKEN: 64 times 1, chains 1,
    prepare [],
    begin ["inc r12", "cmp r12, r12"],
    body ["jne 9f"],
    after [],
    finish ["jmp 8f", "9:", "mov r12, -1", "8:"]
}
kernel! {
    ON_BIT: 64 times 1, chains 1,
    prepare ["lea rsi, [rsi + {offset}]", "and edx, {mask}", "mov r13d, 1"],
    begin ["mov rcx, [rsi + 8 * rdx]", "inc edx", "and edx, {mask}"],
    body ["shr rcx, 1", "jnc 4f", "add r12, r13", "4:"],
    after [],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES / 8 - 1 }
}
kernel! {
    ON_LOAD: 64 times 1, chains 1,
    prepare ["lea rsi, [rsi + {offset}]", "shl rdx, 6", "and edx, {mask}", "mov r13d, 1"],
    body ["cmp byte ptr [rsi + rdx], 0", "je 4f", "add r12, r13", "4:", "inc edx"],
    after ["and edx, {mask}"],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES - 1 }
}
kernel! {
    INDIRECT: 32 times 1, chains 1,
    prepare [],
    body ["lea rax, [rip + 4f]", "jmp rax", "mov r12, -1", ".p2align 4", "4:"],
    after ["inc r12"],
    finish []
}
kernel! {
    INDIRECT_BY_TABLE: 16 times 1, chains 1,
    prepare ["lea rsi, [rsi + {offset}]", "shl rdx, 4", "and edx, {mask}"],
    body [
        "movzx ecx, byte ptr [rsi + rdx]",
        "inc edx",
        "lea rax, [rip + 5f]",
        "shl ecx, 4",
        "add rax, rcx",
        "jmp rax",
        ".p2align 4",
        "5:",
        ".irp k,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
        "add r12, \\k",
        "jmp 6f",
        ".p2align 4",
        ".endr",
        "6:",
    ],
    after ["and edx, {mask}"],
    finish [],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES - 1 }
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) const fn instructions(branch: Branch) -> &'static str {
    match branch {
        Branch::Taken => "je; mov r64, n",
        Branch::NotTaken => "jne",
        Branch::OnBit(_) => "shr r64, n; jnc; add r64, r64",
        Branch::OnLoad(_) => "cmp m, n; je; add r64, r64; inc r32",
        Branch::Indirect => "lea r64, m; jmp r64; mov r64, n",
        Branch::IndirectByTable(_) => {
            "movzx r32, m; inc r32; lea r64, m; shl r32, n; add r64, r64; jmp r64; \
             16 of (add r64, n; jmp)"
        }
    }
}
