//! Looks at the core around what is timed: was it ours?
//!
//! A timed stretch is *undisturbed* if looks right before and right after it found the core working for nobody else. Waiting for such a moment
//! ([`Bracket::gate`]) is bounded: where none comes, samples are taken all the same and tagged.

use syscost_sys::clock::Clock;
use syscost_sys::neighbour::{Alone, Look, Probe};

use super::team::Sentinel;
use crate::cores::Cores;
use crate::cores::moment::looks_of_gate;

/// Frequencies before and after that differ by more than this are those of an interrupted look and a good one.
const INTERRUPTED: f64 = 1.15;

/// What is seen of the core during one sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Seen {
    /// Whether a look before something timed found it shared.
    pub(super) before: bool,
    /// Whether one after it did.
    pub(super) after: bool,
    /// Sum and number of the frequencies, in GHz.
    ghz: f64,
    looks: u32,
}

impl Seen {
    /// The mean frequency.
    pub(super) fn ghz(&self) -> Option<f64> {
        (self.looks > 0).then(|| self.ghz / f64::from(self.looks))
    }

    /// Whether every look found the core ours.
    pub(super) fn is_undisturbed(&self) -> bool {
        !self.before && !self.after
    }
}

/// Looks at one core around what is timed on it.
pub(super) struct Bracket {
    clock: Clock,
    probe: Probe,
    alone: Alone,
    cores: Cores,
    /// Looks at the cores of partners on other CPUs.
    sentinels: Vec<Sentinel>,
    /// How many looks at a core of another machine there were, and how many of them found it ours.
    far_looks: u32,
    far_ours: u32,
    /// Whether the last look found the core ours.
    is_ours: bool,
    /// Frequency of the last look before something timed.
    ghz_before: Option<f64>,
    seen: Seen,
    last_look: u64,
    own_ticks: u64,
    all_ticks: u64,
    waited_ticks: u64,
    /// The same of all that was begun before.
    waited_before: u64,
}

impl Bracket {
    /// A bracket on this CPU; `None` where nothing is known of its core.
    pub(super) fn new(clock: Clock, cpu: u32, cores: &Cores) -> Option<Self> {
        let mut bracket = Self {
            clock,
            probe: Probe::new(clock, cores.grain)?,
            alone: cores.alone_or_alike(cpu)?,
            cores: cores.clone(),
            sentinels: Vec::new(),
            far_looks: 0,
            far_ours: 0,
            is_ours: false,
            ghz_before: None,
            seen: Seen::default(),
            last_look: 0,
            own_ticks: 0,
            all_ticks: 0,
            waited_ticks: 0,
            waited_before: 0,
        };
        bracket.begin();
        Some(bracket)
    }

    /// Looks from now on at the cores of these CPUs as well: at each gate and after what is timed.
    pub(super) fn watch_partners(&mut self, sentinels: Vec<Sentinel>) {
        self.sentinels = sentinels;
    }

    /// Begins to count anew how often the core was ours.
    pub(super) fn begin(&mut self) {
        self.last_look = self.clock.start();
        self.waited_before += self.waited_ticks;
        (self.own_ticks, self.all_ticks, self.waited_ticks) = (0, 0, 0);
        self.seen = Seen::default();
    }

    /// Whether its looks tell the core's frequency.
    pub(super) fn knows_frequency(&self) -> bool {
        self.cores.knows_frequency
    }

    /// Waits until the core has been ours for some looks in a row, at most `patience_ns` altogether since [`Bracket::begin`]. Within a stretch in which it
    /// is ours the last look is enough.
    pub(super) fn gate(&mut self, patience_ns: f64) {
        let patience = (patience_ns * self.clock.ticks_per_ns()) as u64;
        let begun = self.clock.start();
        let waited = self.waited_ticks;
        loop {
            if !(self.is_ours && self.look()) {
                let mut in_a_row = 0;
                let looks = looks_of_gate(&self.probe);
                while in_a_row < looks && self.waited_ticks < patience {
                    in_a_row = if self.look() { in_a_row + 1 } else { 0 };
                    self.waited_ticks = waited + self.last_look.saturating_sub(begun);
                }
            }
            let partners_ours = self.partners_are_ours();
            let now = self.clock.stop().ticks;
            // What the question took is no time in which anybody looked here.
            self.last_look = now;
            self.waited_ticks = waited + now.saturating_sub(begun);
            if partners_ours || self.waited_ticks >= patience {
                self.seen.before |= !partners_ours;
                return;
            }
        }
    }

    /// Waits until the core of a task on another machine is ours, as long as [`Bracket::gate`] may.
    /// `look` asks there; it knows nothing where nobody can look.
    pub(super) fn gate_far<E>(
        &mut self,
        patience_ns: f64,
        mut look: impl FnMut() -> Result<Option<bool>, E>,
    ) -> Result<(), E> {
        let patience = (patience_ns * self.clock.ticks_per_ns()) as u64;
        let (begun, waited) = (self.clock.start(), self.waited_ticks);
        while let Some(is_ours) = look()? {
            self.note_far(is_ours);
            let now = self.clock.stop().ticks;
            // What the question took is no time in which anybody looked here.
            self.last_look = now;
            self.waited_ticks = waited + now.saturating_sub(begun);
            if is_ours || self.waited_ticks >= patience {
                self.seen.before |= !is_ours;
                break;
            }
        }
        Ok(())
    }

    /// A look at a core of another machine after something timed.
    pub(super) fn close_far(&mut self, is_ours: bool) {
        self.seen.after |= !is_ours;
        self.note_far(is_ours);
    }

    fn note_far(&mut self, is_ours: bool) {
        self.far_looks += 1;
        self.far_ours += u32::from(is_ours);
    }

    /// Share of the looks at a core of another machine that found it ours, in percent; `None` where
    /// there were none.
    pub(super) fn far_alone_percent(&self) -> Option<f64> {
        (self.far_looks > 0).then(|| 100.0 * f64::from(self.far_ours) / f64::from(self.far_looks))
    }

    /// How many of the partners' cores can be looked at no more.
    pub(super) fn unseen_partners(&self) -> usize {
        self.sentinels
            .iter()
            .filter(|sentinel| sentinel.is_late())
            .count()
    }

    /// Whether the cores of all partners on other CPUs are ours, as far as they can be looked at; without such they are.
    fn partners_are_ours(&mut self) -> bool {
        let mut all = true;
        for sentinel in &mut self.sentinels {
            all &= sentinel.is_ours().unwrap_or(true);
        }
        all
    }

    /// Right before something is timed.
    #[inline]
    pub(super) fn open(&mut self) {
        let look = self.look_twice();
        self.seen.before |= !self.is_ours;
        self.ghz_before = self.ghz(look);
    }

    /// Right after.
    #[inline]
    pub(super) fn close(&mut self) {
        let look = self.look_twice();
        self.seen.after |= !self.is_ours || !self.partners_are_ours();
        let (before, after) = (self.ghz_before.take(), self.ghz(look));
        if let (Some(before), Some(after)) = (before, after) {
            let (low, high) = (before.min(after), before.max(after));
            // Else one of them was interrupted, or the frequency changed: it is not known.
            if high <= INTERRUPTED * low {
                self.seen.ghz += (low + high) / 2.0;
                self.seen.looks += 1;
            }
        }
    }

    /// What was seen since it was last asked.
    pub(super) fn take_seen(&mut self) -> Seen {
        std::mem::take(&mut self.seen)
    }

    /// Lets time pass on a core at work, as something timed would.
    pub(super) fn pass(&self, ns: f64) {
        let begun = self.clock.start();
        while self
            .clock
            .to_ns(self.clock.stop().ticks.saturating_sub(begun))
            < ns
        {
            self.probe.chain();
        }
    }

    /// Share of the time since [`Bracket::begin`] in which the core was ours, in percent.
    pub(super) fn alone_percent(&self) -> Option<f64> {
        (self.all_ticks > 0).then(|| 100.0 * self.own_ticks as f64 / self.all_ticks as f64)
    }

    /// How long it has waited since then, in ns.
    pub(super) fn waited_ns(&self) -> f64 {
        self.clock.to_ns(self.waited_ticks)
    }

    /// How long it has waited altogether, in ns.
    pub(super) fn all_waited_ns(&self) -> f64 {
        self.clock.to_ns(self.waited_before + self.waited_ticks)
    }

    /// The first look may still pay for what ran before it, so a second one decides.
    #[inline]
    fn look_twice(&mut self) -> Look {
        let mut look = self.probe.look();
        if !self.alone.holds(&look) {
            look = self.probe.look();
        }
        self.note(look);
        look
    }

    fn look(&mut self) -> bool {
        let look = self.probe.look();
        self.note(look)
    }

    fn note(&mut self, look: Look) -> bool {
        let now = self.clock.stop().ticks;
        let passed = now.saturating_sub(self.last_look);
        let is_ours = self.alone.holds(&look);
        self.all_ticks += passed;
        // What passed between two looks is ours if both found it so.
        if is_ours && self.is_ours {
            self.own_ticks += passed;
        }
        (self.last_look, self.is_ours) = (now, is_ours);
        is_ours
    }

    fn ghz(&self, look: Look) -> Option<f64> {
        let known = self
            .cores
            .knows_frequency
            .then_some(self.cores.chain_overhead);
        self.probe.ghz(look.chain, known?)
    }
}
