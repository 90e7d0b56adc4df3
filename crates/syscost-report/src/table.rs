//! The table in a terminal.
//!
//! A section for each group, one line per row (below its benchmark's line, if that has several
//! rows): its name, median, the half width of the 95 % interval, minimum, core cycles, what the
//! evidence says, and flags. Columns align within a section, whose heading names them, so the long
//! names of one group do not narrow another. A row without a number says why in its place. Only
//! some rows of a long curve are shown, unless all are asked for. If the width does not suffice,
//! the minimum is dropped first, then the cycles, then the parameters in the middle of names; the
//! legend says which columns were dropped.

use std::collections::BTreeMap;

use syscost_results::directory::label_of;
use syscost_results::{Measurement, Run, Status};

use crate::{
    footer::{self, Shown},
    layout::{INDENT, Layout, Row},
    paint::{self, Paint},
    sentence,
    side_by_side::{SideBySide, text},
    wrap::{hanging, wrap},
};

/// How to draw the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOptions {
    /// Maximum width in columns; values below 60 count as 60.
    pub width: usize,
    /// Whether to write ANSI colours.
    pub color: bool,
    /// Whether to show the evidence, flags and details of every row below it.
    pub verbose: bool,
    /// Where the run was saved, for the last line.
    pub saved_to: Option<String>,
    /// What commands call the run, e.g. `latest`; `None` if it is not stored.
    pub name: Option<String>,
    /// Whether to leave out everything but the results: warnings, where the run was saved, next
    /// steps.
    pub quiet: bool,
    /// Whether the rows are only some of the run's.
    pub is_part: bool,
    /// The figures to show beside the numbers.
    pub beside: Option<Beside>,
}

/// Another run's figures, to be shown beside those of the same rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// What it is, in a line.
    pub sentence: String,
    /// Figures with their units, by the row's name.
    pub figures: BTreeMap<String, String>,
}

impl Default for TableOptions {
    /// 100 columns, no colours, brief.
    fn default() -> Self {
        TableOptions {
            width: 100,
            color: false,
            verbose: false,
            saved_to: None,
            name: Some("latest".to_owned()),
            quiet: false,
            is_part: false,
            beside: None,
        }
    }
}

impl TableOptions {
    /// The default ones, of another width.
    pub fn of_width(width: usize) -> Self {
        TableOptions {
            width,
            ..TableOptions::default()
        }
    }
}

/// The whole table with what follows it, ending in a newline.
pub fn table(run: &Run, options: &TableOptions) -> String {
    let options = &TableOptions {
        width: options.width.max(60),
        ..options.clone()
    };
    let paint = Paint {
        color: options.color,
    };
    let mut rows = Row::of(&run.measurements, options.verbose);
    if let Some(beside) = &options.beside {
        for row in &mut rows {
            let figure = beside.figures.get(&row.view.row.name);
            row.reference = Some(figure.cloned().unwrap_or_default());
        }
    }
    let mut out = String::new();
    let heading = std::iter::once(sentence::machine(run))
        .chain(sentence::peer(run))
        .chain(sentence::nfs(run))
        .chain(run.directories.iter().map(sentence::directory))
        .chain(options.beside.iter().map(|beside| beside.sentence.clone()));
    for text in heading {
        for line in wrap(&text, options.width) {
            push(&mut out, &paint.text(paint::DIM, &line));
        }
    }
    out.push('\n');
    let mut shown = Shown::default();
    for section in rows.chunk_by(|a, b| a.view.group() == b.view.group()) {
        let is_of_group = |row: &&Measurement| {
            row.status != Status::Skipped
                && row.id.split('.').next() == Some(section[0].view.group())
        };
        let of_group = run.measurements.iter().filter(is_of_group);
        let Some(beside) = SideBySide::of(of_group, &run.directories) else {
            plain(section, options, &mut out, &mut shown);
            continue;
        };
        let labels = beside.labels.clone();
        several_directories(beside, section, options, &mut out, &mut shown);
        let has_column = |row: &&Row<'_>| {
            label_of(&row.view.row.name).is_some_and(|label| labels.contains(&label))
        };
        let rest = section.iter().filter(|row| !has_column(row)).cloned();
        let rest: Vec<Row<'_>> = rest.collect();
        if !rest.is_empty() {
            plain(&rest, options, &mut out, &mut shown);
        }
    }
    out.push_str(&footer::footer(run, options, &shown, paint));
    out
}

/// The rows of a group, one line each.
fn plain<'r>(section: &[Row<'r>], options: &TableOptions, out: &mut String, shown: &mut Shown<'r>) {
    let paint = Paint {
        color: options.color,
    };
    let layout = Layout::new(section, options.width);
    let lines = layout.lines(section[0].view.group(), section, paint);
    shown.rows.extend(section.iter().map(|row| row.view.row));
    shown.columns_left_out.extend(layout.left_out());
    shown.are_flags_left_out |= lines.are_flags_left_out;
    push(out, &lines.heading);
    let mut above = "";
    for (row, line) in section.iter().zip(&lines.rows) {
        if row.is_nested() && row.view.operation() != above {
            let title = paint.text(paint::DIM, &row.view.row.title);
            push(
                out,
                &format!("{}{}  {title}", " ".repeat(INDENT), row.view.operation()),
            );
        }
        above = row.view.operation();
        push(out, line);
        left_out(row, options, out);
        if options.verbose {
            for note in footer::notes(row.view.row) {
                let indent = " ".repeat(INDENT + 2);
                for line in hanging(&note, options.width, &indent, &indent) {
                    push(out, &paint.text(paint::DIM, &line));
                }
            }
        }
    }
    out.push('\n');
}

/// Says how many rows of a curve are not shown, below its last row.
fn left_out(row: &Row<'_>, options: &TableOptions, out: &mut String) {
    let paint = Paint {
        color: options.color,
    };
    if row.left_out > 0 {
        let id = &row.view.row.id;
        let plot = options.name.iter();
        let plot: String = plot
            .map(|name| format!(", or `syscost plot {name} {id}`"))
            .collect();
        let note = format!(
            "{}{} sizes between are not shown: -v{plot}",
            " ".repeat(2 * INDENT),
            row.left_out,
        );
        push(out, &paint.text(paint::DIM, &note));
    }
}

/// The rows of several directories side by side, if shown for any of them.
fn several_directories<'r>(
    mut beside: SideBySide<'r>,
    section: &[Row<'r>],
    options: &TableOptions,
    out: &mut String,
    shown: &mut Shown<'r>,
) {
    let is_shown = |row: &Measurement| {
        let mut shown = section.iter();
        shown.any(|shown| shown.view.row.name == row.name)
    };
    let has_more = |row: &Measurement| {
        row.status.has_figures() && footer::signs(&row.estimate, &row.flags).len() > 1
    };
    let lines = &mut beside.lines;
    lines.retain(|line| line.cells.iter().flatten().any(|row| is_shown(row)));
    let cells = lines.iter().flat_map(|line| line.cells.iter().flatten());
    for &row in cells {
        shown.rows.push(row);
        shown.are_flags_left_out |= has_more(row);
    }
    let first = beside.labels[0];
    let paint = Paint {
        color: options.color,
    };
    let drawn = text::Options {
        width: options.width,
        paint,
        verbose: options.verbose,
    };
    for line in text::lines(&beside, section[0].view.group(), &drawn) {
        push(out, &line);
    }
    let of_first = |row: &&Row<'_>| label_of(&row.view.row.name) == Some(first);
    for row in section.iter().filter(of_first) {
        left_out(row, options, out);
    }
    out.push('\n');
}

/// Adds a line, without trailing spaces.
fn push(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}
