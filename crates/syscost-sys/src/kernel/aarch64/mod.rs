//! The kernels for aarch64.
//!
//! Every kernel is a naked function of the C calling convention (AAPCS64), so that its text is
//! exactly what is written here. Inside it:
//!
//! | Register | Holds |
//! |---|---|
//! | `x19` | turns left |
//! | `x20` | the checksum, 0 at first |
//! | `x1` | the kernel's memory, until the kernel uses the register otherwise |
//! | `x2` | the position in a table, in turns, likewise |
//! | `sp` | a multiple of 16, with 128 bytes of its own above it |
//!
//! All other registers are free except `x18`, which is the platform's, and `v8` to `v15`, which are
//! the caller's.

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
pub(super) type Entry = unsafe extern "C" fn(turns: u64, data: *mut u64, position: u64) -> u64;

/// Defines a kernel's [`Code`]: saves registers, then `inside`, then returns `x20`; `procedures` follow.
macro_rules! function {
    (
        $name:ident: $text:expr, operations $operations:expr, chains $chains:expr,
        inside [$($inside:expr),* $(,)?],
        procedures [$($procedure:expr),* $(,)?]
        $(, operands { $($operand:tt)* })?
    ) => {
        const $name: $crate::kernel::Code = {
            #[unsafe(naked)]
            unsafe extern "C" fn entry(turns: u64, data: *mut u64, position: u64) -> u64 {
                core::arch::naked_asm!(
                    "stp x29, x30, [sp, -96]!",
                    "stp x19, x20, [sp, 16]", "stp x21, x22, [sp, 32]", "stp x23, x24, [sp, 48]",
                    "stp x25, x26, [sp, 64]", "stp x27, x28, [sp, 80]",
                    "sub sp, sp, 128",
                    "mov x19, x0",
                    "mov x20, xzr",
                    $($inside,)*
                    "mov x0, x20",
                    "add sp, sp, 128",
                    "ldp x27, x28, [sp, 80]", "ldp x25, x26, [sp, 64]", "ldp x23, x24, [sp, 48]",
                    "ldp x21, x22, [sp, 32]", "ldp x19, x20, [sp, 16]",
                    "ldp x29, x30, [sp], 96",
                    "ret",
                    $($procedure,)*
                    $($($operand)*)?
                )
            }
            $crate::kernel::Code { entry, operations: $operations, chains: $chains, instructions: $text }
        };
    };
}

/// Defines a kernel whose turn is `begin` once, `body` repeated, then `after` once. `times * per_body` is the
/// number of operations in a turn; labels 4 to 9 are free for the body and procedures.
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
                "cbz x19, 3f",
                ".p2align 6",
                "2:",
                $($($begin,)*)?
                concat!(".rept ", $times),
                $($body,)*
                ".endr",
                $($after,)*
                "subs x19, x19, 1",
                "b.ne 2b",
                "3:",
                $($finish,)*
            ],
            procedures [$($($procedure),*)?]
            $(, operands { $($operand)* })?
        }
    };
}

/// One line for each of twelve registers, in which `\r` stands for the register: the numbers of
/// `x3` to `x14` or of `d16` to `d27`, or the full names of vectors.
macro_rules! each {
    (integer: $line:expr) => {
        concat!(".irp r,3,4,5,6,7,8,9,10,11,12,13,14\n", $line, "\n.endr")
    };
    (float: $line:expr) => {
        concat!(".irp r,16,17,18,19,20,21,22,23,24,25,26,27\n", $line, "\n.endr")
    };
    (vector: $line:expr) => {
        concat!(
            ".irp r,v16.2d,v17.2d,v18.2d,v19.2d,v20.2d,v21.2d,v22.2d,v23.2d,v24.2d,v25.2d,v26.2d,v27.2d\n",
            $line,
            "\n.endr"
        )
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
