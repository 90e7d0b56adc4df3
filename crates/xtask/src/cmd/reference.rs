//! `cargo xtask reference FILE NAME FAMILY`: takes a shared run in, as a reference that ships with the program.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use syscost_benches::CATALOGUE;
use syscost_store::load_shared;

use crate::new_bench::with_entry;
use xtask::workspace;

/// The list of references.
const LIST: &str = "crates/syscost/src/references.rs";

/// Arguments of `reference`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A run, as `syscost report --anonymous --share FILE` writes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the reference is called, e.g. `epyc-guest`
    #[arg(value_name = "NAME")]
    name: String,
    /// Family of its processor, e.g. `AMD Zen 5`; that of a reference which is replaced stays
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { file, name, family } = arguments;
    let is_of_name = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
    ensure!(
        !name.is_empty() && name.chars().all(is_of_name),
        "`{name}` must be lower-case letters, digits and hyphens"
    );
    let (run, packed) = load_shared(file, |row| CATALOGUE.ships(row))?;
    let path = workspace::root().join(LIST);
    let list = workspace::read(&path)?;
    if !list.contains(&format!("\"{name}\": ")) {
        let family = family.as_ref();
        let family = family.context("it is new: give the family of its processor as well")?;
        let listed = with_entry(&list, "shipped! {", &format!("{name:?}: {family:?}"))?;
        workspace::write(&path, &listed)?;
    }
    let file = format!("crates/syscost/references/{name}.json.gz");
    let path = workspace::root().join(&file);
    std::fs::write(&path, packed).with_context(|| format!("writing {}", path.display()))?;
    println!(
        "wrote {file}: {} rows; then: cargo xtask gen, and say in the commit on what machine it was measured and when",
        run.measurements.len()
    );
    Ok(())
}
