//! Scalar floating-point arithmetic (SSE2, and FMA3 for the fused operation).
//!
//! The kernel's memory holds the start, then two operands (`xmm14`, `xmm15`), as bit patterns. The
//! upper halves of 32-bit patterns are zero, and stay so.

use super::super::shell::kernel;
use super::each;
use crate::Unsupported;

/// A kernel of one chain in `xmm0`.
macro_rules! latency {
    ($name:ident: $text:expr, $times:literal times $per_body:literal, [$($body:expr),*],
     after [$($after:literal),*], finish [$($finish:expr),*]) => {
        kernel! {
            $name: $text, $times times $per_body, chains 1,
            prepare ["movq xmm0, [rsi]", "movq xmm14, [rsi + 8]", "movq xmm15, [rsi + 16]"],
            body [$($body),*],
            after [$($after),*],
            finish [$($finish),*]
        }
    };
}

/// A kernel of twelve independent chains.
macro_rules! throughput {
    ($name:ident: $text:expr, $times:literal times $per_body:literal, [$($body:expr),*],
     after [$($after:literal),*], finish [$($finish:expr),*]) => {
        kernel! {
            $name: $text, $times times $per_body, chains 12,
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
            $add: concat!("add", $suffix), 64 times 1, [concat!("add", $suffix, " xmm0, xmm14")],
            after [], finish [concat!("cvtt", $suffix, "2si r12, xmm0")]
        }
        throughput! {
            $adds: concat!("add", $suffix), 20 times 12, [each!(twelve: concat!("add", $suffix, " xmm\\r, xmm14"))],
            after [], finish [each!(twelve: concat!("cvtt", $suffix, "2si rax, xmm\\r\nadd r12, rax"))]
        }
        latency! {
            $multiply: concat!("mul", $suffix), 32 times 2,
            [concat!("mul", $suffix, " xmm0, xmm14"), concat!("mul", $suffix, " xmm0, xmm15")],
            after [$move, "add r12, rax"], finish []
        }
        throughput! {
            $multiplies: concat!("mul", $suffix), 10 times 24,
            [
                each!(twelve: concat!("mul", $suffix, " xmm\\r, xmm14")),
                each!(twelve: concat!("mul", $suffix, " xmm\\r, xmm15"))
            ],
            after [$move, "add r12, rax"], finish []
        }
        latency! {
            $divide: concat!("div", $suffix), 16 times 2,
            [
                "movapd xmm1, xmm14", concat!("div", $suffix, " xmm1, xmm0"),
                "movapd xmm0, xmm14", concat!("div", $suffix, " xmm0, xmm1")
            ],
            after [$move, "add r12, rax"], finish []
        }
        throughput! {
            $divides: concat!("div", $suffix), 3 times 12,
            [each!(twelve: "movapd xmm\\r, xmm14"), each!(twelve: concat!("div", $suffix, " xmm\\r, xmm15"))],
            after [$move, "add r12, rax"], finish []
        }
        latency! {
            $fused: concat!("vfmadd213", $suffix), 64 times 1,
            [concat!("vfmadd213", $suffix, " xmm0, xmm14, xmm15")],
            after [], finish [concat!("cvtt", $suffix, "2si r12, xmm0"), "vzeroupper"]
        }
        throughput! {
            $fuseds: concat!("vfmadd213", $suffix), 20 times 12,
            [each!(twelve: concat!("vfmadd213", $suffix, " xmm\\r, xmm14, xmm15"))],
            after [], finish [each!(twelve: concat!("cvtt", $suffix, "2si rax, xmm\\r\nadd r12, rax")), "vzeroupper"]
        }
        latency! {
            $root: concat!("sqrt", $suffix, " (one xorpd is on the chain)"), 32 times 1,
            [concat!("sqrt", $suffix, " xmm0, xmm0"), "xorpd xmm0, xmm15"],
            after [$move, "add r12, rax"], finish []
        }
        throughput! {
            $roots: concat!("sqrt", $suffix), 3 times 12, [each!(twelve: concat!("sqrt", $suffix, " xmm\\r, xmm14"))],
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
