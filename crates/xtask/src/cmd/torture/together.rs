//! Concurrent runs of one user.

use anyhow::Result;
use fastrand::Rng;
use syscost_results::{Status, document};

use super::Tally;
use super::sandbox::Sandbox;

/// Eight runs at once: they share a scratch directory, and no row may fail because of that.
pub(super) fn eight(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    let start = |_| {
        sandbox.start(sandbox.command(&[
            "run",
            "--profile",
            "quick",
            "--budget",
            "2",
            "--no-save",
            "--format",
            "json",
            "syscall.umask",
            "syscall.open_close",
            "memory.page_fault",
        ]))
    };
    let runs: Vec<_> = (0..8).map(start).collect::<Result<_>>()?;
    for run in runs {
        let ending = run.end()?;
        let mut complaints = ending.complaints_of_run();
        // An unreadable document has already been complained about.
        let rows = document::read(&ending.out).map_or_else(|_| Vec::new(), |run| run.measurements);
        let failed = rows.into_iter().filter(|row| row.status == Status::Failed);
        complaints
            .extend(failed.map(|row| format!("{}: {}", row.name, row.reason.unwrap_or_default())));
        tally.note("one of eight", complaints);
    }
    Ok(())
}
