//! Procedure calls of the System V convention.
//!
//! The procedure lies at label 7, after the kernel. The caller adds what it returns to the checksum.

use std::sync::atomic::AtomicU64;

use super::super::shell::{caller, kernel};
use super::super::table::{TABLE_BYTES, TABLE_OFFSET};
use super::super::{Call, Code};
use crate::Unsupported;

/// Calls with integer arguments 1, 2, 3…; returns the last, or 1.
macro_rules! integers {
    ($name:ident: [$($argument:literal),*], then [$($then:literal),*], return $last:literal) => {
        caller! {
            $name: prepare [],
            arguments [$($argument),*], call "call 7f", then [$($then),*], procedure [$last, "ret"]
        }
    };
}

integers! { INTEGER_0: [], then ["add r12, rax"], return "mov eax, 1" }
integers! { INTEGER_1: ["mov edi, 1"], then ["add r12, rax"], return "mov rax, rdi" }
integers! { INTEGER_2: ["mov edi, 1", "mov esi, 2"], then ["add r12, rax"], return "mov rax, rsi" }
integers! {
    INTEGER_3: ["mov edi, 1", "mov esi, 2", "mov edx, 3"], then ["add r12, rax"], return "mov rax, rdx"
}
integers! {
    INTEGER_4: ["mov edi, 1", "mov esi, 2", "mov edx, 3", "mov ecx, 4"],
    then ["add r12, rax"], return "mov rax, rcx"
}
integers! {
    INTEGER_5: ["mov edi, 1", "mov esi, 2", "mov edx, 3", "mov ecx, 4", "mov r8d, 5"],
    then ["add r12, rax"], return "mov rax, r8"
}
integers! {
    INTEGER_6: ["mov edi, 1", "mov esi, 2", "mov edx, 3", "mov ecx, 4", "mov r8d, 5", "mov r9d, 6"],
    then ["add r12, rax"], return "mov rax, r9"
}
integers! {
    INTEGER_7: [
        "sub rsp, 8", "push 7",
        "mov edi, 1", "mov esi, 2", "mov edx, 3", "mov ecx, 4", "mov r8d, 5", "mov r9d, 6"
    ],
    then ["add rsp, 16", "add r12, rax"], return "mov rax, [rsp + 8]"
}
integers! {
    INTEGER_8: [
        "push 8", "push 7",
        "mov edi, 1", "mov esi, 2", "mov edx, 3", "mov ecx, 4", "mov r8d, 5", "mov r9d, 6"
    ],
    then ["add rsp, 16", "add r12, rax"], return "mov rax, [rsp + 16]"
}

/// By the number of arguments.
pub(in super::super) const INTEGERS: [Code; 9] = [
    INTEGER_0, INTEGER_1, INTEGER_2, INTEGER_3, INTEGER_4, INTEGER_5, INTEGER_6, INTEGER_7,
    INTEGER_8,
];

/// Calls with floating-point arguments from memory. Sums alternate between four registers, so that
/// the additions do not wait for each other.
macro_rules! doubles {
    ($name:ident: [$($argument:literal),*], return [$($last:literal),*]) => {
        kernel! {
            $name: 8 times 4, chains 1,
            prepare [
                "mov rbp, rsi",
                "xorpd xmm12, xmm12", "xorpd xmm13, xmm13", "xorpd xmm14, xmm14", "xorpd xmm15, xmm15",
            ],
            body [".irp s,12,13,14,15", $($argument,)* "call 7f", "addsd xmm\\s, xmm0", ".endr"],
            after [],
            finish [".irp s,12,13,14,15", "cvttsd2si rax, xmm\\s", "add r12, rax", ".endr"],
            procedures [".p2align 6", "7:", $($last,)* "ret"]
        }
    };
}

doubles! {
    DOUBLE: ["movsd xmm0, [rbp]"], return ["addsd xmm0, xmm0"]
}
doubles! {
    EIGHT_DOUBLES: [
        "movsd xmm0, [rbp]", "movsd xmm1, [rbp + 8]", "movsd xmm2, [rbp + 16]", "movsd xmm3, [rbp + 24]",
        "movsd xmm4, [rbp + 32]", "movsd xmm5, [rbp + 40]", "movsd xmm6, [rbp + 48]", "movsd xmm7, [rbp + 56]"
    ],
    return ["movapd xmm0, xmm7"]
}

caller! {
    STRUCT_ARGUMENT_16: prepare ["mov rbp, rsi"],
    arguments ["mov rdi, [rbp]", "mov rsi, [rbp + 8]"], call "call 7f", then ["add r12, rax"],
    procedure ["lea rax, [rdi + rsi]", "ret"]
}
caller! {
    STRUCT_ARGUMENT_64: prepare ["mov rbp, rsi"],
    arguments [
        "movups xmm0, [rbp]", "movups xmm1, [rbp + 16]", "movups xmm2, [rbp + 32]", "movups xmm3, [rbp + 48]",
        "movups [rsp], xmm0", "movups [rsp + 16], xmm1", "movups [rsp + 32], xmm2", "movups [rsp + 48], xmm3"
    ],
    call "call 7f", then ["add r12, rax"],
    procedure ["mov rax, [rsp + 8]", "add rax, [rsp + 64]", "ret"]
}
caller! {
    STRUCT_RETURN_16: prepare [],
    arguments [], call "call 7f", then ["add r12, rax", "add r12, rdx"],
    procedure ["mov eax, 1", "mov edx, 2", "ret"]
}
caller! {
    STRUCT_RETURN_64: prepare ["movups xmm0, [rsi]"],
    arguments ["mov rdi, rsp"], call "call 7f", then ["add r12, [rax + 56]"],
    procedure [
        "movups [rdi], xmm0", "movups [rdi + 16], xmm0", "movups [rdi + 32], xmm0", "movups [rdi + 48], xmm0",
        "mov rax, rdi", "ret"
    ]
}
caller! {
    POINTER: prepare ["lea rbp, [rip + 7f]"],
    arguments [], call "call rbp", then ["add r12, rax"], procedure ["mov eax, 1", "ret"]
}

/// The slot through which the linkage stub jumps, like one in a linker's table of addresses.
static SLOT: AtomicU64 = AtomicU64::new(0);

caller! {
    LINKAGE_STUB: prepare ["lea rax, [rip + 6f]", "mov [rip + {slot}], rax"],
    arguments [], call "call 7f", then ["add r12, rax"],
    procedure ["endbr64", "jmp qword ptr [rip + {slot}]", ".p2align 6", "6:", "mov eax, 1", "ret"],
    operands { slot = sym SLOT }
}
// The object is at the start of the memory, its table of methods at word 8; the method is the third.
caller! {
    VIRTUAL: prepare ["mov rbp, rsi", "lea rax, [rsi + 64]", "mov [rsi], rax", "lea rax, [rip + 7f]", "mov [rsi + 80], rax"],
    arguments ["mov rdi, rbp", "mov rax, [rdi]"], call "call [rax + 16]", then ["add r12, rax"],
    procedure ["mov rax, [rdi + 8]", "ret"]
}
kernel! {
    POINTER_BY_TABLE: 32 times 1, chains 1,
    prepare [
        "mov rbp, rsi",
        "lea rax, [rip + 7f]",
        ".irp k,0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120",
        "mov [rbp + \\k], rax",
        "add rax, 16",
        ".endr",
        "mov r13d, edx",
        "shl r13d, 5",
        "and r13d, {mask}",
    ],
    body ["movzx ecx, byte ptr [rbp + r13 + {offset}]", "inc r13d", "call [rbp + 8 * rcx]", "add r12, rax"],
    after ["and r13d, {mask}"],
    finish [],
    procedures [
        ".p2align 6",
        "7:",
        ".irp k,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
        "mov eax, \\k",
        "ret",
        ".p2align 4",
        ".endr",
    ],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES - 1 }
}
// Each level keeps the stack aligned, as one that calls others must.
kernel! {
    RECURSION: 16 times 1, chains 1,
    prepare ["mov rbp, [rsi]"],
    body ["mov rdi, rbp", "xor eax, eax", "call 7f", "add r12, rax"],
    after [],
    finish [],
    procedures [
        ".p2align 6",
        "7:", "sub rsp, 8", "dec rdi", "jz 6f", "call 7b", "6:", "inc rax", "add rsp, 8", "ret",
    ]
}
// Bit `d` of a random word chooses the site from which level `d` calls the next one.
kernel! {
    RECURSION_BY_CHANCE: 16 times 1, chains 1,
    prepare ["mov rbp, [rsi]", "lea r14, [rsi + {offset}]", "mov r15d, edx", "shl r15d, 4", "and r15d, {mask}"],
    body [
        "mov rdi, rbp", "xor eax, eax", "mov rcx, [r14 + 8 * r15]", "inc r15d",
        "call 7f", "add r12, rax"
    ],
    after ["and r15d, {mask}"],
    finish [],
    procedures [
        ".p2align 6",
        "7:", "sub rsp, 8", "dec rdi", "jz 6f", "bt rcx, rdi", "jc 5f",
        "call 7b", "6:", "inc rax", "add rsp, 8", "ret",
        "5:", "call 7b", "inc rax", "add rsp, 8", "ret",
    ],
    operands { offset = const TABLE_OFFSET, mask = const TABLE_BYTES / 8 - 1 }
}

/// The kernel of [`Call::LinkageStub`](crate::kernel::Call::LinkageStub).
pub(in super::super) fn linkage_stub() -> Result<Code, Unsupported> {
    Ok(LINKAGE_STUB)
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(call: Call) -> String {
    match call {
        Call::Integer(arguments) => {
            let pushed = arguments.saturating_sub(6) as usize;
            // The stack stays aligned.
            let aligned = if pushed == 1 { "sub r64, n; " } else { "" };
            let passed =
                "push n; ".repeat(pushed) + &"mov r32, n; ".repeat(arguments.min(6) as usize);
            let popped = if pushed > 0 { "add r64, n; " } else { "" };
            let returned = match (arguments, pushed) {
                (0, _) => "mov r32, n",
                (_, 0) => "mov r64, r64",
                _ => "mov r64, m",
            };
            format!("{aligned}{passed}call; {popped}add r64, r64; {returned}; ret")
        }
        Call::Double => "4 of (movsd xmm, m; call; addsd xmm, xmm); addsd xmm, same; ret".into(),
        Call::EightDoubles => {
            let passed = "movsd xmm, m; ".repeat(8);
            format!("4 of ({passed}call; addsd xmm, xmm); movapd xmm, xmm; ret")
        }
        Call::StructArgument16 => {
            "mov r64, m; mov r64, m; call; add r64, r64; lea r64, m; ret".into()
        }
        Call::StructArgument64 => {
            let copied = "movups xmm, m; ".repeat(4) + &"movups m, xmm; ".repeat(4);
            format!("{copied}call; add r64, r64; mov r64, m; add r64, m; ret")
        }
        Call::StructReturn16 => {
            "call; add r64, r64; add r64, r64; mov r32, n; mov r32, n; ret".into()
        }
        Call::StructReturn64 => {
            let stored = "movups m, xmm; ".repeat(4);
            format!("mov r64, r64; call; add r64, m; {stored}mov r64, r64; ret")
        }
        Call::Pointer => "call r64; add r64, r64; mov r32, n; ret".into(),
        Call::PointerByTable(_) => {
            "movzx r32, m; inc r32; call m; add r64, r64; 16 of (mov r32, n; ret)".into()
        }
        Call::LinkageStub => "call; add r64, r64; endbr64; jmp m; mov r32, n; ret".into(),
        Call::Virtual => "mov r64, r64; mov r64, m; call m; add r64, r64; mov r64, m; ret".into(),
        Call::Recursion(_) => "mov r64, r64; xor r32, same; call; add r64, r64; \
             sub r64, n; dec r64; jz; call; inc r64; add r64, n; ret"
            .into(),
        Call::RecursionByChance { .. } => {
            "mov r64, r64; xor r32, same; mov r64, m; inc r32; call; add r64, r64; \
             sub r64, n; dec r64; jz; bt r64, r64; jc; call; inc r64; add r64, n; ret; \
             call; inc r64; add r64, n; ret"
                .into()
        }
    }
}
