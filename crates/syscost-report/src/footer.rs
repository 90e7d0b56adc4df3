//! What follows the table: which rows have no number and why, warnings, the legend, and where the
//! run was saved.

use std::collections::BTreeSet;

use anstyle::Style;
use syscost_results::{Measurement, Run, Status};

use crate::{
    TableOptions,
    flags::{explained, grades, meanings},
    grid::INDENT,
    hierarchy,
    page::Page,
    paint,
    sentence::{self, Mark},
    units::is_upper,
    view::{Column, RowView, ratio_legend},
    wrap::together,
};

/// Number of names listed for one reason; the rest are counted.
const NAMES: usize = 4;

/// What a table has shown, to be explained by its legend.
#[derive(Default)]
pub(crate) struct Shown<'r> {
    /// The rows that have a line or a cell in it.
    pub(crate) rows: Vec<RowView<'r>>,
    /// Columns that did not fit in some group.
    pub(crate) columns_left_out: BTreeSet<&'static str>,
    /// Whether some group has a column of ratios.
    pub(crate) has_ratios: bool,
    /// Whether some row has more flags than fitted.
    pub(crate) are_flags_left_out: bool,
}

/// Adds everything that follows the table.
pub(crate) fn footer(page: &mut Page, run: &Run, options: &TableOptions, shown: &Shown<'_>) {
    let levels = hierarchy::blocks(run);
    if !levels.is_empty() {
        page.paragraph(0, paint::HEADING, "Memory hierarchy");
        page.blocks(&levels, options.verbose);
        page.line("");
    }
    for (status, heading) in [
        (Status::AboveRange, "Above range"),
        (
            Status::Withheld,
            "Withheld: the evidence contradicts the name",
        ),
        (Status::Failed, "Failed"),
        (Status::Unsupported, "Unsupported here"),
        (Status::Skipped, "Skipped"),
    ] {
        let rows: Vec<&Measurement> = run
            .measurements
            .iter()
            .filter(|row| row.status == status)
            .collect();
        if !rows.is_empty() {
            page.paragraph(0, paint::HEADING, heading);
            let most = if options.verbose { usize::MAX } else { NAMES };
            for (reason, names) in by_reason(&rows) {
                page.item(
                    INDENT,
                    2,
                    Style::new(),
                    &format!("{}: {reason}", sentence::listed(&names, most)),
                );
            }
            page.line("");
        }
    }
    if !run.warnings.is_empty() && !options.quiet {
        page.paragraph(0, paint::HEADING, "Warnings");
        for warning in &run.warnings {
            page.item(INDENT, 2, Style::new(), &warning.message);
            page.paragraph(2 * INDENT, paint::DIM, &warning.advice);
        }
        page.line("");
    }
    legend(shown, options.verbose, page);
    if !shown.columns_left_out.is_empty() {
        let columns: Vec<&str> = shown.columns_left_out.iter().copied().collect();
        page.note(&format!(
            "{} left out where {} columns are too few; a wider terminal, or COLUMNS, shows more",
            columns.join(", "),
            page.columns
        ));
    }
    page.line("");
    let summary = match options.is_part {
        true => sentence::summary_of_part(run),
        false => sentence::summary(run),
    };
    page.item(0, 2, Style::new(), &summary);
    if let Some(path) = options.saved_to.as_ref().filter(|_| !options.quiet) {
        page.item(0, 2, Style::new(), &format!("Saved to {path}"));
    }
}

/// What a verbose table shows below a row, before wrapping.
pub(crate) fn notes(view: &RowView<'_>) -> Vec<String> {
    let row = view.row;
    let mut notes = Vec::new();
    if row.estimate.samples > 0 {
        let mut parts = vec![sentence::samples(row)];
        let more = sentence::without_column(row.unit, &view.estimate).into_iter();
        parts.extend(more.map(|(name, value)| together(&format!("{name} {value}"))));
        notes.push(parts.join(", "));
    }
    notes.extend(sentence::undisturbed(row));
    notes.extend(sentence::own_limit(row));
    notes.extend(sentence::states(row));
    for evidence in &row.evidence {
        let sign = Mark::of(std::slice::from_ref(evidence)).sign();
        notes.push(format!("{sign} {evidence}"));
    }
    notes.extend(row.flags.iter().map(|flag| explained(*flag)));
    let details = view.details.iter();
    let details: Vec<String> = details
        .map(|(name, value)| together(&format!("{name} {}", (value * 1e4).round() / 1e4)))
        .collect();
    if !details.is_empty() {
        notes.push(details.join(", "));
    }
    notes
}

/// The names of rows by reason, in the order in which reasons first occur.
fn by_reason<'a>(rows: &[&'a Measurement]) -> Vec<(String, Vec<&'a str>)> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        let reason = sentence::reason(row).unwrap_or_else(|| "no reason was given".to_owned());
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(&row.name),
            None => reasons.push((reason, vec![&row.name])),
        }
    }
    reasons
}

/// Explains the signs that occur in this table; `verbose`: it shows the evidence of its rows.
fn legend(shown: &Shown<'_>, verbose: bool, page: &mut Page) {
    let rows = shown.rows.iter();
    let rows: Vec<&RowView<'_>> = rows.filter(|view| view.figures.is_some()).collect();
    let any = |has: fn(&RowView<'_>) -> bool| rows.iter().any(|view| has(view));
    for mark in [Mark::Confirmed, Mark::Unverified, Mark::Refuted] {
        if rows.iter().any(|view| view.mark == mark) {
            let which = match mark == Mark::Unverified && !verbose {
                true => "; -v says which",
                false => "",
            };
            page.note(&format!("{} {}{which}", mark.sign(), mark.meaning()));
        }
    }
    for (is_there, meaning) in [
        (
            any(|view| view.value.is_some_and(|value| value.low.is_some())),
            "± the larger side of the 95 % confidence interval of the median over processes",
        ),
        (
            any(|view| is_upper(&view.estimate)),
            "+ that side where it is the upper one and longer than the median: the lower is shorter",
        ),
        (
            shown.has_ratios,
            &ratio_legend(rows.iter().filter_map(|view| view.beside)),
        ),
        (
            any(|view| !view.cell(Column::Company).text.is_empty()),
            "company: how many times the own price it is while others use the core; only: the median is that price",
        ),
        (
            any(|view| view.row.status == Status::BelowResolution),
            "< the cost cannot be distinguished from zero: its bound",
        ),
        (
            any(|view| view.row.status == Status::AboveRange),
            "> above range: larger than everything that could be tried in the available time and space",
        ),
    ] {
        if is_there {
            page.note(meaning);
        }
    }
    if let Some(grades) = grades(rows.iter().map(|view| &view.estimate)) {
        page.note(&format!(
            "{grades}: how far the 95 % interval reaches from the median"
        ));
    }
    for meaning in meanings(rows.iter().flat_map(|view| &view.row.flags)) {
        page.note(&meaning);
    }
    if shown.are_flags_left_out {
        page.note("+1 after a flag: one more, which -v shows");
    }
}
