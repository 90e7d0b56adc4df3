//! Numbers at a readable scale: three digits, and a fourth where their interval allows it.

use syscost_results::{Estimate, Measurement, Status, Unit};

/// Most decimals of a number with a half width: picoseconds are the least worth telling of a cost.
const MAX_DECIMALS: i32 = 3;
/// Most decimals of a number that stands alone.
const MAX_DECIMALS_ALONE: i32 = 6;

/// A row's numbers as text, all at one scale and with equally many decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// The median, `< bound` below resolution, or `> bound` above the range that was tried.
    pub median: String,
    /// The scale's unit; empty for a count.
    pub unit: &'static str,
    /// The larger side of the interval, rounded up; empty without an interval. With a plus sign where that is the upper one and no shorter than the median:
    /// the lower side must be shorter, for a cost is more than nothing.
    pub half_width: String,
    /// The best sample: the smallest of a cost, the largest of a rate; empty without one.
    pub best: String,
}

impl Figures {
    /// The figures that a row may show: none of a withheld row, whatever its document holds.
    pub fn of(row: &Measurement) -> Option<Self> {
        match row.status {
            Status::Ok => Figures::with_best(row.unit, &row.estimate, row.best()),
            Status::BelowResolution => Figures::bound(row.unit, &row.estimate),
            Status::AboveRange => Figures::lower_bound(row.unit, &row.estimate),
            Status::Withheld | Status::Unsupported | Status::Failed | Status::Skipped => None,
        }
    }

    /// The figures of an estimate; `None` without a median.
    pub fn new(unit: Unit, estimate: &Estimate) -> Option<Self> {
        Self::with_best(unit, estimate, estimate.best)
    }

    fn with_best(unit: Unit, estimate: &Estimate, best: Option<f64>) -> Option<Self> {
        let median = estimate.median?;
        let half = estimate
            .ci95_low
            .zip(estimate.ci95_high)
            .map(|(low, high)| (high - median).max(median - low));
        // A wide interval takes no digit from the median.
        let magnitude = match median {
            0.0 => half.unwrap_or(0.0),
            median => median.abs(),
        };
        let (factor, unit) = scale(unit, magnitude);
        let half = half.map(|half| half / factor);
        let decimals = decimals(median / factor, half);
        Some(Figures {
            median: seen(median / factor, decimals),
            unit,
            half_width: half.map_or_else(String::new, |half| {
                let sign = if is_upper(estimate) { "+" } else { "" };
                // Of a handful of processes it may be thousands of times the median: no column is
                // as wide as that.
                match half > 1000.0 * (median / factor).abs() && median != 0.0 {
                    true => format!("{sign}{half:.1e}"),
                    false => format!("{sign}{}", up(half, decimals)),
                }
            }),
            best: best.map_or_else(String::new, |best| seen(best / factor, decimals)),
        })
    }

    /// The median with the larger side of its interval: `41.23 ± 0.24`, `16 +79`.
    pub fn with_half_width(&self) -> String {
        format!("{}{}", self.median, self.side())
    }

    /// That side as it follows the median: ` ± 0.24`, ` +79`; empty without an interval.
    pub fn side(&self) -> String {
        let half_width = &self.half_width;
        match half_width.chars().next() {
            None => String::new(),
            Some('+') => format!(" {half_width}"),
            Some(_) => format!(" ± {half_width}"),
        }
    }

    /// The figures of an estimate below resolution: its bound only, whatever else it holds; `None` without a bound.
    pub fn bound(unit: Unit, estimate: &Estimate) -> Option<Self> {
        let (bound, unit) = scaled(unit, estimate.ci95_high?);
        Some(Figures {
            median: format!("< {}", up(bound, decimals(bound, None))),
            unit,
            half_width: String::new(),
            best: String::new(),
        })
    }

    /// The figures of an estimate above the range that was tried: its bound only; `None` without a
    /// bound.
    pub fn lower_bound(unit: Unit, estimate: &Estimate) -> Option<Self> {
        let (bound, unit) = scaled(unit, estimate.ci95_low?);
        Some(Figures {
            median: format!("> {}", down(bound, decimals(bound, None))),
            unit,
            half_width: String::new(),
            best: String::new(),
        })
    }
}

/// Whether the interval's larger side is the upper one alone, because the lower one would go to zero and beyond.
pub(crate) fn is_upper(estimate: &Estimate) -> bool {
    let (Some(median), Some(low), Some(high)) =
        (estimate.median, estimate.ci95_low, estimate.ci95_high)
    else {
        return false;
    };
    low > 0.0 && high - median >= median
}

/// One number with its unit, to three digits: `41.2 ns`.
pub fn quantity(unit: Unit, value: f64) -> String {
    let (value, unit) = scaled(unit, value);
    format!("{} {unit}", fixed(value, decimals(value, None)))
        .trim_end()
        .to_owned()
}

/// Core cycles: two decimals below ten, where one cycle in a hundred matters, and fewer above.
pub fn cycles(cycles: f64) -> String {
    let decimals = match cycles.abs() {
        below if below < 9.995 => 2,
        below if below < 99.95 => 1,
        _ => 0,
    };
    fixed(cycles, decimals)
}

/// A duration in seconds, for sentences: `0.8 s`, `54 s`, `3 min 20 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    match seconds.round() as u64 {
        whole if whole < 120 => format!("{whole} s"),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}

/// The value at its own scale, and the scale's unit.
fn scaled(unit: Unit, value: f64) -> (f64, &'static str) {
    let (factor, unit) = scale(unit, value.abs());
    (value / factor, unit)
}

/// The largest scale that a magnitude reaches, as a factor and its unit.
pub(crate) fn scale(unit: Unit, magnitude: f64) -> (f64, &'static str) {
    let scales: &[(f64, &'static str)] = match unit {
        Unit::Nanoseconds => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
        // Sizes of memory are powers of two.
        Unit::Bytes => &[
            (1_073_741_824.0, "GiB"),
            (1_048_576.0, "MiB"),
            (1024.0, "KiB"),
            (1.0, "B"),
        ],
        Unit::BytesPerSecond => &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
        Unit::OperationsPerSecond => &[
            (1e9, "Gop/s"),
            (1e6, "Mop/s"),
            (1e3, "kop/s"),
            (1.0, "op/s"),
        ],
        Unit::Gigahertz => &[(1.0, "GHz")],
        Unit::Percent => &[(1.0, "%")],
        Unit::Count => &[(1.0, "")],
        Unit::Ratio => &[(1.0, "x")],
    };
    // What would be printed as 1000 of the smaller unit is 1 of the larger.
    let reached = scales
        .iter()
        .find(|(factor, _)| magnitude >= 0.9995 * factor);
    *reached.unwrap_or(&scales[scales.len() - 1])
}

/// Decimals that show this many digits of a number.
fn for_digits(number: f64, digits: i32) -> i32 {
    match number.abs() {
        0.0 => i32::MAX,
        number => digits - 1 - number.log10().floor() as i32,
    }
}

/// Decimals that show two digits of the half width, but three of the value at least and four at most; three of the value without a
/// half width.
fn decimals(value: f64, half: Option<f64>) -> usize {
    let decimals = match half {
        Some(half) if value == 0.0 => for_digits(half, 2).min(MAX_DECIMALS),
        Some(half) => for_digits(half, 2)
            .clamp(for_digits(value, 3), for_digits(value, 4))
            .min(MAX_DECIMALS),
        None if value == 0.0 => 0,
        None => for_digits(value, 3).min(MAX_DECIMALS_ALONE),
    };
    decimals.max(0) as usize
}

/// The value with this many decimals, or with two digits where nothing would be left of it.
fn seen(value: f64, decimals: usize) -> String {
    let is_lost = value != 0.0 && value.abs() < 0.5 * 10f64.powi(-(decimals as i32));
    let digits = for_digits(value, 2).clamp(0, MAX_DECIMALS_ALONE) as usize;
    fixed(value, if is_lost { digits } else { decimals })
}

/// From here on a number is written with an exponent: no cost is so large, but a damaged document may hold one.
const EXPONENT_FROM: f64 = 1e15;

/// The value with this many decimals, a zero without its sign.
fn fixed(value: f64, decimals: usize) -> String {
    if value.abs() >= EXPONENT_FROM {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|digit| matches!(digit, '0' | '.')) => zero.to_owned(),
        _ => text,
    }
}

/// The value rounded up, since a bound must hold.
fn up(value: f64, decimals: usize) -> String {
    let factor = 10f64.powi(decimals as i32);
    // A hair less, so that 0.3 stays 0.3.
    fixed((value * factor - 1e-6).ceil().max(0.0) / factor, decimals)
}

/// A lower bound, rounded down: what is larger than it is larger than what is shown.
fn down(value: f64, decimals: usize) -> String {
    let factor = 10f64.powi(decimals as i32);
    // A hair more, so that 0.3 stays 0.3.
    fixed((value * factor + 1e-6).floor().max(0.0) / factor, decimals)
}

#[cfg(test)]
mod tests {
    use syscost_results::Better;

    use super::*;

    #[test]
    fn an_interval_thousands_of_times_the_median_takes_no_wider_column() {
        let (median, _, half) = figures(Unit::Nanoseconds, 1.47, 8100.0, 2.5e9);
        assert_eq!((&*median, &*half), ("8.10", "+2.5e6"));
    }

    fn figures(unit: Unit, low: f64, median: f64, high: f64) -> (String, &'static str, String) {
        let estimate = Estimate {
            median: Some(median),
            ci95_low: Some(low),
            ci95_high: Some(high),
            ..Estimate::default()
        };
        let figures = Figures::new(unit, &estimate).unwrap();
        (figures.median, figures.unit, figures.half_width)
    }

    #[test]
    fn digits_follow_the_interval() {
        let cases = [
            (41.0, 41.234, 41.4, "41.23", "ns", "0.24"),
            (123.4, 123.456, 123.6, "123.5", "ns", "0.2"),
            (380.0, 412.3, 430.0, "412", "ns", "33"),
            (4.1e3, 4.5678e3, 4.7e3, "4.57", "µs", "0.47"),
            (0.26, 0.2712, 0.28, "0.271", "ns", "0.012"),
            (2.0, 2.0, 2.0, "2.000", "ns", "0.000"),
            (100.0, 100.0, 100.0001, "100.0", "ns", "0.1"),
            (-3.0, 0.0, 5.0, "0.0", "ns", "5.0"),
            (7.0e4, 7.52e4, 1.4752e6, "75.2", "µs", "+1400.0"),
            (12.0, 62.3, 130.0, "62.3", "ns", "+67.7"),
            (-12.3, -10.1, -9.0, "-10.1", "ns", "2.2"),
            (9.8e8, 1.0e9, 1.02e9, "1.000", "s", "0.020"),
        ];
        for (low, median, high, text, unit, half) in cases {
            let found = figures(Unit::Nanoseconds, low, median, high);
            assert_eq!(
                found,
                (text.to_owned(), unit, half.to_owned()),
                "{low} {median} {high}"
            );
        }
    }

    #[test]
    fn what_is_too_large_to_be_a_cost_takes_few_digits() {
        assert_eq!(quantity(Unit::Nanoseconds, 1e308), "1.00e299 s");
        let (median, unit, half) = figures(Unit::Nanoseconds, 1e307, 1e308, 1.5e308);
        assert_eq!((&*median, unit), ("1.00e299", "s"));
        assert_eq!(half, "9.00e298");
        assert_eq!(
            quantity(Unit::Count, 123_456_789_012_345.0),
            "123456789012345"
        );
    }

    #[test]
    fn the_half_width_is_its_larger_side_rounded_up() {
        assert_eq!(figures(Unit::Nanoseconds, 49.0, 50.0, 50.5).2, "1.0");
        assert_eq!(figures(Unit::Nanoseconds, 988.9, 990.0, 990.1).2, "1.1");
        assert_eq!(figures(Unit::Nanoseconds, 499.96, 500.0, 500.0).2, "0.1");
    }

    #[test]
    fn no_interval_seems_to_reach_zero_that_does_not() {
        let told = |low, median, high| figures(Unit::Nanoseconds, low, median, high).2;
        assert_eq!(told(15.9, 16.0, 94.6), "+78.6");
        assert_eq!(told(64.0, 64.0, 128.0), "+64.0");
        assert_eq!(told(15.9, 50.0, 94.6), "44.6");
        assert_eq!(told(-3.0, 0.0, 5.0), "5.0", "it does reach zero");
        let estimate = Estimate {
            median: Some(16.0),
            ci95_low: Some(15.9),
            ci95_high: Some(94.6),
            ..Estimate::default()
        };
        let wide = Figures::new(Unit::Nanoseconds, &estimate).unwrap();
        assert_eq!(wide.with_half_width(), "16.0 +78.6");
    }

    #[test]
    fn a_lower_bound_is_rounded_down_and_marked() {
        let estimate = Estimate {
            median: Some(9e9),
            ci95_low: Some(200.999 * 1048576.0),
            ..Estimate::default()
        };
        let figures = Figures::lower_bound(Unit::Bytes, &estimate).unwrap();
        assert_eq!((&*figures.median, figures.unit), ("> 200", "MiB"));
        assert_eq!(figures.with_half_width(), "> 200");
        assert_eq!(
            Figures::lower_bound(Unit::Bytes, &Estimate::default()),
            None
        );
    }

    #[test]
    fn a_bound_is_rounded_up_and_marked() {
        let estimate = Estimate {
            median: Some(0.2),
            ci95_high: Some(0.4312),
            ..Estimate::default()
        };
        let figures = Figures::bound(Unit::Nanoseconds, &estimate).unwrap();
        assert_eq!(
            (figures.median.as_str(), figures.unit, figures.best.as_str()),
            ("< 0.432", "ns", "")
        );
        let none = Estimate::default();
        assert_eq!(Figures::bound(Unit::Nanoseconds, &none), None);
        assert_eq!(Figures::new(Unit::Nanoseconds, &none), None);
    }

    #[test]
    fn nothing_but_zero_is_rounded_to_nothing() {
        let estimate = |min| Estimate {
            median: Some(4e6),
            ci95_low: Some(1e6),
            ci95_high: Some(7e6),
            best: Some(min),
            ..Estimate::default()
        };
        let best = |best| {
            Figures::new(Unit::Nanoseconds, &estimate(best))
                .unwrap()
                .best
        };
        assert_eq!(
            [0.0, 2_340.0, 49_999.0, 61_000.0, 3.2e6].map(best),
            ["0.00", "0.0023", "0.05", "0.06", "3.20"]
        );
    }

    #[test]
    fn the_best_of_a_rate_is_never_its_smallest() {
        let mut row =
            crate::fixture::row(&crate::fixture::run(), "syscall.null{call=getppid}").clone();
        row.estimate.min = Some(1.0);
        row.estimate.best = None;
        let best = |row: &Measurement| Figures::of(row).unwrap().best;
        // Of before it was kept.
        assert_eq!(best(&row), "1.00");
        row.better = Better::Higher;
        assert_eq!(best(&row), "");
        row.estimate.best = Some(90.0);
        assert_eq!(best(&row), "90.00");
        row.status = Status::Withheld;
        assert_eq!(Figures::of(&row), None);
    }

    #[test]
    fn units_scale_as_people_say_them() {
        let cases = [
            (Unit::Nanoseconds, 0.3, "0.300 ns"),
            (Unit::Nanoseconds, 999.4, "999 ns"),
            (Unit::Nanoseconds, 999.6, "1.000 µs"),
            (Unit::Nanoseconds, 1.5e6, "1.50 ms"),
            (Unit::Nanoseconds, 2.5e10, "25.0 s"),
            (Unit::BytesPerSecond, 12.5e9, "12.5 GB/s"),
            (Unit::Bytes, 64.0, "64.0 B"),
            (Unit::Bytes, 49152.0, "48.0 KiB"),
            (Unit::Bytes, 2.5e6, "2.38 MiB"),
            (Unit::BytesPerSecond, 800.0, "800 B/s"),
            (Unit::OperationsPerSecond, 9.87e6, "9.87 Mop/s"),
            (Unit::Gigahertz, 3.6934, "3.69 GHz"),
            (Unit::Percent, 0.125, "0.125 %"),
            (Unit::Count, 16.0, "16.0"),
            (Unit::Ratio, 1.25, "1.25 x"),
            (Unit::Nanoseconds, 0.0, "0 ns"),
            (Unit::Nanoseconds, 0.00045, "0.000450 ns"),
            (Unit::Nanoseconds, -0.00000001, "0.000000 ns"),
        ];
        for (unit, value, expected) in cases {
            assert_eq!(quantity(unit, value), expected);
        }
    }

    #[test]
    fn cycles_and_durations() {
        assert_eq!(
            [1.0, 9.994, 9.996, 99.94, 99.96, 1234.5].map(cycles),
            ["1.00", "9.99", "10.0", "99.9", "100", "1234"]
        );
        assert_eq!(
            [0.75, 9.94, 9.96, 119.4, 119.6, 200.0].map(duration),
            ["0.8 s", "9.9 s", "10 s", "119 s", "2 min 0 s", "3 min 20 s"]
        );
    }
}
