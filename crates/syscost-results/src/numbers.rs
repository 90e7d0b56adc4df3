//! "The latency numbers every programmer should know", as measured on this machine.
//!
//! After Jeff Dean's list ("Numbers Everyone Should Know", 2009), with a run's rows in place of its
//! figures.

mod list;
mod side_by_side;

use self::list::{L1, LIST, Scale, Wanted};
pub use self::side_by_side::side_by_side;
use crate::{Estimate, Role, Run, Status, Unit, role};

/// The list of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// What the human scale calls one second: `L1 cache hit`, or the line that stands in for it;
    /// `None` if neither was measured.
    pub second: Option<String>,
    /// The lines, in the list's order.
    pub numbers: Vec<Number>,
}

impl Numbers {
    /// Whether the run measured a good part of the list; a run of a few selected rows did not.
    pub fn are_many(&self) -> bool {
        let known = self.numbers.iter().filter(|line| line.median_ns.is_some());
        3 * known.count() >= self.numbers.len()
    }
}

/// One line of the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Number {
    /// What it is, for people.
    pub title: String,
    /// The row that tells it; `None` if the run has none.
    pub row: Option<String>,
    /// The time in ns; `None` without one.
    pub median_ns: Option<f64>,
    /// Lower end of its 95 % confidence interval, in ns.
    pub ci95_low_ns: Option<f64>,
    /// Upper end of it, in ns.
    pub ci95_high_ns: Option<f64>,
    /// The time on the human scale, in seconds.
    pub human_s: Option<f64>,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Which line of the list it is: the title may name a directory, and not every run has every line.
    pub line: usize,
}

/// The titles of the list's lines, with what their rows stand for: those of stand-ins, too.
pub fn titles() -> impl Iterator<Item = (Role, &'static str)> {
    let all = LIST.iter();
    all.flat_map(|wanted| role::titles(wanted.role, wanted.title, wanted.stand_in))
}

/// The numbers every programmer should know, from a run.
pub fn numbers(run: &Run) -> Numbers {
    let mut numbers: Vec<Number> = LIST
        .iter()
        .enumerate()
        .map(|(line, wanted)| {
            let number = number(wanted, run);
            (wanted, Number { line, ..number })
        })
        .filter(|(wanted, number)| !wanted.is_optional || number.row.is_some())
        .map(|(_, number)| number)
        .collect();
    // Never another base: what feels like a minute in one run must not feel like an hour in the
    // next.
    let base = numbers.iter().find(|number| LIST[number.line].title == L1);
    let second = base.and_then(|number| {
        let time = number.median_ns.filter(|time| *time > 0.0)?;
        Some((number.title.clone(), time))
    });
    if let Some((_, second)) = second {
        for number in &mut numbers {
            number.human_s = number.median_ns.map(|time| time / second);
        }
    }
    Numbers {
        second: second.map(|(title, _)| title),
        numbers,
    }
}

fn number(wanted: &Wanted, run: &Run) -> Number {
    let found = role::find(run, wanted.role);
    let row = found.map(|(row, _)| row);
    let is_stand_in = found.is_some_and(|(_, role)| role != wanted.role);
    let stand_in = wanted.stand_in.filter(|_| is_stand_in);
    let title = stand_in.unwrap_or(wanted.title);
    let directory = row.and_then(|row| row.case.get("dir"));
    let title = match directory.filter(|_| run.directories.len() > 1) {
        Some(label) => format!("{title}, dir={label}"),
        None => title.to_owned(),
    };
    let mut number = Number {
        title,
        row: row.map(|row| row.name.clone()),
        ..Number::default()
    };
    let Some(row) = row else {
        number.reason = Some("not part of this run".to_owned());
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
                Status::AboveRange => "above range",
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
        // A high rate is a short time, so the ends of the interval are swapped.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;
    use crate::fixture::{of_role, run};

    fn measured(role: Role, value: f64) -> Measurement {
        of_role(role, role.name(), value)
    }

    /// The line whose title, the list's or the stand-in's, begins like this.
    fn line<'n>(numbers: &'n Numbers, title: &str) -> &'n Number {
        let mut lines = numbers.numbers.iter();
        lines
            .find(|line| line.title.starts_with(title))
            .unwrap_or_else(|| panic!("{title}: {numbers:?}"))
    }

    const PLATEAU: Role = Role::L1Latency;
    const CHASE: Role = Role::LoadIn16K;

    #[test]
    fn a_stand_in_has_a_title_of_its_own_and_a_refuted_plateau_has_none() {
        let mut plateau = measured(PLATEAU, 1.0);
        let chase = measured(CHASE, 1.5);
        for (status, title, value) in [
            (Status::Ok, "L1 cache hit", Some(1.0)),
            (Status::Withheld, "L1 cache hit", None),
            (Status::Failed, "L1 cache hit", None),
            (Status::Skipped, "Random load within 16 KiB", Some(1.5)),
            (Status::Unsupported, "Random load within 16 KiB", Some(1.5)),
        ] {
            plateau.status = status;
            let found = numbers(&run("r", vec![plateau.clone(), chase.clone()]));
            assert_eq!(line(&found, title).median_ns, value, "{status:?}");
            // A row whose unit is not a time has no scale either.
            assert_eq!(found.second.as_deref(), value.map(|_| title), "{status:?}");
        }
        let without = numbers(&run("r", vec![chase]));
        assert_eq!(
            line(&without, "Random load within 16 KiB").human_s,
            Some(1.0)
        );
    }
}
