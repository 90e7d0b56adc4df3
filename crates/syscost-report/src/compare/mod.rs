//! A comparison in human-readable form.
//!
//! - [`table`]: text for a terminal. [`markdown`]: a comment on a pull request.

mod layout;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use syscost_results::compare::{Cause, Change, Comparison, Group, Row, Side};
use syscost_results::{Better, Unit};

use crate::TableOptions;
use crate::document::{self, Block};
use crate::export::on_one_line as clean;
use crate::sentence;
use crate::units::{cycles, quantity};

pub(crate) use layout::{Shown, caveat, changes, reasons};
use words::{
    are_rows_left_out, group_interval, groups_note, is_noticed, notices, own_notes, power,
    single_runs,
};
pub(crate) use words::{group_ratio, sides};

/// The comparison as text that ends in a newline. The brief form lists what changed and counts the
/// rest; the verbose form lists all rows with their notes, those that could not be compared, and the
/// smallest change that could have been found in each.
pub fn table(comparison: &Comparison, options: &TableOptions) -> String {
    let mut blocks = layout::alone(comparison, options.verbose, options.quiet);
    if !options.verbose && !options.quiet && !comparison.rows.is_empty() {
        blocks.push(Block::note("-v shows every row and what was not compared"));
    }
    document::terminal(&blocks, options)
}

/// The comparison as Markdown that ends in a newline: what changed, and every row if `verbose`.
pub fn markdown(comparison: &Comparison, verbose: bool) -> String {
    document::markdown(&layout::alone(comparison, verbose, false), None)
}

/// A row's change in words, and its interval: `1.80x slower`, `1.70 to 1.90`; a ratio shown as 1 has
/// no direction.
pub(crate) fn parts(row: &Row) -> (String, Option<String>) {
    // Turned around so that it is above one.
    let is_less = row.ratio < 1.0;
    let above_one = |ratio: f64| if is_less { 1.0 / ratio } else { ratio };
    let by = above_one(row.ratio);
    // Two significant digits of the excess over 1, down to a thousandth.
    let decimals = match by {
        by if by < 1.1 => 3,
        by if by < 10.0 => 2,
        _ => 1,
    };
    let text = |ratio: f64| match above_one(ratio) {
        // Only a damaged document has such a ratio.
        by if by >= EXPONENT_FROM => format!("{by:.1e}"),
        by => format!("{by:.decimals$}"),
    };
    let by = text(row.ratio);
    let words = match by.as_str() {
        "1.000" => format!("{by}x"),
        _ => format!("{by}x {}", word(row)),
    };
    let ends = row.ci95_low.zip(row.ci95_high);
    let interval = ends.map(|(low, high)| {
        let [low, high] = if is_less { [high, low] } else { [low, high] };
        format!("{} to {}", text(low), text(high))
    });
    (words, interval)
}

/// Ratio from which an exponent is used.
const EXPONENT_FROM: f64 = 1e6;

/// What the ratio means: times are slower and faster, other numbers higher and lower.
fn word(row: &Row) -> &'static str {
    let rose = row.ratio >= 1.0;
    match (row.unit, row.better) {
        (Unit::Nanoseconds, Better::Lower) if rose => "slower",
        (Unit::Nanoseconds, Better::Lower) => "faster",
        _ if rose => "higher",
        _ => "lower",
    }
}

/// A verdict in a word.
pub fn verdict(change: Change) -> &'static str {
    match change {
        Change::Worse => "worse",
        Change::Better => "better",
        Change::Inconclusive => "inconclusive",
        Change::Same => "the same",
    }
}

/// How many rows got each verdict, in one line: `254 rows compared: 2 worse, 1 better, 11
/// inconclusive, 240 the same`.
pub fn summary(comparison: &Comparison) -> String {
    let parts =
        Change::ALL.map(|wanted| format!("{} {}", comparison.count(wanted), verdict(wanted)));
    let (compared, all) = (comparison.rows.len(), comparison.all());
    let rows = sentence::count(all, "row");
    match compared == all {
        true => format!("{rows} compared: {}", parts.join(", ")),
        false => format!("{compared} of {rows} compared: {}", parts.join(", ")),
    }
}

/// How many differing facts are told as reasons.
const REASONS: usize = 2;

/// Why: what the processes of one side were under, a line each; if none of that can have changed
/// what did change, the facts that can.
pub fn causes(comparison: &Comparison) -> Vec<String> {
    let [base, new] = sides(comparison);
    let line = |cause: &Cause| {
        let side = if cause.is_new { new } else { base };
        // It is no reason for what it cannot change.
        let what = match cause.explains {
            true => format!("possible cause, of {side} only"),
            false => format!("of {side} only"),
        };
        let effect = cause.effect.as_ref();
        let effect = effect.map_or_else(String::new, |effect| format!("; {}", clean(effect)));
        format!("{what}: {}{effect}", clean(&cause.message))
    };
    let causes = comparison.causes.iter().map(line);
    let is_explained = comparison.causes.iter().any(|cause| cause.explains);
    let facts = comparison
        .facts
        .iter()
        .filter(|fact| fact.explains && !is_explained);
    let told = facts.filter_map(|fact| {
        let name = syscost_results::facts::words(&fact.fact);
        let [base, new] = [&fact.base, &fact.new].map(|side| clean(value(side)));
        let meaning = clean(fact.meaning.as_ref()?);
        Some(format!(
            "possible cause: {name}, {base} -> {new}; {meaning}"
        ))
    });
    causes.chain(told.take(REASONS)).collect()
}

/// What groups of rows show together, as a sentence; `None` if that is nothing.
pub fn together(comparison: &Comparison) -> Option<String> {
    let of = |(group, change): (&Group, Change)| {
        let (ratio, ends) = (group_ratio(group), group_interval(group)?);
        let rows = sentence::count(group.rows, "row");
        Some(format!(
            "{} {}, {ratio} ({ends}, {rows})",
            clean(&group.name),
            verdict(change)
        ))
    };
    let groups: Vec<String> = comparison.changed_groups().filter_map(of).collect();
    (!groups.is_empty()).then(|| format!("groups as a whole: {}", groups.join(", ")))
}

/// Whether most rows could not be decided.
fn are_few_settled(comparison: &Comparison) -> bool {
    2 * comparison.count(Change::Inconclusive) > comparison.rows.len()
}

/// What to do then.
fn too_few(comparison: &Comparison) -> &'static str {
    match comparison.paired {
        true => "a larger --budget, or a quieter hour, would settle more rows",
        false => {
            "more runs a side, a longer profile (--profile careful) or measuring in turn (syscost ab) would settle more rows"
        }
    }
}

/// How the ratios of runs measured in turn are computed.
pub(crate) const IN_TURN: &str = "measured in turn, B against A: where the rounds of both move together, each ratio is that of rounds, which drift does not affect";

/// What the further runs were given for; `None` if there are none.
pub(crate) fn spread(comparison: &Comparison) -> Option<String> {
    const SPREAD: &str = "# further run[s] [shows|show] how far runs differ when nothing changed";
    let runs = comparison.spread.len();
    (runs > 0).then(|| sentence::agreeing(runs, SPREAD))
}

/// Why rows were not compared because a number is missing.
fn why_missing(comparison: &Comparison) -> &'static str {
    match comparison.in_cycles {
        true => "not compared: no number, or no core cycles, on one side",
        false => "not compared: no number on one side",
    }
}

/// A side in one line: its runs, host, time and program.
fn side(side: &Side) -> String {
    let runs = match &side.runs[..] {
        [only] => only.clone(),
        [first, ..] => format!("{} runs from {first} on", side.runs.len()),
        [] => "no run".to_owned(),
    };
    format!(
        "{runs}, of {}, {}, syscost {}",
        sentence::host(&side.hostname),
        sentence::time(&side.started),
        side.version
    )
}

/// The medians of both sides: in core cycles if these were requested, else in the row's unit.
pub(crate) fn medians(row: &Row) -> [String; 2] {
    match row.cycles {
        Some(pair) => [pair.base, pair.new].map(|value| format!("{} cycles", cycles(value))),
        None => [row.base, row.new].map(|value| quantity(row.unit, value)),
    }
}

/// The tails of both sides, if both have one: `p99 200 ns -> 300 ns (1.50x)`.
pub(crate) fn tail(row: &Row) -> Option<String> {
    let p99 = row.p99?;
    let [base, new] = [p99.base, p99.new].map(|value| quantity(row.unit, value));
    Some(format!("p99 {base} -> {new} ({:.2}x)", p99.ratio()))
}

/// A fact's value, or `unknown`.
fn value(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("unknown")
}

/// The margin that the row was judged by, in percent: `2 %`, `8.4 %`.
fn margin(row: &Row) -> String {
    let percent = 100.0 * row.bound();
    let text = format!("{percent:.1}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}
