//! Bencher Metric Format, as read by bencher.dev's `json` adapter.

use std::collections::BTreeMap;

use serde::Serialize;
use syscost_results::{Flag, Run, Unit};

use super::{ExportError, Record};

/// A measure of a benchmark, with the ends of its 95 % confidence interval.
#[derive(Debug, Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// The rows of a run that have a number, each under its name with one measure: `latency` in ns or
/// `throughput` in operations per second, which Bencher knows, or one named after its unit. The
/// format cannot express a row without a number, nor that a number is the price in company, so such rows
/// are left out: a gap in the chart.
///
/// # Errors
/// [`ExportError::Writer`] if the writer fails, which is not expected.
pub fn to_bencher(run: &Run) -> Result<String, ExportError> {
    let benchmarks: BTreeMap<String, BTreeMap<&str, Metric>> = Record::all(&[run])
        .filter(|record| !record.flags.contains(&Flag::Disturbed))
        .filter_map(|record| {
            let metric = Metric {
                value: record.estimate.median?,
                lower_value: record.estimate.ci95_low,
                upper_value: record.estimate.ci95_high,
            };
            Some((
                record.name,
                BTreeMap::from([(measure(record.unit), metric)]),
            ))
        })
        .collect();
    let mut text = serde_json::to_string_pretty(&benchmarks)?;
    text.push('\n');
    Ok(text)
}

/// The measure for a unit. In Bencher, `throughput` means operations per second, so bandwidth is a
/// measure of its own.
fn measure(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "latency",
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bandwidth",
        Unit::OperationsPerSecond => "throughput",
        Unit::FlopsPerSecond => "flops",
        Unit::Gigahertz => "frequency-ghz",
        Unit::Percent => "percent",
        Unit::Count => "count",
        Unit::Ratio => "ratio",
    }
}
