//! Charts as SVG: bars with intervals, distributions, curves, heat maps, lines over runs.
//!
//! A [`Chart`] is plain data, in one unit; [`draw`] makes the picture. In a page the charts take
//! the page's colours, light or dark; as files they carry their own ([`Theme`]). [`rows::choose`]
//! makes a chart of a run's rows.

mod bars;
mod canvas;
mod caption;
mod curve;
mod distribution;
mod groups;
mod heatmap;
mod histogram;
mod named;
mod over_runs;
mod parameters;
pub mod rows;
mod scale;
mod tail;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod value;
mod wrap;

use maud::Markup;
use syscost_results::Unit;

pub use caption::caption;
pub use text::{TextOptions, text};
pub(crate) use text::{groups as text_groups, histogram as text_histogram};
pub use theme::Theme;
pub use value::Value;

pub(crate) use bars::formatted;
pub(crate) use distribution::Round;
pub(crate) use parameters::number;
pub(crate) use scale::{Begin, Scale};
pub(crate) use theme::variables as theme_variables;
pub(crate) use wrap::wrapped;

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it is.
    pub label: String,
    /// What it costs.
    pub value: Value,
}

/// A named sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// What it is.
    pub label: String,
    /// Its median and interval; `None` leaves the mark out.
    pub value: Option<Value>,
    /// The samples, in any order.
    pub samples: Vec<f64>,
}

/// A named line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is.
    pub label: String,
    /// The parameter and the value there, by ascending parameter.
    pub points: Vec<(f64, Value)>,
}

/// The cells of a heat map, or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What distinguishes it from the others; empty if there is only one.
    pub label: String,
    /// Row by row; `None` where nothing was measured. Rows of `None` alone are not drawn.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// What is drawn along with a line, in its colour.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Beside {
    /// A law fitted to the line, dashed: the parameter and the value there.
    pub(crate) fitted: Vec<(f64, f64)>,
    /// The parameter values between which the line has a step.
    pub(crate) step: Option<(f64, f64)>,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    /// A bar for each value, with its interval; dots on a logarithmic axis, where a bar's length
    /// means nothing.
    Bars(Vec<Bar>),
    /// Empirical cumulative distributions: the share of the samples that are at most a value.
    Ecdf(Vec<Distribution>),
    /// The density of the samples, one shape for each row.
    Violin(Vec<Distribution>),
    /// Lines over a parameter.
    Curve {
        /// The parameter's name.
        parameter: String,
        /// The lines.
        lines: Vec<Line>,
    },
    /// A cell for each pair of two parameters.
    Heatmap {
        /// Names of the parameter from left to right and of the one from top to bottom.
        parameters: (String, String),
        /// The values of the parameter from left to right.
        columns: Vec<String>,
        /// The values of the parameter from top to bottom.
        rows: Vec<String>,
        /// One panel, or several below each other in the same colours.
        panels: Vec<Panel>,
    },
    /// A value in each of several runs, oldest first; `None` where a run has none.
    OverRuns {
        /// When the run began and its value.
        points: Vec<(String, Option<Value>)>,
        /// Indexes of the points at which a new level begins.
        changes: Vec<usize>,
    },
}

/// The texts around a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// What the chart shows.
    pub title: String,
    /// What it shows, in a sentence, for screen readers.
    pub description: String,
    /// Machine, date and program, shown below a chart that is a file.
    pub source: String,
}

impl Labels {
    /// The text for a screen reader, in place of the picture.
    pub(crate) fn spoken(&self) -> String {
        match (self.title.is_empty(), self.description.is_empty()) {
            (false, false) => format!("{}: {}", self.title, self.description),
            _ => format!("{}{}", self.title, self.description),
        }
    }
}

/// The picture of a chart whose values are in `unit`: an `svg` element for a page, or a file with
/// [`Theme::Light`] or [`Theme::Dark`]. Pictures for a page have neither title nor source, as the
/// page itself shows them.
pub fn draw(chart: &Chart, unit: Unit, labels: &Labels, theme: Theme) -> Markup {
    let frame = Frame::new(unit, labels, theme);
    match chart {
        Chart::Bars(bars) => bars::draw(bars, &frame),
        Chart::Ecdf(distributions) => distribution::ecdf(distributions, &frame),
        Chart::Violin(distributions) => distribution::violins(distributions, &frame),
        Chart::Curve { parameter, lines } => curve::draw(parameter, lines, &[], &frame),
        Chart::Heatmap {
            parameters,
            columns,
            rows,
            panels,
        } => heatmap::draw(
            (&parameters.0, &parameters.1),
            columns,
            rows,
            panels,
            &frame,
        ),
        Chart::OverRuns { points, changes } => over_runs::draw(points, changes, &frame),
    }
}

/// Lines over a parameter, each with its fitted law and step, for a page.
pub(crate) fn curve_with(
    parameter: &str,
    lines: &[Line],
    beside: &[Beside],
    unit: Unit,
    labels: &Labels,
) -> Markup {
    let theme = Theme::Page;
    let frame = Frame::new(unit, labels, theme);
    curve::draw(parameter, lines, beside, &frame)
}

/// A compact picture of a row's samples round by round, for the row's details: a line from the
/// smallest to the largest, a box for the middle half, a mark at the median.
pub(crate) fn rounds(rounds: &[Round], unit: Unit, labels: &Labels) -> Markup {
    let theme = Theme::Page;
    distribution::rounds(rounds, &Frame::new(unit, labels, theme))
}

/// Bars in groups with headings; a bar's name decides its colour.
pub(crate) fn groups(
    groups: &[(String, Vec<Bar>)],
    unit: Unit,
    labels: &Labels,
    theme: Theme,
) -> Markup {
    groups::draw(groups, &Frame::new(unit, labels, theme))
}

/// A compact histogram of individually timed operations, as `(upper bound in unit, count)`,
/// ascending.
pub(crate) fn histogram(bins: &[(f64, u64)], unit: Unit, labels: &Labels, theme: Theme) -> Markup {
    histogram::draw(bins, &Frame::new(unit, labels, theme))
}

/// The tail of individually timed operations, as `(upper bound in unit, count)`, ascending: the
/// share of them that took longer than a time.
pub(crate) fn tail(bins: &[(f64, u64)], unit: Unit, labels: &Labels) -> Markup {
    let theme = Theme::Page;
    tail::draw(bins, &Frame::new(unit, labels, theme))
}

/// Line height of the source below a chart.
const SOURCE_LINE: f64 = 13.0;
/// Line height of a name.
const NAME_LINE: f64 = 14.0;

/// Vertical centres of the rows, and the end of the last one. A row is at least `min_height` high,
/// or as high as its name needs.
fn places(names: &[Vec<String>], min_height: f64) -> (Vec<f64>, f64) {
    let mut end = 0.0;
    let middles = names.iter().map(|lines| {
        let high = f64::max(min_height, NAME_LINE * lines.len() as f64 + 8.0);
        end += high;
        end - high / 2.0
    });
    (middles.collect(), end)
}

/// What every chart needs in addition to its data.
struct Frame<'a> {
    unit: Unit,
    labels: &'a Labels,
    theme: Theme,
}

impl<'a> Frame<'a> {
    fn new(unit: Unit, labels: &'a Labels, theme: Theme) -> Self {
        Frame {
            unit,
            labels,
            theme,
        }
    }

    /// Width of the chart in its own units. In a page it suits a phone; wider screens show several.
    fn width(&self) -> f64 {
        match self.theme {
            Theme::Page => 330.0,
            _ => 760.0,
        }
    }

    /// Distance of everything from the left and right edges.
    fn margin(&self) -> f64 {
        match self.theme {
            Theme::Page => 2.0,
            Theme::Light | Theme::Dark => 20.0,
        }
    }

    /// Maximum room for the names at the chart's left edge.
    fn gutter(&self) -> f64 {
        match self.theme {
            Theme::Page => 110.0,
            _ => 330.0,
        }
    }

    /// A name, wrapped to the room at the chart's left edge.
    fn fitting(&self, label: &str) -> Vec<String> {
        wrapped(label, (self.gutter() / canvas::width_of("x")) as usize)
    }

    /// A name beside a plot, its lines centred at this height.
    fn name(&self, canvas: &mut canvas::Canvas, (x, middle): (f64, f64), lines: &[String]) {
        let first = middle + 4.0 - NAME_LINE * (lines.len() as f64 - 1.0) / 2.0;
        for (index, line) in lines.iter().enumerate() {
            let place = (x, first + NAME_LINE * index as f64);
            canvas.text(place, "name", canvas::Anchor::End, line.trim_end());
        }
    }

    /// A canvas for a plot of this height, with the texts around it; and the height above the plot.
    fn canvas(&self, height: f64) -> (canvas::Canvas, f64) {
        // The source is set in smaller type than the names.
        let max_chars = 1.2 * (self.width() - 40.0) / canvas::width_of("x");
        let source = wrapped(&self.labels.source, max_chars as usize);
        let (top, bottom) = match self.theme {
            Theme::Page => (4.0, 4.0),
            _ => (46.0, 30.0 + SOURCE_LINE * (source.len() as f64 - 1.0)),
        };
        let mut canvas = canvas::Canvas::new(self.width(), top + height + bottom);
        if self.theme != Theme::Page {
            let labels = self.labels;
            canvas.text((20.0, 28.0), "title", canvas::Anchor::Start, &labels.title);
            for (index, line) in source.iter().enumerate() {
                let place = (20.0, top + height + 18.0 + SOURCE_LINE * index as f64);
                canvas.text(place, "source", canvas::Anchor::Start, line.trim_end());
            }
        }
        (canvas, top)
    }

    /// Left and right edge of the plot, with room for these names on the left.
    fn edges<'b>(&self, names: impl Iterator<Item = &'b str>) -> (f64, f64) {
        let widest = names.map(canvas::width_of).fold(0.0, f64::max);
        let margin = self.margin();
        (
            margin + widest.min(self.gutter()) + 12.0,
            self.width() - margin,
        )
    }

    /// Grid lines and labels of a horizontal axis beneath a plot.
    fn horizontal_axis(
        &self,
        canvas: &mut canvas::Canvas,
        scale: &Scale,
        (left, right): (f64, f64),
        (top, bottom): (f64, f64),
    ) {
        let target_ticks = ((right - left) / 75.0) as usize;
        let ticks = scale.ticks(self.unit, target_ticks).into_iter();
        let ticks: Vec<(f64, String)> = ticks
            .map(|(value, label)| (scale.place(value), label))
            .collect();
        let lines: Vec<_> = ticks
            .iter()
            .map(|(x, _)| ((*x, top), (*x, bottom)))
            .collect();
        canvas.lines(&lines, "grid");
        labels_beneath(canvas, &ticks, bottom + 16.0);
    }

    /// Grid lines and labels of a vertical axis left of a plot.
    fn vertical_axis(
        &self,
        canvas: &mut canvas::Canvas,
        scale: &Scale,
        target_ticks: usize,
        (left, right): (f64, f64),
    ) {
        let ticks: Vec<(f64, String)> = scale
            .ticks(self.unit, target_ticks)
            .into_iter()
            .map(|(value, label)| (scale.place(value), label))
            .collect();
        let lines: Vec<_> = ticks
            .iter()
            .map(|(y, _)| ((left, *y), (right, *y)))
            .collect();
        canvas.lines(&lines, "grid");
        self.axis_title(canvas, caption::axis_title(self.unit));
        for (y, label) in ticks {
            canvas.text((left - 8.0, y + 4.0), "tick", canvas::Anchor::End, &label);
        }
    }
}

/// Labels of a horizontal axis, centred on their ticks: all of them, or every n-th as room allows.
fn labels_beneath(canvas: &mut canvas::Canvas, labels: &[(f64, String)], y: f64) {
    /// Minimum distance between two labels.
    const GAP: f64 = 4.0;
    let width = canvas.width();
    let half = |label: &str| (canvas::width_of(label) + GAP) / 2.0;
    // A label at the picture's edge is moved inwards rather than cut off.
    let places: Vec<f64> = labels
        .iter()
        .map(|(x, label)| x.min(width - half(label)).max(half(label)))
        .collect();
    let spans: Vec<(f64, f64)> = labels
        .iter()
        .zip(&places)
        .map(|((_, label), x)| (x - half(label), x + half(label)))
        .collect();
    let shown = labels.iter().zip(&places).step_by(scale::every(&spans));
    for ((_, label), x) in shown {
        canvas.text((*x, y), "tick", canvas::Anchor::Middle, label);
    }
}

/// The class of the series with this index: six colours, then the same dashed.
fn series(index: usize) -> String {
    let dash = if (index / 6) % 2 == 1 { " dash" } else { "" };
    format!("s{}{dash}", index % 6)
}
