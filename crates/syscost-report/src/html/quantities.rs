//! Formats numbers that a document merely names: details and observed values, in words and with
//! units.

use syscost_results::{Fact, Unit, facts};

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

/// A fact's path in its document in words, without the suffix that its value shows as a unit:
/// `directories[0].total_bytes` is `directories 1, total`. A ratio says that it is one, or it would be
/// called as the quantity that it is a ratio of.
pub(super) fn named(path: &str) -> String {
    if path.starts_with("machine.") {
        return facts::words(path);
    }
    let units = ENDINGS.iter().filter(|(_, unit, _)| *unit != Unit::Ratio);
    let mut names = units.filter_map(|(ending, _, _)| path.strip_suffix(ending));
    let name = match names.next() {
        Some(name) => name.to_owned(),
        None => ["ms", "s"]
            .iter()
            .find_map(|unit| {
                Some(format!(
                    "{} in {unit}",
                    path.strip_suffix(unit)?.strip_suffix('_')?
                ))
            })
            .unwrap_or_else(|| path.to_owned()),
    };
    let parts = name.split('.').map(|part| {
        let numbered = part.strip_suffix(']').and_then(|part| part.split_once('['));
        let numbered =
            numbered.and_then(|(list, index)| Some((list, index.parse::<usize>().ok()?)));
        match numbered {
            Some((list, index)) => format!("{list} {}", index + 1),
            None => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(", ").replace('_', " ")
}

/// A fact's number, with the unit that its name ends in; a whole number without one to its last
/// digit.
pub(super) fn fact(name: &str, number: &serde_json::Number) -> String {
    let has_unit = ENDINGS.iter().any(|(ending, _, _)| name.ends_with(ending));
    match number.as_f64() {
        Some(value) if has_unit => detail(name, value).1,
        Some(value) if number.is_f64() => format!("{}", (value * 1e4).round() / 1e4),
        _ => number.to_string(),
    }
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
    fn a_fact_reads_as_words_with_its_unit() {
        let shown = |name: &str, json: &str| {
            let number = serde_json::from_str(json).expect("a number");
            format!("{}: {}", named(name), fact(name, &number))
        };
        assert_eq!(
            shown("directories[0].total_bytes", "49152"),
            "directories 1, total: 48.0 KiB"
        );
        assert_eq!(
            shown("config.seed", "18446744073709551615"),
            "config, seed: 18446744073709551615"
        );
        assert_eq!(shown("config.budget_s", "60.0"), "config, budget in s: 60");
        assert_eq!(shown("clock.ghz", "2.4454041"), "clock, ghz: 2.4454");
        let of_cores = ["alone_percent", "alone_ratio"].map(|name| shown(name, "0.5"));
        assert_eq!(of_cores, ["alone: 0.500 %", "alone ratio: 0.500 x"]);
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
