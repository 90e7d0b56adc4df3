//! A document in a terminal.

use anstyle::Style;

use super::{Block, Cell, Column, Kind, Look, Place, Row, Table, Text};
use crate::TableOptions;
use crate::chart::TextOptions;
use crate::grid::{self, Behind, Grid, INDENT, Name};
use crate::page::Page;
use crate::paint::{self, cut_end, width};
use crate::wrap::together;

/// Columns between what stands beside a label.
const GAP: usize = 3;
/// Labels and lines wider than this do not widen what stands beneath them.
const MAX_LABEL: usize = 28;
const MAX_LINE: usize = 22;
/// A note with fewer columns than this beside its figure stands below.
const MIN_NOTE: usize = 30;

/// A document as lines of text.
pub fn terminal(blocks: &[Block], options: &TableOptions) -> String {
    let mut page = Page::new(options);
    page.blocks(blocks, options.verbose);
    page.out
}

impl Page {
    /// Adds these parts; with what other media fold, if asked for.
    pub(crate) fn blocks(&mut self, blocks: &[Block], is_unfolded: bool) {
        self.each(blocks, is_unfolded, &mut Vec::new());
    }

    /// Adds these parts; `left_out` are the columns that are known to have no room.
    fn each(&mut self, blocks: &[Block], is_unfolded: bool, left_out: &mut Vec<String>) {
        let mut is_headed = true;
        for block in blocks {
            if matches!(block, Block::Table(_)) && !is_headed {
                self.line("");
            }
            is_headed = matches!(block, Block::Heading { .. });
            match block {
                Block::Heading { text, .. } if self.out.is_empty() => {
                    self.paragraph(0, paint::HEADING, text);
                }
                Block::Heading { text, .. } => self.heading(text),
                Block::Paragraph(text) => self.text(0, text),
                Block::List(items) => {
                    for item in items {
                        let line = format!("- {}", words(item));
                        self.item(INDENT, 2, paint::style(item.tone), &line);
                    }
                }
                Block::Questions(questions) => {
                    for (index, question) in questions.iter().enumerate() {
                        self.item(
                            INDENT,
                            3,
                            Style::new(),
                            &format!("{}. {}", index + 1, question.words()),
                        );
                    }
                }
                Block::Facts(facts) => self.facts(facts),
                Block::Table(table) => self.table(table, left_out),
                Block::Figure(picture) => {
                    let options = TextOptions {
                        width: self.columns,
                        color: self.paint.color,
                    };
                    self.line("");
                    self.line(picture.text(options).trim_end());
                    picture.note.iter().for_each(|note| self.dim(note));
                }
                Block::Details(summary, blocks) if is_unfolded => {
                    self.heading(&summary.words());
                    self.each(blocks, is_unfolded, left_out);
                }
                Block::Details(..) => {}
            }
        }
    }

    fn text(&mut self, indent: usize, text: &Text) {
        self.paragraph(indent, style(text), &words(text));
    }

    fn facts(&mut self, facts: &[(Text, Text)]) {
        let names = facts.iter().map(|(name, _)| width(&name.words()));
        let widest = names.max().unwrap_or(0).min(MAX_LABEL);
        for (name, fact) in facts {
            let name = name.words();
            let begin = self.paint.text(paint::HEADING, &name);
            let pad = widest.saturating_sub(width(&name));
            if width(&name) > widest {
                self.paragraph(0, paint::HEADING, &name);
                self.text(INDENT, fact);
                continue;
            }
            let begin = format!("{begin}{:pad$}  ", "");
            self.hanging(&begin, widest + 2, paint::style(fact.tone), &words(fact));
        }
    }

    /// Its columns side by side if there is room for them; each row's cells below its name if there
    /// is none, or if something is to be said of cells, which stands beside each then.
    fn table(&mut self, table: &Table, left_out: &mut Vec<String>) {
        let grid = self.abreast(table);
        let mut cells = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
        let has_notes = cells.any(|cell| !cell.notes.is_empty());
        if has_notes || !grid.has_room_for_columns(self.columns) {
            return self.stacked(table);
        }
        let before = left_out.len();
        for at in self.grid(&grid) {
            let heading = table.columns[at].heading.words();
            if !heading.is_empty() && !left_out.contains(&heading) {
                left_out.push(heading);
            }
        }
        if left_out.len() > before {
            self.dim(&format!("no room: {}", left_out[before..].join(", ")));
        }
    }

    fn abreast<'t>(&self, table: &'t Table) -> Grid<'t> {
        let column = |column: &Column| match column.kind {
            Kind::Numbers => grid::right("").rank(column.rank),
            Kind::Words | Kind::Plots => grid::left("").rank(column.rank),
        };
        let mut grid = Grid::new(table.columns.iter().map(column).collect());
        let headings = table.columns.iter().map(|one| one.heading.words());
        let title = grid::Cell::new(table.names.words(), heading(&table.names));
        grid.headed(title, headings.map(grid::Cell::from).collect());
        let (mut is_apart, mut among) = (false, "");
        for row in &table.rows {
            if is_apart || row.place == Place::Part {
                grid.whole("");
            }
            if row.cells.is_empty() {
                grid.whole(self.headline(row));
                among = row.name.parts.first().map_or("", |part| &part.text);
                continue;
            }
            if let Some(text) = table.instead(row) {
                grid.instead(Name::whole(row.name.words(), indent(row.place)), cell(text));
                continue;
            }
            let cells: Vec<Vec<&Text>> = row.cells.iter().map(|cells| below(cells)).collect();
            let high = cells.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..high.max(1) {
                let name = match line {
                    0 => row.name.words(),
                    _ => String::new(),
                };
                let name = Name {
                    is_whole: !row.name.is_all(|look| matches!(look, Look::Case)),
                    among: if row.place == Place::Below { among } else { "" },
                    ..Name::new(name, indent(row.place))
                };
                let behind = match line {
                    0 => Behind::Signs(row.signs.clone()),
                    _ => Behind::Nothing,
                };
                let texts = cells.iter().map(|lines| lines.get(line).copied());
                let cells = texts.map(|text| text.map(cell).unwrap_or_default());
                grid.line(name, cells.collect(), behind);
            }
            grid.whole_lines(self.notes(row));
            is_apart = !row.notes.is_empty();
        }
        grid
    }

    /// The line of a row that heads those below.
    fn headline(&self, row: &Row) -> String {
        let mut line = " ".repeat(indent(row.place));
        for part in &row.name.parts {
            let room = self.columns.saturating_sub(width(&line));
            let style = match part.look {
                Look::Strong => paint::HEADING,
                Look::Code => Style::new(),
                _ => paint::DIM,
            };
            line += &self.paint.text(style, &cut_end(&part.text, room));
        }
        line
    }

    /// The lines of what is to be said of a row.
    fn notes(&self, row: &Row) -> Vec<String> {
        let mut page = Page {
            out: String::new(),
            ..*self
        };
        row.notes
            .iter()
            .for_each(|note| page.text(2 * INDENT, note));
        page.out.lines().map(str::to_owned).collect()
    }

    fn stacked(&mut self, table: &Table) {
        let cells = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
        let mut widths: Vec<usize> = Vec::new();
        for cell in cells {
            widths.resize(widths.len().max(cell.lines.len()), 0);
            for (widest, line) in widths.iter_mut().zip(&cell.lines) {
                *widest = (*widest).max(width(&line.words()).min(MAX_LINE));
            }
        }
        let headings = table
            .columns
            .iter()
            .map(|column| width(&column.heading.words()));
        let label = headings.max().unwrap_or(0).min(MAX_LABEL);
        for (index, row) in table.rows.iter().enumerate() {
            if index > 0 {
                self.line("");
            }
            self.paragraph(indent(row.place), paint::HEADING, &row.name.words());
            for (column, cells) in table.worded(row) {
                for cell in cells {
                    self.labelled(&column.heading.words(), label, cell, &widths);
                }
            }
            let signs = row.signs.join(", ");
            if !signs.is_empty() {
                self.paragraph(2 * INDENT, paint::CARE, &signs);
            }
            for line in self.notes(row) {
                self.line(&line);
            }
        }
    }

    /// A cell beside its heading: its lines in columns of these widths, then its notes.
    fn labelled(&mut self, heading: &str, label: usize, cell: &Cell, widths: &[usize]) {
        let mut begin = format!("{:1$}{heading}", "", 2 * INDENT);
        let indent = 2 * INDENT + label;
        if width(heading) > label {
            self.line(&begin);
            begin.clear();
        }
        begin += &" ".repeat(indent.saturating_sub(width(&begin)));
        let columns = widths.iter().zip(&cell.lines);
        for (widest, line) in columns.filter(|(widest, _)| **widest > 0) {
            let words = line.words();
            let pad = GAP + widest.saturating_sub(width(&words));
            begin += &format!(
                "{:pad$}{}",
                "",
                self.paint.text(paint::style(line.tone), &words)
            );
        }
        let taken = widths.iter().filter(|width| **width > 0);
        let at = indent + taken.map(|width| GAP + width).sum::<usize>() + GAP;
        if width(begin.trim_end()) > self.columns {
            self.paragraph(2 * INDENT, Style::new(), begin.trim_start());
            begin.clear();
        }
        let mut notes = cell.notes.iter().filter(|note| !note.is_empty());
        let has_room = width(&begin) <= at && at + MIN_NOTE <= self.columns;
        if has_room
            && !begin.is_empty()
            && let Some(note) = notes.next()
        {
            let begin = format!("{begin}{:1$}", "", at - width(&begin));
            self.hanging(&begin, at, paint::style(note.tone), &words(note));
        } else if !begin.is_empty() {
            self.line(&begin);
        }
        let indent = if has_room { at } else { 4 * INDENT };
        notes.for_each(|note| self.text(indent, note));
    }
}

fn indent(place: Place) -> usize {
    match place {
        Place::Part => 0,
        Place::Row => INDENT,
        Place::Below => 2 * INDENT,
    }
}

/// The texts of some cells, below one another.
fn below(cells: &[Cell]) -> Vec<&Text> {
    cells.iter().flat_map(Cell::texts).collect()
}

fn cell(text: &Text) -> grid::Cell {
    grid::Cell::new(text.words(), paint::style(text.tone))
}

fn style(text: &Text) -> Style {
    let style = paint::style(text.tone);
    let is_strong = text.is_all(|look| matches!(look, Look::Strong));
    if is_strong { style.bold() } else { style }
}

fn heading(text: &Text) -> Style {
    let is_plain = text.is_all(|look| matches!(look, Look::Plain));
    if is_plain { paint::DIM } else { style(text) }
}

/// The words of a text, with each share on one line.
fn words(text: &Text) -> String {
    text.words().replace(" %", &together(" %"))
}
