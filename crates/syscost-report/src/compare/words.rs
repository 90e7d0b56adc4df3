//! What is said once of a whole comparison: its groups, other frequencies and clocks, noise, tails.

use syscost_results::compare::{ComparedIn, Comparison, Difference, Group, Row};

use super::value;

/// What the lines of groups mean.
pub(crate) const GROUPS_NOTE: &str = "Cost of new by base: the geometric mean over a group's benchmarks (each the mean of its rows; \
     a rate counts inversely), with the 95 % interval of Student's t of their logarithms";
/// How the notes on another frequency begin, which are said once of all rows.
const OF_FREQUENCY: &str = "the core ran at ";
/// Tails whose ratio is beyond this are worth naming.
const TAIL: f64 = 1.25;

/// The interval of a group's mean; `None` with too few benchmarks.
pub(crate) fn group_interval(group: &Group) -> Option<String> {
    let (low, high) = group.ci95_low.zip(group.ci95_high)?;
    Some(format!("{low:.3} to {high:.3}"))
}

/// What is to be known before any row: noise, frequency, clock; then tails.
pub(crate) fn notices(comparison: &Comparison) -> Vec<String> {
    let mut lines: Vec<String> = comparison
        .facts
        .iter()
        .filter(|fact| is_noticed(fact))
        .map(noticed)
        .collect();
    lines.extend(ways(comparison));
    let lost = comparison.missing.iter().filter(|row| row.to_noise).count();
    if lost > 0 {
        let rows = if lost == 1 { "row was" } else { "rows were" };
        lines.push(format!(
            "noise: {lost} {rows} lost on the new side, where no core was its own; no gate judges them"
        ));
    }
    lines.extend(tails(comparison));
    lines
}

/// Whether a fact that differs is said at the top, and not among the others.
pub(crate) fn is_noticed(fact: &Difference) -> bool {
    ["noise.", "clock."]
        .iter()
        .any(|start| fact.fact.starts_with(start))
        || fact.fact == "core_ghz"
}

fn noticed(fact: &Difference) -> String {
    let name = match fact.fact.as_str() {
        "core_ghz" => "core frequency in GHz".to_owned(),
        other => other.replace('_', " ").replacen('.', ": ", 1),
    };
    let meaning = fact
        .meaning
        .as_ref()
        .map_or_else(String::new, |meaning| format!(" ({meaning})"));
    format!(
        "{name}: {} -> {}{meaning}",
        value(&fact.base),
        value(&fact.new)
    )
}

/// In which quantity the rows were compared, where not all in time.
fn ways(comparison: &Comparison) -> Option<String> {
    if comparison.in_cycles {
        return Some(
            "compared in core cycles, as asked: times count by the frequency at each sample"
                .to_owned(),
        );
    }
    let count = |way| {
        let rows = comparison.rows.iter();
        rows.filter(|row| row.compared_in == way).count()
    };
    let (cycles, either, time) = (
        count(ComparedIn::CoreCycles),
        count(ComparedIn::Either),
        count(ComparedIn::Time),
    );
    (cycles + either > 0).then(|| {
        let rows = comparison.rows.len();
        format!(
            "frequency: {cycles} of {rows} rows compared in core cycles (work of the core), {time} in time, {either} both ways"
        )
    })
}

/// Whether a row's note says what the notices say of all rows.
pub(crate) fn is_said_once(note: &str) -> bool {
    note.starts_with(OF_FREQUENCY) || note == "compared in core cycles"
}

/// The tails of the rows that have one on both sides; they have no interval, so they are stated, not judged.
fn tails(comparison: &Comparison) -> Option<String> {
    let ratio = |row: &Row| row.p99.map(|p99| p99.ratio());
    let known: Vec<(&Row, f64)> = comparison
        .rows
        .iter()
        .filter_map(|row| Some((row, ratio(row)?)))
        .collect();
    let (first, _) = known.first()?;
    let mean = (known.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / known.len() as f64).exp();
    let far = |ratio: f64| ratio.ln().abs();
    let (row, furthest) = known
        .iter()
        .fold((*first, 1.0), |(row, most), (other, ratio)| {
            if far(*ratio) > far(most) {
                (other, *ratio)
            } else {
                (row, most)
            }
        });
    let most = match far(furthest) > TAIL.ln() {
        true => format!(", furthest {} by {furthest:.2}x", row.name),
        false => String::new(),
    };
    let rows = if known.len() == 1 { "row" } else { "rows" };
    Some(format!(
        "p99: {mean:.2}x over {} {rows} that have one on both sides{most}; no interval, so no verdict",
        known.len()
    ))
}
