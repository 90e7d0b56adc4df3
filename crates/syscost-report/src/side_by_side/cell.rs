//! Formats the numbers of the table, and sizes the directories' columns.

use syscost_results::{Measurement, Status};

use super::Line;
use crate::paint::{self, Paint, width};
use crate::sentence::Mark;
use crate::units::Figures;

/// Columns between two directories.
pub(super) const GAP: usize = 3;
/// The heading of a ratio, before the first directory's label.
pub(super) const RATIO: &str = "to ";

/// A number's parts, or the word for why there is none.
pub(super) struct Cell<'a> {
    pub(super) median: String,
    pub(super) unit: &'static str,
    pub(super) half_width: String,
    pub(super) mark: Option<Mark>,
    /// Shown in place of a number.
    pub(super) word: &'static str,
    pub(super) ratio: String,
    pub(super) row: Option<&'a Measurement>,
}

impl<'a> Cell<'a> {
    pub(super) fn new(line: &Line<'a>, column: usize) -> Self {
        let row = line.cells[column];
        let figures = row.and_then(Figures::of);
        let mark = figures
            .as_ref()
            .zip(row)
            .map(|(_, row)| Mark::of(&row.evidence));
        let word = match (row, &figures) {
            (Some(row), None) => row.status.words(),
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

    /// The number, padded to these widths, or the word.
    pub(super) fn number(&self, column: &Column, paint: Paint) -> String {
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
        out.push_str(&paint.text(paint::style(mark.tone()), mark.sign()));
        out
    }
}

/// The widths of a directory's column.
pub(super) struct Column {
    pub(super) median: usize,
    /// Including the space before it.
    pub(super) unit: usize,
    /// Including the space before it; 0 if it is not shown.
    pub(super) half_width: usize,
    /// Minimum width of the whole number, for its heading and for words.
    pub(super) min_number_width: usize,
    /// 0 for the first directory.
    pub(super) ratio: usize,
}

impl Column {
    pub(super) fn new(
        label: &str,
        first: Option<&str>,
        cells: &[&Cell<'_>],
        with_half_width: bool,
    ) -> Self {
        let widest = |text: fn(&Cell<'_>) -> usize| cells.iter().map(|cell| text(cell)).max();
        let heading = first.map_or(0, |first| width(RATIO) + width(first));
        Column {
            median: widest(|cell| width(&cell.median)).unwrap_or(0),
            unit: widest(|cell| 1 + width(cell.unit)).unwrap_or(0),
            half_width: match with_half_width {
                true => widest(|cell| 1 + width(&cell.half_width)).unwrap_or(0),
                false => 0,
            },
            min_number_width: widest(|cell| width(cell.word))
                .unwrap_or(0)
                .max(width(label)),
            ratio: match first {
                Some(_) => widest(|cell| width(&cell.ratio)).unwrap_or(0).max(heading),
                None => 0,
            },
        }
    }

    /// Width of the number with its mark.
    pub(super) fn number(&self) -> usize {
        (self.median + self.unit + self.half_width + 2).max(self.min_number_width)
    }

    /// Total width, with the gaps before.
    pub(super) fn whole(&self) -> usize {
        let ratio = if self.ratio > 0 { 1 + self.ratio } else { 0 };
        GAP + self.number() + ratio
    }
}

pub(super) fn left(text: &str, columns: usize) -> String {
    padded_left(text, width(text), columns)
}

pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A text, `wide` columns wide apart from escape sequences, padded on the right to `columns`.
pub(super) fn padded_left(text: &str, wide: usize, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(wide)))
}
