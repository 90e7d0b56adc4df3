//! The first answer: a dozen numbers with their intervals, beside those of a reference, and the
//! latency of memory over its size.

use std::collections::BTreeMap;

use maud::{Markup, html};
use syscost_results::overview::{Overview, overview};
use syscost_results::summary::Line;
use syscost_results::{Measurement, Run};

use crate::chart;
use crate::sentence::Mark;
use crate::summary::Reference;
use crate::view::{Column, RowView, ratio_legend};

use super::comparison::Changes;
use super::details::figure;
use super::table::place;
use super::{MAX_COLUMNS, key, letter, whose, words};

/// The numbers of up to a few runs; of one run beside those of a reference.
pub(super) fn section(
    runs: &[&Run],
    reference: Option<&Reference<'_>>,
    changes: Option<&Changes<'_>>,
) -> Markup {
    let shown = match runs.len() > MAX_COLUMNS {
        true => &runs[runs.len() - 1..],
        false => runs,
    };
    let reference = reference.filter(|_| runs.len() == 1);
    let all: Vec<Overview<'_>> = shown
        .iter()
        .map(|run| overview(run, reference.map(|reference| reference.run)))
        .collect();
    let mut titles: Vec<&str> = Vec::new();
    for line in all.iter().flat_map(|one| &one.lines) {
        if !titles.contains(&&*line.title) {
            titles.push(&line.title);
        }
    }
    if titles.len() < 3 {
        return html! {};
    }
    html! {
        section id="overview" class={ "overview" (if shown.len() > 2 { " several" } else { "" }) } aria-labelledby="title-overview" {
            div {
                h2 id="title-overview" { "At a glance" }
                table class={ "glance stack" (if shown.len() == 1 { " single" } else { "" }) } {
                    caption class="spoken" { "A dozen numbers" @if reference.is_some() { ", beside those of a reference" } }
                    thead { tr {
                        th scope="col" { span class="spoken" { "operation" } }
                        @for index in 0..shown.len() { th scope="col" class="num" { @if shown.len() > 1 { (key(index)) } @else if runs.len() > 1 { "last run" } @else { "here" } } }
                        @if reference.is_some() { th scope="col" class="num" { "reference" } th scope="col" class="num" { "ratio" } }
                        @if let Some(changes) = changes { th scope="col" class="num" { (changes.ratio_name()) } }
                    } }
                    tbody { @for title in &titles { (line(title, &all, reference.is_some(), changes)) } }
                }
                @if let Some(reference) = reference { p class="note" {
                    @let lines = all.iter().flat_map(|one| &one.lines);
                    (reference.sentence()) "; " (ratio_legend(lines.filter_map(|line| line.reference)))
                } }
            }
            (curve(&all, shown))
        }
    }
}

fn line(
    title: &str,
    all: &[Overview<'_>],
    has_reference: bool,
    changes: Option<&Changes<'_>>,
) -> Markup {
    let lines: Vec<Option<&Line<'_>>> = all
        .iter()
        .map(|one| one.lines.iter().find(|line| line.title == title))
        .collect();
    let row = lines.iter().flatten().next().map(|line| line.row);
    let one = lines.first().copied().flatten().filter(|_| has_reference);
    html! {
        tr {
            th scope="row" { @if let Some(row) = row { a href={ "#" (place(&row.name)) } { (title) } } @else { (title) } }
            @for (index, line) in lines.iter().enumerate() {
                td class="num" data-head=[(lines.len() > 1).then(|| letter(index))] { @if let Some(line) = line { (number(line.row)) } }
            }
            @if let Some(one) = one { (beside(one)) }
            @if let Some((changes, row)) = changes.zip(row) { (changes.ratio(&row.name)) }
        }
    }
}

/// A number with its interval, and its mark where that is bad news.
fn number(row: &Measurement) -> Markup {
    let is_marked = row.status.has_figures() && Mark::of(&row.evidence) != Mark::Confirmed;
    html! { (words::number(row)) @if is_marked { " " (words::mark(&row.evidence)) } }
}

/// The reference's figure, and how many times it this number is.
fn beside(line: &Line<'_>) -> Markup {
    let view = RowView::of(line.row).beside(line.reference);
    let ratio = view.cell(Column::Ratio);
    html! {
        td class="num quiet" data-head="reference" { (view.cell(Column::Reference).text) }
        td class={ "num " (words::tone(ratio.tone)) } { (ratio.text) }
    }
}

/// The latency of memory over its size, with the borders of the caches that the last run found.
fn curve(all: &[Overview<'_>], runs: &[&Run]) -> Markup {
    // Pages of one size, that of which there are most points: a line through few would mislead.
    let mut points: BTreeMap<&str, usize> = BTreeMap::new();
    for load in all.iter().flat_map(|one| &one.curve) {
        *points.entry(load.pages).or_default() += 1;
    }
    let Some((pages, _)) = points.into_iter().max_by_key(|(_, points)| *points) else {
        return html! {};
    };
    let loads: Vec<Vec<_>> = all
        .iter()
        .map(|one| {
            let loads = one.curve.iter().filter(|load| load.pages == pages);
            loads.map(|load| load.row).collect()
        })
        .collect();
    // The caches of one machine say nothing of another's loads.
    let are_alike = runs
        .windows(2)
        .all(|pair| pair[0].machine.caches == pair[1].machine.caches);
    let caches = all.iter().rev().find(|one| !one.caches.is_empty());
    let caches = caches.filter(|_| are_alike);
    let caches = caches.map_or(&[][..], |one| &one.caches);
    let names = match runs.len() {
        1 => Vec::new(),
        _ => whose::names(runs),
    };
    let borders = match caches {
        [] => "",
        _ => "; dotted: the caches found",
    };
    let drawn = chart::of_loads(&loads, names, caches);
    html! {
        @if let Some((picture, caption)) = drawn {
            (figure(&picture, &format!("Latency of a load by the memory that loads are spread over, in pages of {pages}. {caption}{borders}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::{Better, Role, Status, Unit};

    use super::*;
    use crate::fixture;

    /// A run whose first rows stand for lines of the overview, with this median.
    fn run(median: f64) -> Run {
        let mut run = fixture::run();
        let roles = [Role::SystemCall, Role::PageFault, Role::Exec, Role::Thread];
        for (row, role) in run.measurements.iter_mut().zip(roles) {
            row.roles = vec![role];
            (row.status, row.unit, row.better) = (Status::Ok, Unit::Nanoseconds, Better::Lower);
            row.estimate.median = Some(median);
            (row.estimate.ci95_low, row.estimate.ci95_high) = (Some(median), Some(median));
        }
        run
    }

    fn beside(run: &Run, other: &Run) -> String {
        let reference = Reference {
            name: "other",
            run: other,
        };
        section(&[run], Some(&reference), None).into_string()
    }

    #[test]
    fn a_number_stands_beside_the_references_and_a_withheld_one_leaves_no_trace() {
        let (mut mine, other) = (run(424.0), run(212.0));
        let page = beside(&mine, &other);
        assert_eq!(page.matches("<strong>424").count(), 4, "{page}");
        assert_eq!(page.matches("2.00x ▼").count(), 4, "{page}");
        for row in &mut mine.measurements {
            row.status = Status::Withheld;
        }
        let page = beside(&mine, &other);
        assert_eq!(page.matches("withheld").count(), 8, "a word and its title");
        assert!(!page.contains("424") && !page.contains("2.00x"), "{page}");
    }

    #[test]
    fn runs_of_few_such_rows_have_no_overview() {
        let mut run = run(1.0);
        run.measurements.truncate(2);
        assert_eq!(section(&[&run], None, None).into_string(), "");
    }
}
