//! Whether time doubles when the work doubles, which it does not if the work is not done.

use std::ops::RangeInclusive;

use syscost_results::{Evidence, Verdict};
use syscost_stats::order::median;
use syscost_sys::counters::SchedStat;

use crate::bencher::Plan;
use crate::bencher::background::{self, Stretch};
use crate::bencher::body::Body;
use crate::bencher::timed::Batch;
use crate::expect::Expect;
use crate::failure::Failure;

/// Length of the batches timed for the proportion of time to work, in ns. No test fails with a quarter of it,
/// nor of
/// `LONG_BATCH_NS`, `MAX_PAIRS`, `MIN_PAIRS` or `LIMIT_NS`.
const BATCH_NS: f64 = 20_000.0;

/// Length of the last attempt's batches, in ns: the fixed cost of a batch becomes negligible, while
/// work that is folded away stays as short.
const LONG_BATCH_NS: f64 = 8.0 * BATCH_NS;

/// Maximum number of pairs of batches before the proportion is believed to be off.
const MAX_PAIRS: usize = 60;

/// Minimum number of pairs of batches before a proportion is believed.
const MIN_PAIRS: usize = 5;

/// No more pairs are timed after this many ns, including waiting for an undisturbed core.
const LIMIT_NS: f64 = 50e6;

/// How often the proportion is measured before it refutes.
const ATTEMPTS: usize = 3;

/// Attempts further apart than this factor are noise: work that is folded away always takes the same time.
const ALIKE: f64 = 1.25;

/// A ratio of the times below this means that the work is not done, even on a shared core: its sibling
/// makes either batch at most twice as long.
const FOLDED: f64 = 1.1;

/// Proportions outside the bound that noise could explain.
const PERHAPS_NOISE: RangeInclusive<f64> = 1.5..=2.5;

/// Why a proportion that holds only in longer batches confirms nothing.
const ONLY_LONG: &str =
    "it holds in longer batches only: a part of a short one's time is not of its work";

/// What else may have taken part of a time, according to the checks around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Nothing, or it could not be checked.
    Nothing,
    /// Work on the SMT sibling, the other hardware thread of the core.
    SmtSibling,
    /// Background tasks on the CPU itself, whose slices may be longer than a batch.
    BackgroundTasks,
}

/// The minimum time of 2n operations over the minimum time of n.
#[derive(Debug, Clone, Copy)]
struct Proportion {
    ratio: f64,
    beside: Beside,
}

/// Times of n operations, and of 2n right after them.
#[derive(Default)]
struct Pairs {
    once: Vec<f64>,
    twice: Vec<f64>,
}

impl Pairs {
    fn take(&mut self, once: f64, twice: f64) {
        self.once.push(once);
        self.twice.push(twice);
    }

    /// The ratio of the minimum times: noise only lengthens. But competing tasks are faster while one
    /// of them stands still, so a ratio of minimum times that is too large is replaced by the median
    /// of the pairs' ratios, where there are enough pairs.
    fn ratio(&self, expect: Expect) -> Option<f64> {
        let shortest = |times: &[f64]| times.iter().copied().reduce(f64::min);
        let ratio = shortest(&self.twice)? / shortest(&self.once)?;
        let is_too_large = expect.bound.max().is_some_and(|most| ratio > most);
        if !is_too_large || self.once.len() < MIN_PAIRS {
            return Some(ratio);
        }
        let pairs = self.once.iter().zip(&self.twice);
        let ratios: Vec<f64> = pairs.map(|(once, twice)| twice / once).collect();
        median(&ratios).map(|middle| middle.min(ratio))
    }
}

impl Plan<'_> {
    /// Time must double when the work doubles. Noise only lengthens, so the minimum of several
    /// times is compared, and more are taken while they disagree, at last in longer batches. Only
    /// times from an undisturbed core refute. Even then a proportion nearer to two than to one may
    /// be noise that no probe of the core shows: it is left unverified.
    pub(in crate::bencher) fn judge_scaling(
        &mut self,
        expect: Expect,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<Evidence, Failure> {
        let mut all = vec![self.proportion(expect, per_iteration, body, BATCH_NS)?];
        while all.len() < ATTEMPTS && !PERHAPS_NOISE.contains(&all[all.len() - 1].ratio) {
            let is_last = all.len() + 1 == ATTEMPTS;
            let batch_ns = if is_last { LONG_BATCH_NS } else { BATCH_NS };
            all.push(self.proportion(expect, per_iteration, body, batch_ns)?);
        }
        let last = all[all.len() - 1];
        let evidence = expect.judge(last.ratio, "clock");
        if evidence.verdict == Verdict::Confirmed {
            return Ok(evidence.unless((all.len() == ATTEMPTS).then_some(ONLY_LONG)));
        }
        let ratios = || all.iter().map(|one| one.ratio);
        let least = ratios().fold(last.ratio, f64::min);
        let most = ratios().fold(last.ratio, f64::max);
        Ok(evidence.tolerated(|| {
            // Not even a shared core makes twice the work take no longer, time after time.
            let is_folded = self.pinned && most < FOLDED && all.len() == ATTEMPTS;
            // A task that sleeps lets others run, and how long they do is in neither count.
            let is_beside = || {
                last.beside == Beside::BackgroundTasks || self.sleeps() && background::is_there()
            };
            if self.pinned && is_beside() {
                Some(background::WANTED)
            } else if is_folded {
                None
            } else if !self.pinned {
                Some("its tasks may move from CPU to CPU meanwhile")
            } else if last.beside == Beside::SmtSibling {
                Some("the core was shared whenever it was timed")
            } else if PERHAPS_NOISE.contains(&last.ratio) || most > ALIKE * least {
                Some("the machine is too noisy to tell")
            } else {
                None
            }
        }))
    }

    /// Measures the proportion with pairs of batches that last `batch_ns` and twice as long. It
    /// uses the undisturbed pairs, if any, else those without other programs on the CPU, else all.
    fn proportion(
        &mut self,
        expect: Expect,
        per_iteration: u64,
        body: &mut dyn Body,
        batch_ns: f64,
    ) -> Result<Proportion, Failure> {
        let iterations = self.iterations_lasting(batch_ns, per_iteration, body)?;
        let iterations = iterations.min(body.max_iterations() / 2);
        let iteration_ns = batch_ns / iterations as f64;
        let warm_up = Batch {
            iterations,
            iteration_ns,
        }
        .warm_up(body);
        let (mut own, mut here, mut any) = (Pairs::default(), Pairs::default(), Pairs::default());
        let is_alone = !self.is_team && body.usage().is_none();
        let schedule = (is_alone && !self.may_block()).then(SchedStat::open);
        let of_own = || background::own_reading(schedule.as_ref()?.as_ref().ok()?);
        let counted = |body: &dyn Body| body.counted().or_else(of_own);
        let of = |pairs: &Pairs, beside| {
            let ratio = pairs.ratio(expect)?;
            Some(Proportion { ratio, beside })
        };
        let mut found = None;
        let begun = self.given.clock.start();
        self.begin_probes();
        for tries in 1..=MAX_PAIRS {
            // An undisturbed core is required only to refute: it is waited for when the first pairs
            // do not confirm.
            if tries > MIN_PAIRS {
                self.wait_before_sample();
            }
            self.take_seen();
            let stretch = Stretch::begin(counted(body));
            let once = self.time_warm(body, iterations, warm_up)?;
            let twice = self.time_warm(body, 2 * iterations, warm_up)?;
            self.done.operations += (2 * warm_up + 3 * iterations) * per_iteration;
            let seen = self.take_seen();
            any.take(once, twice);
            if !stretch.had_background_tasks(counted(body)) {
                here.take(once, twice);
                if seen.is_undisturbed() {
                    own.take(once, twice);
                }
            }
            let clock = self.given.clock;
            let spent_ns = clock.to_ns(clock.stop().ticks.saturating_sub(begun));
            found = of(&own, Beside::Nothing)
                .or_else(|| of(&here, Beside::SmtSibling))
                .or_else(|| of(&any, Beside::BackgroundTasks));
            let is_settled = found.is_some_and(|one| expect.bound.holds(one.ratio));
            if tries >= MIN_PAIRS && (is_settled || spent_ns > LIMIT_NS) {
                break;
            }
        }
        let is_proportional = found.is_some_and(|one| expect.bound.holds(one.ratio));
        // What sleeps on CPUs of its own takes its time from what is between its batches, and what is
        // compared as a whole takes longer.
        let is_alike = !self.is_uninterrupted && !self.has_compared.get();
        let shortest = own.once.iter().copied().reduce(f64::min);
        let shortest = shortest.filter(|_| is_proportional && is_alike);
        let operations = (iterations * per_iteration) as f64;
        self.findings.counted_ns = shortest.map(|ns| ns / operations);
        Ok(found.unwrap_or(Proportion {
            ratio: f64::NAN,
            beside: Beside::BackgroundTasks,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use syscost_sys::cpu;

    use super::*;
    use crate::bencher::Observed;
    use crate::bencher::tests::real::{beside_busy_loops, found_of};
    use crate::case::Case;
    use crate::expect::{Counter, within};
    use crate::pass::Pass;

    fn ratio(pairs: &[(f64, f64)]) -> f64 {
        let mut taken = Pairs::default();
        pairs
            .iter()
            .for_each(|(once, twice)| taken.take(*once, *twice));
        taken.ratio(within(Counter::TimeScaling, 1.9, 2.1)).unwrap()
    }

    #[test]
    fn noise_that_lengthens_does_not_count() {
        let pairs = [
            (10.0, 50.0),
            (90.0, 20.0),
            (30.0, 70.0),
            (25.0, 80.0),
            (11.0, 21.0),
        ];
        assert_eq!(ratio(&pairs), 2.0);
    }

    #[test]
    fn a_batch_without_competition_is_not_typical() {
        let pairs = [
            (20.0, 40.0),
            (8.0, 41.0),
            (21.0, 42.0),
            (20.0, 39.0),
            (19.0, 40.0),
        ];
        assert!((1.9..=2.1).contains(&ratio(&pairs)));
    }

    #[test]
    fn work_that_grows_faster_or_not_at_all_is_seen() {
        assert_eq!(ratio(&[(10.0, 40.0); 8]), 4.0);
        assert_eq!(ratio(&[(10.0, 10.1); 8]), 1.01);
    }

    /// Work that others interrupt each time it is done twice.
    struct Interrupted(SchedStat);

    impl Body for Interrupted {
        fn run(&mut self, iterations: u64) -> Result<(), Failure> {
            let begun = Instant::now();
            let waited_ns = || self.0.read().map_or(u64::MAX, |now| now.run_delay_ns);
            let least = waited_ns() + u64::from(iterations > 1) * 1_000_000;
            while begun.elapsed() < Duration::from_millis(iterations) || waited_ns() < least {
                std::hint::spin_loop();
            }
            Ok(())
        }

        fn max_iterations(&self) -> u64 {
            2
        }
    }

    #[test]
    fn work_that_others_interrupt_whenever_it_is_doubled_is_not_refuted() {
        let allowed = cpu::allowed().unwrap_or_default();
        if allowed.is_empty() || SchedStat::open().is_err() {
            return println!("skipped: the kernel does not report how long tasks wait");
        }
        let (case, mut beside) = (Case::default(), None);
        let found = beside_busy_loops(&allowed[..1], || {
            found_of(&case, &allowed, Pass::Evidence, &[], |mut plan| {
                let mut body = Interrupted(SchedStat::open()?);
                let expect = within(Counter::TimeScaling, 1.9, 2.1);
                beside = Some(plan.proportion(expect, 1, &mut body, 1e6)?.beside);
                plan.measure(Observed::of(|| Ok(1.0)))
            })
        });
        found.expect("counted");
        assert_eq!(beside, Some(Beside::BackgroundTasks));
    }
}
