//! Rows with names and figures: names beside the plot in a file; above each row's marks in a page,
//! which must be legible on phones too.

use super::canvas::{Anchor, Canvas, width_of};
use super::{Frame, NAME_LINE, Value, formatted, places};
use crate::names::wrapped;

/// Distance from the last line of a heading to its marks.
const BENEATH: f64 = 4.0;
/// Room for an arrow beside the plot, in pixels.
const ARROW: f64 = 12.0;

/// A figure beside a row's marks.
pub(super) struct Figure {
    pub(super) text: String,
    /// Its colour and type.
    pub(super) class: String,
}

impl Figure {
    /// The value of a row in a run: in the run's colour where there are several.
    pub(super) fn of(value: &Value, run: usize, frame: &Frame<'_>) -> Self {
        let class = match !frame.runs().is_empty() {
            true => format!("value label {}", frame.look((0, 1), run).color()),
            false => "value".to_owned(),
        };
        let text = formatted(frame.unit, value);
        Figure { text, class }
    }
}

/// Named rows below each other.
pub(super) struct Named<'a> {
    names: Vec<Vec<String>>,
    figures: &'a [Vec<Figure>],
    /// Baseline of the first line of each row's name, from the top of the plot.
    firsts: Vec<f64>,
    /// Vertical centre of each row's marks, from the top of the plot.
    pub(super) middles: Vec<f64>,
    pub(super) height: f64,
    /// Left and right edges of the plot.
    pub(super) plot: (f64, f64),
    /// Right edge of the figures.
    right: f64,
}

impl<'a> Named<'a> {
    /// Rows with these names and figures, a line for each figure; marks are at least `min_height`
    /// high, and the figures `gap` away from the plot.
    pub(super) fn new(
        labels: &[&str],
        figures: &'a [Vec<Figure>],
        (min_height, gap): (f64, f64),
        frame: &Frame<'_>,
    ) -> Self {
        let widths = figures
            .iter()
            .flatten()
            .map(|figure| width_of(&figure.text));
        let column = widths.fold(0.0, f64::max) + gap;
        match frame.is_narrow() {
            true => Self::above(labels, figures, (min_height, column), frame),
            false => Self::beside(labels, figures, (min_height, column), frame),
        }
    }

    fn above(
        labels: &[&str],
        figures: &'a [Vec<Figure>],
        (min_height, column): (f64, f64),
        frame: &Frame<'_>,
    ) -> Self {
        let (width, margin) = (frame.width(), frame.margin());
        let max_chars = ((width - 2.0 * margin - column) / width_of("x")).max(12.0) as usize;
        let names: Vec<Vec<String>> = labels
            .iter()
            .map(|label| wrapped(label, max_chars))
            .collect();
        let (mut firsts, mut middles, mut end) = (Vec::new(), Vec::new(), 0.0);
        for (name, figures) in names.iter().zip(figures) {
            firsts.push(end + NAME_LINE - 1.0);
            end += NAME_LINE * name.len().max(figures.len()) as f64 + BENEATH;
            middles.push(end + min_height / 2.0);
            end += min_height;
        }
        Named {
            names,
            figures,
            firsts,
            middles,
            height: end,
            plot: (margin + ARROW, width - margin - ARROW),
            right: width - margin,
        }
    }

    fn beside(
        labels: &[&str],
        figures: &'a [Vec<Figure>],
        (min_height, column): (f64, f64),
        frame: &Frame<'_>,
    ) -> Self {
        let names: Vec<Vec<String>> = labels.iter().map(|label| frame.fitting(label)).collect();
        let lines = figures.iter().map(Vec::len).max().unwrap_or(0);
        let min_height = f64::max(min_height, NAME_LINE * lines as f64 + 4.0);
        let (middles, height) = places(&names, min_height);
        let (left, right) = frame.edges(names.iter().flatten().map(String::as_str));
        let first = |(name, middle): (&Vec<String>, &f64)| {
            middle + 4.0 - NAME_LINE * (name.len() as f64 - 1.0) / 2.0
        };
        Named {
            firsts: names.iter().zip(&middles).map(first).collect(),
            names,
            figures,
            middles,
            height,
            plot: (left, right - column),
            right,
        }
    }

    /// Writes the names and figures of a plot whose top is at this height.
    pub(super) fn write(&self, canvas: &mut Canvas, top: f64, frame: &Frame<'_>) {
        let is_above = frame.is_narrow();
        let (x, anchor) = match is_above {
            true => (frame.margin(), Anchor::Start),
            false => (self.plot.0 - 12.0, Anchor::End),
        };
        for (index, (name, figures)) in self.names.iter().zip(self.figures).enumerate() {
            let first = top + self.firsts[index];
            for (line, text) in name.iter().enumerate() {
                let place = (x, first + NAME_LINE * line as f64);
                canvas.text(place, "name", anchor, text.trim_end());
            }
            let lines = figures.len() as f64 - 1.0;
            let mut y = match is_above {
                true => first,
                false => top + self.middles[index] + 4.0 - NAME_LINE * lines / 2.0,
            };
            for figure in figures {
                canvas.text((self.right, y), &figure.class, Anchor::End, &figure.text);
                y += NAME_LINE;
            }
        }
    }
}
