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
use syscost_results::Verdict;

use super::access::{Access, Blocks};
use super::labels;
use super::reader::Reader;
use super::source::{Source, State};
use super::space::Storage;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Readahead: sequential read of a cold file",
    tags: &[
        "read ahead",
        "prefetch",
        "prefetching",
        "posix_fadvise",
        "fadvise",
    ],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    ..Benchmark::of::<Row>()
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

/// The advice given to the kernel before the file is read.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Advised {
    None,
    Random,
    Sequential,
}

#[derive(Params, Clone)]
struct Row {
    /// The directory's label.
    dir: String,
    advice: Advised,
    /// Bytes of a read.
    size: Bytes,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            dir: labels(here),
            advice: Advised::ALL,
            size: [Bytes::kib(4)]
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.advice {
            Advised::None => Profile::Standard,
            Advised::Random | Advised::Sequential => Profile::Full,
        }
    }

    fn ignores_interference(&self) -> bool {
        true
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        let source = Source::open(b, &self.dir, FILE, State::Cold, self.size)?;
        let blocks = Blocks {
            access: Access::Sequential,
            size: self.size,
            all: PART,
        };
        let mut reader = Reader::of(b, &source, blocks);
        let ahead_now = || -> Result<u64, Failure> {
            let pages = source.cache().resident()?.pages();
            Ok(pages.saturating_sub(PART / page_size() as u64))
        };
        // Without advice, for comparison.
        let (mut unadvised, mut ahead) = (Ahead::default(), Ahead::default());
        for _ in 0..UNADVISED {
            source.prepare()?;
            reader.read_all()?;
            unadvised.note(ahead_now()?);
        }
        let advice = match self.advice {
            Advised::None => None,
            Advised::Random => Some(Advice::Random),
            Advised::Sequential => Some(Advice::Sequential),
        };
        if let Some(advice) = advice {
            fadvise(source.file(), 0, None, advice)
                .map_err(|cause| Failure::of("posix_fadvise", cause))?;
        }
        source.prepare()?;
        let storage = Storage::watch(source.file())?;
        let before = reader.bytes();
        let look = || {
            ahead.note(ahead_now()?);
            Ok(())
        };
        reader.observe(b, || source.prepare(), look)?;
        let read = reader.bytes() - before;
        source.claim(b, "it is read")?;
        ahead.claim(b, self.advice, &unadvised);
        if let Some(fetched) = storage.fetched()? {
            b.detail("fetched_per_byte", fetched as f64 / read as f64);
        }
        match self.advice {
            Advised::Random => storage.claim_fetched(b, read),
            Advised::None | Advised::Sequential => storage.claim_fetched_ahead(b, read),
        }
    }
}

/// How many pages beyond the last one read were in the cache, each time.
#[derive(Default)]
struct Ahead {
    sum: u64,
    times: u64,
    min: u64,
    max: u64,
}

impl Ahead {
    fn note(&mut self, pages: u64) {
        self.min = if self.times == 0 {
            pages
        } else {
            self.min.min(pages)
        };
        self.max = self.max.max(pages);
        self.sum += pages;
        self.times += 1;
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.times.max(1) as f64
    }

    /// Claims the effect of the advice, compared with readahead without any.
    fn claim(&self, b: &mut Bencher, advised: Advised, unadvised: &Self) {
        let Self { min, max, .. } = *unadvised;
        let page = page_size() as f64;
        b.detail("ahead_bytes", page * self.mean());
        match advised {
            Advised::Random => {
                let claim = "pages read ahead, at most";
                b.claim_equal(claim, 0, self.max, COUNTED);
            }
            Advised::Sequential => {
                let (verdict, reason) = judge_further(self.mean(), max);
                b.claim_verdict(
                    "pages read ahead, on average",
                    format!("more than {max}, at most as many as without advice"),
                    self.mean(),
                    COUNTED,
                    verdict,
                    reason,
                );
            }
            Advised::None => {
                let (verdict, reason) = judge_as_far(self.mean(), min, max);
                b.claim_verdict(
                    "pages read ahead, on average",
                    format!("about {min} to {max}, as many as before any advice"),
                    self.mean(),
                    COUNTED,
                    verdict,
                    reason,
                );
            }
        }
    }
}

/// Whether readahead went about as far as before any advice; if it did not happen at all, some advice
/// prevents it.
fn judge_as_far(ahead: f64, min: u64, max: u64) -> (Verdict, Option<&'static str>) {
    let about = min as f64 / AS_FAR..=max as f64 * AS_FAR;
    if max == 0 {
        let reason = "the file system reads nothing ahead, advised or not";
        (Verdict::Unverified, Some(reason))
    } else if ahead == 0.0 {
        (Verdict::Refuted, None)
    } else if about.contains(&ahead) {
        (Verdict::Confirmed, None)
    } else {
        let reason = "not as far as before: the kernel changed its mind, or memory was short";
        (Verdict::Unverified, Some(reason))
    }
}

/// Whether readahead went further than without advice: a file system need not follow it, and the file
/// may end first.
fn judge_further(ahead: f64, unadvised: u64) -> (Verdict, Option<&'static str>) {
    match ahead > unadvised as f64 {
        true => (Verdict::Confirmed, None),
        false => {
            let reason = "no further than without: the file system may not follow the advice";
            (Verdict::Unverified, Some(reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_harness::directory::DEFAULT;

    use super::*;
    use crate::testing::{claims, found_of};

    #[test]
    fn no_advice_is_not_refuted() {
        for advice in Advised::ALL {
            let row = Row {
                dir: DEFAULT.to_owned(),
                advice,
                size: Bytes::kib(4),
            };
            let none = Case::default();
            let Some(found) = found_of(&none, Pass::Evidence, &[], |b| row.run(b)) else {
                return;
            };
            let mut refuted = claims(&found, Verdict::Refuted);
            refuted.retain(|claim| claim.starts_with("pages"));
            assert_eq!(refuted, [""; 0], "{advice:?}");
        }
    }

    #[test]
    fn advice_without_effect_is_no_lie() {
        assert_eq!(judge_further(64.0, 32).0, Verdict::Confirmed);
        assert_eq!(judge_further(32.0, 32).0, Verdict::Unverified);
    }

    #[test]
    fn no_advice_is_seen_by_what_is_read_ahead_all_the_same() {
        assert_eq!(judge_as_far(32.0, 30, 32).0, Verdict::Confirmed);
        assert_eq!(judge_as_far(0.0, 30, 32).0, Verdict::Refuted, "MADV_RANDOM");
        assert_eq!(
            judge_as_far(64.0, 30, 32).0,
            Verdict::Unverified,
            "in order"
        );
        assert_eq!(judge_as_far(0.0, 0, 0).0, Verdict::Unverified);
    }

    #[test]
    fn the_mean_and_the_maximum_of_what_was_ahead() {
        let mut ahead = Ahead::default();
        [0, 4, 8].into_iter().for_each(|pages| ahead.note(pages));
        assert_eq!((ahead.mean(), ahead.min, ahead.max), (4.0, 0, 8));
    }
}
