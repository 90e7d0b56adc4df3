//! What a run says about one row, in the ways a study views it.

use serde::Serialize;
use syscost_stats::order::{median, quantile};

use super::disturbed::Disturbed;
use super::scale::{Scale, least_digit};
use syscost_results::study::{Cycles, means};
use syscost_results::{Measurement, RoundSamples, Run, Status, Unit};

/// From so many results on there is a middle half of them; and that is wider than the 95 % confidence
/// interval of their median, which few results leave to their range.
pub(crate) const ENOUGH: u64 = 10;

/// A figure of this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// The figure, in the quantity's unit.
    pub value: f64,
    /// Lower end of what it is compared by: of the 95 % confidence interval, or of the results that
    /// the published procedure printed: of their middle half or, if they are few, of all. Null for a
    /// single one.
    pub low: Option<f64>,
    /// Upper end, likewise.
    pub high: Option<f64>,
    /// The steps in which results differ, if they are all multiples of such a one; otherwise zero.
    pub step: f64,
    /// The figure in the study's cycles; null if it is not a time of one core, or the frequency is not
    /// known.
    pub cycles: Option<f64>,
    /// The number of the procedure's results, or of fresh processes.
    pub from: u64,
}

impl View {
    /// A figure that was rounded to this.
    pub(crate) fn printed(value: f64, last_digit: f64) -> Self {
        View {
            value,
            low: Some(value),
            high: Some(value),
            step: last_digit,
            cycles: None,
            from: 1,
        }
    }

    fn times(&self, factor: f64) -> Self {
        View {
            value: factor * self.value,
            low: self.low.map(|low| factor * low),
            high: self.high.map(|high| factor * high),
            step: factor * self.step,
            cycles: self.cycles.map(|cycles| factor * cycles),
            from: self.from,
        }
    }

    /// The figure in cycles, if they are known.
    pub fn in_cycles(&self) -> Option<Self> {
        Some(self.times(self.cycles.filter(|_| self.value != 0.0)? / self.value))
    }

    /// The range by which it is compared: from `low` to `high`, each of which was rounded to a step;
    /// `None` for a single result.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half = self.step / 2.0;
        Some((self.low? - half, self.high? + half))
    }

    /// Whether its interval is the middle half of the results, which are many, and not their range.
    pub fn is_middle_half(&self) -> bool {
        self.from >= ENOUGH
    }

    /// Whether it is surely below zero, which no cost is.
    pub(crate) fn is_less_than_nothing(&self) -> bool {
        self.interval().is_some_and(|(_, high)| high < 0.0)
    }

    /// Whether it is no cost, or cannot be told apart from none.
    pub fn may_be_nothing(&self) -> bool {
        self.value <= 0.0 || self.interval().is_some_and(|(low, _)| low <= 0.0)
    }

    /// The figure with its unit, to the digits that its interval and its steps support.
    pub fn shown(&self, scale: Scale) -> String {
        scale.show_to(self.value, self.least_digit())
    }

    /// An end of its interval, likewise.
    pub fn end(&self, end: f64, scale: Scale) -> String {
        scale.show_to(end, self.least_digit())
    }

    fn least_digit(&self) -> f64 {
        let off = self
            .interval()
            .map_or(0.0, |(low, high)| (high - self.value).max(self.value - low));
        least_digit(off).max(self.step)
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
    pub(crate) fn times(self, factor: f64) -> Seen {
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
pub(crate) fn row<'r>(run: &'r Run, name: &str, unit: Unit) -> Result<&'r Measurement, String> {
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
/// and the middle half of them.
pub(crate) fn as_published(run: &Run, row: &Measurement, cycles: Cycles) -> Seen {
    results(run, row, cycles, all_printed(row))
        .unwrap_or_else(|| missing("its samples were not kept (--no-samples)"))
}

/// What the procedure printed in all rounds.
fn all_printed(row: &Measurement) -> Vec<f64> {
    let rounds = row.samples.iter().flatten();
    rounds
        .flat_map(|round| printed(round).iter().copied())
        .collect()
}

/// What the procedure printed in a round: only the overhead that it subtracts itself is subtracted.
pub(crate) fn printed(round: &RoundSamples) -> &[f64] {
    match round.raw.is_empty() {
        true => &round.values,
        false => &round.raw,
    }
}

/// The same procedure, from undisturbed results only.
pub(crate) fn undisturbed(run: &Run, row: &Measurement, cycles: Cycles) -> Seen {
    if row.estimate.undisturbed_percent.is_none() {
        return missing("whether SMT interference disturbed a result is not known");
    }
    let rounds = row.samples.iter().flatten();
    let quiet = rounds.flat_map(|round| {
        let is_quiet = |sample: usize| {
            let mut disturbed = round.disturbed.iter();
            disturbed.all(|one| one.sample as usize != sample)
        };
        let values = printed(round).iter().enumerate();
        values.filter_map(move |(sample, value)| is_quiet(sample).then_some(*value))
    });
    let quiet = quiet.collect();
    results(run, row, cycles, quiet).unwrap_or_else(|| missing(Disturbed::of(row).to_string()))
}

/// The median of some results of a row, and their range or its middle half; `None` if there are none. Their
/// steps are those of all its results: a few equal ones have none.
fn results(run: &Run, row: &Measurement, cycles: Cycles, some: Vec<f64>) -> Option<Seen> {
    let value = median(&some)?;
    let from = some.len() as u64;
    let (low, high) = match from {
        1 => (None, None),
        2..ENOUGH => (quantile(&some, 0.0), quantile(&some, 1.0)),
        _ => (quantile(&some, 0.25), quantile(&some, 0.75)),
    };
    Some(Seen::Figure(View {
        value,
        low,
        high,
        step: step(&all_printed(row)),
        cycles: cycles_of(run, row, value, cycles),
        from,
    }))
}

/// The largest step that all values are multiples of; zero if they have none that matters.
fn step(values: &[f64]) -> f64 {
    /// Smaller ones, as a share of the largest value, change no figure.
    const MATTERS: f64 = 1e-3;
    /// What rounding leaves of a multiple, as a share of the largest value.
    const NOTHING: f64 = 1e-7;
    let magnitudes = || values.iter().map(|value| value.abs());
    let largest = magnitudes().fold(0.0, f64::max);
    // Euclid's algorithm.
    let step = magnitudes().fold(0.0, |mut step: f64, mut value| {
        while value > NOTHING * largest {
            (step, value) = (value, (step - value * (step / value).round()).abs());
        }
        step
    });
    // Equal values have no steps.
    let is_one = magnitudes().all(|value| value == largest);
    match step >= MATTERS * largest && !is_one {
        true => step,
        false => 0.0,
    }
}

/// syscost's own figure.
pub(crate) fn estimate(run: &Run, row: &Measurement, cycles: Cycles) -> Seen {
    let Some(value) = row.estimate.median else {
        return missing("it has no median");
    };
    Seen::Figure(View {
        value,
        low: row.estimate.ci95_low,
        high: row.estimate.ci95_high,
        step: 0.0,
        cycles: cycles_of(run, row, value, cycles),
        from: u64::from(row.estimate.rounds),
    })
}

fn cycles_of(run: &Run, row: &Measurement, value: f64, cycles: Cycles) -> Option<f64> {
    if row.unit != Unit::Nanoseconds {
        return None;
    }
    match cycles {
        Cycles::Core if !is_of_one_core(row) => None,
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

/// Prefix of the details with the share of the results in which two tasks had one CPU.
const ON_ONE_CPU: [&str; 2] = ["on_one_cpu_percent", "placed_on_one_cpu_percent"];

/// Whether a row's time passed on one core. That of a task on another CPU, or of the wait for one,
/// is none in which a core counts its cycles.
fn is_of_one_core(row: &Measurement) -> bool {
    let shares = ON_ONE_CPU.iter().filter_map(|name| row.details.get(*name));
    let is_apart = shares.into_iter().any(|percent| *percent < 100.0);
    row.estimate.undisturbed_percent.is_some() && !is_apart
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
pub(crate) mod tests {
    use super::*;
    use syscost_results::fixture::{row, run};

    /// A figure, with an interval of this much on either side.
    pub(crate) fn view(value: f64, half: f64) -> View {
        View {
            value,
            low: Some(value - half),
            high: Some(value + half),
            step: 0.0,
            cycles: None,
            from: 12,
        }
    }

    fn of(values: &[f64]) -> View {
        let row = row("study.x", vec![values.to_vec()]);
        let seen = as_published(&run("r", Vec::new()), &row, Cycles::Core);
        seen.figure().expect("results").clone()
    }

    #[test]
    fn many_results_are_compared_by_their_middle_half_and_few_by_their_range() {
        let few = of(&[5.01, 5.13, 5.29, 9.03]);
        assert_eq!((few.low, few.high), (Some(5.01), Some(9.03)));
        let mut many = vec![5.01, 5.13, 5.29];
        many.extend([5.2; 16]);
        many.push(99.07);
        let many = of(&many);
        assert_eq!((many.low, many.high), (Some(5.2), Some(5.2)));
        assert_eq!(of(&[5.0]).interval(), None);
    }

    #[test]
    fn equal_results_have_the_steps_of_all() {
        let some = vec![0.7; 12];
        let row = row("study.x", vec![[&some[..], &[0.6, 0.9, 1.1]].concat()]);
        let seen = results(&run("r", Vec::new()), &row, Cycles::Core, some);
        let seen = seen.expect("results");
        let view = seen.figure().expect("a figure");
        assert!((view.step - 0.1).abs() < 1e-9, "{view:?}");
        let (low, high) = view.interval().expect("an interval");
        assert!(low < 0.66 && high > 0.74, "{view:?}");
    }

    #[test]
    fn results_in_steps_are_known_to_half_a_step_and_shown_in_steps() {
        let tenths = of(&[0.6, 0.7, 0.7, 1.1]);
        assert!((tenths.step - 0.1).abs() < 1e-9, "{tenths:?}");
        let ns = Scale::of(Unit::Nanoseconds);
        assert_eq!(tenths.shown(ns), "0.7 ns");
        let (low, high) = tenths.interval().expect("four of them");
        assert!((low - 0.55).abs() < 1e-9 && (high - 1.15).abs() < 1e-9);
        assert_eq!(of(&[100.0, 110.0, 110.0]).step, 10.0);
        for none in [&[5.013, 5.134, 5.297][..], &[110.0, 110.0], &[0.0, 0.0]] {
            assert_eq!(of(none).step, 0.0, "{none:?}");
        }
    }

    #[test]
    fn what_two_cores_take_is_not_in_cycles_of_one() {
        let mut row = row("study.x", vec![vec![5.0; 3]]);
        row.estimate.undisturbed_percent = Some(50.0);
        assert!(is_of_one_core(&row));
        row.details.insert("on_one_cpu_percent".to_owned(), 0.0);
        assert!(!is_of_one_core(&row));
        row.details.clear();
        row.estimate.undisturbed_percent = None;
        assert!(!is_of_one_core(&row), "nobody knows where it ran");
    }
}
