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

/// Both ends of an interval at one scale, with as many digits as a median with this interval would have: `115.9 to 116.4 ns`.
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
mod tests;
