//! Runs of one user at the same time.

use anyhow::{Context, Result};
use fastrand::Rng;
use std::process::Stdio;
use syscost_results::{Status, document};

use super::Tally;
use super::sandbox::Sandbox;

/// Eight at once: they share a scratch folder, and no row may fail for that.
pub(super) fn eight(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    let start = |_| {
        sandbox
            .command(&[
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
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("starting a run")
    };
    let runs: Vec<_> = (0..8).map(start).collect::<Result<_>>()?;
    for run in runs {
        let output = run.wait_with_output().context("waiting for a run")?;
        let complaints = match document::read(&output.stdout) {
            Ok(run) => {
                let rows = run.measurements.into_iter();
                let failed = rows.filter(|row| row.status == Status::Failed);
                failed
                    .map(|row| format!("{}: {}", row.name, row.reason.unwrap_or_default()))
                    .collect()
            }
            Err(error) => vec![format!(
                "{error}: {}",
                String::from_utf8_lossy(&output.stderr)
            )],
        };
        tally.note("one of eight", complaints);
    }
    Ok(())
}
