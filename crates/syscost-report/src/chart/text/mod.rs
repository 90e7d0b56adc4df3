//! Charts drawn in characters, for a terminal.

mod bars;
mod braille;
mod grid;
mod histogram;
mod lines;

use anstyle::{AnsiColor, Style};
use syscost_results::Unit;

use super::{Bar, Chart, Distribution, Labels, Sharing};
use crate::paint::{DIM, HEADING, Paint};
use crate::wrap::wrap;

/// The colours of lines or runs, in turn, in the plot and for the names.
const COLORS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Green,
    AnsiColor::Red,
    AnsiColor::Blue,
];

/// Their marks, in turn: each colour comes with several, and without colours the marks alone
/// distinguish them.
const MARKS: [char; 12] = ['●', '■', '▲', '◆', '○', '□', '△', '◇', '▼', '×', '+', '▽'];

/// How to draw a chart in characters.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Available width, in columns.
    pub width: usize,
    /// Whether to write colours.
    pub color: bool,
}

/// Minimum width of a chart, in columns.
const MIN_WIDTH: usize = 40;

/// Maximum width of a chart, in columns: more would not help.
const MAX_WIDTH: usize = 120;

impl TextOptions {
    /// Without colours.
    #[cfg(test)]
    pub(crate) fn plain(width: usize) -> Self {
        TextOptions {
            width,
            color: false,
        }
    }

    fn width(self) -> usize {
        self.width.clamp(MIN_WIDTH, MAX_WIDTH)
    }

    fn paint(self) -> Paint {
        Paint { color: self.color }
    }
}

/// The chart in characters, with its title above and its source below.
pub fn text(chart: &Chart, unit: Unit, labels: &Labels, options: TextOptions) -> String {
    let runs = labels.several();
    let mut body = match chart {
        Chart::Bars(bars) => bars::draw(&[("", bars)], !runs.is_empty(), unit, options),
        Chart::Curve {
            parameter,
            lines,
            borders,
        } => lines::curve(parameter, (lines, borders), runs, unit, options),
        Chart::Ecdf(distributions) => lines::ecdf(distributions, runs, unit, options),
        Chart::Heatmap {
            parameters,
            columns,
            rows,
            panels,
        } => grid::draw(
            (&parameters.0, &parameters.1),
            columns,
            rows,
            panels,
            runs,
            unit,
            options,
        ),
        Chart::OverRuns { points, changes } => lines::over_runs(points, changes, unit, options),
    };
    if let Chart::Bars(_) = chart {
        let drawn = chart.runs();
        let named = runs.iter().enumerate();
        for (run, name) in named.filter(|(run, _)| drawn.contains(run)) {
            let (style, mark) = key(run, true);
            let mark = options.paint().text(style, &mark.to_string());
            body.push_str(&format!("{mark} {name}\n"));
        }
    }
    framed(&body, labels, options)
}

/// Bars in groups with headings.
pub(crate) fn groups(
    groups: &[(String, Vec<Bar>)],
    unit: Unit,
    labels: &Labels,
    options: TextOptions,
) -> String {
    let groups = groups
        .iter()
        .map(|(heading, bars)| (heading.as_str(), bars.as_slice()));
    let groups: Vec<_> = groups.collect();
    framed(&bars::draw(&groups, false, unit, options), labels, options)
}

/// How often each value occurred, one line per range of values.
pub(crate) fn histogram(
    bins: &[(f64, u64)],
    unit: Unit,
    labels: &Labels,
    options: TextOptions,
) -> String {
    framed(&histogram::draw(bins, unit, options), labels, options)
}

/// What a row's operation took, against the ratios of the probes around its samples.
pub(crate) fn sharing(sharing: &Sharing, unit: Unit, options: TextOptions) -> String {
    lines::sharing(sharing, unit, options)
}

/// The colour and the mark of a run among several.
fn key(run: usize, has_runs: bool) -> (Style, char) {
    let style = match has_runs {
        true => Style::new().fg_color(Some(COLORS[run % COLORS.len()].into())),
        false => Style::new(),
    };
    (style, MARKS[run % MARKS.len()])
}

/// A drawing with its title above and its source below.
fn framed(body: &str, labels: &Labels, options: TextOptions) -> String {
    let paint = options.paint();
    let mut out = match labels.title.as_str() {
        "" => body.to_owned(),
        title => {
            let lines = wrap(title, options.width()).into_iter();
            let lines = lines.map(|line| format!("{}\n", paint.text(HEADING, &line)));
            lines.chain(["\n".to_owned(), body.to_owned()]).collect()
        }
    };
    for line in wrap(&labels.source, options.width()) {
        out.push_str(&paint.text(DIM, &line));
        out.push('\n');
    }
    out
}

/// A distribution's samples, ascending.
fn ascending(distribution: &Distribution) -> Vec<f64> {
    let mut samples = distribution.samples.clone();
    samples.retain(|sample| sample.is_finite());
    samples.sort_unstable_by(f64::total_cmp);
    samples
}

#[cfg(test)]
mod tests;
