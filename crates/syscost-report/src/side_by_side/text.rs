//! The table in characters.

use super::cell::{Cell, Column, GAP, RATIO, left, padded_left, right};
use super::{Line, SideBySide};
use crate::footer;
use crate::layout::{INDENT, wrapped_name};
use crate::names::distinct;
use crate::paint::{self, Paint, cut_end, width};
use crate::wrap::hanging;

/// Minimum width of a name with its indent.
const MIN_NAME_WIDTH: usize = 30;

/// How the table is drawn.
pub(crate) struct Options {
    /// Maximum width in columns.
    pub(crate) width: usize,
    /// Whether to use colours.
    pub(crate) paint: Paint,
    /// Whether to show evidence, flags and details below each line.
    pub(crate) verbose: bool,
}

/// The lines of the table, below a heading that begins with `title`. Directories that do not fit
/// have a table of their own below, next to the first directory again.
pub(crate) fn lines(table: &SideBySide<'_>, title: &str, options: &Options) -> Vec<String> {
    let columns: Vec<usize> = (1..table.labels.len()).collect();
    let mut out = Vec::new();
    let mut rest = &columns[..];
    while !rest.is_empty() {
        let fitting = (1..=rest.len())
            .rev()
            .find(|count| Block::new(table, &rest[..*count], options).is_some());
        // One column beside the first is drawn even if it does not fit.
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
    /// Indexes of the directories shown.
    shown: Vec<usize>,
    cells: Vec<Vec<Cell<'a>>>,
    columns: Vec<Column>,
    name: usize,
}

impl<'t, 'a> Block<'t, 'a> {
    /// With intervals if they fit, else without; `None` if names would then be too short.
    fn new(table: &'t SideBySide<'a>, others: &[usize], options: &'t Options) -> Option<Self> {
        let full = Block::sized(table, others, options, true);
        if full.name == full.longest_name() {
            return Some(full);
        }
        let narrow = Block::narrow(table, others, options);
        (narrow.name >= MIN_NAME_WIDTH.min(narrow.longest_name())).then_some(narrow)
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

    /// Whether the line's benchmark has several lines, which stand below one of its own.
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

    /// The names of the lines as they are shown: shortened, where they have to be, among those of
    /// one benchmark; `None` for one that cannot be.
    fn names(&self) -> Vec<Option<String>> {
        let lines = &self.table.lines;
        let all: Vec<(usize, String)> = (0..lines.len()).map(|index| self.name(index)).collect();
        let chunks = all.chunk_by(|a, b| a.0 == b.0);
        let names = chunks.flat_map(|chunk| {
            let names: Vec<&str> = chunk.iter().map(|(_, name)| name.as_str()).collect();
            distinct(&names, self.name.saturating_sub(chunk[0].0))
        });
        names.collect()
    }

    fn draw(&self, title: &str, out: &mut Vec<String>) {
        let paint = self.options.paint;
        out.push(self.heading(title));
        let names = self.names();
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
            // A name that cannot be shortened stands above its line.
            let name = names[index].clone().unwrap_or_else(|| {
                let indent = " ".repeat(indent);
                out.extend(wrapped_name(&name, &indent, self.options.width));
                String::new()
            });
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

    /// The flags of a line, the first of each directory: `ssd: wide, tmp: noisy +1`.
    fn flags(&self, cells: &[Cell<'_>]) -> String {
        let of_one = |(place, cell): (&usize, &Cell<'_>)| {
            let row = cell.row.filter(|_| cell.word.is_empty())?;
            let flags = footer::signs(&row.estimate, &row.flags);
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

    /// What a verbose table shows below a line, for each directory.
    fn notes(&self, cells: &[Cell<'_>]) -> Vec<String> {
        let indent = " ".repeat(INDENT + 2);
        let mut out = Vec::new();
        for (place, cell) in self.shown.iter().zip(cells) {
            let label = self.table.labels[*place];
            for note in cell.row.map(footer::notes).unwrap_or_default() {
                let note = format!("{label}: {note}");
                let lines = hanging(&note, self.options.width, &indent, &indent);
                out.extend(lines.iter().map(|line| {
                    let line = line.trim_end();
                    self.options.paint.text(paint::DIM, line)
                }));
            }
        }
        out
    }
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
