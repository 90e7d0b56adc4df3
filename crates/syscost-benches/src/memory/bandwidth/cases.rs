//! Which streams are measured at which level.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Course, Simd, Stream, supports};

use crate::scale::crowd::counts;

/// A level of the memory hierarchy, given by the size of arrays.
#[derive(Debug)]
pub(in crate::memory) struct Level {
    pub(in crate::memory) name: &'static str,
    /// Bytes of all arrays of one thread.
    each: usize,
    /// Whether that size is shared by all threads.
    is_shared: bool,
    /// Additional streams of one thread, besides those of all levels.
    also: &'static [Stream],
}

impl Level {
    /// Bytes of all arrays of this many threads.
    pub(in crate::memory) fn bytes(&self, threads: usize) -> usize {
        match self.is_shared {
            true => self.each,
            false => self.each * threads,
        }
    }

    /// Bytes of the arrays of one of this many threads.
    pub(in crate::memory) fn bytes_of_each(&self, threads: usize) -> usize {
        self.bytes(threads) / threads
    }
}

/// The sizes that are measured. They fit no particular machine: a third of 24 KiB, 384 KiB and 12
/// MiB is a whole number, and they fit into any first-, second- and third-level cache of servers
/// and most others.
pub(in crate::memory) const LEVELS: [Level; 4] = [
    Level {
        name: "1",
        each: 24 << 10,
        is_shared: false,
        also: &[
            Stream::Scale,
            Stream::Add,
            Stream::AddThree,
            Stream::RepeatStore,
            Stream::RepeatMove,
            Stream::Memset,
            Stream::Memcpy,
        ],
    },
    Level {
        name: "2",
        each: 384 << 10,
        is_shared: false,
        also: &[Stream::Memset, Stream::Memcpy],
    },
    Level {
        name: "3",
        each: 12 << 20,
        is_shared: false,
        also: &[Stream::Memset, Stream::Memcpy],
    },
    Level {
        name: "memory",
        each: 512 << 20,
        is_shared: true,
        also: &[
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
    },
];

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

pub(super) fn cases(_: &Here) -> Vec<Case> {
    let [l1, .., memory] = &LEVELS;
    let widest = widest();
    let mut cases = Vec::new();
    for level in &LEVELS {
        let streams = ALWAYS.iter().chain(level.also);
        cases.extend(streams.map(|stream| case(*stream, widest, level, 1)));
    }
    // Other widths where they matter most.
    for simd in Simd::ALL.into_iter().filter(|simd| *simd != widest) {
        for stream in [Stream::Read, Stream::Write, Stream::Copy] {
            cases.push(case(stream, simd, l1, 1));
        }
        cases.push(case(Stream::Read, simd, memory, 1));
    }
    let counts = counts();
    let most = counts.last().copied().unwrap_or(1);
    for threads in counts.into_iter().filter(|threads| *threads > 1) {
        let streams: &[Stream] = match threads == most {
            true => &CROWDED,
            false => &[Stream::Read, Stream::Triad],
        };
        cases.extend(
            streams
                .iter()
                .map(|stream| case(*stream, widest, memory, threads)),
        );
    }
    if most > 1 {
        for level in &LEVELS[..3] {
            cases.extend(
                [Stream::Read, Stream::Copy].map(|stream| case(stream, widest, level, most)),
            );
        }
    }
    cases
}

fn case(stream: Stream, simd: Simd, level: &Level, threads: usize) -> Case {
    let simd = if stream.is_vector() {
        simd.name()
    } else {
        NO_SIMD
    };
    let case = Case::new([
        ("op", stream.name().to_owned()),
        ("simd", simd.to_owned()),
        ("size", size_name(level.bytes(threads))),
        ("threads", threads.to_string()),
    ]);
    match level.is_shared {
        true => case.expensive(LARGE_SECONDS),
        false => case,
    }
}

/// Seconds that a row in memory takes to allocate its arrays, once per round: all of them share these.
const LARGE_SECONDS: f64 = 0.04;

/// The name for streams without vector instructions that a program chooses.
pub(super) const NO_SIMD: &str = "none";

/// The rows that people look at first.
pub(super) fn quick(case: &Case) -> bool {
    let Ok(setting) = Setting::of(case) else {
        return false;
    };
    // Writing takes the same amount of memory again, and so do several threads.
    setting.stream == Stream::Read && setting.simd == widest() && setting.threads == 1
}

/// Whether only the full profile includes this case. A default run has the widest vectors: of one
/// thread reading and copying at each level, and the usual streams in the first cache and in memory;
/// of all threads reading at each level, copying in caches, and the triad in memory.
pub(super) fn full(case: &Case) -> bool {
    let Ok(setting) = Setting::of(case) else {
        return false;
    };
    let level = setting.level().map_or("", |level| level.name);
    let is_usual = match (setting.stream, setting.threads) {
        (Stream::Read | Stream::Copy, 1) => true,
        (Stream::Write | Stream::Triad, 1) => ["1", "memory"].contains(&level),
        (Stream::Memcpy, 1) => level == "1",
        (Stream::Read, threads) => counts().last() == Some(&threads),
        (Stream::Copy, threads) => counts().last() == Some(&threads) && level != "memory",
        (Stream::Triad, threads) => counts().last() == Some(&threads) && level == "memory",
        _ => false,
    };
    !is_usual || (setting.stream.is_vector() && setting.simd != widest())
}

/// The setting that a case names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Setting {
    pub(in crate::memory) stream: Stream,
    pub(super) simd: Simd,
    /// Bytes of the arrays of all threads.
    pub(in crate::memory) bytes: usize,
    pub(in crate::memory) threads: usize,
}

impl Setting {
    pub(in crate::memory) fn of(case: &Case) -> Result<Self, Unsupported> {
        let missing =
            |what: &str| Unsupported::new(format!("there is no {what} `{}`", case.get(what)));
        let stream = Stream::ALL
            .into_iter()
            .find(|stream| stream.name() == case.get("op"))
            .ok_or_else(|| missing("op"))?;
        let simd = match case.get("simd") {
            NO_SIMD => Simd::Sse2,
            name => Simd::ALL
                .into_iter()
                .find(|simd| simd.name() == name)
                .ok_or_else(|| missing("simd"))?,
        };
        let count = |what| match case.number(what) as usize {
            0 => Err(missing(what)),
            count => Ok(count),
        };
        Ok(Self {
            stream,
            simd,
            bytes: count("size")?,
            threads: count("threads")?,
        })
    }

    /// The level of these arrays.
    pub(in crate::memory) fn level(&self) -> Option<&'static Level> {
        LEVELS
            .iter()
            .find(|level| level.bytes(self.threads) == self.bytes)
    }

    pub(super) fn is_in_memory(&self) -> bool {
        self.level().is_some_and(|level| level.is_shared)
    }

    /// How each thread goes through its arrays: in short operations where many threads have to end at
    /// the same time; in whole arrays where the processor or the C library chooses its method by
    /// the length of a call.
    pub(super) fn course(&self) -> Course {
        let each = self.bytes / self.threads;
        let operation = match (self.stream.is_vector(), self.threads) {
            (false, _) => each.max(1 << 20),
            (true, 2..) if each > 1 << 20 => 128 << 10,
            (true, _) => 1 << 20,
        };
        Course::new(self.stream, each, operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_says_what_it_is() {
        let all = cases(&Here::now());
        assert!(all.len() >= 50, "{}", all.len());
        for case in &all {
            let setting = Setting::of(case).expect("a known stream");
            let level = setting.level().expect("a known size");
            assert_eq!(size_name(setting.bytes), case.get("size"));
            assert!(setting.course().footprint() <= level.bytes_of_each(setting.threads));
            assert!(setting.course().footprint() > level.bytes_of_each(setting.threads) * 9 / 10);
        }
    }

    #[test]
    fn a_call_of_the_library_goes_through_a_whole_array() {
        for (bytes, array) in [(512 << 20, 256 << 20), (12 << 20, 6 << 20)] {
            let setting = Setting {
                stream: Stream::Memcpy,
                simd: Simd::Sse2,
                bytes,
                threads: 1,
            };
            assert_eq!(setting.course().bytes(), 2 * array);
        }
    }

    #[test]
    fn a_rest_of_many_threads_is_left_out() {
        let three = Setting {
            stream: Stream::Triad,
            simd: Simd::Sse2,
            bytes: 512 << 20,
            threads: 3,
        };
        assert!(three.is_in_memory());
        let footprint = 3 * three.course().footprint();
        assert!(
            footprint <= 512 << 20 && footprint > (512 << 20) / 10 * 9,
            "{footprint}"
        );
    }

    #[test]
    fn an_unknown_name_is_reported() {
        let case = Case::new([("op", "guess"), ("simd", "none"), ("size", "24K")]);
        assert_eq!(
            Setting::of(&case).unwrap_err().to_string(),
            "there is no op `guess`"
        );
    }
}
