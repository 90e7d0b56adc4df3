//! How much of what a process found is explained by disturbances: the tasks waited for a CPU, another
//! program was ready on it, or interrupts took it.

use syscost_results::Bound;
use syscost_results::measurement::{Cause, Disturbance};
use syscost_stats::order::median;
use syscost_sys::clock::{Source, mock};
use syscost_sys::counters::Interrupts;

use super::plan::Plan;
use super::watch::{MAX_WAITED, Waited};
use super::{Bencher, background};

/// What a row claims of the waits of its tasks: at most [`MAX_WAITED`].
pub(crate) const WAITED_SHARE: &str = "share of the time that tasks were ready and did not run";

/// Where at least this share of batches has an interrupt, their median has it, too. No test
/// fails with a quarter of it.
const OFTEN: f64 = 0.5;

/// A gap between two readings of the clock is an interrupt if it is longer than this many of them:
/// a neighbour on the core at most doubles one, and an interrupt enters and leaves the kernel. No test
/// fails with a quarter of it.
const GAP: f64 = 8.0;

/// For how many interrupts one looks to see how long they are, and for how many ns at most. No test
/// fails with a quarter of either.
const GAPS: f64 = 9.0;
const LOOK_NS: f64 = 2e7;

/// A process counts with this many undisturbed samples.
const FEWEST: usize = syscost_results::estimate::selection::MIN_SAMPLES;

/// The interrupts of the measuring CPU from a moment on.
pub(super) struct Interrupted {
    begun: u64,
    before: u64,
}

/// What an interrupt looks like to a task that reads the clock.
struct Gap {
    /// How long it lasts, in ns.
    ns: f64,
    /// How many there are in a ns.
    per_ns: f64,
}

impl Bencher<'_> {
    pub(super) fn explain(&mut self, cause: Cause, share: f64) {
        if share > 0.0 {
            self.findings.explained.insert(cause, share);
        }
    }

    /// Tells that this share of the time of all samples is due to others, who displaced from a cache what
    /// the operation was to find there.
    pub fn displaced(&mut self, share: f64) {
        self.explain(Cause::Displaced, share);
        for sample in 0..self.findings.samples.values.len() as u32 {
            self.disturbed(sample, Cause::Displaced);
        }
    }

    pub(super) fn disturbed(&mut self, sample: u32, cause: Cause) {
        let tag = Disturbance { sample, cause };
        self.findings.samples.disturbed.push(tag);
    }
}

impl Plan<'_> {
    /// The samples that count: the undisturbed ones or, if these are too few, all.
    fn counting(&self) -> Vec<usize> {
        let all = 0..self.findings.samples.values.len();
        let own: Vec<usize> = all
            .clone()
            .filter(|sample| !self.is_disturbed(*sample as u32))
            .collect();
        match own.len() >= FEWEST.min(all.len()) {
            true => own,
            false => all.collect(),
        }
    }

    /// Adds the share of the time of the samples that count in which tasks waited for a CPU.
    pub(super) fn explain_waits(&mut self, waited: &[Waited]) {
        if self.is_of_others {
            return;
        }
        if self.waits.are_unknown() {
            return self.claim_waits_unknown();
        }
        if self.waits.are_of_stretches() {
            self.tag_waits(waited);
        }
        let counting = self.counting();
        let all = counting
            .iter()
            .filter_map(|sample| waited.get(*sample).copied());
        let share = all.fold(Waited::default(), Waited::plus).share();
        if share > MAX_WAITED && self.waits.are_of_stretches() && !self.waits.are_of_others() {
            // They waited for each other, or for what the operation itself woke.
            let tags = &mut self.findings.samples.disturbed;
            return tags.retain(|tag| tag.cause != Cause::RunDelay);
        }
        self.explain(Cause::RunDelay, share);
    }

    /// Says that the kernel does not report how long tasks waited that may have.
    pub(super) fn claim_waits_unknown(&mut self) {
        let reason = "the kernel does not report how long tasks wait";
        let most = Bound::AtMost(MAX_WAITED);
        self.claim_unobserved(WAITED_SHARE, most.fact(), "schedstat", reason);
    }

    /// Tags the samples that waited for long, now that it is known how long all of them do.
    fn tag_waits(&mut self, waited: &[Waited]) {
        let least = waited
            .iter()
            .map(|one| one.share())
            .fold(f64::INFINITY, f64::min);
        let tags = &mut self.findings.samples.disturbed;
        tags.retain(|tag| tag.cause != Cause::RunDelay);
        for (sample, one) in (0_u32..).zip(waited) {
            if self.waits.is_long(*one, least) {
                self.disturbed(sample, Cause::RunDelay);
            }
        }
    }

    /// Tags the sample that is being taken: its tasks were preempted.
    pub(super) fn tag_preempted(&mut self) {
        let sample = self.findings.samples.values.len() as u32;
        self.disturbed(sample, Cause::Preempted);
    }

    /// Begins to count interrupts. `None` where the kernel does not.
    pub(super) fn begin_interrupts(&self) -> Option<Interrupted> {
        Some(Interrupted {
            before: self.interrupts()?,
            begun: self.given.clock.start(),
        })
    }

    /// How many interrupts there were in a ns since then.
    pub(super) fn interrupts_per_ns(&self, counted: Interrupted) -> Option<f64> {
        let passed = self.given.clock.stop().ticks.saturating_sub(counted.begun);
        let passed_ns = self.given.clock.to_ns(passed).max(1.0);
        Some(self.interrupts()?.saturating_sub(counted.before) as f64 / passed_ns)
    }

    fn interrupts(&self) -> Option<u64> {
        match self.given.clock.source() {
            Source::Mock => Some(mock::interrupts()),
            _ => Interrupts::of(self.cpu).read().ok(),
        }
    }

    /// Tells what other programs have done to all samples. To be called once the tasks of the
    /// operation have ended, which may be on this CPU, too.
    pub(super) fn explain_others(&mut self) {
        self.explain_interrupts();
        self.explain_contention();
    }

    /// Adds the share of the samples' time that interrupts took, if half of the batches had one:
    /// otherwise the median has none.
    fn explain_interrupts(&mut self) {
        let Some((per_ns, batch_ns)) = self.interrupts_per_ns.zip(self.batch_ns()) else {
            return;
        };
        if per_ns * batch_ns < OFTEN {
            return;
        }
        if let Some(gap) = self.interrupt(per_ns) {
            // The batch that is typical has one, though the next may have none.
            let share = gap.per_ns.max(1.0 / batch_ns) * gap.ns;
            self.explain(Cause::Interrupted, share.min(1.0));
        }
    }

    /// Tags all samples of tasks that sleep if another program is ready on their one CPU: by its
    /// presence alone a switch costs 24 to 60 % more, since the woken task no longer preempts the
    /// waker (Linux 6.18).
    fn explain_contention(&mut self) {
        let never_slept = self.is_untold && !self.has_slept;
        if never_slept || !self.waits.are_of_several_tasks() || !self.is_contended() {
            return;
        }
        self.explain(Cause::Contended, 1.0);
        for sample in 0..self.findings.samples.values.len() as u32 {
            self.disturbed(sample, Cause::Contended);
        }
    }

    fn is_contended(&self) -> bool {
        match self.given.clock.source() {
            Source::Mock => mock::is_contended(),
            _ => background::is_ready_on(self.cpu),
        }
    }

    /// How long a sample is timed, in ns; `None` for values that are no times.
    fn batch_ns(&self) -> Option<f64> {
        let samples = &self.findings.samples;
        let typical = match samples.raw.is_empty() {
            true => median(&samples.values)?,
            false => median(&samples.raw)?,
        };
        let each_ns = self
            .findings
            .bytes
            .map_or(typical, |bytes| bytes * 1e9 / typical);
        let are_times = !self.findings.observed && self.findings.copies.is_none();
        are_times.then_some(each_ns * samples.iterations as f64)
    }

    /// The typical interrupt where the kernel counted this many in a ns, as a task sees it that reads the
    /// clock: of the gaps between readings as many as there must be, the longest. `None` where not half
    /// as many are: then it was the operation that had them.
    fn interrupt(&self, per_ns: f64) -> Option<Gap> {
        let clock = self.given.clock;
        let least_ns = GAP * self.given.clock_cost.read_ns;
        let look_ns = (GAPS / per_ns).min(LOOK_NS);
        let (begun, mut gaps) = (clock.stop().ticks, Vec::new());
        let mut last = begun;
        while clock.to_ns(last.saturating_sub(begun)) < look_ns {
            let now = clock.stop().ticks;
            let ns = clock.to_ns(now.saturating_sub(last));
            if ns > least_ns {
                gaps.push(ns);
            }
            last = now;
        }
        let expected = (per_ns * look_ns).round().max(1.0) as usize;
        gaps.sort_by(|a, b| b.total_cmp(a));
        gaps.truncate(expected);
        let gap = Gap {
            ns: median(&gaps)?,
            per_ns: gaps.len() as f64 / look_ns,
        };
        (2 * gaps.len() >= expected).then_some(gap)
    }
}
