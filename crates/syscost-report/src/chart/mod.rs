//! Charts as SVG: bars with intervals, distributions, curves, heat maps, lines over runs.
//!
//! A [`Chart`] is plain data, in one unit; [`draw`] makes the picture. In a page the charts take
//! the page's colours, light or dark; as files they carry their own ([`Theme`]). [`rows::choose`]
//! makes a chart of the rows of one run, or of several, each drawn with its own numbers.

mod bars;
mod canvas;
mod caption;
mod color;
mod curve;
mod distribution;
mod frame;
mod groups;
mod heatmap;
mod histogram;
mod look;
mod named;
mod over_runs;
mod parameters;
pub mod rows;
mod scale;
mod sharing;
mod tail;
#[cfg(test)]
mod tests;
mod text;
mod theme;

use std::collections::BTreeSet;

use maud::{Markup, html};
use syscost_results::overview::Cache;
use syscost_results::{Estimate, Measurement, Unit};

use crate::units::{Figures, quantity};

use frame::{Frame, NAME_LINE, labels_beneath, places};

pub(crate) use caption::axis_title;
pub use caption::caption;
pub use text::{TextOptions, text};
pub(crate) use text::{
    groups as text_groups, histogram as text_histogram, sharing as text_sharing,
};
pub use theme::{Style, Theme};

pub(crate) use distribution::Round;
pub(crate) use groups::Texts as GroupTexts;
pub(crate) use scale::{Begin, Scale, range};
pub(crate) use sharing::Sharing;
pub(crate) use theme::variables as theme_variables;

/// A value with its interval, in the chart's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The median.
    pub median: f64,
    /// Lower end of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
}

/// The value with its half width and unit, as the table shows it: `412 ± 33 ns`.
pub(crate) fn formatted(unit: Unit, value: &Value) -> String {
    let estimate = Estimate {
        median: Some(value.median),
        ci95_low: value.low,
        ci95_high: value.high,
        ..Estimate::default()
    };
    match Figures::new(unit, &estimate) {
        Some(figures) => format!("{} {}", figures.with_half_width(), figures.unit),
        None => quantity(unit, value.median),
    }
    .trim_end()
    .to_owned()
}

impl Value {
    /// A value without an interval.
    pub(crate) fn exactly(median: f64) -> Self {
        Value {
            median,
            low: None,
            high: None,
        }
    }

    /// Whether it has no interval; its dot is hollow then.
    fn has_no_interval(&self) -> bool {
        self.low.is_none() || self.high.is_none()
    }
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it is.
    pub label: String,
    /// The run that it is of: its place in [`Labels::runs`]; 0 if there is only one. Bars of one
    /// label stand on one line, and follow each other by run.
    pub run: usize,
    /// What it costs.
    pub value: Value,
}

impl Bar {
    pub(crate) fn new(label: impl Into<String>, run: usize, value: Value) -> Self {
        let label = label.into();
        Bar { label, run, value }
    }
}

/// A named sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// What it is.
    pub label: String,
    /// The run that it is of, as of a [`Bar`].
    pub run: usize,
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
    /// The run that it is of, as of a [`Bar`].
    pub run: usize,
    /// The parameter and the value there, by ascending parameter.
    pub points: Vec<(f64, Value)>,
}

impl Line {
    pub(crate) fn new(label: impl Into<String>, run: usize, points: Vec<(f64, Value)>) -> Self {
        let label = label.into();
        Line { label, run, points }
    }
}

/// A named value of a parameter, across which lines behave differently.
#[derive(Debug, Clone, PartialEq)]
pub struct Border {
    /// The parameter's value.
    pub at: f64,
    /// What it is, in a word or two.
    pub name: String,
}

/// The cells of a heat map, or of a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What distinguishes it from the others of its run; empty if there is only one.
    pub label: String,
    /// The run that it is of, as of a [`Bar`].
    pub run: usize,
    /// Row by row; `None` where nothing was measured. Rows of `None` alone are not drawn.
    pub cells: Vec<Vec<Option<f64>>>,
}

impl Chart {
    /// The runs of which something is drawn.
    fn runs(&self) -> BTreeSet<usize> {
        match self {
            Chart::Bars(bars) => bars.iter().map(|bar| bar.run).collect(),
            Chart::Ecdf(all) => all.iter().map(|one| one.run).collect(),
            Chart::Curve { lines, .. } => lines.iter().map(|line| line.run).collect(),
            Chart::Heatmap { panels, .. } => panels.iter().map(|panel| panel.run).collect(),
            Chart::OverRuns { .. } => BTreeSet::new(),
        }
    }
}

impl Panel {
    /// What distinguishes it, and its run, of these if there are several.
    fn heading(&self, runs: &[String]) -> String {
        let run = runs.get(self.run).map_or("", String::as_str);
        let mut parts = vec![self.label.as_str(), run];
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }
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
    /// Lines over a parameter.
    Curve {
        /// The parameter's name.
        parameter: String,
        /// The lines.
        lines: Vec<Line>,
        /// Values of the parameter that are named, such as the sizes of caches.
        borders: Vec<Border>,
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
    /// Machine, date and program, shown below a chart that is a file; a line before it may say what
    /// the marks mean.
    pub source: String,
    /// The names of the runs, for a legend, if there are several; else empty or one name.
    pub runs: Vec<String>,
}

impl Labels {
    /// A title alone.
    pub(crate) fn titled(title: impl Into<String>) -> Self {
        Labels {
            title: title.into(),
            ..Labels::default()
        }
    }

    /// The names of the runs if there are several.
    fn several(&self) -> &[String] {
        match &self.runs[..] {
            runs @ [_, _, ..] => runs,
            _ => &[],
        }
    }

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
pub fn draw(chart: &Chart, unit: Unit, labels: &Labels, style: impl Into<Style>) -> Markup {
    let mut frame = Frame::new(unit, labels, style);
    frame.drawn = chart.runs();
    frame.picture(|frame| match chart {
        Chart::Bars(bars) => bars::draw(bars, frame),
        Chart::Ecdf(distributions) => distribution::ecdf(distributions, frame),
        Chart::Curve {
            parameter,
            lines,
            borders,
        } => curve::draw(parameter, (lines, borders), &[], frame),
        Chart::Heatmap {
            parameters,
            columns,
            rows,
            panels,
        } => heatmap::draw((&parameters.0, &parameters.1), columns, rows, panels, frame),
        Chart::OverRuns { points, changes } => over_runs::draw(points, changes, frame),
    })
}

/// The sizes of the caches that a run found, to be named in a chart of the latency of loads.
pub fn borders(caches: &[Cache]) -> Vec<Border> {
    let border = |cache: &Cache| Border {
        at: cache.bytes,
        name: format!("L{} {}", cache.level, quantity(Unit::Bytes, cache.bytes)),
    };
    caches.iter().map(border).collect()
}

/// A chart as wide as the page, of this width and height in CSS pixels on a wide screen, and as wide as
/// a phone on a phone.
pub(crate) fn draw_wide(
    chart: &Chart,
    unit: Unit,
    labels: &Labels,
    (width, height): (f64, f64),
) -> Markup {
    let wide = Style {
        height: Some(height),
        ..Style::from(Theme::Wide).wide(width)
    };
    html! {
        div class="for-phones" { (draw(chart, unit, labels, Theme::Page)) }
        div class="for-screens" { (draw(chart, unit, labels, wide)) }
    }
}

/// How long a load takes by the amount of memory that loads are spread over, as these rows of each
/// run have it, with the names of the runs and the borders of the caches: for a page's first screen.
/// `None` if the rows make no curve.
pub(crate) fn of_loads(
    runs: &[Vec<&Measurement>],
    names: Vec<String>,
    caches: &[Cache],
) -> Option<(Markup, String)> {
    let mut chosen = rows::choose(runs, Some(rows::Kind::Curve)).ok()?;
    chosen.mark(&borders(caches));
    let caption = caption(&chosen.chart);
    let labels = Labels {
        title: chosen.title,
        description: caption.clone(),
        runs: names,
        ..Labels::default()
    };
    let picture = draw_wide(&chosen.chart, chosen.unit, &labels, (600.0, 330.0));
    Some((picture, caption))
}

/// Lines over a parameter, each with its fitted law and step, for a page.
pub(crate) fn curve_with(
    parameter: &str,
    lines: &[Line],
    beside: &[Beside],
    unit: Unit,
    labels: &Labels,
) -> Markup {
    let frame = Frame::new(unit, labels, Theme::Page);
    frame.picture(|frame| curve::draw(parameter, (lines, &[]), beside, frame))
}

/// A compact picture of a row's samples round by round, for the row's details: a line from the
/// smallest to the largest, a box for the middle half, a mark at the median.
pub(crate) fn rounds(rounds: &[Round], unit: Unit, labels: &Labels) -> Markup {
    Frame::new(unit, labels, Theme::Page).picture(|frame| distribution::rounds(rounds, frame))
}

/// A compact histogram of individually timed operations, as `(upper bound in unit, count)`,
/// ascending.
pub(crate) fn histogram(bins: &[(f64, u64)], unit: Unit, labels: &Labels) -> Markup {
    Frame::new(unit, labels, Theme::Page).picture(|frame| histogram::draw(bins, frame))
}

/// The same in full, with both axes named.
pub(crate) fn histogram_of_all(
    bins: &[(f64, u64)],
    unit: Unit,
    labels: &Labels,
    theme: Theme,
) -> Markup {
    Frame::new(unit, labels, theme).picture(|frame| histogram::all(bins, frame))
}

/// The tail of individually timed operations, as `(upper bound in unit, count)`, ascending: the
/// share of them that took longer than a time.
pub(crate) fn tail(bins: &[(f64, u64)], unit: Unit, labels: &Labels) -> Markup {
    Frame::new(unit, labels, Theme::Page).picture(|frame| tail::draw(bins, frame))
}

/// What a row's operation took, against the ratios of the probes around its samples.
pub(crate) fn against_ratio(
    sharing: &Sharing,
    unit: Unit,
    labels: &Labels,
    theme: Theme,
) -> Markup {
    Frame::new(unit, labels, theme).picture(|frame| sharing::draw(sharing, frame))
}

/// Bars in groups with headings.
pub(crate) fn groups(
    groups: &[(String, Vec<Bar>)],
    texts: &GroupTexts,
    unit: Unit,
    labels: &Labels,
    theme: Theme,
) -> Markup {
    Frame::new(unit, labels, theme).picture(|frame| groups::draw(groups, texts, frame))
}
