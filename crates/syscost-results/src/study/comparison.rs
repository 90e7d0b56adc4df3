//! Compares the published procedure's figure with syscost's, in a sentence.

use super::verdict::number;
use super::view::{Seen, View};
use crate::Unit;

/// Figures that differ by less than this share agree, whatever their intervals.
const AGREE: f64 = 0.05;

/// Below this share of the other figure, the inverse ratio says more than a percentage.
const TINY: f64 = 0.1;

/// The range that contains most of a figure.
fn middle(view: &View) -> (f64, f64) {
    view.middle.unwrap_or((view.value, view.value))
}

fn overlap(one: &View, other: &View) -> bool {
    let ((low, high), (other_low, other_high)) = (middle(one), middle(other));
    low <= other_high && other_low <= high
}

/// Whether a figure cannot be distinguished from zero, so that no ratio to it is meaningful: most
/// of it lies on both sides of zero, or it is tiny compared with the other figure and some of it
/// does.
fn is_near_zero(view: &View, other: &View) -> bool {
    let (low, high) = middle(view);
    let is_tiny = view.value.abs() < TINY * other.value.abs();
    let has_zero = view.low.is_some_and(|low| low <= 0.0);
    low < high && low <= 0.0 && high >= 0.0 || is_tiny && has_zero && view.value != 0.0
}

/// Says that a figure is near zero, with its ends.
fn near_zero(whose: &str, view: &View, symbol: &str) -> String {
    let ends = view.low.zip(view.high);
    let ends = ends.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", number(low), number(high))
    });
    let value = number(view.value);
    format!(
        "{whose} figure, {value} {symbol}{ends}, cannot be distinguished from zero, so there is no ratio"
    )
}

/// How far the published procedure's figure is from syscost's: `is 3.1 times` syscost's figure.
pub(super) fn comparison(published: &View, ours: &View, unit: Unit) -> (bool, String) {
    let ratio = published.value / ours.value;
    let agree = (ratio - 1.0).abs() <= AGREE || overlap(published, ours);
    let symbol = unit.symbol();
    let text = match ratio {
        _ if agree => "Both ways agree".to_owned(),
        _ if is_near_zero(published, ours) => near_zero("The published way's", published, symbol),
        _ if is_near_zero(ours, published) => near_zero("syscost's", ours, symbol),
        ratio if ratio < 0.0 => format!(
            "The published way gives a cost below zero, {} {symbol}, which nothing can have",
            number(published.value)
        ),
        0.0 => format!(
            "The published way gives 0 {symbol} where syscost's gives {} {symbol}",
            number(ours.value)
        ),
        ratio if ratio < TINY => format!(
            "syscost's figure is {} times what the published way gives",
            number(1.0 / ratio)
        ),
        ratio if ratio >= 2.0 => format!(
            "The published way gives {} times syscost's figure",
            number(ratio)
        ),
        ratio => format!(
            "The published way gives {:.0} % {} than syscost's",
            100.0 * (ratio - 1.0).abs(),
            if ratio > 1.0 { "more" } else { "less" }
        ),
    };
    (agree, text)
}

/// Why there are no two figures to compare.
pub(super) fn not_compared(
    published: Option<&Seen>,
    ours: Option<&Seen>,
    unit: Unit,
) -> Vec<String> {
    let without = [
        (
            "the published way",
            published,
            "Nothing repeats the published procedure here.",
        ),
        ("syscost's way", ours, "syscost has no row of the same."),
    ];
    let reasons = without
        .into_iter()
        .filter_map(|(whose, seen, unnamed)| match seen {
            None => Some(unnamed.to_owned()),
            Some(seen) => Some(format!("No figure by {whose}: {}.", seen.reason()?)),
        });
    let mut reasons: Vec<String> = reasons.collect();
    if let (true, Some(ours)) = (reasons.is_empty(), ours.and_then(Seen::figure)) {
        let (value, symbol) = (number(ours.value), unit.symbol());
        reasons.push(format!(
            "syscost's figure is {value} {symbol}, so there is no ratio."
        ));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::view;
    use super::*;

    #[test]
    fn no_ratio_is_given_to_what_may_be_nothing() {
        let ours = view(10.0, 0.1);
        let compared = |published: View| comparison(&published, &ours, Unit::Nanoseconds);
        let around = compared(view(0.002, 0.1));
        let said = "The published way's figure, 0.00200 ns (-0.0980 to 0.102), cannot be distinguished from zero, so there is no ratio";
        assert_eq!(around, (false, said.to_owned()));
        // Its middle half is above zero, but it is tiny, and some results were negative.
        let mut tiny = view(0.0024, 0.001);
        tiny.low = Some(-3.0);
        let (_, text) = compared(tiny);
        assert!(text.contains("cannot be distinguished from zero"), "{text}");
        let negative = compared(view(-0.01, 0.1)).1;
        assert!(
            negative.contains("cannot be distinguished from zero"),
            "{negative}"
        );
        let ours = comparison(&view(50.0, 1.0), &view(1.0, 2.0), Unit::Nanoseconds).1;
        assert!(
            ours.starts_with("syscost's figure, 1 ns (-1 to 3)"),
            "{ours}"
        );
    }

    #[test]
    fn what_is_not_compared_says_why() {
        let figure = |value| Seen::Figure(view(value, 0.1));
        let of = |published: Option<&Seen>, ours: Option<&Seen>| {
            not_compared(published, ours, Unit::Nanoseconds).join(" ")
        };
        let some = figure(5.0);
        assert_eq!(
            of(None, Some(&some)),
            "Nothing repeats the published procedure here."
        );
        assert_eq!(of(Some(&some), None), "syscost has no row of the same.");
        assert_eq!(
            of(Some(&some), Some(&figure(0.0))),
            "syscost's figure is 0 ns, so there is no ratio."
        );
        let missing = Seen::Missing {
            reason: "not part of this run".into(),
        };
        assert_eq!(
            of(Some(&missing), Some(&some)),
            "No figure by the published way: not part of this run."
        );
    }

    #[test]
    fn figures_agree_within_their_intervals_or_a_twentieth() {
        let compared =
            |published: View, ours: View| comparison(&published, &ours, Unit::Nanoseconds);
        assert!(compared(view(10.4, 0.1), view(10.0, 0.1)).0);
        assert!(compared(view(20.0, 9.0), view(12.0, 1.5)).0);
        for (published, expected) in [
            (31.0, "The published way gives 3.10 times syscost's figure"),
            (8.0, "The published way gives 20 % less than syscost's"),
            (
                0.02,
                "syscost's figure is 500 times what the published way gives",
            ),
            (
                0.0,
                "The published way gives 0 ns where syscost's gives 10 ns",
            ),
            (
                -3.5,
                "The published way gives a cost below zero, -3.50 ns, which nothing can have",
            ),
        ] {
            let half = 0.01 * f64::abs(published);
            let (agree, text) = compared(view(published, half), view(10.0, 0.1));
            assert!(!agree);
            assert_eq!(text, expected);
        }
    }
}
