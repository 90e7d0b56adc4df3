//! What is said once for a whole comparison: groups, differing frequencies and clocks, noise,
//! tails.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use syscost_results::compare::{ComparedIn, Comparison, Difference, Group, Row};

use super::value;
use crate::sentence;

/// A caveat on comparisons of single runs, after which rows it concerns.
const SINGLE_RUNS: &str = "run-to-run variation is unknown, so whatever differs between these two (the hour, \
     the host's other guests, where memory happens to lie) can look like a change. Before you act on one, pool several runs per side, \
     give earlier ones as --spread, or measure in turn (syscost ab)";
/// Beginning of the notes on a different frequency, which are given once for all rows.
const OF_FREQUENCY: &str = "the core ran at ";
/// Ratio of tails from which a row is named.
const TAIL: f64 = 1.25;

/// What a comparison's two sides are called.
pub(crate) fn sides(comparison: &Comparison) -> [&'static str; 2] {
    match comparison.paired {
        true => ["A", "B"],
        false => ["base", "new"],
    }
}

/// What the groups' lines mean, as sentences without the last full stop; with these names for base
/// and new.
pub(crate) fn groups_note(comparison: &Comparison, [base, new]: [&str; 2]) -> String {
    let mut groups = comparison.groups.iter();
    let has_interval = groups.any(|group| group.ci95_low.is_some());
    let both = [&comparison.base, &comparison.new];
    let are_several = !comparison.spread.is_empty() || both.iter().any(|side| side.runs.len() > 1);
    let interval = match (comparison.paired, are_several) {
        (false, false) => {
            "With one run per side there is no interval: how far whole runs lie apart is unknown"
        }
        _ if !has_interval => "There are too few benchmarks for an interval",
        (true, _) => "The 95 % interval is that of Student's t of their logarithms",
        (false, true) => {
            "The 95 % interval (Student's t) comes from how far benchmarks, and whole runs, differ"
        }
    };
    let mean = format!(
        "Cost of {new} relative to {base}: the geometric mean over a group's benchmarks (each the mean of its rows; rates count inversely)"
    );
    match are_rows_left_out(&comparison.groups) {
        true => format!(
            "{mean}. {interval}. Rows left out of the mean have no interval, or are prices in company"
        ),
        false => format!("{mean}. {interval}"),
    }
}

/// A group's mean ratio; a dash if all its rows are left out.
pub(crate) fn group_ratio(group: &Group) -> String {
    let ratio = group.ratio.map(|ratio| format!("{ratio:.3}x"));
    ratio.unwrap_or_else(|| "-".to_owned())
}

/// Whether any group has rows that are left out of its mean.
pub(crate) fn are_rows_left_out(groups: &[Group]) -> bool {
    groups.iter().any(|group| group.left_out > 0)
}

/// The interval of a group's mean, if it has one.
pub(crate) fn group_interval(group: &Group) -> Option<String> {
    let (low, high) = group.ci95_low.zip(group.ci95_high)?;
    Some(format!("{low:.3} to {high:.3}"))
}

/// The limits of single runs, if these are some.
pub(crate) fn single_runs(comparison: &Comparison) -> Option<String> {
    let judged = comparison.rows.iter().filter(|row| row.ci95_low.is_some());
    match (comparison.of_single_runs(), judged.count()) {
        (0, _) => None,
        (single, all) if single == all => Some(format!("one run per side: {SINGLE_RUNS}")),
        (single, all) => Some(format!(
            "one run per side of {single} of {all} rows: {SINGLE_RUNS}"
        )),
    }
}

/// What to know of the comparison beside the limits of [`single_runs`]: noise, frequency, clock; then
/// tails.
pub(crate) fn notices(comparison: &Comparison) -> Vec<String> {
    let noticed_facts = comparison.facts.iter().filter(|fact| is_noticed(fact));
    let mut lines: Vec<String> = noticed_facts.map(noticed).collect();
    lines.extend(ways(comparison));
    let rows = comparison.rows.len();
    lines.extend(common_notes(comparison).into_iter().map(|(note, count)| {
        let rows = sentence::count(rows, "row");
        match count == comparison.rows.len() {
            true => format!("all {rows}: {note}"),
            false => format!("{count} of {rows}: {note}"),
        }
    }));
    let lost_rows = comparison.missing.iter().filter(|row| row.to_noise).count();
    if lost_rows > 0 {
        let [_, new] = sides(comparison);
        let lost = format!(
            "noise: # row[s] [was|were] lost on {new}'s side, where no core was its own or no time was left; --fail-on does not judge [it|them]"
        );
        lines.push(sentence::agreeing(lost_rows, &lost));
    }
    lines.extend(tails(comparison));
    lines
}

/// Whether a differing fact is among the notices, and so not listed with the others.
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
    let [base, new] = [&fact.base, &fact.new].map(value);
    match &fact.meaning {
        None => format!("{name}: {base} -> {new}"),
        Some(meaning) => format!("{name}: {base} -> {new} ({meaning})"),
    }
}

/// In which quantity the rows were compared, if not all as measured.
fn ways(comparison: &Comparison) -> Option<String> {
    if comparison.in_cycles {
        return Some(
            "compared in core cycles, as asked: times and rates are converted by the core's frequency at each sample"
                .to_owned(),
        );
    }
    let rows = comparison.rows.iter();
    let converted = rows.filter(|row| row.compared_in == ComparedIn::OneFrequency);
    let converted = converted.count();
    (converted > 0).then(|| {
        format!(
            "frequency: {converted} of {} compared as if both sides had run at {}'s, by how much of each row is core cycles",
            sentence::count(comparison.rows.len(), "row"),
            sides(comparison)[0]
        )
    })
}

/// Notes of so many rows are given once, with their number, rather than beneath each.
const MANY: usize = 3;

/// The notes that many rows share, with the number of these rows; the commonest first. Those that
/// differ in a number are one note, with the least and the greatest. Those that repeat a notice for
/// all rows are not among them.
fn common_notes(comparison: &Comparison) -> Vec<(String, usize)> {
    let shared = shared_notes(comparison).into_iter();
    let mut common: Vec<(String, usize)> = shared
        .map(|(note, mut numbers)| {
            numbers.sort_by(|(one, _), (other, _)| one.total_cmp(other));
            let ends = numbers.first().zip(numbers.last());
            let range = ends.map_or_else(String::new, |((_, least), (_, greatest))| {
                match least == greatest {
                    true => (*least).to_owned(),
                    false => format!("{least} to {greatest}"),
                }
            });
            (note.replace(NUMBER, &range), numbers.len())
        })
        .collect();
    common.sort_by_key(|(_, rows)| Reverse(*rows));
    common
}

/// The notes of many rows, each without its number, and the number in each of these rows.
fn shared_notes(comparison: &Comparison) -> BTreeMap<String, Vec<(f64, &str)>> {
    let mut shared: BTreeMap<String, Vec<(f64, &str)>> = BTreeMap::new();
    let notes = comparison.rows.iter().flat_map(|row| &row.notes);
    for note in notes.filter(|note| !note.starts_with(OF_FREQUENCY)) {
        let (note, number) = without_number(note);
        shared.entry(note).or_default().push(number);
    }
    shared.retain(|_, numbers| numbers.len() >= MANY);
    shared
}

/// Stands for the number of a note, which has no such character.
const NUMBER: char = '\0';

/// A note without the number in it, and that number; as it is if it has none or several.
fn without_number(note: &str) -> (String, (f64, &str)) {
    let number = |word| {
        let number =
            Some(word).filter(|word: &&str| word.starts_with(|sign: char| sign.is_ascii_digit()));
        Some((number?.parse().ok()?, word))
    };
    let mut numbers = note.split(' ').filter_map(number);
    match (numbers.next(), numbers.next()) {
        (Some(only), None) => {
            let words = note.split(' ').map(|word| match word == only.1 {
                true => NUMBER.to_string(),
                false => word.to_owned(),
            });
            (words.collect::<Vec<String>>().join(" "), only)
        }
        _ => (note.to_owned(), (0.0, "")),
    }
}

/// The notes of a row that are not given once for all rows.
pub(crate) fn own_notes<'c>(comparison: &'c Comparison) -> impl Fn(&'c Row) -> Vec<&'c str> {
    let shared = shared_notes(comparison);
    move |row| {
        let notes = row.notes.iter().map(String::as_str);
        notes
            .filter(|note| !note.starts_with(OF_FREQUENCY))
            .filter(|note| !shared.contains_key(&without_number(note).0))
            .collect()
    }
}

/// How large a change could have been found, as a sentence without its full stop.
pub(super) fn power(comparison: &Comparison) -> Option<String> {
    let power = comparison.power?;
    let [half, most] = [power.half, power.nine_of_ten].map(|share| share.map(percent));
    Some(match (half, most) {
        (Some(half), Some(most)) => format!(
            "this comparison could have found changes of {half} in half of the rows, {most} in nine of ten"
        ),
        (Some(half), None) => format!(
            "this comparison could have found changes of {half} in half of the rows; in more than one of ten no change, however large"
        ),
        (None, _) => {
            "in more than half of the rows no change, however large, would have been found"
                .to_owned()
        }
    })
}

/// A change in percent, with two digits at least: `1.2 %`, `34 %`.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent >= 1000.0 => "more than tenfold".to_owned(),
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// The tails of the rows that have one on both sides and were measured on a core that was ours. They
/// have no interval, so they are reported, not judged.
fn tails(comparison: &Comparison) -> Option<String> {
    let ratio = |row: &Row| row.p99.map(|p99| p99.ratio());
    let rows = comparison.rows.iter().filter(|row| row.is_own());
    let known: Vec<(&Row, f64)> = rows.filter_map(|row| Some((row, ratio(row)?))).collect();
    let far = |ratio: f64| ratio.ln().abs();
    let (row, furthest) = known
        .iter()
        .max_by(|(_, one), (_, other)| far(*one).total_cmp(&far(*other)))?;
    let mean = (known.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / known.len() as f64).exp();
    let (over, name) = (known.len(), &row.name);
    let over = sentence::agreeing(over, "the # row[s] that [has|have] one on both sides");
    Some(match far(*furthest) > TAIL.ln() {
        true => format!(
            "p99: {mean:.2}x in the geometric mean over {over}, largest change {furthest:.2}x in {name}; no interval, so no verdict"
        ),
        false => {
            format!("p99: {mean:.2}x in the geometric mean over {over}; no interval, so no verdict")
        }
    })
}
