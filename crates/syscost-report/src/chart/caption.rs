//! What a chart shows, in words.

use syscost_results::Unit;

use super::canvas::{Anchor, Canvas};
use super::rows::has_logarithmic_axis;
use super::{Chart, Frame, Scale, Value};

/// What the marks of a picture mean, and whether its values' axis is logarithmic.
pub fn caption(chart: &Chart) -> String {
    let mut caption = match chart {
        Chart::Bars(bars) => {
            let values = bars.iter().map(|bar| &bar.value);
            medians(values, " with 95 % intervals")
        }
        Chart::Violin(_) => {
            "Density of the samples, with median and 95 % interval; ▸ tells the share beyond the axis"
                .to_owned()
        }
        Chart::Ecdf(_) => "Cumulative distribution of the samples".to_owned(),
        Chart::Curve { lines, .. } => {
            let points = lines.iter().flat_map(|line| &line.points);
            let values = points.map(|(_, value)| value);
            format!(
                "{}, over the parameter",
                medians(values, " with 95 % intervals as bands")
            )
        }
        Chart::Heatmap { .. } => "Medians; the stronger the colour, the more".to_owned(),
        Chart::OverRuns { .. } => "Medians over runs".to_owned(),
    };
    if has_logarithmic_axis(chart) {
        caption.push_str("; logarithmic axis");
    }
    caption
}

/// Medians, and how the intervals of those that have one are drawn.
fn medians<'v>(mut values: impl Iterator<Item = &'v Value>, intervals: &str) -> String {
    let have = values.any(|value| !value.has_no_interval());
    format!("Medians{}", if have { intervals } else { "" })
}

/// What an axis of values in this unit shows.
pub(crate) fn axis_title(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "time per operation",
        Unit::Bytes => "size",
        Unit::BytesPerSecond => "bandwidth",
        Unit::OperationsPerSecond => "operations per second",
        Unit::FlopsPerSecond => "floating-point operations per second",
        Unit::Gigahertz => "frequency",
        Unit::Percent => "share",
        Unit::Count => "number",
        Unit::Ratio => "ratio",
    }
}

/// What an axis shows, and that it is logarithmic if it is.
pub(super) fn axis_name(what: &str, axis: &Scale) -> String {
    match axis.is_logarithmic() {
        true => format!("{what}, logarithmic axis"),
        false => what.to_owned(),
    }
}

impl Frame<'_> {
    /// Writes what a vertical axis shows above it; in a page the heading above says it.
    pub(super) fn axis_title(&self, canvas: &mut Canvas, title: &str) {
        if self.theme.is_file() {
            canvas.text((20.0, 43.0), "tick", Anchor::Start, title);
        }
    }
}
