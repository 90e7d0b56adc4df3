//! How much a run takes: from a first answer in seconds to a careful study.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use syscost_params::Value;
use syscost_stats::looks::{self, StopRule};

/// The budget of the standard and full profiles: per row, and the minimum and maximum for all of
/// them.
const ROW: Duration = Duration::from_millis(310);
const MIN: Duration = Duration::from_millis(29_600);
const MAX_STANDARD: Duration = Duration::from_millis(148_000);
const MAX_FULL: Duration = Duration::from_millis(298_000);

/// Maximum number of rounds of a row, as a multiple of those it needs, where its core is shared too
/// often.
pub(crate) const REPEATS: u32 = 3;

/// Rounds of a benchmark with an expensive set-up: the minimum that gives an interval, each with
/// more samples.
pub(crate) const EXPENSIVE_LOOKS: [u32; 1] = [6];

/// How much a run takes, from the shortest. Each profile has the rows of those before it.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Profile {
    /// The rows that people look at first. Six rounds, the minimum for an exact 95 % interval, up
    /// to fifty-one where that makes the interval narrow enough; seconds.
    Quick,
    /// The rows that people read, in as many rounds; two and a half minutes.
    #[default]
    Standard,
    /// The whole catalogue, in six to twenty-five rounds; five minutes.
    Full,
    /// The catalogue with further points of its curves. Twelve rounds, up to thirty, of longer
    /// batches; many minutes.
    Careful,
}

impl Profile {
    /// The time budget of a run of this many rows when none is given. The run ends by then,
    /// even if something is missing.
    pub fn budget(self, rows: usize) -> Duration {
        // A selection gets no more than its rows can use.
        let by_row = || ROW.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX));
        match self {
            Profile::Quick => Duration::from_millis(19_600),
            Profile::Standard => by_row().clamp(MIN, MAX_STANDARD),
            Profile::Full => by_row().clamp(MIN, MAX_FULL),
            Profile::Careful => Duration::from_secs(900),
        }
    }

    /// How long to listen to CPUs before the run.
    pub fn probe(self) -> Duration {
        match self {
            Profile::Quick => Duration::from_millis(250),
            Profile::Standard | Profile::Full | Profile::Careful => Duration::from_secs(1),
        }
    }

    /// Numbers of rounds after which a row whose interval is narrow enough stops. Looking only then
    /// keeps the interval's stated coverage; the numbers are those at which it is nearest above 95
    /// %.
    pub fn looks(self) -> &'static [u32] {
        match self {
            Profile::Quick | Profile::Standard => &looks::QUICK,
            Profile::Full => &looks::FULL,
            Profile::Careful => &looks::CAREFUL,
        }
    }

    /// Maximum number of rounds, including those that were repeated because the core was shared too
    /// often.
    pub fn max_rounds(self) -> u32 {
        REPEATS * self.stop_rule().last()
    }

    /// Half-width of the interval, relative to the median, at which a row is precise enough.
    pub fn target_half_width(self) -> f64 {
        match self {
            Profile::Quick | Profile::Standard | Profile::Full => 0.02,
            Profile::Careful => 0.01,
        }
    }

    /// When a row has enough rounds. A careful run uses the maximum for a row that will not get
    /// there.
    pub fn stop_rule(self) -> StopRule<'static> {
        StopRule {
            looks: self.looks(),
            target: self.target_half_width(),
            gives_up: self != Profile::Careful,
        }
    }

    /// The same for a row with this set-up.
    pub(crate) fn stop_rule_with(self, setup: Setup) -> StopRule<'static> {
        let looks = match setup {
            Setup::Cheap => self.looks(),
            Setup::Expensive { .. } => &EXPENSIVE_LOOKS,
        };
        StopRule {
            looks,
            ..self.stop_rule()
        }
    }

    /// How much one round measures of each case.
    pub fn effort(self) -> Effort {
        // Processes differ more than samples within one, so more rounds give more information than
        // longer ones. Three rounds of singles are as many as p99 needs.
        let (samples, warm_up_us, batch_us, case_ms, patience_ms, singles) = match self {
            Profile::Quick => (15, 500.0, 50.0, 3.0, 6.0, 100),
            Profile::Standard | Profile::Full => (15, 1_000.0, 50.0, 4.0, 12.0, 100),
            Profile::Careful => (30, 50_000.0, 50.0, 50.0, 200.0, 200),
        };
        Effort {
            samples,
            warm_up_ns: warm_up_us * 1e3,
            batch_ns: batch_us * 1e3,
            case_ns: case_ms * 1e6,
            patience_ns: patience_ms * 1e6,
            singles,
            second_witness: self != Profile::Quick,
        }
    }
}

/// How much a timed pass takes, all times in ns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Samples per case.
    pub samples: u32,
    /// Warm-up before the first sample.
    pub warm_up_ns: f64,
    /// Target length of a batch.
    pub batch_ns: f64,
    /// Maximum time for all samples of a case; at least five are taken regardless.
    pub case_ns: f64,
    /// How long a case may wait in total for a core that does no other work.
    pub patience_ns: f64,
    /// Number of operations of a case to time individually, for the tail of their distribution, if
    /// they are long enough.
    pub singles: u32,
    /// Whether the kernel's tracepoint counts system calls in addition to the audit: opening it
    /// takes tens of milliseconds.
    pub second_witness: bool,
}

/// By what factor a round of a row with an expensive set-up is longer.
const EXPENSIVE_FACTOR: u32 = 2;

impl Effort {
    /// The effort for a row with such a set-up: expensive ones get fewer, longer rounds.
    pub fn with_setup(&self, setup: Setup) -> Effort {
        let factor = match setup {
            Setup::Cheap => 1,
            Setup::Expensive { .. } => EXPENSIVE_FACTOR,
        };
        Effort {
            samples: self.samples * factor,
            case_ns: self.case_ns * f64::from(factor),
            patience_ns: self.patience_ns * f64::from(factor),
            ..self.clone()
        }
    }
}

/// How expensive a benchmark's set-up is. Expensive ones get fewer, longer rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setup {
    /// Cheap enough to be repeated in every round.
    Cheap,
    /// Takes about this many seconds, e.g. a gigabyte to fill.
    Expensive {
        /// Seconds of one row's set-up on a typical machine. Those of all rows of a benchmark are
        /// added up before they are compared with the budget.
        seconds: f64,
    },
}

impl Setup {
    /// Seconds of one row's set-up; 0 if it is cheap.
    pub fn seconds(self) -> f64 {
        match self {
            Setup::Cheap => 0.0,
            Setup::Expensive { seconds } => seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expensive_set_up_gets_fewer_and_longer_rounds() {
        let expensive = Setup::Expensive { seconds: 2.0 };
        let (rule, cheap) = (Profile::Full.stop_rule(), Profile::Standard.effort());
        assert_eq!(Profile::Full.stop_rule_with(Setup::Cheap), rule);
        assert_eq!(Profile::Full.stop_rule_with(expensive).looks, [6]);
        assert_eq!(cheap.with_setup(expensive).samples, 2 * cheap.samples);
        assert_eq!(cheap.with_setup(Setup::Cheap), cheap);
    }

    #[test]
    fn a_selection_has_no_more_time_than_its_rows_can_use() {
        let seconds = |rows| Profile::Standard.budget(rows).as_secs_f64();
        assert_eq!([1, 80, 200, 1000].map(seconds), [29.6, 29.6, 62.0, 148.0]);
        assert_eq!(Profile::Full.budget(1000).as_secs_f64(), 298.0);
        let others = [Profile::Quick, Profile::Careful];
        assert!(
            others
                .iter()
                .all(|profile| profile.budget(1) == profile.budget(1000))
        );
    }
}
