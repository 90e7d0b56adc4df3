//! What a count must be for a claim to hold, how evidence shows it, and how it is read again.

use crate::{Fact, Verdict};

/// The condition that a count must satisfy for the claim to hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// This count, to within a millionth.
    Exactly(f64),
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// Between these, both included.
    Within(f64, f64),
    /// The first or the second, the larger one: to within a millionth, and nothing between.
    Either(f64, f64),
}

impl Bound {
    /// Whether `observed` satisfies the bound.
    pub fn holds(&self, observed: f64) -> bool {
        match *self {
            Bound::Exactly(value) => (observed - value).abs() <= 1e-6 * value.abs().max(1.0),
            Bound::Either(one, other) => [one, other]
                .into_iter()
                .any(|value| Bound::Exactly(value).holds(observed)),
            Bound::AtMost(value) => observed <= value,
            Bound::AtLeast(value) => observed >= value,
            Bound::Within(low, high) => (low..=high).contains(&observed),
        }
    }

    /// Whether whatever satisfies this bound satisfies the other one as well.
    pub fn is_within(&self, other: Bound) -> bool {
        let (low, high) = match *self {
            Bound::Exactly(value) => (value, value),
            Bound::AtMost(most) => (f64::NEG_INFINITY, most),
            Bound::AtLeast(least) => (least, f64::INFINITY),
            Bound::Within(low, high) | Bound::Either(low, high) => (low, high),
        };
        let fills = matches!(self, Bound::Within(..));
        let has_gap = matches!(other, Bound::Either(..));
        other.holds(low) && other.holds(high) && !(fills && has_gap)
    }

    /// This bound of counts that may be off by this much on either side.
    #[must_use]
    pub fn wider(self, by: f64) -> Self {
        match self {
            _ if by == 0.0 => self,
            Bound::AtMost(most) => Bound::AtMost(most + by),
            Bound::AtLeast(least) => Bound::AtLeast(least - by),
            Bound::Exactly(_) | Bound::Within(..) | Bound::Either(..) => {
                Bound::Within(self.min() - by, self.max().unwrap_or(f64::INFINITY) + by)
            }
        }
    }

    /// The verdict on a claim of this bound where this was observed.
    pub fn judge(&self, observed: f64) -> Verdict {
        Verdict::of(self.holds(observed))
    }

    /// The verdict on a claim of this bound per operation, given the `count` of all `operations`,
    /// and the reason for which it may hold all the same: a single one shows no rate.
    pub fn judge_count(&self, count: u64, operations: u64) -> (Verdict, Option<String>) {
        if matches!(self, Bound::AtMost(_)) && count == 1 && operations > 1 {
            let reason = format!("a single one in {operations} operations");
            return (Verdict::Confirmed, Some(reason));
        }
        (self.judge(count as f64 / operations as f64), None)
    }

    /// The upper limit; `None` if there is none.
    pub fn max(&self) -> Option<f64> {
        match *self {
            Bound::Exactly(most)
            | Bound::AtMost(most)
            | Bound::Within(_, most)
            | Bound::Either(_, most) => Some(most),
            Bound::AtLeast(_) => None,
        }
    }

    /// The lower limit; 0 if there is none.
    pub fn min(&self) -> f64 {
        match *self {
            Bound::Exactly(least)
            | Bound::AtLeast(least)
            | Bound::Within(least, _)
            | Bound::Either(least, _) => least,
            Bound::AtMost(_) => 0.0,
        }
    }

    /// The bound in the form that evidence shows.
    pub fn fact(&self) -> Fact {
        // A product of decimals is seldom the intended decimal.
        let exact = |edge: f64| (edge * 1e6).round() / 1e6;
        match *self {
            Bound::Exactly(value) => Fact::Number(value),
            Bound::AtMost(value) => Fact::Text(format!("at most {}", exact(value))),
            Bound::AtLeast(value) => Fact::Text(format!("at least {}", exact(value))),
            Bound::Within(low, high) => Fact::Text(format!("{} to {}", exact(low), exact(high))),
            Bound::Either(one, other) => Fact::Text(format!("{} or {}", exact(one), exact(other))),
        }
    }

    /// The bound that evidence shows; `None` if what it shows is in other words.
    pub fn read(fact: &Fact) -> Option<Self> {
        // What was rounded away when it was shown is given back, as a share of it.
        const ROUNDED: f64 = 0.5e-6;
        let number = |text: &str| text.parse::<f64>().ok().filter(|edge| edge.is_finite());
        let (below, above) = (|edge| edge - ROUNDED, |edge| edge + ROUNDED);
        match fact {
            Fact::Number(value) => Some(Bound::Exactly(*value)),
            Fact::Text(text) => {
                if let Some(most) = text.strip_prefix("at most ") {
                    return number(most).map(above).map(Bound::AtMost);
                }
                if let Some(least) = text.strip_prefix("at least ") {
                    return number(least).map(below).map(Bound::AtLeast);
                }
                if let Some((one, other)) = text.split_once(" or ") {
                    return Some(Bound::Either(number(one)?, number(other)?));
                }
                let (low, high) = text.split_once(" to ")?;
                Some(Bound::Within(below(number(low)?), above(number(high)?)))
            }
        }
    }
}

/// The number of operations of which this is one, per operation; `None` if it is another share.
pub(crate) fn single_of(share: f64) -> Option<u64> {
    // Relative: some documents were rounded to seven digits.
    const ROUNDING: f64 = 1e-6;
    let operations = (1.0 / share).round();
    let is_one = operations > 1.0 && (share * operations - 1.0).abs() < ROUNDING;
    is_one.then_some(operations as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_at_their_edges() {
        assert!(Bound::Exactly(1.0).holds(1.0) && !Bound::Exactly(1.0).holds(0.999));
        assert!(Bound::AtMost(0.01).holds(0.01) && !Bound::AtMost(0.01).holds(0.0101));
        assert!(Bound::AtLeast(50.0).holds(50.0) && !Bound::AtLeast(50.0).holds(49.9));
        assert!(Bound::Within(1.9, 2.1).holds(2.1) && !Bound::Within(1.9, 2.1).holds(2.2));
        let either = Bound::Either(0.0, 1.0);
        assert!(either.holds(0.0) && either.holds(1.0) && !either.holds(0.5) && !either.holds(2.0));
        assert!(!either.holds(f64::NAN));
        assert!(!Bound::Exactly(0.0).holds(f64::NAN) && !Bound::AtMost(1.0).holds(f64::NAN));
    }

    #[test]
    fn a_bound_is_within_one_that_permits_all_that_it_does() {
        let (exactly, either) = (Bound::Exactly, Bound::Either(1.0, 2.0));
        for (bound, other) in [
            (exactly(1.0), either),
            (either, either),
            (either, Bound::Within(1.0, 2.0)),
            (exactly(2.0), Bound::AtMost(2.0)),
            (Bound::AtMost(1.0), Bound::AtMost(2.0)),
            (Bound::AtLeast(2.0), Bound::AtLeast(1.0)),
            (Bound::Within(1.0, 2.0), Bound::AtLeast(1.0)),
        ] {
            assert!(bound.is_within(other), "{bound:?} {other:?}");
        }
        for (bound, other) in [
            (exactly(3.0), either),
            (Bound::Within(1.0, 2.0), either),
            (Bound::AtMost(2.0), either),
            (either, exactly(1.0)),
            (Bound::AtMost(1.0), Bound::Within(0.0, 1.0)),
            (Bound::AtLeast(1.0), Bound::Within(1.0, 9.0)),
            (Bound::AtMost(2.0), Bound::AtMost(1.0)),
            (Bound::AtLeast(1.0), Bound::AtLeast(2.0)),
        ] {
            assert!(!bound.is_within(other), "{bound:?} {other:?}");
        }
    }

    #[test]
    fn a_wider_bound_holds_what_may_be_off() {
        let either = Bound::Either(0.0, 1.0);
        assert_eq!(either.wider(0.0), either);
        assert_eq!(either.wider(0.25), Bound::Within(-0.25, 1.25));
        assert_eq!(Bound::Exactly(2.0).wider(0.5), Bound::Within(1.5, 2.5));
        assert_eq!(Bound::AtMost(1.0).wider(0.5), Bound::AtMost(1.5));
        assert_eq!(Bound::AtLeast(1.0).wider(0.5), Bound::AtLeast(0.5));
    }

    #[test]
    fn a_bound_is_read_as_it_was_shown() {
        let third = 1.0 / 3.0;
        for bound in [
            Bound::Exactly(third),
            Bound::AtMost(third),
            Bound::AtLeast(third),
            Bound::Within(-third, third),
            Bound::Either(0.0, 1.0),
        ] {
            let read = Bound::read(&bound.fact()).expect("a bound");
            for observed in [-1.0, -third, 0.0, third, 1.0] {
                assert_eq!(
                    read.holds(observed),
                    bound.holds(observed),
                    "{bound:?} {observed}"
                );
            }
        }
        for words in [
            "equal",
            "any",
            "at most",
            "at most 5 %",
            "0 to 1 or 3",
            "nan to 1",
        ] {
            assert_eq!(Bound::read(&words.into()), None, "{words}");
        }
    }
}
