//! The table in characters.

use syscost_results::{Measurement, Status};

use super::{Line, SideBySide};
use crate::footer;
use crate::layout::{INDENT, mark_style};
use crate::paint::{self, Paint, cut_end, cut_middle, width};
use crate::sentence::{self, Mark};
use crate::units::Figures;

/// Columns between two directories.
const GAP: usize = 3;
/// The least that is left for a name and its indent.
const SHORTEST_NAME: usize = 30;
/// The heading of a ratio, before the first directory's label.
const RATIO: &str = "to ";

/// A number's parts, or the word for why there is none.
struct Cell<'a> {
    median: String,
    unit: &'static str,
    half_width: String,
    mark: Option<Mark>,
    /// Instead of a number.
    word: &'static str,
    ratio: String,
    row: Option<&'a Measurement>,
}

impl<'a> Cell<'a> {
    fn new(line: &Line<'a>, column: usize) -> Self {
        let row = line.cells[column];
        let figures = row.and_then(Figures::of);
        let mark = figures
            .as_ref()
            .zip(row)
            .map(|(_, row)| Mark::of(&row.evidence));
        let word = match (row, &figures) {
            (Some(row), None) => sentence::status(row.status),
            (None, _) => "none",
            (Some(_), Some(_)) => "",
        };
        let (median, unit, half_width) = figures
            .map(|figures| (figures.median.clone(), figures.unit, figures.side()))
            .unwrap_or_default();
        Cell {
            median,
            unit,
            half_width: half_width.trim_start().to_owned(),
            mark,
            word,
            ratio: match column {
                0 => String::new(),
                _ => line.ratio_text(column),
            },
            row,
        }
    }

    /// The number, laid out in these widths, or the word.
    fn number(&self, column: &Column, paint: Paint) -> String {
        if !self.word.is_empty() {
            let is_bad =
                |row: &Measurement| matches!(row.status, Status::Withheld | Status::Failed);
            let style = match self.row.is_some_and(is_bad) {
                true => paint::BAD,
                false => paint::DIM,
            };
            return padded_left(
                &paint.text(style, self.word),
                width(self.word),
                column.number(),
            );
        }
        let mut out = right(&self.median, column.median);
        out.push_str(&left(&format!(" {}", self.unit), column.unit));
        if column.half_width > 0 {
            let half = left(&format!(" {}", self.half_width), column.half_width);
            out.push_str(&paint.text(paint::DIM, &half));
        }
        let mark = self.mark.unwrap_or(Mark::Unverified);
        out.push(' ');
        out.push_str(&paint.text(mark_style(mark), mark.sign()));
        out
    }
}

/// The widths of a directory's column.
struct Column {
    median: usize,
    /// With the blank before it.
    unit: usize,
    /// With the blank before it; 0 where it is not shown.
    half_width: usize,
    /// The whole number at least: of its heading and of words.
    least: usize,
    /// 0 for the first directory.
    ratio: usize,
}

impl Column {
    fn new(label: &str, first: Option<&str>, cells: &[&Cell<'_>], with_half_width: bool) -> Self {
        let widest = |text: fn(&Cell<'_>) -> usize| cells.iter().map(|cell| text(cell)).max();
        let heading = first.map_or(0, |first| width(RATIO) + width(first));
        Column {
            median: widest(|cell| width(&cell.median)).unwrap_or(0),
            unit: widest(|cell| 1 + width(cell.unit)).unwrap_or(0),
            half_width: match with_half_width {
                true => widest(|cell| 1 + width(&cell.half_width)).unwrap_or(0),
                false => 0,
            },
            least: widest(|cell| width(cell.word))
                .unwrap_or(0)
                .max(width(label)),
            ratio: match first {
                Some(_) => widest(|cell| width(&cell.ratio)).unwrap_or(0).max(heading),
                None => 0,
            },
        }
    }

    /// Width of the number with its mark.
    fn number(&self) -> usize {
        (self.median + self.unit + self.half_width + 2).max(self.least)
    }

    /// Width of all with the gaps before.
    fn whole(&self) -> usize {
        let ratio = if self.ratio > 0 { 1 + self.ratio } else { 0 };
        GAP + self.number() + ratio
    }
}

/// How the table is drawn.
pub(crate) struct Options {
    /// Columns at most.
    pub(crate) width: usize,
    /// Colours or none.
    pub(crate) paint: Paint,
    /// Whether to tell evidence, flags and details beneath each line.
    pub(crate) verbose: bool,
}

/// The lines of the table, beneath a heading that begins with `title`. Directories that find no
/// room stand in a table of their own beneath it, beside the first once more.
pub(crate) fn lines(table: &SideBySide<'_>, title: &str, options: &Options) -> Vec<String> {
    let columns: Vec<usize> = (1..table.labels.len()).collect();
    let mut out = Vec::new();
    let mut rest = &columns[..];
    while !rest.is_empty() {
        let fitting = (1..=rest.len())
            .rev()
            .find(|count| Block::new(table, &rest[..*count], options).is_some());
        // One column beside the first is drawn, fit or not.
        let (shown, later) = rest.split_at(fitting.unwrap_or(1));
        let block = Block::new(table, shown, options)
            .unwrap_or_else(|| Block::narrow(table, shown, options));
        if !out.is_empty() {
            out.push(String::new());
        }
        block.draw(title, &mut out);
        rest = later;
    }
    out
}

/// The first directory and some others.
struct Block<'t, 'a> {
    table: &'t SideBySide<'a>,
    options: &'t Options,
    /// Places of the directories shown.
    shown: Vec<usize>,
    cells: Vec<Vec<Cell<'a>>>,
    columns: Vec<Column>,
    name: usize,
}

impl<'t, 'a> Block<'t, 'a> {
    /// With intervals if there is room, else without; `None` if names would be too short then.
    fn new(table: &'t SideBySide<'a>, others: &[usize], options: &'t Options) -> Option<Self> {
        let full = Block::sized(table, others, options, true);
        if full.name == full.longest_name() {
            return Some(full);
        }
        let narrow = Block::narrow(table, others, options);
        (narrow.name >= SHORTEST_NAME.min(narrow.longest_name())).then_some(narrow)
    }

    fn narrow(table: &'t SideBySide<'a>, others: &[usize], options: &'t Options) -> Self {
        Block::sized(table, others, options, false)
    }

    fn sized(
        table: &'t SideBySide<'a>,
        others: &[usize],
        options: &'t Options,
        with_half_width: bool,
    ) -> Self {
        let shown: Vec<usize> = std::iter::once(0).chain(others.iter().copied()).collect();
        let cells_of = |line: &Line<'a>| {
            let cells = shown.iter().map(|column| Cell::new(line, *column));
            cells.collect::<Vec<_>>()
        };
        let cells: Vec<Vec<Cell<'a>>> = table.lines.iter().map(cells_of).collect();
        let column = |place: usize| {
            let cells: Vec<&Cell<'a>> = cells.iter().map(|line| &line[place]).collect();
            let first = (place > 0).then_some(table.labels[0]);
            Column::new(table.labels[shown[place]], first, &cells, with_half_width)
        };
        let columns: Vec<Column> = (0..shown.len()).map(column).collect();
        let numbers: usize = columns.iter().map(Column::whole).sum();
        let mut block = Block {
            table,
            options,
            shown,
            cells,
            columns,
            name: 0,
        };
        let room = options.width.saturating_sub(numbers);
        block.name = block.longest_name().min(room.max(INDENT));
        block
    }

    fn longest_name(&self) -> usize {
        let names = (0..self.table.lines.len()).map(|index| {
            let (indent, name) = self.name(index);
            indent + width(&name)
        });
        names.max().unwrap_or(0)
    }

    /// Whether the line's benchmark has several, which stand beneath a line of its own.
    fn is_nested(&self, index: usize) -> bool {
        let lines = &self.table.lines;
        let is_same = |other: usize| {
            lines
                .get(other)
                .is_some_and(|line| line.id == lines[index].id)
        };
        is_same(index + 1) || index.checked_sub(1).is_some_and(is_same)
    }

    /// Indent and name of a line.
    fn name(&self, index: usize) -> (usize, String) {
        let line = &self.table.lines[index];
        match (self.is_nested(index), line.case.is_empty()) {
            (true, false) => (2 * INDENT, line.case.clone()),
            (true, true) => (2 * INDENT, line.operation().to_owned()),
            (false, true) => (INDENT, line.operation().to_owned()),
            (false, false) => (INDENT, format!("{}{{{}}}", line.operation(), line.case)),
        }
    }

    fn draw(&self, title: &str, out: &mut Vec<String>) {
        let paint = self.options.paint;
        out.push(self.heading(title));
        let mut above = "";
        for (index, (line, cells)) in self.table.lines.iter().zip(&self.cells).enumerate() {
            if self.is_nested(index) && line.id != above {
                let title = paint.text(paint::DIM, line.title);
                out.push(format!(
                    "{}{}  {title}",
                    " ".repeat(INDENT),
                    line.operation()
                ));
            }
            above = line.id;
            let (indent, name) = self.name(index);
            let name = cut_middle(&name, self.name.saturating_sub(indent));
            let mut drawn = left(&format!("{}{name}", " ".repeat(indent)), self.name);
            for (cell, column) in cells.iter().zip(&self.columns) {
                drawn.push_str(&" ".repeat(GAP));
                let laid_out = cell.number(column, Paint { color: false });
                let number = cell.number(column, paint);
                drawn.push_str(&padded_left(&number, width(&laid_out), column.number()));
                if column.ratio > 0 {
                    let ratio = right(&cell.ratio, column.ratio);
                    drawn.push_str(&format!(" {}", paint.text(paint::DIM, &ratio)));
                }
            }
            let used: usize = self.columns.iter().map(Column::whole).sum();
            let left = self.options.width.saturating_sub(self.name + used + 2);
            let flags = cut_end(&self.flags(cells), left);
            if width(&flags) > 2 {
                drawn.push_str(&format!("  {}", paint.text(paint::CARE, &flags)));
            }
            out.push(drawn.trim_end().to_owned());
            if self.options.verbose {
                out.extend(self.notes(cells));
            }
        }
    }

    fn heading(&self, title: &str) -> String {
        let paint = self.options.paint;
        let mut behind = " ".repeat(self.name.saturating_sub(width(title)));
        for (place, column) in self.shown.iter().zip(&self.columns) {
            let label = cut_end(self.table.labels[*place], column.number());
            behind.push_str(&" ".repeat(GAP));
            behind.push_str(&left(&label, column.number()));
            if column.ratio > 0 {
                let ratio = format!("{RATIO}{}", self.table.labels[0]);
                behind.push_str(&format!(" {}", right(&ratio, column.ratio)));
            }
        }
        let title = paint.text(paint::HEADING, title);
        format!("{title}{}", paint.text(paint::DIM, behind.trim_end()))
    }

    /// The flags of a line, each directory's first: `ssd: wide, tmp: noisy +1`.
    fn flags(&self, cells: &[Cell<'_>]) -> String {
        let of_one = |(place, cell): (&usize, &Cell<'_>)| {
            let row = cell.row.filter(|_| cell.word.is_empty())?;
            let flags = footer::short_flags(&row.flags);
            let more = match flags.len() {
                0 | 1 => String::new(),
                count => format!(" +{}", count - 1),
            };
            let label = self.table.labels[*place];
            flags.first().map(|first| format!("{label}: {first}{more}"))
        };
        let flags = self.shown.iter().zip(cells).filter_map(of_one);
        flags.collect::<Vec<_>>().join(", ")
    }

    /// What a verbose table tells beneath a line, of each directory.
    fn notes(&self, cells: &[Cell<'_>]) -> Vec<String> {
        let indent = " ".repeat(INDENT + 2);
        let options = textwrap::Options::new(self.options.width)
            .initial_indent(&indent)
            .subsequent_indent(&indent);
        let mut out = Vec::new();
        for (place, cell) in self.shown.iter().zip(cells) {
            let label = self.table.labels[*place];
            for note in cell.row.map(footer::notes).unwrap_or_default() {
                let lines = textwrap::wrap(&format!("{label}: {note}"), &options)
                    .into_iter()
                    .map(|line| self.options.paint.text(paint::DIM, line.trim_end()))
                    .collect::<Vec<_>>();
                out.extend(lines);
            }
        }
        out
    }
}

fn left(text: &str, columns: usize) -> String {
    padded_left(text, width(text), columns)
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A text of this width, whatever escapes it holds, with blanks behind it.
fn padded_left(text: &str, wide: usize, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(wide)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TableOptions, fixture, table};

    fn draw(width: usize, verbose: bool) -> String {
        let options = TableOptions {
            width,
            verbose,
            ..TableOptions::default()
        };
        table(&fixture::of_directories(), &options)
    }

    #[test]
    fn three_directories_at_120_columns() {
        insta::assert_snapshot!(draw(120, false));
    }

    #[test]
    fn what_finds_no_room_stands_beneath() {
        insta::assert_snapshot!(draw(80, false));
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for width in 64..140 {
            for verbose in [false, true] {
                for line in draw(width, verbose).lines() {
                    assert!(paint::width(line) <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn a_verbose_table_tells_whose_evidence_it_is() {
        let text = draw(100, true);
        assert!(
            text.contains("    tmp: ✓ bytes read per operation"),
            "{text}"
        );
    }
}
