//! What a chart shows, in words.

use syscost_results::Unit;

use super::{Chart, Scale, Value};

/// What the marks of a picture mean; what its axes show is written at them.
pub fn caption(chart: &Chart) -> String {
    match chart {
        Chart::Bars(bars) => {
            let values = bars.iter().map(|bar| &bar.value);
            format!("{} of each row", medians(values, ""))
        }
        Chart::Ecdf(_) => "Cumulative distribution of the samples".to_owned(),
        Chart::Curve { lines, .. } => {
            let points = lines.iter().flat_map(|line| &line.points);
            let values = points.map(|(_, value)| value);
            format!("{} of each row", medians(values, " (band)"))
        }
        Chart::Heatmap { .. } => "Median of each row, by colour".to_owned(),
        Chart::OverRuns { .. } => "Median and 95 % interval of each run".to_owned(),
    }
}

/// That medians are drawn, and how the intervals of those that have one are.
fn medians<'v>(mut values: impl Iterator<Item = &'v Value>, how: &str) -> String {
    match values.any(|value| !value.has_no_interval()) {
        true => format!("Median and 95 % interval{how}"),
        false => "Median".to_owned(),
    }
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
