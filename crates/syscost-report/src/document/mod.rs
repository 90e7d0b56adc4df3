//! A document of a few kinds of parts, between facts and media.
//!
//! A layout says once what stands where and what it is; how that looks, and what becomes of a table
//! that is too wide, each medium's writer decides: [`terminal`], [`markdown()`], [`html()`].

mod html;
mod markdown;
mod picture;
mod terminal;
#[cfg(test)]
mod tests;

use maud::Markup;

use crate::export::on_one_line;
use crate::view::Tone;

pub(crate) use html::html;
pub(crate) use markdown::markdown;
pub(crate) use picture::{Drawn, Picture};
pub(crate) use terminal::terminal;

/// A part of a document.
pub(crate) enum Block {
    /// The title of what follows; 1 is the level of a whole document.
    Heading {
        level: u8,
        /// What links to it name; may be empty.
        id: String,
        text: String,
    },
    Paragraph(Text),
    List(Vec<Text>),
    /// Questions, each with room for an answer.
    Questions(Vec<String>),
    /// Names, and what is to be known of each.
    Facts(Vec<(Text, Text)>),
    Table(Table),
    Figure(Picture),
    /// What few want to know, below the words that unfold it. A terminal shows it only when asked.
    Details(String, Vec<Block>),
}

impl Block {
    /// A heading that no link leads to.
    pub(crate) fn heading(level: u8, text: impl Into<String>) -> Self {
        Block::linked(level, "", text)
    }

    /// A heading that links lead to.
    pub(crate) fn linked(level: u8, id: impl Into<String>, text: impl Into<String>) -> Self {
        Block::Heading {
            level,
            id: id.into(),
            text: text.into(),
        }
    }

    pub(crate) fn paragraph(text: impl Into<Text>) -> Self {
        Block::Paragraph(text.into())
    }

    /// A secondary paragraph.
    pub(crate) fn note(text: impl Into<Text>) -> Self {
        Block::Paragraph(text.into().tone(Tone::Quiet))
    }
}

/// A text of one tone; what stands between backquotes in it is code.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    pub(crate) parts: Vec<Part>,
    pub(crate) tone: Tone,
}

/// A part of a text.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) look: Look,
}

/// What a part of a text is.
#[derive(Debug, Clone)]
pub(crate) enum Look {
    Plain,
    Strong,
    /// A name, a command.
    Code,
    /// The name of a row, which leads to it in a page.
    Row,
    /// A flag by its short name.
    Flag,
    /// A verdict in a few words; it has the text's tone, and a colon if something follows.
    Tag,
    /// Leads to an address, or in a page to the part with this id: `#summary`.
    Link(String),
    /// A small picture, which only a page has.
    Drawn(Markup),
}

impl Text {
    pub(crate) fn of(look: Look, text: impl Into<String>) -> Self {
        Text::default().with(look, text)
    }

    pub(crate) fn with(mut self, look: Look, text: impl Into<String>) -> Self {
        let text = on_one_line(&text.into());
        if !text.is_empty() {
            self.parts.push(Part { text, look });
        }
        self
    }

    pub(crate) fn drawn(picture: Markup) -> Self {
        let part = Part {
            text: String::new(),
            look: Look::Drawn(picture),
        };
        Text {
            parts: vec![part],
            tone: Tone::Plain,
        }
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Text { tone, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its words alone.
    pub(crate) fn words(&self) -> String {
        let mut out = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            out += &part.text;
            if matches!(part.look, Look::Tag) && index + 1 < self.parts.len() {
                out += ": ";
            }
        }
        out
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::of(Look::Plain, text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::from(text.to_owned())
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Text::from(text.clone())
    }
}

/// A table whose rows have names.
pub(crate) struct Table {
    /// What the style sheet knows it by.
    pub(crate) class: &'static str,
    /// What it shows, for who cannot see where it stands.
    pub(crate) caption: String,
    /// The heading of the names.
    pub(crate) names: Text,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

/// A column after the names.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) heading: Text,
    pub(crate) kind: Kind,
    /// Where a terminal is too narrow, those of the highest rank are left out first; never with 0.
    pub(crate) rank: u8,
}

/// What a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Words,
    /// Numbers, which end at the right.
    Numbers,
    /// Small pictures, below an axis.
    Plots,
}

impl Column {
    fn new(heading: impl Into<Text>, kind: Kind) -> Self {
        Column {
            heading: heading.into(),
            kind,
            rank: 0,
        }
    }

    pub(crate) fn left(heading: impl Into<Text>) -> Self {
        Column::new(heading, Kind::Words)
    }

    pub(crate) fn right(heading: impl Into<Text>) -> Self {
        Column::new(heading, Kind::Numbers)
    }

    pub(crate) fn plot(axis: Markup) -> Self {
        Column::new(Text::drawn(axis), Kind::Plots)
    }

    pub(crate) fn rank(self, rank: u8) -> Self {
        Column { rank, ..self }
    }
}

impl Table {
    /// The columns that have text, and a row's cells in them.
    fn worded<'t>(&'t self, row: &'t Row) -> impl Iterator<Item = (&'t Column, &'t [Cell])> {
        let all = self.columns.iter().zip(row.cells.iter().map(Vec::as_slice));
        all.filter(|(column, _)| column.kind != Kind::Plots)
    }
}

/// A row of a table.
#[derive(Default)]
pub(crate) struct Row {
    /// What links to it name; may be empty.
    pub(crate) id: String,
    pub(crate) name: Text,
    /// What stands in each column, below one another.
    pub(crate) cells: Vec<Vec<Cell>>,
    /// What is to be said of it.
    pub(crate) notes: Vec<Text>,
}

impl Row {
    /// A row with one text in each column.
    pub(crate) fn new<T: Into<Text>>(
        name: impl Into<Text>,
        cells: impl IntoIterator<Item = T>,
    ) -> Self {
        Row {
            name: name.into(),
            cells: cells.into_iter().map(|text| Cell::lines([text])).collect(),
            ..Row::default()
        }
    }
}

/// Short texts below one another, such as a figure in two units, and what is to be said of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(crate) lines: Vec<Text>,
    pub(crate) notes: Vec<Text>,
}

impl Cell {
    /// One cell with these lines; what is empty keeps its place where lines stand side by side.
    pub(crate) fn lines<T: Into<Text>>(lines: impl IntoIterator<Item = T>) -> Vec<Self> {
        let lines: Vec<Text> = lines.into_iter().map(Into::into).collect();
        match lines.iter().all(Text::is_empty) {
            true => Vec::new(),
            false => vec![Cell {
                lines,
                notes: Vec::new(),
            }],
        }
    }

    /// Its lines and notes that are not empty, below one another.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Text> {
        let all = self.lines.iter().chain(&self.notes);
        all.filter(|text| !text.is_empty())
    }
}
