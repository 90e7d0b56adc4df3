//! How far two figures are from each other, in words.

use super::figure::JudgedFigure;
use super::printed::{Scale, least_digit};
use super::view::View;
use crate::Unit;

/// Figures less than this apart do not differ, whatever their intervals; and only figures whose
/// ratio is known to this agree.
const NEAR: f64 = 0.05;

/// What binary fractions leave of a decimal one.
const ROUNDING: f64 = 1e-9;

/// How many times a figure is another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    value: f64,
    /// The least and the most that it may be.
    low: f64,
    high: f64,
}

impl Times {
    /// How far it is from one, as a share.
    fn apart(self) -> f64 {
        self.value.max(1.0 / self.value) - 1.0
    }

    /// How far the ends are from it, as a share.
    fn known(self) -> f64 {
        (self.high / self.value).max(self.value / self.low) - 1.0
    }

    /// How far the ends are from it.
    pub(super) fn off(self) -> f64 {
        (self.high - self.value).max(self.value - self.low)
    }

    fn is_not_one(self) -> bool {
        self.low > 1.0 + ROUNDING || self.high < 1.0 - ROUNDING
    }

    fn inverse(self) -> Self {
        Times {
            value: 1.0 / self.value,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
        }
    }

    /// Without its unit: `1.8`.
    fn number(self) -> String {
        let (factor, symbol) = (1.0, "");
        Scale { factor, symbol }.show_to(self.value, least_digit(self.off()))
    }

    /// `2 % apart, known to ±8 %`.
    fn nearness(self) -> String {
        let known = match self.known() {
            // Both are bounds, so rounded up.
            share if share < 1.0 => format!("±{:.0} %", (100.0 * share - 1e-6).ceil()),
            share => format!("a factor of {:.0}", (1.0 + share - 1e-6).ceil()),
        };
        format!("{:.0} % apart, known to {known}", 100.0 * self.apart())
    }
}

/// How a figure relates to another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Relation {
    /// They are near each other, and that is known.
    Agrees(Times),
    /// They may be the same, and may not.
    CannotTell(Times),
    /// They are not the same.
    Differs(Times),
    /// One of them may be nothing, or is no cost.
    NoRatio,
    /// One of them is a single result, or of too few processes for an interval.
    TooFew,
}

pub(super) fn relation(one: &View, other: &View) -> Relation {
    if one.may_be_nothing() || other.may_be_nothing() {
        return Relation::NoRatio;
    }
    let (Some((low, high)), Some((other_low, other_high))) = (one.interval(), other.interval())
    else {
        return Relation::TooFew;
    };
    let times = Times {
        value: one.value / other.value,
        low: low / other_high,
        high: high / other_low,
    };
    let is_near = times.apart() < NEAR;
    if times.is_not_one() && !is_near {
        Relation::Differs(times)
    } else if is_near && times.known() <= NEAR {
        Relation::Agrees(times)
    } else {
        Relation::CannotTell(times)
    }
}

/// That a figure may be nothing.
fn near_zero(view: &View, scale: Scale) -> String {
    let what = match view.interval() {
        Some((_, high)) if high < 0.0 => "less than nothing, which no cost is",
        Some(_) | None => "not to be told apart from zero",
    };
    format!("{}, {what}, so there is no ratio", view.shown(scale))
}

/// What is more and what is less of something in this unit.
fn directions(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::Nanoseconds => ("longer than", "shorter than"),
        Unit::BytesPerSecond | Unit::OperationsPerSecond | Unit::FlopsPerSecond => {
            ("faster than", "slower than")
        }
        Unit::Bytes | Unit::Gigahertz | Unit::Percent | Unit::Count | Unit::Ratio => {
            ("larger than", "smaller than")
        }
    }
}

/// How the figure here relates to the published ones, machine by machine; `None` if none of these
/// is a number. `whose` begins the sentence; figures are of this unit and shown at this scale, or in
/// cycles at the other if nothing else is published.
pub(super) fn with_published(
    whose: &str,
    here: &View,
    published: &[JudgedFigure],
    (unit, scale, cycles): (Unit, Scale, Scale),
) -> Option<String> {
    let is_in_cycles = published.iter().all(|figure| figure.value.is_none());
    let (here, scale) = match is_in_cycles {
        true => (here.in_cycles()?, cycles),
        false => (here.clone(), scale),
    };
    let (more, less) = directions(unit);
    // What is said of several machines is said once.
    let mut all: [(&str, Vec<String>); 4] =
        [more, less, "close to", "not to be told apart from"].map(|words| (words, Vec::new()));
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
        let (kind, how) = match relation(&here, &View::printed(value, figure.last_digit)) {
            Relation::Differs(times) if times.value > 1.0 => (0, times.number() + " times"),
            Relation::Differs(times) => (1, times.inverse().number() + " times"),
            Relation::Agrees(times) => (2, times.nearness()),
            Relation::CannotTell(times) => (3, times.nearness()),
            Relation::NoRatio => return Some(format!("{whose} {}.", near_zero(&here, scale))),
            Relation::TooFew => {
                let shown = here.shown(scale);
                return Some(format!("{whose} {shown}, one result, too few to compare."));
            }
        };
        all[kind].1.push(format!("{which} ({how})"));
    }
    let phrases = all.iter().filter(|(_, machines)| !machines.is_empty());
    let phrases = phrases.map(|(words, machines)| format!("{words} {}", machines.join(", ")));
    let phrases: Vec<String> = phrases.collect();
    let shown = here.shown(scale);
    (!phrases.is_empty()).then(|| format!("{whose} {shown}: {}.", phrases.join("; ")))
}

/// syscost's figure.
pub(super) fn given(ours: &View, scale: Scale) -> String {
    format!("syscost's row gives {}", ours.shown(scale))
}

/// How syscost's figure relates to the published procedure's, without its full stop.
pub(super) fn with_method(published: &View, ours: &View, scale: Scale) -> (Relation, String) {
    let relation = relation(published, ours);
    let given = given(ours, scale);
    let text = match relation {
        Relation::Agrees(times) | Relation::CannotTell(times) => {
            format!("{given}, {}", times.nearness())
        }
        Relation::Differs(times) if times.value >= 2.0 => {
            let times = times.number();
            format!("{given}; the published way gives {times} times as much")
        }
        Relation::Differs(times) if times.value <= 0.5 => {
            format!("{given}, {} times as much", times.inverse().number())
        }
        Relation::Differs(times) => {
            let more = 1.0 / times.value - 1.0;
            let word = if more > 0.0 { "more" } else { "less" };
            format!("{given}, {:.0} % {word}", 100.0 * more.abs())
        }
        Relation::TooFew if ours.interval().is_none() => {
            format!("{given}, of too few processes to compare")
        }
        Relation::TooFew => format!("{given}; one result is too few to compare"),
        Relation::NoRatio if ours.may_be_nothing() => {
            format!("syscost's row gives {}", near_zero(ours, scale))
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
        with_method(&published, &ours, NS).1
    }

    /// Results that were rounded to tenths and are all the same.
    fn tenths(value: f64) -> View {
        let step = 0.1;
        View {
            step,
            ..view(value, 0.0)
        }
    }

    fn kind(published: View, ours: View) -> &'static str {
        match relation(&published, &ours) {
            Relation::Agrees(_) => "agree",
            Relation::CannotTell(_) => "cannot be told apart",
            Relation::Differs(_) => "differ",
            Relation::NoRatio => "no ratio",
            Relation::TooFew => "too few",
        }
    }

    #[test]
    fn figures_agree_only_if_they_are_near_and_known_to_be() {
        let ours = || view(10.0, 0.1);
        assert_eq!(kind(view(10.2, 0.1), ours()), "agree");
        assert_eq!(
            method(view(10.2, 0.1), ours()),
            "syscost's row gives 10.0 ns, 2 % apart, known to ±3 %"
        );
        // Equal, but by chance.
        assert_eq!(kind(view(10.0, 0.8), ours()), "cannot be told apart");
        let apart = "syscost's row gives 10.0 ns, 0 % apart, known to ±10 %";
        assert_eq!(method(view(10.0, 0.8), ours()), apart);
        assert_eq!(kind(view(20.0, 15.0), ours()), "cannot be told apart");
    }

    #[test]
    fn figures_differ_only_if_they_are_apart_and_their_intervals_as_well() {
        let ours = || view(10.0, 0.1);
        // 4 % apart, and nothing between them.
        assert_eq!(kind(view(10.4, 0.1), ours()), "agree");
        assert_eq!(kind(view(10.6, 0.1), ours()), "differ");
        assert_eq!(kind(view(10.6, 0.6), ours()), "cannot be told apart");
    }

    #[test]
    fn what_was_rounded_is_known_to_half_a_digit() {
        for published in [0.6, 0.7, 0.8] {
            let published = View::printed(published, 0.1);
            assert_eq!(kind(tenths(0.7), published), "cannot be told apart");
        }
        assert_eq!(kind(tenths(0.7), View::printed(0.9, 0.1)), "differ");
    }

    #[test]
    fn syscosts_method_is_more_or_less_than_the_published_way() {
        for (published, expected) in [
            (
                31.0,
                "syscost's row gives 10.0 ns; the published way gives 3.10 times as much",
            ),
            (8.0, "syscost's row gives 10.0 ns, 25 % more"),
            (12.5, "syscost's row gives 10.0 ns, 20 % less"),
            (0.02, "syscost's row gives 10.0 ns, 500 times as much"),
        ] {
            assert_eq!(
                method(view(published, 0.01 * published), view(10.0, 0.1)),
                expected
            );
        }
        let mut alone = view(10.0, 0.1);
        alone.low = None;
        let few = method(view(31.0, 0.1), alone.clone());
        assert!(few.ends_with("of too few processes to compare"));
        let one = method(alone, view(31.0, 0.1));
        assert!(one.ends_with("one result is too few to compare"));
    }

    #[test]
    fn a_ratio_has_no_more_digits_than_its_figures_support() {
        let times = method(view(31.0, 9.0), view(10.0, 0.1));
        assert!(times.ends_with("3.1 times as much"), "{times}");
    }

    #[test]
    fn no_ratio_is_given_to_what_may_be_nothing() {
        let ours = || view(10.0, 0.1);
        let around = method(view(0.002, 0.1), ours());
        let said = "the published way gives 0.00 ns, not to be told apart from zero, so there is no ratio; syscost's row gives 10.0 ns";
        assert_eq!(around, said);
        assert!(method(view(-3.5, 0.1), ours()).contains("less than nothing"));
        // The same rule for each of the two: what lies above zero has a ratio, however small it is.
        assert_eq!(kind(view(0.0024, 0.001), ours()), "differ");
        let may_be_nothing = method(view(50.0, 1.0), view(1.0, 2.0));
        assert!(may_be_nothing.starts_with("syscost's row gives 1.0 ns, not to be told apart"));
    }

    fn figure(machine: &str, value: Option<f64>, cycles: Option<f64>) -> JudgedFigure {
        JudgedFigure {
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
        }
    }

    #[test]
    fn each_published_machine_is_compared_in_its_direction() {
        let said = |here: View, published: &[JudgedFigure], unit| {
            let ticks = Scale::cycles(crate::study::Cycles::Tsc);
            with_published("It gives", &here, published, (unit, NS, ticks))
        };
        let four = [
            figure("old", Some(80.0), None),
            figure("new", Some(4.0), None),
            figure("newer", Some(2.0), None),
            figure("same", Some(10.2), None),
        ];
        let nanoseconds = said(view(10.0, 0.1), &four, Unit::Nanoseconds);
        assert_eq!(
            nanoseconds.as_deref(),
            Some(
                "It gives 10.0 ns: longer than new (2.50 times), newer (5.00 times); shorter than old (8.00 times); close to same (2 % apart, known to ±2 %)."
            )
        );
        let rate = said(view(10.0, 0.1), &four[..1], Unit::BytesPerSecond);
        assert!(rate.is_some_and(|rate| rate.contains("slower than old (8.00 times)")));
        // Two figures of one machine are told apart.
        let twice = [
            figure("old", Some(5.0), None),
            figure("old", Some(20.0), None),
        ];
        let twice = said(view(10.0, 0.1), &twice, Unit::Nanoseconds).expect("a sentence");
        assert!(
            twice.contains("than old's 5 ns (2.00 times); shorter than old's 20 ns"),
            "{twice}"
        );
        let mut here = view(10.0, 0.1);
        here.cycles = Some(30.0);
        let in_ticks = said(here, &[figure("pc", None, Some(15.0))], Unit::Nanoseconds);
        assert_eq!(
            in_ticks.as_deref(),
            Some("It gives 30.0 ticks: longer than pc (2.00 times).")
        );
        let words = said(
            view(10.0, 0.1),
            &[figure("pc", None, None)],
            Unit::Nanoseconds,
        );
        assert_eq!(words, None);
    }
}
