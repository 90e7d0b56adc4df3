//! How often each value occurred, one line per range of values.

use syscost_results::Unit;

use super::{TextOptions, bars};
use crate::chart::{Bar, Begin, Scale, Value};
use crate::units::quantity;

/// Maximum number of lines; ranges are merged to stay within it.
const MAX_LINES: usize = 16;

pub(super) fn draw(bins: &[(f64, u64)], unit: Unit, options: TextOptions) -> String {
    let total: u64 = bins.iter().map(|(_, count)| count).sum();
    let bars: Vec<Bar> = lines(bins)
        .into_iter()
        .map(|(low, high, count)| {
            Bar::new(
                range(unit, low, high),
                0,
                Value::exactly(100.0 * count as f64 / total.max(1) as f64),
            )
        })
        .collect();
    bars::draw(&[("", &bars)], false, Unit::Percent, options)
}

/// At most [`MAX_LINES`] ranges that have values: the smallest and largest value of each, and the
/// count.
fn lines(bins: &[(f64, u64)]) -> Vec<(f64, f64, u64)> {
    if bins.len() <= MAX_LINES {
        return bins
            .iter()
            .map(|(value, count)| (*value, *value, *count))
            .collect();
    }
    let values = bins.iter().map(|(value, _)| *value);
    let scale = Scale::fit(values, Begin::Near, (0.0, MAX_LINES as f64));
    let line_of = |value: f64| (scale.place(value) as usize).min(MAX_LINES - 1);
    let chunks = bins.chunk_by(|(one, _), (other, _)| line_of(*one) == line_of(*other));
    chunks
        .map(|chunk| {
            let count = chunk.iter().map(|(_, count)| count).sum();
            (chunk[0].0, chunk[chunk.len() - 1].0, count)
        })
        .collect()
}

fn range(unit: Unit, low: f64, high: f64) -> String {
    match low == high {
        true => quantity(unit, low),
        false => format!("{} to {}", quantity(unit, low), quantity(unit, high)),
    }
}
