//! The columns of numbers in the table.

use super::Row;
use crate::units;

/// The columns of numbers. The name stands before them, the mark and the flags after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Median,
    Unit,
    HalfWidth,
    Best,
    Reference,
    Cycles,
}

impl Column {
    /// The columns to show, from the widest choice to the narrowest.
    pub(super) const CHOICES: [&[Column]; 3] = [
        &[
            Column::Median,
            Column::Unit,
            Column::HalfWidth,
            Column::Best,
            Column::Cycles,
        ],
        &[
            Column::Median,
            Column::Unit,
            Column::HalfWidth,
            Column::Cycles,
        ],
        &[Column::Median, Column::Unit, Column::HalfWidth],
    ];

    /// The choices with a reference, which takes precedence since it was asked for.
    const BESIDE: [&[Column]; 3] = [
        &[
            Column::Median,
            Column::Unit,
            Column::HalfWidth,
            Column::Reference,
            Column::Cycles,
        ],
        &[
            Column::Median,
            Column::Unit,
            Column::HalfWidth,
            Column::Reference,
        ],
        &[Column::Median, Column::Unit, Column::Reference],
    ];

    pub(super) fn choices(rows: &[Row<'_>]) -> [&'static [Column]; 3] {
        match rows.iter().any(|row| row.reference.is_some()) {
            true => Self::BESIDE,
            false => Self::CHOICES,
        }
    }

    pub(super) fn heading(self) -> &'static str {
        match self {
            Column::Median => "median",
            Column::Unit => "",
            Column::HalfWidth => "± 95 %",
            Column::Best => "best",
            Column::Reference => "reference",
            Column::Cycles => "cycles",
        }
    }

    /// The cell's text; `None` for a row without a number.
    pub(super) fn text(self, row: &Row<'_>) -> Option<String> {
        let figures = row.figures.as_ref()?;
        Some(match self {
            Column::Median => figures.median.clone(),
            Column::Unit => figures.unit.to_owned(),
            Column::HalfWidth => figures.half_width.clone(),
            Column::Best => figures.best.clone(),
            Column::Reference => row.reference.clone().unwrap_or_default(),
            Column::Cycles => row
                .measurement
                .core_cycles
                .map_or_else(String::new, units::cycles),
        })
    }

    /// Whether the column is secondary to the median, which people read first.
    pub(super) fn is_secondary(self) -> bool {
        !matches!(self, Column::Median | Column::Unit)
    }
}
