//! The ticks of an axis: round values, labelled at regular intervals.

use syscost_results::Unit;

use super::Scale;
use crate::units;

impl Scale {
    /// Round values on the axis with their labels, about `target` of them; at least three if there
    /// are as many round values, as two do not show whether an axis is logarithmic.
    pub(crate) fn ticks(&self, unit: Unit, target: usize) -> Vec<(f64, String)> {
        let target = target.max(6);
        if !self.logarithmic {
            return self.linear_ticks(unit, target);
        }
        if unit == Unit::Bytes {
            let label = |tick| (tick, alone(unit, tick));
            let ticks = octaves(self.low, self.high, target).into_iter();
            return ticks.map(label).collect();
        }
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let on_axis = |value: &f64| (self.low..=self.high).contains(value);
        for digits in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
            let ticks: Vec<f64> = (first..=last)
                .flat_map(|decade| digits.iter().map(move |digit| digit * 10f64.powi(decade)))
                .filter(on_axis)
                .collect();
            if ticks.len() <= target && ticks.len() > 1 {
                return ticks
                    .into_iter()
                    .map(|tick| (tick, alone(unit, tick)))
                    .collect();
            }
        }
        let step = (last - first).unsigned_abs() as usize / target + 1;
        (first..=last)
            .step_by(step)
            .map(|decade| 10f64.powi(decade))
            .filter(on_axis)
            .map(|tick| (tick, alone(unit, tick)))
            .collect()
    }

    fn linear_ticks(&self, unit: Unit, target: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / target as f64;
        let step = match unit {
            Unit::Bytes => rough.log2().ceil().max(0.0).exp2(),
            _ => round_step(rough),
        };
        if !(step.is_finite() && step > 0.0) {
            return Vec::new();
        }
        let largest = match unit {
            // Use a unit for which the step is at least a quarter, or the labels would have many
            // decimals.
            Unit::Bytes => 4.0 * step,
            _ => self.high.abs().max(self.low.abs()),
        };
        let (factor, symbol) = units::scale(unit, largest);
        let decimals = match unit {
            Unit::Bytes => (factor / step).log2(),
            _ => -(step / factor * 1.001).log10().floor(),
        };
        let decimals = decimals.clamp(0.0, 9.0) as usize;
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last)
            .take(4 * target)
            .map(|index| {
                let value = index as f64 * step;
                let text = format!("{:.decimals$} {symbol}", value / factor);
                (value, text.trim_end().to_owned())
            })
            .collect()
    }
}

/// The smallest of 1, 2, 5, 10, 20... that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let decade = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|digit| digit * decade)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * decade)
}

/// Powers of two from `low` to `high`: every one, every second, every third..., so that there are
/// at most `max_count` of them.
fn octaves(low: f64, high: f64, max_count: usize) -> Vec<f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    let step = (last - first).max(0) / max_count.max(1) as i32 + 1;
    // Multiples of the step, so that every tenth is 1 KiB, 1 MiB, 1 GiB.
    (first..=last)
        .filter(|power| power % step == 0)
        .map(|power| f64::from(power).exp2())
        .collect()
}

/// The step `n` such that every `n`-th label can be written without touching the next, given where
/// each begins and ends. Leaving labels out irregularly would mislead.
pub(crate) fn every(labels: &[(f64, f64)]) -> usize {
    let apart = |step: &usize| {
        let written: Vec<_> = labels.iter().step_by(*step).collect();
        written.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    };
    (1..labels.len()).find(apart).unwrap_or(labels.len().max(1))
}

/// A round value with its unit: `20 ns`, `1 µs`.
fn alone(unit: Unit, value: f64) -> String {
    let (factor, symbol) = units::scale(unit, value);
    // Twelve digits hide the rounding errors of the division.
    let value = format!("{:.12}", value / factor);
    let value = value.trim_end_matches('0').trim_end_matches('.');
    format!("{value} {symbol}").trim_end().to_owned()
}

/// Marks on an axis for a parameter with these values: the values themselves, or powers of two if
/// there are many values on a logarithmic axis, as for memory sizes.
pub(crate) fn even_marks(axis: &Scale, values: &[f64]) -> Vec<f64> {
    /// More values than this are many.
    const MANY: usize = 16;
    let mut marks = values.to_vec();
    marks.sort_unstable_by(f64::total_cmp);
    marks.dedup();
    let (Some(&low), Some(&high)) = (marks.first(), marks.last()) else {
        return marks;
    };
    if marks.len() <= MANY || !axis.is_logarithmic() {
        return marks;
    }
    octaves(low, high, MANY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Begin;

    fn of_unit(unit: Unit, low: f64, high: f64, begin: Begin, target: usize) -> Vec<String> {
        Scale::fit([low, high], begin, (0.0, 100.0))
            .ticks(unit, target)
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    fn labels(low: f64, high: f64, begin: Begin, target: usize) -> Vec<String> {
        of_unit(Unit::Nanoseconds, low, high, begin, target)
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            labels(0.3, 2e6, Begin::Zero, 8),
            ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms"]
        );
        assert_eq!(
            labels(1.0, 15.0, Begin::Zero, 6),
            ["1 ns", "2 ns", "5 ns", "10 ns"]
        );
        assert_eq!(
            labels(3.0, 9.0, Begin::Zero, 6),
            ["0 ns", "2 ns", "4 ns", "6 ns", "8 ns"]
        );
        assert_eq!(
            labels(83.12, 83.21, Begin::Near, 5),
            ["83.12 ns", "83.14 ns", "83.16 ns", "83.18 ns", "83.20 ns"]
        );
    }

    #[test]
    fn there_are_three_ticks_or_more() {
        assert_eq!(
            labels(0.0, 82e3, Begin::Zero, 3),
            ["0 µs", "20 µs", "40 µs", "60 µs", "80 µs"]
        );
        assert_eq!(
            labels(1.2, 300.0, Begin::Zero, 3),
            ["3 ns", "10 ns", "30 ns", "100 ns", "300 ns"]
        );
        for begin in [Begin::Zero, Begin::Near] {
            for step in 1..2000 {
                let high = 1.0 + 0.01 * f64::from(step).powf(1.7);
                let count = labels(1.0, high, begin, 2).len();
                assert!((3..=8).contains(&count), "{count} to {high}, {begin:?}");
            }
        }
    }

    #[test]
    fn sizes_are_round_in_powers_of_two() {
        const KIB: f64 = 1024.0;
        let bytes = |low, high, begin| of_unit(Unit::Bytes, low, high, begin, 6);
        assert_eq!(
            bytes(48.0 * KIB, 30.0 * KIB * KIB, Begin::Zero),
            ["64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB"]
        );
        assert_eq!(
            bytes(64.0, 4.0 * KIB * KIB * KIB, Begin::Zero),
            ["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"]
        );
        assert_eq!(
            bytes(200.0 * KIB, 1400.0 * KIB, Begin::Zero),
            [
                "0.00 MiB", "0.25 MiB", "0.50 MiB", "0.75 MiB", "1.00 MiB", "1.25 MiB",
            ]
        );
        assert_eq!(
            bytes(47.0 * KIB, 49.0 * KIB, Begin::Near),
            ["47.0 KiB", "47.5 KiB", "48.0 KiB", "48.5 KiB", "49.0 KiB"]
        );
    }

    #[test]
    fn labels_are_left_out_evenly() {
        let wide = |places: &[f64]| -> Vec<(f64, f64)> {
            places
                .iter()
                .map(|place| (place - 2.0, place + 2.0))
                .collect()
        };
        assert_eq!(every(&wide(&[0.0, 4.0, 8.0])), 1);
        assert_eq!(every(&wide(&[0.0, 3.0, 6.0, 9.0, 12.0])), 2);
        assert_eq!(every(&wide(&[0.0, 0.0, 0.0])), 3, "the first alone");
        assert_eq!(every(&[]), 1);
    }
}
