//! What an index keeps of a run.

use serde::Deserialize;

use crate::measurement::{Better, Estimate, Status, Unit};
use crate::run::{Config, Tool};
use crate::{Directory, Machine, measurement};

/// A run without its samples, evidence and details.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Summary {
    /// Version of the document's shape.
    pub schema_version: u32,
    /// The program that measured.
    pub tool: Tool,
    /// Unique name of the run, sortable by time.
    pub id: String,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, in seconds.
    pub duration_s: f64,
    /// Whether every row got its minimum number of rounds.
    pub complete: bool,
    /// The measured machine.
    pub machine: Machine,
    /// The directories of its file-system rows.
    #[serde(default)]
    pub directories: Vec<Directory>,
    /// How the run was requested.
    pub config: Config,
    /// One entry per measured case.
    pub measurements: Vec<Row>,
}

/// A row of a [`Summary`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Row {
    /// Id and case; unique in a run.
    pub name: String,
    /// Id of the benchmark.
    pub id: String,
    /// Rises when what the benchmark measures changes under the same name.
    #[serde(default = "measurement::first_revision")]
    pub revision: u32,
    /// Unit of the estimate.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether there is a number.
    pub status: Status,
    /// The numbers, in `unit`.
    pub estimate: Estimate,
}
