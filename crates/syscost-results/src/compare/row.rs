//! A compared row.

use serde::Serialize;

use super::Change;
use crate::measurement::CoreShare;
use crate::{Better, Unit};

/// One compared row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Name of the row, e.g. `syscall.null{call=getppid}`.
    pub name: String,
    /// Id of its benchmark.
    pub id: String,
    /// Unit of `base` and `new`.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// What was compared: the times, or the core cycles they took.
    pub compared_in: ComparedIn,
    /// How much of the row's cost at the base's frequency is core cycles, by which both sides were
    /// converted to that frequency: as the documents say, or estimated from their processes. Null
    /// where the row was compared otherwise.
    pub core_share: Option<CoreShare>,
    /// Median of the base's side, in `unit`. Except where times were compared as measured, both
    /// medians are as if both cores had run at the base's frequency, so they may differ from those
    /// of the runs themselves.
    pub base: f64,
    /// Median of the new side, in `unit`.
    pub new: f64,
    /// New by base: of the geometric means of the processes of both sides, a tenth left out at either end,
    /// or of the rounds of runs measured in turn, where these move together;
    /// of the medians themselves only where no samples were kept.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % confidence interval; null with too few rounds on a side, or
    /// samples around zero.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
    /// Standard error of the ratio's logarithm: by processes or by runs, whichever differ more, by the
    /// core share and by the clock's steps; null where there is no interval.
    pub error: Option<f64>,
    /// Degrees of freedom of that error.
    pub freedom: Option<u32>,
    /// Whether it is known how much the row differs from run to run when nothing changed: from
    /// several runs on a side, further ones, or the kept runs that a document knows of. Runs
    /// measured in turn need none of these.
    pub knows_runs: bool,
    /// A change lies beyond `1 / (1 + margin)` or `1 + margin`: the larger of 2 % (1 % where the runs were
    /// measured in turn) and the metric's own A/A spread, which is how far two such sides may be apart when
    /// nothing changed.
    pub margin: f64,
    /// It is the same if its whole interval lies from `1 / (1 + same_within)` to `1 + same_within`: the
    /// larger of the same 2 or 1 % and 1.65 times that spread (1.84 times with six processes a
    /// side), but not over [`MAX_SAME`](super::MAX_SAME).
    pub same_within: f64,
    /// Chance of so large a ratio if nothing had changed (Student's t of the logarithms of the
    /// process medians), before correction for the number of rows; null where there is no interval.
    pub p_value: Option<f64>,
    /// What follows.
    pub verdict: Change,
    /// The smallest change, as a share, that this comparison would have called one in four of five
    /// cases ([`POWER`](super::POWER)), had it been the only one; null where there is no interval.
    pub detectable: Option<f64>,
    /// What a careful reader should know about this row, a sentence each.
    pub notes: Vec<String>,
    /// Whether a side is a price in company: a change may be one of the company.
    pub disturbed: bool,
    /// How many times longer company made the probes around the samples of either side at most, which a gate takes off a change of such
    /// a row; null of own prices, and where it is not known.
    pub company: Option<f64>,
    /// The medians in core cycles, of a time for which these were asked.
    pub cycles: Option<Pair>,
    /// The 99th percentiles in `unit`, where both sides have one; they have no interval, so no
    /// verdict. Null where core cycles were asked for: tails are known as times only.
    pub p99: Option<Pair>,
}

/// A number of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// On the base's side.
    pub base: f64,
    /// On the new side.
    pub new: f64,
}

impl Pair {
    /// New by base.
    pub fn ratio(self) -> f64 {
        self.new / self.base
    }
}

/// In which quantity two sides were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ComparedIn {
    /// Times or rates as measured.
    Time,
    /// Times or rates as they would be at one frequency of the core, by the row's core share.
    OneFrequency,
    /// Core cycles, because these were asked for.
    CoreCycles,
}

impl Row {
    /// What its verdict was judged by: how large a change is the same, of a row that is, else the margin.
    pub fn bound(&self) -> f64 {
        match self.verdict {
            Change::Same => self.same_within,
            Change::Worse | Change::Better | Change::Inconclusive => self.margin,
        }
    }

    /// By what share the metric became worse at least, by the nearer end of its interval: 0.05 if a cost rose by 5 % or more, beyond
    /// what company explains. `None` unless the verdict is Worse.
    pub fn worse_by_at_least(&self) -> Option<f64> {
        let (low, _) = self.times_worse()?;
        let company = if self.disturbed { self.company? } else { 1.0 };
        (self.verdict == Change::Worse).then_some(low / company - 1.0)
    }

    /// The ends of the interval of how many times worse the metric became.
    fn times_worse(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.ci95_low?, self.ci95_high?);
        Some(match self.better {
            Better::Lower => (low, high),
            Better::Higher => (1.0 / high, 1.0 / low),
        })
    }

    /// What a gate makes of it that fails on what became worse by this share.
    pub fn gated(&self, worse_by: f64) -> Gated {
        if self
            .worse_by_at_least()
            .is_some_and(|by| by >= worse_by && by > 0.0)
        {
            return Gated::Failed;
        }
        let is_below = |(_, high): (f64, f64)| high < 1.0 + worse_by;
        let is_no_worse = matches!(self.verdict, Change::Same | Change::Better);
        match self.is_own() && (is_no_worse || self.times_worse().is_some_and(is_below)) {
            true => Gated::Passed,
            false => Gated::Undecided,
        }
    }

    /// Whether both sides are own prices: what company costs is none of the program's.
    pub fn is_own(&self) -> bool {
        !self.disturbed
    }
}

/// What a gate makes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gated {
    /// It became worse by what the gate fails on, or more.
    Failed,
    /// It did not.
    Passed,
    /// Its interval, or what company explains, allows both.
    Undecided,
}
