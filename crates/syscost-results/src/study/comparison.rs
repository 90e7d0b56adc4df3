//! How far two figures are from each other, in words.

use super::figure::JudgedFigure;
use super::printed::{Scale, number};
use super::view::View;
use crate::Unit;

/// Figures agree whose ratio is this near to one, whichever of their likely values are taken.
const AGREE: f64 = 0.10;

/// Below this share of the other figure, one that may be zero or less is as good as nothing.
const TINY: f64 = 0.1;

/// How a figure relates to another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Relation {
    /// Their ratio is within this of one.
    Agrees(f64),
    /// The ratio may be one, and may be something else.
    CannotTell,
    /// This many times the other one.
    Differs(f64),
    /// One of them may be nothing, or is no cost.
    NoRatio,
}

/// The range that contains most of a figure.
fn middle(view: &View) -> (f64, f64) {
    view.middle.unwrap_or((view.value, view.value))
}

/// Whether a figure cannot be told apart from zero, so that no ratio to it is meaningful: most of it
/// lies on both sides of zero.
pub(super) fn may_be_nothing(view: &View) -> bool {
    let (low, high) = middle(view);
    view.value <= 0.0 || low <= 0.0 && high >= 0.0
}

/// Whether that is so, or a figure is tiny compared with another one and some of it is zero or less.
fn is_near_zero(view: &View, other: &View) -> bool {
    let is_tiny = view.value.abs() < TINY * other.value.abs();
    may_be_nothing(view) || is_tiny && view.low.is_some_and(|low| low <= 0.0)
}

pub(super) fn relation(one: &View, other: &View) -> Relation {
    if may_be_nothing(one) || may_be_nothing(other) {
        return Relation::NoRatio;
    }
    let ((low, high), (other_low, other_high)) = (middle(one), middle(other));
    let (low, high) = (low / other_high, high / other_low);
    match (low - 1.0).abs().max((high - 1.0).abs()) {
        apart if apart <= AGREE => Relation::Agrees(apart),
        _ if low <= 1.0 && high >= 1.0 => Relation::CannotTell,
        _ => Relation::Differs(one.value / other.value),
    }
}

/// That a figure may be nothing.
fn near_zero(view: &View, scale: Scale) -> String {
    let ends = view.low.zip(view.high).filter(|(low, high)| low < high);
    let ends = ends.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", scale.show(low), scale.show(high))
    });
    let what = match view.value < 0.0 && view.high.is_some_and(|high| high < 0.0) {
        true => "less than nothing, which no cost is",
        false => "not to be told apart from zero",
    };
    format!(
        "{}{ends}, {what}, so there is no ratio",
        scale.show(view.value)
    )
}

/// How the figure here relates to the published ones, machine by machine; `None` if none of these
/// is a number. `whose` begins the sentence.
pub(super) fn with_published(
    whose: &str,
    here: &View,
    published: &[JudgedFigure],
    (unit, scale): (Unit, Scale),
) -> Option<String> {
    let is_in_cycles = published.iter().all(|figure| figure.value.is_none());
    let (here, scale) = match is_in_cycles {
        true => (here.in_cycles()?, Scale::CYCLES),
        false => (here.clone(), scale),
    };
    let (more, less) = match unit {
        Unit::Nanoseconds => ("slow", "fast"),
        Unit::BytesPerSecond | Unit::OperationsPerSecond | Unit::FlopsPerSecond => ("fast", "slow"),
        Unit::Bytes | Unit::Gigahertz | Unit::Percent | Unit::Count | Unit::Ratio => {
            ("large", "small")
        }
    };
    let mut phrases = Vec::new();
    for figure in published {
        let (value, printed) = match is_in_cycles {
            true => (figure.cycles, &figure.cycles_printed),
            false => (figure.value, &figure.value_printed),
        };
        let Some(value) = value else { continue };
        let mut of_machine = published.iter().filter(|one| one.machine == figure.machine);
        let which = match (of_machine.nth(1), printed) {
            (Some(_), Some(printed)) => format!("{}'s {printed}", figure.machine),
            (_, _) => figure.machine.clone(),
        };
        phrases.push(
            match relation(&here, &View::printed(value, figure.last_digit)) {
                Relation::Agrees(apart) => format!("within {:.0} % of {which}", percent(apart)),
                Relation::CannotTell => format!("not to be told apart from {which}"),
                Relation::Differs(ratio) if ratio > 1.0 => {
                    format!("{} times as {more} as {which}", number(ratio))
                }
                Relation::Differs(ratio) => {
                    format!("{} times as {less} as {which}", number(1.0 / ratio))
                }
                Relation::NoRatio => {
                    return Some(format!("{whose} {} here.", near_zero(&here, scale)));
                }
            },
        );
    }
    let shown = scale.show(here.value);
    (!phrases.is_empty()).then(|| format!("{whose} {shown} here: {}.", phrases.join(", ")))
}

/// A share in percent, rounded up: it is a bound.
fn percent(share: f64) -> f64 {
    (100.0 * share - 1e-6).ceil().max(1.0)
}

/// syscost's figure; `method` begins the sentence.
pub(super) fn given(method: &str, ours: &View, scale: Scale) -> String {
    format!("{method} gives {}", scale.show(ours.value))
}

/// How syscost's figure relates to the published procedure's, without its full stop; `method` is what
/// gives it.
pub(super) fn with_method(
    published: &View,
    (method, ours): (&str, &View),
    scale: Scale,
) -> (Relation, String) {
    let is_near_zero = is_near_zero(published, ours) || is_near_zero(ours, published);
    let relation = match ours.middle {
        Some(_) if !is_near_zero => relation(published, ours),
        // Of too few processes for an interval.
        Some(_) | None => Relation::NoRatio,
    };
    let given = given(method, ours, scale);
    let text = match relation {
        _ if ours.middle.is_none() => format!("{given}, of too few processes to compare"),
        Relation::Agrees(apart) => {
            format!("{given}, which agrees within {:.0} %", percent(apart))
        }
        Relation::CannotTell => format!("{given}, which cannot be told apart from it"),
        Relation::Differs(ratio) if ratio >= 2.0 => {
            format!(
                "{given}; the published way gives {} times as much",
                number(ratio)
            )
        }
        Relation::Differs(ratio) if ratio <= 0.5 => {
            format!("{given}, {} times as much", number(1.0 / ratio))
        }
        Relation::Differs(ratio) => {
            let more = 1.0 / ratio - 1.0;
            let word = if more > 0.0 { "more" } else { "less" };
            format!("{given}, {:.0} % {word}", 100.0 * more.abs())
        }
        Relation::NoRatio if may_be_nothing(ours) => {
            format!("{method} gives {}", near_zero(ours, scale))
        }
        Relation::NoRatio => format!(
            "the published way gives {}; {given}",
            near_zero(published, scale)
        ),
    };
    (relation, text)
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::view;
    use super::*;

    const NS: Scale = Scale {
        factor: 1.0,
        symbol: "ns",
    };

    fn method(published: View, ours: View) -> String {
        with_method(&published, ("syscost's method", &ours), NS).1
    }

    #[test]
    fn agreeing_and_not_to_be_told_apart_are_different() {
        let ours = || view(10.0, 0.1);
        assert_eq!(
            relation(&view(10.4, 0.1), &ours()),
            Relation::Agrees(10.5 / 9.9 - 1.0)
        );
        assert_eq!(relation(&view(20.0, 15.0), &ours()), Relation::CannotTell);
        assert_eq!(relation(&view(12.0, 0.1), &ours()), Relation::Differs(1.2));
        // Equal by chance: most of the results are elsewhere.
        assert_eq!(relation(&view(10.0, 6.0), &ours()), Relation::CannotTell);
        assert_eq!(
            method(view(10.4, 0.1), ours()),
            "syscost's method gives 10.0 ns, which agrees within 7 %"
        );
        assert!(method(view(20.0, 15.0), ours()).ends_with("cannot be told apart from it"));
    }

    #[test]
    fn syscosts_method_is_more_or_less_than_the_published_way() {
        for (published, expected) in [
            (
                31.0,
                "syscost's method gives 10.0 ns; the published way gives 3.10 times as much",
            ),
            (8.0, "syscost's method gives 10.0 ns, 25 % more"),
            (12.5, "syscost's method gives 10.0 ns, 20 % less"),
            (0.02, "syscost's method gives 10.0 ns, 500 times as much"),
        ] {
            assert_eq!(
                method(view(published, 0.01 * published), view(10.0, 0.1)),
                expected
            );
        }
        let mut alone = view(10.0, 0.1);
        alone.middle = None;
        assert!(method(view(31.0, 0.1), alone).ends_with("of too few processes to compare"));
    }

    #[test]
    fn no_ratio_is_given_to_what_may_be_nothing() {
        let ours = || view(10.0, 0.1);
        let around = method(view(0.002, 0.1), ours());
        let said = "the published way gives 0.00200 ns (-0.0980 ns to 0.102 ns), not to be told apart from zero, so there is no ratio; syscost's method gives 10.0 ns";
        assert_eq!(around, said);
        // Its middle half is above zero, but it is tiny, and some results were negative.
        let mut tiny = view(0.0024, 0.001);
        tiny.low = Some(-3.0);
        assert!(method(tiny, ours()).contains("not to be told apart from zero"));
        assert!(method(view(-3.5, 0.1), ours()).contains("less than nothing"));
        let may_be_nothing = method(view(50.0, 1.0), view(1.0, 2.0));
        assert!(may_be_nothing.starts_with("syscost's method gives 1.00 ns (-1.00 ns to 3.00 ns)"));
    }

    #[test]
    fn each_published_machine_is_compared_in_its_direction() {
        let figure = |machine: &str, value: Option<f64>, cycles: Option<f64>| JudgedFigure {
            machine: machine.to_owned(),
            value,
            value_printed: value.map(|value| format!("{value} ns")),
            cycles,
            cycles_printed: None,
            converted: None,
            words: None,
            runs: Vec::new(),
            place: String::new(),
            doubts: Vec::new(),
            last_digit: 0.0,
        };
        let said = |here: View, published: &[JudgedFigure], unit| {
            with_published("It gives", &here, published, (unit, NS))
        };
        let three = [
            figure("old", Some(80.0), None),
            figure("new", Some(4.0), None),
            figure("same", Some(10.2), None),
        ];
        let nanoseconds = said(view(10.0, 0.1), &three, Unit::Nanoseconds);
        assert_eq!(
            nanoseconds.as_deref(),
            Some(
                "It gives 10.0 ns here: 8 times as fast as old, 2.50 times as slow as new, within 3 % of same."
            )
        );
        let rate = said(view(10.0, 0.1), &three[..1], Unit::BytesPerSecond);
        assert!(rate.is_some_and(|rate| rate.contains("8 times as slow as old")));
        // Two figures of one machine are told apart.
        let twice = [
            figure("old", Some(5.0), None),
            figure("old", Some(20.0), None),
        ];
        let twice = said(view(10.0, 0.1), &twice, Unit::Nanoseconds).expect("a sentence");
        assert!(
            twice.contains("slow as old's 5 ns, 2 times as fast as old's 20 ns"),
            "{twice}"
        );
        let mut here = view(10.0, 0.1);
        here.cycles = Some(30.0);
        let in_cycles = said(here, &[figure("pc", None, Some(15.0))], Unit::Nanoseconds);
        assert_eq!(
            in_cycles.as_deref(),
            Some("It gives 30.0 cycles here: 2 times as slow as pc.")
        );
        let words = said(
            view(10.0, 0.1),
            &[figure("pc", None, None)],
            Unit::Nanoseconds,
        );
        assert_eq!(words, None);
    }
}
