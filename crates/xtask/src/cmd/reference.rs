//! `cargo xtask reference RUN NAME`: turns a run document into a reference that ships with the
//! program.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use syscost_results::details::SWITCH;
use syscost_results::precision::Grade;
use syscost_results::{Measurement, Run, Status, document};

use xtask::workspace;

/// Details that renderers show next to a median.
const DETAILS: [&str; 1] = [SWITCH];

/// Arguments of `reference`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A run document, as `syscost run --output FILE` writes it
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// What the reference is called, e.g. `epyc-guest`
    #[arg(value_name = "NAME")]
    name: String,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let text = workspace::read(&arguments.run)?;
    let run = document::read(text.as_bytes()).context("reading the run document")?;
    if let Some(reason) = unfit(&run) {
        bail!("{}: {reason}", arguments.run.display());
    }
    let file = format!("crates/syscost/references/{}.json.gz", arguments.name);
    let path = workspace::root().join(&file);
    let folder = path.parent().unwrap_or(workspace::root());
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let rows = run.measurements.len();
    let pruned = pruned(run);
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, &pruned)?;
    std::fs::write(&path, packer.finish()?)
        .with_context(|| format!("writing {}", path.display()))?;
    println!(
        "wrote {file}: {} of {rows} rows; list it in crates/syscost/src/references.rs",
        pruned.measurements.len()
    );
    Ok(())
}

/// Why a run cannot be a reference, if so.
fn unfit(run: &Run) -> Option<String> {
    let skipped = run
        .measurements
        .iter()
        .filter(|row| row.status == Status::Skipped)
        .count();
    let profile = run.config.profile.as_str();
    let build = run.machine.build.profile.as_str();
    if !["full", "careful"].contains(&profile) {
        return Some(format!(
            "a run of the {profile} profile, which lacks most rows; measure with --profile full or careful"
        ));
    }
    if !run.config.selectors.is_empty() {
        return Some("a run of some rows; a reference has them all".to_owned());
    }
    if skipped > 0 {
        return Some(format!(
            "{skipped} rows were skipped; a reference has them all"
        ));
    }
    (build != "release").then(|| {
        format!("measured by a {build} build, whose own code is slow; measure with a release build")
    })
}

/// Whether a row is useful as a reference: a number from undisturbed samples, precise to 30 %.
fn is_useful(row: &Measurement) -> bool {
    let is_precise = Grade::of(&row.estimate).is_some_and(|grade| grade < Grade::Vague);
    row.status == Status::Ok && is_precise && !row.is_in_company()
}

/// The numbers and what distinguishes machines; no samples, and nothing that identifies a machine's
/// owner.
fn pruned(mut run: Run) -> Run {
    run.measurements.retain(is_useful);
    for row in &mut run.measurements {
        row.samples = None;
        row.histogram.clear();
        row.evidence.clear();
        row.details
            .retain(|name, _| DETAILS.contains(&name.as_str()));
    }
    run.anonymize();
    run.warnings.clear();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_a_part_of_the_rows_is_no_reference() {
        let text = workspace::read(&workspace::root().join("fixtures/runs/quick.json"));
        let mut run = document::read(text.expect("it is there").as_bytes()).expect("a run");
        run.config.profile = "quick".to_owned();
        let reason = |run: &Run| unfit(run).unwrap_or_default();
        assert!(reason(&run).contains("quick profile"));
        run.config.profile = "full".to_owned();
        run.config.selectors = vec!["syscall".to_owned()];
        assert!(reason(&run).contains("some rows"));
        run.config.selectors.clear();
        run.machine.build.profile = "debug".to_owned();
        assert!(reason(&run).contains("debug build"));
        run.machine.build.profile = "release".to_owned();
        run.measurements[0].status = Status::Skipped;
        assert!(reason(&run).contains("skipped"));
        run.measurements.remove(0);
        assert_eq!(unfit(&run), None);
    }
}
