//! What goes into a pass over one case, and what comes out of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syscost_results::Evidence;
use syscost_results::measurement::Disturbance;
use syscost_sys::clock::Clock;

use super::Follows;
use crate::benchmark::Setup;
use crate::cores::Cores;

/// Which of the two passes a worker makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Takes samples.
    Timed,
    /// Counts what the operation does.
    Evidence,
}

/// How much a timed pass takes, all times in ns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Samples per case.
    pub samples: u32,
    /// Running before the first sample.
    pub warm_up_ns: f64,
    /// What a batch should last.
    pub batch_ns: f64,
    /// What all samples of a case may last together; at least five are taken all the same.
    pub case_ns: f64,
    /// How long a case may wait, altogether, for a core that works for nobody else.
    pub patience_ns: f64,
    /// Operations of a case timed one by one, for the tail of their distribution, where they are long enough.
    pub singles: u32,
    /// Whether the kernel's tracepoint counts system calls beside the audit: opening it takes tens of milliseconds.
    pub second_witness: bool,
}

/// How much longer a round of a row with a dear set-up is.
const DEAR_FACTOR: u32 = 2;

impl Effort {
    /// That for a row with such a set-up: dear ones get fewer, longer rounds.
    pub fn with_setup(&self, setup: Setup) -> Effort {
        let factor = match setup {
            Setup::Cheap => 1,
            Setup::Dear { .. } => DEAR_FACTOR,
        };
        Effort {
            samples: self.samples * factor,
            case_ns: self.case_ns * f64::from(factor),
            patience_ns: self.patience_ns * f64::from(factor),
            ..self.clone()
        }
    }
}

/// What the clock costs, so that a worker need not measure it anew.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockCost {
    /// Smallest step between two different readings, in ns.
    pub step_ns: f64,
    /// One start-stop pair, in ns.
    pub read_ns: f64,
}

impl ClockCost {
    /// Shortest batch whose timing is good to a hundredth: 1000 steps and 100 pairs.
    pub(super) fn shortest_batch_ns(&self) -> f64 {
        (1000.0 * self.step_ns).max(100.0 * self.read_ns)
    }
}

/// What one pass found out about one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Operations in each sample.
    pub iterations: u64,
    /// Samples in the benchmark's unit, overhead taken off.
    pub values: Vec<f64>,
    /// Samples before overhead was taken off; empty where nothing was.
    pub raw: Vec<f64>,
    /// Disturbed samples.
    pub disturbed: Vec<Disturbance>,
    /// Whether the benchmark observed the values itself, so that they are no work of the core's.
    pub observed: bool,
    /// How many bytes an operation moves, if the values are rates in B/s and not times.
    #[serde(default)]
    pub bytes: Option<f64>,
    /// How many copies of the operation ran at once, if their throughput was measured: the values are operations of all of them per
    /// second, or bytes per second where an operation moves some.
    #[serde(default)]
    pub copies: Option<u32>,
    /// Up to where values cannot be told from zero, in the benchmark's unit, if not all can.
    #[serde(default)]
    pub resolution: Option<f64>,
    /// Between which the value is as far as the method can tell, if that is coarser than what differs from round to round.
    #[serde(default)]
    pub limits: Option<(f64, f64)>,
    /// Why nothing larger than the values was tried, though what they are to tell is larger.
    #[serde(default)]
    pub larger: Option<String>,
    /// How far the clock's grain may put a value off, in the benchmark's unit: half a step for each batch that is a part of it.
    #[serde(default)]
    pub grain: f64,
    /// Core frequency around the samples: their median.
    pub core_ghz: Option<f64>,
    /// Core frequency at each sample, in GHz, 0 where unknown; empty if nobody looked.
    #[serde(default)]
    pub sample_ghz: Vec<f64>,
    /// Share of the time in which the core was ours, in percent, if anybody looked.
    #[serde(default)]
    pub alone_percent: Option<f64>,
    /// What looks were compared with: their ratio on a core of our own, as far as it was known then.
    #[serde(default)]
    pub alone_ratio: Option<f64>,
    /// How long was waited for that, in ns.
    #[serde(default)]
    pub waited_ns: f64,
    /// The CPU it was measured on.
    #[serde(default)]
    pub cpu: Option<u32>,
    /// How long all of this pass took, set-up and waiting included, in ns.
    #[serde(default)]
    pub took_ns: f64,
    /// Claims and counts.
    pub evidence: Vec<Evidence>,
    /// Expectations on the cost in core cycles, judged when all rounds are in.
    pub cycle_floor: Option<f64>,
    /// Named numbers beside the main one.
    pub details: BTreeMap<String, f64>,
    /// Those that follow from it.
    #[serde(default)]
    pub follows: BTreeMap<String, Follows>,
    /// Operations timed singly, as `[upper bound in ns, count]`.
    pub histogram: Vec<(f64, u64)>,
}

/// What a worker knows when it makes a [`Bencher`](super::Bencher).
pub struct Situation<'a> {
    /// Which pass.
    pub pass: Pass,
    /// How much to take.
    pub effort: &'a Effort,
    /// The calibrated clock.
    pub clock: &'a Clock,
    /// What it costs.
    pub clock_cost: ClockCost,
    /// Operations per sample if an earlier round found them, so that all rounds take the same.
    pub iterations: Option<u64>,
    /// The CPU this process is pinned to.
    pub cpu: u32,
    /// The CPUs this run may use.
    pub allowed: &'a [u32],
    /// What looks at their cores show while these are ours.
    pub cores: &'a Cores,
    /// Seed of this round.
    pub seed: u64,
}
