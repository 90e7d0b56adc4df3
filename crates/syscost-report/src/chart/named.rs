//! Rows with names and figures: beside the plot in a file; above each row's marks in a page, which is read on telephones too.

use super::canvas::{Anchor, Canvas, width_of};
use super::{Frame, NAME_LINE, Theme, places, wrapped};

/// From the last line of a heading to the room of its marks.
const BENEATH: f64 = 4.0;
/// From a picture's edge to the headings, in a page.
const EDGE: f64 = 2.0;
/// The same to the plot, with room for arrows.
const PLOT_EDGE: f64 = 14.0;

/// Named rows beneath each other.
pub(super) struct Named<'a> {
    names: Vec<Vec<String>>,
    figures: &'a [Vec<String>],
    /// Heights of the first line of each row's name, from the top of the plot.
    firsts: Vec<f64>,
    /// Heights of the middles of the rows' marks, from the top of the plot.
    pub(super) middles: Vec<f64>,
    /// Height of the plot.
    pub(super) height: f64,
    /// Left and right edge of the plot.
    pub(super) plot: (f64, f64),
    /// Where the figures end.
    right: f64,
}

impl<'a> Named<'a> {
    /// Rows of these names and figures, a line each; their marks are `least` high, and the figures this far from the plot.
    pub(super) fn new(
        labels: &[&str],
        figures: &'a [Vec<String>],
        (least, gap): (f64, f64),
        frame: &Frame<'_>,
    ) -> Self {
        let widths = figures.iter().flatten().map(|text| width_of(text));
        let column = widths.fold(0.0, f64::max) + gap;
        match frame.theme {
            Theme::Page => Self::above(labels, figures, (least, column), frame),
            Theme::Light | Theme::Dark => Self::beside(labels, figures, (least, column), frame),
        }
    }

    fn above(
        labels: &[&str],
        figures: &'a [Vec<String>],
        (least, column): (f64, f64),
        frame: &Frame<'_>,
    ) -> Self {
        let width = frame.width();
        let most = ((width - column) / width_of("x")).max(12.0) as usize;
        let names: Vec<Vec<String>> = labels.iter().map(|label| wrapped(label, most)).collect();
        let (mut firsts, mut middles, mut end) = (Vec::new(), Vec::new(), 0.0);
        for (name, figures) in names.iter().zip(figures) {
            firsts.push(end + NAME_LINE - 1.0);
            end += NAME_LINE * name.len().max(figures.len()) as f64 + BENEATH;
            middles.push(end + least / 2.0);
            end += least;
        }
        Named {
            names,
            figures,
            firsts,
            middles,
            height: end,
            plot: (PLOT_EDGE, width - PLOT_EDGE),
            right: width - EDGE,
        }
    }

    fn beside(
        labels: &[&str],
        figures: &'a [Vec<String>],
        (least, column): (f64, f64),
        frame: &Frame<'_>,
    ) -> Self {
        let names: Vec<Vec<String>> = labels.iter().map(|label| frame.fitting(label)).collect();
        let (middles, height) = places(&names, least);
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

    /// Writes names and figures of a plot that begins at this height.
    pub(super) fn write(&self, canvas: &mut Canvas, top: f64, frame: &Frame<'_>) {
        let is_above = frame.theme == Theme::Page;
        let (x, anchor) = match is_above {
            true => (EDGE, Anchor::Start),
            false => (self.plot.0 - 12.0, Anchor::End),
        };
        for (index, (name, figures)) in self.names.iter().zip(self.figures).enumerate() {
            let first = top + self.firsts[index];
            for (line, text) in name.iter().enumerate() {
                let place = (x, first + NAME_LINE * line as f64);
                canvas.text(place, "name", anchor, text.trim_end());
            }
            // Beside a plot a single figure stands at the row's middle, and two around it.
            let mut y = match (is_above, figures.len()) {
                (true, _) => first,
                (false, 0 | 1) => top + self.middles[index] + 4.0,
                (false, _) => top + self.middles[index] - 2.0,
            };
            for (line, text) in figures.iter().enumerate() {
                let class = if line == 0 { "value" } else { "tick" };
                canvas.text((self.right, y), class, Anchor::End, text);
                y += NAME_LINE;
            }
        }
    }
}
