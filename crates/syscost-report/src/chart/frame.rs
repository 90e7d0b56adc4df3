//! What surrounds a plot: its size, its names, its axes.

use std::collections::BTreeSet;

use maud::Markup;
use syscost_results::Unit;

use super::look::Look;
use super::{Labels, Scale, Style, canvas, caption, scale};
use crate::names::wrapped;

/// Line height of the source below a chart.
const SOURCE_LINE: f64 = 13.0;
/// Line height of a file's title, and the size of its type in that of names, as it is bold.
const TITLE_LINE: f64 = 20.0;
const TITLE_TYPE: f64 = 1.4;
/// Line height of a name.
pub(super) const NAME_LINE: f64 = 14.0;
/// Height of a vertical axis' title above its plot, and of a horizontal axis beneath it, in pixels: ticks and
/// title.
pub(super) const ABOVE: f64 = 18.0;
pub(super) const BENEATH: f64 = 40.0;
/// Width of a sample of a run's look in the legend.
const SAMPLE: f64 = 26.0;

/// How the legend of runs shows a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Mark,
    Line,
    MarkedLine,
}

/// Vertical centres of the rows, and the end of the last one. A row is at least `min_height` high,
/// or as high as its name needs.
pub(super) fn places(names: &[Vec<String>], min_height: f64) -> (Vec<f64>, f64) {
    let mut end = 0.0;
    let middles = names.iter().map(|lines| {
        let high = f64::max(min_height, NAME_LINE * lines.len() as f64 + 8.0);
        end += high;
        end - high / 2.0
    });
    (middles.collect(), end)
}

/// What every chart needs in addition to its data.
pub(super) struct Frame<'a> {
    pub(super) unit: Unit,
    pub(super) labels: &'a Labels,
    style: Style,
    /// The runs of which something is drawn.
    pub(super) drawn: BTreeSet<usize>,
    /// What a plot is higher, or lower, than it would be, so that the picture has the height wanted.
    stretch: f64,
}

impl<'a> Frame<'a> {
    pub(super) fn new(unit: Unit, labels: &'a Labels, style: impl Into<Style>) -> Self {
        Frame {
            unit,
            labels,
            style: style.into(),
            drawn: BTreeSet::new(),
            stretch: 0.0,
        }
    }

    /// The whole picture, with the height that is wanted if it can be had.
    pub(super) fn picture(mut self, draw: impl Fn(&Self) -> canvas::Canvas) -> Markup {
        let mut canvas = draw(&self);
        if let Some(height) = self.style.height {
            self.stretch = height - canvas.height();
            canvas = draw(&self);
        }
        canvas.finish(self.labels, self.style)
    }
}

impl Frame<'_> {
    /// Whether names stand above or below what they name, as there is no room beside it.
    pub(super) fn is_narrow(&self) -> bool {
        self.width() < 500.0
    }

    /// Whether the picture is a file, with its title and source; in a page these stand around it.
    pub(super) fn is_file(&self) -> bool {
        self.style.theme.is_file()
    }

    /// A plot's height, given what it is unless another height is wanted.
    pub(super) fn plot_height(&self, usual: f64) -> f64 {
        (usual + self.stretch).max(0.4 * usual)
    }

    /// A row's height, given what it is at least and what it is unless another height is wanted for
    /// this many of them.
    pub(super) fn row_height(&self, least: f64, usual: f64, count: usize) -> f64 {
        (usual + self.stretch / count.max(1) as f64).max(least)
    }

    /// Width of the chart.
    pub(super) fn width(&self) -> f64 {
        self.style.width
    }

    /// Distance of everything from the left and right edges.
    pub(super) fn margin(&self) -> f64 {
        if self.is_file() { 20.0 } else { 2.0 }
    }

    /// Maximum room for the names at the chart's left edge.
    pub(super) fn gutter(&self) -> f64 {
        let (narrow, wide) = (110.0, 330.0);
        let usual = if self.is_narrow() { narrow } else { wide };
        f64::min(usual, 0.4 * self.width())
    }

    /// A name, wrapped to the room at the chart's left edge.
    pub(super) fn fitting(&self, label: &str) -> Vec<String> {
        wrapped(label, (self.gutter() / canvas::width_of("x")) as usize)
    }

    /// A name beside a plot, its lines centred at this height.
    pub(super) fn name(
        &self,
        canvas: &mut canvas::Canvas,
        (x, middle): (f64, f64),
        lines: &[String],
    ) {
        let first = middle + 4.0 - NAME_LINE * (lines.len() as f64 - 1.0) / 2.0;
        for (index, line) in lines.iter().enumerate() {
            let place = (x, first + NAME_LINE * index as f64);
            canvas.text(place, "name", canvas::Anchor::End, line.trim_end());
        }
    }

    /// The names of the runs if the chart shows several.
    pub(super) fn runs(&self) -> &[String] {
        self.labels.several()
    }

    /// The look of a series, given which of how many it is, of a run.
    pub(super) fn look(&self, (series, count): (usize, usize), run: usize) -> Look {
        match self.runs() {
            [] => Look::of_series(series),
            _ => Look::of_run(run, Some(series).filter(|_| count > 1)),
        }
    }

    /// A canvas for a plot of this height, with the texts around it, among them the names of several
    /// runs if their key is given; and the height above the plot.
    pub(super) fn canvas(&self, height: f64, key: Option<Key>) -> (canvas::Canvas, f64) {
        // The source is set in smaller type than the names.
        let max_chars = 1.2 * (self.width() - 40.0) / canvas::width_of("x");
        let source: Vec<String> = self
            .labels
            .source
            .split('\n')
            .flat_map(|line| wrapped(line, max_chars as usize))
            .collect();
        let max_chars = (self.width() - 40.0) / (TITLE_TYPE * canvas::width_of("x"));
        let title = wrapped(&self.labels.title, max_chars as usize);
        let key = key.filter(|_| !self.runs().is_empty());
        let names = key.map_or_else(Vec::new, |_| self.wrapped_runs());
        let legend = NAME_LINE * names.iter().map(|(_, name)| name.len()).sum::<usize>() as f64;
        let (above, bottom) = match self.is_file() {
            false => (4.0, 4.0),
            true => (
                42.0 + TITLE_LINE * (title.len() as f64 - 1.0),
                30.0 + SOURCE_LINE * (source.len() as f64 - 1.0),
            ),
        };
        let top = above + legend + if legend > 0.0 { 6.0 } else { 0.0 };
        let mut canvas = canvas::Canvas::new(self.width(), top + height + bottom);
        if self.is_file() {
            for (index, line) in title.iter().enumerate() {
                let place = (20.0, 28.0 + TITLE_LINE * index as f64);
                canvas.text(place, "title", canvas::Anchor::Start, line.trim_end());
            }
            for (index, line) in source.iter().enumerate() {
                let place = (20.0, top + height + 18.0 + SOURCE_LINE * index as f64);
                canvas.text(place, "source", canvas::Anchor::Start, line.trim_end());
            }
        }
        let mut y = above;
        for (run, name) in names {
            if let Some(key) = key {
                self.sample(&mut canvas, (self.margin(), y + NAME_LINE / 2.0), run, key);
            }
            for line in name {
                y += NAME_LINE;
                let place = (self.margin() + SAMPLE, y - 3.0);
                canvas.text(place, "name", canvas::Anchor::Start, line.trim_end());
            }
        }
        (canvas, top)
    }

    /// The runs of which something is drawn, their names wrapped to the width.
    fn wrapped_runs(&self) -> Vec<(usize, Vec<String>)> {
        let room = self.width() - 2.0 * self.margin() - SAMPLE;
        let max_chars = (room / canvas::width_of("x")) as usize;
        let names = self.runs().iter().enumerate();
        let names = names.filter(|(run, _)| self.drawn.contains(run));
        names
            .map(|(run, name)| (run, wrapped(name, max_chars)))
            .collect()
    }

    /// A sample of a run's look, beginning at this point.
    fn sample(&self, canvas: &mut canvas::Canvas, (x, y): (f64, f64), run: usize, key: Key) {
        let look = Look::of_run(run, None);
        let width = SAMPLE - 6.0;
        if key != Key::Mark {
            canvas.line((x, y), (x + width, y), &format!("curve {}", look.line()));
        }
        if key != Key::Line {
            let middle = (x + width / 2.0, y);
            canvas.marks(&[middle], look.shape, 4.0, false, &look.color());
        }
    }

    /// Left and right edge of the plot, with room for these names on the left; type so large that it
    /// leaves no room moves the plot out of the picture rather than turn it inside out.
    pub(super) fn edges<'b>(&self, names: impl Iterator<Item = &'b str>) -> (f64, f64) {
        let widest = names.map(canvas::width_of).fold(0.0, f64::max);
        let margin = self.margin();
        let left = margin + widest.min(self.gutter()) + 12.0;
        (left, (self.width() - margin).max(left + 10.0))
    }

    /// Grid lines, labels and title of a horizontal axis beneath a plot, which needs [`BENEATH`].
    pub(super) fn horizontal_axis(
        &self,
        canvas: &mut canvas::Canvas,
        (scale, what): (&Scale, &str),
        across: (f64, f64),
        down: (f64, f64),
    ) {
        self.axis_beneath(canvas, (scale, self.unit, what), across, down);
    }

    /// The same for values of another unit than the chart's.
    pub(super) fn axis_beneath(
        &self,
        canvas: &mut canvas::Canvas,
        (scale, unit, what): (&Scale, Unit, &str),
        (left, right): (f64, f64),
        (top, bottom): (f64, f64),
    ) {
        let target_ticks = ((right - left) / 75.0) as usize;
        let ticks = scale.ticks(unit, target_ticks).into_iter();
        let ticks: Vec<(f64, String)> = ticks
            .map(|(value, label)| (scale.place(value), label))
            .collect();
        let lines: Vec<_> = ticks
            .iter()
            .map(|(x, _)| ((*x, top), (*x, bottom)))
            .collect();
        canvas.lines(&lines, "grid");
        labels_beneath(canvas, &ticks, bottom + 16.0);
        let title = caption::axis_name(what, scale);
        // A title wider than a narrow plot stands in the middle of the picture.
        let half = canvas::width_of(&title) / 2.0;
        let middle = (left + right) / 2.0;
        let middle = middle.clamp(
            half.min(canvas.width() / 2.0),
            f64::max(canvas.width() - half, canvas.width() / 2.0),
        );
        canvas.text(
            (middle, bottom + 33.0),
            "tick",
            canvas::Anchor::Middle,
            &title,
        );
    }

    /// Grid lines, labels and title of a vertical axis left of a plot, which needs [`ABOVE`].
    pub(super) fn vertical_axis(
        &self,
        canvas: &mut canvas::Canvas,
        scale: &Scale,
        target_ticks: usize,
        (left, right, top): (f64, f64, f64),
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
        let title = caption::axis_name(caption::axis_title(self.unit), scale);
        self.title_above(canvas, top, &title);
        for (y, label) in ticks {
            canvas.text((left - 8.0, y + 4.0), "tick", canvas::Anchor::End, &label);
        }
    }

    /// What a vertical axis shows, above the plot whose top this is.
    pub(super) fn title_above(&self, canvas: &mut canvas::Canvas, top: f64, title: &str) {
        let place = (self.margin(), top - 6.0);
        canvas.text(place, "tick", canvas::Anchor::Start, title);
    }
}

/// Labels of a horizontal axis, centred on their ticks: all of them, or every n-th as room allows.
pub(super) fn labels_beneath(canvas: &mut canvas::Canvas, labels: &[(f64, String)], y: f64) {
    /// Minimum distance between two labels, in pixels.
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
