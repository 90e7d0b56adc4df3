//! How much of what a process found is explained by disturbances: the tasks waited for a CPU, or
//! interrupts took it.

use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::stats::order::median;
use syscost_sys::clock::{Source, mock};
use syscost_sys::counters::Interrupts;

use super::Bencher;
use super::plan::Plan;
use super::watch::{MAX_WAITED, Waited, is_long};

/// Where at least this share of batches has an interrupt, their median has it, too.
const OFTEN: f64 = 0.5;

/// A gap between two readings of the clock is an interrupt if it is longer than this many of them:
/// a neighbour on the core at most doubles one, and an interrupt enters and leaves the kernel.
const GAP: f64 = 8.0;

/// This many gaps show how long one is. They are looked for no longer than that many ns: what is
/// rarer is the kernel's own tick, which takes a few us of some ms.
const GAPS: usize = 9;
const LOOK_NS: f64 = 2e6;

/// A process counts with this many undisturbed samples.
const FEWEST: usize = syscost_results::estimate::selection::MIN_SAMPLES;

/// The interrupts of the measuring CPU from a moment on.
pub(super) struct Interrupted {
    begun: u64,
    before: u64,
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

    /// Tags the samples that waited for long, now that it is known how long all of them do.
    fn tag_waits(&mut self, waited: &[Waited]) {
        let least = waited
            .iter()
            .map(|one| one.share())
            .fold(f64::INFINITY, f64::min);
        let tags = &mut self.findings.samples.disturbed;
        tags.retain(|tag| tag.cause != Cause::RunDelay);
        for (sample, one) in (0_u32..).zip(waited) {
            if is_long(*one, least) {
                self.disturbed(sample, Cause::RunDelay);
            }
        }
    }

    /// Begins to count interrupts, where these are others': operations that sleep or wake each
    /// other are made of them. `None` also where the kernel does not count.
    pub(super) fn begin_interrupts(&self) -> Option<Interrupted> {
        let is_others = !self.is_team && !self.may_block();
        Some(Interrupted {
            before: is_others.then(|| self.interrupts())??,
            begun: self.given.clock.start(),
        })
    }

    fn interrupts(&self) -> Option<u64> {
        match self.given.clock.source() {
            Source::Mock => Some(mock::interrupts()),
            _ => Interrupts::of(self.cpu).read().ok(),
        }
    }

    /// Adds the share of the samples' time that interrupts took, if half of the batches had one:
    /// otherwise the median has none.
    pub(super) fn explain_interrupts(&mut self, counted: Option<Interrupted>) {
        let (Some(counted), Some(batch_ns)) = (counted, self.batch_ns()) else {
            return;
        };
        let passed = self.given.clock.stop().ticks.saturating_sub(counted.begun);
        let Some(now) = self.interrupts() else {
            return;
        };
        let passed_ns = self.given.clock.to_ns(passed).max(1.0);
        let per_ns = now.saturating_sub(counted.before) as f64 / passed_ns;
        if per_ns * batch_ns < OFTEN {
            return;
        }
        if let Some(gap_ns) = self.gap_ns() {
            self.explain(Cause::Interrupted, (per_ns * gap_ns).min(1.0));
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

    /// The typical length of an interrupt, as a task sees it that reads the clock. `None` if it sees
    /// none.
    fn gap_ns(&self) -> Option<f64> {
        let clock = self.given.clock;
        let least_ns = GAP * self.given.clock_cost.read_ns;
        let most = (LOOK_NS * clock.ticks_per_ns()) as u64;
        let (begun, mut gaps) = (clock.stop().ticks, Vec::new());
        let mut last = begun;
        while gaps.len() < GAPS && last.saturating_sub(begun) < most {
            let now = clock.stop().ticks;
            let ns = clock.to_ns(now.saturating_sub(last));
            if ns > least_ns {
                gaps.push(ns);
            }
            last = now;
        }
        // Rarer ones are the kernel's own tick, which every program on this machine pays.
        median(&gaps).filter(|_| gaps.len() == GAPS)
    }
}
