//! What changed between two runs, as `syscost compare` judges it: group by group, and row by row.

use std::collections::HashMap;

use maud::{Markup, html};
use syscost_results::compare::{Change, Comparison, Group, Row, compare};
use syscost_results::{Better, Run};

use crate::compare::{self, verdict};

use super::table::{cell, place, sortable};

/// The comparison of a page's two runs, by row.
pub(super) struct Changes<'a> {
    comparison: Comparison,
    runs: [&'a Run; 2],
    by_name: HashMap<String, usize>,
}

impl<'a> Changes<'a> {
    /// Of two runs; of more or fewer nothing is compared.
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

    /// What the filter calls this row's change.
    pub(super) fn class(&self, name: &str) -> &'static str {
        self.row(name).map_or("none", |row| match row.verdict {
            Change::Worse => "worse",
            Change::Better => "better",
            Change::Inconclusive => "inconclusive",
            Change::Same => "same",
        })
    }

    /// Ratio, its interval and the verdict of a row.
    pub(super) fn cells(&self, name: &str) -> Markup {
        let Some(row) = self.row(name) else {
            let mut others = self.comparison.uncompared();
            let why = others.find_map(|(other, why)| (other == name).then(|| why.to_owned()));
            return html! { td {} td {} td class="quiet" title=[why] { "not compared" } };
        };
        let interval = row.ci95_low.zip(row.ci95_high);
        let notes = row.notes.join("\n");
        html! {
            (cell(Some(cost(row)), &html! { (format!("{:.3}", row.ratio)) }))
            (cell(interval.map(|(low, high)| high - low), &html! {
                @match interval {
                    Some((low, high)) => { (format!("{low:.3} to {high:.3}")) }
                    None => span class="quiet" { "none" }
                }
            }))
            td data-v=(row.verdict as u8) {
                span class={ "verdict " (class(row.verdict)) } title=[(!notes.is_empty()).then_some(notes)] { (verdict(row.verdict)) }
            }
        }
    }

    /// How many rows of a group became worse and better, where any did: `, 2 worse`.
    pub(super) fn counts(&self, group: &str) -> String {
        let groups = self.comparison.groups.iter();
        let found = groups.filter(|one| one.name == group);
        found
            .flat_map(|one| [(one.worse, "worse"), (one.better, "better")])
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!(", {count} {word}"))
            .collect()
    }

    /// The section before the rows: each group in a line, then what changed, the largest change first.
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
                p { (compare::summary(comparison)) "." }
                p class="note" { "A is " (self.runs[0].id) ", B is " (self.runs[1].id) "." }
                @for line in compare::notices(comparison) { p class="note" { (line) } }
                (groups(&comparison.groups))
                @if changed.is_empty() {
                    p { "No row changed by more than its margin." }
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
                                        th scope="row" { a href={ "#" (place(&row.name)) } { (row.name) } }
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
        (column("B / A", "num", None)) (column("95 %", "num", None)) (column("verdict", "", None))
    }
}

/// By what a row is sorted that is sorted by its change: how much dearer it became, as a logarithm.
pub(super) fn cost(row: &Row) -> f64 {
    match row.better {
        Better::Lower => row.ratio.ln(),
        Better::Higher => -row.ratio.ln(),
    }
}

/// A line for each group: the mean of its ratios, and how many rows got which verdict.
pub(super) fn groups(groups: &[Group]) -> Markup {
    if groups.is_empty() {
        return html! {};
    }
    let has_left_out = compare::are_rows_left_out(groups);
    html! {
        p class="note" { (compare::groups_note(groups)) "." }
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
                            td class="num" data-v=(sortable(group.ratio)) { (format!("{:.3}", group.ratio)) }
                            td class="num" { (compare::group_interval(group).unwrap_or_else(|| "none".to_owned())) }
                            @for (count, kind) in [
                                (group.worse, "bad"), (group.better, "good"), (group.inconclusive, "care"), (group.same, "quiet"),
                            ] {
                                td class={ "num " (if count > 0 { kind } else { "quiet" }) } { (count) }
                            }
                            td class="num quiet" { (group.rows) }
                            @if has_left_out { td class="num quiet" { (group.left_out) } }
                            td class="num quiet" { (group.benchmarks) }
                        }
                    }
                }
            }
        }
    }
}

/// The class of a verdict.
pub(super) fn class(change: Change) -> &'static str {
    match change {
        Change::Worse => "bad",
        Change::Better => "good",
        Change::Inconclusive => "care",
        Change::Same => "quiet",
    }
}
