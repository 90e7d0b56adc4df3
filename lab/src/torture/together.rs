//! Concurrent runs of one user.

use anyhow::Result;
use fastrand::Rng;
use syscost_results::{Evidence, Measurement, Status, Verdict, document};

use super::Tally;
use super::sandbox::{Ending, Sandbox};

/// Eight runs at once: they share a scratch directory and the CPUs, and no row may fail or be withheld
/// because of that.
pub(super) fn eight(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    let start = |_| {
        sandbox.start(sandbox.command(
            "run --profile quick --budget 2 --no-save --format json \
             syscall.umask syscall.open_close memory.page_fault sync.file_lock ipc.unix_connect",
        ))
    };
    let runs: Vec<_> = (0..8).map(start).collect::<Result<_>>()?;
    for run in runs {
        let ending = run.end()?;
        let mut complaints = ending.complaints_of_run();
        // That others take the CPU refutes nothing.
        let wrong = rows(&ending, &[Status::Failed, Status::Withheld]).into_iter();
        complaints.extend(wrong.map(|(name, reason)| format!("{name}: {reason}")));
        tally.note("one of eight", complaints);
    }
    Ok(())
}

/// The rows of a run that have one of these statuses, with their reasons; none of an unreadable
/// document, which has already been complained about.
pub(super) fn rows(ending: &Ending, statuses: &[Status]) -> Vec<(String, String)> {
    let rows = document::read(&ending.out).map_or_else(|_| Vec::new(), |run| run.measurements);
    let found = rows
        .into_iter()
        .filter(|row| statuses.contains(&row.status));
    let reason = |row: &Measurement| match (&row.reason, row.evidence.iter().find(is_refuted)) {
        (Some(reason), _) => reason.clone(),
        (None, Some(refuted)) => format!("refuted: {}", refuted.claim.sentence),
        (None, None) => String::new(),
    };
    found.map(|row| (row.name.clone(), reason(&row))).collect()
}

fn is_refuted(evidence: &&Evidence) -> bool {
    evidence.verdict == Verdict::Refuted
}
