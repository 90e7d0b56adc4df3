//! An interval as a bar along an axis, with a mark at the value that it is of.

use maud::{Markup, html};

/// What is drawn, in shares of the axis; what lies beyond it is drawn at its end.
pub(super) struct Interval<'t> {
    /// The value.
    pub(super) at: f64,
    /// The interval's ends; the mark is hollow if there are none.
    pub(super) ends: Option<(f64, f64)>,
    /// The class that gives it its colour.
    pub(super) class: &'t str,
    /// What it is, in words.
    pub(super) title: &'t str,
}

/// A share as a CSS percentage.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// The picture, with a line across it: in the axis' middle, or at this share of it.
pub(super) fn draw(interval: &Interval<'_>, line: Option<f64>) -> Markup {
    let (at, within) = (interval.at.clamp(0.0, 1.0), |share: f64| {
        share.clamp(0.0, 1.0)
    });
    // The style sheet places what is in the middle.
    let left = |share: f64| (share != 0.5).then(|| format!("left:{}", percent(share)));
    let class = match interval.ends {
        Some(_) => format!("ci {}", interval.class),
        None => format!("ci open {}", interval.class),
    };
    html! {
        span class=(class) title=(interval.title) {
            @if let Some(line) = line { b style={ "left:" (percent(line)) } {} }
            @if let Some((low, high)) = interval.ends {
                span style={ "left:" (percent(within(low))) ";width:" (percent(within(high) - within(low))) } {}
            }
            i style=[left(at)] {}
            @if let Some((low, high)) = interval.ends {
                @if low <= 0.0 { em class="below" {} }
                @if high >= 1.0 { em class="above" {} }
            }
        }
    }
}
