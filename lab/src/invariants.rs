//! Invariants of run documents that neither a schema nor who reads them checks.

use std::collections::HashMap;

use syscost_harness::{Catalogue, Quantity};
use syscost_results::estimate::selection::MIN_ROUNDS;
use syscost_results::{Better, Measurement, Run, SCHEMA_VERSION, Status};
use syscost_stats::interval;

/// Minimum number of rounds for an exact interval.
const MIN_EXACT: u32 = MIN_ROUNDS as u32;

/// Everything in the document that is inconsistent or contradicts the catalogue, one sentence each.
pub(crate) fn violations(run: &Run, catalogue: &Catalogue) -> Vec<String> {
    let mut found = Vec::new();
    if run.schema_version != SCHEMA_VERSION {
        found.push(format!(
            "schema_version is {}, this code writes {SCHEMA_VERSION}",
            run.schema_version
        ));
    }
    found.extend(order(&run.measurements, catalogue));
    for row in &run.measurements {
        let signed = catalogue
            .find(&row.id)
            .is_some_and(|benchmark| benchmark.quantity == Quantity::Level);
        found.extend(
            of_row(row, signed)
                .into_iter()
                .map(|what| format!("{}: {what}", row.name)),
        );
    }
    found
}

/// Benchmarks must be known, and rows in the catalogue's order.
fn order(rows: &[Measurement], catalogue: &Catalogue) -> Vec<String> {
    let ids: HashMap<&str, usize> = catalogue
        .all()
        .enumerate()
        .map(|(place, benchmark)| (benchmark.id, place))
        .collect();
    // A case of another machine is not in this machine's catalogue: then only its benchmark
    // determines the order.
    let names: HashMap<String, usize> =
        Catalogue::rows(catalogue.all(), &syscost_harness::Testbed::plain())
            .iter()
            .enumerate()
            .map(|(place, row)| (row.name(), place))
            .collect();
    let mut found = Vec::new();
    for row in rows {
        if !ids.contains_key(row.id.as_str()) {
            found.push(format!(
                "{}: the catalogue has no benchmark `{}`",
                row.name, row.id
            ));
        }
    }
    for pair in rows.windows(2) {
        let [first, second] = pair else { continue };
        let by_id = ids.get(first.id.as_str()) > ids.get(second.id.as_str());
        let by_name = match (names.get(&first.name), names.get(&second.name)) {
            (Some(first), Some(second)) => first > second,
            _ => false,
        };
        if by_id || by_name {
            found.push(format!(
                "{} stands before {}, unlike in the catalogue",
                first.name, second.name
            ));
        }
    }
    found
}

/// The inconsistencies of one row; `signed` quantities may be zero or negative.
fn of_row(row: &Measurement, signed: bool) -> Vec<String> {
    let mut found = match row.status {
        Status::Ok => ok_row(row, signed),
        Status::BelowResolution => {
            let mut found = only(&["ci95_high", "mad", "p99", "raw_median"], row);
            match row.estimate.ci95_high {
                Some(bound) if bound >= 0.0 => {}
                Some(bound) => found.push(format!("its bound {bound} is negative")),
                None if row.estimate.rounds >= MIN_EXACT => {
                    found.push("it has no bound".to_owned())
                }
                None => {}
            }
            found
        }
        Status::AboveRange => {
            let mut found = only(&["ci95_low", "p99"], row);
            if row.estimate.ci95_low.is_none_or(|bound| bound <= 0.0) {
                found.push("it has no lower bound".to_owned());
            }
            found
        }
        _ => {
            let mut found = only(&[], row);
            if row.samples.is_some() || !row.histogram.is_empty() || !row.details.is_empty() {
                found.push(
                    "it has samples or details although its number must not be shown".to_owned(),
                );
            }
            found
        }
    };
    let reason = row.reason.as_deref().unwrap_or_default();
    if row.status != Status::Ok && reason.trim().is_empty() {
        found.push("it has no number and no reason".to_owned());
    }
    found
}

fn ok_row(row: &Measurement, signed: bool) -> Vec<String> {
    let mut found = Vec::new();
    let estimate = &row.estimate;
    let Some(median) = estimate.median else {
        return vec!["its status is ok, but it has no median".to_owned()];
    };
    let has_low = estimate.ci95_low.is_some();
    if has_low != estimate.ci95_high.is_some() {
        found.push("its interval has one end only".to_owned());
    }
    let rounds = estimate.rounds;
    let may_have = rounds >= interval::MIN_VALUES as u32;
    let must_have = rounds >= MIN_EXACT;
    if has_low && !may_have || !has_low && must_have {
        let has = if has_low { "an" } else { "no" };
        found.push(format!("it has {has} interval after {rounds} rounds"));
    }
    if estimate.min.is_some_and(|min| min > median) {
        found.push("its smallest sample exceeds its median".to_owned());
    }
    let is_worse = |best: f64| match row.better {
        Better::Lower => best > median,
        Better::Higher => best < median,
    };
    if estimate.best.is_some_and(is_worse) {
        found.push("its best sample is worse than its median".to_owned());
    }
    let undisturbed = estimate.undisturbed_percent;
    if let Some(share) = undisturbed.filter(|share| !(0.0..=100.0).contains(share)) {
        found.push(format!("{share} % of its samples are undisturbed"));
    }
    if estimate.mad.is_some_and(|mad| mad < 0.0) {
        found.push("its deviation is negative".to_owned());
    }
    for (name, value) in numbers(row).filter(|(name, _)| !signed && *name != "mad") {
        if value <= 0.0 {
            found.push(format!("{name} is {value}, and no cost is zero or less"));
        }
    }
    found
}

/// The numbers that a row has, by their names in the document.
fn numbers(row: &Measurement) -> impl Iterator<Item = (&'static str, f64)> {
    let estimate = &row.estimate;
    [
        ("median", estimate.median),
        ("ci95_low", estimate.ci95_low),
        ("ci95_high", estimate.ci95_high),
        ("min", estimate.min),
        ("best", estimate.best),
        ("mad", estimate.mad),
        ("p99", estimate.p99),
        ("raw_median", estimate.raw_median),
        ("shared_median", estimate.shared_median),
        ("core_cycles", row.core_cycles),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

/// A complaint about each number that a row has besides those that its status allows.
fn only(allowed: &[&str], row: &Measurement) -> Vec<String> {
    numbers(row)
        .filter(|(name, _)| !allowed.contains(name))
        .map(|(name, _)| format!("it has a number, {name}, although its status is not ok"))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use syscost_benches::CATALOGUE;
    use syscost_results::{Better, Estimate, Unit};

    /// A run of rows of the self-test, which every version of the catalogue has.
    pub(crate) fn run(rows: Vec<Measurement>) -> Run {
        syscost_results::fixture::run("20250101T000000Z-000001", rows)
    }

    pub(crate) fn row(adds: &str) -> Measurement {
        Measurement {
            name: format!("selftest.chain{{adds={adds}}}"),
            id: "selftest.chain".into(),
            case: [("adds".to_owned(), adds.to_owned())].into(),
            title: "Chain".into(),
            revision: 1,
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            status: Status::Ok,
            estimate: Estimate {
                median: Some(10.0),
                ci95_low: Some(9.0),
                ci95_high: Some(12.0),
                min: Some(8.5),
                best: Some(8.5),
                mad: Some(0.2),
                p99: None,
                raw_median: Some(10.5),
                coverage: Some(0.96875),
                undisturbed_percent: Some(62.5),
                shared_median: Some(14.0),
                rounds: 6,
                samples: 120,
                ..Estimate::default()
            },
            core_cycles: Some(30.0),
            ..Measurement::default()
        }
    }

    fn withheld() -> Measurement {
        Measurement {
            status: Status::Withheld,
            reason: Some("refuted".into()),
            estimate: Estimate {
                rounds: 6,
                samples: 120,
                ..Estimate::default()
            },
            core_cycles: None,
            core_share: None,
            between_runs: None,
            sharing: None,
            ..row("10")
        }
    }

    fn below_resolution() -> Measurement {
        let mut row = row("1");
        row.status = Status::BelowResolution;
        row.reason = Some("the interval touches zero".into());
        row.core_cycles = None;
        row.estimate.median = None;
        row.estimate.ci95_low = None;
        row.estimate.min = None;
        row.estimate.best = None;
        row.estimate.shared_median = None;
        row
    }

    fn above_range() -> Measurement {
        let mut row = row("1");
        row.status = Status::AboveRange;
        row.reason = Some("its time ended".into());
        row.core_cycles = None;
        row.estimate = Estimate {
            ci95_low: Some(3.0),
            rounds: row.estimate.rounds,
            samples: row.estimate.samples,
            ..Estimate::default()
        };
        row
    }

    /// A change to a row, and a part of the complaint that it must cause.
    type Change = (fn(&mut Measurement), &'static str);

    /// The only complaint about a document in which one row was changed.
    fn complaint(base: &Measurement, change: impl FnOnce(&mut Measurement)) -> String {
        let mut changed = base.clone();
        change(&mut changed);
        let found = violations(&run(vec![changed]), &CATALOGUE);
        assert_eq!(found.len(), 1, "{found:?}");
        found.concat()
    }

    #[test]
    fn a_sound_document_passes() {
        let rows = vec![below_resolution(), withheld(), row("100")];
        assert_eq!(violations(&run(rows), &CATALOGUE), [""; 0]);
        assert_eq!(violations(&run(vec![above_range()]), &CATALOGUE), [""; 0]);
        let few = Estimate {
            ci95_low: None,
            ci95_high: None,
            rounds: 5,
            ..row("1").estimate
        };
        assert_eq!(
            violations(
                &run(vec![Measurement {
                    estimate: few,
                    ..row("1")
                }]),
                &CATALOGUE
            ),
            [""; 0]
        );
    }

    #[test]
    fn every_contradiction_of_a_number_is_found() {
        let ok = row("10");
        let cases: &[Change] = &[
            (|row| row.estimate.ci95_high = None, "one end only"),
            (|row| row.estimate.rounds = 1, "an interval after 1 rounds"),
            (
                |row| row.estimate.min = Some(10.5),
                "smallest sample exceeds",
            ),
            (|row| row.estimate.min = Some(-0.1), "min is -0.1"),
            (|row| row.core_cycles = Some(0.0), "core_cycles is 0"),
            (
                |row| row.estimate.shared_median = Some(-1.0),
                "shared_median is -1",
            ),
            (
                |row| row.estimate.undisturbed_percent = Some(100.1),
                "100.1 % of its samples are undisturbed",
            ),
            (|row| row.estimate.median = None, "no median"),
        ];
        for &(change, expected) in cases {
            let found = complaint(&ok, change);
            assert!(
                found.starts_with("selftest.chain{adds=10}: ") && found.contains(expected),
                "{found}"
            );
        }
    }

    #[test]
    fn a_row_without_a_number_must_have_none_and_say_why() {
        let cases: &[Change] = &[
            (|row| row.estimate.median = Some(1.0), "a number, median,"),
            (
                |row| row.estimate.ci95_high = Some(1.0),
                "a number, ci95_high,",
            ),
            (|row| row.core_cycles = Some(3.0), "a number, core_cycles,"),
            (
                |row| row.estimate.shared_median = Some(3.0),
                "a number, shared_median,",
            ),
            (|row| row.histogram = vec![(1.0, 1)], "samples or details"),
            (|row| row.reason = Some(" ".into()), "no reason"),
        ];
        for &(change, expected) in cases {
            let found = complaint(&withheld(), change);
            assert!(found.contains(expected), "{found}");
        }
        let found = complaint(&below_resolution(), |row| row.estimate.ci95_high = None);
        assert!(found.ends_with("it has no bound"), "{found}");
        let found = complaint(&below_resolution(), |row| row.estimate.median = Some(0.1));
        assert!(found.contains("a number, median,"), "{found}");
        let found = complaint(&above_range(), |row| row.estimate.ci95_low = None);
        assert!(found.ends_with("it has no lower bound"), "{found}");
        let found = complaint(&above_range(), |row| row.estimate.ci95_high = Some(9.0));
        assert!(found.contains("a number, ci95_high,"), "{found}");
    }

    #[test]
    fn a_level_may_be_zero_or_negative() {
        let mut level = row("10");
        level.estimate.min = Some(-3.0);
        assert_eq!(of_row(&level, false).len(), 1);
        assert_eq!(of_row(&level, true), [""; 0]);
    }

    #[test]
    fn benchmarks_are_known_and_rows_in_order() {
        let found = violations(&run(vec![row("100"), row("10")]), &CATALOGUE);
        assert_eq!(
            found,
            [
                "selftest.chain{adds=100} stands before selftest.chain{adds=10}, unlike in the catalogue"
            ]
        );
        let spin = Measurement {
            name: "selftest.spin{delay=9us}".into(),
            id: "selftest.spin".into(),
            ..row("9")
        };
        let found = violations(&run(vec![spin, row("1")]), &CATALOGUE);
        assert_eq!(
            found.len(),
            1,
            "a case this machine does not know still has its benchmark's place: {found:?}"
        );
        let found = complaint(&row("1"), |row| {
            row.id = "selftest.nobody".into();
            row.name = "selftest.nobody{adds=1}".into();
        });
        assert!(
            found.ends_with("the catalogue has no benchmark `selftest.nobody`"),
            "{found}"
        );
    }
}
