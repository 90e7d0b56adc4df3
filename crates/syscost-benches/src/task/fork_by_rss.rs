//! The cost of a fork by the memory of the forking process.
//!
//! ## Measures
//! The C library's fork, its child's exit and waitpid, by this program with this much more private
//! memory, every page written: 0 to 1 GiB, in small pages or huge ones of 2 MiB. `size=0` is
//! this program's own memory (`resident_bytes`, of which a megabyte or two is private), where
//! `task.fork` is that of a lean process. The child reads one byte of it. `term=page` is the cost
//! of one page: the slope of a line (Theil and Sen) through forks with four sizes in turn, from
//! 1,024 to 8,192 small pages, from 8 to 64 huge ones. `MADV_DONTFORK` keeps the rest of the same
//! memory from the child.
//! ## Does not measure
//! The pages that are copied when parent or child write to them afterwards (`memory.page_fault`),
//! or file mappings, whose page tables are not copied.
//! ## Interpretation
//! The page tables are copied, one entry for each page, and freed by the child. So the same memory
//! in huge pages costs far less, which is a reason for a server to use them, and vfork nothing
//! (`task.vfork`). `intercept_ns` is the fork without that memory.
//! ## Source
//! LEBench, fork of small and big processes.
#![allow(unsafe_code)] // madvise, and a byte read in a child

use std::hint::black_box;

use rustix::mm::{Advice, madvise};
use syscost_harness::prelude::*;
use syscost_stats::order::median;
use syscost_sys::clock::Clock;
use syscost_sys::memory::{Memory as Filled, Pages};

use super::child::fork;
use super::ids::{DISTINCT, Ids};
use super::until;
use crate::implied::{Implied, Shares};
use crate::witness::memory::MIN_UNSPLIT;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "fork by resident memory size",
    tags: "resident set size, rss, page table copy, copy-on-write, process creation, huge pages",
    ..Benchmark::of::<ForkByRss>()
};

const QUARTER: Bytes = Bytes::mib(256);
const GIGABYTE: Bytes = Bytes::mib(1024);

/// Seconds to fill and fork a gigabyte in a round; and a quarter of it, or a fit. Together half a second.
const GIGABYTE_SECONDS: f64 = 0.15;
const QUARTER_SECONDS: f64 = 0.05;

/// Forks of each size in one observation.
const REPEATS: usize = 3;

/// The sizes to which the line is fitted, in pages, and the size of the whole memory, part of which
/// is always kept from the child.
const SMALL_PAGES: ([usize; 4], usize) = ([1024, 2048, 4096, 8192], 10_240);
const HUGE_PAGES: ([usize; 4], usize) = ([8, 16, 32, 64], 80);

/// The size of huge pages where small ones have 4 KiB. Of larger ones so many are more than memory has.
const HUGE_BYTES: usize = 2 << 20;

/// Kinds of pages.
const KINDS: [Pages; 2] = [Pages::Small, Pages::Huge];

/// The cost that is fitted to the forks of several sizes.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    Page,
}

#[derive(Params, Clone)]
struct ForkByRss {
    /// Bytes of private memory that the process has in addition.
    size: Option<Bytes>,
    term: Option<Term>,
    pages: Pages,
}

impl Measured for ForkByRss {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let none = rows!(ForkByRss {
            size: [Some(Bytes(0))],
            term: [None],
            pages: [Pages::Small]
        });
        let sizes = rows!(ForkByRss {
            size: [Bytes::mib(16), QUARTER, GIGABYTE].map(Some),
            term: [None],
            pages: KINDS
        });
        let fits = rows!(ForkByRss {
            size: [None],
            term: [Some(Term::Page)],
            pages: KINDS
        });
        [none, sizes, fits].concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.pages {
            Pages::Small if self.size != Some(GIGABYTE) => Profile::Standard,
            Pages::Small | Pages::Huge | Pages::Gigantic => Profile::Full,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        let sizes = SMALL_PAGES.0.len();
        let expected = match self.term {
            None => expected(1.0, 0.0),
            Some(Term::Page) => expected((sizes * REPEATS) as f64, 2.0 * sizes as f64),
        };
        // Where there are none, no row has a number.
        let whole = sizes_of(self.pages).1 * self.pages.bytes().unwrap_or(0);
        let bytes = self.size.map_or(whole as u64, |size| size.0);
        let (size, pages) = proofs(bytes, self.pages);
        ForkByRssProofs {
            size,
            term: Proof::counted(expected),
            pages,
        }
    }

    fn setup(&self) -> Option<Setup> {
        let seconds = match self.size {
            Some(GIGABYTE) => GIGABYTE_SECONDS,
            Some(QUARTER) | None => QUARTER_SECONDS,
            Some(_) => return None,
        };
        Some(Setup::Expensive { seconds })
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match (self.size, self.term) {
            (Some(size), None) => of_size(plan, size.get(), self.pages),
            (None, Some(Term::Page)) => per_page(plan, self.pages),
            (Some(_), Some(_)) | (None, None) => {
                Err(Failure::Broken("has a size or a term".to_owned()))
            }
        }
    }
}

/// The sizes to which the line is fitted, and that of the whole memory, in pages.
fn sizes_of(pages: Pages) -> ([usize; 4], usize) {
    match pages {
        Pages::Small => SMALL_PAGES,
        Pages::Huge | Pages::Gigantic => HUGE_PAGES,
    }
}

/// The expected counts of this many forks, between which the kernel is advised this often.
fn expected(forks: f64, advised: f64) -> Vec<Expect> {
    let once = |call| exactly(Counter::Syscall(call), forks);
    vec![
        exactly(Counter::Syscall(Sysno::MADVISE), advised),
        once(Sysno::CLONE),
        once(Sysno::EXIT_GROUP),
        once(Sysno::WAIT4),
        exactly(Counter::Reported(DISTINCT), forks),
        // As for `task.fork`.
        at_most(Counter::OtherSyscalls, 4.0 * forks),
        within(Counter::MinorFaults, 0.9 * forks, 16.0 * forks),
        at_most(Counter::VoluntarySwitches, 1.5 * forks),
    ]
}

/// The cost with this much memory.
fn of_size(mut plan: Plan, bytes: usize, pages: Pages) -> Result<Outcome, Failure> {
    let (clock, mut ids) = (*plan.clock(), Ids::default());
    let memory = match bytes {
        0 => None,
        1.. => Some(Memory::fill(bytes, pages)?),
    };
    until::detail_size(&mut plan);
    // Individually: batches, and their doubling for evidence, would take far too long for the largest.
    let fork = || forked(&clock, &mut ids, memory.as_ref(), bytes);
    let mut outcome = plan.measure(Observed::of(fork))?;
    if outcome.is_timed() {
        Implied::of_whole(&outcome).claim(&mut outcome, Shares::WHOLE);
    }
    see(&mut outcome, memory.as_ref())?;
    outcome.report(DISTINCT, ids.distinct());
    Ok(outcome)
}

/// The time of a fork in ns, including the end of its child, which must have been given this much
/// of the memory.
fn forked(
    clock: &Clock,
    ids: &mut Ids,
    memory: Option<&Memory>,
    bytes: usize,
) -> Result<f64, Failure> {
    let start = clock.start();
    let child = fork(|| {
        if let Some(memory) = memory {
            memory.look_at(bytes - 1);
        }
        0
    })?;
    ids.note(child.id());
    child.ends_with(0)?;
    Ok(clock.to_ns(clock.stop().ticks.saturating_sub(start)))
}

/// The slope of the cost by size, in ns per page.
fn per_page(mut plan: Plan, pages: Pages) -> Result<Outcome, Failure> {
    let page = pages.bytes()?;
    let (sizes, whole) = sizes_of(pages);
    let (sizes, whole) = (sizes.map(|count| count * page), whole * page);
    let (clock, mut ids) = (*plan.clock(), Ids::default());
    let memory = Memory::fill(whole, pages)?;
    until::detail_size(&mut plan);
    let mut shortest = sizes.map(|_| (f64::NAN, f64::INFINITY));
    let (mut upwards, mut spent, mut seen) = (false, Vec::new(), Vec::new());
    let mut outcome = plan.measure(Observed::of(|| {
        // Up and down in turn, so that a steady drift cancels.
        upwards = !upwards;
        let mut points = Vec::with_capacity(sizes.len());
        let mut spent_ns = 0.0;
        for step in 0..sizes.len() {
            let index = if upwards {
                step
            } else {
                sizes.len() - 1 - step
            };
            let bytes = sizes[index];
            shortest[index].0 = (bytes / page) as f64;
            memory.advise(bytes, whole, Advice::LinuxDontFork)?;
            let mut times = [0.0; REPEATS];
            for time in &mut times {
                *time = forked(&clock, &mut ids, Some(&memory), bytes)?;
                shortest[index].1 = shortest[index].1.min(*time);
            }
            memory.advise(bytes, whole, Advice::LinuxDoFork)?;
            spent_ns += times.iter().sum::<f64>();
            points.push((shortest[index].0, median(&times).unwrap_or(f64::NAN)));
        }
        spent.push(spent_ns);
        seen.extend(&points);
        Ok(Line::through(&points).map_or(f64::NAN, |line| line.slope))
    }))?;
    if outcome.is_timed() {
        Implied::of_parts(&outcome, &spent).claim(&mut outcome, Shares::INNER);
    }
    see(&mut outcome, Some(&memory))?;
    outcome.report(DISTINCT, ids.distinct());
    if let Some(line) = Line::through(&seen) {
        claim_slope(&mut outcome, line.slope);
    }
    if let Some(line) = Line::through(&shortest) {
        outcome.detail("intercept_ns", line.intercept);
        // Noise only lengthens: the shortest of many forks of each size show the law.
        let percent = 100.0 * line.largest_deviation(&shortest);
        outcome.detail("deviation_percent", percent);
        // A disturbed process need not fit the law; it is not refuted as long as its times are near it.
        let verdict = |holds: bool, is_near: bool| match (holds, is_near) {
            (true, _) => (Verdict::Confirmed, None),
            (false, true) => (Verdict::Unverified, Some(NOISY)),
            (false, false) => (Verdict::Refuted, None),
        };
        let (straight, reason) = verdict(percent <= 25.0, percent <= 100.0);
        let claim = Claim::by_most("deviation from the line in percent");
        outcome.claim_verdict(claim, "at most 25", percent, "clock", straight, reason);
        if pages == Pages::Small {
            // Eight times the pages: forks of the same memory each time give a level line, which
            // fits as well.
            let rise = shortest[shortest.len() - 1].1 / shortest[0].1;
            let (rises, reason) = verdict(rise >= 1.5, rise >= 1.2);
            let claim = Claim::by_most("time of the largest fork over that of the smallest");
            outcome.claim_verdict(claim, "at least 1.5", rise, "clock", rises, reason);
        }
    }
    Ok(outcome)
}

/// Claims that the values are the slope of all that was seen, give or take noise.
fn claim_slope(outcome: &mut Outcome, slope: f64) {
    let values = outcome.observed().iter().map(|(value, _)| value / slope);
    if let Some(share) = median(&values.collect::<Vec<_>>()) {
        let claim = Claim::by_most("slope of an observation over that of all");
        Shares::INNER.claim(outcome, claim, share, "clock", NOISY);
    }
}

const NOISY: &str = "the machine is too noisy to tell";

/// The line `intercept + slope * size`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    slope: f64,
    intercept: f64,
}

impl Line {
    /// Fitted by the method of Theil and Sen: the median of the slopes between all pairs of points,
    /// which is robust against a single outlier. `None` with less than two sizes.
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let mut slopes = Vec::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let others = points[index + 1..].iter().filter(|(other, _)| other != x);
            slopes.extend(others.map(|(other_x, other_y)| (other_y - y) / (other_x - x)));
        }
        let slope = median(&slopes)?;
        let rests: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
        let intercept = median(&rests)?;
        Some(Self { slope, intercept })
    }

    /// The largest distance of a point from the line, relative to the point.
    fn largest_deviation(&self, points: &[(f64, f64)]) -> f64 {
        points
            .iter()
            .map(|(x, y)| ((y - self.intercept - self.slope * x) / y).abs())
            .fold(0.0, f64::max)
    }
}

/// Private memory, every page of it written.
struct Memory(Filled);

impl Memory {
    /// This many bytes, a whole number of these pages.
    fn fill(bytes: usize, pages: Pages) -> Result<Self, Failure> {
        let size = pages.bytes()?;
        if pages != Pages::Small && size != HUGE_BYTES {
            return Err(Failure::Unsupported(format!(
                "huge pages have {size} bytes on this machine, not {HUGE_BYTES}"
            )));
        }
        Ok(Self(Filled::fill(bytes, pages)?))
    }

    /// Advises the kernel about a part of the memory; the advice must not discard it.
    fn advise(&self, from: usize, to: usize, advice: Advice) -> Result<(), Failure> {
        assert!(from <= to && to <= self.0.bytes());
        // SAFETY: within the mapping; the advice given here changes no content.
        unsafe { madvise(self.0.start().add(from).cast(), to - from, advice) }.tried("madvise")
    }

    /// Reads the byte at this offset; a process that does not have it is killed by a signal.
    fn look_at(&self, at: usize) {
        assert!(at < self.0.bytes());
        // SAFETY: within the mapping; a child that was not given this part is killed, which is intended.
        black_box(unsafe { self.0.start().add(at).read_volatile() });
    }

    /// How much of it is resident, in bytes, and in which pages: [`MIXED`] if in several kinds. And
    /// what else than this program may have caused that.
    fn resident(&self) -> Result<(usize, &'static str, Option<&'static str>), Unsupported> {
        let resident = self.0.resident()?;
        let as_asked = resident.in_pages_bytes;
        let seen = match as_asked == resident.bytes {
            true => self.0.pages().name(),
            false => MIXED,
        };
        let is_split = as_asked as f64 >= MIN_UNSPLIT * resident.bytes as f64;
        let doubt = is_split.then_some("the kernel has split some of these pages since");
        Ok((resident.bytes, seen, doubt))
    }
}

static BYTES: Witness = Witness::of("resident bytes in addition", "smaps");

static PAGES: Witness = Witness::of("pages that they are in", "smaps");

/// Where there is no memory in addition.
const NONE: &str = "none";

const MIXED: &str = "several kinds";

/// What proves that this many bytes were there in addition, in these pages.
fn proofs(bytes: u64, pages: Pages) -> (Proof, Proof) {
    let seen = match (bytes, pages) {
        (0, _) => NONE,
        (_, pages) => pages.name(),
    };
    (BYTES.expects(bytes), PAGES.expects(seen))
}

/// Reports what memory there is in addition.
fn see(b: &mut Bencher, memory: Option<&Memory>) -> Result<(), Failure> {
    let (bytes, pages, doubt) = match memory {
        Some(memory) => memory.resident()?,
        None => (0, NONE, None),
    };
    b.observe(&BYTES, bytes);
    b.observe_unless(&PAGES, pages, doubt);
    Ok(())
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_line_is_found_and_nothing_deviates_from_it() {
        let points = [(1.0, 12.0), (2.0, 14.0), (4.0, 18.0)];
        let line = Line::through(&points).unwrap();
        assert_eq!((line.slope, line.intercept), (2.0, 10.0));
        assert!(line.largest_deviation(&points) < 1e-12);
    }

    #[test]
    fn one_point_that_is_off_does_not_turn_the_line() {
        let points = [
            (1.0, 12.0),
            (2.0, 14.0),
            (3.0, 160.0),
            (4.0, 18.0),
            (5.0, 20.0),
        ];
        let line = Line::through(&points).unwrap();
        assert_eq!((line.slope, line.intercept), (2.0, 10.0));
        assert!(line.largest_deviation(&points) > 0.8);
    }

    #[test]
    fn one_size_makes_no_line() {
        assert_eq!(Line::through(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn its_last_byte_can_be_read() {
        let memory = or_skip!(Memory::fill(8 << 20, Pages::Small));
        memory.look_at((8 << 20) - 1);
    }
}
