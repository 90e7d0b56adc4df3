//! Values in the order of time, as small as a word.

use maud::{Markup, html};
use syscost_results::Unit;
use syscost_stats::order;

use super::Text;
use crate::chart::{Begin, Scale, range};
use crate::units::quantity;

/// Width in a terminal, in columns.
const COLUMNS: usize = 20;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Text {
    /// These values as a line in a page, and a block for each elsewhere; neighbours share one if there are
    /// many.
    pub fn sparkline(values: &[f64], unit: Unit) -> Self {
        let blocks: Option<String> = range(values).map(|(low, high)| {
            let columns = values.len().min(COLUMNS);
            let medians = (0..columns).filter_map(|at| {
                let bucket = at * values.len() / columns..(at + 1) * values.len() / columns;
                order::median(&values[bucket])
            });
            let height = |value: f64| ((value - low) / (high - low) * 8.0) as usize;
            medians.map(|value| BLOCKS[height(value).min(7)]).collect()
        });
        let line = line(values.iter().copied().map(Some), unit);
        Text::drawn(blocks.unwrap_or_default(), line)
    }
}

/// A line through the values, without the gaps, with the range in words.
pub(crate) fn line(values: impl Iterator<Item = Option<f64>> + Clone, unit: Unit) -> Markup {
    let known = || values.clone().flatten();
    let scale = Scale::fit(known(), Begin::Near, (21.0, 3.0));
    let step = 156.0 / values.clone().count().saturating_sub(1).max(1) as f64;
    let points: Vec<String> = values
        .clone()
        .enumerate()
        .filter_map(|(index, value)| {
            Some(format!(
                "{:.0},{:.0}",
                2.0 + step * index as f64,
                scale.place(value?)
            ))
        })
        .collect();
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    html! {
        @if low <= high {
            svg class="sparkline" viewBox="0 0 160 24" role="img"
                aria-label={ "from " (quantity(unit, low)) " to " (quantity(unit, high)) } {
                polyline points=(points.join(" ")) class="curve s0" {}
            }
        }
    }
}
