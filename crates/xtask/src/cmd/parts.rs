//! `cargo xtask parts`: takes off each part of the program in turn, and checks that the rest compiles, its tests too.

use anyhow::{Context, Result, ensure};
use clap::Args;
use xtask::{cargo, workspace};

/// Arguments of `parts`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Run the tests of the program, too
    #[arg(long)]
    test: bool,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let parts = parts(&workspace::read(
        &workspace::root().join("crates/syscost/Cargo.toml"),
    )?)?;
    let how = if arguments.test { "test" } else { "check" };
    for part in &parts {
        println!("without {part}");
        let rest = parts.iter().filter(|other| *other != part);
        let rest: Vec<&str> = rest.map(String::as_str).collect();
        let mut cargo = cargo::command();
        cargo.current_dir(workspace::root()).args([how, "--quiet"]);
        cargo.args(["--package", "syscost", "--lib", "--bins", "--tests"]);
        cargo.args(["--no-default-features", "--features", &rest.join(",")]);
        let status = cargo.status().context("starting cargo")?;
        ensure!(status.success(), "{part} does not come off");
    }
    Ok(())
}

/// The parts, which are the default features of the program itself.
fn parts(manifest: &str) -> Result<Vec<String>> {
    let manifest: toml::Table = manifest.parse().context("reading syscost's manifest")?;
    let features = manifest.get("features").and_then(toml::Value::as_table);
    let default = features.and_then(|all| all.get("default")?.as_array());
    let names = default.context("it has no default features")?.iter();
    let names = names.filter_map(toml::Value::as_str);
    let own = names.filter(|name| !name.contains('/'));
    Ok(own.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_default_features_but_those_of_other_crates() {
        let manifest = "[features]\ndefault = [\"a\", \"b\", \"c/default\"]\na = []\nfull = []\n";
        assert_eq!(parts(manifest).unwrap(), ["a", "b"]);
    }
}
