//! Integer arithmetic.
//!
//! The kernel's memory holds the start (or dividend), the second operand (or divisor) and the correction that
//! makes a remainder a divisor again. Chains that keep their value add it to the checksum once a turn; chains
//! that change add it at the end.

use super::super::{Code, Kind, Operation, Shape};
use super::{each, kernel};
use crate::Unsupported;

/// The kernels of an instruction that changes a register by `rcx` (or `ecx`), or by nothing else: one chain,
/// and twelve chains in the twelve registers that are left.
macro_rules! simple {
    ($latency64:ident $throughput64:ident $latency32:ident $throughput32:ident: $instruction:literal,
     $operand64:literal, $operand32:literal, after [$($after:literal),*], finish [$($finish:expr),*],
     finish_all [$($finish_all:expr),*]) => {
        kernel! {
            $latency64: concat!($instruction, " r64", $operand64), 64 times 1, chains 1,
            prepare ["mov rax, [rsi]", "mov rcx, [rsi + 8]"],
            body [concat!($instruction, " rax", $operand64)],
            after [$($after),*],
            finish [$($finish),*]
        }
        kernel! {
            $latency32: concat!($instruction, " r32", $operand32), 64 times 1, chains 1,
            prepare ["mov rax, [rsi]", "mov rcx, [rsi + 8]"],
            body [concat!($instruction, " eax", $operand32)],
            after [$($after),*],
            finish [$($finish),*]
        }
        kernel! {
            $throughput64: concat!($instruction, " r64", $operand64), 20 times 12, chains 12,
            prepare ["mov rcx, [rsi + 8]", "mov rax, [rsi]", each!(r64: "mov \\r, rax")],
            body [each!(r64: concat!($instruction, " \\r", $operand64))],
            after [$($after),*],
            finish [$($finish_all),*]
        }
        kernel! {
            $throughput32: concat!($instruction, " r32", $operand32), 20 times 12, chains 12,
            prepare ["mov rcx, [rsi + 8]", "mov rax, [rsi]", each!(r64: "mov \\r, rax")],
            body [each!(r32: concat!($instruction, " \\r", $operand32))],
            after [$($after),*],
            finish [$($finish_all),*]
        }
    };
}

/// An instruction whose chain counts or multiplies: the last value is the checksum.
macro_rules! changing {
    ($($names:ident)*: $instruction:literal) => {
        simple! {
            $($names)*: $instruction, ", rcx", ", ecx",
            after [], finish ["mov r12, rax"], finish_all [each!(r64: "add r12, \\r")]
        }
    };
}

/// An instruction whose chain returns to its starting value: each turn adds that.
macro_rules! constant {
    ($($names:ident)*: $instruction:literal, $operand64:literal, $operand32:literal) => {
        simple! {
            $($names)*: $instruction, $operand64, $operand32,
            after ["add r12, rax"], finish [], finish_all []
        }
    };
}

changing! { ADD_64_LATENCY ADD_64_THROUGHPUT ADD_32_LATENCY ADD_32_THROUGHPUT: "add" }
changing! { MULTIPLY_64_LATENCY MULTIPLY_64_THROUGHPUT MULTIPLY_32_LATENCY MULTIPLY_32_THROUGHPUT: "imul" }
constant! { AND_64_LATENCY AND_64_THROUGHPUT AND_32_LATENCY AND_32_THROUGHPUT: "and", ", rcx", ", ecx" }
constant! { XOR_64_LATENCY XOR_64_THROUGHPUT XOR_32_LATENCY XOR_32_THROUGHPUT: "xor", ", rcx", ", ecx" }
constant! { SHIFT_64_LATENCY SHIFT_64_THROUGHPUT SHIFT_32_LATENCY SHIFT_32_THROUGHPUT: "sar", ", 1", ", 1" }

/// Division: the chain goes through the divisor, because the dividend's registers are also the result's.
macro_rules! division {
    ($name:ident: $text:literal, [$($body:literal),*], $after:literal) => {
        kernel! {
            $name: $text, 16 times 1, chains 1,
            prepare ["mov r8, [rsi]", "mov rcx, [rsi + 8]", "mov r9, [rsi + 16]"],
            body [$($body),*],
            after [$after],
            finish []
        }
    };
}

division! { DIVIDE_64_LATENCY: "idiv r64 (with cqo; one register move is on the chain)",
["mov rax, r8", "cqo", "idiv rcx", "mov rcx, rax"], "add r12, rcx" }
division! { DIVIDE_64_THROUGHPUT: "idiv r64 (with mov, cqo)", ["mov rax, r8", "cqo", "idiv rcx"], "add r12, rax" }
division! { REMAINDER_64_LATENCY: "idiv r64 (with cqo; one addition by lea is on the chain)",
["mov rax, r8", "cqo", "idiv rcx", "lea rcx, [rdx + r9]"], "add r12, rcx" }
division! { REMAINDER_64_THROUGHPUT: "idiv r64 (with mov, cqo)", ["mov rax, r8", "cqo", "idiv rcx"], "add r12, rdx" }
division! { DIVIDE_32_LATENCY: "idiv r32 (with cdq; one register move is on the chain)",
["mov eax, r8d", "cdq", "idiv ecx", "mov ecx, eax"], "add r12, rcx" }
division! { DIVIDE_32_THROUGHPUT: "idiv r32 (with mov, cdq)", ["mov eax, r8d", "cdq", "idiv ecx"], "add r12, rax" }
division! { REMAINDER_32_LATENCY: "idiv r32 (with cdq; one addition by lea is on the chain)",
["mov eax, r8d", "cdq", "idiv ecx", "lea ecx, [rdx + r9]"], "add r12, rcx" }
division! { REMAINDER_32_THROUGHPUT: "idiv r32 (with mov, cdq)", ["mov eax, r8d", "cdq", "idiv ecx"], "add r12, rdx" }

kernel! {
    CHAIN: "add r64, r64, each needing the one before", 200 times 1, chains 1,
    prepare ["mov rcx, [rsi + 8]"],
    body ["add r12, rcx"],
    after [],
    finish []
}

/// A turn of 200 dependent additions.
pub(in super::super) const ADD_CHAIN: Result<Code, Unsupported> = Ok(CHAIN);

pub(super) fn arithmetic(
    operation: Operation,
    kind: Kind,
    shape: Shape,
) -> Result<Code, Unsupported> {
    let [latency64, throughput64, latency32, throughput32] = match operation {
        Operation::Add => [
            ADD_64_LATENCY,
            ADD_64_THROUGHPUT,
            ADD_32_LATENCY,
            ADD_32_THROUGHPUT,
        ],
        Operation::Multiply => [
            MULTIPLY_64_LATENCY,
            MULTIPLY_64_THROUGHPUT,
            MULTIPLY_32_LATENCY,
            MULTIPLY_32_THROUGHPUT,
        ],
        Operation::And => [
            AND_64_LATENCY,
            AND_64_THROUGHPUT,
            AND_32_LATENCY,
            AND_32_THROUGHPUT,
        ],
        Operation::Xor => [
            XOR_64_LATENCY,
            XOR_64_THROUGHPUT,
            XOR_32_LATENCY,
            XOR_32_THROUGHPUT,
        ],
        Operation::Shift => [
            SHIFT_64_LATENCY,
            SHIFT_64_THROUGHPUT,
            SHIFT_32_LATENCY,
            SHIFT_32_THROUGHPUT,
        ],
        Operation::Divide | Operation::DivideLong => [
            DIVIDE_64_LATENCY,
            DIVIDE_64_THROUGHPUT,
            DIVIDE_32_LATENCY,
            DIVIDE_32_THROUGHPUT,
        ],
        Operation::Remainder | Operation::RemainderLong => [
            REMAINDER_64_LATENCY,
            REMAINDER_64_THROUGHPUT,
            REMAINDER_32_LATENCY,
            REMAINDER_32_THROUGHPUT,
        ],
        Operation::FusedMultiplyAdd | Operation::SquareRoot => {
            return Err(Unsupported::new(
                "x86-64 has no such instruction for integers",
            ));
        }
    };
    Ok(match (kind, shape) {
        (Kind::I64, Shape::Latency) => latency64,
        (Kind::I64, Shape::Throughput) => throughput64,
        (_, Shape::Latency) => latency32,
        (_, Shape::Throughput) => throughput32,
    })
}
