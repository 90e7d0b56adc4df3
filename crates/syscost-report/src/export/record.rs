//! One row of one run with what identifies the run, and only the numbers that its status allows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syscost_results::directory::{self, Directory};
use syscost_results::{
    Better, ClaimId, Estimate, Evidence, Fact, Flag, Measurement, Run, Sharing, Status, Unit,
};

use super::ExportError;
use crate::sentence::{self, Mark};
use crate::view::RowView;

/// One row of one run: a line of the JSON lines export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Id of the run.
    pub run: String,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// Host name of the measured machine.
    pub hostname: String,
    /// The CPU's own name.
    pub cpu_model: String,
    /// Operating system's kernel and release.
    pub kernel: String,
    /// Who runs the machine if it is virtual, e.g. `KVM`.
    pub hypervisor: Option<String>,
    /// Version of syscost.
    pub version: String,
    /// `quick`, `standard`, `full` or `careful`.
    pub profile: String,
    /// Id and case, e.g. `syscall.null{call=getppid}`; unique in a run.
    pub name: String,
    /// Id of the benchmark, e.g. `syscall.null`.
    pub id: String,
    /// The id's part before the first dot, e.g. `syscall`.
    pub group: String,
    /// The id's part after the first dot, e.g. `null`.
    pub operation: String,
    /// The case's parameters; empty for a benchmark of one case.
    pub case: BTreeMap<String, String>,
    /// Only rows of equal revisions measure the same.
    pub revision: u32,
    /// The unit of the estimate.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether there is a number.
    pub status: Status,
    /// Why there is no number, or what to know about it; null when all is well.
    pub reason: Option<String>,
    /// The numbers, in `unit`: all when the status is `ok`, only the bound `ci95_high` and the
    /// share of undisturbed samples when it is `below_resolution`, only the bound `ci95_low` when
    /// it is `above_range`, none otherwise.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The median in core cycles; null if the unit is no time or the core's frequency is not known.
    pub core_cycles: Option<f64>,
    /// What a careful reader should know about the samples.
    pub flags: Vec<Flag>,
    /// What the benchmark claimed and what was counted.
    pub evidence: Vec<Claim>,
    /// Numbers beside the main one, each naming its unit; empty unless the status is `ok`
    /// or `above_range`.
    pub details: BTreeMap<String, f64>,
    /// By what it was judged which samples are of an own core; absent where the core was not probed, in
    /// documents of before it was kept, and without numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// What the row's directory lies on, e.g. `ext4 on /dev/vda (virtio)`; absent without a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
}

/// One claim, and what was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// Which claim it is about, e.g. `getppid_system_calls_per_operation`.
    pub claim_id: ClaimId,
    /// What is claimed, for people, e.g. `getppid system calls per operation`.
    pub claim: String,
    /// What the claim expects to be counted; null for a note.
    pub expected: Option<Fact>,
    /// What was counted; null if nothing could be.
    pub observed: Option<Fact>,
    /// Who counted, e.g. `seccomp audit` or `getrusage`.
    pub source: String,
    /// What follows, in the words that every export has for it.
    pub verdict: Mark,
    /// Why it could not be verified, or how it was refuted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Claim {
    fn new(evidence: &Evidence) -> Self {
        Claim {
            claim_id: evidence.claim.id.clone(),
            claim: evidence.claim.sentence.clone(),
            expected: evidence.expected.clone(),
            observed: evidence.observed.clone(),
            source: evidence.source.clone(),
            verdict: Mark::of(std::slice::from_ref(evidence)),
            reason: evidence.reason.clone(),
        }
    }
}

impl Record {
    /// The worst verdict of its claims; without any nothing is confirmed.
    pub(super) fn mark(&self) -> Mark {
        let verdicts = self.evidence.iter().map(|claim| claim.verdict);
        verdicts.max().unwrap_or(Mark::Unverified)
    }

    /// The record of a row of this run.
    pub fn new(run: &Run, row: &Measurement) -> Self {
        let view = RowView::of(row);
        Record {
            run: run.id.clone(),
            started: run.started.clone(),
            hostname: run.machine.hostname.clone(),
            cpu_model: run.machine.cpu_model.clone(),
            kernel: run.machine.kernel.clone(),
            hypervisor: run.machine.hypervisor.written().map(str::to_owned),
            version: run.tool.version.clone(),
            profile: run.config.profile.clone(),
            name: row.name.clone(),
            id: row.id.clone(),
            group: view.group().to_owned(),
            operation: view.operation().to_owned(),
            case: row.case.clone(),
            revision: row.revision,
            unit: row.unit,
            better: row.better,
            status: row.status,
            reason: sentence::reason(row),
            core_cycles: view.cycles(),
            flags: row.flags.clone(),
            evidence: row.evidence.iter().map(Claim::new).collect(),
            details: view.details.clone(),
            estimate: view.estimate,
            sharing: row.sharing.filter(|_| row.status.has_figures()),
            storage: directory::of(run, &row.name).map(Directory::storage),
        }
    }

    /// The records of all rows, run after run, in the runs' order of rows.
    pub fn all<'a>(runs: &'a [&'a Run]) -> impl Iterator<Item = Record> + 'a {
        runs.iter().flat_map(|run| {
            run.measurements
                .iter()
                .map(move |row| Record::new(run, row))
        })
    }
}

/// A case as written in a row's name: `call=getpid,via=libc`; empty for a benchmark with one case.
pub fn parameters(case: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = case
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    pairs.join(",")
}

/// A [`Record`] on each line, described by docs/export.schema.json.
///
/// # Errors
/// [`ExportError::Writer`] if the writer fails, which is not expected.
pub fn to_jsonl(runs: &[&Run]) -> Result<String, ExportError> {
    let mut lines = String::new();
    for record in Record::all(runs) {
        lines += &serde_json::to_string(&record)?;
        lines.push('\n');
    }
    Ok(lines)
}
