//! Streams through memory.
//!
//! | Register | Holds |
//! |---|---|
//! | `x1` | the [`Arguments`](super::super::stream::Arguments) |
//! | `x3` | where the destination is |
//! | `x4`, `x5`, `x6` | where the sources are |
//! | `x7` | blocks left in this pass |
//!
//! A block is 1024 bytes of each array. Eight vectors of it make a group, whose loads come before its stores.

use super::super::shell::function;
use super::super::{Code, Entry, Simd, Stream};
use crate::Unsupported;

/// Eight vectors in pairs, loaded from or stored to `$at` by this instruction, in these registers.
macro_rules! group {
    ($instruction:literal $at:literal: $a:literal $b:literal $c:literal $d:literal) => {
        concat!(
            $instruction, " ", $a, ", [", $at, ", \\o]\n",
            $instruction, " ", $b, ", [", $at, ", \\o + 32]\n",
            $instruction, " ", $c, ", [", $at, ", \\o + 64]\n",
            $instruction, " ", $d, ", [", $at, ", \\o + 96]"
        )
    };
    (low: $instruction:literal $at:literal) => {
        group!($instruction $at: "q0, q1" "q2, q3" "q4, q5" "q6, q7")
    };
    (high: $instruction:literal $at:literal) => {
        group!($instruction $at: "q20, q21" "q22, q23" "q24, q25" "q26, q27")
    };
}

/// The register that a word stands for.
macro_rules! vector {
    (low $low:literal $high:literal) => {
        concat!($low, ".2d")
    };
    (high $low:literal $high:literal) => {
        concat!($high, ".2d")
    };
    (factor $low:literal $high:literal) => {
        "v30.2d"
    };
}

/// The same instruction on each of `v0` to `v7` (`low`) with its partner of `v20` to `v27` (`high`).
macro_rules! vectors {
    (@ $op:literal $a:ident $b:ident $c:ident: $($low:literal $high:literal),*) => {
        concat!($($op, " ", vector!($a $low $high), ", ", vector!($b $low $high), ", ", vector!($c $low $high), "\n"),*)
    };
    ($op:literal $a:ident $b:ident $c:ident) => {
        vectors!(@ $op $a $b $c: "v0" "v20", "v1" "v21", "v2" "v22", "v3" "v23", "v4" "v24", "v5" "v25", "v6" "v26", "v7" "v27")
    };
}

/// Every group `\o` of a block.
macro_rules! groups {
    () => {
        ".irp o,0,128,256,384,512,640,768,896"
    };
}

/// A stream that writes: a loop of passes, each a loop of blocks.
macro_rules! passes {
    ($name:ident: $text:expr, prepare [$($prepare:expr),*], [$($line:expr),*], after [$($after:expr),*]) => {
        function! {
            $name: $text, operations 1, chains 1,
            inside [
                $($prepare,)*
                "cbz x19, 3f",
                ".p2align 6",
                "2:",
                "ldp x3, x4, [x1]",
                "ldp x5, x6, [x1, 16]",
                "ldr x7, [x1, 32]",
                ".p2align 6",
                "4:",
                groups!(),
                $($line,)*
                ".endr",
                "add x3, x3, 1024",
                "add x4, x4, 1024",
                "add x5, x5, 1024",
                "add x6, x6, 1024",
                "subs x7, x7, 1",
                "b.ne 4b",
                $($after,)*
                "add x20, x20, x3",
                "ldr x8, [x1]",
                "sub x20, x20, x8",
                "subs x19, x19, 1",
                "b.ne 2b",
                "3:",
            ],
            procedures []
        }
    };
    // The value stored is one more in each pass.
    (constant $name:ident: $text:literal, $store:expr) => {
        passes! {
            $name: $text,
            prepare [
                "ldr d28, [x1, 40]", "dup v28.2d, v28.d[0]",
                "ldr d29, [x1, 48]", "dup v29.2d, v29.d[0]"
            ],
            [$store], after ["add v28.2d, v28.2d, v29.2d"]
        }
    };
    // The values stored are computed from the values loaded.
    (made $name:ident: $text:literal, [$($line:expr),*]) => {
        passes! {
            $name: $text, prepare ["ldr d30, [x1, 56]", "dup v30.2d, v30.d[0]"], [$($line),*], after []
        }
    };
}

// The first pass sums what it loads; the others only load, and return how far their pointer advanced.
function! {
    READ: "ldp q, q, m (in the first pass with add v.2d)", operations 1, chains 1,
    inside [
        ".irp r,v20.2d,v21.2d,v22.2d,v23.2d,v24.2d,v25.2d,v26.2d,v27.2d\nmovi \\r, 0\n.endr",
        "cbz x19, 3f",
        "ldr x4, [x1, 8]",
        "ldr x7, [x1, 32]",
        ".p2align 6",
        "4:",
        groups!(),
        group!(low: "ldp" "x4"),
        vectors!("add" high high low),
        ".endr",
        "add x4, x4, 1024",
        "subs x7, x7, 1",
        "b.ne 4b",
        "subs x19, x19, 1",
        "b.eq 3f",
        "2:",
        "ldr x4, [x1, 8]",
        "ldr x7, [x1, 32]",
        ".p2align 6",
        "5:",
        groups!(),
        group!(low: "ldp" "x4"),
        ".endr",
        "add x4, x4, 1024",
        "subs x7, x7, 1",
        "b.ne 5b",
        "add x20, x20, x4",
        "ldr x8, [x1, 8]",
        "sub x20, x20, x8",
        "subs x19, x19, 1",
        "b.ne 2b",
        "3:",
        ".irp r,v21.2d,v22.2d,v23.2d,v24.2d,v25.2d,v26.2d,v27.2d\nadd v20.2d, v20.2d, \\r\n.endr",
        "addp d20, v20.2d",
        "fmov x8, d20",
        "add x20, x20, x8",
    ],
    procedures []
}
passes! { constant WRITE: "stp q, q, m", group!("stp" "x3": "q28, q28" "q28, q28" "q28, q28" "q28, q28") }
passes! { constant WRITE_PAST: "stnp q, q, m", group!("stnp" "x3": "q28, q28" "q28, q28" "q28, q28" "q28, q28") }
passes! { made COPY: "ldp q, q, m; stp q, q, m", [group!(low: "ldp" "x4"), group!(low: "stp" "x3")] }
passes! { made COPY_PAST: "ldp q, q, m; stnp q, q, m", [group!(low: "ldp" "x4"), group!(low: "stnp" "x3")] }
passes! {
    made SCALE: "ldp q, q, m; fmul v.2d; stp q, q, m",
    [group!(low: "ldp" "x4"), vectors!("fmul" low low factor), group!(low: "stp" "x3")]
}
passes! {
    made ADD: "2 ldp q, q, m; fadd v.2d; stp q, q, m",
    [
        group!(low: "ldp" "x4"), group!(high: "ldp" "x5"),
        vectors!("fadd" low low high), group!(low: "stp" "x3")
    ]
}
passes! {
    made TRIAD: "2 ldp q, q, m; fmla v.2d; stp q, q, m",
    [
        group!(low: "ldp" "x4"), group!(high: "ldp" "x5"),
        vectors!("fmla" low high factor), group!(low: "stp" "x3")
    ]
}
passes! {
    made ADD_THREE: "3 ldp q, q, m; 2 fadd v.2d; stp q, q, m",
    [
        group!(low: "ldp" "x4"), group!(high: "ldp" "x5"), vectors!("fadd" low low high),
        group!(high: "ldp" "x6"), vectors!("fadd" low low high), group!(low: "stp" "x3")
    ]
}

pub(in super::super) fn stream(stream: Stream, simd: Simd) -> Result<Code, Unsupported> {
    if simd != Simd::Neon && stream.is_vector() {
        return Err(Unsupported::new(
            "SSE and AVX are of x86-64; this is aarch64",
        ));
    }
    Ok(match stream {
        Stream::Read => READ,
        Stream::Write => WRITE,
        Stream::WriteNontemporal => WRITE_PAST,
        Stream::Copy => COPY,
        Stream::CopyNontemporal => COPY_PAST,
        Stream::Scale => SCALE,
        Stream::Add => ADD,
        Stream::Triad => TRIAD,
        Stream::AddThree => ADD_THREE,
        Stream::RepeatStore | Stream::RepeatMove => {
            return Err(Unsupported::new(
                "the rep instructions are of x86-64; this is aarch64",
            ));
        }
        Stream::Memset | Stream::Memcpy => {
            return Err(Unsupported::new("the C library's, no kernel"));
        }
    })
}

/// Counts a kernel's loads of a pair of vectors (`ldp`), and its stores of a pair (`stp`, `stnp`).
fn count(entry: Entry) -> [usize; 3] {
    const RETURN: u32 = 0xd65f_03c0; // ret
    let start = entry as *const u32;
    // SAFETY: code is readable, and every kernel returns.
    let word = |at: usize| unsafe { start.add(at).read() };
    let words = (0..).map(word).take_while(|word| *word != RETURN);
    words.fold([0, 0, 0], |[loads, stores, past], word| {
        match word & 0xffc0_0000 {
            0xad40_0000 => [loads + 1, stores, past],
            0xad00_0000 => [loads, stores + 1, past],
            0xac00_0000 => [loads, stores, past + 1],
            _ => [loads, stores, past],
        }
    })
}

/// The instructions by which a kernel stores what it makes.
pub(in super::super) fn storing(entry: Entry) -> &'static str {
    let [_, stores, past] = count(entry);
    match (stores, past) {
        (1.., 0) => "stores",
        (0, 1..) => "non-temporal stores",
        (0, 0) => "none",
        (1.., 1..) => "of two kinds",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_block_was_folded() {
        for what in Stream::ALL.into_iter().filter(|what| what.is_vector()) {
            let code = stream(what, Simd::Neon).expect("every aarch64 has Neon");
            // A block is 32 pairs; a stream that reads has two loops: with and without a sum.
            let passes = if what == Stream::Read { 2 } else { 1 };
            let expected = (32 * passes * what.sources(), 32 * what.destinations());
            let [loads, stores, past] = count(code.entry);
            assert_eq!((loads, stores + past), expected, "{}", what.name());
            let storing_past = matches!(what, Stream::WriteNontemporal | Stream::CopyNontemporal);
            assert_eq!(past > 0, storing_past, "{}", what.name());
        }
    }
}
