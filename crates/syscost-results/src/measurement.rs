//! One row of a run: what was measured, what it costs, how sure that is, and what proves it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::evidence::{Claim, ClaimId, Evidence, Fact, RefutedBy, Verdict};
use crate::renamed::rename;
use crate::role::Role;
use crate::row_name;
pub use crate::unit::Unit;

/// One measured case of one benchmark; by default one that was not run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measurement {
    /// Id and case, e.g. `syscall.null{call=getppid}`; unique in a run.
    pub name: String,
    /// Id of the benchmark, e.g. `syscall.null`.
    pub id: String,
    /// The case's parameters; empty for a benchmark of one case.
    pub case: BTreeMap<String, String>,
    /// What it is, for people.
    pub title: String,
    /// Rises when what the benchmark measures changes under the same name; only equal revisions are compared.
    #[serde(default = "first_revision")]
    pub revision: u32,
    /// The unit of every number of `estimate` and `samples`.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether there is a number, and if not, why.
    pub status: Status,
    /// Why there is no number, or what to know about it; null when all is well.
    pub reason: Option<String>,
    /// The numbers, in `unit`.
    pub estimate: Estimate,
    /// The median in core cycles; null if the unit is no time or the core's frequency is not known.
    pub core_cycles: Option<f64>,
    /// How much of the cost is work of the core; null where the unit is neither a time nor a rate,
    /// or the core's frequency is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_share: Option<CoreShare>,
    /// How far runs of this machine differ although nothing changed: a part of the interval. Null
    /// without an interval, and in documents of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_runs: Option<BetweenRuns>,
    /// Its level in each earlier run of this machine in which all recorded facts were the same, the
    /// oldest first: what `between_runs` is learnt from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierRun>,
    /// By what it was judged which samples are of a core of their own; null where the core was not
    /// probed, and in documents of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// What a careful reader should know about the samples.
    pub flags: Vec<Flag>,
    /// What the benchmark claimed and what was counted.
    pub evidence: Vec<Evidence>,
    /// Numbers beside the main one, each naming its unit, e.g. `longest_gap_ns`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, f64>,
    /// Operations timed singly, as `[upper bound in unit, count]` with relative width 1 %; absent
    /// when not timed singly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<(f64, u64)>,
    /// The raw samples by round; absent with `--no-samples`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Vec<RoundSamples>>,
    /// What it stands for in reports; no part of the document, but known by its name to whoever has
    /// the catalogue of benchmarks.
    #[serde(skip)]
    pub roles: Vec<Role>,
}

/// Documents from before revisions were recorded contain first revisions.
pub(crate) fn first_revision() -> u32 {
    1
}

/// Which direction of a measurement is good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// A lower value is better: costs.
    #[default]
    Lower,
    /// A higher value is better: rates.
    Higher,
}

impl Measurement {
    /// Whether it stands for this.
    pub fn is(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Whether its number is the price in company, because its own price is not known.
    pub fn is_in_company(&self) -> bool {
        self.flags.contains(&Flag::Disturbed)
    }

    /// Gives it the name that such a row has now, if it was named otherwise.
    pub(crate) fn rename(&mut self) {
        if rename(&mut self.name) {
            self.id = row_name::id(&self.name).to_owned();
            let case = row_name::parameters(&self.name);
            let case = case.map(|(key, value)| (key.to_owned(), value.to_owned()));
            self.case = case.collect();
        }
    }

    /// Its group: the id before its first dot.
    pub fn group(&self) -> &str {
        row_name::group(&self.id)
    }

    /// What it measures in its group: the id after its first dot.
    pub fn operation(&self) -> &str {
        row_name::operation(&self.id)
    }

    /// The numbers that its status allows.
    pub fn shown(&self) -> Shown<'_> {
        let all = &self.estimate;
        let nothing = Estimate {
            rounds: all.rounds,
            samples: all.samples,
            ..Estimate::default()
        };
        let bound = Estimate {
            undisturbed_percent: all.undisturbed_percent,
            ..nothing.clone()
        };
        let (estimate, has_details) = match self.status {
            Status::Ok if all.median.is_some() => {
                let best = self.best();
                (
                    Estimate {
                        best,
                        ..all.clone()
                    },
                    true,
                )
            }
            Status::BelowResolution => {
                let ci95_high = all.ci95_high;
                (Estimate { ci95_high, ..bound }, false)
            }
            Status::AboveRange => {
                let ci95_low = all.ci95_low;
                (Estimate { ci95_low, ..bound }, true)
            }
            _ => (nothing, false),
        };
        Shown {
            estimate,
            details: if has_details {
                &self.details
            } else {
                &NO_DETAILS
            },
            rounds: match self.status.has_figures() {
                true => self.samples.as_deref().unwrap_or_default(),
                false => &[],
            },
        }
    }

    /// The best sample; for a cost also from documents that kept only the smallest.
    pub fn best(&self) -> Option<f64> {
        self.estimate.best.or(match self.better {
            Better::Lower => self.estimate.min,
            Better::Higher => None,
        })
    }

    /// Leaves only how much was measured, as where a number is withheld: a refuted number is no
    /// number, not even in the raw samples.
    pub fn drop_figures(&mut self) {
        self.estimate = Estimate {
            rounds: self.estimate.rounds,
            samples: self.estimate.samples,
            ..Estimate::default()
        };
        (self.core_cycles, self.core_share, self.between_runs) = (None, None, None);
        self.earlier = Vec::new();
        (self.flags, self.histogram, self.samples) = (Vec::new(), Vec::new(), None);
        self.details.clear();
    }
}

static NO_DETAILS: BTreeMap<String, f64> = BTreeMap::new();

/// What may be shown of a row: nothing of a withheld one, whatever its document holds.
#[derive(Debug, Clone)]
pub struct Shown<'r> {
    /// Its numbers, in its unit; of a bound nothing but it. Without a median, `ci95_high` is the
    /// bound of a cost below resolution, and `ci95_low` that of a value above range.
    pub estimate: Estimate,
    /// The numbers beside them; none below resolution.
    pub details: &'r BTreeMap<String, f64>,
    /// The samples, by round.
    pub rounds: &'r [RoundSamples],
}

/// Whether a measurement has a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There is a number, and no evidence against it.
    Ok,
    /// The evidence refuted the claim: the number is withheld.
    Withheld,
    /// The cost cannot be distinguished from zero; `ci95_high` bounds it.
    BelowResolution,
    /// The value is larger than all that was tried; `ci95_low` bounds it.
    AboveRange,
    /// This machine cannot do it.
    Unsupported,
    /// The operation failed, crashed or hung.
    Failed,
    /// It was not run: interrupted, out of budget, or computed from a row that has no number.
    #[default]
    Skipped,
}

impl Status {
    /// All statuses, those with a number first.
    pub const ALL: [Status; 7] = [
        Status::Ok,
        Status::BelowResolution,
        Status::AboveRange,
        Status::Withheld,
        Status::Failed,
        Status::Unsupported,
        Status::Skipped,
    ];

    /// In a word or two, e.g. `below resolution`.
    pub fn words(self) -> &'static str {
        match self {
            Status::Ok => "measured",
            Status::Withheld => "withheld",
            Status::BelowResolution => "below resolution",
            Status::AboveRange => "above range",
            Status::Unsupported => "unsupported",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
        }
    }

    /// Whether there is a number, or at least a bound.
    pub fn has_figures(self) -> bool {
        use Status::{AboveRange, BelowResolution, Ok};
        matches!(self, Ok | BelowResolution | AboveRange)
    }
}

/// The numbers of one measurement, each in its unit; null where there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The price on a core of our own: median of the per-process medians, or of all such samples where
    /// fewer than six processes have any. Of a row flagged `disturbed` the price in company.
    pub median: Option<f64>,
    /// Lower end of the 95 % confidence interval of the median; null below two rounds.
    /// The bound when the status is `above_range`.
    pub ci95_low: Option<f64>,
    /// Upper end of it; the bound when the status is `below_resolution`.
    pub ci95_high: Option<f64>,
    /// Smallest of the samples that the median is from.
    pub min: Option<f64>,
    /// Best of them: the smallest cost, the largest rate. Null in documents of before it was kept;
    /// see [`Measurement::best`].
    #[serde(default)]
    pub best: Option<f64>,
    /// Median absolute deviation of the per-process medians.
    pub mad: Option<f64>,
    /// 99th percentile over operations timed singly; null when they were not.
    pub p99: Option<f64>,
    /// The median before overhead was taken off; equal to `median` where nothing was.
    pub raw_median: Option<f64>,
    /// How far the steps of the clock alone may put the median off; a part of its interval. Null
    /// where they cannot.
    #[serde(default)]
    pub clock_grain: Option<f64>,
    /// Coverage of the interval for independent rounds, e.g. 0.961; null without an interval.
    #[serde(default)]
    pub coverage: Option<f64>,
    /// Share of the samples that nothing disturbed, in percent; null where it was not checked
    /// whether the core was shared. The median and its interval are from these; without any from those
    /// in company, and the row is flagged `disturbed`.
    #[serde(default)]
    pub undisturbed_percent: Option<f64>,
    /// The price in company: median over processes of the samples taken while something else ran on
    /// the core as well; null if there are too few.
    #[serde(default)]
    pub shared_median: Option<f64>,
    /// Lower end of its 95 % confidence interval; null with it, and of one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_ci95_high: Option<f64>,
    /// Fresh processes that the median is from.
    pub rounds: u32,
    /// Samples over all processes, whether used or not.
    pub samples: u64,
}

/// How much of a row's cost at the usual frequency of its samples
/// ([`RoundSamples::usual_ghz`](RoundSamples::usual_ghz), F) is core cycles: at a frequency f
/// it costs `share * F / f + 1 - share` times as much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreShare {
    /// The share, 0 to 1; the rest waits for memory, devices, other CPUs.
    pub share: f64,
    /// Lower end of its 95 % confidence interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}

/// By what it is judged which samples of a row are of a core of their own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sharing {
    /// Up to this many times the ratio that a core of its own shows, a sample counts: 1.05.
    pub limit: f64,
    /// What says so.
    pub basis: LimitBasis,
}

/// What says up to which ratio a probe shows a core of our own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitBasis {
    /// It lies between ratios of a core of our own and those of a shared one: both were seen.
    Gap,
    /// Nothing: only a core of our own was seen, or only a shared one.
    #[default]
    Assumed,
    /// The row's own samples: up to here its values do not change.
    Effect,
}

/// How much a row differs between runs of one machine that no change explains.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BetweenRuns {
    /// Standard deviation of the runs' medians, as a share of them: 0.01 is 1 %.
    pub deviation: f64,
    /// How many earlier runs say so; 0 where it is believed.
    pub runs: u32,
    /// Degrees of freedom of the deviation, those of the belief included; null in older documents,
    /// which took it for exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freedom: Option<u32>,
}

/// The level of a row in an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierRun {
    /// Id of the run.
    pub run: String,
    /// Natural logarithm of what it costs at the frequency of this run's costs; of what is no time,
    /// the negative logarithm.
    pub level: f64,
    /// Standard error of that.
    pub error: f64,
}

/// What a careful reader should know about the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// Fewer than six rounds count: the interval is not exact; of one there is none.
    TooFewRounds,
    /// The interval was still wider than asked when rounds or budget ended.
    NotConverged,
    /// Samples moved from the first to the last third of a process.
    NotSteady,
    /// The samples have two modes.
    TwoModes,
    /// Neighbouring samples resemble each other: fewer independent samples than counted.
    Autocorrelated,
    /// More than a tenth of the samples were disturbed (moved, switched out, delayed), and all of
    /// them count, because it was not checked whether the core was shared.
    Noisy,
    /// Overhead exceeds half of the raw value.
    LowTrust,
    /// The core's frequency moved, or its two chains disagreed, so there are no core cycles. Of
    /// older documents only.
    FrequencyUnsteady,
    /// The number is the price in company: an own core was not seen. In documents without `sharing`,
    /// too few samples were undisturbed, so all of them are used.
    Disturbed,
    /// Some evidence could not be had here.
    PartlyUnverified,
}

/// The samples of one round: one fresh process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundSamples {
    /// Number of the round, from 0.
    #[serde(default)]
    pub round: u32,
    /// The CPU that measured.
    pub cpu: u32,
    /// Operations in each sample.
    pub iterations: u64,
    /// Core frequency around the samples, in GHz, by chains of dependent instructions: their
    /// median; null where it is not known.
    pub core_ghz: Option<f64>,
    /// Core frequency at each sample, in GHz; absent where it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sample_ghz: Vec<f64>,
    /// The frequency at which the row's cost is given, in GHz: this machine's usual one, or that of
    /// these samples, for work that lowers it. Null where it is not known.
    #[serde(default)]
    pub usual_ghz: Option<f64>,
    /// Share of the probes, while these samples were taken, that found nothing else running on the core, in
    /// percent; null where that was not checked.
    #[serde(default)]
    pub alone_percent: Option<f64>,
    /// The samples in the measurement's unit, overhead taken off, in the order they were taken.
    pub values: Vec<f64>,
    /// What probes of the core showed around each sample: time of independent over that of dependent
    /// instructions, in thousandths, the highest of those that decide; 65535 stands for all above. Absent
    /// where the core was not probed, and in documents of before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<u16>,
    /// Up to which of these ratios, as a plain number, a sample counts as one of a core of its own. Null
    /// where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_limit: Option<f64>,
    /// The samples before overhead was taken off; absent where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<f64>,
    /// Other quantities of the same samples, by name, each with its unit: `wall_ns` of a command whose
    /// values are its CPU time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub also: BTreeMap<String, Vec<f64>>,
    /// Disturbed samples: index into `values` and cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<Disturbance>,
    /// Time stolen by the hypervisor during the round, in percent; null where it is not reported.
    #[serde(default)]
    pub steal_percent: Option<f64>,
}

/// One disturbed sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// Index of the sample in its round.
    pub sample: u32,
    /// What happened to it.
    pub cause: Cause,
}

/// What disturbed a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The task moved to another CPU.
    Migrated,
    /// The kernel switched the task out against its will.
    Preempted,
    /// A task of the operation was ready and waited for a CPU while others ran.
    RunDelay,
    /// Another program was ready to run on the one CPU of tasks that sleep and wake each other: the
    /// kernel then switches between them in another way.
    Contended,
    /// Interrupts took a part of its time.
    Interrupted,
    /// What it was to find in a cache had been displaced from there by others.
    Displaced,
    /// Something else ran on the core as well, right before or right after.
    SharedCore,
    /// The core ran at another frequency than it mostly did during the run. In older documents
    /// only: samples are converted to one frequency.
    OtherFrequency,
}

impl Cause {
    /// In words, as what disturbed a sample.
    pub fn words(self) -> &'static str {
        match self {
            Cause::Migrated => "a move to another CPU",
            Cause::Preempted => "preemption",
            Cause::RunDelay => "waiting for a CPU",
            Cause::Contended => "another program ready on their CPU",
            Cause::Interrupted => "interrupts",
            Cause::Displaced => "displaced cache contents",
            Cause::SharedCore => "SMT interference",
            Cause::OtherFrequency => "another core frequency",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_found_by_what_documents_call_it() {
        for unit in Unit::ALL {
            assert_eq!(Unit::from_symbol(unit.symbol()), Some(unit));
            let written = serde_json::to_value(unit).unwrap();
            assert_eq!(written.as_str(), Some(unit.symbol()));
        }
        assert_eq!(Unit::from_symbol("furlong"), None);
    }
}
