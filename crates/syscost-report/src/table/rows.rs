//! The rows that the table shows.

use syscost_results::{Measurement, Status};

use crate::curves::{self, Shown};
use crate::grid::INDENT;
use crate::view::RowView;

/// A row of the table.
#[derive(Clone)]
pub(super) struct Row<'a> {
    pub(super) view: RowView<'a>,
    /// The name without its group, or only the case for a row below its benchmark's own line.
    pub(super) name: &'a str,
    /// Columns before the name.
    pub(super) indent: usize,
    /// Number of rows not shown of the curve that ends with this row.
    pub(super) left_out: usize,
}

impl<'a> Row<'a> {
    /// The rows of a run, those of a benchmark with several rows below a line of its own; all of
    /// them, or only some of long curves.
    pub(super) fn of(measurements: &'a [Measurement], all: bool) -> Vec<Self> {
        // Skipped rows are mentioned once, below the table.
        let skipped = |row: &Measurement| row.status == Status::Skipped;
        measurements
            .chunk_by(|a, b| a.id == b.id)
            .flat_map(|rows| {
                let nested = rows.len() > 1;
                let every = |index| Shown { index, left_out: 0 };
                let shown = match all {
                    true => (0..rows.len()).map(every).collect(),
                    false => curves::brief(rows),
                };
                shown
                    .into_iter()
                    .filter(move |shown| !skipped(&rows[shown.index]))
                    .map(move |shown| Row::new(&rows[shown.index], nested, shown.left_out))
            })
            .collect()
    }

    fn new(measurement: &'a Measurement, nested: bool, left_out: usize) -> Self {
        let view = RowView::of(measurement);
        let (name, indent) = match view.case() {
            case if nested && !case.is_empty() => (case, 2 * INDENT),
            _ => (view.label(), INDENT),
        };
        Row {
            view,
            name,
            indent,
            left_out,
        }
    }

    /// Whether its benchmark has a line of its own above.
    pub(super) fn is_nested(&self) -> bool {
        self.indent > INDENT
    }
}
