//! Variations of the measurement that no number should depend on: batches and warm-ups longer or
//! shorter than the profile's.
//! `cargo lab steady` tries them.

use crate::profile::Effort;

/// The quantities that can be varied by a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variation {
    /// How long batches are.
    Batch,
    /// How long a case is warmed up.
    WarmUp,
}

impl Variation {
    /// All variations.
    pub const ALL: [Variation; 2] = [Variation::Batch, Variation::WarmUp];

    /// The varied quantity, in words.
    pub const fn what(self) -> &'static str {
        match self {
            Variation::Batch => "batch",
            Variation::WarmUp => "warm-up",
        }
    }

    /// The environment variable that holds the factor, e.g. `0.5`. The run document records it.
    pub const fn variable(self) -> &'static str {
        match self {
            Variation::Batch => "SYSCOST_BATCH_FACTOR",
            Variation::WarmUp => "SYSCOST_WARM_UP_FACTOR",
        }
    }

    /// The factor that this process was given, if any.
    pub fn given(self) -> Option<f64> {
        let given = std::env::var(self.variable()).ok()?;
        given.parse().ok().filter(|factor| is_usable(*factor))
    }
}

/// Whether a factor is usable: batches must neither be too short to measure nor take a run's time.
fn is_usable(factor: f64) -> bool {
    (0.01..=100.0).contains(&factor)
}

/// The effort with the factors that this process was given: the same number of samples, with
/// batches and warm-up of other lengths.
pub(crate) fn applied(effort: &Effort) -> Effort {
    let given = |one: Variation| one.given().unwrap_or(1.0);
    lengthened(effort, given(Variation::Batch), given(Variation::WarmUp))
}

fn lengthened(effort: &Effort, batch: f64, warm_up: f64) -> Effort {
    Effort {
        batch_ns: effort.batch_ns * batch,
        case_ns: effort.case_ns * batch,
        warm_up_ns: effort.warm_up_ns * warm_up,
        ..effort.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn only_lengths_of_batches_change() {
        let effort = Profile::Quick.effort();
        let twice = lengthened(&effort, 2.0, 1.0);
        assert_eq!(twice.batch_ns, 2.0 * effort.batch_ns);
        assert_eq!(
            (twice.samples, twice.warm_up_ns),
            (effort.samples, effort.warm_up_ns)
        );
        let warm = lengthened(&effort, 1.0, 2.0);
        assert_eq!(warm.warm_up_ns, 2.0 * effort.warm_up_ns);
        assert_eq!(warm.batch_ns, effort.batch_ns);
        assert_eq!(lengthened(&effort, 1.0, 1.0), effort);
    }

    #[test]
    fn what_is_no_length_is_no_factor() {
        assert!(is_usable(0.5) && is_usable(2.0));
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY].map(is_usable) == [false; 4]);
    }
}
