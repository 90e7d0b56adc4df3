//! What coordinator and worker say to each other: one JSON object a line.

use serde::{Deserialize, Serialize};

use crate::bencher::{ClockCost, Effort, Findings, Pass};
use crate::cores::Cores;
use crate::failure::Failure;

/// What a worker is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Id of the benchmark.
    pub benchmark: String,
    /// Its cases, in the order to run them.
    pub cases: Vec<JobCase>,
    /// Whether no case may be put off behind others: those of a pair of runs are compared, and memory is
    /// lent from case to case.
    pub keeps_order: bool,
    /// Timed or evidence pass.
    pub pass: Pass,
    /// How much to take of a case whose set-up is cheap; the worker knows which are dear.
    pub effort: Effort,
    /// The run's clock.
    pub clock: ClockSettings,
    /// CPU to pin to.
    pub cpu: u32,
    /// CPUs that may measure in its place, if their core is ours while its is not.
    #[serde(default)]
    pub candidates: Vec<u32>,
    /// CPUs the run may use: what a benchmark about several CPUs lists its cases from. The coordinator keeps itself off
    /// the measured one, which its workers would inherit.
    pub allowed: Vec<u32>,
    /// What looks at the cores show while they are ours.
    #[serde(default)]
    pub cores: Cores,
    /// Seed of this round of this benchmark.
    pub seed: u64,
    /// Shift of the stack in bytes, beside the random environment.
    pub stack_offset: usize,
    /// The coordinator's process id: a worker whose parent is another one has been orphaned.
    pub parent: u32,
}

/// A case of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCase {
    /// Its suffix, e.g. `{call=getppid}`.
    pub suffix: String,
    /// The operations per sample, if already known.
    pub iterations: Option<u64>,
    /// Whether it may be left to a later round while no core is ours.
    pub may_defer: bool,
}

/// The run's calibrated clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockSettings {
    /// Name of the source.
    pub source: String,
    /// Calibrated rate.
    pub ticks_per_ns: f64,
    /// What readings cost.
    pub cost: ClockCost,
}

/// What a worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The worker is up and has read its job.
    Ready,
    /// It begins the case of this index in the job.
    Begin(usize),
    /// The case is done.
    Done(usize, Box<Result<Findings, Failure>>),
}
