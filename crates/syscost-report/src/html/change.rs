//! What changed between two runs, as `syscost compare` judges it: group by group, and row by row.

use std::collections::HashMap;

use maud::{Markup, html};
use syscost_results::compare::{Change, ComparedIn, Comparison, Row, compare};
use syscost_results::{Better, Run};

use crate::compare::{self, verdict};
use crate::sentence::share;

use super::table::{place, sortable};
use super::words;

/// Explains the ratio of a row.
pub(super) const RATIO: &str = "B / A is not the quotient of the two medians beside it, but the middle one of the ratios of every process of B \
     to every one of A (Hodges and Lehmann); where it says “one clock”, as if both had run at A's";
/// Sign beside the ratio of a rate, of which more is better.
pub(super) const RATE: &str = "↑";

/// The comparison of a page's two runs, by row.
pub(super) struct Changes<'a> {
    comparison: Comparison,
    runs: [&'a Run; 2],
    by_name: HashMap<String, usize>,
}

impl<'a> Changes<'a> {
    /// The comparison of two runs; `None` for more or fewer.
    pub(super) fn of(runs: &[&'a Run]) -> Option<Self> {
        let &[base, new] = runs else {
            return None;
        };
        let comparison = compare(&[base], &[new], &[]);
        let rows = comparison.rows.iter().enumerate();
        Some(Changes {
            by_name: rows.map(|(index, row)| (row.name.clone(), index)).collect(),
            comparison,
            runs: [base, new],
        })
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.by_name
            .get(name)
            .map(|index| &self.comparison.rows[*index])
    }

    /// The class by which the filter selects this row's change.
    pub(super) fn class(&self, name: &str) -> &'static str {
        self.row(name).map_or("none", |row| match row.verdict {
            Change::Worse => "worse",
            Change::Better => "better",
            Change::Inconclusive => "inconclusive",
            Change::Same => "same",
        })
    }

    /// The ratio of a row with its interval, and the verdict; the row's details explain the
    /// verdict.
    pub(super) fn cells(&self, name: &str) -> Markup {
        let Some(row) = self.row(name) else {
            return html! { td {} td class="quiet" { "not compared" } };
        };
        let way = match row.compared_in {
            ComparedIn::Time => None,
            ComparedIn::OneFrequency => Some("one clock"),
            ComparedIn::CoreCycles => Some("cycles"),
        };
        html! {
            td class="num ratio" data-v=(sortable(cost(row))) {
                b { (format!("{:.3}", row.ratio)) } @if row.better == Better::Higher { " " (RATE) }
                small { (interval(row).unwrap_or_else(|| "no interval".to_owned())) @if let Some(way) = way { " · " (way) } }
            }
            td data-v=(row.verdict as u8) {
                span class={ "verdict " (class(row.verdict)) } { (verdict(row.verdict)) }
            }
        }
    }

    /// What a row's details say about its change: the verdict and why, how it was compared, and its
    /// notes.
    pub(super) fn reasons(&self, name: &str) -> Vec<String> {
        let Some(row) = self.row(name) else {
            let others = self.comparison.uncompared();
            let own = others.filter(|(other, _)| *other == name);
            return own.map(|(_, why)| format!("not compared: {why}")).collect();
        };
        let mut lines = vec![
            format!("{}: {}", verdict(row.verdict), why(row)),
            format!("margin of a change: {}", share(100.0 * row.margin)),
        ];
        lines.extend(match row.compared_in {
            ComparedIn::Time => None,
            ComparedIn::OneFrequency => Some(
                "compared as if both had run at A's frequency, by how much of it is core cycles"
                    .to_owned(),
            ),
            ComparedIn::CoreCycles => Some("compared in core cycles".to_owned()),
        });
        lines.extend(row.notes.iter().cloned());
        lines.extend(compare::tail(row));
        lines
    }

    /// How many rows got each verdict, for the head of the page.
    pub(super) fn summary(&self) -> Markup {
        html! { p class="summary" { "From A to B, " a href="#changes" { (compare::summary(&self.comparison)) } "." } }
    }

    /// The facts that differ between the runs.
    pub(super) fn facts(&self) -> Markup {
        super::comparison::differences(&self.comparison, ["A", "B"])
    }

    /// How many rows of a group got worse and better, without zero counts: `, 2 worse`.
    pub(super) fn counts(&self, group: &str) -> String {
        let groups = self.comparison.groups.iter();
        let found = groups.filter(|one| one.name == group);
        found
            .flat_map(|one| [(one.worse, "worse"), (one.better, "better")])
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!(", {count} {word}"))
            .collect()
    }

    /// The section before the rows: one line per group, then what changed, the largest change
    /// first.
    pub(super) fn section(&self) -> Markup {
        let comparison = &self.comparison;
        let changed: Vec<&Row> = comparison
            .rows
            .iter()
            .filter(|row| matches!(row.verdict, Change::Worse | Change::Better))
            .collect();
        html! {
            section id="changes" aria-labelledby="title-changes" {
                h2 id="title-changes" { "What changed from A to B" }
                p class="note" { "A, the base, is " (self.runs[0].id) "; B, the new side, is " (self.runs[1].id) "." }
                @for line in compare::notices(comparison) { p class="note" { (line) } }
                p class="note" { (RATIO) "." }
                (groups(comparison, ["A", "B"]))
                @if changed.is_empty() {
                    p { "No row is known to have changed." }
                } @else {
                    div class="box" tabindex="0" role="region" aria-label="Rows that changed" {
                        table class="changes" {
                            caption { "Rows that changed, the worst first; a name leads to its row" }
                            thead { tr {
                                th scope="col" { "operation" } th scope="col" { "verdict" }
                                th scope="col" { "change" } th scope="col" class="num" { "margin" }
                            } }
                            tbody {
                                @for row in changed {
                                    tr {
                                        th scope="row" { a href={ "#" (place(&row.name)) } { (words::name(&row.name)) } }
                                        td { span class={ "verdict " (class(row.verdict)) } { (verdict(row.verdict)) } }
                                        td { (compare::change(row)) }
                                        td class="num" { (format!("{:.1} %", 100.0 * row.bound())) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The headings of [`Changes::cells`].
pub(super) fn heading(column: fn(&str, &str, Option<Markup>) -> Markup) -> Markup {
    html! {
        (column("B / A", "num", None)) (column("verdict", "", None))
    }
}

/// The key for sorting rows by change: how much costlier the row became, as a logarithm.
pub(super) fn cost(row: &Row) -> f64 {
    match row.better {
        Better::Lower => row.ratio.ln(),
        Better::Higher => -row.ratio.ln(),
    }
}

/// The interval of a row's ratio.
fn interval(row: &Row) -> Option<String> {
    let (low, high) = row.ci95_low.zip(row.ci95_high)?;
    Some(format!("{low:.3} to {high:.3}"))
}

/// Why a row got its verdict.
fn why(row: &Row) -> String {
    let [margin, same] = [row.margin, row.same_within].map(|ratio| share(100.0 * ratio));
    let Some((low, high)) = row.ci95_low.zip(row.ci95_high) else {
        return "there is no interval".to_owned();
    };
    match row.verdict {
        Change::Worse | Change::Better => {
            format!("the whole interval lies beyond the margin of {margin}")
        }
        Change::Same => format!("the whole interval lies within {same}"),
        Change::Inconclusive if low > 1.0 + row.margin || high < 1.0 / (1.0 + row.margin) => {
            "the interval lies beyond the margin, but among this many rows some do by chance"
                .to_owned()
        }
        Change::Inconclusive => format!(
            "the interval reaches beyond {same}, so it is not the same, and does not lie wholly beyond {margin}, so it is no change"
        ),
    }
}

/// A line for each group: the mean of its ratios, and how many rows got each verdict. `sides` are
/// the page's names for base and new.
pub(super) fn groups(comparison: &Comparison, sides: [&str; 2]) -> Markup {
    let groups = &comparison.groups;
    if groups.is_empty() {
        return html! {};
    }
    let has_left_out = compare::are_rows_left_out(groups);
    html! {
        p class="note" { (compare::groups_note(comparison, sides)) "." }
        div class="box" tabindex="0" role="region" aria-label="Groups" {
            table class="groups" {
                caption class="spoken" { "What became of each group" }
                thead { tr {
                    th scope="col" { "group" } th scope="col" class="num" { "cost" } th scope="col" class="num" { "95 %" }
                    @for change in Change::ALL { th scope="col" class="num" { (verdict(change)) } }
                    th scope="col" class="num" { "rows" }
                    @if has_left_out { th scope="col" class="num" { "left out" } }
                    th scope="col" class="num" { "benchmarks" }
                } }
                tbody {
                    @for group in groups {
                        tr {
                            th scope="row" {
                                @if group.name.is_empty() { "all" } @else { (group.name) }
                            }
                            td class="num" data-head="cost" data-v=[group.ratio.map(sortable)] { (compare::group_ratio(group)) }
                            td class="num" data-head="95 %" { (compare::group_interval(group).unwrap_or_else(|| "none".to_owned())) }
                            @for (count, change) in [
                                (group.worse, Change::Worse), (group.better, Change::Better),
                                (group.inconclusive, Change::Inconclusive), (group.same, Change::Same),
                            ] {
                                td class={ "num " (if count > 0 { class(change) } else { "quiet" }) } data-head=(verdict(change)) { (count) }
                            }
                            td class="num quiet" data-head="rows" { (group.rows) }
                            @if has_left_out { td class="num quiet" data-head="left out" { (group.left_out) } }
                            td class="num quiet" data-head="benchmarks" { (group.benchmarks) }
                        }
                    }
                }
            }
        }
    }
}

/// The CSS class of a verdict.
pub(super) fn class(change: Change) -> &'static str {
    match change {
        Change::Worse => "bad",
        Change::Better => "good",
        Change::Inconclusive => "care",
        Change::Same => "quiet",
    }
}
