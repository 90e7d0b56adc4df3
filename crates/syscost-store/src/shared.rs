//! Runs that users share, to become reference machines: which are fit, what of them is sent, and how
//! large that may be.

use std::path::{Path, PathBuf};

use syscost_results::details::SWITCH;
use syscost_results::precision::Grade;
use syscost_results::run::{Clock, Config, core_ours};
use syscost_results::{Measurement, Run, Status, beside};

use crate::LoadError;
use crate::load::read_within;
use crate::write::packed;

/// Maximum size of a shared run's file, in bytes; that of a full run has 0.2 MB.
pub(crate) const MAX_PACKED: u64 = 1 << 20;

/// Maximum size of its document, in bytes; that of a full run has 0.8 MB.
pub(crate) const MAX_UNPACKED: u64 = 8 << 20;

/// Maximum number of its rows; a full run has 1400.
pub(crate) const MAX_ROWS: usize = 4000;

/// Details that renderers show next to a median.
const DETAILS: [&str; 1] = [SWITCH];

/// Minimum share of the probes that found the cores that measured not shared, in percent.
const MIN_OURS: f64 = 50.0;

/// Why a run cannot be a reference.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unfit {
    /// It is of a profile that measures a part.
    #[error("a run of the {0} profile, which lacks most rows; measure with --profile full")]
    Profile(String),
    /// Its rows were selected.
    #[error("a run of some rows; measure all, without a selection")]
    Selection,
    /// More rows were skipped than those that are computed from rows without a number.
    #[error("{0} rows were skipped; give the run more time, by --budget")]
    Skipped(usize),
    /// A debug build measured.
    #[error("measured by a {0} build, whose own code is slow; measure with a release")]
    Build(String),
    /// Its kernel is not Linux.
    #[error("measured on {0}, which imitates Linux, so that no cost is Linux's")]
    Imitated(&'static str),
    /// Something made all its numbers wrong.
    #[error("measured under a tracer, which each system call has to wait for")]
    Traced,
    /// Too few rows have a number that is worth it.
    #[error(
        "only {useful} of {all} rows have a precise number of use beside another machine's; measure at a quieter time"
    )]
    Few {
        /// How many rows have.
        useful: usize,
        /// How many rows there are.
        all: usize,
    },
    /// The instructions were interpreted.
    #[error("measured on a processor that {0} emulates, so that no cost is a processor's")]
    Emulated(String),
    /// Most probes found something else running on the cores.
    #[error(
        "the cores that measured were ours in only {0:.0} % of the probes; measure at a quieter time, or with --patient"
    )]
    Shared(f64),
    /// It was not measured as others measure.
    #[error(
        "measured with a program, an environment or a congestion control of one's own; measure as `syscost run` does by itself"
    )]
    Settings,
    /// It is too large.
    #[error(
        "larger than any run of the catalogue: more than {MAX_ROWS} rows, or {} MiB, or {} MiB packed",
        MAX_UNPACKED >> 20,
        MAX_PACKED >> 20
    )]
    Large,
}

/// Why a file is no shared run.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// It cannot be read, or not within the limits.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its run is not fit.
    #[error("{path}: {reason}")]
    Unfit {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: Unfit,
    },
    /// It says more than a shared run does.
    #[error(
        "{path} is not as it is shared: it tells more; let its owner write it anew, by `syscost report --anonymous --share`"
    )]
    Unpruned {
        /// The file.
        path: PathBuf,
    },
}

/// Returns what of a run its user shares, and the file of it. `is_known` tells rows of the shipped
/// catalogue: what a user's own are called is his business.
///
/// # Errors
/// When the run cannot be a reference.
pub fn share(run: &Run, is_known: impl Fn(&Measurement) -> bool) -> Result<(Run, Vec<u8>), Unfit> {
    check(run)?;
    let shared = pruned(run, is_known);
    // No map of a run has keys that JSON cannot represent.
    let text = serde_json::to_vec(&shared).unwrap_or_default();
    let bytes = packed(&text);
    let (useful, all) = (shared.measurements.len(), run.measurements.len());
    if useful == 0 || 4 * useful < all {
        return Err(Unfit::Few { useful, all });
    }
    let is_large = shared.measurements.len() > MAX_ROWS
        || text.len() as u64 > MAX_UNPACKED
        || bytes.len() as u64 > MAX_PACKED;
    match is_large {
        true => Err(Unfit::Large),
        false => Ok((shared, bytes)),
    }
}

/// Reads a file that a stranger shared, and returns it as [`share`] does.
///
/// # Errors
/// If it cannot be read, is larger than it may be, or is not as [`share`] writes it.
pub fn load_shared(
    path: &Path,
    is_known: impl Fn(&Measurement) -> bool,
) -> Result<(Run, Vec<u8>), SharedError> {
    let path = path.to_owned();
    let run = read_within(&path, MAX_PACKED, MAX_UNPACKED)?;
    match share(&run, is_known) {
        Ok(shared) if shared.0 == run => Ok(shared),
        Ok(_) => Err(SharedError::Unpruned { path }),
        Err(reason) => Err(SharedError::Unfit { path, reason }),
    }
}

/// Returns why no number of this run is what its row's name says, if something makes all of them wrong.
pub fn wrong_numbers(run: &Run) -> Option<Unfit> {
    let machine = &run.machine;
    let is_traced = run.warnings.iter().any(|one| one.code == "tracer");
    let emulated = machine.is_emulated().filter(|is_emulated| *is_emulated);
    let emulator = emulated.and_then(|_| machine.hypervisor.name());
    (machine.build.profile != "release")
        .then(|| Unfit::Build(machine.build.profile.clone()))
        .or_else(|| Some(Unfit::Emulated(emulator?.to_owned())))
        .or_else(|| machine.imitation().map(Unfit::Imitated))
        .or_else(|| is_traced.then_some(Unfit::Traced))
}

fn check(run: &Run) -> Result<(), Unfit> {
    let Run {
        config,
        measurements,
        ..
    } = run;
    let rows = measurements.iter();
    let skipped = rows.filter(|row| row.status == Status::Skipped).count();
    let is_own = config.program.is_some()
        || config.wrapper.is_some()
        || config.congestion.is_some()
        || !config.environment.is_empty();
    if !["full", "careful"].contains(&&*config.profile) {
        return Err(Unfit::Profile(config.profile.clone()));
    }
    if !config.selectors.is_empty() {
        return Err(Unfit::Selection);
    }
    if 100 * skipped > measurements.len() {
        return Err(Unfit::Skipped(skipped));
    }
    if let Some(reason) = wrong_numbers(run) {
        return Err(reason);
    }
    if let Some(percent) = core_ours(&run.noise).filter(|percent| *percent < MIN_OURS) {
        return Err(Unfit::Shared(percent));
    }
    match is_own {
        true => Err(Unfit::Settings),
        false => Ok(()),
    }
}

/// Whether a row is useful beside another machine's: a number from undisturbed samples, precise to 30 %,
/// of no directory, pair of CPUs or far end.
fn is_useful(row: &Measurement) -> bool {
    let is_precise = Grade::of(&row.estimate).is_some_and(|grade| grade < Grade::Vague);
    row.status == Status::Ok
        && is_precise
        && !row.is_in_company()
        && !beside::is_of_one_machine(row)
}

/// The numbers and what distinguishes machines; no samples, and nothing that identifies a machine's
/// owner: what is not named here stays with the user.
fn pruned(run: &Run, is_known: impl Fn(&Measurement) -> bool) -> Run {
    let is_shared = |row: &&Measurement| is_useful(row) && is_known(row);
    let rows = run.measurements.iter().filter(is_shared);
    let mut shared = Run {
        schema_version: run.schema_version,
        tool: run.tool.clone(),
        id: run.id.clone(),
        started: run.started.clone(),
        duration_s: run.duration_s,
        complete: run.complete,
        machine: run.machine.clone(),
        clock: Clock {
            health: Vec::new(),
            ..run.clock.clone()
        },
        core_ghz: run.core_ghz,
        frequency: run.frequency,
        noise: run.noise.clone(),
        burst: run.burst,
        config: Config {
            profile: run.config.profile.clone(),
            budget_s: run.config.budget_s,
            ..Config::default()
        },
        measurements: rows.map(pruned_row).collect(),
        ..Run::default()
    };
    shared.anonymize();
    shared
}

fn pruned_row(row: &Measurement) -> Measurement {
    let details = row.details.iter();
    let shown = details.filter(|(name, _)| DETAILS.contains(&name.as_str()));
    Measurement {
        name: row.name.clone(),
        id: row.id.clone(),
        case: row.case.clone(),
        title: row.title.clone(),
        revision: row.revision,
        unit: row.unit,
        better: row.better,
        status: row.status,
        estimate: row.estimate.clone(),
        core_cycles: row.core_cycles,
        core_share: row.core_share,
        between_runs: row.between_runs,
        flags: row.flags.clone(),
        details: shown.map(|(name, value)| (name.clone(), *value)).collect(),
        ..Measurement::default()
    }
}

#[cfg(test)]
mod tests;
