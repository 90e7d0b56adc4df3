//! A document of a few kinds of parts, between facts and media.
//!
//! A layout says once what stands where and what it is; how that looks, and what becomes of a table
//! that is too wide, each medium's writer decides: [`terminal`], [`markdown()`], [`html()`].

mod html;
mod markdown;
mod picture;
mod sparkline;
mod terminal;
#[cfg(test)]
mod tests;

use maud::Markup;

use crate::export::on_one_line;

pub(crate) use picture::Drawn;
pub(crate) use sparkline::line;

pub use crate::tone::Tone;
pub use html::html;
pub use markdown::markdown;
pub use picture::Picture;
pub use terminal::terminal;

/// A part of a document.
pub enum Block {
    /// The title of what follows; 1 is the level of a whole document.
    Heading {
        /// Its depth.
        level: u8,
        /// What links to it name; may be empty.
        id: String,
        /// Its words.
        text: String,
    },
    /// Sentences.
    Paragraph(Text),
    /// Items, each with a sign before it.
    List(Vec<Text>),
    /// Questions, each with room for an answer.
    Questions(Vec<Text>),
    /// Names, and what is to be known of each.
    Facts(Vec<(Text, Text)>),
    /// Rows and columns.
    Table(Table),
    /// A chart.
    Figure(Picture),
    /// What few want to know, below the words that unfold it. A terminal shows it only when asked.
    Details(Text, Vec<Block>),
}

impl Block {
    /// A heading that no link leads to.
    pub fn heading(level: u8, text: impl Into<String>) -> Self {
        Block::linked(level, "", text)
    }

    /// A heading that links lead to.
    pub fn linked(level: u8, id: impl Into<String>, text: impl Into<String>) -> Self {
        Block::Heading {
            level,
            id: id.into(),
            text: on_one_line(&text.into()),
        }
    }

    /// Sentences.
    pub fn paragraph(text: impl Into<Text>) -> Self {
        Block::Paragraph(text.into())
    }

    /// A secondary paragraph.
    pub fn note(text: impl Into<Text>) -> Self {
        Block::Paragraph(text.into().tone(Tone::Quiet))
    }
}

/// A text of one tone; what stands between backquotes in it is code.
#[derive(Debug, Clone, Default)]
pub struct Text {
    /// What follows one another in it.
    pub parts: Vec<Part>,
    /// How it is to be taken.
    pub tone: Tone,
}

/// A part of a text.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its words.
    pub text: String,
    /// What they are.
    pub look: Look,
}

/// What a part of a text is.
#[derive(Debug, Clone)]
pub enum Look {
    /// Words.
    Plain,
    /// Words that stand out.
    Strong,
    /// A name, a command.
    Code,
    /// The name of a row, which leads to it in a page.
    Row,
    /// What tells a row from its like: parameters, of which a terminal leaves out some where it is narrow.
    Case,
    /// A flag by its short name.
    Flag,
    /// A verdict in a few words; it has the text's tone, and a colon if something follows.
    Tag,
    /// Leads to an address, or in a page to the part with this id: `#summary`.
    Link(String),
    /// A small picture, which only a page has; the words stand in its place elsewhere.
    Drawn(Markup),
}

impl Text {
    /// A text of one part.
    pub fn of(look: Look, text: impl Into<String>) -> Self {
        Text::default().with(look, text)
    }

    /// With a further part; what controls a terminal in it is taken out.
    pub fn with(mut self, look: Look, text: impl Into<String>) -> Self {
        let text = on_one_line(&text.into());
        if !text.is_empty() {
            self.parts.push(Part { text, look });
        }
        self
    }

    /// A small picture, or words in its place.
    pub fn drawn(text: impl Into<String>, picture: Markup) -> Self {
        let part = Part {
            text: text.into(),
            look: Look::Drawn(picture),
        };
        Text {
            parts: vec![part],
            tone: Tone::Plain,
        }
    }

    /// To be taken so.
    pub fn tone(self, tone: Tone) -> Self {
        Text { tone, ..self }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its words alone.
    pub fn words(&self) -> String {
        self.written(|part| part.text.clone())
    }

    /// Its parts, each written like this, with a colon between a tag and what follows it.
    fn written(&self, write: impl Fn(&Part) -> String) -> String {
        let mut out = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            out += &write(part);
            if matches!(part.look, Look::Tag) && index + 1 < self.parts.len() {
                out += ": ";
            }
        }
        out
    }

    /// Whether all of it is words of these kinds.
    fn is_all(&self, of: impl Fn(&Look) -> bool) -> bool {
        self.parts.iter().all(|part| of(&part.look))
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
pub struct Table {
    /// What the style sheet knows it by.
    pub class: &'static str,
    /// What it shows, for who cannot see where it stands.
    pub caption: String,
    /// The heading of the names.
    pub names: Text,
    /// The columns after the names.
    pub columns: Vec<Column>,
    /// The rows, from above.
    pub rows: Vec<Row>,
}

/// A column after the names.
#[derive(Debug, Clone)]
pub struct Column {
    /// What stands above it.
    pub heading: Text,
    /// What it has.
    pub kind: Kind,
    /// Where a terminal is too narrow, those of the highest rank are left out first; never with 0.
    pub rank: u8,
}

/// What a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words.
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

    /// A column of words.
    pub fn left(heading: impl Into<Text>) -> Self {
        Column::new(heading, Kind::Words)
    }

    /// A column of numbers.
    pub fn right(heading: impl Into<Text>) -> Self {
        Column::new(heading, Kind::Numbers)
    }

    /// A column of small pictures.
    pub fn plot(axis: Markup) -> Self {
        Column::new(Text::drawn("", axis), Kind::Plots)
    }

    /// Left out before those of lower rank.
    pub fn rank(self, rank: u8) -> Self {
        Column { rank, ..self }
    }
}

impl Table {
    /// What a row has in place of a cell for each column.
    fn instead<'t>(&self, row: &'t Row) -> Option<&'t Text> {
        match &row.cells[..] {
            [only] if self.columns.len() > 1 => only.iter().flat_map(Cell::texts).next(),
            _ => None,
        }
    }

    /// Whether any row has signs.
    fn has_signs(&self) -> bool {
        self.rows.iter().any(|row| !row.signs.is_empty())
    }

    /// The columns that have text, and a row's cells in them.
    fn worded<'t>(&'t self, row: &'t Row) -> impl Iterator<Item = (&'t Column, &'t [Cell])> {
        let all = self.columns.iter().zip(row.cells.iter().map(Vec::as_slice));
        all.filter(|(column, _)| column.kind != Kind::Plots)
    }
}

/// A row of a table.
#[derive(Default)]
pub struct Row {
    /// What links to it name; may be empty.
    pub id: String,
    /// Its name; without cells it is a heading of the rows below.
    pub name: Text,
    /// Where it stands among the others.
    pub place: Place,
    /// What stands in each column, below one another; a single one stands in place of all.
    pub cells: Vec<Vec<Cell>>,
    /// Flags and tags in a few letters each, behind the cells: a terminal shows those it has room for.
    pub signs: Vec<String>,
    /// What is to be said of it.
    pub notes: Vec<Text>,
}

/// Where a row stands among the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// After some space, as the heading of a part of the table.
    Part,
    /// Beside the others.
    #[default]
    Row,
    /// Below a row that it belongs to.
    Below,
}

impl Row {
    /// A heading of the rows below.
    pub fn heading(name: impl Into<Text>, place: Place) -> Self {
        Row {
            name: name.into(),
            place,
            ..Row::default()
        }
    }

    /// A row with one text in each column.
    pub fn new<T: Into<Text>>(name: impl Into<Text>, cells: impl IntoIterator<Item = T>) -> Self {
        Row {
            name: name.into(),
            cells: cells.into_iter().map(|text| Cell::lines([text])).collect(),
            ..Row::default()
        }
    }
}

/// Short texts below one another, such as a figure in two units, and what is to be said of them.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// The short texts.
    pub lines: Vec<Text>,
    /// The remarks.
    pub notes: Vec<Text>,
}

impl Cell {
    /// One cell with these lines; what is empty keeps its place where lines stand side by side.
    pub fn lines<T: Into<Text>>(lines: impl IntoIterator<Item = T>) -> Vec<Self> {
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
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        let all = self.lines.iter().chain(&self.notes);
        all.filter(|text| !text.is_empty())
    }
}
