//! `cargo xtask gen`: generates files from the code and from Cargo.toml, most in docs/, and checks that they are current.

mod catalogue;
pub(crate) mod command_line;
mod lmbench;
mod owner;
mod schema;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use syscost_report::study;
use syscost_results::study::Study;

use crate::owner::Owner;
use xtask::workspace;

/// Directories in which every file is generated, so that any other file there is stale.
const GENERATED_FOLDERS: [&str; 3] = ["docs/man", "docs/completions", "docs/studies"];

/// A page written by hand, but for its table.
const STUDIES: &str = "docs/studies.md";

/// Arguments of `gen`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a file is not what it should be
    #[arg(long)]
    check: bool,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = workspace::root();
    let mut wanted = wanted()?;
    wanted.extend(schema::files()?);
    let stale = stale(root, &wanted)?;
    if arguments.check {
        return match stale.as_slice() {
            [] => Ok(()),
            stale => bail!("{}", complaint(stale)),
        };
    }
    for path in &stale {
        let whole = root.join(path);
        match wanted.get(path) {
            Some(text) => workspace::write(&whole, text)?,
            None => {
                fs::remove_file(&whole).with_context(|| format!("removing {}", path.display()))?
            }
        }
        println!("{}", path.display());
    }
    Ok(())
}

/// Every generated file but the schemas, for which something has to be built: its path from the root, and its contents.
fn wanted() -> Result<BTreeMap<PathBuf, String>> {
    let owner = Owner::of_workspace();
    let mut files = command_line::files(&owner)?;
    files.insert(
        "docs/benchmarks.md".into(),
        catalogue::page(&syscost_benches::CATALOGUE, syscost_benches::LMBENCH),
    );
    files.insert(
        "docs/from-lmbench.md".into(),
        lmbench::page(&syscost_benches::CATALOGUE, syscost_benches::LMBENCH),
    );
    let studies = syscost_benches::STUDIES
        .iter()
        .map(|text| syscost_studies::parse(text));
    let studies = studies.collect::<Result<Vec<Study>, _>>();
    let studies = studies.map_err(|error| anyhow::anyhow!("a study{error}"))?;
    files.insert(
        STUDIES.into(),
        with_table(
            &workspace::read(&workspace::root().join(STUDIES))?,
            &study::index(studies.iter()),
        )?,
    );
    for study in &studies {
        let path = format!("docs/studies/{}.md", study.id);
        files.insert(path.into(), study::page(study));
    }
    files.insert("SECURITY.md".into(), owner::security(&owner));
    let issues = ".github/ISSUE_TEMPLATE/config.yml";
    files.insert(issues.into(), owner::issues(&owner));
    Ok(files)
}

/// A page with this table between the lines that enclose what is generated.
fn with_table(page: &str, table: &str) -> Result<String> {
    let parts = page
        .split_once("<!-- Generated ")
        .and_then(|(before, rest)| {
            let (heading, rest) = rest.split_once('\n')?;
            let (_, after) = rest.split_once("<!-- /generated -->")?;
            Some(format!(
                "{before}<!-- Generated {heading}\n\n{table}\n<!-- /generated -->{after}"
            ))
        });
    parts.context("a page has no lines `<!-- Generated ..` and `<!-- /generated -->`")
}

/// The files that are missing, outdated, or no longer generated.
fn stale(root: &Path, wanted: &BTreeMap<PathBuf, String>) -> Result<Vec<PathBuf>> {
    let mut stale: Vec<PathBuf> = wanted
        .iter()
        .filter(|(path, text)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(text))
        .map(|(path, _)| path.clone())
        .collect();
    for folder in GENERATED_FOLDERS {
        let Ok(entries) = fs::read_dir(root.join(folder)) else {
            continue; // Its files are missing, and so in the list already.
        };
        for entry in entries {
            let entry = entry.with_context(|| format!("reading {folder}"))?;
            let path = Path::new(folder).join(entry.file_name());
            if !wanted.contains_key(&path) {
                stale.push(path);
            }
        }
    }
    stale.sort();
    Ok(stale)
}

fn complaint(stale: &[PathBuf]) -> String {
    let list: Vec<String> = stale
        .iter()
        .map(|path| format!("  {}", path.display()))
        .collect();
    format!(
        "these files are stale; run `cargo xtask gen`\n{}",
        list.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_files_are_current() {
        let stale = stale(workspace::root(), &wanted().unwrap()).unwrap();
        assert!(stale.is_empty(), "{}", complaint(&stale));
    }

    #[test]
    fn missing_changed_and_left_over_files_are_stale() {
        let root = tempfile::tempdir().unwrap();
        let wanted = BTreeMap::from(
            ["docs/man/a.1", "docs/man/b.1", "docs/c.md"]
                .map(|path| (path.into(), "text\n".to_owned())),
        );
        workspace::write(&root.path().join("docs/man/a.1"), "text\n").unwrap();
        workspace::write(&root.path().join("docs/man/b.1"), "other\n").unwrap();
        workspace::write(&root.path().join("docs/man/old.1"), "text\n").unwrap();
        workspace::write(&root.path().join("docs/written-by-hand.md"), "text\n").unwrap();
        let stale = stale(root.path(), &wanted).unwrap();
        assert_eq!(
            stale,
            ["docs/c.md", "docs/man/b.1", "docs/man/old.1"].map(PathBuf::from)
        );
        assert!(complaint(&stale).contains("cargo xtask gen"));
    }
}
