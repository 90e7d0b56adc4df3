//! The first answer: a dozen numbers with their intervals, beside those of a reference, and the
//! latency of memory over its size.

use maud::{Markup, html};
use syscost_results::summary::{Line, summary};
use syscost_results::{Better, Measurement, Run};

use crate::chart::{Labels, Theme, draw, rows::choose};
use crate::summary::Reference;
use crate::units::{Figures, quantity};
use crate::view::{RowView, Tone};

use super::table::place;
use super::{MAX_COLUMNS, key, letter, words};

/// The numbers of up to a few runs; of one run beside those of a reference.
pub(super) fn section(runs: &[&Run], reference: Option<&Reference<'_>>) -> Markup {
    let shown = match runs.len() > MAX_COLUMNS {
        true => &runs[runs.len() - 1..],
        false => runs,
    };
    let reference = reference.filter(|_| runs.len() == 1);
    let lists: Vec<Vec<Line<'_>>> = shown
        .iter()
        .map(|run| {
            let blocks = summary(run, reference.map(|reference| reference.run));
            blocks
                .into_iter()
                .flat_map(|block| block.lines.into_iter().take(3))
                .collect()
        })
        .collect();
    let mut titles: Vec<&str> = Vec::new();
    for line in lists.iter().flatten() {
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
                table class="glance stack" {
                    caption class="spoken" { "A dozen numbers" @if reference.is_some() { ", beside those of a reference" } }
                    thead { tr {
                        th scope="col" { span class="spoken" { "operation" } }
                        @for index in 0..shown.len() { th scope="col" class="num" { @if shown.len() > 1 { (key(index)) } @else { "here" } } }
                        @if reference.is_some() { th scope="col" class="num" { "reference" } th scope="col" class="num" { "ratio" } }
                    } }
                    tbody { @for title in &titles { (line(title, &lists, reference.is_some())) } }
                }
                @if let Some(reference) = reference { p class="note" {
                    (reference.sentence()) ". ▲ better, ▼ worse than it, beyond the interval"
                } }
            }
            (curve(shown))
        }
    }
}

fn line(title: &str, lists: &[Vec<Line<'_>>], has_reference: bool) -> Markup {
    let lines: Vec<Option<&Line<'_>>> = lists
        .iter()
        .map(|list| list.iter().find(|line| line.title == title))
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
        }
    }
}

/// A number with its interval, and its mark where that is bad news.
fn number(row: &Measurement) -> Markup {
    let view = RowView::of(row);
    match &view.figures {
        None => html! { span class="quiet" { (row.status.words()) } },
        Some(figures) => {
            html! { (figure(figures)) @if view.mark.tone() != Tone::Good { " " (words::mark(&row.evidence)) } }
        }
    }
}

fn figure(figures: &Figures) -> Markup {
    html! {
        strong { (figures.median) }
        @if !figures.half_width.is_empty() { span class="half" { (figures.side()) } }
        " " span class="unit" { (figures.unit) }
    }
}

/// The reference's figure, and how many times it this number is.
fn beside(line: &Line<'_>) -> Markup {
    let median = RowView::of(line.row).value.map(|value| value.median);
    let Some((reference, median)) = line.reference.zip(median) else {
        return html! { td {} td {} };
    };
    let ratio = median / reference;
    let is_better = (ratio < 1.0) == (line.row.better == Better::Lower);
    let value = RowView::of(line.row).value;
    let is_apart = value.is_some_and(|value| {
        value
            .low
            .zip(value.high)
            .is_some_and(|(low, high)| reference < low || reference > high)
    });
    let (class, sign) = match (is_apart, is_better) {
        (false, _) => ("quiet", ""),
        (true, true) => ("good", " ▲"),
        (true, false) => ("bad", " ▼"),
    };
    html! {
        td class="num quiet" data-head="reference" { (quantity(line.row.unit, reference)) }
        td class={ "num " (class) } { (format!("{ratio:.2}x")) span { (sign) } }
    }
}

/// The latency of memory over its size.
fn curve(runs: &[&Run]) -> Markup {
    let Some(run) = runs.last() else {
        return html! {};
    };
    let rows = run.measurements.iter();
    let rows: Vec<&Measurement> = rows.filter(|row| row.id == "memory.latency").collect();
    let Ok(chosen) = choose(&rows, None) else {
        return html! {};
    };
    let labels = Labels {
        title: chosen.title.clone(),
        ..Labels::default()
    };
    html! {
        figure { (draw(&chosen.chart, chosen.unit, &labels, Theme::Page)) figcaption { "Latency of memory by size" } }
    }
}
