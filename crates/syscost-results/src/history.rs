//! A metric over time: its value in each stored run, and where its level changed.

use serde::Serialize;
use syscost_stats::changes::changes;

use crate::{Better, Unit};

/// One metric over the runs of one machine, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// Name of the row, e.g. `syscall.null{call=getppid}`.
    pub name: String,
    /// Unit of every value.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Its value in each run, oldest first.
    pub points: Vec<Point>,
    /// Where its level changed, oldest first.
    pub changes: Vec<ChangePoint>,
}

impl Series {
    /// The series of these points, oldest first, with its changes detected.
    pub fn new(name: String, unit: Unit, better: Better, points: Vec<Point>) -> Self {
        let values: Vec<f64> = points.iter().map(|point| point.median).collect();
        let changes = changes(&values)
            .into_iter()
            .map(|change| ChangePoint {
                index: change.index,
                started: points[change.index].started.clone(),
                before: change.before,
                after: change.after,
                p_value: change.p_value,
            })
            .collect();
        Series {
            name,
            unit,
            better,
            points,
            changes,
        }
    }
}

/// A metric's value in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Id of the run.
    pub run: String,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// The tags the run was given.
    pub tags: Vec<String>,
    /// The estimate.
    pub median: f64,
    /// Lower end of its 95 % confidence interval; null with too few rounds.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
}

/// A change of a metric's level between two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangePoint {
    /// Index of the first point of the new level.
    pub index: usize,
    /// When that run began, RFC 3339, UTC.
    pub started: String,
    /// Median of the level before.
    pub before: f64,
    /// Median of the level after.
    pub after: f64,
    /// Chance of so large a difference between the two levels if nothing had changed, see [`changes`].
    pub p_value: f64,
}
