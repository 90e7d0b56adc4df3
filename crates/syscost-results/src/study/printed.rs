//! Numbers as a text prints them, and the scale at which figures stand beside them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Cycles;
use crate::Unit;

/// Suffixes of printed numbers, the unit of a quantity that they are a multiple of, and how many.
const SCALES: [(&str, Unit, f64); 16] = [
    ("s", Unit::Nanoseconds, 1e9),
    ("ms", Unit::Nanoseconds, 1e6),
    ("µs", Unit::Nanoseconds, 1e3),
    ("ns", Unit::Nanoseconds, 1.0),
    // Memory sizes are in powers of two.
    ("GiB", Unit::Bytes, 1_073_741_824.0),
    ("MiB", Unit::Bytes, 1_048_576.0),
    ("KiB", Unit::Bytes, 1024.0),
    ("B", Unit::Bytes, 1.0),
    ("GB/s", Unit::BytesPerSecond, 1e9),
    ("MB/s", Unit::BytesPerSecond, 1e6),
    ("kB/s", Unit::BytesPerSecond, 1e3),
    ("B/s", Unit::BytesPerSecond, 1.0),
    ("kop/s", Unit::OperationsPerSecond, 1e3),
    ("op/s", Unit::OperationsPerSecond, 1.0),
    ("%", Unit::Percent, 1.0),
    // Of cycles.
    ("k", Unit::Count, 1e3),
];

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

    pub(super) fn of(unit: Unit) -> Self {
        let (factor, symbol) = (1.0, unit.symbol());
        Scale { factor, symbol }
    }

    /// The largest one of this unit that a value reaches.
    pub(super) fn reached(unit: Unit, value: f64) -> Self {
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
pub(super) fn least_digit(off: f64) -> f64 {
    match off > 0.0 {
        true => 10f64.powf((off / 3.0).log10().floor()),
        false => 0.0,
    }
}

/// A number with three significant digits; whole numbers with all of theirs.
pub(super) fn number(value: f64) -> String {
    match value == value.trunc() {
        true => format!("{value:.0}"),
        false => digits(value, 0.0),
    }
}

/// A share in percent: no count supports more than two digits of it.
pub(super) fn share(percent: f64) -> String {
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

/// A number as a text prints it: `26.157300` keeps its zeros. It may have a unit of its own
/// (`90.7 us`) and may be divided (`49 us / 20`).
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    text: String,
    number: f64,
    scale: Option<(&'static str, Unit, f64)>,
    divisor: f64,
}

impl Printed {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().replace("us", "µs");
        let (dividend, divisor) = match text.split_once('/') {
            Some((dividend, divisor)) if !divisor.starts_with('s') => {
                (dividend.trim(), divisor.trim().parse().ok()?)
            }
            Some(_) | None => (text.as_str(), 1.0),
        };
        let end = dividend.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let (number, symbol) = dividend.split_at(end.unwrap_or(dividend.len()));
        let scale = match symbol.trim() {
            "" => None,
            symbol => Some(*SCALES.iter().find(|(known, ..)| *known == symbol)?),
        };
        Some(Printed {
            number: number.parse().ok()?,
            scale,
            divisor,
            text,
        })
    }

    /// The number, in the quantity's unit.
    pub fn value(&self) -> f64 {
        self.number * self.factor() / self.divisor
    }

    /// What its last digit may be off by if the rest was cut off, in the quantity's unit.
    pub(super) fn last_digit(&self) -> f64 {
        10f64.powi(-(self.decimals() as i32)) * self.factor() / self.divisor
    }

    pub(super) fn decimals(&self) -> usize {
        let number = self.text.split([' ', '/', 'k', '%']).next();
        let decimals = number.and_then(|number| number.split_once('.'));
        decimals.map_or(0, |(_, decimals)| decimals.len())
    }

    fn factor(&self) -> f64 {
        self.scale.map_or(1.0, |(.., factor)| factor)
    }

    pub(super) fn is_in(&self, unit: Unit) -> bool {
        self.scale.is_none_or(|(_, of, _)| of == unit)
    }

    /// The scale at which it is printed in a quantity of this unit.
    pub(super) fn scale(&self, unit: Unit) -> Scale {
        self.scale.map_or_else(
            || Scale::of(unit),
            |(symbol, _, factor)| Scale { factor, symbol },
        )
    }

    /// As printed, with this unit if it has none of its own; a share of a total with what it is.
    pub fn with_unit(&self, symbol: &str) -> String {
        match self.scale {
            Some((own, unit, _)) if self.divisor != 1.0 && unit != Unit::Count => {
                format!(
                    "{} = {} {own}",
                    self.text,
                    digits(self.number / self.divisor, 0.0)
                )
            }
            Some((_, unit, _)) if unit != Unit::Count => self.text.clone(),
            Some(_) | None => format!("{} {symbol}", self.text).trim_end().to_owned(),
        }
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Printed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Printed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl de::Visitor<'_> for Reader {
    type Value = Printed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or one as printed: \"26.157300\", \"90.7 us\", \"49 us / 20\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Printed, E> {
        let wrong = || E::invalid_value(de::Unexpected::Str(text), &self);
        Printed::parse(text).ok_or_else(wrong)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Printed, E> {
        Ok(Printed {
            text: number.to_string(),
            number,
            scale: None,
            divisor: 1.0,
        })
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Printed, E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Printed, E> {
        self.visit_f64(number as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_keeps_its_digits_and_its_unit() {
        let read = |text: &str| Printed::parse(text).expect("a number");
        let zeros = read("26.157300");
        assert_eq!(
            (zeros.value(), zeros.to_string().as_str()),
            (26.1573, "26.157300")
        );
        assert_eq!(zeros.with_unit("ns"), "26.157300 ns");
        assert_eq!((zeros.decimals(), read("40").last_digit()), (6, 1.0));
        let micro = read("90.7 us");
        assert_eq!(
            (micro.value(), micro.with_unit("ns").as_str()),
            (90_700.0, "90.7 µs")
        );
        assert_eq!(micro.scale(Unit::Nanoseconds).show(96_712.0), "96.7 µs");
        let each = read("49 us / 20");
        assert_eq!(
            (each.value(), each.with_unit("ns").as_str()),
            (2450.0, "49 µs / 20 = 2.45 µs")
        );
        assert_eq!(read("15.9k").with_unit("cycles"), "15.9k cycles");
        assert_eq!(
            (read("21.06 GB/s").value(), read("15.9k").value()),
            (21.06e9, 15_900.0)
        );
        assert!(!read("21.06 GB/s").is_in(Unit::Nanoseconds));
        for wrong in ["", "about 3", "5 parsecs", "3 /", "-1"] {
            assert_eq!(Printed::parse(wrong), None, "{wrong}");
        }
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
