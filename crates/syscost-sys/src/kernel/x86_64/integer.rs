//! Integer arithmetic.
//!
//! The kernel's memory holds the start (or dividend), the second operand (or divisor) and the correction that
//! makes a remainder a divisor again. Chains that keep their value add it to the checksum once an
//! iteration; chains that change add it at the end.

use super::super::shell::kernel;
use super::super::{Code, Operation, Shape};
use super::each;

/// The kernels of an instruction that changes a register by `rcx` (or `ecx`), or by nothing else: one chain,
/// and twelve chains in the twelve registers that are left.
macro_rules! simple {
    ($name:ident: $instruction:literal,
     $operand64:literal, $operand32:literal, after [$($after:literal),*], finish [$($finish:expr),*],
     finish_all [$($finish_all:expr),*]) => {
        pub(in super::super) const $name: [Code; 4] = {
            kernel! {
                LATENCY_64: 64 times 1, chains 1,
                prepare ["mov rax, [rsi]", "mov rcx, [rsi + 8]"],
                body [concat!($instruction, " rax", $operand64)],
                after [$($after),*],
                finish [$($finish),*]
            }
            kernel! {
                LATENCY_32: 64 times 1, chains 1,
                prepare ["mov rax, [rsi]", "mov rcx, [rsi + 8]"],
                body [concat!($instruction, " eax", $operand32)],
                after [$($after),*],
                finish [$($finish),*]
            }
            kernel! {
                THROUGHPUT_64: 20 times 12, chains 12,
                prepare ["mov rcx, [rsi + 8]", "mov rax, [rsi]", each!(r64: "mov \\r, rax")],
                body [each!(r64: concat!($instruction, " \\r", $operand64))],
                after [$($after),*],
                finish [$($finish_all),*]
            }
            kernel! {
                THROUGHPUT_32: 20 times 12, chains 12,
                prepare ["mov rcx, [rsi + 8]", "mov rax, [rsi]", each!(r64: "mov \\r, rax")],
                body [each!(r32: concat!($instruction, " \\r", $operand32))],
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
            $name: $instruction, ", rcx", ", ecx",
            after [], finish ["mov r12, rax"], finish_all [each!(r64: "add r12, \\r")]
        }
    };
}

/// An instruction whose chain returns to its starting value: each iteration adds that.
macro_rules! constant {
    ($name:ident: $instruction:literal, $operand64:literal, $operand32:literal) => {
        simple! {
            $name: $instruction, $operand64, $operand32,
            after ["add r12, rax"], finish [], finish_all []
        }
    };
}

changing! { ADD: "add" }
changing! { MULTIPLY: "imul" }
constant! { AND: "and", ", rcx", ", ecx" }
constant! { XOR: "xor", ", rcx", ", ecx" }
constant! { SHIFT: "sar", ", 1", ", 1" }

/// Division: the chain goes through the divisor, because the dividend's registers are also the result's.
macro_rules! division {
    ($name:ident: [$($body:literal),*], $after:literal) => {
        kernel! {
            $name: 16 times 1, chains 1,
            prepare ["mov r8, [rsi]", "mov rcx, [rsi + 8]", "mov r9, [rsi + 16]"],
            body [$($body),*],
            after [$after],
            finish []
        }
    };
}

division! { DIVIDE_64_LATENCY: ["mov rax, r8", "cqo", "idiv rcx", "mov rcx, rax"], "add r12, rcx" }
division! { DIVIDE_64_THROUGHPUT: ["mov rax, r8", "cqo", "idiv rcx"], "add r12, rax" }
division! { REMAINDER_64_LATENCY: ["mov rax, r8", "cqo", "idiv rcx", "lea rcx, [rdx + r9]"], "add r12, rcx" }
division! { REMAINDER_64_THROUGHPUT: ["mov rax, r8", "cqo", "idiv rcx"], "add r12, rdx" }
division! { DIVIDE_32_LATENCY: ["mov eax, r8d", "cdq", "idiv ecx", "mov ecx, eax"], "add r12, rcx" }
division! { DIVIDE_32_THROUGHPUT: ["mov eax, r8d", "cdq", "idiv ecx"], "add r12, rax" }
division! { REMAINDER_32_LATENCY: ["mov eax, r8d", "cdq", "idiv ecx", "lea ecx, [rdx + r9]"], "add r12, rcx" }
division! { REMAINDER_32_THROUGHPUT: ["mov eax, r8d", "cdq", "idiv ecx"], "add r12, rdx" }

// An iteration of 200 dependent additions.
kernel! {
    CHAIN: 200 times 1, chains 1,
    prepare ["mov rcx, [rsi + 8]"],
    body ["add r12, rcx"],
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
    let register = format!("r{bits}");
    let simple = |mnemonic: &str, operand: &str| match shape {
        Shape::Latency => format!("{mnemonic} {register}, {operand}"),
        Shape::Throughput => format!("12 of ({mnemonic} {register}, {operand})"),
    };
    // On the chain, after the division.
    let divide = |chained: String| {
        let extend = if bits == 64 { "cqo" } else { "cdq" };
        let chained = match shape {
            Shape::Latency => chained,
            Shape::Throughput => String::new(),
        };
        format!("mov {register}, {register}; {extend}; idiv {register}{chained}")
    };
    match operation {
        Operation::Add => simple("add", &register),
        Operation::Multiply => simple("imul", &register),
        Operation::And => simple("and", &register),
        Operation::Xor => simple("xor", &register),
        Operation::Shift => simple("sar", "n"),
        Operation::Divide | Operation::DivideLong => {
            divide(format!("; mov {register}, {register}"))
        }
        Operation::Remainder | Operation::RemainderLong => divide(format!("; lea {register}, m")),
        Operation::FusedMultiplyAdd | Operation::SquareRoot => "none".to_owned(),
    }
}
