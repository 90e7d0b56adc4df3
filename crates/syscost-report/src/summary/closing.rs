//! The end of the summary: what signs mean, warnings, rows without a number, and next steps.

use syscost_results::summary;
use syscost_results::{Measurement, Run, Status};

use crate::document::{Block, Text};
use crate::paint::{cut_end, width};
use crate::sentence::Mark;
use crate::tone::Tone;
use crate::units::is_upper;
use crate::view::{Column, RowView};
use crate::{TableOptions, flags, sentence};

pub(super) fn blocks(
    run: &Run,
    parts: &[summary::Block<'_>],
    options: &TableOptions,
) -> Vec<Block> {
    let lines = parts.iter().flat_map(|part| &part.lines);
    let rows = lines.map(|line| RowView::of(line.row).beside(line.reference));
    let rows: Vec<RowView<'_>> = rows.filter(|view| view.figures.is_some()).collect();
    let mut all = vec![Block::note(legend(&rows))];
    let first = |begin: &str, texts: &[&str]| first(begin, texts, options.width);
    let care = |text: String| Block::Paragraph(Text::from(text).tone(Tone::Care));
    if !options.quiet {
        let messages = run.warnings.iter().map(|warning| &*warning.message);
        all.extend(first("!", &messages.collect::<Vec<_>>()).map(care));
    }
    for status in [Status::Withheld, Status::Failed] {
        let rows = run.measurements.iter().filter(|row| row.status == status);
        let named = |row: &Measurement| match sentence::reason(row) {
            Some(reason) => format!("{}: {reason}", row.name),
            None => row.name.clone(),
        };
        let rows: Vec<String> = rows.map(named).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        all.extend(first(&format!("{}:", status.words()), &rows).map(Block::paragraph));
    }
    all.push(Block::paragraph(sentence::summary(run)));
    if !options.quiet {
        let saved = options.saved_to.as_ref();
        all.extend(saved.map(|path| Block::paragraph(format!("saved to {path}"))));
        let next = options.name.as_ref().map(|name| {
            format!(
                "Next: syscost show {name} | syscost explain ID | syscost report {name} -o r.html"
            )
        });
        all.extend(next.map(Block::note));
    }
    all
}

/// The first of these texts, and how many more there are, in one line: the table tells them in full.
fn first(begin: &str, all: &[&str], columns: usize) -> Option<String> {
    let (first, others) = all.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let text = format!("{begin} {first}");
    Some(cut_end(&text, columns.saturating_sub(width(&more))) + &more)
}

/// What the signs of these rows mean, in one paragraph.
fn legend(rows: &[RowView<'_>]) -> String {
    let any = |has: fn(&RowView<'_>) -> bool| rows.iter().any(has);
    let marks = [
        (
            any(|view| view.mark == Mark::Confirmed),
            "✓ confirmed by counts",
        ),
        (
            any(|view| view.mark == Mark::Unverified),
            "? unconfirmed (-v: why)",
        ),
        (
            any(|view| view.estimate.ci95_low.is_some() && !is_upper(&view.estimate)),
            "± larger side of 95 % interval",
        ),
        (any(|view| is_upper(&view.estimate)), "+N: its upper side"),
        (
            any(|view| matches!(view.cell(Column::Ratio).tone, Tone::Good | Tone::Bad)),
            "▲ better, ▼ worse: intervals apart at either core frequency",
        ),
        (any(|view| view.signs().len() > 1), "+1: a flag more"),
    ];
    let marks = marks
        .into_iter()
        .filter_map(|(is_there, words)| is_there.then_some(words));
    let marks: Vec<&str> = marks.collect();
    let flags = rows.iter().flat_map(|view| &view.row.flags);
    let parts = [
        (!marks.is_empty()).then(|| marks.join(", ")),
        flags::grades(rows.iter().map(|view| &view.estimate)),
        flags::short_meanings(flags),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
