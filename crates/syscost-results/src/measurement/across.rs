//! What is known of a row beyond one frequency and one run.

use serde::{Deserialize, Serialize};

/// How much of a row's cost at the usual frequency of its samples
/// ([`RoundSamples::usual_ghz`](super::RoundSamples::usual_ghz), F) is core cycles: at a frequency f
/// it costs `share * F / f + 1 - share` times as much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreShare {
    /// The share, 0 to 1; the rest waits for memory, devices, other CPUs.
    pub share: f64,
    /// Lower end of its 95 % confidence interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}

/// How much a row differs between runs of one machine that no change explains.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BetweenRuns {
    /// Standard deviation of the runs' medians, as a share of them: 0.01 is 1 %.
    pub deviation: f64,
    /// Of how many runs.
    pub runs: u32,
}
