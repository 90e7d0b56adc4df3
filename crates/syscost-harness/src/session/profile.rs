//! How much a run takes: from a first answer in seconds to a careful study.

use std::time::Duration;

use syscost_results::stats::looks::{self, StopRule};

use super::rows::REPEATS;
use crate::bencher::Effort;

/// How much a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// The rows that people look at first. Six rounds, the fewest that give an exact 95 % interval, up to
    /// fifty-one where that makes the interval narrow enough; seconds.
    Quick,
    /// The whole catalogue, in six to twenty-five rounds; three minutes.
    #[default]
    Standard,
    /// Twelve rounds, up to thirty, of longer batches; many minutes.
    Careful,
}

impl Profile {
    /// All profiles, shortest first.
    pub const ALL: [Profile; 3] = [Profile::Quick, Profile::Standard, Profile::Careful];

    /// The name people type.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Quick => "quick",
            Profile::Standard => "standard",
            Profile::Careful => "careful",
        }
    }

    /// The profile of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// The time budget when none is given. The run ends by then, whatever is missing.
    pub fn budget(self) -> Duration {
        Duration::from_millis(match self {
            Profile::Quick => 19_600,
            Profile::Standard => 178_000,
            Profile::Careful => 900_000,
        })
    }

    /// How long the noise probe listens.
    pub fn probe(self) -> Duration {
        match self {
            Profile::Quick => Duration::from_millis(250),
            Profile::Standard | Profile::Careful => Duration::from_secs(1),
        }
    }

    /// Numbers of rounds after which a row whose interval is narrow enough stops. Looking only then keeps the
    /// interval's coverage what it says; the numbers are those at which it is nearest above 95 %.
    pub fn looks(self) -> &'static [u32] {
        match self {
            Profile::Quick => &looks::QUICK,
            Profile::Standard => &looks::STANDARD,
            Profile::Careful => &looks::CAREFUL,
        }
    }

    /// Rounds at most, those included that found too few moments in which the core was ours and were taken again.
    pub fn max_rounds(self) -> u32 {
        REPEATS * self.stop_rule().last()
    }

    /// Half-width of the interval, relative to the median, at which a row is sure enough.
    pub fn target_half_width(self) -> f64 {
        match self {
            Profile::Quick | Profile::Standard => 0.02,
            Profile::Careful => 0.01,
        }
    }

    /// When a row has rounds enough. A careful run takes all it may for a row that will not get there.
    pub fn stop_rule(self) -> StopRule<'static> {
        StopRule {
            looks: self.looks(),
            target: self.target_half_width(),
            gives_up: self != Profile::Careful,
        }
    }

    /// What one round takes of each case.
    pub fn effort(self) -> Effort {
        // Processes differ more than samples of one do, so more rounds tell more than longer ones. Three
        // rounds of singles are as many as p99 needs.
        let (samples, warm_up_us, batch_us, case_ms, patience_ms, singles) = match self {
            Profile::Quick => (15, 500.0, 25.0, 3.0, 6.0, 100),
            Profile::Standard => (15, 1_000.0, 25.0, 4.0, 12.0, 100),
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
