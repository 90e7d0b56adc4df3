//! A row as people see it, made once and printed by every renderer: text, pages, Markdown.
//!
//! A renderer chooses [`Column`]s and lays their cells out; what a cell says, by what it is sorted
//! and whether it is good or bad news is decided here alone.

use syscost_results::{Flag, Measurement, Status};

use crate::chart::Value;
use crate::footer;
use crate::sentence::{self, Mark};
use crate::units::{self, Figures, quantity};

/// A row with what may be shown of it: no number for a withheld one, whatever its document holds.
#[derive(Debug, Clone)]
pub(crate) struct RowView<'r> {
    pub(crate) row: &'r Measurement,
    /// Its number as text, or its bound; `None` without one.
    pub(crate) figures: Option<Figures>,
    /// Its number; `None` if there is none or a bound only.
    pub(crate) value: Option<Value>,
    /// What the evidence says.
    pub(crate) mark: Mark,
}

/// What can be shown of a row in a cell of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// The median, or a bound, without its unit.
    Median,
    /// The unit of the median and of what stands beside it.
    Unit,
    /// How far the 95 % interval reaches, on its longer side.
    HalfWidth,
    /// The best sample.
    Best,
    /// The 99th percentile of single operations, with its unit.
    P99,
    /// The median in cycles of the core.
    Cycles,
    /// What the evidence says.
    Mark,
}

impl Column {
    /// What stands above it.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Column::Median => "median",
            Column::Unit => "",
            Column::HalfWidth => "± 95 %",
            Column::Best => "best",
            Column::P99 => "p99",
            Column::Cycles => "cycles",
            Column::Mark => "evidence",
        }
    }
}

/// What a cell says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    /// Its text; empty where there is nothing to say.
    pub(crate) text: String,
    /// What a column is sorted by.
    pub(crate) order: Option<f64>,
    pub(crate) tone: Tone,
}

/// How a text is to be taken: a terminal's colour, a page's class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// What people read first.
    #[default]
    Plain,
    /// Secondary.
    Quiet,
    Good,
    /// Deserves attention.
    Care,
    Bad,
}

impl<'r> RowView<'r> {
    pub(crate) fn of(row: &'r Measurement) -> Self {
        RowView {
            row,
            figures: Figures::of(row),
            value: value(row),
            mark: Mark::of(&row.evidence),
        }
    }

    /// The id before its first dot.
    pub(crate) fn group(&self) -> &'r str {
        self.row.id.split('.').next().unwrap_or_default()
    }

    /// The id after its first dot.
    pub(crate) fn operation(&self) -> &'r str {
        let id = &self.row.id;
        id.split_once('.').map_or(id, |(_, operation)| operation)
    }

    /// Why it has no number.
    pub(crate) fn no_number(&self) -> Option<String> {
        let is_without = self.figures.is_none();
        is_without.then(|| sentence::no_number(self.row))
    }

    /// The median in core cycles, which a bound does not have.
    pub(crate) fn cycles(&self) -> Option<f64> {
        self.row.core_cycles.filter(|_| self.value.is_some())
    }

    /// The flags that are shown, the most important first; none without a number.
    pub(crate) fn flags(&self) -> Vec<Flag> {
        match self.figures {
            Some(_) => footer::shown_flags(&self.row.flags),
            None => Vec::new(),
        }
    }

    /// The grade of its precision, then the short names of its flags; none without a number.
    pub(crate) fn signs(&self) -> Vec<&'static str> {
        match self.figures {
            Some(_) => footer::signs(&self.row.estimate, &self.row.flags),
            None => Vec::new(),
        }
    }

    /// What it has in a column; nothing in any but the mark's without a number.
    pub(crate) fn cell(&self, column: Column) -> Cell {
        let quiet = |text: String, order: Option<f64>| Cell {
            text,
            order,
            tone: Tone::Quiet,
        };
        let Some(figures) = &self.figures else {
            return Cell::default();
        };
        let estimate = &self.row.estimate;
        match column {
            Column::Median => Cell {
                text: figures.median.clone(),
                order: match self.row.status {
                    Status::AboveRange => estimate.ci95_low,
                    Status::BelowResolution => estimate.ci95_high,
                    _ => estimate.median,
                },
                tone: Tone::Plain,
            },
            Column::Unit => Cell {
                text: figures.unit.to_owned(),
                ..Cell::default()
            },
            Column::HalfWidth => quiet(figures.half_width.clone(), self.relative_half_width()),
            Column::Best => {
                let best = self.row.best().filter(|_| !figures.best.is_empty());
                quiet(figures.best.clone(), best)
            }
            Column::P99 => {
                let p99 = estimate.p99.filter(|_| self.value.is_some());
                let text = p99.map(|p99| quantity(self.row.unit, p99));
                quiet(text.unwrap_or_default(), p99)
            }
            Column::Cycles => {
                let cycles = self.cycles();
                quiet(cycles.map(units::cycles).unwrap_or_default(), cycles)
            }
            Column::Mark => Cell {
                text: self.mark.sign().to_owned(),
                order: Some(f64::from(self.mark as u8)),
                tone: self.mark.tone(),
            },
        }
    }

    /// The longer side of the interval as a share of the median, as rows differ in their units.
    fn relative_half_width(&self) -> Option<f64> {
        let value = self.value?;
        let (low, high) = value.low.zip(value.high)?;
        Some((high - value.median).max(value.median - low) / value.median)
    }
}

/// The value of a row that has one. A withheld row never does, whatever its document holds.
pub(crate) fn value(row: &Measurement) -> Option<Value> {
    let estimate = Some(&row.estimate).filter(|_| row.status == Status::Ok)?;
    Some(Value {
        median: estimate.median.filter(|median| median.is_finite())?,
        low: estimate.ci95_low,
        high: estimate.ci95_high,
    })
}
