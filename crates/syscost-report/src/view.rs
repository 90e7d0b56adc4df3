//! A row as people see it, made once and printed by every renderer: text, pages, Markdown.
//!
//! A renderer chooses [`Column`]s and lays their cells out; what a cell says, by what it is sorted
//! and whether it is good or bad news is decided here alone.

use std::collections::BTreeMap;

use syscost_results::beside::Beside;
use syscost_results::measurement::Shown;
use syscost_results::{Estimate, Flag, Measurement, Status, row_name};

use crate::chart::Value;
use crate::flags;
use crate::sentence::{self, Mark};
use crate::tone::Tone;
use crate::units::{self, Figures, quantity};

/// A row with what may be shown of it: no number for a withheld one, whatever its document holds.
#[derive(Debug, Clone)]
pub(crate) struct RowView<'r> {
    pub(crate) row: &'r Measurement,
    /// The numbers that its status allows, in its unit.
    pub(crate) estimate: Estimate,
    /// The numbers beside the main one that its status allows.
    pub(crate) details: &'r BTreeMap<String, f64>,
    /// Its number as text, or its bound; `None` without one.
    pub(crate) figures: Option<Figures>,
    /// Its number; `None` if there is none or a bound only.
    pub(crate) value: Option<Value>,
    /// What the evidence says.
    pub(crate) mark: Mark,
    /// The figure of the same row in the run that this one is shown beside.
    pub(crate) beside: Option<Beside>,
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
    /// Both ends of the 95 % interval, with their unit.
    Interval,
    Best,
    /// The 99th percentile of single operations, with its unit.
    P99,
    /// The median in cycles of the core.
    Cycles,
    /// The share of its samples that nothing disturbed.
    Undisturbed,
    /// How many times the own price that in company is; that it is all there is where the own one was
    /// not seen.
    Company,
    /// The reference's median, with its unit.
    Reference,
    /// How many times the reference's the median is, and where their intervals lie apart, which
    /// is better.
    Ratio,
    /// What the evidence says.
    Mark,
}

impl Column {
    /// What stands above it.
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Column::Median => "median",
            Column::Unit => "",
            Column::HalfWidth => "± 95 %",
            Column::Interval => "95 % interval",
            Column::Best => "best",
            Column::P99 => "p99",
            Column::Cycles => "cycles",
            Column::Undisturbed => "undisturbed",
            Column::Company => "company",
            Column::Reference => "reference",
            Column::Ratio => "ratio",
            Column::Mark => "evidence",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    /// Its text; empty where there is nothing to say.
    pub(crate) text: String,
    /// What a column is sorted by.
    pub(crate) order: Option<f64>,
    pub(crate) tone: Tone,
}

impl<'r> RowView<'r> {
    pub(crate) fn of(row: &'r Measurement) -> Self {
        let Shown {
            estimate, details, ..
        } = row.shown();
        RowView {
            row,
            estimate,
            details,
            figures: Figures::of(row),
            value: value(row),
            mark: Mark::of(&row.evidence),
            beside: None,
        }
    }

    /// The view with the reference's figure.
    pub(crate) fn beside(self, beside: Option<Beside>) -> Self {
        RowView { beside, ..self }
    }

    /// The id before its first dot.
    pub(crate) fn group(&self) -> &'r str {
        self.row.group()
    }

    /// The id after its first dot.
    pub(crate) fn operation(&self) -> &'r str {
        self.row.operation()
    }

    /// The case in its name, `call=getppid,via=libc`; empty for a benchmark with one.
    pub(crate) fn case(&self) -> &'r str {
        row_name::case(&self.row.name).unwrap_or_default()
    }

    /// Its name without the group.
    pub(crate) fn label(&self) -> &'r str {
        let name = &self.row.name;
        name.split_once('.').map_or(name, |(_, label)| label)
    }

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
            Some(_) => flags::shown_flags(&self.row.flags),
            None => Vec::new(),
        }
    }

    /// The grade of its precision, then the short names of its flags; none without a number.
    pub(crate) fn signs(&self) -> Vec<&'static str> {
        match self.figures {
            Some(_) => flags::signs(&self.estimate, &self.row.flags),
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
        let estimate = &self.estimate;
        let in_unit = |value: Option<f64>| {
            let text = value.map(|value| quantity(self.row.unit, value));
            quiet(text.unwrap_or_default(), value)
        };
        match column {
            Column::Median => Cell {
                text: figures.median.clone(),
                // A bound stands where only it is known.
                order: estimate.median.or(estimate.ci95_low).or(estimate.ci95_high),
                tone: Tone::Plain,
            },
            Column::Unit => Cell {
                text: figures.unit.to_owned(),
                ..Cell::default()
            },
            Column::HalfWidth => quiet(figures.half_width.clone(), self.relative_half_width()),
            Column::Interval => {
                let ends = estimate.ci95_low.zip(estimate.ci95_high);
                let text = ends.map(|(low, high)| units::interval(self.row.unit, low, high));
                quiet(text.unwrap_or_default(), estimate.ci95_low)
            }
            Column::Best => quiet(figures.best.clone(), estimate.best),
            Column::P99 => in_unit(estimate.p99),
            Column::Cycles => {
                let cycles = self.cycles();
                quiet(cycles.map(units::cycles).unwrap_or_default(), cycles)
            }
            Column::Undisturbed => {
                let share = estimate.undisturbed_percent;
                quiet(share.map(sentence::share).unwrap_or_default(), share)
            }
            Column::Company if self.row.is_in_company() => quiet("only".to_owned(), None),
            Column::Company => {
                let times = sentence::times_own(self.row);
                quiet(times.map(units::ratio).unwrap_or_default(), times)
            }
            Column::Reference => in_unit(self.beside.map(|beside| beside.median)),
            Column::Ratio => self.ratio(),
            Column::Mark => Cell {
                text: self.mark.sign().to_owned(),
                order: Some(f64::from(self.mark as u8)),
                tone: self.mark.tone(),
            },
        }
    }

    fn ratio(&self) -> Cell {
        let found = self.beside.filter(|_| self.value.is_some());
        let found = found.and_then(|beside| Some((beside, beside.ratio(self.row)?)));
        found.map_or_else(Cell::default, |(beside, ratio)| {
            let apart = beside.is_apart(self.row);
            compared(ratio, apart.then(|| beside.is_better(self.row)))
        })
    }

    /// The longer side of the interval as a share of the median, as rows differ in their units.
    fn relative_half_width(&self) -> Option<f64> {
        let value = self.value?;
        let (low, high) = value.low.zip(value.high)?;
        Some((high - value.median).max(value.median - low) / value.median)
    }
}

/// What the ratios to these figures are, for a text without colours.
pub(crate) fn ratio_legend(mut besides: impl Iterator<Item = Beside>) -> String {
    let at = match besides.any(|beside| beside.is_of_another_clock()) {
        true => " at either run's core frequency",
        false => "",
    };
    format!(
        "ratio: the median over the reference's; ▲ better, ▼ worse, where their 95 % intervals lie apart{at}"
    )
}

/// A ratio to a reference; `is_better` if the two are apart.
pub(crate) fn compared(ratio: f64, is_better: Option<bool>) -> Cell {
    let (sign, tone) = match is_better {
        None => (" ", Tone::Quiet),
        Some(true) => ("▲", Tone::Good),
        Some(false) => ("▼", Tone::Bad),
    };
    Cell {
        text: format!("{} {sign}", units::ratio(ratio)),
        order: Some(ratio),
        tone,
    }
}

/// How the text in place of a number is to be taken.
pub(crate) fn tone_without_number(status: Status) -> Tone {
    match status {
        Status::Withheld | Status::Failed => Tone::Bad,
        Status::Ok
        | Status::BelowResolution
        | Status::AboveRange
        | Status::Unsupported
        | Status::Skipped => Tone::Quiet,
    }
}

/// The value of a row that has one. A withheld row never does, whatever its document holds.
pub(crate) fn value(row: &Measurement) -> Option<Value> {
    let estimate = row.shown().estimate;
    Some(Value {
        median: estimate.median.filter(|median| median.is_finite())?,
        low: estimate.ci95_low,
        high: estimate.ci95_high,
    })
}
