//! The program that chores run, and the documents that it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use syscost_benches::CATALOGUE;
use syscost_harness::session::Profile;
use syscost_results::{Measurement, Run, Status, document};
use xtask::cargo;

/// The program.
#[derive(Debug)]
pub(crate) struct Program {
    /// Its file.
    pub(crate) path: PathBuf,
}

/// The program that a chore is to run.
#[derive(Debug, Args)]
pub(crate) struct Given {
    /// The program; without it the release is built
    #[arg(long = "program", value_name = "FILE")]
    path: Option<PathBuf>,
}

impl Given {
    /// The program, built if none was given.
    pub(crate) fn get(&self) -> Result<Program> {
        let path = match &self.path {
            Some(path) => {
                fs::canonicalize(path).with_context(|| format!("finding {}", path.display()))?
            }
            None => cargo::release(None, &[])?.program,
        };
        Ok(Program { path })
    }
}

impl Program {
    /// A run of these selectors with these options.
    pub(crate) fn run(
        &self,
        profile: Profile,
        options: &[&str],
        selectors: &[&str],
    ) -> Result<Run> {
        document(Command::new(&self.path), profile, options, selectors)
    }

    /// Two runs of these selectors, measured in turn with their samples, each with its side's
    /// environment variable if given.
    pub(crate) fn pair(
        &self,
        profile: Profile,
        budget: Option<Duration>,
        environment: Option<&[String; 2]>,
        selectors: &[&str],
    ) -> Result<[Run; 2]> {
        let folder = tempfile::tempdir().context("making a folder")?;
        let started = |words: &[&str]| {
            let mut command = Command::new(&self.path);
            command.args(words).env("XDG_DATA_HOME", folder.path());
            command.stdin(Stdio::null());
            command
        };
        let mut command = started(&["ab", "--profile", profile.name(), "--tag", "pair"]);
        if let Some([a, b]) = environment {
            let (name, value) = a.split_once('=').context("a variable and its value")?;
            command.env(name, value);
            command.args(["--b-wrapper", &format!("env {b}")]);
        } else {
            // The same on both sides.
            command.arg("--b").arg(&self.path);
        }
        if let Some(budget) = budget {
            command.args(["--budget", &budget.as_secs().max(1).to_string()]);
        }
        let status = command
            .arg("--")
            .args(selectors)
            .stdout(Stdio::null())
            .status()
            .with_context(|| format!("starting {}", self.path.display()))?;
        let read = |tag: &str| {
            let shown = started(&["show", tag, "--format", "json"]).output()?;
            let run: Run = serde_json::from_slice(&shown.stdout)
                .with_context(|| format!("syscost ab ended with {status}"))?;
            anyhow::Ok(with_roles(run))
        };
        Ok([read("pair-a")?, read("pair-b")?])
    }
}

/// Reads the run document in this file.
pub(crate) fn read_run(path: &Path) -> Result<Run> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let run = document::read(&bytes).map_err(|error| anyhow!("{}{error}", path.display()))?;
    Ok(with_roles(run))
}

/// Executes a run and returns its document.
fn document(
    mut command: Command,
    profile: Profile,
    options: &[&str],
    selectors: &[&str],
) -> Result<Run> {
    let output = command
        .args(["run", "--no-save", "--format", "json"])
        .args(["--profile", profile.name()])
        .args(options)
        .arg("--")
        .args(selectors)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {}", command.get_program().display()))?;
    let run: serde_json::Result<Run> = serde_json::from_slice(&output.stdout);
    if !output.status.success() {
        // The document says why a row has no number.
        let reasons = run.iter().flat_map(|run| &run.measurements);
        let reasons: Vec<&str> = reasons.filter_map(|row| row.reason.as_deref()).collect();
        bail!(
            "`syscost run {}` ended with {}: {} {}",
            selectors.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim(),
            reasons.join("; ")
        );
    }
    run.map(with_roles).context("reading the run's document")
}

/// The run, with what its rows stand for: some are never compared.
fn with_roles(mut run: Run) -> Run {
    CATALOGUE.assign_roles(&mut run);
    run
}

/// The row with this name, which must have a number.
pub(crate) fn measured<'a>(run: &'a Run, name: &str) -> Result<&'a Measurement> {
    let row = run
        .measurements
        .iter()
        .find(|row| row.name == name)
        .with_context(|| format!("{name} is not in the run"))?;
    if row.status != Status::Ok {
        let reason = row.reason.as_deref().unwrap_or("no reason given");
        return Err(anyhow!("{name} has no number: {reason}"));
    }
    Ok(row)
}
