//! The scale at which figures stand beside those that a text prints.

use syscost_results::Unit;
use syscost_results::study::{Cycles, Printed, SCALES};

/// A scale at which a quantity's figures are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// How many of the quantity's unit are one of its own.
    pub factor: f64,
    /// Its unit; empty for none.
    pub symbol: &'static str,
}

impl Scale {
    /// Of what has no unit, such as a ratio.
    pub const NONE: Scale = Scale {
        factor: 1.0,
        symbol: "",
    };

    /// Of figures of this machine in cycles, which are called by what they are.
    pub fn cycles(cycles: Cycles) -> Self {
        let symbol = match cycles {
            Cycles::Core => "cycles",
            Cycles::Tsc => "ticks",
        };
        let factor = 1.0;
        Scale { factor, symbol }
    }

    pub(crate) fn of(unit: Unit) -> Self {
        let (factor, symbol) = (1.0, unit.symbol());
        Scale { factor, symbol }
    }

    /// The one at which a number is printed in a quantity of this unit.
    pub(crate) fn printed(printed: &Printed, unit: Unit) -> Self {
        printed.scale.map_or_else(
            || Self::of(unit),
            |(symbol, _, factor)| Scale { factor, symbol },
        )
    }

    /// The largest one of this unit that a value reaches.
    pub(crate) fn reached(unit: Unit, value: f64) -> Self {
        let mut all = SCALES.iter().filter(|(_, of, _)| *of == unit);
        // 1000 of a unit is shown as 1 of the next larger one.
        let reached = all.find(|(.., factor)| value.abs() >= 0.9995 * factor);
        reached.map_or_else(
            || Self::of(unit),
            |&(symbol, _, factor)| Scale { factor, symbol },
        )
    }

    /// A value with its unit, to three digits.
    pub fn show(self, value: f64) -> String {
        self.show_to(value, 0.0)
    }

    /// A value with its unit, to three digits, but to none that is worth less than `least`, which is
    /// in the value's unit.
    pub fn show_to(self, value: f64, least: f64) -> String {
        let digits = digits(value / self.factor, least / self.factor);
        let text = format!("{digits} {}", self.symbol);
        text.trim_end().to_owned()
    }
}

/// The least digit worth showing of a figure that may be off by this: one of that size, and one more
/// where the first is 1 or 2.
pub(crate) fn least_digit(off: f64) -> f64 {
    match off > 0.0 {
        true => 10f64.powf((off / 3.0).log10().floor()),
        false => 0.0,
    }
}

/// A number with three significant digits; whole numbers with all of theirs.
pub(crate) fn number(value: f64) -> String {
    match value == value.trunc() {
        true => format!("{value:.0}"),
        false => digits(value, 0.0),
    }
}

/// A share in percent: no count supports more than two digits of it.
pub(crate) fn share(percent: f64) -> String {
    match percent == percent.trunc() {
        true => format!("{percent:.0}"),
        false => digits(percent, 10f64.powf(percent.abs().log10().floor() - 1.0)),
    }
}

/// A number with three significant digits, none worth less than this.
fn digits(value: f64, least: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if magnitude >= 1e15 {
        return format!("{value:.2e}");
    }
    let third = magnitude.max(1e-9).log10().floor() as i32 - 2;
    // A step of 0.1 is slightly less than that in binary.
    let last = match least > 0.0 {
        true => third.max((least.log10() + 1e-9).floor() as i32),
        false => third,
    };
    let one = 10f64.powi(last);
    let shown = match last > 0 {
        true => format!("{:.0}", (value / one).round() * one),
        false => format!("{value:.*}", last.unsigned_abs() as usize),
    };
    // What rounds to zero has no sign.
    let is_zero = !shown.contains(|digit: char| ('1'..='9').contains(&digit));
    match is_zero {
        true => shown.trim_start_matches('-').to_owned(),
        false => shown,
    }
}

/// What its last digit may be off by if the rest was cut off, in the quantity's unit.
pub(crate) fn last_digit(printed: &Printed) -> f64 {
    10f64.powi(-(decimals(printed) as i32)) * printed.factor() / printed.divisor
}

pub(crate) fn decimals(printed: &Printed) -> usize {
    let number = printed.text.split([' ', '/', 'k', '%']).next();
    let decimals = number.and_then(|number| number.split_once('.'));
    decimals.map_or(0, |(_, decimals)| decimals.len())
}

pub(crate) fn is_in(printed: &Printed, unit: Unit) -> bool {
    printed.scale.is_none_or(|(_, of, _)| of == unit)
}

/// As printed, with this unit if it has none of its own; a share of a total with what it is.
pub(crate) fn with_unit(printed: &Printed, symbol: &str) -> String {
    match printed.scale {
        Some((own, unit, _)) if printed.divisor != 1.0 && unit != Unit::Count => {
            format!(
                "{} = {} {own}",
                printed.text,
                digits(printed.number / printed.divisor, 0.0)
            )
        }
        Some((_, unit, _)) if unit != Unit::Count => printed.text.clone(),
        Some(_) | None => format!("{} {symbol}", printed.text).trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    #[test]
    fn what_is_printed_keeps_its_digits_and_its_unit() {
        let read = |text: &'static str| {
            Printed::deserialize(StrDeserializer::<Error>::new(text)).expect("a number")
        };
        let zeros = read("26.157300");
        assert_eq!(with_unit(&zeros, "ns"), "26.157300 ns");
        assert_eq!((decimals(&zeros), last_digit(&read("40"))), (6, 1.0));
        let micro = read("90.7 us");
        assert_eq!(with_unit(&micro, "ns"), "90.7 µs");
        let scale = Scale::printed(&micro, Unit::Nanoseconds);
        assert_eq!(scale.show(96_712.0), "96.7 µs");
        assert_eq!(with_unit(&read("49 us / 20"), "ns"), "49 µs / 20 = 2.45 µs");
        assert_eq!(with_unit(&read("15.9k"), "cycles"), "15.9k cycles");
        assert!(!is_in(&read("21.06 GB/s"), Unit::Nanoseconds));
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 2.71428, 27.1428, 271.428, 2714.28, 0.00271].map(number);
        assert_eq!(shown, ["0", "2.71", "27.1", "271", "2710", "0.00271"]);
        assert_eq!(number(10_000.0), "10000");
        let shares = [48.73, 5.714, 0.0873, 100.0, 0.0].map(share);
        assert_eq!(shares, ["49", "5.7", "0.087", "100", "0"]);
        let scale = Scale::reached(Unit::Nanoseconds, 119_691.0);
        assert_eq!(
            (scale.show(119_691.0), scale.show(-5.0)),
            ("120 µs".into(), "-0.00500 µs".into())
        );
    }

    #[test]
    fn no_digit_is_finer_than_what_a_figure_may_be_off_by() {
        let ns = Scale::of(Unit::Nanoseconds);
        assert_eq!(ns.show_to(0.7, 0.1), "0.7 ns");
        assert_eq!(ns.show_to(110.0, 10.0), "110 ns");
        assert_eq!(ns.show_to(27_509.0, 0.0), "27500 ns");
        let micro = Scale::reached(Unit::Nanoseconds, 4750.0);
        assert_eq!(micro.show_to(4750.0, 100.0), "4.8 µs");
        // ±12 leaves tens and units, ±35 tens alone.
        assert_eq!([12.0, 35.0, 0.0].map(least_digit), [1.0, 10.0, 0.0]);
        assert_eq!(ns.show_to(-0.0254, least_digit(0.1)), "-0.03 ns");
        assert_eq!(ns.show_to(-0.0254, 0.1), "0.0 ns");
    }
}
