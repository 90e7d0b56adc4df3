//! Integer arithmetic.
//!
//! The kernel's memory holds the start (or dividend), the second operand (or divisor) and the correction that
//! makes a remainder a divisor again. Chains that keep their value add it to the checksum once a turn; chains
//! that change add it at the end.

use super::super::{Code, Kind, Operation, Shape};
use super::{each, kernel};
use crate::Unsupported;

/// The kernels of an instruction that changes a register by `x15` (or `w15`), or by nothing else:
/// one chain in `x3`, and twelve.
macro_rules! simple {
    ($latency64:ident $throughput64:ident $latency32:ident $throughput32:ident: $instruction:literal,
     $operand64:literal, $operand32:literal, after [$($after:literal),*], finish [$($finish:expr),*],
     finish_all [$($finish_all:expr),*]) => {
        kernel! {
            $latency64: concat!($instruction, " x, x", $operand64), 64 times 1, chains 1,
            prepare ["ldp x3, x15, [x1]"],
            body [concat!($instruction, " x3, x3", $operand64)],
            after [$($after),*],
            finish [$($finish),*]
        }
        kernel! {
            $latency32: concat!($instruction, " w, w", $operand32), 64 times 1, chains 1,
            prepare ["ldp x3, x15, [x1]"],
            body [concat!($instruction, " w3, w3", $operand32)],
            after [$($after),*],
            finish [$($finish),*]
        }
        kernel! {
            $throughput64: concat!($instruction, " x, x", $operand64), 20 times 12, chains 12,
            prepare ["ldp x0, x15, [x1]", each!(integer: "mov x\\r, x0")],
            body [each!(integer: concat!($instruction, " x\\r, x\\r", $operand64))],
            after [$($after),*],
            finish [$($finish_all),*]
        }
        kernel! {
            $throughput32: concat!($instruction, " w, w", $operand32), 20 times 12, chains 12,
            prepare ["ldp x0, x15, [x1]", each!(integer: "mov x\\r, x0")],
            body [each!(integer: concat!($instruction, " w\\r, w\\r", $operand32))],
            after [$($after),*],
            finish [$($finish_all),*]
        }
    };
}

/// An instruction whose chain counts or multiplies: the last value is the checksum.
macro_rules! changing {
    ($($names:ident)*: $instruction:literal) => {
        simple! {
            $($names)*: $instruction, ", x15", ", w15",
            after [], finish ["mov x20, x3"], finish_all [each!(integer: "add x20, x20, x\\r")]
        }
    };
}

/// An instruction whose chain returns to its starting value: each turn adds that.
macro_rules! constant {
    ($($names:ident)*: $instruction:literal, $operand64:literal, $operand32:literal) => {
        simple! {
            $($names)*: $instruction, $operand64, $operand32,
            after ["add x20, x20, x3"], finish [], finish_all []
        }
    };
}

changing! { ADD_64_LATENCY ADD_64_THROUGHPUT ADD_32_LATENCY ADD_32_THROUGHPUT: "add" }
changing! { MULTIPLY_64_LATENCY MULTIPLY_64_THROUGHPUT MULTIPLY_32_LATENCY MULTIPLY_32_THROUGHPUT: "mul" }
constant! { AND_64_LATENCY AND_64_THROUGHPUT AND_32_LATENCY AND_32_THROUGHPUT: "and", ", x15", ", w15" }
constant! { XOR_64_LATENCY XOR_64_THROUGHPUT XOR_32_LATENCY XOR_32_THROUGHPUT: "eor", ", x15", ", w15" }
constant! { SHIFT_64_LATENCY SHIFT_64_THROUGHPUT SHIFT_32_LATENCY SHIFT_32_THROUGHPUT: "asr", ", 1", ", 1" }

/// Division of `x4` by `x3`: the chain goes through the divisor.
macro_rules! division {
    ($name:ident: $text:literal, [$($body:literal),*], $after:literal) => {
        kernel! {
            $name: $text, 16 times 1, chains 1,
            prepare ["ldp x4, x3, [x1]", "ldr x6, [x1, 16]"],
            body [$($body),*],
            after [$after],
            finish []
        }
    };
}

division! { DIVIDE_64_LATENCY: "sdiv x, x, x", ["sdiv x3, x4, x3"], "add x20, x20, x3" }
division! { DIVIDE_64_THROUGHPUT: "sdiv x, x, x", ["sdiv x5, x4, x3"], "add x20, x20, x5" }
division! { REMAINDER_64_LATENCY: "sdiv x, x, x; msub (one addition is on the chain)",
["sdiv x5, x4, x3", "msub x5, x5, x3, x4", "add x3, x5, x6"], "add x20, x20, x3" }
division! { REMAINDER_64_THROUGHPUT: "sdiv x, x, x; msub",
["sdiv x5, x4, x3", "msub x5, x5, x3, x4"], "add x20, x20, x5" }
division! { DIVIDE_32_LATENCY: "sdiv w, w, w", ["sdiv w3, w4, w3"], "add x20, x20, x3" }
division! { DIVIDE_32_THROUGHPUT: "sdiv w, w, w", ["sdiv w5, w4, w3"], "add x20, x20, x5" }
division! { REMAINDER_32_LATENCY: "sdiv w, w, w; msub (one addition is on the chain)",
["sdiv w5, w4, w3", "msub w5, w5, w3, w4", "add w3, w5, w6"], "add x20, x20, x3" }
division! { REMAINDER_32_THROUGHPUT: "sdiv w, w, w; msub",
["sdiv w5, w4, w3", "msub w5, w5, w3, w4"], "add x20, x20, x5" }

kernel! {
    CHAIN: "add x, x, x, each needing the one before", 200 times 1, chains 1,
    prepare ["ldr x15, [x1, 8]"],
    body ["add x20, x20, x15"],
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
                "aarch64 has no such instruction for integers",
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
