//! Numbers at a readable scale: three digits, and a fourth where their interval allows it.

use syscost_results::{Estimate, Measurement, Unit};

/// Maximum number of decimals of a number with a half width: finer than picoseconds is meaningless
/// for a cost.
const MAX_DECIMALS: i32 = 3;
/// Maximum number of decimals of a number without a half width.
const MAX_DECIMALS_ALONE: i32 = 6;

/// A row's numbers as text, all at one scale and with the same number of decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// The median, `< bound` below resolution, or `> bound` above the range that was tried.
    pub median: String,
    /// The scale's unit; empty for a count.
    pub unit: &'static str,
    /// The larger side of the interval, rounded up; empty without an interval. It has a plus sign
    /// if it is the upper side and at least as long as the median: the lower side must then be
    /// shorter, as a cost is positive.
    pub half_width: String,
    /// The best sample: the smallest of a cost, the largest of a rate; empty without one.
    pub best: String,
}

impl Figures {
    /// The figures that a row may show: none for a withheld row, whatever its document holds.
    pub fn of(row: &Measurement) -> Option<Self> {
        let estimate = row.shown().estimate;
        match (estimate.median, estimate.ci95_high) {
            (Some(_), _) => Figures::new(row.unit, &estimate),
            (None, Some(_)) => Figures::bound(row.unit, &estimate),
            (None, None) => Figures::lower_bound(row.unit, &estimate),
        }
    }

    /// The figures of an estimate; `None` without a median.
    pub fn new(unit: Unit, estimate: &Estimate) -> Option<Self> {
        let median = estimate.median?;
        let half = estimate
            .ci95_low
            .zip(estimate.ci95_high)
            .map(|(low, high)| (high - median).max(median - low));
        // A wide interval does not reduce the median's digits.
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
                // With a handful of processes it may be thousands of times the median: too wide for
                // any column.
                match half > 1000.0 * (median / factor).abs() && median != 0.0 {
                    true => format!("{sign}{half:.1e}"),
                    false => format!("{sign}{}", up(half, decimals)),
                }
            }),
            best: estimate
                .best
                .map_or_else(String::new, |best| seen(best / factor, decimals)),
        })
    }

    /// The median with the larger side of its interval: `41.23 ± 0.24`, `16 +79`.
    pub fn with_half_width(&self) -> String {
        format!("{}{}", self.median, self.side())
    }

    /// The half width as it follows the median: ` ± 0.24`, ` +79`; empty without an interval.
    pub fn side(&self) -> String {
        let half_width = &self.half_width;
        match half_width.chars().next() {
            None => String::new(),
            Some('+') => format!(" {half_width}"),
            Some(_) => format!(" ± {half_width}"),
        }
    }

    /// The figures of an estimate below resolution: only its bound, whatever else it holds; `None`
    /// without a bound.
    pub fn bound(unit: Unit, estimate: &Estimate) -> Option<Self> {
        Some(Self::limit("<", up, unit, estimate.ci95_high?))
    }

    /// The figures of an estimate above the range that was tried: only its bound; `None` without a
    /// bound.
    pub fn lower_bound(unit: Unit, estimate: &Estimate) -> Option<Self> {
        Some(Self::limit(">", down, unit, estimate.ci95_low?))
    }

    fn limit(sign: &str, round: fn(f64, usize) -> String, unit: Unit, bound: f64) -> Self {
        let (bound, unit) = scaled(unit, bound);
        Figures {
            median: format!("{sign} {}", round(bound, decimals(bound, None))),
            unit,
            half_width: String::new(),
            best: String::new(),
        }
    }
}

/// Whether the interval's larger side applies upwards only, since downwards it would reach zero or
/// less.
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

/// A ratio to another number: `1.27x`.
pub(crate) fn ratio(ratio: f64) -> String {
    let decimals = match ratio {
        small if small < 0.0995 => 3,
        usual if usual < 9.995 => 2,
        large if large < 99.95 => 1,
        _ => 0,
    };
    format!("{}x", seen(ratio, decimals))
}

/// Both ends of an interval at one scale, with as many digits as a median with this interval would
/// have: `115.9 to 116.4 ns`.
pub fn interval(unit: Unit, low: f64, high: f64) -> String {
    let (factor, unit) = scale(unit, low.abs().max(high.abs()));
    let (low, high) = (low / factor, high / factor);
    let decimals = decimals(low.abs().max(high.abs()), Some((high - low) / 2.0));
    format!(
        "{} to {} {unit}",
        fixed(low, decimals),
        fixed(high, decimals)
    )
    .trim_end()
    .to_owned()
}

/// Core cycles: two decimals below ten, where a hundredth of a cycle matters, and fewer above.
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
        // Memory sizes are in powers of two.
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
        Unit::FlopsPerSecond => &[
            (1e9, "GFLOP/s"),
            (1e6, "MFLOP/s"),
            (1e3, "kFLOP/s"),
            (1.0, "FLOP/s"),
        ],
        Unit::Gigahertz => &[(1.0, "GHz")],
        Unit::Percent => &[(1.0, "%")],
        Unit::Count => &[(1.0, "")],
        Unit::Ratio => &[(1.0, "x")],
    };
    // 1000 of a unit is shown as 1 of the next larger one.
    let reached = scales
        .iter()
        .find(|(factor, _)| magnitude >= 0.9995 * factor);
    *reached.unwrap_or(&scales[scales.len() - 1])
}

/// The number of decimals that shows this many digits of a number.
fn for_digits(number: f64, digits: i32) -> i32 {
    match number.abs() {
        0.0 => i32::MAX,
        number => digits - 1 - number.log10().floor() as i32,
    }
}

/// The number of decimals that shows two digits of the half width, but at least three and at most
/// four digits of the value; three digits of the value without a half width.
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

/// The value with this many decimals, or with two digits if it would be shown as zero.
fn seen(value: f64, decimals: usize) -> String {
    let is_lost = value != 0.0 && value.abs() < 0.5 * 10f64.powi(-(decimals as i32));
    let digits = for_digits(value, 2).clamp(0, MAX_DECIMALS_ALONE) as usize;
    fixed(value, if is_lost { digits } else { decimals })
}

/// Magnitude from which a number is written with an exponent: no real cost is so large, but a
/// damaged document may hold one.
const EXPONENT_FROM: f64 = 1e15;

/// The value with this many decimals; zero without a sign.
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

/// The value rounded up, since an upper bound must hold.
fn up(value: f64, decimals: usize) -> String {
    let factor = 10f64.powi(decimals as i32);
    // Slightly less, so that 0.3 stays 0.3.
    fixed((value * factor - 1e-6).ceil().max(0.0) / factor, decimals)
}

/// A lower bound, rounded down so that it still holds.
fn down(value: f64, decimals: usize) -> String {
    let factor = 10f64.powi(decimals as i32);
    // Slightly more, so that 0.3 stays 0.3.
    fixed((value * factor + 1e-6).floor().max(0.0) / factor, decimals)
}

#[cfg(test)]
mod tests;
