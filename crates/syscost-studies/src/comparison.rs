//! How far two figures are from each other, in words.

use super::figure::JudgedFigure;
use super::scale::{Scale, least_digit};
use super::view::View;
use syscost_results::Unit;

/// Figures less than this apart do not differ, whatever their intervals; and only figures whose
/// ratio is known to this agree.
const NEAR: f64 = 0.05;

/// What binary fractions leave of a decimal one, as a share of it.
const ROUNDING: f64 = 1e-9;

/// How many times a figure is another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
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

    fn least_digit(self) -> f64 {
        least_digit((self.high - self.value).max(self.value - self.low))
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
        Scale::NONE.show_to(self.value, self.least_digit())
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
pub(crate) enum Relation {
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

/// How many times a figure is another one; `None` if either has no interval.
fn times(one: &View, other: &View) -> Option<Times> {
    let ((low, high), (other_low, other_high)) = (one.interval()?, other.interval()?);
    Some(Times {
        value: one.value / other.value,
        low: low / other_high,
        high: high / other_low,
    })
}

/// A figure divided by another one, both above zero, and the least digit that they support.
pub(crate) fn ratio(one: &View, other: &View) -> (f64, f64) {
    let least = times(one, other).map_or(0.0, Times::least_digit);
    (one.value / other.value, least)
}

pub(crate) fn relation(one: &View, other: &View) -> Relation {
    if one.may_be_nothing() || other.may_be_nothing() {
        return Relation::NoRatio;
    }
    let Some(times) = times(one, other) else {
        return Relation::TooFew;
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
    let what = match view.is_less_than_nothing() {
        true => "less than nothing, which no cost is",
        false => "not to be told apart from zero",
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
pub(crate) fn with_published(
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

/// syscost's figure; `row` begins the sentence.
pub(crate) fn given(row: &str, ours: &View, scale: Scale) -> String {
    format!("{row} gives {}", ours.shown(scale))
}

/// How syscost's figure relates to the published procedure's, without its full stop; `row` is what gives it.
pub(crate) fn with_method(
    published: &View,
    (row, ours): (&str, &View),
    scale: Scale,
) -> (Relation, String) {
    let relation = relation(published, ours);
    let given = given(row, ours, scale);
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
            format!("{row} gives {}", near_zero(ours, scale))
        }
        Relation::NoRatio => format!(
            "the published way gives {}; {given}",
            near_zero(published, scale)
        ),
    };
    (relation, text)
}

#[cfg(test)]
mod tests;
