//! Vector arithmetic on 64-bit floating-point numbers.
//!
//! Every lane of every chain counts operations in steps of 1.0; `finish` adds all lanes.

use super::super::shell::kernel;
use super::super::{Code, Shape, Simd, VectorOperation};
use super::each;
use crate::Unsupported;

/// Adds lanes stored at `rsp` to the checksum.
macro_rules! sum_lanes {
    ($offsets:literal) => {
        concat!(
            ".irp o,",
            $offsets,
            "\ncvttsd2si rax, qword ptr [rsp + \\o]\nadd r12, rax\n.endr"
        )
    };
}

/// A kernel of one chain or twelve (`one` or `twelve`) with the 128-bit instructions of SSE2.
macro_rules! sse2 {
    ($name:ident: $times:literal times $count:literal $chains:ident) => {
        kernel! {
            $name: $times times $count, chains $count,
            prepare ["movq xmm14, [rsi + 8]", "unpcklpd xmm14, xmm14", each!(twelve: "xorpd xmm\\r, xmm\\r")],
            body [each!($chains: "addpd xmm\\r, xmm14")],
            after [],
            finish [
                "xorpd xmm15, xmm15",
                each!($chains: "addpd xmm15, xmm\\r"),
                "movupd [rsp], xmm15",
                sum_lanes!("0,8"),
            ]
        }
    };
}

/// A kernel of fused operations with the 128-bit instructions of FMA3.
macro_rules! fused_128 {
    ($name:ident: $times:literal times $count:literal $chains:ident) => {
        kernel! {
            $name: $times times $count, chains $count,
            prepare ["vzeroall", "vmovddup xmm14, [rsi + 8]", "vmovddup xmm15, [rsi + 16]"],
            body [each!($chains: "vfmadd213pd xmm\\r, xmm14, xmm15")],
            after [],
            finish [
                "vxorpd xmm13, xmm13, xmm13",
                each!($chains: "vaddpd xmm13, xmm13, xmm\\r"),
                "vmovupd [rsp], xmm13",
                sum_lanes!("0,8"),
                "vzeroupper",
            ]
        }
    };
}

/// A kernel with three-operand instructions on registers named `ymm` or `zmm`.
macro_rules! avx {
    ($name:ident: $times:literal times $count:literal $chains:ident,
     $register:literal, $body:expr, lanes $offsets:literal) => {
        kernel! {
            $name: $times times $count, chains $count,
            prepare [
                "vzeroall",
                concat!("vbroadcastsd ", $register, "14, [rsi + 8]"),
                concat!("vbroadcastsd ", $register, "15, [rsi + 16]"),
            ],
            body [each!($chains: $body)],
            after [],
            finish [
                "vxorpd xmm13, xmm13, xmm13",
                each!($chains: concat!("vaddpd ", $register, "13, ", $register, "13, ", $register, "\\r")),
                concat!("vmovupd [rsp], ", $register, "13"),
                sum_lanes!($offsets),
                "vzeroupper",
            ]
        }
    };
}

/// The four kernels of one width.
macro_rules! width {
    ($add:ident $adds:ident $fused:ident $fuseds:ident: $register:literal, $add_line:literal, $fused_line:literal,
     lanes $offsets:literal) => {
        avx! { $add: 64 times 1 one, $register, $add_line, lanes $offsets }
        avx! { $adds: 20 times 12 twelve, $register, $add_line, lanes $offsets }
        avx! { $fused: 64 times 1 one, $register, $fused_line, lanes $offsets }
        avx! { $fuseds: 20 times 12 twelve, $register, $fused_line, lanes $offsets }
    };
}

sse2! { SSE2_ADD: 64 times 1 one }
sse2! { SSE2_ADDS: 20 times 12 twelve }
fused_128! { FUSED_128: 64 times 1 one }
fused_128! { FUSEDS_128: 20 times 12 twelve }
width! {
    AVX2_ADD AVX2_ADDS AVX2_FUSED AVX2_FUSEDS: "ymm",
    "vaddpd ymm\\r, ymm\\r, ymm14", "vfmadd213pd ymm\\r, ymm14, ymm15", lanes "0,8,16,24"
}
width! {
    AVX512_ADD AVX512_ADDS AVX512_FUSED AVX512_FUSEDS: "zmm",
    "vaddpd zmm\\r, zmm\\r, zmm14", "vfmadd213pd zmm\\r, zmm14, zmm15", lanes "0,8,16,24,32,40,48,56"
}

/// The kernels of latency and of throughput.
pub(in super::super) fn vector(
    simd: Simd,
    operation: VectorOperation,
) -> Result<[Code; 2], Unsupported> {
    let has_fma = std::arch::is_x86_feature_detected!("fma");
    let [add, adds, fused, fuseds] = match simd {
        Simd::Sse2 if operation == VectorOperation::Add || has_fma => {
            [SSE2_ADD, SSE2_ADDS, FUSED_128, FUSEDS_128]
        }
        Simd::Sse2 => {
            return Err(Unsupported::new(
                "this processor has no FMA3, and SSE2 no fused multiply-add",
            ));
        }
        Simd::Avx2 if std::arch::is_x86_feature_detected!("avx2") && has_fma => {
            [AVX2_ADD, AVX2_ADDS, AVX2_FUSED, AVX2_FUSEDS]
        }
        Simd::Avx2 => return Err(Unsupported::new("this processor has no AVX2 with FMA3")),
        Simd::Avx512 if std::arch::is_x86_feature_detected!("avx512f") => {
            [AVX512_ADD, AVX512_ADDS, AVX512_FUSED, AVX512_FUSEDS]
        }
        Simd::Avx512 => return Err(Unsupported::new("this processor has no AVX-512")),
        Simd::Neon => return Err(Unsupported::new("Neon is of aarch64; this is x86-64")),
    };
    Ok(match operation {
        VectorOperation::Add => [add, adds],
        VectorOperation::FusedMultiplyAdd => [fused, fuseds],
    })
}

/// What the instructions must be, in the words of a [listing](super::super::listing), by the name
/// alone.
pub(in super::super) fn instructions(
    simd: Simd,
    operation: VectorOperation,
    shape: Shape,
) -> String {
    let (fused, v) = (
        operation == VectorOperation::FusedMultiplyAdd,
        simd.register(),
    );
    let one = match (simd, fused) {
        (Simd::Sse2, false) => "addpd xmm, xmm".to_owned(),
        (_, false) => format!("vaddpd {v}, same, {v}"),
        (_, true) => format!("vfmadd213pd {v}, {v}, {v}"),
    };
    match shape {
        Shape::Latency => format!("1 of ({one})"),
        Shape::Throughput => format!("12 of ({one})"),
    }
}
