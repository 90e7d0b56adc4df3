//! Colours by how they are seen: even steps between two of them, contrast, and what those see whom one
//! of the three kinds of cones fails.

/// A colour in linear light: red, green and blue from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Color([f64; 3]);

impl Color {
    /// Of a notation such as `#1c64c8`; black of anything else.
    pub(super) fn of(hex: &str) -> Self {
        let part = |from: usize| {
            let digits = hex.get(from..from + 2);
            let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let value = f64::from(value.unwrap_or(0)) / 255.0;
            match value <= 0.04045 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        };
        Color([1, 3, 5].map(part))
    }

    pub(super) fn hex(self) -> String {
        let part = |light: f64| {
            let light = light.clamp(0.0, 1.0);
            let value = match light <= 0.003_130_8 {
                true => 12.92 * light,
                false => 1.055 * light.powf(1.0 / 2.4) - 0.055,
            };
            (255.0 * value).round() as u8
        };
        let [red, green, blue] = self.0.map(part);
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// The ratio of two colours' brightness, as defined for the legibility of text: 1 to 21.
    pub(super) fn contrast(self, other: Color) -> f64 {
        let brightness =
            |Color([red, green, blue]): Color| 0.05 + 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        let (one, other) = (brightness(self), brightness(other));
        f64::max(one / other, other / one)
    }

    /// The colour at a share of the way to another, on which equal steps look equal.
    pub(super) fn mixed(self, other: Color, share: f64) -> Color {
        let (from, to) = (self.oklab(), other.oklab());
        let [l, a, b] = [0, 1, 2].map(|axis| from[axis] + share * (to[axis] - from[axis]));
        let cubes = times(
            [
                [1.0, 0.396_337_777_4, 0.215_803_757_3],
                [1.0, -0.105_561_345_8, -0.063_854_172_8],
                [1.0, -0.089_484_177_5, -1.291_485_548_0],
            ],
            [l, a, b],
        );
        Color(times(
            [
                [4.076_741_662_1, -3.307_711_591_3, 0.230_969_929_2],
                [-1.268_438_004_6, 2.609_757_401_1, -0.341_319_396_5],
                [-0.004_196_086_3, -0.703_418_614_7, 1.707_614_701_0],
            ],
            cubes.map(|root| root.powi(3)),
        ))
    }

    /// Its coordinates in Björn Ottosson's OKLab (2020), in which distances are as seen: lightness first.
    pub(super) fn oklab(self) -> [f64; 3] {
        let cones = times(
            [
                [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
                [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
                [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
            ],
            self.0,
        );
        times(
            [
                [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
                [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
                [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
            ],
            cones.map(f64::cbrt),
        )
    }
}

/// A matrix times a vector.
fn times(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| (0..3).map(|axis| row[axis] * vector[axis]).sum())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What is seen by those who lack the cones for long waves, and by those who lack the ones for
    /// middle waves: each factor of Machado, Oliveira and Fernandes (2009), of full severity.
    const BLINDNESS: [[[f64; 3]; 3]; 2] = [
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ];

    /// The least distance of two colours as people see them, be they colour-blind or not.
    pub(in crate::chart) fn apart(one: &str, other: &str) -> f64 {
        let distance = |one: Color, other: Color| {
            let (one, other) = (one.oklab(), other.oklab());
            let squares = (0..3).map(|axis| (one[axis] - other[axis]).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let (one, other) = (Color::of(one), Color::of(other));
        let blind = BLINDNESS.map(|matrix| {
            let seen =
                |color: Color| Color(times(matrix, color.0).map(|light| light.clamp(0.0, 1.0)));
            distance(seen(one), seen(other))
        });
        blind.into_iter().fold(distance(one, other), f64::min)
    }

    #[test]
    fn known_colours() {
        for hex in ["#000000", "#ffffff", "#1c64c8", "#b84a08"] {
            assert_eq!(Color::of(hex).hex(), hex);
            assert_eq!(Color::of(hex).mixed(Color::of("#7f7f7f"), 0.0).hex(), hex);
        }
        let contrast = Color::of("#000000").contrast(Color::of("#ffffff"));
        assert!((contrast - 21.0).abs() < 1e-9, "{contrast}");
        // The lightness of white is 1, of middle grey a bit more than its share of the light.
        let [white, ..] = Color::of("#ffffff").oklab();
        let [grey, a, b] = Color::of("#777777").oklab();
        assert!((white - 1.0).abs() < 1e-3 && (grey - 0.57).abs() < 0.01);
        assert!(a.abs() < 1e-3 && b.abs() < 1e-3, "grey has no hue");
        // Red and green of one lightness are the example of what is confused.
        assert!(apart("#b2593e", "#6b7a2a") < 0.08);
    }
}
