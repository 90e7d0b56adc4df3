//! Maps values to positions on an axis.

mod ticks;

pub(crate) use ticks::{even_marks, every};

/// Ratio of the largest to the smallest value from which an axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 12.0;

/// An axis between two coordinates of a picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// Where a linear axis begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// At zero, if lengths are compared.
    Zero,
    /// Near the smallest value, if positions are compared.
    Near,
}

impl Scale {
    /// An axis for all these values between two coordinates. Values that are not finite, or too
    /// large for any axis (a document may say anything), are left out.
    pub(crate) fn fit(
        values: impl IntoIterator<Item = f64>,
        begin: Begin,
        (from, to): (f64, f64),
    ) -> Self {
        let (mut low, mut high) = values
            .into_iter()
            .filter(|value| is_drawable(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let logarithmic = low > 0.0 && high / low > LOGARITHMIC_FROM;
        if logarithmic {
            let room = (high / low).powf(0.03);
            (low, high) = (low / room, high * room);
        } else if begin == Begin::Zero && low >= 0.0 {
            (low, high) = (0.0, if high > 0.0 { 1.05 * high } else { 1.0 });
        } else {
            let room = match high - low {
                0.0 => 0.05 * high.abs().max(1e-9),
                width => 0.05 * width,
            };
            (low, high) = (low - room, high + room);
        }
        Scale {
            logarithmic,
            low,
            high,
            from,
            to,
        }
    }

    /// A scale from the smallest to the largest of these values, from 0 to 1.
    pub(crate) fn exactly(values: impl Iterator<Item = f64> + Clone) -> Self {
        let all = values.filter(|value| is_drawable(*value));
        let low = all.clone().fold(f64::INFINITY, f64::min);
        let high = all.clone().fold(f64::NEG_INFINITY, f64::max);
        let scale = Self::fit(all, Begin::Near, (0.0, 1.0));
        if low < high {
            Scale { low, high, ..scale }
        } else {
            scale
        }
    }

    /// Whether equal steps on the axis are equal ratios.
    pub(crate) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// The position of a value; the axis' end if it lies beyond.
    pub(crate) fn place(&self, value: f64) -> f64 {
        self.from + self.share(value) * (self.to - self.from)
    }

    /// Whether a value lies on the axis.
    pub(crate) fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The relative position of a value along the axis, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }

    /// The shares of sorted values that lie below and above the axis.
    pub(crate) fn beyond(&self, sorted: &[f64]) -> (f64, f64) {
        let share = |count: usize| count as f64 / sorted.len().max(1) as f64;
        let below = sorted.partition_point(|value| *value < self.low);
        let within = sorted.partition_point(|value| *value <= self.high);
        (share(below), share(sorted.len() - within))
    }

    /// The value at a relative position along the axis.
    pub(crate) fn value(&self, share: f64) -> f64 {
        if self.logarithmic {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + share * (self.high - self.low)
        }
    }
}

/// Minimum range of the values drawn, as a share of their middle: noise must not look like a landslide.
const MIN_RANGE: f64 = 0.1;

/// From the lowest to the highest value, widened if they are almost equal; `None` without values.
pub(crate) fn range(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let middle = low / 2.0 + high / 2.0;
    let min_range = match MIN_RANGE * middle.abs() {
        0.0 => 1.0,
        min_range => min_range,
    };
    match high - low < min_range {
        true => Some((middle - min_range / 2.0, middle + min_range / 2.0)),
        false => Some((low, high)),
    }
}

/// A parameter's value as an axis label: a size with its unit, otherwise `4096` as `4K`.
pub(crate) fn parameter(name: &str, value: f64) -> String {
    if let Some(size) = size(name, value) {
        return size;
    }
    for (factor, letter) in [(1_073_741_824.0, "G"), (1_048_576.0, "M"), (1024.0, "K")] {
        if value >= factor && value % factor == 0.0 {
            return format!("{}{letter}", value / factor);
        }
    }
    format!("{value}")
}

/// The key of every parameter that is a size in bytes.
const SIZE: &str = "size";

/// The value of a parameter whose name says that it is a size: 65536 is `64 KiB`, 1048576 `1 MiB`.
pub(crate) fn size(name: &str, value: f64) -> Option<String> {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    if name != SIZE {
        return None;
    }
    let (mut value, mut unit) = (value, 0);
    while value >= 1024.0 && value % 1024.0 == 0.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    Some(if value == 0.0 {
        "0".to_owned()
    } else {
        format!("{value} {}", UNITS[unit])
    })
}

/// Whether a value may determine an axis: beyond this limit the axis' own arithmetic overflows, and
/// no real quantity is that large.
fn is_drawable(value: f64) -> bool {
    value == 0.0 || (1e-100..1e100).contains(&value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_results::Unit;

    #[test]
    fn degenerate_values_still_make_an_axis() {
        for values in [
            vec![],
            vec![f64::NAN],
            vec![0.0],
            vec![5.0, 5.0],
            vec![-3.0, 4.0],
        ] {
            for begin in [Begin::Zero, Begin::Near] {
                let scale = Scale::fit(values.clone(), begin, (10.0, 90.0));
                for value in values.iter().copied().chain([f64::MAX, f64::MIN, f64::NAN]) {
                    assert!(
                        (10.0..=90.0).contains(&scale.place(value)),
                        "{values:?} {value}"
                    );
                }
                assert!(scale.ticks(Unit::Count, 5).len() < 20);
            }
        }
    }

    #[test]
    fn sizes_are_shown_in_powers_of_two() {
        assert_eq!(
            [1.0, 1000.0, 4096.0, 65536.0, 1_048_576.0, 1.5].map(|value| parameter("fds", value)),
            ["1", "1000", "4K", "64K", "1M", "1.5"]
        );
        assert_eq!(
            [0.0, 16.0, 1000.0, 1024.0, 1536.0, 4_194_304.0]
                .map(|kib| parameter(SIZE, 1024.0 * kib)),
            ["0", "16 KiB", "1000 KiB", "1 MiB", "1536 KiB", "4 GiB"]
        );
        assert_eq!(parameter(SIZE, 1.0), "1 B");
    }
}
