//! The effect of readahead on a file that is read in order.
//!
//! ## Measures
//! Bytes per second of the first MiB of a file of 16 MiB that is not in the page cache, read in
//! order by pread(2) of `size` bytes at a time.
//! - `advice=none`: the kernel reads ahead by its own rules.
//! - `advice=random`: POSIX_FADV_RANDOM, which disables readahead: each read waits for storage.
//! - `advice=sequential`: POSIX_FADV_SEQUENTIAL, which on Linux lets it read twice as far ahead.
//! ## Does not measure
//! The cost of readahead that turns out to be useless.
//! ## Interpretation
//! `fetched_per_byte` is how many bytes the kernel fetched for each that was read, `ahead_bytes`
//! how many it had in the page cache beyond the last byte read. The file system's device says how
//! far it goes at most (`/sys/class/bdi/*/read_ahead_kb`). Sequential may be slower than none here:
//! what is fetched needlessly beyond the first MiB takes time as well.
//! ## Source
//! posix_fadvise(2); Wu, Sequential File Prefetching in Linux (2010).

use rustix::fs::{Advice, fadvise};
use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::blocks::{Access, Blocks};
use super::labels;
use super::reader::Reader;
use super::space::{Storage, all_fetched, fetched_ahead};
use super::transfer::{BEFORE, Observes, Source, State, Transfer, pages};
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Readahead: sequential read of a cold file",
    tags: "read ahead, prefetch, prefetching, posix_fadvise, fadvise",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    ignores_interference: true,
    ..Benchmark::of::<ReadAhead>()
};

/// Size of the file, and of the part that is read, in bytes.
const FILE: u64 = 16 << 20;
const PART: u64 = 1 << 20;

/// Readahead counts as equally far up to this factor, since it depends on what it found
/// in the cache. When advised of sequential reading it goes twice as far.
const AS_FAR: f64 = 1.5;

/// How often to observe readahead before any advice is given.
const UNADVISED: usize = 3;

/// The sources for pages read ahead: the former does not count pages that are still being read.
const COUNTED: &str = "mincore or cachestat";

/// Pages read ahead, at most, and on average as a multiple of those before any advice.
static MAX_READ_AHEAD: Witness = Witness::of("pages read ahead, at most", COUNTED);
static AS_FAR_AHEAD: Witness = Witness::of(
    "pages read ahead, on average, of those before any advice",
    COUNTED,
);

/// The advice given to the kernel before the file is read.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Advised {
    None,
    Random,
    Sequential,
}

#[derive(Params, Clone)]
struct ReadAhead {
    /// The directory's label.
    dir: String,
    advice: Advised,
    /// Bytes of a read.
    size: Bytes,
}

impl Measured for ReadAhead {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(ReadAhead {
            dir: labels(here),
            advice: Advised::ALL,
            size: [Bytes::kib(4)]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.advice {
            Advised::None => Profile::Standard,
            Advised::Random | Advised::Sequential => Profile::Full,
        }
    }

    fn proofs(&self) -> ReadAheadProofs<Proof> {
        let (blocks, call) = (self.blocks(), Sysno::PREAD64);
        let advice = match self.advice {
            Advised::None => AS_FAR_AHEAD
                .within(Bound::Within(1.0 / AS_FAR, AS_FAR))
                .and(fetched_ahead()),
            Advised::Random => MAX_READ_AHEAD.expects(0_u64).and(all_fetched()),
            Advised::Sequential => AS_FAR_AHEAD
                .within(Bound::AtLeast(AS_FAR))
                .and(fetched_ahead()),
        };
        let counted = exactly(Counter::Syscall(call), blocks.count() as f64);
        ReadAheadProofs {
            dir: DIRECTORY.expects(&*self.dir),
            advice: advice.and(BEFORE.expects(0_u64)),
            size: blocks
                .sized(call)
                .and(blocks.in_order(call))
                .and(Proof::counted([counted])),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let source = Source::open(&mut plan, &self.dir, FILE, State::Cold, self.size)?;
        let mut reader = Reader::of(&mut plan, &source, self.blocks());
        // Pages beyond the last one read.
        let ahead_now = || -> Result<u64, Failure> {
            let cached = source.cache().resident()?.pages();
            Ok(cached.saturating_sub(pages(PART)))
        };
        // Without advice, for comparison.
        let (mut unadvised, mut ahead) = (Vec::new(), Vec::new());
        for _ in 0..UNADVISED {
            source.prepare()?;
            reader.lap()?;
            unadvised.push(ahead_now()?);
        }
        let advice = match self.advice {
            Advised::None => None,
            Advised::Random => Some(Advice::Random),
            Advised::Sequential => Some(Advice::Sequential),
        };
        if let Some(advice) = advice {
            fadvise(source.file(), 0, None, advice).tried("posix_fadvise")?;
        }
        source.prepare()?;
        let (storage, first) = (Storage::watch(source.file()), reader.tally().bytes());
        let look = || {
            ahead.push(ahead_now()?);
            Ok(())
        };
        let mut outcome = source.laps(plan, &mut reader, Observes::Rate, || Ok(()), look)?;
        let (before, mean) = (mean(&unadvised), mean(&ahead));
        outcome.detail("ahead_bytes", page_size() as f64 * mean);
        outcome.observe(&MAX_READ_AHEAD, ahead.iter().max().copied().unwrap_or(0));
        let (share, doubt) = compared(mean, before);
        outcome.observe_unless(&AS_FAR_AHEAD, share, doubt);
        if let Some(fetched) = storage.fetched() {
            let read = reader.tally().bytes() - first;
            outcome.detail("fetched_per_byte", fetched as f64 / read as f64);
        }
        Ok(outcome)
    }
}

impl ReadAhead {
    fn blocks(&self) -> Blocks {
        Blocks {
            access: Access::Sequential,
            size: self.size,
            all: PART,
        }
    }
}

fn mean(pages: &[u64]) -> f64 {
    pages.iter().sum::<u64>() as f64 / pages.len().max(1) as f64
}

/// How far readahead went, as a share of how far it had gone before any advice, and what else than
/// advice may have caused it. If it did not happen at all, some advice prevents it.
fn compared(ahead: f64, unadvised: f64) -> (f64, Option<&'static str>) {
    if unadvised == 0.0 {
        let reason = "the file system reads nothing ahead, advised or not";
        (ahead, Some(reason))
    } else if ahead == 0.0 {
        (0.0, None)
    } else {
        let reason = "the kernel need not follow advice, changes its mind, or memory was short";
        (ahead / unadvised, Some(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_readahead_is_the_effect_of_advice_and_more_or_less_need_not_be() {
        assert_eq!(compared(0.0, 32.0), (0.0, None), "MADV_RANDOM");
        assert_eq!(compared(64.0, 32.0).0, 2.0);
        assert!(compared(64.0, 32.0).1.is_some() && compared(0.0, 0.0).1.is_some());
    }
}
