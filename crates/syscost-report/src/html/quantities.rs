//! Formats numbers that a document merely names: details and observed values, in words and with
//! units.

use syscost_results::{Fact, Unit};

use crate::units;

/// Suffixes of names, the longer ones first, each with its unit and the number of those units it
/// stands for.
const ENDINGS: [(&str, Unit, f64); 10] = [
    ("_bytes_per_s", Unit::BytesPerSecond, 1.0),
    ("_operations_per_s", Unit::OperationsPerSecond, 1.0),
    ("_flops_per_s", Unit::FlopsPerSecond, 1.0),
    ("_percent", Unit::Percent, 1.0),
    ("_bytes", Unit::Bytes, 1.0),
    ("_count", Unit::Count, 1.0),
    ("_ratio", Unit::Ratio, 1.0),
    ("_ghz", Unit::Gigahertz, 1.0),
    ("_ns", Unit::Nanoseconds, 1.0),
    ("_us", Unit::Nanoseconds, 1e3),
];
/// Significant digits shown of an observed number that is not an integer.
const DIGITS: f64 = 6.0;

/// A detail's name in words, and its value with the unit of its suffix: `waited_ns` is `waited`,
/// `34.5 µs`.
pub(super) fn detail(name: &str, value: f64) -> (String, String) {
    let known = ENDINGS
        .iter()
        .find_map(|(ending, unit, factor)| Some((name.strip_suffix(ending)?, *unit, *factor)));
    let (name, unit, factor) = known.unwrap_or((name, Unit::Count, 1.0));
    // Names of percentiles have an underscore for the decimal point.
    let words = name.replace("p99_9", "p99.9").replace('_', " ");
    let is_whole = value.fract() == 0.0 && value.abs() < 1e15;
    let shown = match is_whole && unit == Unit::Count {
        true => format!("{value}"),
        false => units::quantity(unit, factor * value),
    };
    (words, shown)
}

/// An observed value, without insignificant digits.
pub(super) fn observed(fact: &Fact) -> String {
    match fact {
        Fact::Number(number) if number.is_finite() && number.fract() != 0.0 => {
            let magnitude = number.abs().log10().floor();
            let decimals = (DIGITS - 1.0 - magnitude).clamp(0.0, 12.0) as usize;
            let text = format!("{number:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        Fact::Number(_) | Fact::Text(_) => fact.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_has_the_unit_that_its_name_ends_in() {
        let shown = |name, value| {
            let (name, value) = detail(name, value);
            format!("{name} {value}")
        };
        assert_eq!(shown("waited_ns", 34529.5), "waited 34.5 µs");
        assert_eq!(
            shown("loaded_round_trip_us", 52.0),
            "loaded round trip 52.0 µs"
        );
        assert_eq!(shown("p99_99_ns", 230.3), "p99.99 230 ns");
        assert_eq!(shown("outliers_count", 3.0), "outliers 3");
        assert_eq!(
            shown("median_disturbed_bytes_per_s", 9.1e9),
            "median disturbed 9.10 GB/s"
        );
        assert_eq!(shown("pages_per_fault", 16.0), "pages per fault 16");
    }

    #[test]
    fn an_observed_number_has_six_digits_at_most() {
        let shown = |number: f64| observed(&Fact::Number(number));
        assert_eq!(shown(453_864.970_939), "453865");
        assert_eq!(shown(2.393_719_44), "2.39372");
        assert_eq!(shown(0.5), "0.5");
        assert_eq!(shown(1.0), "1");
        assert_eq!(observed(&Fact::Text("a".to_owned())), "a");
    }
}
