//! What probes of the cores show while they do no other work, and whether they did.

pub mod known;
mod meter;
pub(crate) mod moment;

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use syscost_results::estimate::frequency;
use syscost_results::run::Noise;
use syscost_results::{LimitBasis, RoundSamples};
use syscost_stats::order::median;
use syscost_sys::clock::Clock;
use syscost_sys::core_probe::{
    self, Alone, Burst, LongChain, Probe, ProbeReading, SAME_STATE, Shape,
};
use syscost_sys::cpu::{self, CoreKind};
use syscost_sys::frequency::core_frequency;

use self::known::Known;
pub use self::meter::{CoreMeter, CoreState, WINDOW};
use crate::noise;

/// Cores of one kind show the same ratio while they are ours; one that shows more than this factor
/// above the lowest was never ours.
const SAME_KIND: f64 = 1.03;

/// What is known of the cores that measure; a worker receives it with its job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cores {
    modes: Vec<Core>,
    /// The share of a probe's chain that is the reading of the clock, in 0..1.
    clock_share: f64,
    /// Whether a chain shows the frequency: its instructions take as long as believed.
    pub knows_frequency: bool,
    /// The grain of the clock with which they were probed, in ticks.
    pub grain: u32,
    /// Instructions in a round of the burst with which they were probed; 0 for the usual one.
    pub burst: u32,
}

/// [`Alone`] as jobs and files have it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Alone")]
struct StoredAlone {
    ratio: f64,
    limit: f64,
    is_assumed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Core {
    cpu: u32,
    #[serde(flatten, with = "StoredAlone")]
    alone: Alone,
}

/// What listening to one CPU showed while nothing else ran on it.
pub struct Heard {
    /// The gaps between readings of the clock.
    pub noise: Noise,
    /// Readings of its core, in sequence.
    pub readings: Vec<ProbeReading>,
    /// The probe that took them.
    pub probe: Probe,
    /// Longer chains between some of them.
    pub long_chains: Vec<LongChain>,
}

/// Probes of a mode are no lower than this share of its ratio, and as little higher.
const MODE_LOW: f64 = 0.98;

/// A mode is another state of the same core, ours as well, only if this share of the probes shows
/// it, and this many times as many as show the lower one: on a core that is hardly ever ours the
/// probes of a partly shared one are more.
const COMMON_SHARE: f64 = 0.05;
const OUTNUMBERS: f64 = 10.0;

/// A mode lower than the known one is believed if this number of probes within a short while, and
/// this share, agree on it.
const MIN_LEARNT: usize = 48;
const LEARNT_SHARE: f64 = 0.02;

/// Number of chains of a core that is ours that tell what reading the clock takes there.
const MIN_LONG_CHAINS: usize = 12;

/// Samples contradict the listening if less than this share of the time in which it found a core ours is left around
/// them, of this many at least, and show where a core of our own lies there if it is not farther away than this.
const CONTRADICTING: f64 = 0.25;
const MIN_CONTRADICTING: usize = 100;
const MAX_SHIFT: f64 = 1.25;

/// What probes around samples show of a core of our own, in contrast to those one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shifted {
    /// How many times as high their ratio is.
    pub(crate) by: f64,
    /// Share of the time in which the core was ours between rounds.
    pub(crate) listened: f64,
    /// Share of the samples that seemed to be of a core of our own before that was known.
    pub(crate) believed: f64,
}

/// The state in which nothing is known of any core.
pub static UNKNOWN: Cores = Cores {
    modes: Vec::new(),
    clock_share: 0.0,
    knows_frequency: false,
    grain: 1,
    burst: 0,
};

impl Cores {
    /// Listens to these CPUs for `time` in total, longer if nothing is known of their model: finds which burst is sharpest
    /// here, and what probes show while a core is ours. What is `known` of the model is taken into account. The clock's rate need only be approximately right.
    pub fn hear(
        cpus: &[u32],
        clock: &Clock,
        time: Duration,
        known: Option<&Known>,
    ) -> (Self, Vec<Heard>) {
        // Of cores that tests make up nothing is known, nor to be kept.
        let known = known.filter(|_| !core_probe::is_forced());
        let before = known.and_then(Known::recall);
        let shape = match before {
            Some((burst, _)) => Shape {
                grain: clock.grain_ticks(),
                burst,
            },
            None => sharpest(cpus, clock),
        };
        let mut heard = noise::probe(cpus, clock, shape, time);
        let alone = before.map(|(_, alone)| alone);
        let cores = Self::find(&mut heard, frequency_is_known(clock), alone);
        (cores, heard)
    }

    /// Finds what probes show while a core is ours, and records in each CPU's noise how often it
    /// was. `knows_frequency` says whether the two chains of dependent instructions agree here;
    /// `known` is what earlier runs saw on this model of processor.
    pub fn find(heard: &mut [Heard], knows_frequency: bool, known: Option<Alone>) -> Self {
        let Shape { grain, burst } = heard
            .first()
            .map_or(UNKNOWN.shape(), |one| one.probe.shape());
        let mut found: Vec<(CoreKind, Core)> = heard
            .iter()
            .filter_map(|one| {
                let cpu = one.noise.cpu;
                let alone = core_probe::alone(&one.readings, grain)?;
                Some((cpu::kind(cpu), Core { cpu, alone }))
            })
            .collect();
        // A core that was never ours in this time gets the mode of another one of its kind that was.
        for index in 0..found.len() {
            let kind = found[index].0;
            let same = found.iter().filter(|(other, _)| *other == kind);
            let least = same
                .map(|(_, core)| *core)
                .min_by(|a, b| a.alone.ratio.total_cmp(&b.alone.ratio));
            let core = found[index].1;
            let is_higher = |least: &Core| core.alone.ratio > SAME_KIND * least.alone.ratio;
            if let Some(least) = least.filter(is_higher)
                && !is_other_state(heard, &core, &least.alone)
            {
                found[index].1.alone = least.alone;
            }
        }
        // Perhaps none was ours, if an earlier run saw less. With several kinds of cores it is not
        // known which kind that was.
        let is_one_kind = found.iter().all(|(kind, _)| *kind == found[0].0);
        let known = known.filter(|known| {
            let mut cores = found.iter().map(|(_, core)| core);
            is_one_kind && !cores.any(|core| is_other_state(heard, core, known))
        });
        for (_, core) in &mut found {
            if let Some(known) = known
                && core.alone.ratio > SAME_KIND * known.ratio
            {
                core.alone = known;
            }
        }
        let mut cores = Self {
            modes: found.into_iter().map(|(_, core)| core).collect(),
            clock_share: 0.0,
            knows_frequency,
            grain,
            burst: burst.instructions(),
        };
        cores.clock_share = cores.clock_share_in(heard);
        for one in heard {
            cores.annotate(one);
        }
        cores
    }

    /// The share of a chain that is the reading of the clock while a core is ours; on cores that
    /// never were, of any.
    fn clock_share_in(&self, heard: &[Heard]) -> f64 {
        let mut own = Vec::new();
        let mut all = Vec::new();
        for one in heard {
            let alone = self.alone(one.noise.cpu);
            for chain in &one.long_chains {
                all.push(chain);
                // In another state of an own core reading the clock takes another time.
                let is_own = |alone: &Alone| {
                    let mut around = chain.around.iter();
                    around.all(|reading| is_of_mode(alone, reading))
                };
                if alone.as_ref().is_some_and(is_own) {
                    own.push(chain);
                }
            }
        }
        let chosen = if own.len() < MIN_LONG_CHAINS {
            all
        } else {
            own
        };
        core_probe::clock_share(chosen.into_iter()).unwrap_or(0.0)
    }

    /// Learns from later probes that undisturbed cores are faster than believed, because all of the
    /// first probes were of shared cores. Returns whether it did.
    pub(crate) fn learn(&mut self, heard: &mut [Heard]) -> bool {
        let found = Self::find(heard, self.knows_frequency, None);
        let mut has_learnt = false;
        for core in &mut self.modes {
            let kind = cpu::kind(core.cpu);
            let mut alike = heard.iter().filter(|one| cpu::kind(one.noise.cpu) == kind);
            let lower = found
                .alone_or_alike(core.cpu)
                .filter(|alone| core.alone.ratio > SAME_STATE * alone.ratio)
                .filter(|alone| alike.any(|one| shows_often(&one.readings, alone)));
            if let Some(alone) = lower {
                core.alone = alone;
                has_learnt = true;
                // What was known was that of shared cores.
                self.clock_share = found.clock_share;
            }
        }
        has_learnt
    }

    /// Whether these probes show often that the core is faster than believed, so that there is
    /// something to learn.
    fn are_refuted_by(&self, heard: &Heard) -> bool {
        let found = core_probe::alone(&heard.readings, self.grain);
        let lower = found.filter(|alone| shows_often(&heard.readings, alone));
        let known = self.alone(heard.noise.cpu);
        known
            .zip(lower)
            .is_some_and(|(known, lower)| known.ratio > SAME_STATE * lower.ratio)
    }

    /// Learns where a core of our own lies around samples, if they contradict the share of the time for which a CPU's core was
    /// ours meanwhile: what probes then show there that most agree on is a core of our own.
    pub(crate) fn learn_from_samples<'r>(
        &mut self,
        rounds: impl Iterator<Item = &'r RoundSamples> + Clone,
        listened: impl Fn(u32) -> Option<f64>,
    ) -> Option<Shifted> {
        let mut found = None;
        for core in &mut self.modes {
            let Some(listened) = listened(core.cpu) else {
                continue;
            };
            let here = rounds.clone().filter(|round| round.cpu == core.cpu);
            let ratios = here.flat_map(|round| &round.ratios);
            let readings: Vec<ProbeReading> = ratios
                .map(|ratio| ProbeReading {
                    throughput: u32::from(*ratio),
                    chain: 1000,
                })
                .collect();
            let share = |alone: &Alone| {
                let own = readings.iter().filter(|reading| alone.holds(reading));
                own.count() as f64 / readings.len().max(1) as f64
            };
            let believed = share(&core.alone);
            if readings.len() < MIN_CONTRADICTING || believed > CONTRADICTING * listened {
                continue;
            }
            let shown = core_probe::alone(&readings, 1);
            let shown = shown.filter(|shown| {
                (core.alone.ratio..MAX_SHIFT * core.alone.ratio).contains(&shown.ratio)
            });
            if let Some(shown) = shown.filter(|shown| 2.0 * share(shown) > listened) {
                found = Some(Shifted {
                    by: shown.ratio / core.alone.ratio,
                    listened,
                    believed,
                });
                (core.alone.limit, core.alone.is_assumed) = (shown.limit, true);
            }
        }
        found
    }

    /// How these cores are probed.
    pub fn shape(&self) -> Shape {
        Shape {
            grain: self.grain,
            burst: Burst::with(self.burst).unwrap_or_default(),
        }
    }

    /// A probe of these cores with this clock.
    pub fn probe(&self, clock: Clock) -> Probe {
        Probe::new(clock, self.shape())
    }

    /// One core, ours up to this ratio; for tests.
    #[cfg(test)]
    pub(crate) fn with_limit(cpu: u32, limit: f64) -> Self {
        Self {
            modes: vec![Core {
                cpu,
                alone: Alone {
                    ratio: limit.min(1.0),
                    limit,
                    is_assumed: false,
                },
            }],
            ..Self::default()
        }
    }

    /// What probes of this CPU's core show while it is ours.
    pub fn alone(&self, cpu: u32) -> Option<Alone> {
        let core = self.modes.iter().find(|core| core.cpu == cpu)?;
        Some(core.alone)
    }

    /// As [`Cores::alone`]; for a CPU that was not listened to, what another core of its kind shows.
    pub fn alone_or_alike(&self, cpu: u32) -> Option<Alone> {
        self.alone(cpu).or_else(|| {
            let kind = cpu::kind(cpu);
            let mut alike = self.modes.iter().filter(|core| cpu::kind(core.cpu) == kind);
            self.alone(alike.next()?.cpu)
        })
    }

    /// The core's frequency that a probe shows, in GHz; `None` where a chain does not show it.
    pub fn ghz(&self, probe: &Probe, reading: ProbeReading) -> Option<f64> {
        probe
            .ghz(reading.chain, self.clock_share)
            .filter(|_| self.knows_frequency)
    }

    fn frequencies(&self, heard: &Heard) -> Vec<f64> {
        let readings = heard.readings.iter();
        readings
            .filter_map(|reading| self.ghz(&heard.probe, *reading))
            .collect()
    }

    /// Records in a CPU's noise what is known of its core.
    pub(crate) fn describe(&self, noise: &mut Noise) {
        let alone = self.alone_or_alike(noise.cpu);
        noise.alone_ratio = alone.map(|alone| alone.ratio);
        noise.alone_limit = alone.map(|alone| alone.limit);
        noise.limit_basis = alone.as_ref().map(basis);
    }

    /// Records in a CPU's noise how often its core was ours, and how much slower it is when it is not.
    pub fn annotate(&self, heard: &mut Heard) {
        let ghz = frequency::mode(self.frequencies(heard));
        let noise = &mut heard.noise;
        self.describe(noise);
        noise.core_ghz = ghz;
        let Some(alone) = self.alone(noise.cpu).filter(|_| !heard.readings.is_empty()) else {
            return;
        };
        let (own, shared): (Vec<&ProbeReading>, Vec<&ProbeReading>) = heard
            .readings
            .iter()
            .partition(|reading| alone.holds(reading));
        noise.alone_percent = Some(100.0 * own.len() as f64 / heard.readings.len() as f64);
        let slower: Vec<f64> = shared
            .iter()
            .filter_map(|reading| reading.ratio())
            .collect();
        noise.shared_slowdown_percent =
            median(&slower).map(|ratio| 100.0 * (ratio / alone.ratio - 1.0));
    }
}

/// Whether a probe shows this state of a core.
fn is_of_mode(mode: &Alone, reading: &ProbeReading) -> bool {
    let around = MODE_LOW * mode.ratio..=(2.0 - MODE_LOW) * mode.ratio;
    reading.ratio().is_some_and(|ratio| around.contains(&ratio))
}

/// What says up to which ratio a probe shows a core of our own.
fn basis(alone: &Alone) -> LimitBasis {
    match alone.is_assumed {
        true => LimitBasis::Assumed,
        false => LimitBasis::Gap,
    }
}

/// The shape of probes that is sharpest on the first of these CPUs.
fn sharpest(cpus: &[u32], clock: &Clock) -> Shape {
    let grain = clock.grain_ticks();
    let find = || {
        if let Some(first) = cpus.first() {
            // A CPU that was taken away meanwhile is as good as another.
            let _ = cpu::pin(*first);
        }
        Shape::sharpest(*clock, grain)
    };
    let usual = Shape {
        grain,
        burst: Burst::default(),
    };
    // Where no thread can be started, the usual one does.
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, find).ok();
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or(usual)
    })
}

/// Whether a core's mode is another state of an undisturbed core besides this lower one.
fn is_other_state(heard: &[Heard], core: &Core, lower: &Alone) -> bool {
    let here = heard.iter().find(|one| one.noise.cpu == core.cpu);
    let readings = here.map_or(&[][..], |one| &one.readings);
    let showing = |mode: &Alone| {
        let within = readings.iter().filter(|reading| is_of_mode(mode, reading));
        within.count() as f64
    };
    let own = showing(&core.alone);
    core.alone.ratio <= SAME_STATE * lower.ratio
        && own >= COMMON_SHARE * readings.len() as f64
        && own >= OUTNUMBERS * showing(lower)
}

/// Whether enough of these probes show an undisturbed core for such a mode to be believed.
fn shows_often(readings: &[ProbeReading], alone: &Alone) -> bool {
    let own = readings
        .iter()
        .filter(|reading| alone.holds(reading))
        .count();
    own >= MIN_LEARNT && own as f64 >= LEARNT_SHARE * readings.len() as f64
}

/// How often to try whether two chains agree on the frequency: 25 ms where they never do. On a busy host
/// the frequency often changes, or the CPU is taken away, between the bursts of one try: of twenty runs
/// whose cores were ours a third of the time three found no agreement in five tries.
const TRIES: usize = 200;

/// Whether chains of dependent instructions show the core's frequency here: whether two kinds of
/// them agree, at one of a few moments.
fn frequency_is_known(clock: &Clock) -> bool {
    (0..TRIES).any(|_| core_frequency(clock).agreed().is_some())
}

#[cfg(test)]
mod tests;
