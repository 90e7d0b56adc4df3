//! The columns of numbers in the table.

use super::Row;
use crate::view::{Cell, Column, Tone};

/// A column of the table. The name stands before them, the mark and the flags after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// What every renderer has.
    Of(Column),
    /// The reference's figure.
    Reference,
}

use Shown::{Of, Reference};

const MEDIAN: Shown = Of(Column::Median);
pub(super) const UNIT: Shown = Of(Column::Unit);
const HALF_WIDTH: Shown = Of(Column::HalfWidth);
const BEST: Shown = Of(Column::Best);
const CYCLES: Shown = Of(Column::Cycles);

impl Shown {
    /// The columns to show, from the widest choice to the narrowest.
    const CHOICES: [&[Shown]; 3] = [
        &[MEDIAN, UNIT, HALF_WIDTH, BEST, CYCLES],
        &[MEDIAN, UNIT, HALF_WIDTH, CYCLES],
        &[MEDIAN, UNIT, HALF_WIDTH],
    ];

    /// The choices with a reference, which takes precedence since it was asked for.
    const BESIDE: [&[Shown]; 3] = [
        &[MEDIAN, UNIT, HALF_WIDTH, Reference, CYCLES],
        &[MEDIAN, UNIT, HALF_WIDTH, Reference],
        &[MEDIAN, UNIT, Reference],
    ];

    pub(super) fn choices(rows: &[Row<'_>]) -> [&'static [Shown]; 3] {
        match rows.iter().any(|row| row.reference.is_some()) {
            true => Self::BESIDE,
            false => Self::CHOICES,
        }
    }

    pub(super) fn heading(self) -> &'static str {
        match self {
            Of(column) => column.heading(),
            Reference => "reference",
        }
    }

    pub(super) fn cell(self, row: &Row<'_>) -> Cell {
        match self {
            Of(column) => row.view.cell(column),
            Reference => Cell {
                text: row.reference.clone().unwrap_or_default(),
                tone: Tone::Quiet,
                ..Cell::default()
            },
        }
    }
}
