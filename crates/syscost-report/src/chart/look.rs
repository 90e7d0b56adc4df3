//! How series are told apart: by colour, and without colours by dashes and by the shape of marks.

use std::collections::HashMap;

use super::canvas::{Canvas, Shape};

/// Number of colours; after these come the same again, dashed.
pub(super) const COLORS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// The series whose colour it has; `None` is the ink.
    color: Option<usize>,
    dash: usize,
    pub(super) shape: Shape,
}

impl Look {
    /// Of the series with this index, in a chart of one run.
    pub(super) fn of_series(index: usize) -> Self {
        Look {
            color: Some(index % COLORS),
            dash: index / COLORS % 2,
            shape: Shape::of(index),
        }
    }

    /// Of a run, in a chart of several: the run decides the colour and the dashes, and the shape
    /// where there is one series of each run alone.
    pub(super) fn of_run(run: usize, series: Option<usize>) -> Self {
        Look {
            color: Some(run % COLORS),
            dash: run % 4,
            shape: Shape::of(series.unwrap_or(run)),
        }
    }

    /// The same shape, for the name of what each run has a line of.
    pub(super) fn in_ink(self) -> Self {
        Look {
            color: None,
            dash: 0,
            ..self
        }
    }

    /// Draws its mark before a name in the legend, whose line begins at `x` and stands at `y`.
    pub(super) fn legend_mark(self, canvas: &mut Canvas, (x, y): (f64, f64)) {
        let at = (x + 10.0, y - 4.0);
        canvas.marks(&[at], self.shape, 4.0, false, &self.color());
    }

    /// The class of its colour.
    pub(super) fn color(self) -> String {
        self.color
            .map_or_else(|| "ink".to_owned(), |color| format!("s{color}"))
    }

    /// The classes of its lines.
    pub(super) fn line(self) -> String {
        match self.dash {
            0 => self.color(),
            dash => format!("{} d{dash}", self.color()),
        }
    }
}

/// The place of each of these labels among those that differ, and how many differ.
pub(super) fn places<'l>(labels: impl Iterator<Item = &'l str>) -> (Vec<usize>, usize) {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let places = labels.map(|label| {
        let next = known.len();
        *known.entry(label).or_insert(next)
    });
    let places = places.collect();
    (places, known.len())
}
