//! Which streams are measured at which level.

use std::borrow::Cow;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Course, Simd, Stream, supports};

use crate::scale::copies::counts;

/// The level of the memory hierarchy, 1 being the nearest cache, given by the size of the arrays.
///
/// They fit no particular machine: a third of 24 KiB, 384 KiB and 12 MiB is a whole number, and they fit
/// into any first-, second- and third-level cache of servers and most others.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) enum Level {
    #[value("1")]
    First,
    #[value("2")]
    Second,
    #[value("3")]
    Third,
    Memory,
}

impl Level {
    /// Size of all arrays of this many threads, which share that in memory.
    pub(in crate::memory) const fn size(self, threads: u32) -> Bytes {
        let threads = threads as u64;
        match self {
            Level::First => Bytes::kib(24 * threads),
            Level::Second => Bytes::kib(384 * threads),
            Level::Third => Bytes::mib(12 * threads),
            Level::Memory => Bytes::mib(512),
        }
    }

    /// Additional streams of one thread, besides those of all levels.
    const fn also(self) -> &'static [Stream] {
        match self {
            Level::First => &[
                Stream::Scale,
                Stream::Add,
                Stream::AddThree,
                Stream::RepeatStore,
                Stream::RepeatMove,
                Stream::Memset,
                Stream::Memcpy,
            ],
            Level::Second | Level::Third => &[Stream::Memset, Stream::Memcpy],
            Level::Memory => &[
                Stream::WriteNontemporal,
                Stream::CopyNontemporal,
                Stream::Scale,
                Stream::Add,
                Stream::AddThree,
                Stream::RepeatStore,
                Stream::RepeatMove,
                Stream::Memset,
                Stream::Memcpy,
            ],
        }
    }
}

/// The streams of one thread at every level.
const ALWAYS: [Stream; 4] = [Stream::Read, Stream::Write, Stream::Copy, Stream::Triad];

/// The streams of all CPUs together, in memory.
const CROWDED: [Stream; 5] = [
    Stream::Read,
    Stream::Write,
    Stream::WriteNontemporal,
    Stream::Copy,
    Stream::Triad,
];

/// The set with the widest vectors that this processor has.
pub(in crate::memory) fn widest() -> Simd {
    [Simd::Avx512, Simd::Avx2, Simd::Neon]
        .into_iter()
        .find(|simd| supports(Stream::Read, *simd).is_ok())
        .unwrap_or(Simd::Sse2)
}

/// The vector instructions that a program chooses; none where the processor or the C library does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Vectors(Option<Simd>);

impl Vectors {
    /// Those of a stream in a program that uses this set.
    fn of(stream: Stream, simd: Simd) -> Self {
        Self(stream.is_vector().then_some(simd))
    }

    /// The word in rows' names.
    pub(in crate::memory) fn name(simd: Option<Simd>) -> &'static str {
        simd.map_or("none", Simd::name)
    }
}

impl Value for Vectors {
    const MEANING: &'static str = "The vector instructions, where the program chooses them.";

    fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::name(self.0))
    }

    fn read(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self(None)),
            text => Simd::read(text).map(Some).map(Self),
        }
    }
}

#[derive(Params, Debug, Clone, Copy)]
pub(in crate::memory) struct ReadOrWrite {
    pub(in crate::memory) op: Stream,
    pub(in crate::memory) simd: Vectors,
    /// Bytes of the arrays of all threads together.
    pub(in crate::memory) size: Bytes,
    /// How many threads stream at once, each on a separate CPU.
    pub(in crate::memory) threads: Copies,
}

pub(super) static STORES: Witness = Witness::of("by what it stores", "the code's bytes");
pub(super) static LEFT: Witness = Witness::of("what is left in array a", "memory");

/// What proves that a stream is this: what it leaves in its destination, and by what.
pub(super) fn proof_of(op: Stream) -> Proof {
    let (left, stores) = match op {
        Stream::Read => ("nothing", "none"),
        Stream::Write => ("a number", "stores"),
        Stream::WriteNontemporal => ("a number", "non-temporal stores"),
        Stream::Copy => ("b", "stores"),
        Stream::CopyNontemporal => ("b", "non-temporal stores"),
        Stream::Scale => ("s b", "stores"),
        Stream::Add => ("b + c", "stores"),
        Stream::Triad => ("b + s c", "stores"),
        Stream::AddThree => ("b + c + d", "stores"),
        Stream::RepeatStore => ("a byte", "rep stosb"),
        Stream::RepeatMove => ("b", "rep movsb"),
        Stream::Memset => ("a byte", "memset"),
        Stream::Memcpy => ("b", "memcpy"),
    };
    LEFT.expects(left).and(STORES.expects(stores))
}

/// Seconds that a row in memory takes to allocate its arrays, once per round: all of them share these.
pub(super) const LARGE_SECONDS: f64 = 0.04;

pub(super) fn rows(here: &Testbed) -> Vec<Case<ReadOrWrite>> {
    let widest = widest();
    let add = |streams: &[Stream], simd: Simd, level: Level, threads: u32| {
        rows!(ReadOrWrite {
            op: streams.iter().copied(),
            simd: [Vectors::of(op, simd)],
            size: [level.size(threads)],
            threads: [Copies(threads)]
        })
    };
    let mut rows = Vec::new();
    for level in Level::ALL {
        rows.extend(add(&ALWAYS, widest, level, 1));
        rows.extend(add(level.also(), widest, level, 1));
    }
    // Other widths where they matter most.
    for simd in Simd::ALL.into_iter().filter(|simd| *simd != widest) {
        let some = [Stream::Read, Stream::Write, Stream::Copy];
        rows.extend(add(&some, simd, Level::First, 1));
        rows.extend(add(&[Stream::Read], simd, Level::Memory, 1));
    }
    let most = max_threads(here);
    for threads in counts(here).into_iter().map(|count| count as u32) {
        let streams: &[Stream] = match threads {
            1 => &[],
            threads if threads == most => &CROWDED,
            0.. => &[Stream::Read, Stream::Triad],
        };
        rows.extend(add(streams, widest, Level::Memory, threads));
    }
    if most > 1 {
        for level in [Level::First, Level::Second, Level::Third] {
            rows.extend(add(&[Stream::Read, Stream::Copy], widest, level, most));
        }
    }
    rows
}

pub(in crate::memory) fn max_threads(here: &Testbed) -> u32 {
    counts(here).last().map_or(1, |most| *most as u32)
}

/// A default run has the widest vectors: of one thread reading and copying at each level, and the
/// usual streams in the first cache and in memory; of all threads reading at each level, copying in
/// caches, and the triad in memory.
pub(super) fn profile(row: &ReadOrWrite, here: &Testbed) -> Profile {
    let level = row.level();
    let is_in = |levels: &[Level]| level.is_some_and(|level| levels.contains(&level));
    let is_usual = match (row.op, row.threads.0) {
        (Stream::Read | Stream::Copy, 1) => true,
        (Stream::Write | Stream::Triad, 1) => is_in(&[Level::First, Level::Memory]),
        (Stream::Memcpy, 1) => is_in(&[Level::First]),
        (Stream::Read, threads) => threads == max_threads(here),
        (Stream::Copy, threads) => threads == max_threads(here) && !is_in(&[Level::Memory]),
        (Stream::Triad, threads) => threads == max_threads(here) && is_in(&[Level::Memory]),
        (
            Stream::Write
            | Stream::WriteNontemporal
            | Stream::CopyNontemporal
            | Stream::Scale
            | Stream::Add
            | Stream::AddThree
            | Stream::RepeatStore
            | Stream::RepeatMove
            | Stream::Memset
            | Stream::Memcpy,
            _,
        ) => false,
    };
    let is_first = row.op == Stream::Read && row.threads.0 == 1;
    match is_usual && row.simd == Vectors::of(row.op, widest()) {
        false => Profile::Full,
        // Writing takes the same amount of memory again, and so do several threads.
        true if is_first => Profile::Quick,
        true => Profile::Standard,
    }
}

impl ReadOrWrite {
    /// The instructions of its kernel; any where the processor or the C library chooses.
    pub(super) fn simd(&self) -> Simd {
        self.simd.0.unwrap_or(Simd::Sse2)
    }

    pub(in crate::memory) fn level(&self) -> Option<Level> {
        let mut levels = Level::ALL.into_iter();
        levels.find(|level| level.size(self.threads.0) == self.size)
    }

    pub(super) fn is_in_memory(&self) -> bool {
        self.level() == Some(Level::Memory)
    }

    /// How each thread goes through its arrays: in short operations where many threads have to end at
    /// the same time; in whole arrays where the processor or the C library chooses its method by
    /// the length of a call.
    pub(super) fn course(&self) -> Course {
        let each = self.size.get() / self.threads.0 as usize;
        let operation = match (self.op.is_vector(), self.threads.0) {
            (false, _) => each.max(1 << 20),
            (true, 2..) if each > 1 << 20 => 128 << 10,
            (true, _) => 1 << 20,
        };
        Course::new(self.op, each, operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_uses_nearly_all_of_what_it_names() {
        let all = rows(&Testbed::plain());
        assert!(all.len() >= 50, "{}", all.len());
        for case in &all {
            let row = &case.row;
            assert!(row.level().is_some(), "{row:?}");
            let each = row.size.get() / row.threads.0 as usize;
            let used = row.course().footprint();
            assert!((each * 9 / 10..=each).contains(&used), "{row:?}: {used}");
        }
    }

    fn in_memory(op: Stream, size: Bytes, threads: u32) -> ReadOrWrite {
        ReadOrWrite {
            op,
            simd: Vectors::of(op, Simd::Sse2),
            size,
            threads: Copies(threads),
        }
    }

    #[test]
    fn a_call_of_the_library_goes_through_a_whole_array() {
        for size in [Bytes::mib(512), Bytes::mib(12)] {
            let row = in_memory(Stream::Memcpy, size, 1);
            assert_eq!(row.course().bytes(), size.0);
        }
    }

    #[test]
    fn a_rest_of_many_threads_is_left_out() {
        let three = in_memory(Stream::Triad, Bytes::mib(512), 3);
        assert!(three.is_in_memory());
        let footprint = 3 * three.course().footprint();
        assert!(
            footprint <= 512 << 20 && footprint > (512 << 20) / 10 * 9,
            "{footprint}"
        );
    }
}
