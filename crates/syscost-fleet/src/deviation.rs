//! How far one machine's figure of a row lies from those of machines like it, and how likely that is by chance.
//!
//! The arithmetic is kept so plain that it can be written in SQL word for word: logarithms, medians with linear
//! interpolation, and closed forms of both distributions.

use syscost_results::Unit;
use syscost_results::document::DigestRow;
use syscost_stats::order;

/// Deviations up to this share are nobody's concern, however certain.
pub(crate) const MARGIN: f64 = 0.02;
/// No cohort is taken to agree better than this, as a share: a handful of figures may coincide by chance, and a figure that takes
/// steps agrees to the last digit.
pub(crate) const SMALLEST_SCALE: f64 = 0.005;
/// Fewer machines than this are no cohort: half of two or three is one.
pub(crate) const MIN_MACHINES: usize = 5;
/// Minimum number of machines with a figure of a row: each is held against three others.
pub(crate) const MIN_FIGURES: usize = 4;
/// Half the width of a 95 % interval in standard errors.
const HALF_WIDTH: f64 = 1.959_964;
/// The standard deviation of a normal distribution over its median absolute deviation.
const NORMAL_OVER_MAD: f64 = 1.4826;
/// The efficiency of the median absolute deviation: so many machines' standard deviation is known as well as their share of
/// this.
const EFFICIENCY_OF_MAD: f64 = 0.37;
/// Bounds of the degrees of freedom. Below three even a machine at half the speed would pass for chance; from thirty on
/// Student's distribution is the normal one.
const FREEDOM: (f64, f64) = (3.0, 30.0);
/// Minimum number of machines for which nine of ten deviations say how heavy the tails are.
const MIN_FOR_TAILS: usize = 20;
/// The reach of nine of ten deviations over the middle one, for the normal distribution; and by what the degrees of freedom of
/// Student's follow from the excess over it: 1 + 1.3 / excess, right to 4 % from 3 to 30.
const NORMAL_REACH: f64 = 2.439;
const FREEDOM_TIMES_EXCESS: f64 = 1.3;
/// The standard error of a median over that of a mean.
const MEDIAN_OVER_MEAN: f64 = 1.2533;

/// A row's figure as it is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    /// The natural logarithm of the median in the row's unit.
    pub(crate) log: f64,
    /// Its standard error, by its 95 % interval; as a share of the median.
    pub(crate) error: f64,
}

impl Figure {
    /// The figure of a row that can be held against others'; `None` of doubtful ones, of those without an interval, and of
    /// percentages, which are the machine's noise and not its costs.
    pub(crate) fn of(row: &DigestRow) -> Option<Self> {
        if !row.is_beyond_doubt() || row.unit == Unit::Percent {
            return None;
        }
        let estimate = &row.estimate;
        Self::new(estimate.median?, estimate.ci95_low?, estimate.ci95_high?)
    }

    /// A median with the ends of its 95 % interval; `None` if one of them is not positive.
    pub(crate) fn new(median: f64, low: f64, high: f64) -> Option<Self> {
        let log = |value: f64| Some(value.ln()).filter(|log| log.is_finite());
        Some(Figure {
            log: log(median)?,
            error: (log(high)? - log(low)?).max(0.0) / (2.0 * HALF_WIDTH),
        })
    }
}

/// What machines of one kind say of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expected {
    /// The median of the figures' logarithms.
    pub(crate) log: f64,
    /// How far machines are apart: a robust standard deviation, as a share.
    pub(crate) scale: f64,
    /// How many machines.
    pub(crate) machines: usize,
    /// Degrees of freedom of Student's distribution that chances are taken from: few of few machines, as the scale is then not
    /// well known, and of machines with heavy tails ([`freedom_by_tails`]).
    pub(crate) freedom: f64,
}

impl Expected {
    /// What these logarithms say, which are changed; `None` below [`MIN_FIGURES`]. With it, of many machines, the reach of nine of
    /// ten over the middle one.
    pub(crate) fn of(logs: &mut [f64]) -> Option<(Self, Option<f64>)> {
        let machines = logs.len();
        if machines < MIN_FIGURES {
            return None;
        }
        logs.sort_unstable_by(f64::total_cmp);
        let log = order::quantile_of_sorted(logs, 0.5)?;
        for value in &mut *logs {
            *value = (*value - log).abs();
        }
        logs.sort_unstable_by(f64::total_cmp);
        let mad = order::quantile_of_sorted(logs, 0.5)?;
        let nine_of_ten = order::quantile_of_sorted(logs, 0.9)?;
        // Of few values it is too small on average (Croux and Rousseeuw 1992).
        let of_few = machines as f64 / (machines as f64 - 0.8);
        let scale = (NORMAL_OVER_MAD * of_few * mad).max(SMALLEST_SCALE);
        let (few, many) = FREEDOM;
        let expected = Expected {
            log,
            scale,
            machines,
            freedom: (EFFICIENCY_OF_MAD * (machines as f64 - 1.0)).clamp(few, many),
        };
        let reach = NORMAL_OVER_MAD * nine_of_ten / scale;
        Some((expected, (machines >= MIN_FOR_TAILS).then_some(reach)))
    }

    /// How far a figure is from it.
    pub(crate) fn deviation(&self, figure: Figure) -> Deviation {
        let log = figure.log - self.log;
        let apart = self.scale.hypot(figure.error);
        let beyond = (log.abs() - MARGIN).max(0.0);
        Deviation {
            log,
            error: figure.error.hypot(self.error()),
            p_value: chance(beyond / apart, self.freedom),
        }
    }

    /// How far the median itself is from zero: of changes, how far all machines changed.
    pub(crate) fn distance_from_zero(&self) -> Deviation {
        let beyond = (self.log.abs() - MARGIN).max(0.0);
        Deviation {
            log: self.log,
            error: self.error(),
            p_value: chance(beyond / self.error(), self.freedom),
        }
    }

    fn error(&self) -> f64 {
        MEDIAN_OVER_MEAN * self.scale / (self.machines as f64).sqrt()
    }
}

/// The degrees of freedom by how heavy the tails of a cohort's rows are: by the middle one of their reaches, so that machines that
/// are slow in a group of rows do not pass for tails. `None` without any.
pub(crate) fn freedom_by_tails(reaches: &[f64]) -> Option<f64> {
    let excess = (order::median(reaches)? - NORMAL_REACH).max(f64::MIN_POSITIVE);
    Some((1.0 + FREEDOM_TIMES_EXCESS / excess).max(FREEDOM.0))
}

/// How far a figure is from what was expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The logarithm of the figure over the expected one: above zero if larger.
    pub log: f64,
    /// Its standard error: of the figure itself, and of the median of the others.
    pub error: f64,
    /// How likely a machine of this kind is at least so far away, on either side, by chance.
    pub p_value: f64,
}

impl Deviation {
    /// The deviation and the ends of its 95 % interval, as shares: 0.3 is 30 % more.
    pub fn shares(&self) -> [f64; 3] {
        let reach = HALF_WIDTH * self.error;
        [self.log, self.log - reach, self.log + reach].map(f64::exp_m1)
    }
}

/// The two-sided chance of Student's distribution beyond `t`, with any degrees of freedom, by the normal distribution's: Wallace
/// (1959), "Bounds on normal approximations to Student's and the chi-square distributions".
fn chance(t: f64, freedom: f64) -> f64 {
    if t <= 0.0 {
        return 1.0;
    }
    let narrowed = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0);
    let z = narrowed * (freedom * (1.0 + t * t / freedom).ln()).sqrt();
    erfc(z / std::f64::consts::SQRT_2).min(1.0)
}

/// The complementary error function of a value that is not negative, to 1.2e-7 of itself: Press et al. (1992), "Numerical Recipes
/// in C", section 6.2.
fn erfc(x: f64) -> f64 {
    /// Of the polynomial in that book, constant term first.
    const COEFFICIENTS: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let t = 1.0 / (1.0 + 0.5 * x);
    let polynomial = COEFFICIENTS
        .iter()
        .fold(0.0, |sum, coefficient| sum * t + coefficient);
    t * (polynomial - x * x).exp()
}

#[cfg(test)]
mod tests {
    use syscost_stats::{normal, student};

    use super::*;

    #[test]
    fn chances_agree_with_exact_ones() {
        for x in [0.1, 0.5, 1.0, 2.0, 4.0, 6.0] {
            let exact = 2.0 * normal::cdf(-x * std::f64::consts::SQRT_2);
            assert!((erfc(x) / exact - 1.0).abs() < 1.2e-7, "{x}");
        }
        // A chance so small is needed only roughly: what decides is how many deviations it takes.
        for (freedom, off) in [(3, 0.2), (7, 0.1), (30, 0.03)] {
            for t in [0.5, 1.0, 2.0, 4.0, 8.0] {
                let exact = student::two_sided(t, freedom);
                let ratio = chance(t, f64::from(freedom)) / exact;
                assert!((ratio - 1.0).abs() < off, "{t} {freedom}: {ratio}");
            }
        }
    }

    #[test]
    fn tails_are_known_by_nine_of_ten() {
        // Quantiles of Student's distribution at 0.95 and 0.75 (Abramowitz and Stegun, table 26.10).
        for (freedom, nine, half) in [
            (4.0, 2.132, 0.741),
            (10.0, 1.812, 0.700),
            (30.0, 1.697, 0.683),
        ] {
            let found = freedom_by_tails(&[nine / half]).expect("one row");
            assert!(
                (found / freedom - 1.0f64).abs() < 0.06,
                "{freedom}: {found}"
            );
        }
        assert_eq!(freedom_by_tails(&[5.0, 9.0, 20.0]), Some(FREEDOM.0));
        assert!(freedom_by_tails(&[1.0]).expect("light tails") > 1e9);
    }

    #[test]
    fn a_cohort_is_known_by_its_middle_whatever_a_third_of_it_does() {
        let mut logs = [0.0, 0.01, -0.01, 0.02, -0.02, 5.0, 5.0, -9.0, 0.0];
        let (expected, reach) = Expected::of(&mut logs).expect("enough machines");
        assert_eq!((expected.log, reach), (0.0, None));
        assert!((expected.scale / (1.4826 * 0.02 * 9.0 / 8.2) - 1.0).abs() < 1e-12);
        assert_eq!(Expected::of(&mut [0.0; 3]), None);
        // One of four is the odd one.
        let (expected, _) = Expected::of(&mut [0.0, 0.01, -0.01, 1.1]).expect("enough figures");
        let far = expected.deviation(Figure {
            log: 1.1,
            error: 0.01,
        });
        assert!(far.p_value < 0.001, "{far:?}");
    }

    #[test]
    fn what_is_within_the_margin_or_not_known_itself_is_not_held_against_a_machine() {
        let expected = Expected {
            log: 3.0,
            scale: SMALLEST_SCALE,
            machines: 400,
            freedom: 30.0,
        };
        let of = |log, error| expected.deviation(Figure { log, error });
        assert_eq!(of(3.0 + 0.99 * MARGIN, 0.001).p_value, 1.0);
        assert!(of(3.3, 0.001).p_value < 1e-12);
        assert!(of(3.3, 0.2).p_value > 0.1);
        let [share, low, high] = of(3.3, 0.01).shares();
        assert!((share - 0.3f64.exp_m1()).abs() < 1e-12);
        assert!(
            low < 0.33 && low > 0.32 && high > 0.37 && high < 0.38,
            "{low} {high}"
        );
    }
}
