//! Scalar floating-point arithmetic.
//!
//! The kernel's memory holds the start, then two operands (`d28`, `d29`), as bit patterns. A single
//! chain is in register 0, twelve chains are in registers 16 to 27.

use super::super::shell::kernel;
use super::super::{Operation, Shape};
use super::each;
use crate::Unsupported;

/// All operations of one type, whose registers are `s` and `w`, or `d` and `x`.
macro_rules! operations {
    ($f:literal, $i:literal,
     $add:ident $adds:ident $multiply:ident $multiplies:ident $divide:ident $divides:ident
     $fused:ident $fuseds:ident $root:ident $roots:ident) => {
        operations! { @ $add: $f, 64 times 1, one,
            [concat!("fadd ", $f, "0, ", $f, "0, ", $f, "28")], after [], finish [sum!(one, $f)] }
        operations! { @ $adds: $f, 20 times 12, twelve,
            [each!(float: concat!("fadd ", $f, "\\r, ", $f, "\\r, ", $f, "28"))],
            after [], finish [sum!(twelve, $f)] }
        operations! { @ $multiply: $f, 32 times 2, one,
            [concat!("fmul ", $f, "0, ", $f, "0, ", $f, "28"), concat!("fmul ", $f, "0, ", $f, "0, ", $f, "29")],
            after [bits!("0", $f, $i)], finish [] }
        operations! { @ $multiplies: $f, 10 times 24, twelve,
            [
                each!(float: concat!("fmul ", $f, "\\r, ", $f, "\\r, ", $f, "28")),
                each!(float: concat!("fmul ", $f, "\\r, ", $f, "\\r, ", $f, "29"))
            ],
            after [bits!("16", $f, $i)], finish [] }
        operations! { @ $divide: $f, 16 times 2, one,
            [concat!("fdiv ", $f, "0, ", $f, "28, ", $f, "0"), concat!("fdiv ", $f, "0, ", $f, "28, ", $f, "0")],
            after [bits!("0", $f, $i)], finish [] }
        operations! { @ $divides: $f, 3 times 12, twelve,
            [each!(float: concat!("fdiv ", $f, "\\r, ", $f, "28, ", $f, "29"))],
            after [bits!("16", $f, $i)], finish [] }
        operations! { @ $fused: $f, 64 times 1, one,
            [concat!("fmadd ", $f, "0, ", $f, "0, ", $f, "28, ", $f, "29")], after [], finish [sum!(one, $f)] }
        operations! { @ $fuseds: $f, 20 times 12, twelve,
            [each!(float: concat!("fmadd ", $f, "\\r, ", $f, "\\r, ", $f, "28, ", $f, "29"))],
            after [], finish [sum!(twelve, $f)] }
        operations! { @ $root: $f, 32 times 1, one,
            [concat!("fsqrt ", $f, "0, ", $f, "0"), "eor v0.8b, v0.8b, v29.8b"],
            after [bits!("0", $f, $i)], finish [] }
        operations! { @ $roots: $f, 3 times 12, twelve,
            [each!(float: concat!("fsqrt ", $f, "\\r, ", $f, "28"))], after [bits!("16", $f, $i)], finish [] }
    };
    (@ $name:ident: $f:literal, $times:literal times $per_body:literal, $chains:ident,
     [$($body:expr),*], after [$($after:expr),*], finish [$($finish:expr),*]) => {
        kernel! {
            $name: $times times $per_body, chains chains!($chains),
            prepare [
                "ldr d0, [x1]", "ldr d28, [x1, 8]", "ldr d29, [x1, 16]",
                each!(float: "fmov d\\r, d0"),
            ],
            body [$($body),*],
            after [$($after),*],
            finish [$($finish),*]
        }
    };
}

macro_rules! chains {
    (one) => {
        1
    };
    (twelve) => {
        12
    };
}

/// Adds the counters, rounded to integers, to the checksum.
macro_rules! sum {
    (one, $f:literal) => {
        concat!("fcvtzs x20, ", $f, "0")
    };
    (twelve, $f:literal) => {
        each!(float: concat!("fcvtzs x3, ", $f, "\\r\nadd x20, x20, x3"))
    };
}

/// Adds a register's bit pattern to the checksum.
macro_rules! bits {
    ($number:literal, $f:literal, $i:literal) => {
        concat!("fmov ", $i, "3, ", $f, $number, "\nadd x20, x20, x3")
    };
}

operations! {
    "d", "x", ADD_64 ADDS_64 MULTIPLY_64 MULTIPLIES_64 DIVIDE_64 DIVIDES_64 FUSED_64 FUSEDS_64 ROOT_64 ROOTS_64
}
operations! {
    "s", "w", ADD_32 ADDS_32 MULTIPLY_32 MULTIPLIES_32 DIVIDE_32 DIVIDES_32 FUSED_32 FUSEDS_32 ROOT_32 ROOTS_32
}

/// Whether the processor has the fused operation.
pub(in super::super) fn has_fused() -> Result<(), Unsupported> {
    Ok(())
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(operation: Operation, bits: u32, shape: Shape) -> String {
    let f = if bits == 64 { "d" } else { "s" };
    let all = |body: &str| format!("12 of ({body})");
    match (operation, shape) {
        (Operation::Add, Shape::Latency) => format!("fadd {f}, same, {f}"),
        (Operation::Add, Shape::Throughput) => all(&format!("fadd {f}, same, {f}")),
        (Operation::Multiply, Shape::Latency) => {
            format!("fmul {f}, same, {f}; fmul {f}, same, {f}")
        }
        (Operation::Multiply, Shape::Throughput) => {
            let one = all(&format!("fmul {f}, same, {f}"));
            format!("{one}; {one}")
        }
        (Operation::Divide, Shape::Latency) => {
            format!("fdiv {f}, {f}, same; fdiv {f}, {f}, same")
        }
        (Operation::Divide, Shape::Throughput) => all(&format!("fdiv {f}, {f}, {f}")),
        (Operation::FusedMultiplyAdd, Shape::Latency) => format!("fmadd {f}, same, {f}, {f}"),
        (Operation::FusedMultiplyAdd, Shape::Throughput) => {
            all(&format!("fmadd {f}, same, {f}, {f}"))
        }
        // The exclusive or makes the square again.
        (Operation::SquareRoot, Shape::Latency) => {
            format!("fsqrt {f}, same; eor v.8b, same, v.8b")
        }
        (Operation::SquareRoot, Shape::Throughput) => all(&format!("fsqrt {f}, {f}")),
        (
            Operation::DivideLong
            | Operation::Remainder
            | Operation::RemainderLong
            | Operation::And
            | Operation::Xor
            | Operation::Shift,
            _,
        ) => "none".to_owned(),
    }
}
