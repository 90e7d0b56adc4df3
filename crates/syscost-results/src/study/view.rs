//! What a run says about one row, in the ways a study views it.

use serde::Serialize;

use super::{Cycles, means};
use crate::stats::order::{median, quantile};
use crate::{Measurement, RoundSamples, Run, Status, Unit};

/// A figure of this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// The figure, in the quantity's unit.
    pub value: f64,
    /// Lower end: of the 95 % confidence interval, or the smallest value that the published
    /// procedure printed.
    pub low: Option<f64>,
    /// Upper end, likewise.
    pub high: Option<f64>,
    /// The figure in the study's cycles; null if it is not a time, or the frequency is not known.
    pub cycles: Option<f64>,
    /// The range that contains most of it, by which figures are compared: the middle half of the
    /// results, or the interval.
    #[serde(skip)]
    pub(super) middle: Option<(f64, f64)>,
    /// The number of the procedure's results, or of fresh processes.
    pub from: u64,
}

impl View {
    /// A figure that was rounded to this.
    pub(super) fn printed(value: f64, last_digit: f64) -> Self {
        View {
            value,
            low: None,
            high: None,
            cycles: None,
            middle: Some((value - last_digit / 2.0, value + last_digit / 2.0)),
            from: 1,
        }
    }

    /// This many times the figure.
    fn times(&self, factor: f64) -> Self {
        View {
            value: factor * self.value,
            low: self.low.map(|low| factor * low),
            high: self.high.map(|high| factor * high),
            middle: self.middle.map(|(low, high)| (factor * low, factor * high)),
            cycles: self.cycles.map(|cycles| factor * cycles),
            from: self.from,
        }
    }

    /// Whether it cannot be told apart from zero.
    pub fn may_be_nothing(&self) -> bool {
        super::comparison::may_be_nothing(self)
    }

    /// The figure in cycles, if they are known.
    pub fn in_cycles(&self) -> Option<Self> {
        Some(self.times(self.cycles.filter(|_| self.value != 0.0)? / self.value))
    }
}

/// A figure, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Seen {
    /// The figure.
    Figure(View),
    /// There is none.
    Missing {
        /// Why, for people.
        reason: String,
    },
}

impl Seen {
    /// The figure multiplied by this.
    pub(super) fn times(self, factor: f64) -> Seen {
        match self {
            Seen::Figure(view) => Seen::Figure(view.times(factor)),
            missing => missing,
        }
    }

    /// The figure, if there is one.
    pub fn figure(&self) -> Option<&View> {
        match self {
            Seen::Figure(view) => Some(view),
            Seen::Missing { .. } => None,
        }
    }

    /// Why there is none, if so.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Seen::Figure(_) => None,
            Seen::Missing { reason } => Some(reason),
        }
    }
}

fn missing(reason: impl Into<String>) -> Seen {
    let reason = reason.into();
    Seen::Missing { reason }
}

/// Marks rows that need a far end.
const REMOTE: &str = "path=remote";

/// The row that a study means by this name, the first if there are several, if it has a number in
/// the quantity's unit; otherwise why there is none.
pub(super) fn row<'r>(run: &'r Run, name: &str, unit: Unit) -> Result<&'r Measurement, String> {
    let mut rows = run.measurements.iter();
    Err(match rows.find(|row| means(name, &row.name)) {
        None if name.contains(REMOTE) => {
            "no far end was given: --peer HOST --token-file FILE".to_owned()
        }
        None => "not part of this run".to_owned(),
        Some(row) if row.status == Status::Ok && row.unit == unit => return Ok(row),
        Some(row) if row.status == Status::Ok => format!(
            "its row is in {}, the quantity in {}",
            row.unit.symbol(),
            unit.symbol()
        ),
        Some(row) => match (&row.reason, row.status) {
            (Some(reason), Status::Withheld) => format!("withheld: {reason}"),
            (Some(reason), Status::AboveRange) => match (row.estimate.ci95_low, row.unit) {
                (Some(low), Unit::Bytes) => {
                    format!("larger than {:.0} MiB: {reason}", low / f64::from(1 << 20))
                }
                (_, _) => format!("above range: {reason}"),
            },
            (Some(reason), _) => reason.clone(),
            (None, status) => status.words().to_owned(),
        },
    })
}

/// What the published procedure printed, on a shared core or not: the median of all its results,
/// and their range.
pub(super) fn as_published(run: &Run, row: &Measurement, cycles: Cycles) -> Seen {
    let rounds = row.samples.iter().flatten();
    let all = rounds.flat_map(|round| printed(round).iter().copied());
    results(run, row, cycles, all.collect())
        .unwrap_or_else(|| missing("its samples were not kept (--no-samples)"))
}

/// What the procedure printed in a round: only the overhead that it subtracts itself is subtracted.
fn printed(round: &RoundSamples) -> &[f64] {
    match round.raw.is_empty() {
        true => &round.values,
        false => &round.raw,
    }
}

/// The same procedure, from undisturbed results only.
pub(super) fn undisturbed(run: &Run, row: &Measurement, cycles: Cycles) -> Seen {
    if row.estimate.undisturbed_percent.is_none() {
        return missing("whether neighbours disturbed a result is not known");
    }
    let mut quiet = Vec::new();
    for round in row.samples.iter().flatten() {
        let disturbed: Vec<usize> = round
            .disturbed
            .iter()
            .map(|one| one.sample as usize)
            .collect();
        let values = printed(round).iter().enumerate();
        quiet.extend(
            values
                .filter(|(sample, _)| !disturbed.contains(sample))
                .map(|(_, value)| *value),
        );
    }
    results(run, row, cycles, quiet)
        .unwrap_or_else(|| missing("a neighbour disturbed every result"))
}

/// The median of results, and their range; `None` if there are none.
fn results(run: &Run, row: &Measurement, cycles: Cycles, all: Vec<f64>) -> Option<Seen> {
    let value = median(&all)?;
    Some(Seen::Figure(View {
        value,
        low: all.iter().copied().reduce(f64::min),
        high: all.iter().copied().reduce(f64::max),
        middle: quantile(&all, 0.25).zip(quantile(&all, 0.75)),
        cycles: cycles_of(run, row, value, cycles),
        from: all.len() as u64,
    }))
}

/// syscost's own figure.
pub(super) fn estimate(run: &Run, row: &Measurement, cycles: Cycles) -> Seen {
    let Some(value) = row.estimate.median else {
        return missing("it has no median");
    };
    Seen::Figure(View {
        value,
        low: row.estimate.ci95_low,
        high: row.estimate.ci95_high,
        middle: row.estimate.ci95_low.zip(row.estimate.ci95_high),
        cycles: cycles_of(run, row, value, cycles),
        from: u64::from(row.estimate.rounds),
    })
}

fn cycles_of(run: &Run, row: &Measurement, value: f64, cycles: Cycles) -> Option<f64> {
    if row.unit != Unit::Nanoseconds {
        return None;
    }
    match cycles {
        // The row's own median is from undisturbed samples; its other values are from the same
        // frequency.
        Cycles::Core => {
            let by_median =
                || Some(row.core_cycles? / row.estimate.median.filter(|median| *median > 0.0)?);
            Some(value * by_median().or_else(|| usual_ghz(row))?)
        }
        Cycles::Tsc => (run.clock.source == "tsc").then_some(value * run.clock.ghz),
    }
}

/// The frequency of the core around a row's rounds, in GHz: their median.
fn usual_ghz(row: &Measurement) -> Option<f64> {
    let rounds = row.samples.iter().flatten();
    let all: Vec<f64> = rounds
        .filter_map(|round| round.core_ghz.or(round.usual_ghz))
        .collect();
    median(&all)
}

#[cfg(test)]
pub(super) mod tests {
    use super::View;

    /// A figure, with its ends and its middle half at this distance on either side.
    pub(in super::super) fn view(value: f64, half: f64) -> View {
        View {
            value,
            low: Some(value - half),
            high: Some(value + half),
            middle: Some((value - half, value + half)),
            cycles: None,
            from: 1,
        }
    }
}
