//! Integer arithmetic.
//!
//! The kernel's memory holds the start (or dividend), the second operand (or divisor) and the correction that
//! makes a remainder a divisor again. Chains that keep their value add it to the checksum once an
//! iteration; chains that change add it at the end.

use super::super::shell::kernel;
use super::super::{Code, Operation, Shape};
use super::each;

/// The kernels of an instruction that changes a register by `x15` (or `w15`), or by nothing else:
/// one chain in `x3`, and twelve.
macro_rules! simple {
    ($name:ident: $instruction:literal,
     $operand64:literal, $operand32:literal, after [$($after:literal),*], finish [$($finish:expr),*],
     finish_all [$($finish_all:expr),*]) => {
        pub(in super::super) const $name: [Code; 4] = {
            kernel! {
                LATENCY_64: 64 times 1, chains 1,
                prepare ["ldp x3, x15, [x1]"],
                body [concat!($instruction, " x3, x3", $operand64)],
                after [$($after),*],
                finish [$($finish),*]
            }
            kernel! {
                LATENCY_32: 64 times 1, chains 1,
                prepare ["ldp x3, x15, [x1]"],
                body [concat!($instruction, " w3, w3", $operand32)],
                after [$($after),*],
                finish [$($finish),*]
            }
            kernel! {
                THROUGHPUT_64: 20 times 12, chains 12,
                prepare ["ldp x0, x15, [x1]", each!(integer: "mov x\\r, x0")],
                body [each!(integer: concat!($instruction, " x\\r, x\\r", $operand64))],
                after [$($after),*],
                finish [$($finish_all),*]
            }
            kernel! {
                THROUGHPUT_32: 20 times 12, chains 12,
                prepare ["ldp x0, x15, [x1]", each!(integer: "mov x\\r, x0")],
                body [each!(integer: concat!($instruction, " w\\r, w\\r", $operand32))],
                after [$($after),*],
                finish [$($finish_all),*]
            }
            [LATENCY_64, THROUGHPUT_64, LATENCY_32, THROUGHPUT_32]
        };
    };
}

/// An instruction whose chain counts or multiplies: the last value is the checksum.
macro_rules! changing {
    ($name:ident: $instruction:literal) => {
        simple! {
            $name: $instruction, ", x15", ", w15",
            after [], finish ["mov x20, x3"], finish_all [each!(integer: "add x20, x20, x\\r")]
        }
    };
}

/// An instruction whose chain returns to its starting value: each iteration adds that.
macro_rules! constant {
    ($name:ident: $instruction:literal, $operand64:literal, $operand32:literal) => {
        simple! {
            $name: $instruction, $operand64, $operand32,
            after ["add x20, x20, x3"], finish [], finish_all []
        }
    };
}

changing! { ADD: "add" }
changing! { MULTIPLY: "mul" }
constant! { AND: "and", ", x15", ", w15" }
constant! { XOR: "eor", ", x15", ", w15" }
constant! { SHIFT: "asr", ", 1", ", 1" }

/// Division of `x4` by `x3`: the chain goes through the divisor.
macro_rules! division {
    ($name:ident: [$($body:literal),*], $after:literal) => {
        kernel! {
            $name: 16 times 1, chains 1,
            prepare ["ldp x4, x3, [x1]", "ldr x6, [x1, 16]"],
            body [$($body),*],
            after [$after],
            finish []
        }
    };
}

division! { DIVIDE_64_LATENCY: ["sdiv x3, x4, x3"], "add x20, x20, x3" }
division! { DIVIDE_64_THROUGHPUT: ["sdiv x5, x4, x3"], "add x20, x20, x5" }
division! { REMAINDER_64_LATENCY: ["sdiv x5, x4, x3", "msub x5, x5, x3, x4", "add x3, x5, x6"], "add x20, x20, x3" }
division! { REMAINDER_64_THROUGHPUT: ["sdiv x5, x4, x3", "msub x5, x5, x3, x4"], "add x20, x20, x5" }
division! { DIVIDE_32_LATENCY: ["sdiv w3, w4, w3"], "add x20, x20, x3" }
division! { DIVIDE_32_THROUGHPUT: ["sdiv w5, w4, w3"], "add x20, x20, x5" }
division! { REMAINDER_32_LATENCY: ["sdiv w5, w4, w3", "msub w5, w5, w3, w4", "add w3, w5, w6"], "add x20, x20, x3" }
division! { REMAINDER_32_THROUGHPUT: ["sdiv w5, w4, w3", "msub w5, w5, w3, w4"], "add x20, x20, x5" }

// An iteration of 200 dependent additions.
kernel! {
    CHAIN: 200 times 1, chains 1,
    prepare ["ldr x15, [x1, 8]"],
    body ["add x20, x20, x15"],
    after [],
    finish []
}

/// Latency and throughput of 64 bits, then of 32.
pub(in super::super) const DIVIDE: [Code; 4] = [
    DIVIDE_64_LATENCY,
    DIVIDE_64_THROUGHPUT,
    DIVIDE_32_LATENCY,
    DIVIDE_32_THROUGHPUT,
];

/// As [`DIVIDE`].
pub(in super::super) const REMAINDER: [Code; 4] = [
    REMAINDER_64_LATENCY,
    REMAINDER_64_THROUGHPUT,
    REMAINDER_32_LATENCY,
    REMAINDER_32_THROUGHPUT,
];

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(operation: Operation, bits: u32, shape: Shape) -> String {
    let r = if bits == 64 { "x" } else { "w" };
    let simple = |mnemonic: &str, operand: &str| match shape {
        Shape::Latency => format!("{mnemonic} {r}, same, {operand}"),
        Shape::Throughput => format!("12 of ({mnemonic} {r}, same, {operand})"),
    };
    match (operation, shape) {
        (Operation::Add, _) => simple("add", r),
        (Operation::Multiply, _) => simple("mul", r),
        (Operation::And, _) => simple("and", r),
        (Operation::Xor, _) => simple("eor", r),
        (Operation::Shift, _) => simple("asr", "n"),
        (Operation::Divide | Operation::DivideLong, Shape::Latency) => {
            format!("sdiv {r}, {r}, same")
        }
        (Operation::Divide | Operation::DivideLong, Shape::Throughput) => {
            format!("sdiv {r}, {r}, {r}")
        }
        (Operation::Remainder | Operation::RemainderLong, Shape::Latency) => {
            format!("sdiv {r}, {r}, {r}; msub {r}, same, {r}, {r}; add {r}, {r}, {r}")
        }
        (Operation::Remainder | Operation::RemainderLong, Shape::Throughput) => {
            format!("sdiv {r}, {r}, {r}; msub {r}, same, {r}, {r}")
        }
        (Operation::FusedMultiplyAdd | Operation::SquareRoot, _) => "none".to_owned(),
    }
}
