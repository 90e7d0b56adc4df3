//! The first answer: a dozen numbers with their intervals, beside those of a reference, and the
//! latency of memory over its size.

use std::collections::BTreeMap;

use maud::{Markup, html};
use syscost_results::overview::{Overview, of_shared_caches};
use syscost_results::summary::Line;
use syscost_results::{Measurement, Run, row_name};

use crate::chart;
use crate::markup::{place, tone};
use crate::sentence::Mark;
use crate::summary::Reference;
use crate::view::{Column, RowView, ratio_legend};

use super::comparison::Changes;
use super::details::figure;
use super::{MAX_COLUMNS, key, letter, runs, words};

/// The numbers of up to a few runs; of one run beside those of a reference.
pub(super) fn section(
    all: &[Overview<'_>],
    runs: &[&Run],
    reference: Option<&Reference<'_>>,
    changes: Option<&Changes<'_>>,
) -> Markup {
    let shown = match runs.len() > MAX_COLUMNS {
        true => &all[all.len() - 1..],
        false => all,
    };
    let reference = reference.filter(|_| runs.len() == 1);
    // The same number of another row is another line, as what is best of two machines may differ.
    let mut keys: Vec<Key<'_>> = Vec::new();
    for key in shown.iter().flat_map(|one| &one.lines).map(key_of) {
        if !keys.contains(&key) {
            // Beneath the others of its title.
            let last = keys.iter().rposition(|(title, _)| *title == key.0);
            keys.insert(last.map_or(keys.len(), |last| last + 1), key);
        }
    }
    if keys.len() < 3 {
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
                    tbody { @for key in &keys { (line(*key, &keys, shown, reference.is_some(), changes)) } }
                }
                @if let Some(reference) = reference { p class="note" {
                    @let lines = all.iter().flat_map(|one| &one.lines);
                    (reference.sentence(runs[0])) "; " (ratio_legend(lines.filter_map(|line| line.reference)))
                } }
            }
            (curve(shown))
        }
    }
}

/// What a line is matched by: its title, and the name of its row.
type Key<'r> = (&'r str, &'r str);

fn key_of<'r>(line: &'r Line<'_>) -> Key<'r> {
    (&line.title, &line.row.name)
}

fn line(
    key: Key<'_>,
    keys: &[Key<'_>],
    all: &[Overview<'_>],
    has_reference: bool,
    changes: Option<&Changes<'_>>,
) -> Markup {
    let lines: Vec<Option<&Line<'_>>> = all
        .iter()
        .map(|one| one.lines.iter().find(|line| key_of(line) == key))
        .collect();
    let (title, row) = key;
    let others = keys.iter().filter(|(other, _)| *other == title);
    let case = row_name::case(row).filter(|_| others.count() > 1);
    let one = lines.first().copied().flatten().filter(|_| has_reference);
    html! {
        tr {
            th scope="row" { a href={ "#" (place(row)) } { (title) } @if let Some(case) = case { " " span class="case" { (case) } } }
            @for (index, line) in lines.iter().enumerate() {
                td class="num" data-head=[(lines.len() > 1).then(|| letter(index))] { @if let Some(line) = line { (number(line.row)) } }
            }
            @if let Some(one) = one { (beside(one)) }
            @if let Some(changes) = changes { (changes.ratio(row)) }
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
        td class={ "num " (tone(ratio.tone)) } { (ratio.text) }
    }
}

/// The latency of memory over its size, with the borders of the caches that a run found.
fn curve(all: &[Overview<'_>]) -> Markup {
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
    let found = of_shared_caches(all);
    let runs: Vec<&Run> = all.iter().map(|one| one.run).collect();
    let names = match runs.len() {
        1 => Vec::new(),
        _ => runs::names(&runs),
    };
    let borders = found.map_or_else(String::new, |found| found_by(found, all));
    let caches = found.map_or(&[][..], |found| &found.caches);
    let drawn = chart::of_loads(&loads, names, caches);
    html! {
        @if let Some((picture, caption)) = drawn {
            (figure(&picture, &format!("Latency of a load by the memory that loads are spread over, in pages of {pages}. {caption}{borders}")))
        }
    }
}

/// Says whose caches the dotted lines of a chart are.
pub(super) fn found_by(found: &Overview<'_>, all: &[Overview<'_>]) -> String {
    let index = all.iter().position(|one| std::ptr::eq(one, found));
    let of = index.filter(|_| (2..=MAX_COLUMNS).contains(&all.len()));
    let of = of.map_or_else(String::new, |index| format!(" by {}", letter(index)));
    format!("; dotted: the caches found{of}")
}

#[cfg(test)]
mod tests {
    use syscost_results::overview::overview;
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
            family: None,
            run: other,
        };
        let all = [overview(run, Some(other))];
        section(&all, &[run], Some(&reference), None).into_string()
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
        let all = [overview(&run, None)];
        assert_eq!(section(&all, &[&run], None, None).into_string(), "");
    }

    #[test]
    fn the_same_number_of_another_row_is_another_line() {
        let (one, mut other) = (run(424.0), run(212.0));
        other.measurements[0].name = "syscall.null{call=other}".to_owned();
        let all = [&one, &other].map(|run| overview(run, None));
        let page = section(&all, &[&one, &other], None, None).into_string();
        let lines: Vec<&str> = page
            .split("<tr>")
            .filter(|line| line.contains("href"))
            .collect();
        assert_eq!(lines.len(), 5, "{page}");
        let has = |line: &str| ["424", "212"].map(|number| line.contains(number));
        let numbers: Vec<[bool; 2]> = lines.iter().map(|line| has(line)).collect();
        let both = [true, true];
        assert_eq!(numbers, [[true, false], [false, true], both, both, both]);
        assert!(lines[1].contains("call=other"), "{}", lines[1]);
    }
}
