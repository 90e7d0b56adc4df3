//! The program's instructions, and where things are in its data.
//!
//! A list of calls consists of entries of 64 bytes: the number, six arguments, and flags; the
//! number -1 ends it. Results are stored in the log.
#![allow(unsafe_code)] // the program's own instructions, in assembly

use crate::elf::machine_code;

/// Bytes of an entry.
pub(super) const BYTES: usize = 64;

/// Maximum number of calls in a list: the eighth entry ends it.
pub(super) const MAX_CALLS: usize = 7;

/// Offsets in the data: the lists of an iteration, of a child, and of the calls between batches.
pub(super) const TURN: usize = 0x000;
pub(super) const CHILD: usize = 0x200;
pub(super) const WAIT: usize = 0x400;

/// Offset of the list of calls at the start.
pub(super) const START: usize = 0x600;

/// Offsets of lists of addresses, each of which 0 ends: those to which a byte is written at the
/// start, those to which a child writes one, and those from which it reads one.
pub(super) const TOUCHED: usize = 0x800;
pub(super) const WRITTEN: usize = 0x880;
pub(super) const READ: usize = 0x8c0;

/// Offset of the texts that calls are given.
pub(super) const TEXTS: usize = 0x900;

/// Offset of the zeros, which the program writes into.
pub(super) const ZEROS: usize = 0x3000;

/// Bytes of the zeros.
pub(super) const ZEROS_BYTES: u64 = 0x4000;

/// Offset of the command: how many iterations warm up, and how many are timed.
pub(super) const COMMAND: usize = ZEROS;
const TIMED: usize = COMMAND + 8;

/// Offsets of the readings at the beginning and the end.
pub(super) const STARTED: usize = ZEROS + 0x10;
const ENDED: usize = STARTED + 8;

/// Offset of the 32 bits that a call answers with, if not with its result alone.
pub(super) const ANSWERED: usize = ZEROS + 0x20;

/// Offset of what the kernel has counted for the children that ended.
pub(super) const CHILDREN: usize = ZEROS + 0x28;
/// The kernel's structure: two times and fourteen counts. That of musl has room for more.
const CHILDREN_BYTES: usize = (2 * 2 + 14) * 8;

/// Offset of the log of the iterations' calls.
pub(super) const LOG: usize = CHILDREN + CHILDREN_BYTES;

/// Offset of the log of the calls between batches.
pub(super) const SCRATCH: usize = ZEROS + 0x1000;

/// Offset of a byte that is written in each iteration.
const OWN: usize = 0xfff;

/// Flags of an entry.
pub(super) const FORKS: u64 = 1 << 0;
pub(super) const CHILD_ID: u64 = 1 << 1;
pub(super) const ANSWER: u64 = 1 << 2;
pub(super) const BEGINS: u64 = 1 << 3;
pub(super) const ENDS: u64 = 1 << 4;
pub(super) const REQUIRED: u64 = 1 << 5;

machine_code! {
    /// The instructions.
    get: syscost_lean_begin to syscost_lean_end in ".rodata.syscost_lean",
    x86_64 [
        // rbx: the data; r12: iterations left; r13: the entry; r14: the log; r15: the last
        // result; rbp: the last child.
        "mov ebx, {data}",
        "mov byte ptr [rsp - 4096], 1",
        "mov byte ptr [rsp - 8192], 1",
        "lea r13, [rbx + {start}]",
        "lea r14, [rbx + {scratch}]",
        "call 5f",
        "lea r13, [rbx + {touched}]",
        "2: mov rax, [r13]",
        "test rax, rax",
        "jz 2f",
        "mov byte ptr [rax], 1",
        "add r13, 8",
        "jmp 2b",
        // Between batches.
        "2: lea r13, [rbx + {wait}]",
        "lea r14, [rbx + {scratch}]",
        "call 5f",
        "cmp r15, 16",
        "jne 9f",
        "lea r14, [rbx + {log}]",
        "mov r12, [rbx + {command}]",
        "call 3f",
        "lfence",
        "rdtsc",
        "lfence",
        "shl rdx, 32",
        "or rax, rdx",
        "mov [rbx + {started}], rax",
        "mov r12, [rbx + {timed}]",
        "call 3f",
        "lfence",
        "rdtsc",
        "lfence",
        "shl rdx, 32",
        "or rax, rdx",
        "mov [rbx + {ended}], rax",
        "jmp 2b",
        // Iterations.
        "3: test r12, r12",
        "jz 4f",
        "mov byte ptr [rbx + {own}], 1",
        "lea r13, [rbx + {iteration}]",
        "call 5f",
        "dec r12",
        "jmp 3b",
        "4: ret",
        // The calls of a list.
        "5: test byte ptr [r13 + 56], {begins}",
        "jz 6f",
        "call 8f",
        "6: mov rax, [r13]",
        "cmp rax, -1",
        "je 4b",
        "mov rdi, [r13 + 8]",
        "mov rsi, [r13 + 16]",
        "mov rdx, [r13 + 24]",
        "mov r10, [r13 + 32]",
        "mov r8, [r13 + 40]",
        "mov r9, [r13 + 48]",
        "test byte ptr [r13 + 56], {child_id}",
        "cmovnz rdi, rbp",
        "syscall",
        "test byte ptr [r13 + 56], {forks}",
        "jz 22f",
        "mov rbp, rax",
        "test rax, rax",
        "jnz 22f",
        // The child.
        "mov byte ptr [rsp - 1], 1",
        "lea r13, [rbx + {written}]",
        "7: mov rcx, [r13]",
        "test rcx, rcx",
        "jz 7f",
        "mov byte ptr [rcx], 1",
        "add r13, 8",
        "jmp 7b",
        "7: lea r13, [rbx + {read}]",
        "7: mov rcx, [r13]",
        "test rcx, rcx",
        "jz 7f",
        "mov al, [rcx]",
        "add r13, 8",
        "jmp 7b",
        "7: lea r13, [rbx + {child}]",
        "jmp 6b",
        "22: mov r15, rax",
        "test byte ptr [r13 + 56], {required}",
        "jz 7f",
        "test rax, rax",
        "js 9f",
        "jmp 23f",
        "7: test byte ptr [r13 + 56], {answer}",
        "jz 7f",
        "mov eax, [rbx + {answered}]",
        "shl rax, 32",
        "or r15, rax",
        "7: mov [r14], r15",
        "add r14, 8",
        "23: test byte ptr [r13 + 56], {ends}",
        "jz 7f",
        "call 8f",
        "7: add r13, {bytes}",
        "jmp 5b",
        // A reading of the counter.
        "8: lfence",
        "rdtsc",
        "lfence",
        "shl rdx, 32",
        "or rax, rdx",
        "mov [r14], rax",
        "add r14, 8",
        "ret",
        "9: mov edi, 1",
        "mov eax, {exit_group}",
        "syscall",
    ],
    aarch64 [
        // x19: the data; x20: iterations left; x21: the entry; x22: the log; x23: the last child; x24:
        // where iterations return to; x25: flags.
        "mov x19, #{data}",
        "mov w9, #1",
        "sub x10, sp, #4096",
        "strb w9, [x10]",
        "sub x10, sp, #8192",
        "strb w9, [x10]",
        "mov x9, #{start}",
        "add x21, x19, x9",
        "mov x9, #{scratch}",
        "add x22, x19, x9",
        "bl 5f",
        "mov x9, #{touched}",
        "add x21, x19, x9",
        "mov w9, #1",
        "2: ldr x10, [x21], #8",
        "cbz x10, 2f",
        "strb w9, [x10]",
        "b 2b",
        // Between batches.
        "2: mov x9, #{wait}",
        "add x21, x19, x9",
        "mov x9, #{scratch}",
        "add x22, x19, x9",
        "bl 5f",
        "cmp x0, #16",
        "b.ne 9f",
        "mov x9, #{log}",
        "add x22, x19, x9",
        "mov x9, #{command}",
        "ldr x20, [x19, x9]",
        "bl 3f",
        "isb",
        "mrs x9, cntvct_el0",
        "mov x10, #{started}",
        "str x9, [x19, x10]",
        "mov x9, #{timed}",
        "ldr x20, [x19, x9]",
        "bl 3f",
        "isb",
        "mrs x9, cntvct_el0",
        "mov x10, #{ended}",
        "str x9, [x19, x10]",
        "b 2b",
        // Iterations.
        "3: mov x24, x30",
        "4: cbz x20, 4f",
        "mov x9, #{own}",
        "strb w20, [x19, x9]",
        "mov x9, #{iteration}",
        "add x21, x19, x9",
        "bl 5f",
        "sub x20, x20, #1",
        "b 4b",
        "4: ret x24",
        // The calls of a list.
        "5: ldr x25, [x21, #56]",
        "tst x25, #{begins}",
        "b.eq 6f",
        "isb",
        "mrs x9, cntvct_el0",
        "isb",
        "str x9, [x22], #8",
        "6: ldr x8, [x21]",
        "cmn x8, #1",
        "b.ne 7f",
        "ret",
        "7: ldp x0, x1, [x21, #8]",
        "ldp x2, x3, [x21, #24]",
        "ldp x4, x5, [x21, #40]",
        "tst x25, #{child_id}",
        "csel x0, x23, x0, ne",
        "svc 0",
        "tst x25, #{forks}",
        "b.eq 22f",
        "mov x23, x0",
        "cbnz x0, 22f",
        // The child.
        "strb w8, [sp, #-1]",
        "mov x9, #{written}",
        "add x21, x19, x9",
        "7: ldr x9, [x21], #8",
        "cbz x9, 7f",
        "strb w8, [x9]",
        "b 7b",
        "7: mov x9, #{read}",
        "add x21, x19, x9",
        "7: ldr x9, [x21], #8",
        "cbz x9, 7f",
        "ldrb w9, [x9]",
        "b 7b",
        "7: mov x9, #{child}",
        "add x21, x19, x9",
        "ldr x25, [x21, #56]",
        "b 6b",
        "22: tst x25, #{required}",
        "b.eq 7f",
        "tbnz x0, #63, 9f",
        "b 23f",
        "7: tst x25, #{answer}",
        "b.eq 7f",
        "mov x9, #{answered}",
        "ldr w9, [x19, x9]",
        "orr x0, x0, x9, lsl #32",
        "7: str x0, [x22], #8",
        "23: tst x25, #{ends}",
        "b.eq 7f",
        "isb",
        "mrs x9, cntvct_el0",
        "isb",
        "str x9, [x22], #8",
        "7: add x21, x21, #{bytes}",
        "b 5b",
        "9: mov x0, #1",
        "mov x8, #{exit_group}",
        "svc 0",
    ],
    data = const super::DATA,
    start = const START,
    touched = const TOUCHED,
    written = const WRITTEN,
    read = const READ,
    own = const OWN,
    wait = const WAIT,
    scratch = const SCRATCH,
    log = const LOG,
    command = const COMMAND,
    timed = const TIMED,
    started = const STARTED,
    ended = const ENDED,
    iteration = const TURN,
    child = const CHILD,
    answered = const ANSWERED,
    begins = const BEGINS,
    ends = const ENDS,
    required = const REQUIRED,
    child_id = const CHILD_ID,
    forks = const FORKS,
    answer = const ANSWER,
    bytes = const BYTES,
    exit_group = const libc::SYS_exit_group,
}
