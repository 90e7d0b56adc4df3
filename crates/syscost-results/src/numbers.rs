//! "The latency numbers every programmer should know", as they are on the measured machine.
//!
//! After Jeff Dean's list ("Numbers Everyone Should Know", 2009), with the rows of a run in place of its figures.

mod list;

use serde::Serialize;

use self::list::{L1, LIST, Scale, Wanted};
use crate::{Estimate, Flag, Measurement, Run, Status, Unit};

/// A benchmark's id and the parameters of a case.
pub type Place = (&'static str, &'static [(&'static str, &'static str)]);

/// A parameter that may have any value: the widest vectors of a machine.
pub const ANY: &str = "*";

/// The list of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Numbers {
    /// Id of the run.
    pub run: String,
    /// What the human scale calls one second, always `L1 cache hit`; null if that was not measured.
    pub second: Option<String>,
    /// The lines, in the list's order.
    pub numbers: Vec<Number>,
}

impl Numbers {
    /// Whether the run measured a good part of them: a look at a few rows did not.
    pub fn are_many(&self) -> bool {
        let known = self.numbers.iter().filter(|line| line.median_ns.is_some());
        3 * known.count() >= self.numbers.len()
    }
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Number {
    /// What it is, for people.
    pub title: String,
    /// The row that tells it; null while no benchmark does.
    pub row: Option<String>,
    /// The time in ns; null without one.
    pub median_ns: Option<f64>,
    /// Lower end of its 95 % confidence interval, in ns.
    pub ci95_low_ns: Option<f64>,
    /// Upper end of it, in ns.
    pub ci95_high_ns: Option<f64>,
    /// The time on the human scale, in seconds.
    pub human_s: Option<f64>,
    /// Why there is no number.
    pub reason: Option<String>,
    /// The flags of its row.
    pub flags: Vec<Flag>,
    /// Which line of the list it is: the title may name a directory, and not every run has every line.
    #[serde(skip)]
    pub line: usize,
}

/// The ids of the benchmarks the list draws on, with the case's parameters that it needs; [`ANY`] stands for any value. Without those that not
/// every run can have.
pub fn sources() -> impl Iterator<Item = Place> {
    LIST.iter()
        .filter(|wanted| !wanted.is_optional)
        .flat_map(|wanted| [Some((wanted.id, wanted.case)), wanted.otherwise])
        .flatten()
}

/// The numbers every programmer should know, from a run. `is_known` tells whether this program has a benchmark of an id.
pub fn numbers(run: &Run, is_known: impl Fn(&str) -> bool) -> Numbers {
    let mut numbers: Vec<Number> = LIST
        .iter()
        .enumerate()
        .map(|(line, wanted)| {
            let number = number(wanted, run, &is_known);
            (wanted, Number { line, ..number })
        })
        .filter(|(wanted, number)| !wanted.is_optional || number.row.is_some())
        .map(|(_, number)| number)
        .collect();
    let time = |title: &str| {
        let found = numbers.iter().find(|number| number.title == title)?;
        Some((
            title.to_owned(),
            found.median_ns.filter(|time| *time > 0.0)?,
        ))
    };
    // Never another base: what feels like a minute in one run must not feel like an hour in the next.
    let second = time(L1);
    if let Some((_, second)) = second {
        for number in &mut numbers {
            number.human_s = number.median_ns.map(|time| time / second);
        }
    }
    Numbers {
        run: run.id.clone(),
        second: second.map(|(title, _)| title),
        numbers,
    }
}

fn number(wanted: &Wanted, run: &Run, is_known: &impl Fn(&str) -> bool) -> Number {
    // Of several directories the first that has a number.
    let row_of = |place: Place| {
        let rows = || run.measurements.iter().filter(|row| is_told_by(place, row));
        rows()
            .find(|row| row.status == Status::Ok)
            .or_else(|| rows().next())
    };
    let first = row_of((wanted.id, wanted.case));
    let otherwise = || wanted.otherwise.and_then(row_of);
    let row = match first {
        Some(row) if row.status == Status::Ok => first,
        _ => otherwise().or(first),
    };
    let directory = row.and_then(|row| row.case.get("dir"));
    let title = match directory.filter(|_| run.directories.len() > 1) {
        Some(label) => format!("{}, dir={label}", wanted.title),
        None => wanted.title.to_owned(),
    };
    let mut number = Number {
        title,
        row: row.map(|row| row.name.clone()),
        median_ns: None,
        ci95_low_ns: None,
        ci95_high_ns: None,
        human_s: None,
        reason: None,
        flags: row.map(|row| row.flags.clone()).unwrap_or_default(),
        line: 0,
    };
    let Some(row) = row else {
        number.reason = Some(if is_known(wanted.id) {
            "not part of this run".to_owned()
        } else {
            "not measured by this version yet".to_owned()
        });
        return number;
    };
    match (row.status, times(wanted.scale, row.unit, &row.estimate)) {
        (Status::Ok, Some([median, low, high])) => {
            number.median_ns = median;
            number.ci95_low_ns = low;
            number.ci95_high_ns = high;
        }
        (status, _) => {
            let why = match status {
                Status::Ok => "its unit is no time",
                Status::Withheld => "withheld: the evidence refuted it",
                Status::BelowResolution => "below resolution",
                Status::AboveRange => "larger than all that was tried",
                Status::Unsupported => "unsupported here",
                Status::Failed => "failed",
                Status::Skipped => "skipped",
            };
            number.reason = Some(match &row.reason {
                Some(reason) => format!("{why}: {reason}"),
                None => why.to_owned(),
            });
        }
    }
    number
}

fn is_told_by((id, case): Place, row: &Measurement) -> bool {
    // Exactly this case: one more parameter is another row, e.g. the same call through the C library.
    let has = |key: &str, value: &str| {
        let has = row.case.get(key);
        has.is_some_and(|has| has == value || value == ANY)
    };
    row.id == id && row.case.len() == case.len() && case.iter().all(|(key, value)| has(key, value))
}

/// Median and interval in ns; `None` if the unit does not fit the scale.
fn times(scale: Scale, unit: Unit, estimate: &Estimate) -> Option<[Option<f64>; 3]> {
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        ..
    } = *estimate;
    match (scale, unit) {
        (Scale::Once, Unit::Nanoseconds) => Some([median, ci95_low, ci95_high]),
        (Scale::Holds(parts), Unit::Nanoseconds) => {
            Some([median, ci95_low, ci95_high].map(|time| time.map(|time| time / parts)))
        }
        // A high rate is a short time, so the ends of the interval change places.
        (Scale::Bytes(bytes), Unit::BytesPerSecond) => {
            let time = |rate: Option<f64>| {
                rate.filter(|rate| *rate > 0.0)
                    .map(|rate| 1e9 * bytes / rate)
            };
            Some([time(median), time(ci95_high), time(ci95_low)])
        }
        _ => None,
    }
}
