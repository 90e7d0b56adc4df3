//! Streams through memory.
//!
//! | Register | Holds |
//! |---|---|
//! | `rsi` | the [`Arguments`](super::super::stream::Arguments) |
//! | `rdi` | where the destination is |
//! | `r8`, `r9`, `r10` | where the sources are |
//! | `rax` | blocks left in this pass |
//!
//! A block is 1024 bytes of each array. Eight vectors of it make a group. Each vector is stored as
//! soon as it is computed: where the loads of a group came before its stores, a Zen 4 was slower by
//! a sixth.

use super::super::shell::function;
use super::super::{Code, Entry, Simd, Stream};
use crate::Unsupported;

/// One line for each of the eight vectors `\r` of a group.
macro_rules! vectors {
    ($($part:expr),*) => {
        concat!(".irp r,0,1,2,3,4,5,6,7\n", $($part,)* "\n.endr")
    };
}

/// After a pass of a stream that writes: returns how far the destination's pointer advanced.
macro_rules! walked {
    () => {
        "add r12, rdi\nsub r12, [rsi]"
    };
}

/// A loop of passes, each a loop of blocks; each block does `group` at each of these offsets `\o`.
macro_rules! passes {
    ($name:ident: $text:expr, prepare [$($prepare:expr),*], groups $offsets:literal [$($line:expr),*],
     after [$($after:expr),*], finish [$($finish:expr),*]) => {
        function! {
            $name: $text, operations 1, chains 1,
            inside [
                $($prepare,)*
                "test rbx, rbx",
                "jz 3f",
                ".p2align 6",
                "2:",
                "mov rdi, [rsi]",
                "mov r8, [rsi + 8]",
                "mov r9, [rsi + 16]",
                "mov r10, [rsi + 24]",
                "mov rax, [rsi + 32]",
                ".p2align 6",
                "4:",
                concat!(".irp o,", $offsets),
                $($line,)*
                ".endr",
                "add rdi, 1024",
                "add r8, 1024",
                "add r9, 1024",
                "add r10, 1024",
                "dec rax",
                "jnz 4b",
                $($after,)*
                "dec rbx",
                "jnz 2b",
                "3:",
                $($finish,)*
            ],
            procedures []
        }
    };
}

/// A stream that reads: the first pass sums what it loads, in registers 0 to 7; the others only
/// load, and return how far their pointer advanced.
macro_rules! reading {
    ($name:ident: $text:expr, prepare [$($prepare:expr),*], groups $offsets:literal [$add:expr, $load:expr],
     finish [$($finish:expr),*]) => {
        function! {
            $name: $text, operations 1, chains 1,
            inside [
                $($prepare,)*
                "test rbx, rbx",
                "jz 3f",
                "mov r8, [rsi + 8]",
                "mov rax, [rsi + 32]",
                ".p2align 6",
                "4:",
                concat!(".irp o,", $offsets),
                $add,
                ".endr",
                "add r8, 1024",
                "dec rax",
                "jnz 4b",
                "dec rbx",
                "jz 3f",
                "2:",
                "mov r8, [rsi + 8]",
                "mov rax, [rsi + 32]",
                ".p2align 6",
                "5:",
                concat!(".irp o,", $offsets, "\n.irp r,0,1,2,3,4,5,6,7"),
                $load,
                ".endr\n.endr",
                "add r8, 1024",
                "dec rax",
                "jnz 5b",
                "add r12, r8",
                "sub r12, [rsi + 8]",
                "dec rbx",
                "jnz 2b",
                "3:",
                $($finish,)*
            ],
            procedures []
        }
    };
}

/// The streams of a set of three-operand instructions on registers named `$v`; `$at` is a vector's
/// place within a block.
macro_rules! avx {
    ($v:literal, $at:literal, groups $offsets:literal, lanes $lanes:literal,
     $read:ident $write:ident $write_past:ident $copy:ident $copy_past:ident $scale:ident $add:ident $triad:ident $add_three:ident) => {
        reading! {
            $read: concat!("vmovapd ", $v, ", m (in the first pass vpaddq)"),
            prepare ["vzeroall"],
            groups $offsets [
                vectors!("vpaddq ", $v, "\\r, ", $v, "\\r, [r8 + ", $at, "]"),
                concat!("vmovapd ", $v, "15, [r8 + ", $at, "]")
            ],
            finish [
                concat!(".irp r,1,2,3,4,5,6,7\nvpaddq ", $v, "0, ", $v, "0, ", $v, "\\r\n.endr"),
                concat!("vmovupd [rsp], ", $v, "0"),
                concat!(".irp o,", $lanes, "\nadd r12, [rsp + \\o]\n.endr"),
                "vzeroupper"
            ]
        }
        avx!(@constant $write: "vmovapd", $v, $at, $offsets, []);
        avx!(@constant $write_past: "vmovntpd", $v, $at, $offsets, ["sfence"]);
        avx!(@made $copy: "", "vmovapd", $v, $at, $offsets, ["vmovapd ", $v, "\\r, [r8 + ", $at, "]"], [], [], []);
        avx!(@made $copy_past: "", "vmovntpd", $v, $at, $offsets, ["vmovapd ", $v, "\\r, [r8 + ", $at, "]"], [], [], ["sfence"]);
        avx!(@made $scale: "vmulpd; ", "vmovapd", $v, $at, $offsets,
            ["vmulpd ", $v, "\\r, ", $v, "15, [r8 + ", $at, "]"], [], [], []);
        avx!(@made $add: "vaddpd; ", "vmovapd", $v, $at, $offsets,
            ["vmovapd ", $v, "\\r, [r8 + ", $at, "]"], ["vaddpd ", $v, "\\r, ", $v, "\\r, [r9 + ", $at, "]"], [], []);
        avx!(@made $triad: "vfmadd213pd; ", "vmovapd", $v, $at, $offsets,
            ["vmovapd ", $v, "\\r, [r9 + ", $at, "]"], ["vfmadd213pd ", $v, "\\r, ", $v, "15, [r8 + ", $at, "]"], [], []);
        avx!(@made $add_three: "vaddpd; vaddpd; ", "vmovapd", $v, $at, $offsets,
            ["vmovapd ", $v, "\\r, [r8 + ", $at, "]"], ["vaddpd ", $v, "\\r, ", $v, "\\r, [r9 + ", $at, "]"],
            ["vaddpd ", $v, "\\r, ", $v, "\\r, [r10 + ", $at, "]"], []);
    };
    // The value stored is one more in each pass.
    (@constant $name:ident: $store:literal, $v:literal, $at:literal, $offsets:literal, [$($finish:literal),*]) => {
        passes! {
            $name: concat!($store, " m, ", $v),
            prepare [concat!("vpbroadcastq ", $v, "14, [rsi + 40]"), concat!("vpbroadcastq ", $v, "15, [rsi + 48]")],
            groups $offsets [vectors!($store, " [rdi + ", $at, "], ", $v, "14")],
            after [concat!("vpaddq ", $v, "14, ", $v, "14, ", $v, "15"), walked!()],
            finish [$($finish,)* "vzeroupper"]
        }
    };
    // The values stored are computed by up to three instructions that load.
    (@made $name:ident: $text:literal, $store:literal, $v:literal, $at:literal, $offsets:literal,
     [$($first:expr),*], [$($second:expr),*], [$($third:expr),*], [$($finish:literal),*]) => {
        passes! {
            $name: concat!("vmovapd ", $v, ", m; ", $text, $store, " m, ", $v),
            prepare [concat!("vbroadcastsd ", $v, "15, [rsi + 56]")],
            groups $offsets [
                vectors!($($first,)* "\n", $($second,)* "\n", $($third,)* "\n", $store, " [rdi + ", $at, "], ", $v, "\\r")
            ],
            after [walked!()],
            finish [$($finish,)* "vzeroupper"]
        }
    };
}

avx! {
    "ymm", "\\o + 32 * \\r", groups "0,256,512,768", lanes "0,8,16,24",
    AVX2_READ AVX2_WRITE AVX2_WRITE_PAST AVX2_COPY AVX2_COPY_PAST AVX2_SCALE AVX2_ADD AVX2_TRIAD AVX2_ADD_THREE
}
avx! {
    "zmm", "\\o + 64 * \\r", groups "0,512", lanes "0,8,16,24,32,40,48,56",
    AVX512_READ AVX512_WRITE AVX512_WRITE_PAST AVX512_COPY AVX512_COPY_PAST AVX512_SCALE AVX512_ADD AVX512_TRIAD
    AVX512_ADD_THREE
}

/// A stream of SSE2.
macro_rules! sse2 {
    ($name:ident: $text:expr, prepare [$($prepare:expr),*], [$($line:expr),*], after [$($after:expr),*],
     finish [$($finish:expr),*]) => {
        passes! {
            $name: $text, prepare [$($prepare),*],
            groups "0,128,256,384,512,640,768,896" [vectors!($($line, "\n"),*)],
            after [$($after),*], finish [$($finish),*]
        }
    };
    // The value stored is one more in each pass.
    (constant $name:ident: $store:literal, finish [$($finish:literal),*]) => {
        sse2! {
            $name: concat!($store, " m, xmm"),
            prepare ["movq xmm14, [rsi + 40]", "punpcklqdq xmm14, xmm14", "movq xmm15, [rsi + 48]", "punpcklqdq xmm15, xmm15"],
            [concat!($store, " [rdi + \\o + 16 * \\r], xmm14")], after ["paddq xmm14, xmm15", walked!()], finish [$($finish),*]
        }
    };
    (made $name:ident: $text:literal, [$($line:literal),*], finish [$($finish:literal),*]) => {
        sse2! {
            $name: $text, prepare ["movq xmm15, [rsi + 56]", "unpcklpd xmm15, xmm15"],
            [$($line),*], after [walked!()], finish [$($finish),*]
        }
    };
}

reading! {
    SSE2_READ: "movapd xmm, m (in the first pass paddq)", prepare [vectors!("pxor xmm\\r, xmm\\r")],
    groups "0,128,256,384,512,640,768,896" [
        vectors!("paddq xmm\\r, [r8 + \\o + 16 * \\r]"), "movapd xmm15, [r8 + \\o + 16 * \\r]"
    ],
    finish [
        ".irp r,1,2,3,4,5,6,7\npaddq xmm0, xmm\\r\n.endr",
        "movupd [rsp], xmm0", "add r12, [rsp]", "add r12, [rsp + 8]"
    ]
}
sse2! { constant SSE2_WRITE: "movapd", finish [] }
sse2! { constant SSE2_WRITE_PAST: "movntpd", finish ["sfence"] }
sse2! {
    made SSE2_COPY: "movapd xmm, m; movapd m, xmm",
    ["movapd xmm\\r, [r8 + \\o + 16 * \\r]", "movapd [rdi + \\o + 16 * \\r], xmm\\r"], finish []
}
sse2! {
    made SSE2_COPY_PAST: "movapd xmm, m; movntpd m, xmm",
    ["movapd xmm\\r, [r8 + \\o + 16 * \\r]", "movntpd [rdi + \\o + 16 * \\r], xmm\\r"], finish ["sfence"]
}
sse2! {
    made SSE2_SCALE: "movapd xmm, m; mulpd; movapd m, xmm",
    ["movapd xmm\\r, [r8 + \\o + 16 * \\r]\nmulpd xmm\\r, xmm15", "movapd [rdi + \\o + 16 * \\r], xmm\\r"], finish []
}
sse2! {
    made SSE2_ADD: "movapd xmm, m; addpd; movapd m, xmm",
    [
        "movapd xmm\\r, [r8 + \\o + 16 * \\r]", "addpd xmm\\r, [r9 + \\o + 16 * \\r]",
        "movapd [rdi + \\o + 16 * \\r], xmm\\r"
    ], finish []
}
sse2! {
    made SSE2_TRIAD: "movapd xmm, m; mulpd; addpd; movapd m, xmm",
    [
        "movapd xmm\\r, [r9 + \\o + 16 * \\r]\nmulpd xmm\\r, xmm15", "addpd xmm\\r, [r8 + \\o + 16 * \\r]",
        "movapd [rdi + \\o + 16 * \\r], xmm\\r"
    ], finish []
}
sse2! {
    made SSE2_ADD_THREE: "movapd xmm, m; addpd; addpd; movapd m, xmm",
    [
        "movapd xmm\\r, [r8 + \\o + 16 * \\r]", "addpd xmm\\r, [r9 + \\o + 16 * \\r]",
        "addpd xmm\\r, [r10 + \\o + 16 * \\r]", "movapd [rdi + \\o + 16 * \\r], xmm\\r"
    ], finish []
}

/// A string instruction for each pass; `rbp` holds the arguments, which are in `rsi` on entry.
macro_rules! repeat {
    ($name:ident: $text:literal, [$($line:literal),*]) => {
        function! {
            $name: $text, operations 1, chains 1,
            inside [
                "mov rbp, rsi",
                "mov r8, [rbp + 40]",
                "test rbx, rbx",
                "jz 3f",
                "2:",
                "mov rdi, [rbp]",
                "mov rcx, [rbp + 64]",
                $($line,)*
                "add r12, rdi",
                "sub r12, [rbp]",
                "dec rbx",
                "jnz 2b",
                "3:",
            ],
            procedures []
        }
    };
}

repeat! { REPEAT_STORE: "rep stosb", ["mov eax, r8d", "inc r8d", "rep stosb"] }
repeat! { REPEAT_MOVE: "rep movsb", ["mov rsi, [rbp + 8]", "rep movsb"] }

pub(in super::super) fn stream(stream: Stream, simd: Simd) -> Result<Code, Unsupported> {
    let has_avx2 = || {
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
    };
    let sets = |sse2, avx2, avx512| match simd {
        Simd::Sse2 => Ok(sse2),
        Simd::Avx2 if has_avx2() => Ok(avx2),
        Simd::Avx2 => Err(Unsupported::new("this processor has no AVX2 with FMA3")),
        Simd::Avx512 if std::arch::is_x86_feature_detected!("avx512f") => Ok(avx512),
        Simd::Avx512 => Err(Unsupported::new("this processor has no AVX-512")),
        Simd::Neon => Err(Unsupported::new("Neon is of aarch64; this is x86-64")),
    };
    match stream {
        Stream::Read => sets(SSE2_READ, AVX2_READ, AVX512_READ),
        Stream::Write => sets(SSE2_WRITE, AVX2_WRITE, AVX512_WRITE),
        Stream::WriteNontemporal => sets(SSE2_WRITE_PAST, AVX2_WRITE_PAST, AVX512_WRITE_PAST),
        Stream::Copy => sets(SSE2_COPY, AVX2_COPY, AVX512_COPY),
        Stream::CopyNontemporal => sets(SSE2_COPY_PAST, AVX2_COPY_PAST, AVX512_COPY_PAST),
        Stream::Scale => sets(SSE2_SCALE, AVX2_SCALE, AVX512_SCALE),
        Stream::Add => sets(SSE2_ADD, AVX2_ADD, AVX512_ADD),
        Stream::Triad => sets(SSE2_TRIAD, AVX2_TRIAD, AVX512_TRIAD),
        Stream::AddThree => sets(SSE2_ADD_THREE, AVX2_ADD_THREE, AVX512_ADD_THREE),
        Stream::RepeatStore => Ok(REPEAT_STORE),
        Stream::RepeatMove => Ok(REPEAT_MOVE),
        Stream::Memset | Stream::Memcpy => Err(Unsupported::new("the C library's, no kernel")),
    }
}

/// The last instructions of a kernel.
const END: [u8; 11] = [
    0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3,
];

/// The machine code of a kernel.
fn text(entry: Entry) -> &'static [u8] {
    let start = entry as *const u8;
    // SAFETY: code is readable, and every kernel ends with these bytes.
    let is_end = |at: usize| unsafe { start.add(at).cast::<[u8; 11]>().read() } == END;
    let length = (0..).find(|at| is_end(*at)).unwrap_or(0);
    // SAFETY: the loop above has read this many bytes.
    unsafe { std::slice::from_raw_parts(start, length + END.len()) }
}

/// Counts a kernel's instructions on vectors of this set that have a memory operand and one of
/// these pairs of opcode map and opcode.
fn count(entry: Entry, simd: Simd, among: &[(u8, u8)]) -> usize {
    let is_one = |bytes: &[u8]| {
        let (map, opcode) = match (simd, bytes) {
            (Simd::Sse2, [0x66, 0x40..=0x4f, 0x0f, rest @ ..])
            | (Simd::Sse2, [0x66, 0x0f, rest @ ..]) => (1, rest),
            (Simd::Avx2, [0xc5, last, rest @ ..]) if last & 7 == 5 => (1, rest),
            (Simd::Avx2, [0xc4, map, last, rest @ ..]) if last & 7 == 5 => (map & 31, rest),
            (Simd::Avx512, [0x62, map, _, last, rest @ ..]) if last & 0x60 == 0x40 => {
                (map & 7, rest)
            }
            _ => return false,
        };
        among.contains(&(map, opcode[0])) && opcode[1] < 0xc0
    };
    text(entry).windows(6).filter(|bytes| is_one(bytes)).count()
}

/// The instructions by which a kernel stores what it makes.
pub(in super::super) fn storing(entry: Entry) -> &'static str {
    let sets = [Simd::Sse2, Simd::Avx2, Simd::Avx512].into_iter();
    let counted = |opcode| -> usize {
        let sets = sets.clone();
        sets.map(|simd| count(entry, simd, &[(1, opcode)])).sum()
    };
    let repeats = |opcode| text(entry).windows(2).any(|two| two == [0xf3, opcode]);
    // movapd and movntpd to memory; stosb and movsb.
    match (counted(0x29), counted(0x2b)) {
        (1.., 0) => "stores",
        (0, 1..) => "non-temporal stores",
        (0, 0) if repeats(0xaa) => "rep stosb",
        (0, 0) if repeats(0xa4) => "rep movsb",
        (0, 0) => "none",
        (1.., 1..) => "of two kinds",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_block_was_folded() {
        // movapd, addpd, mulpd, paddq, vfmadd213pd; movapd and movntpd to memory.
        const LOADS: [(u8, u8); 5] = [(1, 0x28), (1, 0x58), (1, 0x59), (1, 0xd4), (2, 0xa8)];
        const STORES: [(u8, u8); 2] = [(1, 0x29), (1, 0x2b)];
        for simd in [Simd::Sse2, Simd::Avx2, Simd::Avx512] {
            let vectors = 1024 / (8 * simd.lanes() as usize);
            for what in Stream::ALL.into_iter().filter(|what| what.is_vector()) {
                let code = or_skip!(stream(what, simd));
                let name = format!("{} {}", what.name(), simd.name());
                // A stream that reads has two blocks: with and without a sum.
                let loads = match what {
                    Stream::Read => {
                        assert_eq!(count(code.entry, simd, &[(1, 0xd4)]), vectors, "{name}");
                        2 * vectors
                    }
                    _ => what.sources() * vectors,
                };
                assert_eq!(count(code.entry, simd, &LOADS), loads, "{name}");
                let stores = what.destinations() * vectors;
                assert_eq!(count(code.entry, simd, &STORES), stores, "{name}");
                let expected = match what {
                    Stream::Read => "none",
                    Stream::WriteNontemporal | Stream::CopyNontemporal => "non-temporal stores",
                    _ => "stores",
                };
                assert_eq!(storing(code.entry), expected, "{name}");
            }
        }
    }

    #[test]
    fn what_repeats_is_neither_the_other_nor_a_vector() {
        for (code, expected) in [(REPEAT_STORE, "rep stosb"), (REPEAT_MOVE, "rep movsb")] {
            assert_eq!(storing(code.entry), expected);
        }
    }
}
