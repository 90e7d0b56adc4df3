//! Numbers as a text prints them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Unit;

/// Suffixes of printed numbers, the unit of a quantity that they are a multiple of, and how many.
pub const SCALES: [(&str, Unit, f64); 16] = [
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

/// A number as a text prints it: `26.157300` keeps its zeros. It may have a unit of its own
/// (`90.7 us`) and may be divided (`49 us / 20`).
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// As printed, with `µs` for `us`.
    pub text: String,
    /// The number before its unit.
    pub number: f64,
    /// Its own unit: one of [`SCALES`].
    pub scale: Option<(&'static str, Unit, f64)>,
    /// By what it is divided; 1 if by nothing.
    pub divisor: f64,
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

    /// How many of the quantity's unit are one of its own.
    pub fn factor(&self) -> f64 {
        self.scale.map_or(1.0, |(.., factor)| factor)
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
        assert_eq!(read("90.7 us").value(), 90_700.0);
        assert_eq!(read("49 us / 20").value(), 2450.0);
        assert_eq!(
            (read("21.06 GB/s").value(), read("15.9k").value()),
            (21.06e9, 15_900.0)
        );
        for wrong in ["", "about 3", "5 parsecs", "3 /", "-1"] {
            assert_eq!(Printed::parse(wrong), None, "{wrong}");
        }
    }
}
