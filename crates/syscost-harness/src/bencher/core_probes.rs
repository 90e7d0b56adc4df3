//! Probes the core around what is timed: was it ours?
//!
//! A timed stretch is *undisturbed* if probes right before and right after it found that the core
//! did no other work. Waiting for such a moment ([`CoreProbes::wait`]) is bounded: where none
//! comes, samples are taken all the same and tagged.

use syscost_sys::clock::Clock;
use syscost_sys::core_probe::{Alone, Probe, ProbeReading};

use super::team::sentinel::Sentinel;
use crate::cores::Cores;
use crate::cores::moment::probes_in_a_row;

/// If the frequencies before and after differ by more than this factor, one of the probes was
/// interrupted.
const INTERRUPTED: f64 = 1.15;

/// What the probes around one sample showed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SampleProbes {
    /// Highest ratio before the timed stretch, over those of a core of our own: 1 on one; 0 without a probe.
    before: f64,
    /// The same after it.
    after: f64,
    /// Sum of the ratios of probes during it, each [`MAX_SHARED`] at most, and their number.
    during: f64,
    number_during: u32,
    /// The ratio of a core of our own, and how many times as high a probe's may be.
    own: f64,
    limit: f64,
    /// Sum and number of the observed frequencies, in GHz.
    ghz: f64,
    probes: u32,
}

/// How slow a core seems at most that two hardware threads share, as a factor: what shows more was
/// interrupted.
const MAX_SHARED: f64 = 2.0;

/// The slow-down, as a factor, that stands for a core of which is only known that it is shared.
const SHARED: f64 = f64::INFINITY;

impl SampleProbes {
    pub(super) fn ghz(&self) -> Option<f64> {
        (self.probes > 0).then(|| self.ghz / f64::from(self.probes))
    }

    /// Whether a probe before the timed stretch found the core shared.
    pub(super) fn began_shared(&self) -> bool {
        self.before > self.limit
    }

    /// Whether only a probe after it did.
    pub(super) fn ended_shared(&self) -> bool {
        self.after > self.limit && !self.began_shared()
    }

    pub(super) fn is_undisturbed(&self) -> bool {
        self.slowdown() <= self.limit
    }

    /// How slow the core seemed: 1 for one of our own, 0 without a probe. What was seen during the stretch
    /// counts as its mean: each of those probes stands for a part of its time.
    pub(super) fn slowdown(&self) -> f64 {
        let during = self.during / f64::from(self.number_during.max(1));
        self.before.max(self.after).max(during)
    }

    /// The highest ratio of its probes, as a document has it, of all or only those before: see
    /// [`RoundSamples::ratios`](syscost_results::RoundSamples::ratios).
    pub(super) fn ratio(&self, only_before: bool) -> u16 {
        let times = match only_before {
            true => self.before,
            false => self.slowdown(),
        };
        (1000.0 * self.own * times).round().min(f64::from(u16::MAX)) as u16
    }
}

pub(super) struct CoreProbes {
    clock: Clock,
    probe: Probe,
    alone: Alone,
    cores: Cores,
    /// The sentinels that probe the cores of partners on other CPUs.
    sentinels: Vec<Sentinel>,
    /// How many probes of a core of another machine there were, and how many of them found it ours.
    far_probes: u32,
    far_exclusive: u32,
    /// Whether the last probe found the core ours.
    is_exclusive: bool,
    /// Frequency at the last probe before a timed stretch, in GHz.
    ghz_before: Option<f64>,
    seen: SampleProbes,
    last_probe: u64,
    own_ticks: u64,
    all_ticks: u64,
    waited_ticks: u64,
    /// Time waited before the last [`CoreProbes::begin`], in ticks.
    waited_before: u64,
}

impl CoreProbes {
    /// Probes of this CPU's core; `None` where nothing is known of its core.
    pub(super) fn new(clock: Clock, cpu: u32, cores: &Cores) -> Option<Self> {
        let mut core_probes = Self {
            clock,
            probe: cores.probe(clock),
            alone: cores.alone_or_alike(cpu)?,
            cores: cores.clone(),
            sentinels: Vec::new(),
            far_probes: 0,
            far_exclusive: 0,
            is_exclusive: false,
            ghz_before: None,
            seen: SampleProbes::default(),
            last_probe: 0,
            own_ticks: 0,
            all_ticks: 0,
            waited_ticks: 0,
            waited_before: 0,
        };
        core_probes.begin();
        Some(core_probes)
    }

    /// Also probes the cores of these CPUs from now on: before and after what is timed.
    pub(super) fn watch_partners(&mut self, sentinels: Vec<Sentinel>) {
        self.sentinels = sentinels;
    }

    /// Restarts the count of how often the core was ours.
    pub(super) fn begin(&mut self) {
        self.last_probe = self.clock.start();
        self.waited_before += self.waited_ticks;
        (self.own_ticks, self.all_ticks, self.waited_ticks) = (0, 0, 0);
        self.take_seen();
    }

    /// Whether its probes show the core's frequency.
    pub(super) fn knows_frequency(&self) -> bool {
        self.cores.knows_frequency
    }

    /// Makes its probes show no frequency from now on: what is timed does not depend on it.
    pub(super) fn disregard_frequency(&mut self) {
        self.cores.knows_frequency = false;
    }

    /// Waits until the core has been ours for some probes in a row, at most `patience_ns`
    /// altogether since [`CoreProbes::begin`]. While it stays ours, a single probe is enough.
    pub(super) fn wait(&mut self, patience_ns: f64) {
        let patience = (patience_ns * self.clock.ticks_per_ns()) as u64;
        let begun = self.clock.start();
        let waited = self.waited_ticks;
        loop {
            if !(self.is_exclusive && self.probe()) {
                let mut in_a_row = 0;
                let probes = probes_in_a_row(&self.probe);
                while in_a_row < probes && self.waited_ticks < patience {
                    in_a_row = if self.probe() { in_a_row + 1 } else { 0 };
                    self.waited_ticks = waited + self.last_probe.saturating_sub(begun);
                }
            }
            let partners = self.partners_slowdown();
            let now = self.clock.stop().ticks;
            // No probes were taken here while the partners were asked.
            self.last_probe = now;
            self.waited_ticks = waited + now.saturating_sub(begun);
            if partners <= self.seen.limit || self.waited_ticks >= patience {
                self.seen.before = self.seen.before.max(partners);
                return;
            }
        }
    }

    /// Waits until the core of a task on another machine is ours, for as long as
    /// [`CoreProbes::wait`] may. `probe` asks the other machine; it returns `None` where its core
    /// cannot be observed.
    pub(super) fn wait_far<E>(
        &mut self,
        patience_ns: f64,
        mut probe: impl FnMut() -> Result<Option<bool>, E>,
    ) -> Result<(), E> {
        let patience = (patience_ns * self.clock.ticks_per_ns()) as u64;
        let (begun, waited) = (self.clock.start(), self.waited_ticks);
        while let Some(is_exclusive) = probe()? {
            self.note_far(is_exclusive);
            let now = self.clock.stop().ticks;
            // No probes were taken here while the other machine was asked.
            self.last_probe = now;
            self.waited_ticks = waited + now.saturating_sub(begun);
            if is_exclusive || self.waited_ticks >= patience {
                self.seen.before = self.seen.before.max(far_slowdown(is_exclusive));
                break;
            }
        }
        Ok(())
    }

    /// Records a probe of a core of another machine after a timed stretch.
    pub(super) fn note_far_after(&mut self, is_exclusive: bool) {
        self.note_others(far_slowdown(is_exclusive));
        self.note_far(is_exclusive);
    }

    /// Notes how slow the slowest of the cores seemed that others probed after a timed stretch.
    pub(super) fn note_others(&mut self, slowdown: f64) {
        self.seen.after = self.seen.after.max(slowdown);
    }

    fn note_far(&mut self, is_exclusive: bool) {
        self.far_probes += 1;
        self.far_exclusive += u32::from(is_exclusive);
    }

    /// Share of the probes of a core of another machine that found it ours, in percent; `None`
    /// where there were none.
    pub(super) fn far_alone_percent(&self) -> Option<f64> {
        (self.far_probes > 0)
            .then(|| 100.0 * f64::from(self.far_exclusive) / f64::from(self.far_probes))
    }

    /// How many of the partners' cores can no longer be probed.
    pub(super) fn unseen_partners(&self) -> usize {
        self.sentinels
            .iter()
            .filter(|sentinel| sentinel.is_late())
            .count()
    }

    /// How slow the slowest of the cores of all partners on other CPUs seems, as far as they can be probed: 1 for cores of
    /// our own; 0 if there are none.
    fn partners_slowdown(&mut self) -> f64 {
        let slowdowns = self.sentinels.iter_mut().filter_map(Sentinel::slowdown);
        slowdowns.fold(0.0, f64::max)
    }

    #[inline]
    pub(super) fn probe_before(&mut self) {
        let reading = self.probe_again();
        self.seen.before = self.seen.before.max(self.alone.slowdown(&reading));
        self.ghz_before = self.ghz(reading);
    }

    /// To be called now and then during a timed stretch in which this task sleeps.
    pub(super) fn probe_during(&mut self) {
        let reading = self.probe_again();
        self.seen.during += self.alone.slowdown(&reading).min(MAX_SHARED);
        self.seen.number_during += 1;
    }

    #[inline]
    pub(super) fn probe_after(&mut self) {
        let reading = self.probe_again();
        self.note_others(self.alone.slowdown(&reading));
        if self.is_exclusive {
            let partners = self.partners_slowdown();
            self.note_others(partners);
        }
        let (before, after) = (self.ghz_before.take(), self.ghz(reading));
        if let (Some(before), Some(after)) = (before, after) {
            let (low, high) = (before.min(after), before.max(after));
            // Otherwise one of them was interrupted, or the frequency changed: then it is unknown.
            if high <= INTERRUPTED * low {
                self.seen.ghz += (low + high) / 2.0;
                self.seen.probes += 1;
            }
        }
    }

    pub(super) fn take_seen(&mut self) -> SampleProbes {
        let Alone { ratio, limit, .. } = self.alone;
        let unseen = SampleProbes {
            own: ratio,
            limit: limit / ratio,
            ..SampleProbes::default()
        };
        std::mem::replace(&mut self.seen, unseen)
    }

    /// Passes this much time on a busy core, as a timed stretch would.
    pub(super) fn pass(&self, ns: f64) {
        let begun = self.clock.start();
        while self
            .clock
            .to_ns(self.clock.stop().ticks.saturating_sub(begun))
            < ns
        {
            self.probe.read();
        }
    }

    /// Share of the time since [`CoreProbes::begin`] in which the core was ours, in percent.
    pub(super) fn alone_percent(&self) -> Option<f64> {
        (self.all_ticks > 0).then(|| 100.0 * self.own_ticks as f64 / self.all_ticks as f64)
    }

    /// How long it has waited since [`CoreProbes::begin`], in ns.
    pub(super) fn waited_ns(&self) -> f64 {
        self.clock.to_ns(self.waited_ticks)
    }

    /// How long it has waited in total, in ns.
    pub(super) fn all_waited_ns(&self) -> f64 {
        self.clock.to_ns(self.waited_before + self.waited_ticks)
    }

    #[inline]
    fn probe_again(&mut self) -> ProbeReading {
        let reading = self.probe.read_again(&self.alone);
        self.note(reading);
        reading
    }

    fn probe(&mut self) -> bool {
        let reading = self.probe.read();
        self.note(reading)
    }

    fn note(&mut self, reading: ProbeReading) -> bool {
        let now = self.clock.stop().ticks;
        let passed = now.saturating_sub(self.last_probe);
        let is_exclusive = self.alone.holds(&reading);
        self.all_ticks += passed;
        // The time between two probes counts as ours if both found the core ours.
        if is_exclusive && self.is_exclusive {
            self.own_ticks += passed;
        }
        (self.last_probe, self.is_exclusive) = (now, is_exclusive);
        is_exclusive
    }

    fn ghz(&self, reading: ProbeReading) -> Option<f64> {
        self.cores.ghz(&self.probe, reading)
    }
}

/// How slow a core of another machine seems, of which only the verdict is known.
fn far_slowdown(is_exclusive: bool) -> f64 {
    match is_exclusive {
        true => 1.0,
        false => SHARED,
    }
}
