//! The messages between coordinator and worker: one JSON object per line.

use serde::{Deserialize, Serialize};

use crate::bencher::Findings;
use crate::clock::ClockCost;
use crate::commands::Command;
use crate::cores::Cores;
use crate::failure::Failure;
use crate::pass::Pass;
use crate::profile::Effort;
use crate::programs::OwnProgram;
use crate::targets::Targets;

/// A worker's job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Id of the benchmark.
    pub benchmark: String,
    /// Its cases, in the order to run them.
    pub cases: Vec<JobCase>,
    /// Whether cases must be measured in this order: those of a pair of runs are compared, or cases
    /// reuse memory.
    pub keeps_order: bool,
    /// Timed or evidence pass.
    pub pass: Pass,
    /// Maximum time of a case, in seconds, without what its tasks wait for a CPU.
    pub time_limit_s: f64,
    /// How much to measure of a case with a cheap set-up; the worker knows which ones are expensive.
    pub effort: Effort,
    /// The run's clock.
    pub clock: ClockSettings,
    /// CPU to pin to.
    pub cpu: u32,
    /// CPUs that may measure instead, if their core is ours while that of `cpu` is not.
    pub candidates: Vec<u32>,
    /// CPUs that the run may use, from which a benchmark about several CPUs lists its cases. The
    /// coordinator keeps itself off the measuring one, and its workers would inherit that.
    pub allowed: Vec<u32>,
    /// What looks at the cores show while they are ours.
    pub cores: Cores,
    /// What is measured against and in, and what may be done.
    pub targets: Targets,
    /// The programs of the user's own studies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<OwnProgram>,
    /// The commands that `syscost time` measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// Seed of this round of this benchmark.
    pub seed: u64,
    /// Shift of the stack in bytes, in addition to the random environment.
    pub stack_offset: usize,
    /// The coordinator's process id: a worker with another parent has been orphaned.
    pub parent: u32,
}

/// A case of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCase {
    /// Suffix of the row's name, e.g. `{call=getppid}`.
    pub suffix: String,
    /// The operations per sample, if already known.
    pub iterations: Option<u64>,
    /// Whether it may be left to a later round while no core is ours.
    pub may_defer: bool,
    /// Whether the calls of what is timed are audited once all samples are taken.
    #[serde(default)]
    pub is_audited: bool,
    /// The name of the row that is measured instead: so the evidence of this one is put to the
    /// test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// The run's calibrated clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockSettings {
    /// Name of the source.
    pub source: String,
    /// Calibrated rate.
    pub ticks_per_ns: f64,
    /// What its readings cost.
    pub cost: ClockCost,
}

/// A worker's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The worker is up and has read its job.
    Ready,
    /// The worker begins the case of this index in the job.
    Begin(usize),
    /// The case is done.
    Done(usize, Box<Result<Findings, Failure>>),
}
