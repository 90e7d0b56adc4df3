//! Bars, or dots on a logarithmic axis, one line each, above their axis.

use syscost_results::Unit;

use super::lines::{axis, column_of};
use super::{TextOptions, key};
use crate::chart::caption::{axis_name, axis_title};
use crate::chart::{Bar, Begin, Scale, bars::ends};
use crate::names::distinct;
use crate::paint::{self, DIM, HEADING};
use crate::units::quantity;

/// Maximum length of a bar, in columns.
const WIDEST: usize = 50;

/// Bars in groups, each below its heading unless that is empty; with a mark of its run before each
/// where there are several.
pub(super) fn draw(
    groups: &[(&str, &[Bar])],
    has_runs: bool,
    unit: Unit,
    options: TextOptions,
) -> String {
    let paint = options.paint();
    let bars: Vec<&Bar> = groups.iter().flat_map(|(_, bars)| *bars).collect();
    let values: Vec<String> = bars
        .iter()
        .map(|bar| quantity(unit, bar.value.median))
        .collect();
    let beside = if has_runs { 6 } else { 4 };
    let wide = values.iter().map(|value| paint::width(value)).max();
    let wide = wide.unwrap_or(0);
    let widest_label = bars.iter().map(|bar| paint::width(&bar.label)).max();
    let max_label_width = options.width() / 2;
    let label_width = widest_label.unwrap_or(0).min(max_label_width);
    let room = options.width().saturating_sub(label_width + wide + beside);
    let room = room.clamp(4, WIDEST);
    let scale = Scale::fit(
        bars.iter().flat_map(|bar| ends(&bar.value)),
        Begin::Zero,
        (0.0, room as f64),
    );
    let headings = groups.iter().flat_map(|(heading, bars)| {
        let others = std::iter::repeat_n("", bars.len().saturating_sub(1));
        std::iter::once(*heading).take(bars.len()).chain(others)
    });
    let labels: Vec<&str> = bars.iter().map(|bar| bar.label.as_str()).collect();
    let labels = distinct(&labels, label_width).into_iter();
    let mut out = String::new();
    let mut last: Option<&Bar> = None;
    for (((bar, label), value), heading) in bars.iter().zip(labels).zip(values).zip(headings) {
        if !heading.is_empty() {
            out.push_str(&format!("{}\n", paint.text(HEADING, heading)));
        }
        // A name stands at the first of its runs; one that cannot be shortened, above its line.
        let follows = |last: &Bar| last.label == bar.label && last.run < bar.run;
        let is_same = last.replace(bar).is_some_and(follows);
        let label = label.filter(|_| !is_same).unwrap_or_else(|| {
            if is_same {
                return String::new();
            }
            out.push_str(&format!("{}\n", bar.label));
            String::new()
        });
        let pad = " ".repeat(label_width - paint::width(&label));
        let mark = if scale.is_logarithmic() {
            let place = column_of(scale.share(bar.value.median), room);
            let dots = "·".repeat(place);
            let (style, mark) = key(bar.run, has_runs);
            format!(
                "{}{}",
                paint.text(DIM, &dots),
                paint.text(style, &mark.to_string())
            )
        } else {
            paint.text(
                key(bar.run, has_runs).0,
                &eighths(scale.place(bar.value.median)),
            )
        };
        let run = match has_runs {
            true => {
                let (style, mark) = key(bar.run, has_runs);
                format!("{} ", paint.text(style, &mark.to_string()))
            }
            false => String::new(),
        };
        out.push_str(&format!("{label}{pad}  {run}{value:>wide$}  {mark}\n"));
    }
    let ticks = scale.ticks(unit, room / 10).into_iter();
    let ticks: Vec<(f64, String)> = ticks
        .map(|(value, label)| (scale.share(value), label))
        .collect();
    let margin = label_width + wide + beside;
    let (line, beneath) = axis(&ticks, room);
    out.push_str(&format!("{:margin$}{}\n", "", paint.text(DIM, &line)));
    let beneath = paint.text(DIM, beneath.trim_end());
    out.push_str(&format!("{:margin$}{beneath}\n", ""));
    let what = paint.text(DIM, &axis_name(axis_title(unit), &scale));
    out.push_str(&format!("{:margin$}{what}\n", ""));
    out.push('\n');
    out
}

/// A bar of this many columns, to an eighth of a column.
fn eighths(columns: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (columns.max(0.0) * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}
