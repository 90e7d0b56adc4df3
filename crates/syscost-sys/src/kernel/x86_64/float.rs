//! Scalar floating-point arithmetic (SSE2, and FMA3 for the fused operation).
//!
//! The kernel's memory holds the start, then two operands (`xmm14`, `xmm15`), as bit patterns. The
//! upper halves of 32-bit patterns are zero, and stay so.

use super::super::shell::kernel;
use super::super::{Operation, Shape};
use super::each;
use crate::Unsupported;

/// A kernel of one chain in `xmm0`.
macro_rules! latency {
    ($name:ident: $times:literal times $per_body:literal, [$($body:expr),*],
     after [$($after:literal),*], finish [$($finish:expr),*]) => {
        kernel! {
            $name: $times times $per_body, chains 1,
            prepare ["movq xmm0, [rsi]", "movq xmm14, [rsi + 8]", "movq xmm15, [rsi + 16]"],
            body [$($body),*],
            after [$($after),*],
            finish [$($finish),*]
        }
    };
}

/// A kernel of twelve independent chains.
macro_rules! throughput {
    ($name:ident: $times:literal times $per_body:literal, [$($body:expr),*],
     after [$($after:literal),*], finish [$($finish:expr),*]) => {
        kernel! {
            $name: $times times $per_body, chains 12,
            prepare [
                "movq xmm14, [rsi + 8]", "movq xmm15, [rsi + 16]",
                each!(twelve: "movq xmm\\r, [rsi]"),
            ],
            body [$($body),*],
            after [$($after),*],
            finish [$($finish),*]
        }
    };
}

/// All operations of one type: `sd` and `q`, or `ss` and `d`.
macro_rules! operations {
    ($suffix:literal, $move:literal,
     $add:ident $adds:ident $multiply:ident $multiplies:ident $divide:ident $divides:ident
     $fused:ident $fuseds:ident $root:ident $roots:ident) => {
        latency! {
            $add: 64 times 1, [concat!("add", $suffix, " xmm0, xmm14")],
            after [], finish [concat!("cvtt", $suffix, "2si r12, xmm0")]
        }
        throughput! {
            $adds: 20 times 12, [each!(twelve: concat!("add", $suffix, " xmm\\r, xmm14"))],
            after [], finish [each!(twelve: concat!("cvtt", $suffix, "2si rax, xmm\\r\nadd r12, rax"))]
        }
        latency! {
            $multiply: 32 times 2,
            [concat!("mul", $suffix, " xmm0, xmm14"), concat!("mul", $suffix, " xmm0, xmm15")],
            after [$move, "add r12, rax"], finish []
        }
        throughput! {
            $multiplies: 10 times 24,
            [
                each!(twelve: concat!("mul", $suffix, " xmm\\r, xmm14")),
                each!(twelve: concat!("mul", $suffix, " xmm\\r, xmm15"))
            ],
            after [$move, "add r12, rax"], finish []
        }
        latency! {
            $divide: 16 times 2,
            [
                "movapd xmm1, xmm14", concat!("div", $suffix, " xmm1, xmm0"),
                "movapd xmm0, xmm14", concat!("div", $suffix, " xmm0, xmm1")
            ],
            after [$move, "add r12, rax"], finish []
        }
        throughput! {
            $divides: 3 times 12,
            [each!(twelve: "movapd xmm\\r, xmm14"), each!(twelve: concat!("div", $suffix, " xmm\\r, xmm15"))],
            after [$move, "add r12, rax"], finish []
        }
        latency! {
            $fused: 64 times 1,
            [concat!("vfmadd213", $suffix, " xmm0, xmm14, xmm15")],
            after [], finish [concat!("cvtt", $suffix, "2si r12, xmm0"), "vzeroupper"]
        }
        throughput! {
            $fuseds: 20 times 12,
            [each!(twelve: concat!("vfmadd213", $suffix, " xmm\\r, xmm14, xmm15"))],
            after [], finish [each!(twelve: concat!("cvtt", $suffix, "2si rax, xmm\\r\nadd r12, rax")), "vzeroupper"]
        }
        latency! {
            $root: 32 times 1,
            [concat!("sqrt", $suffix, " xmm0, xmm0"), "xorpd xmm0, xmm15"],
            after [$move, "add r12, rax"], finish []
        }
        throughput! {
            $roots: 3 times 12, [each!(twelve: concat!("sqrt", $suffix, " xmm\\r, xmm14"))],
            after [$move, "add r12, rax"], finish []
        }
    };
}

operations! {
    "sd", "movq rax, xmm0",
    ADD_64 ADDS_64 MULTIPLY_64 MULTIPLIES_64 DIVIDE_64 DIVIDES_64 FUSED_64 FUSEDS_64 ROOT_64 ROOTS_64
}
operations! {
    "ss", "movd eax, xmm0",
    ADD_32 ADDS_32 MULTIPLY_32 MULTIPLIES_32 DIVIDE_32 DIVIDES_32 FUSED_32 FUSEDS_32 ROOT_32 ROOTS_32
}

/// Whether the processor has the fused operation.
pub(in super::super) fn has_fused() -> Result<(), Unsupported> {
    if std::arch::is_x86_feature_detected!("fma") {
        Ok(())
    } else {
        Err(Unsupported::new("this processor has no FMA3"))
    }
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(operation: Operation, bits: u32, shape: Shape) -> String {
    let s = if bits == 64 { "sd" } else { "ss" };
    let all = |body: &str| format!("12 of ({body})");
    match (operation, shape) {
        (Operation::Add, Shape::Latency) => format!("add{s} xmm, xmm"),
        (Operation::Add, Shape::Throughput) => all(&format!("add{s} xmm, xmm")),
        (Operation::Multiply, Shape::Latency) => format!("mul{s} xmm, xmm; mul{s} xmm, xmm"),
        (Operation::Multiply, Shape::Throughput) => {
            let one = all(&format!("mul{s} xmm, xmm"));
            format!("{one}; {one}")
        }
        (Operation::Divide, Shape::Latency) => {
            format!("movapd xmm, xmm; div{s} xmm, xmm; movapd xmm, xmm; div{s} xmm, xmm")
        }
        (Operation::Divide, Shape::Throughput) => {
            format!(
                "{}; {}",
                all("movapd xmm, xmm"),
                all(&format!("div{s} xmm, xmm"))
            )
        }
        (Operation::FusedMultiplyAdd, Shape::Latency) => format!("vfmadd213{s} xmm, xmm, xmm"),
        (Operation::FusedMultiplyAdd, Shape::Throughput) => {
            all(&format!("vfmadd213{s} xmm, xmm, xmm"))
        }
        // The exclusive or makes the square again.
        (Operation::SquareRoot, Shape::Latency) => format!("sqrt{s} xmm, same; xorpd xmm, xmm"),
        (Operation::SquareRoot, Shape::Throughput) => all(&format!("sqrt{s} xmm, xmm")),
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
