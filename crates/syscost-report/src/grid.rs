//! Text in columns: the one way in which tables are laid out for a terminal.
//!
//! A column is as wide as its widest cell, and absent if all are empty. Where the width does not
//! suffice, columns are left out, those of the highest rank first; before those of the lowest, names
//! are shortened among their like, each keeping what tells it apart. A name that cannot be stands
//! above its line.

use std::collections::{BTreeMap, BTreeSet};

use anstyle::Style;
use syscost_results::row_name;

use crate::names;
use crate::paint::{self, Paint, cut_end, width};
use crate::view;

/// Columns between two columns, unless another gap is asked for.
pub(crate) const GAP: usize = 2;
/// Indent of a name below a heading.
pub(crate) const INDENT: usize = 2;
/// Names are not made narrower than this many columns.
const MIN_NAME: usize = 22;
/// A column of this rank or a higher one is left out before any sign is.
const LUXURY: u8 = 8;
/// Of this rank or a higher one, before a name is shortened or a line shows none of its signs.
const SPARED_FOR_NAMES: u8 = 4;

/// A table before it is drawn.
pub(crate) struct Grid<'t> {
    columns: Vec<Column>,
    lines: Vec<Line<'t>>,
}

/// A column after the names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    gap: usize,
    is_right: bool,
    rank: u8,
}

/// A column of numbers, which ends at the right.
pub(crate) const fn right(heading: &'static str) -> Column {
    Column {
        is_right: true,
        ..left(heading)
    }
}

pub(crate) const fn left(heading: &'static str) -> Column {
    Column {
        heading,
        gap: GAP,
        is_right: false,
        rank: 0,
    }
}

impl Column {
    /// With this many columns of space before it.
    pub(crate) const fn after(self, gap: usize) -> Self {
        Column { gap, ..self }
    }

    /// Left out where the width is too small, before those of lower rank; never with rank 0.
    pub(crate) const fn rank(self, rank: u8) -> Self {
        Column { rank, ..self }
    }
}

/// A painted text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Cell {
            text: text.into(),
            style,
        }
    }
}

impl view::Column {
    /// As it is laid out in a terminal, left out in the order of this rank where there is no room.
    pub(crate) const fn in_grid(self, rank: u8) -> Column {
        match self {
            // It belongs to the number before it.
            view::Column::Unit => left("").after(1),
            view::Column::Mark => left("").after(1),
            _ => right(self.heading()).rank(rank),
        }
    }
}

impl From<view::Cell> for Cell {
    fn from(cell: view::Cell) -> Self {
        Cell::new(cell.text, paint::style(cell.tone))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::new(text, Style::new())
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Name<'t> {
    pub(crate) text: String,
    pub(crate) indent: usize,
    /// What its like have in common, such as the benchmark whose cases they are: it is shortened so
    /// that it differs from theirs.
    pub(crate) among: &'t str,
    pub(crate) style: Style,
    /// Whether it is never shortened.
    pub(crate) is_whole: bool,
}

impl Name<'_> {
    /// A name that is never shortened.
    pub(crate) fn whole(text: impl Into<String>, indent: usize) -> Self {
        Name {
            is_whole: true,
            ..Name::new(text, indent)
        }
    }

    /// A name among all of its indent.
    pub(crate) fn new(text: impl Into<String>, indent: usize) -> Self {
        Name {
            text: text.into(),
            indent,
            ..Name::default()
        }
    }
}

/// What follows a line's cells, as much of it as there is room for.
pub(crate) enum Behind {
    Nothing,
    /// Signs, of which as many whole ones are shown as fit, and the number of the others.
    Signs(Vec<String>),
}

impl Behind {
    /// The gap before it: signs belong to what stands before them.
    fn gap(&self) -> usize {
        match self {
            Behind::Signs(_) => 1,
            Behind::Nothing => GAP,
        }
    }

    /// Width to leave for it by a column of this rank.
    fn width(&self, rank: u8) -> usize {
        let columns = match self {
            Behind::Nothing => 0,
            Behind::Signs(signs) if rank >= LUXURY => width(&signs.join(", ")),
            Behind::Signs(signs) if rank >= SPARED_FOR_NAMES => {
                let more = if signs.len() > 1 { width(" +1") } else { 0 };
                signs.first().map_or(0, |first| width(first) + more)
            }
            // Any grade, or the number of signs.
            Behind::Signs(signs) => width(&signs.join(", ")).min(width("~~~")),
        };
        if columns > 0 { self.gap() + columns } else { 0 }
    }

    /// What fits in this many columns.
    fn within(&self, room: usize) -> Cell {
        match self {
            Behind::Nothing => Cell::default(),
            Behind::Signs(signs) => Cell::new(fitting(signs, room), paint::CARE),
        }
    }
}

/// As many whole signs as fit, with the number of further ones; if none fits, only their number.
fn fitting(signs: &[String], room: usize) -> String {
    let text = |count: usize| {
        let more = signs.len() - count;
        let shown = signs[..count].join(", ");
        match more {
            0 => shown,
            more => format!("{shown} +{more}").trim_start().to_owned(),
        }
    };
    let mut texts = (0..=signs.len()).rev().map(text);
    texts.find(|text| width(text) <= room).unwrap_or_default()
}

enum Line<'t> {
    Heading(Cell, Vec<Cell>),
    Cells(Name<'t>, Vec<Cell>, Behind),
    /// A text in place of cells, whose end may be cut.
    Instead(Name<'t>, Cell),
    /// A line of its own, as it is.
    Whole(String),
}

#[derive(Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) lines: Vec<String>,
    /// Which columns did not fit.
    pub(crate) left_out: Vec<usize>,
    /// Whether some line has more signs than it shows.
    pub(crate) are_signs_left_out: bool,
}

/// What a width has room for.
struct Fit {
    /// The columns' widths; 0 for one that is absent.
    columns: Vec<usize>,
    name: usize,
}

impl<'t> Grid<'t> {
    /// A table with these columns after the names.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Grid {
            columns,
            lines: Vec::new(),
        }
    }

    pub(crate) fn heading(&mut self, title: &str, style: Style) {
        let headings = self
            .columns
            .iter()
            .map(|column| column.heading.to_owned().into());
        self.headed(Cell::new(title, style), headings.collect());
    }

    pub(crate) fn headed(&mut self, title: Cell, headings: Vec<Cell>) {
        let dim = |cell| Cell {
            style: paint::DIM,
            ..cell
        };
        let headings = headings.into_iter().map(dim).collect();
        self.lines.push(Line::Heading(title, headings));
    }

    pub(crate) fn line(&mut self, name: Name<'t>, cells: Vec<Cell>, behind: Behind) {
        self.lines.push(Line::Cells(name, cells, behind));
    }

    /// A row's cells in these columns with its signs, or why it has no number.
    pub(crate) fn row(
        &mut self,
        name: Name<'t>,
        view: &view::RowView<'_>,
        columns: &[(view::Column, u8)],
    ) {
        match view.no_number() {
            Some(reason) => {
                let tone = view::tone_without_number(view.row.status);
                self.instead(name, Cell::new(reason, paint::style(tone)));
            }
            None => {
                let cells = columns.iter().map(|(column, _)| view.cell(*column).into());
                let signs = view.signs().into_iter().map(str::to_owned).collect();
                self.line(name, cells.collect(), Behind::Signs(signs));
            }
        }
    }

    /// A line with a text in place of its cells.
    pub(crate) fn instead(&mut self, name: Name<'t>, text: Cell) {
        self.lines.push(Line::Instead(name, text));
    }

    /// A line across all columns, as it is.
    pub(crate) fn whole(&mut self, line: impl Into<String>) {
        self.lines.push(Line::Whole(line.into()));
    }

    /// Lines across all columns.
    pub(crate) fn whole_lines(&mut self, lines: impl IntoIterator<Item = String>) {
        self.lines.extend(lines.into_iter().map(Line::Whole));
    }

    /// Whether this width suffices for the columns that are never left out, beside a short name.
    pub(crate) fn has_room_for_columns(&self, width: usize) -> bool {
        self.taken(&self.widths(1)) + self.longest_name().min(MIN_NAME) <= width
    }

    fn cells(&self) -> impl Iterator<Item = (&Vec<Cell>, &Behind)> {
        self.lines.iter().filter_map(|line| match line {
            Line::Cells(_, cells, behind) => Some((cells, behind)),
            _ => None,
        })
    }

    fn names(&self) -> impl Iterator<Item = &Name<'t>> {
        self.lines.iter().filter_map(|line| match line {
            Line::Cells(name, ..) | Line::Instead(name, _) => Some(name),
            Line::Heading(..) | Line::Whole(_) => None,
        })
    }

    fn longest_name(&self) -> usize {
        let names = self.names().map(|name| name.indent + width(&name.text));
        let titles = self.lines.iter().map(|line| match line {
            Line::Heading(title, _) => width(&title.text),
            _ => 0,
        });
        names.chain(titles).max().unwrap_or(0)
    }

    /// The natural widths of the columns below this rank; 0 for others, and for one that has no text
    /// but its heading.
    fn widths(&self, rank: u8) -> Vec<usize> {
        let headings = self.lines.iter().filter_map(|line| match line {
            Line::Heading(_, headings) => Some(headings),
            _ => None,
        });
        let mut widths = vec![0; self.columns.len()];
        let is_spared = |at: usize| self.columns[at].rank >= rank.max(1);
        for (at, cell) in self.cells().flat_map(|(cells, _)| cells.iter().enumerate()) {
            if !is_spared(at) {
                widths[at] = widths[at].max(width(&cell.text));
            }
        }
        for (at, cell) in headings.flat_map(|cells| cells.iter().enumerate()) {
            if widths[at] > 0 {
                widths[at] = widths[at].max(width(&cell.text));
            }
        }
        widths
    }

    /// Width of all columns, with the gap before them.
    fn taken(&self, widths: &[usize]) -> usize {
        let all = self.columns.iter().zip(widths);
        let present = all.filter(|(_, width)| **width > 0);
        present.map(|(column, width)| column.gap + width).sum()
    }

    /// Width to leave behind all cells by a column of this rank.
    fn behind_width(&self, rank: u8) -> usize {
        let widths = self.cells().map(|(_, behind)| behind.width(rank));
        widths.max().unwrap_or(0)
    }

    fn fit(&self, width: usize) -> Fit {
        let mut columns = self.widths(u8::MAX);
        let name = self.longest_name();
        let ranks: BTreeSet<u8> = self.columns.iter().map(|column| column.rank).collect();
        for rank in ranks.into_iter().rev().filter(|rank| *rank > 0) {
            let name = match rank >= SPARED_FOR_NAMES {
                true => name,
                false => name.min(MIN_NAME),
            };
            if name + self.taken(&columns) + self.behind_width(rank) <= width {
                break;
            }
            columns = self.widths(rank);
        }
        let taken = self.taken(&columns);
        let behind = self.behind_width(0);
        let room = width.saturating_sub(taken + behind);
        let most = width.saturating_sub(taken);
        Fit {
            name: name.min(room.max(MIN_NAME.min(most))),
            columns,
        }
    }

    /// The names of the lines as they are shown; `None` for one that cannot be shortened so far.
    fn shortened(&self, room: usize) -> Vec<Option<String>> {
        let mut sets: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
        for name in self.names() {
            let set = sets.entry((name.among, name.indent)).or_default();
            set.push(&name.text);
        }
        let shortened = self.names().map(|name| {
            let others = &sets[&(name.among, name.indent)];
            let room = room.saturating_sub(name.indent);
            match name.is_whole {
                true => Some(name.text.clone()).filter(|name| width(name) <= room),
                false => names::short(&name.text, others, room),
            }
        });
        shortened.collect()
    }

    /// The lines, each at most this wide unless it was given whole.
    pub(crate) fn draw(&self, width: usize, paint: Paint) -> Drawn {
        let fit = self.fit(width);
        let mut drawn = Drawn::default();
        let natural = self.widths(u8::MAX);
        let left_out =
            (0..self.columns.len()).filter(|at| natural[*at] > 0 && fit.columns[*at] == 0);
        drawn.left_out = left_out.collect();
        let mut names = self.shortened(fit.name).into_iter();
        for line in &self.lines {
            let text = match line {
                Line::Whole(line) => line.clone(),
                Line::Heading(title, headings) => {
                    let title = padded(title, fit.name, false, paint);
                    let headings = self.drawn(&fit, headings, paint);
                    format!("{title}{headings}")
                }
                Line::Instead(name, text) => {
                    let name = self.name(name, &mut names, &fit, &mut drawn, width, paint);
                    let words = cut_end(&text.text, width.saturating_sub(fit.name + GAP));
                    format!("{name}{:GAP$}{}", "", paint.text(text.style, &words))
                }
                Line::Cells(name, cells, behind) => {
                    let name = self.name(name, &mut names, &fit, &mut drawn, width, paint);
                    let gap = behind.gap();
                    let used = fit.name + self.taken(&fit.columns) + gap;
                    let shown = behind.within(width.saturating_sub(used));
                    drawn.are_signs_left_out |= match behind {
                        Behind::Signs(signs) => shown.text != signs.join(", "),
                        Behind::Nothing => false,
                    };
                    let behind = paint.text(shown.style, &shown.text);
                    format!(
                        "{name}{}{:gap$}{behind}",
                        self.drawn(&fit, cells, paint),
                        ""
                    )
                }
            };
            drawn.lines.push(text.trim_end().to_owned());
        }
        drawn
    }

    /// The next name, padded; above its line, which has none then, if it cannot be shortened.
    fn name(
        &self,
        name: &Name<'_>,
        names: &mut impl Iterator<Item = Option<String>>,
        fit: &Fit,
        drawn: &mut Drawn,
        width: usize,
        paint: Paint,
    ) -> String {
        let indent = " ".repeat(name.indent);
        let Some(short) = names.next().flatten() else {
            let lines = names::wrapped(&name.text, width.saturating_sub(name.indent));
            drawn
                .lines
                .extend(lines.into_iter().map(|line| format!("{indent}{line}")));
            return " ".repeat(fit.name);
        };
        let pad = fit.name.saturating_sub(name.indent + paint::width(&short));
        let painted = match name.style == Style::new() {
            true => painted_name(&short, paint),
            false => paint.text(name.style, &short),
        };
        format!("{indent}{painted}{:pad$}", "")
    }

    /// The cells, each after its gap, up to the end of the last column.
    fn drawn(&self, fit: &Fit, cells: &[Cell], paint: Paint) -> String {
        let mut out = String::new();
        let missing = Cell::default();
        for (at, column) in self.columns.iter().enumerate() {
            if fit.columns[at] > 0 {
                let cell = cells.get(at).unwrap_or(&missing);
                out += &" ".repeat(column.gap);
                out += &padded(cell, fit.columns[at], column.is_right, paint);
            }
        }
        out
    }
}

fn padded(cell: &Cell, columns: usize, is_right: bool, paint: Paint) -> String {
    let text = cut_end(&cell.text, columns);
    let pad = " ".repeat(columns.saturating_sub(width(&text)));
    // Spaces at its end are not painted, so that a line can be trimmed.
    let seen = text.trim_end();
    let behind = &text[seen.len()..];
    let text = paint.text(cell.style, seen);
    match is_right {
        true => format!("{pad}{text}{behind}"),
        false => format!("{text}{behind}{pad}"),
    }
}

/// A name with its case dimmed.
fn painted_name(name: &str, paint: Paint) -> String {
    let (id, case) = name.split_at(row_name::id(name).len());
    format!("{id}{}", paint.text(paint::DIM, case))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAINT: Paint = Paint { color: false };

    fn grid() -> Grid<'static> {
        let mut grid = Grid::new(vec![
            right("median"),
            left("").after(1),
            right("best").rank(4),
            right("cycles").rank(5),
            right("never"),
        ]);
        grid.heading("syscall", Style::new());
        for (case, median, cycles) in [
            ("call=a,via=pipe", "1.5", "10"),
            ("call=b,via=pipe", "12", ""),
        ] {
            let cells = [median, "µs", "1", cycles].map(|text| Cell::from(text.to_owned()));
            let signs = Behind::Signs(["~", "modes"].map(str::to_owned).to_vec());
            grid.line(Name::new(case, 4), cells.to_vec(), signs);
        }
        grid.instead(
            Name::new("call=c,via=pipe", 4),
            "failed: for a long reason".to_owned().into(),
        );
        grid
    }

    #[test]
    fn columns_give_way_by_rank_then_names_then_signs() {
        let lines = |width| grid().draw(width, PAINT).lines;
        for (width, expected) in [
            (
                60,
                [
                    "syscall              median     best  cycles",
                    "    call=a,via=pipe     1.5 µs     1      10 ~, modes",
                    "    call=b,via=pipe      12 µs     1         ~, modes",
                    "    call=c,via=pipe  failed: for a long reason",
                ],
            ),
            (
                42,
                [
                    "syscall              median     best",
                    "    call=a,via=pipe     1.5 µs     1 ~ +1",
                    "    call=b,via=pipe      12 µs     1 ~ +1",
                    "    call=c,via=pipe  failed: for a long r…",
                ],
            ),
            (
                35,
                [
                    "syscall              median",
                    "    call=a,via=pipe     1.5 µs ~ +1",
                    "    call=b,via=pipe      12 µs ~ +1",
                    "    call=c,via=pipe  failed: for a…",
                ],
            ),
            (
                27,
                [
                    "syscall           median",
                    "    call=a,…         1.5 µs",
                    "    call=b,…          12 µs",
                    "    call=c,…      failed:…",
                ],
            ),
        ] {
            let lines = lines(width);
            assert_eq!(lines, expected, "{}", lines.join("\n"));
        }
        let drawn = grid().draw(42, PAINT);
        assert_eq!(drawn.left_out, [3]);
        assert!(drawn.are_signs_left_out && !grid().draw(60, PAINT).are_signs_left_out);
    }

    #[test]
    fn signs_fit_or_are_counted() {
        let signs = ["shared", "few"].map(str::to_owned);
        let shown = [20, 10, 9, 8, 2, 1].map(|room| fitting(&signs, room));
        assert_eq!(
            shown,
            ["shared, few", "shared +1", "shared +1", "+2", "+2", ""]
        );
        assert_eq!(fitting(&[], 5), "");
    }
}
