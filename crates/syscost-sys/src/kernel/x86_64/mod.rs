//! The kernels for x86-64.
//!
//! Every kernel is a naked function of the System V calling convention, so that its text is exactly what is
//! written here. Inside it:
//!
//! | Register | Holds |
//! |---|---|
//! | `rbx` | turns left |
//! | `r12` | the checksum, 0 at first |
//! | `rsi` | the kernel's memory, until the kernel uses the register otherwise |
//! | `rdx` | the position in a table, in turns, likewise |
//! | `rsp` | a multiple of 16, with 128 bytes of its own above it |
//!
//! All other registers are free: those that belong to the caller have been saved.

mod atomic;
mod branch;
mod call;
mod chase;
mod empty_loop;
mod float;
mod forward;
mod integer;
mod stream;
mod vector;
mod written;

use super::{Code, Kind, Operation, Shape};
use crate::Unsupported;

pub(super) use atomic::atomic;
pub(super) use branch::branch;
pub(super) use call::call;
pub(super) use chase::{chase, loads_in_a_row};
pub(super) use empty_loop::empty_loop;
pub(super) use forward::forward;
pub(super) use integer::ADD_CHAIN;
pub(super) use stream::stream;
pub(super) use vector::vector;
pub(super) use written::{COUNTING, NOP_BYTES, decode, fetch, jumps, window};

/// The function type of a kernel's entry.
pub(super) type Entry = unsafe extern "sysv64" fn(turns: u64, data: *mut u64, position: u64) -> u64;

/// Defines a kernel's [`Code`]: saves registers, then `inside`, then returns `r12`; `procedures`
/// follow. The last three instructions mark the kernel's end for functions that read its code.
macro_rules! function {
    (
        $name:ident: $text:expr, operations $operations:expr, chains $chains:expr,
        inside [$($inside:expr),* $(,)?],
        procedures [$($procedure:expr),* $(,)?]
        $(, operands { $($operand:tt)* })?
    ) => {
        const $name: $crate::kernel::Code = {
            #[unsafe(naked)]
            unsafe extern "sysv64" fn entry(turns: u64, data: *mut u64, position: u64) -> u64 {
                core::arch::naked_asm!(
                    "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
                    "sub rsp, 136",
                    "mov rbx, rdi",
                    "xor r12d, r12d",
                    $($inside,)*
                    "mov rax, r12",
                    "add rsp, 136",
                    "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
                    "ret",
                    $($procedure,)*
                    $($($operand)*)?
                )
            }
            $crate::kernel::Code { entry, operations: $operations, chains: $chains, instructions: $text }
        };
    };
}

/// Defines a kernel whose turn is `begin` once, `body` repeated, then `after` once.
/// `times * per_body` is the number of operations in a turn; labels 4 to 9 are free for the body
/// and procedures.
macro_rules! kernel {
    (
        $name:ident: $text:expr, $times:literal times $per_body:literal, chains $chains:expr,
        prepare [$($prepare:expr),* $(,)?],
        $(begin [$($begin:expr),* $(,)?],)?
        body [$($body:expr),* $(,)?],
        after [$($after:expr),* $(,)?],
        finish [$($finish:expr),* $(,)?]
        $(, procedures [$($procedure:expr),* $(,)?])?
        $(, operands { $($operand:tt)* })?
    ) => {
        $crate::kernel::machine::function! {
            $name: $text, operations $times * $per_body, chains $chains,
            inside [
                $($prepare,)*
                "test rbx, rbx",
                "jz 3f",
                ".p2align 6",
                "2:",
                $($($begin,)*)?
                concat!(".rept ", $times),
                $($body,)*
                ".endr",
                $($after,)*
                "dec rbx",
                "jnz 2b",
                "3:",
                $($finish,)*
            ],
            procedures [$($($procedure),*)?]
            $(, operands { $($operand)* })?
        }
    };
}

/// One line for each register of a set, in which `\r` stands for the register.
macro_rules! each {
    (r64: $line:expr) => {
        concat!(
            ".irp r,rax,rdx,rsi,rdi,r8,r9,r10,r11,rbp,r13,r14,r15\n",
            $line,
            "\n.endr"
        )
    };
    (r32: $line:expr) => {
        concat!(
            ".irp r,eax,edx,esi,edi,r8d,r9d,r10d,r11d,ebp,r13d,r14d,r15d\n",
            $line,
            "\n.endr"
        )
    };
    (twelve: $line:expr) => {
        concat!(".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n", $line, "\n.endr")
    };
    (one: $line:expr) => {
        concat!(".irp r,0\n", $line, "\n.endr")
    };
}

use {each, function, kernel};

/// The code of an arithmetic operation.
pub(super) fn arithmetic(
    operation: Operation,
    kind: Kind,
    shape: Shape,
) -> Result<Code, Unsupported> {
    match kind {
        Kind::I32 | Kind::I64 => integer::arithmetic(operation, kind, shape),
        Kind::F32 | Kind::F64 => float::arithmetic(operation, kind, shape),
    }
}
