//! What changed between two sides of runs, as `syscost compare` judges it: the same for the page of
//! a comparison and for that of two runs.
//!
//! First the verdict, then what changed, what could not be decided, what else differs, the groups,
//! and what to know before acting on it.

use std::collections::HashMap;

use maud::{Markup, html};
use syscost_results::compare::{Change, ComparedIn, Comparison, Row};
use syscost_results::{Better, Run};

use crate::chart::{Begin, Scale};
use crate::compare::{self, verdict};
use crate::document::{self, Block};
use crate::sentence::{self, share};

use super::cells::{cell, column, sortable};
use super::interval::{self, Interval};
use super::letter;

/// Sign beside the ratio of a rate, of which more is better.
pub(super) const RATE: &str = "↑";
/// Ratios further from one than this factor are drawn as an arrow at the edge: a single uncertain row would
/// squeeze all others into a dot.
const WIDEST: f64 = 2.0;

/// A page's comparison, with its rows by name.
pub(crate) struct Changes<'a> {
    comparison: &'a Comparison,
    by_name: HashMap<&'a str, &'a Row>,
    /// What the sides are called: by their letters, if they are a run each; else as they were given, if they were.
    sides: [String; 2],
    /// The axis of the ratios' pictures.
    scale: Scale,
    /// Whether each run of the page is on the new side; empty if the sides are a run each.
    of_runs: Vec<bool>,
}

impl<'a> Changes<'a> {
    pub(super) fn new(
        comparison: &'a Comparison,
        given: Option<&[String; 2]>,
        runs: &[&Run],
    ) -> Self {
        let both = [&comparison.base, &comparison.new];
        let index = |id: &String| runs.iter().position(|run| run.id == *id);
        let single = both.map(|side| match &side.runs[..] {
            [only] => index(only).map(letter),
            _ => None,
        });
        let (sides, of_runs) = match single {
            [Some(base), Some(new)] => ([base, new], Vec::new()),
            _ => {
                let names = || compare::sides(comparison).map(str::to_owned);
                let is_new = |run: &&Run| !comparison.base.runs.contains(&run.id);
                let of_runs = runs.iter().map(is_new).collect();
                (given.cloned().unwrap_or_else(names), of_runs)
            }
        };
        let rows = comparison.rows.iter();
        Changes {
            by_name: rows.map(|row| (row.name.as_str(), row)).collect(),
            comparison,
            sides,
            scale: scale(&comparison.rows),
            of_runs,
        }
    }

    pub(super) fn side_of(&self, run: usize) -> Option<&str> {
        let is_new = self.of_runs.get(run)?;
        Some(&self.sides[usize::from(*is_new)])
    }

    /// How a row's ratio is called: `B / A`.
    pub(super) fn ratio_name(&self) -> String {
        let [base, new] = &self.sides;
        format!("{new} / {base}")
    }

    /// The names of both sides, the base first.
    pub(super) fn sides(&self) -> [&str; 2] {
        [&self.sides[0], &self.sides[1]]
    }

    /// Explains the ratio of a row.
    pub(super) fn about_ratio(&self) -> String {
        let [base, new] = &self.sides;
        format!(
            "{new} / {base} is not the quotient of the two medians beside it, but that of the geometric means of the processes of both \
             sides, a tenth left out at either end; where it says “one clock”, as if both had run at {base}'s"
        )
    }

    /// The class by which the filter selects this row's change.
    pub(super) fn class(&self, name: &str) -> &'static str {
        self.by_name
            .get(name)
            .map_or("none", |row| word(row.verdict))
    }

    /// The medians of both sides and the picture of the ratio, for pages without a column for each
    /// run.
    pub(super) fn medians(&self, name: &str) -> Markup {
        let Some(row) = self.by_name.get(name) else {
            return html! { td {} td {} td {} };
        };
        let [base, new] = compare::medians(row);
        html! {
            (cell(Some(row.base), &html! { (base) })) (cell(Some(row.new), &html! { (new) }))
            td class="plot" { (self.picture(row)) }
        }
    }

    pub(super) fn medians_heading(&self) -> Markup {
        html! {
            @for side in &self.sides { (column(side, "num", None)) }
            th scope="col" class="plot" { (self.axis()) }
        }
    }

    /// The ratio of a row with its interval, and the verdict; the row's details explain the
    /// verdict.
    pub(super) fn cells(&self, name: &str) -> Markup {
        let Some(row) = self.by_name.get(name) else {
            return html! { td {} td class="quiet" { "not compared" } };
        };
        html! {
            td class="num ratio" data-v=(sortable(cost(row))) { (ratio(row)) }
            td data-v=(row.verdict as u8) { (tag(row.verdict)) }
        }
    }

    /// The headings of [`Changes::cells`].
    pub(super) fn heading(&self) -> Markup {
        html! { (column(&self.ratio_name(), "num", None)) (column("verdict", "", None)) }
    }

    /// What a row's details say about its change: the verdict and why, how it was compared, and its
    /// notes.
    pub(super) fn reasons(&self, name: &str) -> Vec<String> {
        let Some(row) = self.by_name.get(name) else {
            let others = self.comparison.uncompared();
            let own = others.filter(|(other, _)| *other == name);
            return own.map(|(_, why)| format!("not compared: {why}")).collect();
        };
        let mut lines = vec![
            format!("{}: {}", verdict(row.verdict), why(row)),
            format!("margin of a change: {}", share(100.0 * row.margin)),
        ];
        lines.extend(
            row.detectable
                .map(|change| format!("could have found a change of {}", share(100.0 * change))),
        );
        lines.extend(row.p_value.map(|p| match p {
            p if p < 0.001 => "p < 0.001".to_owned(),
            p => format!("p = {p:.3}"),
        }));
        lines.extend(match row.compared_in {
            ComparedIn::Time => None,
            ComparedIn::OneFrequency => Some(format!(
                "compared as if both had run at {}'s frequency, by how much of it is core cycles",
                self.sides[0]
            )),
            ComparedIn::CoreCycles => Some("compared in core cycles".to_owned()),
        });
        lines.extend(row.notes.iter().cloned());
        lines.extend(compare::tail(row));
        lines
    }

    /// How many rows got each verdict, for the head of the page.
    pub(super) fn verdicts(&self) -> Markup {
        let comparison = self.comparison;
        let [base, new] = &self.sides;
        html! {
            p class="verdicts" {
                @for change in Change::ALL {
                    @let count = comparison.count(change);
                    a href="#content" data-which=(word(change)) class=(if count > 0 { class(change) } else { "quiet" }) {
                        b { (count) } " " (verdict(change))
                    }
                    " "
                }
            }
            p class="quiet" {
                "From " (base) @if self.of_runs.is_empty() { ", the base," }
                " to " (new) @if self.of_runs.is_empty() { ", the new side" }
                ", " (sentence::count(comparison.rows.len(), "row")) " compared."
                @if comparison.paired { " " (sentence::capital(compare::IN_TURN)) "." }
                @if let Some(spread) = compare::spread(comparison) { " " (spread) "." }
            }
        }
    }

    /// The ratio of a row and its verdict in one cell, for those who look at a dozen rows only.
    pub(super) fn ratio(&self, name: &str) -> Markup {
        let Some(row) = self.by_name.get(name) else {
            return html! { td {} };
        };
        html! {
            td class="num ratio" data-head=(self.ratio_name()) { (tag(row.verdict)) " " (ratio(row)) }
        }
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

    /// All that is said of the comparison as a whole.
    pub(super) fn section(&self) -> Markup {
        let comparison = self.comparison;
        let [base, new] = self.sides();
        let shown = compare::Shown {
            sides: [base, new],
            verbose: false,
            quiet: false,
            plot: Some((self.axis(), &|row| self.picture(row))),
        };
        let before = compare::reasons(comparison).chain(compare::caveat(comparison));
        let blocks = before.chain(compare::changes(comparison, &shown));
        let blocks = blocks.chain([Block::note(self.about_ratio())]);
        html! {
            section id="changes" aria-labelledby="title-changes" {
                h2 id="title-changes" { "What changed from " (base) " to " (new) }
                (document::html(&blocks.collect::<Vec<_>>()))
            }
        }
    }

    /// The heading of [`Changes::picture`]: the ends of its axis.
    fn axis(&self) -> Markup {
        html! {
            span class="ends" {
                @for share in [0.0, 1.0] { span { (format!("{:.2}x", self.scale.value(share).exp())) } }
            }
            span class="spoken" { "interval of the ratio; the line is no change" }
        }
    }

    /// How far along the axis a ratio stands; at an end if the axis does not reach it.
    fn share(&self, ratio: f64) -> f64 {
        match ratio {
            far if far > WIDEST => 1.0,
            far if far < 1.0 / WIDEST => 0.0,
            near => self.scale.share(near.ln()),
        }
    }

    /// The interval of a row's ratio, with a line at one.
    fn picture(&self, row: &Row) -> Markup {
        let share = |ratio| self.share(ratio);
        let ends = row.ci95_low.zip(row.ci95_high);
        let interval = Interval {
            at: share(row.ratio),
            ends: ends.map(|(low, high)| (share(low), share(high))),
            class: class(row.verdict),
            title: &interval(row).unwrap_or_else(|| "no interval".to_owned()),
        };
        interval::draw(&interval, Some(share(1.0)))
    }
}

/// The axis of the ratios' pictures, for the rows that changed if any did: others' wide intervals
/// would squeeze theirs, and are drawn as arrows. It includes one, so that every interval can be
/// compared with it.
fn scale(rows: &[Row]) -> Scale {
    let has_changed = |row: &&Row| matches!(row.verdict, Change::Worse | Change::Better);
    let any = rows.iter().any(|row| has_changed(&row));
    let ends = rows
        .iter()
        .filter(|row| !any || has_changed(row))
        .flat_map(|row| [row.ci95_low, row.ci95_high, Some(row.ratio)]);
    let logarithms = ends
        .flatten()
        .chain([1.0])
        .filter(|ratio| *ratio > 0.0)
        .map(|ratio| ratio.clamp(1.0 / WIDEST, WIDEST).ln());
    Scale::fit(logarithms, Begin::Near, (0.0, 1.0))
}

/// The key for sorting rows by change: how much costlier the row became, as a logarithm.
fn cost(row: &Row) -> f64 {
    match row.better {
        Better::Lower => row.ratio.ln(),
        Better::Higher => -row.ratio.ln(),
    }
}

/// The ratio of a row, and beneath it its interval and in what the row was compared unless in time.
fn ratio(row: &Row) -> Markup {
    let way = match row.compared_in {
        ComparedIn::Time => None,
        ComparedIn::OneFrequency => Some("one clock"),
        ComparedIn::CoreCycles => Some("cycles"),
    };
    html! {
        b { (format!("{:.3}", row.ratio)) } @if row.better == Better::Higher { " " (RATE) }
        small { (interval(row).unwrap_or_else(|| "no interval".to_owned())) @if let Some(way) = way { " · " (way) } }
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

/// A verdict in its colour.
pub(super) fn tag(change: Change) -> Markup {
    html! { span class={ "verdict " (class(change)) } { (verdict(change)) } }
}

/// The CSS class of a verdict.
fn class(change: Change) -> &'static str {
    match change {
        Change::Worse => "bad",
        Change::Better => "good",
        Change::Inconclusive => "care",
        Change::Same => "quiet",
    }
}

/// The word by which the filter knows a verdict.
fn word(change: Change) -> &'static str {
    match change {
        Change::Same => "same",
        other => verdict(other),
    }
}
