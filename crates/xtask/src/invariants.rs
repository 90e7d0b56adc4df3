//! Invariants of run documents that a schema cannot express.

use std::collections::{HashMap, HashSet};

use syscost_harness::{Catalogue, Quantity};
use syscost_results::estimate::selection::MIN_ROUNDS;
use syscost_results::row_name;
use syscost_results::stats::interval;
use syscost_results::{Better, Estimate, Measurement, Run, SCHEMA_VERSION, Status, Verdict};

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

/// Names must be unique, known, and in the catalogue's order.
fn order(rows: &[Measurement], catalogue: &Catalogue) -> Vec<String> {
    let everything = catalogue.groups().iter().flat_map(|group| group.benchmarks);
    let ids: HashMap<&str, usize> = everything
        .clone()
        .enumerate()
        .map(|(place, benchmark)| (benchmark.id, place))
        .collect();
    // A case of another machine is not in this machine's catalogue: then only its benchmark
    // determines the order.
    let names: HashMap<String, usize> =
        Catalogue::rows(everything, &syscost_harness::Here::plain())
            .iter()
            .enumerate()
            .map(|(place, row)| (row.name(), place))
            .collect();
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for row in rows {
        if !seen.insert(&row.name) {
            found.push(format!("{} stands there twice", row.name));
        }
        if !ids.contains_key(row.id.as_str()) {
            found.push(format!(
                "{}: the catalogue has no benchmark `{}`",
                row.name, row.id
            ));
        }
        if row_name::id(&row.name) != row.id || row.case.is_empty() == row.name.contains('{') {
            found.push(format!(
                "{}: its name is not made of its id and its case",
                row.name
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
        Status::BelowResolution => below_resolution_row(row),
        Status::AboveRange => above_range_row(row),
        _ => rowless_numbers(row),
    };
    let refuted = row
        .evidence
        .iter()
        .any(|evidence| evidence.verdict == Verdict::Refuted);
    if refuted && row.status.has_figures() {
        found.push("its evidence is refuted, but its number is not withheld".to_owned());
    }
    if row.status != Status::Ok
        && row
            .reason
            .as_ref()
            .is_none_or(|reason| reason.trim().is_empty())
    {
        found.push("it has no number and no reason".to_owned());
    }
    found
}

fn ok_row(row: &Measurement, signed: bool) -> Vec<String> {
    let mut found = Vec::new();
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        min,
        best,
        mad,
        rounds,
        ..
    } = row.estimate;
    let Some(median) = median else {
        return vec!["its status is ok, but it has no median".to_owned()];
    };
    match (ci95_low, ci95_high) {
        (Some(low), Some(high)) if low <= median && median <= high => {}
        (Some(low), Some(high)) => {
            found.push(format!(
                "its median {median} is not within its interval {low} to {high}"
            ));
        }
        (None, None) => {}
        _ => found.push("its interval has one end only".to_owned()),
    }
    let may_have = rounds >= interval::MIN_VALUES as u32;
    let must_have = rounds >= MIN_EXACT;
    if ci95_low.is_some() && !may_have || ci95_low.is_none() && must_have {
        let has = if ci95_low.is_some() { "an" } else { "no" };
        found.push(format!("it has {has} interval after {rounds} rounds"));
    }
    if min.is_some_and(|min| min > median) {
        found.push("its smallest sample exceeds its median".to_owned());
    }
    let is_worse = |best: f64| match row.better {
        Better::Lower => best > median,
        Better::Higher => best < median,
    };
    if best.is_some_and(is_worse) {
        found.push("its best sample is worse than its median".to_owned());
    }
    let undisturbed = row.estimate.undisturbed_percent;
    if let Some(share) = undisturbed.filter(|share| !(0.0..=100.0).contains(share)) {
        found.push(format!("{share} % of its samples are undisturbed"));
    }
    if mad.is_some_and(|mad| mad < 0.0) {
        found.push("its deviation is negative".to_owned());
    }
    let costs = [
        ("median", Some(median)),
        ("ci95_low", ci95_low),
        ("min", min),
        ("best", best),
        ("p99", row.estimate.p99),
        ("raw_median", row.estimate.raw_median),
        ("shared_median", row.estimate.shared_median),
        ("core_cycles", row.core_cycles),
    ];
    for (name, value) in costs {
        if let Some(value) = value.filter(|value| *value <= 0.0 && !signed) {
            found.push(format!("{name} is {value}, and no cost is zero or less"));
        }
    }
    found
}

/// Below resolution there is a bound, and no other number of the cost.
fn below_resolution_row(row: &Measurement) -> Vec<String> {
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        min,
        best,
        ..
    } = row.estimate;
    let mut found = Vec::new();
    match ci95_high {
        Some(bound) if bound >= 0.0 => {}
        Some(bound) => found.push(format!("its bound {bound} is negative")),
        None if row.estimate.rounds >= MIN_EXACT => found.push("it has no bound".to_owned()),
        None => {}
    }
    let costs = [
        ("median", median),
        ("ci95_low", ci95_low),
        ("min", min),
        ("best", best),
        ("shared_median", row.estimate.shared_median),
        ("core_cycles", row.core_cycles),
    ];
    found.extend(present(&costs));
    found
}

/// Above the range that was tried there is a lower bound, and no other number.
fn above_range_row(row: &Measurement) -> Vec<String> {
    let estimate = &row.estimate;
    let mut found = Vec::new();
    if estimate.ci95_low.is_none_or(|bound| bound <= 0.0) {
        found.push("it has no lower bound".to_owned());
    }
    found.extend(present(&[
        ("median", estimate.median),
        ("ci95_high", estimate.ci95_high),
        ("min", estimate.min),
        ("best", estimate.best),
        ("mad", estimate.mad),
        ("raw_median", estimate.raw_median),
        ("shared_median", estimate.shared_median),
        ("core_cycles", row.core_cycles),
    ]));
    found
}

/// Any other status has no numbers at all, not even in the raw samples.
fn rowless_numbers(row: &Measurement) -> Vec<String> {
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        min,
        best,
        mad,
        p99,
        raw_median,
        ..
    } = row.estimate;
    let mut found = present(&[
        ("median", median),
        ("ci95_low", ci95_low),
        ("ci95_high", ci95_high),
        ("min", min),
        ("best", best),
        ("mad", mad),
        ("p99", p99),
        ("raw_median", raw_median),
        ("shared_median", row.estimate.shared_median),
        ("core_cycles", row.core_cycles),
    ]);
    if row.samples.is_some() || !row.histogram.is_empty() || !row.details.is_empty() {
        found.push("it has samples or details although its number must not be shown".to_owned());
    }
    found
}

fn present(numbers: &[(&str, Option<f64>)]) -> Vec<String> {
    numbers
        .iter()
        .filter(|(_, value)| value.is_some())
        .map(|(name, _)| format!("it has a number, {name}, although its status is not ok"))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
