//! Lays the rows of the table out in columns.

mod column;

use comfy_table::CellAlignment;
use syscost_results::row_name;
use syscost_results::{Measurement, Status};

use column::{Shown as ShownColumn, UNIT};

use crate::{
    chart::wrapped,
    curves::{self, Shown},
    names::distinct,
    paint::{self, Paint, cut_end, width},
    view::{Column, RowView},
};

/// Indent of a row's name, in columns.
pub(crate) const INDENT: usize = 2;
/// Columns between two columns of the table.
const GAP: usize = 2;
/// Minimum width of a name with its indent.
const MIN_NAME_WIDTH: usize = 22;

/// A row of the table before it is laid out.
#[derive(Clone)]
pub(crate) struct Row<'a> {
    pub(crate) view: RowView<'a>,
    /// The name without its group, or only the case for a row below its benchmark's own line.
    name: &'a str,
    /// Columns before the name.
    indent: usize,
    /// Number of rows not shown of the curve that ends with this row.
    pub(crate) left_out: usize,
    /// The reference's figure; `None` without a reference.
    pub(crate) reference: Option<String>,
}

impl<'a> Row<'a> {
    /// The rows of a run, those of a benchmark with several rows below a line of its own; all of
    /// them, or only some of long curves.
    pub(crate) fn of(measurements: &'a [Measurement], all: bool) -> Vec<Self> {
        // Skipped rows are mentioned once, below the table.
        let skipped = |row: &Measurement| row.status == Status::Skipped;
        measurements
            .chunk_by(|a, b| a.id == b.id)
            .flat_map(|rows| {
                let nested = rows.len() > 1;
                let every = |index| Shown { index, left_out: 0 };
                let shown = match all {
                    true => (0..rows.len()).map(every).collect(),
                    false => curves::brief(rows),
                };
                shown
                    .into_iter()
                    .filter(move |shown| !skipped(&rows[shown.index]))
                    .map(move |shown| Row::new(&rows[shown.index], nested, shown.left_out))
            })
            .collect()
    }

    fn new(measurement: &'a Measurement, nested: bool, left_out: usize) -> Self {
        let name = measurement
            .name
            .split_once('.')
            .map_or(&*measurement.name, |(_, name)| name);
        let (name, indent) = match row_name::case(name) {
            Some(case) if nested => (case, 2 * INDENT),
            _ => (name, INDENT),
        };
        Row {
            view: RowView::of(measurement),
            name,
            indent,
            left_out,
            reference: None,
        }
    }

    /// Whether its benchmark has a line of its own above.
    pub(crate) fn is_nested(&self) -> bool {
        self.indent > INDENT
    }
}

/// Rows as they are drawn.
pub(crate) struct Lines {
    pub(crate) heading: String,
    /// One for each row.
    pub(crate) rows: Vec<String>,
    /// Whether any of them has more flags than it shows.
    pub(crate) are_flags_left_out: bool,
}

/// Which columns fit, and how wide a name may be.
pub(crate) struct Layout {
    /// The columns that would be shown if there were room for all.
    all: &'static [ShownColumn],
    columns: &'static [ShownColumn],
    name: usize,
    width: usize,
}

impl Layout {
    /// Chooses the columns for rows and a width.
    pub(crate) fn new(rows: &[Row<'_>], width: usize) -> Self {
        let name = rows
            .iter()
            .map(|row| row.indent + paint::width(row.name))
            .max()
            .unwrap_or(0);
        let flags = rows.iter().map(min_flags_width).max().unwrap_or(0);
        let room = |columns: &[ShownColumn]| {
            let numbers: usize = columns
                .iter()
                .map(|&column| GAP + column_width(rows, column))
                .sum();
            // The mark is one column wide, and the unit is one column closer than the others.
            width.saturating_sub(numbers - 1 + GAP + 1 + flags)
        };
        let choices = ShownColumn::choices(rows);
        let columns = choices
            .into_iter()
            .find(|columns| name <= room(columns))
            .unwrap_or(choices[choices.len() - 1]);
        Layout {
            all: choices[0],
            columns,
            name: name.min(room(columns).max(MIN_NAME_WIDTH)),
            width,
        }
    }

    /// The names of the columns that do not fit.
    pub(crate) fn left_out(&self) -> Vec<&'static str> {
        let all = self.all.iter();
        let left_out = all.filter(|column| !self.columns.contains(column));
        left_out.map(|column| column.heading()).collect()
    }

    /// The heading, which begins with this title, then one painted line for each row.
    pub(crate) fn lines(&self, title: &str, rows: &[Row<'_>], paint: Paint) -> Lines {
        let mut table = paint::columns();
        let mut heading = vec![" ".repeat(self.name.max(width(title)))];
        heading.extend(
            self.columns
                .iter()
                .map(|column| column.heading().to_owned()),
        );
        heading.push(String::new());
        let names = self.names(rows);
        let named = rows.iter().zip(&names);
        let cells: Vec<Vec<String>> = named.map(|(row, name)| self.cells(row, name)).collect();
        table.set_header(heading).add_rows(cells.clone());
        for (index, column) in table.column_iter_mut().enumerate() {
            let shown = index
                .checked_sub(1)
                .and_then(|index| self.columns.get(index));
            let before = match shown {
                _ if index == 0 => 0,
                // A unit belongs to the number before it.
                Some(column) if *column == UNIT => 1,
                _ => GAP as u16,
            };
            column.set_padding((before, 0));
            if shown.is_some_and(|column| *column != UNIT) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut lines = table.lines();
        let mut next = || lines.next().unwrap_or_default();
        let heading = next();
        let behind: String = heading.chars().skip(width(title)).collect();
        let mut out = Lines {
            heading: format!(
                "{}{}",
                paint.text(paint::HEADING, title),
                paint.text(paint::DIM, behind.trim_end())
            ),
            rows: Vec::new(),
            are_flags_left_out: false,
        };
        for (row, cells) in rows.iter().zip(cells) {
            let laid_out = next();
            let laid_out = laid_out.trim_end();
            let room = self.width.saturating_sub(width(laid_out) + GAP);
            let all = row.view.signs();
            let flags = fit(&all, room);
            out.are_flags_left_out |= !flags.is_empty() && flags != all.join(", ");
            let mut line = self.line(row, &cells, laid_out, &flags, paint);
            // A name that cannot be shortened stands above its line.
            if cells[0].is_empty() {
                let indent = " ".repeat(row.indent);
                let above = wrapped_name(row.name, &indent, self.width);
                line = format!("{}\n{line}", above.join("\n"));
            }
            out.rows.push(line);
        }
        out
    }

    /// The names of the rows as they are shown: those below a benchmark's own line shortened among
    /// themselves, the others among all of them; `None` for one that cannot be.
    fn names(&self, rows: &[Row<'_>]) -> Vec<Option<String>> {
        let mut shown = vec![None; rows.len()];
        let mut of_one = |places: Vec<usize>| {
            let Some(first) = places.first() else { return };
            let room = self.name.saturating_sub(rows[*first].indent);
            let names: Vec<&str> = places.iter().map(|place| rows[*place].name).collect();
            for (place, name) in places.into_iter().zip(distinct(&names, room)) {
                shown[place] = name;
            }
        };
        let all = 0..rows.len();
        let (nested, others): (Vec<usize>, Vec<usize>) =
            all.partition(|place| rows[*place].is_nested());
        of_one(others);
        let id = |place: &usize| &rows[*place].view.row.id;
        let benchmarks = nested.chunk_by(|a, b| id(a) == id(b));
        benchmarks.for_each(|places| of_one(places.to_vec()));
        shown
    }

    /// The cells of a row: name, numbers, mark.
    fn cells(&self, row: &Row<'_>, name: &Option<String>) -> Vec<String> {
        let indented = |name: &String| format!("{}{name}", " ".repeat(row.indent));
        let mut cells = vec![name.as_ref().map(indented).unwrap_or_default()];
        cells.extend(self.columns.iter().map(|column| column.cell(row).text));
        cells.push(row.view.cell(Column::Mark).text);
        cells
    }

    /// The line as laid out, painted cell by cell, followed by the flags or the reason for the
    /// missing number.
    fn line(
        &self,
        row: &Row<'_>,
        cells: &[String],
        laid_out: &str,
        flags: &str,
        paint: Paint,
    ) -> String {
        if let Some(reason) = row.view.no_number() {
            let used = self.name + GAP;
            let words = cut_end(&reason, self.width.saturating_sub(used));
            let style = no_number_style(row.view.row.status);
            return format!(
                "{:<width$}{}",
                cells[0],
                paint.text(style, &words),
                width = used
            );
        }
        let mut out = String::new();
        let mut rest = laid_out;
        for (index, cell) in cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.is_empty())
        {
            let (before, after) = rest.split_once(cell.as_str()).unwrap_or((rest, ""));
            out.push_str(before);
            let column = index.checked_sub(1).map(|index| self.columns.get(index));
            out.push_str(&match column {
                None => name(cell, paint),
                Some(column) => {
                    let cell = column
                        .map_or_else(|| row.view.cell(Column::Mark), |column| column.cell(row));
                    paint.text(paint::style(cell.tone), &cell.text)
                }
            });
            rest = after;
        }
        if !flags.is_empty() {
            out.push_str(&" ".repeat(GAP));
            out.push_str(&paint.text(paint::CARE, flags));
        }
        out
    }
}

/// A whole name in lines of at most `width` columns, broken after parameters.
pub(crate) fn wrapped_name(name: &str, indent: &str, width: usize) -> Vec<String> {
    let lines = wrapped(name, width.saturating_sub(indent.len()).max(1));
    let lines = lines.into_iter();
    lines.map(|line| format!("{indent}{line}")).collect()
}

/// Width of a column of numbers, including its heading.
fn column_width(rows: &[Row<'_>], column: ShownColumn) -> usize {
    let texts = rows.iter().map(|row| width(&column.cell(row).text));
    texts.max().unwrap_or(0).max(width(column.heading()))
}

/// A name with its case dimmed.
fn name(name: &str, paint: Paint) -> String {
    let id = row_name::id(name);
    let case = &name[id.len()..];
    match case.is_empty() {
        true => id.to_owned(),
        false => format!("{id}{}", paint.text(paint::DIM, case)),
    }
}

/// The colour of the text in place of a number.
pub(crate) fn no_number_style(status: Status) -> anstyle::Style {
    match status {
        Status::Withheld | Status::Failed => paint::BAD,
        Status::Ok
        | Status::BelowResolution
        | Status::AboveRange
        | Status::Unsupported
        | Status::Skipped => paint::DIM,
    }
}

/// Minimum width to leave after the mark, to show a row's first flag.
fn min_flags_width(row: &Row<'_>) -> usize {
    match min_width(&row.view.signs()) {
        0 => 0,
        columns => GAP + columns,
    }
}

/// Width of the first of these flags, and of the number of further ones.
pub(crate) fn min_width(flags: &[&str]) -> usize {
    let more = if flags.len() > 1 { width(" +1") } else { 0 };
    flags.first().map_or(0, |first| width(first) + more)
}

/// As many flags as fit in `max_width` columns, and the number of further ones.
pub(crate) fn fit(flags: &[&str], max_width: usize) -> String {
    let text = |count: usize| {
        let more = flags.len() - count;
        let shown = flags[..count].join(", ");
        if more == 0 {
            shown
        } else {
            format!("{shown} +{more}").trim_start().to_owned()
        }
    };
    (1..=flags.len())
        .rev()
        .map(text)
        .find(|text| width(text) <= max_width)
        .unwrap_or_default()
}
