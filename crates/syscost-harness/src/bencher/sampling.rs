//! Taking samples: each between probes of the core, until enough of them are undisturbed and agree.

use syscost_results::measurement::Cause;
use syscost_stats::order::median;
use syscost_sys::process;

use super::core_probes::{CoreProbes, SampleProbes};
use super::disturbances::Interrupted;
use super::plan::{MIN_SAMPLES, Plan};
use super::watch::{Waited, Watch};
use crate::failure::Failure;

/// This few undisturbed samples are enough if they agree within this share: what a process adds to
/// the knowledge of a cost is its own level.
const AGREEING: [(usize, f64); 2] = [(5, 0.005), (7, 0.01)];

/// After this many samples, or the wanted number if lower, all of them from a shared core, a
/// process is given up: another one may find an undisturbed core.
pub(super) const GIVE_UP: u32 = 8;

/// Maximum number of samples, as a multiple of those wanted, however few are undisturbed.
const MAX_FACTOR: u32 = 4;

/// Where at least this share and this number of samples began on an undisturbed core and ended on a
/// shared one, the operation itself may be the cause, which empty samples then tell. No test fails with a
/// quarter of either.
const AFTER_EFFECT: f64 = 0.7;
const AFTER_EFFECTS: u32 = 6;

/// The detail that says that only the probe before each sample decided.
pub(super) const GATE_ALONE: &str = "gate_alone";

/// The detail with the number of partners' CPUs whose cores were not probed.
pub(super) const PARTNERS_UNSEEN: &str = "partner_cores_unseen_count";

/// Number of empty samples that are then taken, each as long as a real one, and how many of them
/// must end undisturbed to show that the operation is the cause.
const CONTROLS: u32 = 8;
const CONTROLS_EXCLUSIVE: u32 = 6;

/// The samples of a case that are being taken.
struct Sampling {
    wanted: u32,
    most: u32,
    /// How many there are.
    number: u32,
    watch: Watch,
    interrupts: Option<Interrupted>,
    waits: Vec<Waited>,
    progress: Progress,
}

/// The progress of sampling a case.
#[derive(Default)]
struct Progress {
    /// Undisturbed samples, and the same samples in core cycles, where these are known.
    own: Vec<f64>,
    cycles: Vec<f64>,
    /// What was seen of the core around each sample.
    seen: Vec<SampleProbes>,
    spent_ns: f64,
}

impl Progress {
    /// Whether all samples are from a shared core, and most of them began on one: otherwise the
    /// operation itself may slow the core.
    fn is_of_a_shared_core(&self, number: u32) -> bool {
        let (began, ended) = (self.began_shared(), self.ended_shared());
        began + ended == number && 2 * began >= number
    }

    /// How many samples began on a shared core.
    fn began_shared(&self) -> u32 {
        self.seen.iter().filter(|seen| seen.began_shared()).count() as u32
    }

    /// How many samples began on an undisturbed core and ended on a shared one.
    fn ended_shared(&self) -> u32 {
        self.seen.iter().filter(|seen| seen.ended_shared()).count() as u32
    }

    fn is_enough(&self, wanted: usize) -> bool {
        // When the frequency changes, times differ and cycles do not, or the other way round.
        let agree = |share: f64| {
            let of_cycles = self.cycles.len() == self.own.len() && agree(&self.cycles, share);
            agree(&self.own, share) || of_cycles
        };
        let mut agreeing = AGREEING.into_iter();
        self.own.len() >= wanted
            || agreeing.any(|(least, share)| self.own.len() >= least && agree(share))
    }
}

/// Whether the range of these values is within this share of their median.
fn agree(values: &[f64], share: f64) -> bool {
    let ends = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
    median(values).is_some_and(|median| ends.1 - ends.0 <= share * median.abs())
}

/// Shifts the samples relative to the pages in which kernel memory is charged.
///
/// Linux charges its objects to a memory cgroup by the byte, but takes whole pages from it, the rest
/// of which each CPU keeps. An operation that allocates an object at the edge of a page and frees it
/// charges a page and releases it each time: openat and close then took 14 % longer, in one of
/// twenty processes, from beginning to end. With another object before each sample every process
/// has a few such samples instead, which do not affect its median.
fn move_charge() {
    // Where it is refused, processes differ as they would without it.
    let _ = process::make_idle_timer();
}

impl Plan<'_> {
    /// Takes the samples, each a value and, where overhead was subtracted, the raw value beside it.
    /// What is timed in `take` is enclosed by probes of the core; `take` calls
    /// [`Plan::wait_before_sample`] where it can wait.
    pub(super) fn sample(
        &mut self,
        iterations: u64,
        mut take: impl FnMut(&mut Self) -> Result<(f64, Option<f64>), Failure>,
    ) -> Result<(), Failure> {
        let mut sampling = self.begin_sampling(iterations);
        while let Some(started) = self.begin_sample(&sampling) {
            let taken = take(self)?;
            self.end_sample(&mut sampling, started, taken)?;
        }
        self.end_sampling(sampling);
        Ok(())
    }

    // What follows is compiled once, what takes samples for each loop.

    fn begin_sampling(&mut self, iterations: u64) -> Sampling {
        let wanted = self.given.effort.samples.max(MIN_SAMPLES);
        let most = if self.core_probes.is_some() {
            MAX_FACTOR * wanted
        } else {
            wanted
        };
        self.findings.samples.iterations = iterations;
        self.findings.samples.values.reserve(most as usize);
        self.findings.samples.raw.reserve(most as usize);
        self.begin_probes();
        let is_steady = !self.may_block() && !self.is_team && !self.waits.may_sleep();
        Sampling {
            wanted,
            most,
            number: 0,
            watch: Watch::start(&self.waits, is_steady),
            interrupts: self.begin_interrupts(),
            waits: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// When the next sample begins, if there is one.
    fn begin_sample(&mut self, sampling: &Sampling) -> Option<u64> {
        let number = sampling.number;
        let is_done = number >= self.fewest && self.is_done(number, sampling);
        if number >= sampling.most || is_done {
            return None;
        }
        let started = self.given.clock.start();
        self.take_seen();
        self.waited = Waited::default();
        move_charge();
        Some(started)
    }

    fn end_sample(
        &mut self,
        sampling: &mut Sampling,
        started: u64,
        (value, raw): (f64, Option<f64>),
    ) -> Result<(), Failure> {
        let number = sampling.number;
        if !value.is_finite() {
            return Err(Failure::Failed(format!(
                "sample {number} is {value}, not a number"
            )));
        }
        let stopped = self.given.clock.stop();
        let ticks = stopped.ticks.saturating_sub(started);
        sampling.progress.spent_ns += self.given.clock.to_ns(ticks);
        self.findings.samples.values.push(value);
        self.findings.samples.raw.extend(raw);
        let moved = self.pinned && stopped.cpu.is_some_and(|cpu| cpu != self.cpu);
        let watch = &mut sampling.watch;
        let (cause, waited) = watch.look(&self.waits, self.waited, self.is_uninterrupted);
        sampling.waits.push(waited);
        let cause = if moved { Some(Cause::Migrated) } else { cause };
        if let Some(cause) = cause {
            self.disturbed(number, cause);
        }
        self.judge_core(number, value, &mut sampling.progress);
        sampling.number += 1;
        Ok(())
    }

    fn end_sampling(&mut self, sampling: Sampling) {
        self.has_slept = sampling.watch.has_slept(&self.waits);
        let interrupts = sampling.interrupts;
        self.interrupts_per_ns = interrupts.and_then(|counted| self.interrupts_per_ns(counted));
        self.finish_probes(&sampling.progress);
        self.explain_waits(&sampling.waits);
    }

    /// Adds what all probes show together.
    fn finish_probes(&mut self, progress: &Progress) {
        if let Some(core_probes) = &self.core_probes {
            let found = &mut self.bencher.findings;
            // Nothing is selected by the core in an uninterrupted series: it counts as not probed.
            found.samples.alone_percent = core_probes
                .alone_percent()
                .filter(|_| !self.is_uninterrupted);
            let (unseen, far) = (
                core_probes.unseen_partners(),
                core_probes.far_alone_percent(),
            );
            if unseen > 0 {
                self.detail(PARTNERS_UNSEEN, unseen as f64);
            }
            if let Some(percent) = far {
                self.detail("far_undisturbed_percent", percent);
            }
        }
        self.findings.grain = self.grain();
        let by_before = self.slows_the_core(progress);
        if by_before {
            self.detail(GATE_ALONE, 1.0);
            self.bencher.shared = progress
                .seen
                .iter()
                .map(SampleProbes::began_shared)
                .collect();
        }
        if !self.is_uninterrupted {
            let ratios = progress.seen.iter().map(|seen| seen.ratio(by_before));
            let ratios: Vec<u16> = ratios.collect();
            self.findings.samples.ratios = ratios;
        }
        let known = self.findings.samples.sample_ghz.iter().copied();
        self.findings.samples.core_ghz =
            median(&known.filter(|ghz| *ghz > 0.0).collect::<Vec<_>>());
    }

    /// The effect of half a step of the clock on a value, in the benchmark's unit; 0 for values
    /// that the benchmark observed itself and for copies.
    fn grain(&self) -> f64 {
        if self.findings.observed || self.findings.copies.is_some() {
            return 0.0;
        }
        let step_ns = self
            .given
            .clock
            .to_ns(u64::from(self.given.cores.grain.max(1)));
        let ns = step_ns / 2.0 / self.findings.samples.iterations as f64;
        match (self.findings.bytes, median(&self.findings.samples.values)) {
            (Some(bytes), Some(rate)) => rate * rate * ns / (bytes * 1e9),
            _ => ns,
        }
    }

    /// Whether this number of samples suffices: enough are undisturbed, or the time is up, or
    /// better ones are not to be expected.
    fn is_done(&self, number: u32, sampling: &Sampling) -> bool {
        let Sampling {
            wanted, progress, ..
        } = sampling;
        let Some(core_probes) = &self.core_probes else {
            return number >= *wanted || progress.spent_ns > self.given.effort.case_ns;
        };
        let waited_ns = core_probes.waited_ns();
        let is_patient = waited_ns < self.given.effort.patience_ns;
        progress.is_enough(*wanted as usize)
            || (number >= GIVE_UP.min(*wanted) && progress.is_of_a_shared_core(number))
            || progress.spent_ns - waited_ns > self.given.effort.case_ns
            || (!is_patient && number >= *wanted)
    }

    /// Waits, for as long as this case may, until the core is ours; not within an uninterrupted
    /// series.
    pub(super) fn wait_before_sample(&mut self) {
        if !self.is_uninterrupted {
            self.wait_for_core();
        }
    }

    /// Waits, for as long as this case may, until the core is ours.
    pub(super) fn wait_for_core(&mut self) {
        let patience_ns = self.given.effort.patience_ns;
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.wait(patience_ns);
        }
    }

    /// Discards the waiting time and the probes so far.
    pub(super) fn begin_probes(&mut self) {
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.begin();
        }
    }

    /// Begins a timed stretch of an operation that may wait for others otherwise than by being
    /// switched out: of one that never sleeps any wait between samples tells.
    pub(super) fn begin_stretch(&mut self) {
        if self.waits.are_of_stretches() {
            self.stretch = self.waits.now();
        }
    }

    #[inline]
    pub(super) fn probe_before(&mut self) {
        self.begin_stretch();
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.probe_before();
        }
    }

    /// See [`CoreProbes::probe_during`].
    pub(super) fn probe_during(&mut self) {
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.probe_during();
        }
    }

    #[inline]
    pub(super) fn probe_after(&mut self) {
        if let Some(begun) = self.stretch.take() {
            self.waited = self.waited.plus(self.waits.since(Some(begun)));
        }
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.probe_after();
        }
    }

    /// What was seen of the core since the last call; nothing where it is not probed.
    pub(super) fn take_seen(&mut self) -> SampleProbes {
        self.core_probes
            .as_mut()
            .map(CoreProbes::take_seen)
            .unwrap_or_default()
    }

    /// Records what the probes around a sample showed.
    fn judge_core(&mut self, number: u32, value: f64, progress: &mut Progress) {
        let Some(core_probes) = &mut self.core_probes else {
            return;
        };
        let seen = core_probes.take_seen();
        let knows_frequency = core_probes.knows_frequency();
        progress.seen.push(seen);
        let is_shared = !self.is_uninterrupted && !seen.is_undisturbed();
        self.bencher.shared.push(is_shared);
        if knows_frequency {
            let ghz = seen.ghz().unwrap_or(0.0);
            self.findings
                .samples
                .sample_ghz
                .push((ghz * 1e4).round() / 1e4);
        }
        if !self.is_disturbed(number) {
            progress.own.push(value);
            progress.cycles.extend(seen.ghz().map(|ghz| value * ghz));
        }
    }

    /// Whether the operation leaves the core slow by itself, as wide vectors do, so that only the probe before each sample
    /// decides: where samples usually begin on an undisturbed core and hardly ever end on one, but empty samples do.
    fn slows_the_core(&mut self, progress: &Progress) -> bool {
        let all = self.findings.samples.values.len();
        let begun_exclusive = all - progress.began_shared() as usize;
        let ended_shared = progress.ended_shared();
        let share = f64::from(ended_shared) / begun_exclusive.max(1) as f64;
        if ended_shared < AFTER_EFFECTS
            || share < AFTER_EFFECT
            || self.is_team
            || self.is_uninterrupted
            || self.findings.copies.is_some()
        {
            return false;
        }
        let typical_ns = progress.spent_ns / all.max(1) as f64;
        let patience_ns = self.given.effort.patience_ns;
        let Some(core_probes) = &mut self.core_probes else {
            return false;
        };
        core_probes.begin();
        let exclusive = (0..CONTROLS).filter(|_| {
            core_probes.wait(patience_ns);
            core_probes.probe_before();
            core_probes.pass(typical_ns);
            core_probes.probe_after();
            core_probes.take_seen().is_undisturbed()
        });
        exclusive.count() as u32 >= CONTROLS_EXCLUSIVE
    }
}
