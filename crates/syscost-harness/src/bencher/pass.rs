//! The input of a pass over one case, and its output.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use syscost_results::measurement::Cause;
use syscost_results::{Bound, Claim, Evidence, RoundSamples};
use syscost_stats::order::median;
use syscost_sys::clock::Clock;

use super::Detail;
use crate::benchmark::Setup;
use crate::case::Case;
use crate::cores::Cores;
use crate::here::Here;

/// Which of the two passes a worker makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Takes samples.
    Timed,
    /// Counts what the operation does.
    Evidence,
}

/// Whether contents are written and compared as a whole, which takes longer than the operation: in
/// the evidence pass alone. Only a pass says so, so nobody does it where it is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compares(bool);

impl From<Pass> for Compares {
    fn from(pass: Pass) -> Self {
        Self(pass == Pass::Evidence)
    }
}

impl Compares {
    /// Whether all of the contents are.
    pub fn all(self) -> bool {
        self.0
    }
}

/// How much a timed pass takes, all times in ns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Samples per case.
    pub samples: u32,
    /// Warm-up before the first sample.
    pub warm_up_ns: f64,
    /// Target length of a batch.
    pub batch_ns: f64,
    /// Maximum time for all samples of a case; at least five are taken regardless.
    pub case_ns: f64,
    /// How long a case may wait in total for a core that does no other work.
    pub patience_ns: f64,
    /// Number of operations of a case to time individually, for the tail of their distribution, if
    /// they are long enough.
    pub singles: u32,
    /// Whether the kernel's tracepoint counts system calls in addition to the audit: opening it
    /// takes tens of milliseconds.
    pub second_witness: bool,
}

/// By what factor a round of a row with an expensive set-up is longer.
const EXPENSIVE_FACTOR: u32 = 2;

impl Effort {
    /// The effort for a row with such a set-up: expensive ones get fewer, longer rounds.
    pub fn with_setup(&self, setup: Setup) -> Effort {
        let factor = match setup {
            Setup::Cheap => 1,
            Setup::Expensive { .. } => EXPENSIVE_FACTOR,
        };
        Effort {
            samples: self.samples * factor,
            case_ns: self.case_ns * f64::from(factor),
            patience_ns: self.patience_ns * f64::from(factor),
            ..self.clone()
        }
    }
}

/// What the clock costs, so that a worker need not measure it again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockCost {
    /// Smallest step between two different readings, in ns.
    pub step_ns: f64,
    /// One start-stop pair, in ns.
    pub read_ns: f64,
}

impl ClockCost {
    /// Shortest batch whose time is accurate to a hundredth, in ns: 1000 steps and 100 pairs.
    pub(super) fn shortest_batch_ns(&self) -> f64 {
        (1000.0 * self.step_ns).max(100.0 * self.read_ns)
    }
}

/// What one pass found out about one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Its samples, as the document has them: the worker knows no round, steal or usual frequency.
    #[serde(flatten)]
    pub samples: RoundSamples,
    /// Whether the benchmark observed the values itself, in its own unit.
    pub observed: bool,
    /// How many bytes an operation moves, if the values are rates in B/s and not times.
    pub bytes: Option<f64>,
    /// How many copies of the operation ran simultaneously, if their throughput was measured: the
    /// values are then operations of all of them per second, or bytes per second where an operation
    /// moves bytes.
    pub copies: Option<u32>,
    /// The bound up to which values cannot be distinguished from zero, in the benchmark's unit, if
    /// there is one.
    pub resolution: Option<f64>,
    /// The bounds of the value as far as the method can resolve it, if that is coarser than the
    /// differences from round to round.
    pub limits: Option<(f64, f64)>,
    /// Why nothing larger than the values was tried, although the quantity is larger.
    pub larger: Option<String>,
    /// By how much the clock's grain may distort a value, in the benchmark's unit: half a step for
    /// each batch that it is computed from.
    pub grain: f64,
    /// The share of the time of the samples that count which a disturbance takes or explains.
    #[serde(default)]
    pub explained: BTreeMap<Cause, f64>,
    /// How long the pass waited for an undisturbed core, in ns.
    pub waited_ns: f64,
    /// How long all of this pass took, set-up and waiting included, in ns.
    pub took_ns: f64,
    /// How long an operation took where it is counted, in ns.
    #[serde(default)]
    pub counted_ns: Option<f64>,
    /// Claims and counts.
    pub evidence: Vec<Evidence>,
    /// Minimum cost in core cycles: a claim about the row's figure, judged with it.
    pub cycle_floor: Option<f64>,
    /// Named numbers beside the main one.
    pub details: BTreeMap<String, Detail>,
    /// Individually timed operations, as `[upper bound in ns, count]`.
    pub histogram: Vec<(f64, u64)>,
}

/// How much longer an operation may take where it is timed than where it is counted: a neighbour on the core
/// at most doubles either.
const AS_COUNTED: Bound = Bound::Within(0.5, 2.0);
const OTHERWISE: &str =
    "what is timed takes another time than what is counted: it may be another operation";

impl Findings {
    /// Judges how long an operation took in these rounds of a timed pass, against how long it took where it
    /// was counted, which these findings are of. `None` where that is not known, or either is not a time of
    /// an operation.
    pub fn judge_time(&self, timed: &Findings, rounds: &[RoundSamples]) -> Option<Evidence> {
        let counted_ns = self.counted_ns?;
        let own = rounds.iter().filter(|round| round.is_undisturbed());
        let medians = own.filter_map(|round| median(&round.values));
        let value = median(&medians.collect::<Vec<_>>())?;
        let timed_ns = timed.bytes.map_or(value, |bytes| bytes * 1e9 / value);
        let is_difference = rounds.iter().any(|round| !round.raw.is_empty());
        let is_of_an_operation = !timed.observed && timed.copies.is_none() && !is_difference;
        let claim =
            Claim::by_most("time of an operation where it is timed over where it is counted");
        let evidence = Evidence::judged(claim, AS_COUNTED, timed_ns / counted_ns, "clock");
        is_of_an_operation.then(|| evidence.tolerated(|| Some(OTHERWISE)))
    }
}

/// What is given to a measurement: the case, and the circumstances.
pub struct Situation<'a> {
    /// The case whose name is claimed.
    pub case: &'a Case,
    /// What is measured instead of the case, so that its evidence is put to the test.
    pub instead: Option<&'a Case>,
    /// The pass to make.
    pub pass: Pass,
    /// Maximum time of the case.
    pub time_limit: Duration,
    /// Whether the calls of what is timed are audited once all samples are taken.
    pub is_audited: bool,
    /// How much to measure.
    pub effort: &'a Effort,
    /// The calibrated clock.
    pub clock: &'a Clock,
    /// What the clock costs.
    pub clock_cost: ClockCost,
    /// Operations per sample if an earlier round found them, so that all rounds take the same.
    pub iterations: Option<u64>,
    /// The CPU this process is pinned to.
    pub cpu: u32,
    /// The CPUs this run may use, and what it measures against.
    pub here: &'a Here,
    /// What probes of cores show while these are undisturbed.
    pub cores: &'a Cores,
    /// Seed of this round.
    pub seed: u64,
}
