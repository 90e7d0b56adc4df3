//! What cargo builds: the release, the tests.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace;

/// A program that cargo has built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// Its file.
    pub path: PathBuf,
    /// What it was built of: a library, a binary, an integration test.
    pub target: String,
    /// The package's directory.
    pub package: PathBuf,
    /// Whether it holds tests.
    pub is_test: bool,
}

/// The release.
#[derive(Debug)]
pub struct Release {
    /// The binary.
    pub program: PathBuf,
    /// The directories of the crates from elsewhere that are linked into it; empty if the target was not named, since cargo then does not tell
    /// them from what runs while it builds.
    pub linked: Vec<PathBuf>,
}

/// A call of cargo, the one that runs this program if one does.
pub fn command() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Flags of the compiler that make a program static, and the list of its addresses to relocate short: that is
/// a megabyte otherwise.
pub const STATIC: [&str; 4] = [
    "-C",
    "target-feature=+crt-static",
    "-C",
    "link-arg=-Wl,-z,pack-relative-relocs",
];

/// The variable that tells cargo which linker makes programs of this target, and the one that does: by Debian's name, GCC for it.
pub fn linker(triple: &str) -> [String; 2] {
    let name = triple.replace('-', "_").to_uppercase();
    let gcc = triple.replace("-unknown", "");
    [format!("CARGO_TARGET_{name}_LINKER"), format!("{gcc}-gcc")]
}

/// Builds the release as `cargo build --release` does, for this target if one is named, with these environment variables.
///
/// # Errors
/// If it cannot be built; cargo prints why.
pub fn release(target: Option<&str>, environment: &[(&str, &OsStr)]) -> Result<Release> {
    let of_program = [
        "build",
        "--release",
        "--package",
        "syscost",
        "--bin",
        "syscost",
        "--features",
        "full",
    ];
    let target: Vec<&str> = target
        .into_iter()
        .flat_map(|name| ["--target", name])
        .collect();
    let messages = messages(&[&of_program, &*target].concat(), environment)?;
    let mut programs = messages.iter().filter_map(program);
    let program = programs.find(|one| one.target == "syscost");
    let linked = target.last().map(|triple| {
        let linked = messages
            .iter()
            .filter_map(|message| linked(message, triple));
        linked.collect::<BTreeSet<_>>()
    });
    Ok(Release {
        program: program
            .context("cargo named no binary called syscost")?
            .path,
        linked: linked.into_iter().flatten().collect(),
    })
}

/// The programs that cargo has built when called with these arguments and environment variables.
///
/// # Errors
/// If something cannot be built; cargo prints why.
pub fn built(arguments: &[&str], environment: &[(&str, &OsStr)]) -> Result<Vec<Built>> {
    let messages = messages(arguments, environment)?;
    Ok(messages.iter().filter_map(program).collect())
}

/// What cargo tells of what it has built.
fn messages(arguments: &[&str], environment: &[(&str, &OsStr)]) -> Result<Vec<Value>> {
    let mut cargo = command();
    cargo
        .args(arguments)
        .args(["--quiet", "--message-format", "json-render-diagnostics"])
        .envs(environment.iter().copied())
        .current_dir(workspace::root())
        .stdout(Stdio::piped());
    let mut child = cargo.spawn().context("starting cargo")?;
    let output = child
        .stdout
        .take()
        .context("cargo has no standard output")?;
    let mut messages = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line.context("reading cargo's messages")?;
        // Programs that cargo runs print lines, too.
        messages.extend(serde_json::from_str::<Value>(&line));
    }
    let status = child.wait().context("waiting for cargo")?;
    ensure!(
        status.success(),
        "`cargo {}` failed; it says why above",
        arguments.join(" ")
    );
    Ok(messages)
}

/// The program that one of cargo's messages names, if it does.
fn program(message: &Value) -> Option<Built> {
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    Some(Built {
        path: message["executable"].as_str()?.into(),
        target: message["target"]["name"].as_str()?.to_owned(),
        package: manifest.parent()?.to_owned(),
        is_test: message["profile"]["test"] == true,
    })
}

/// The directory of a crate from elsewhere that is compiled for this target, whose files cargo keeps in a folder of its name.
fn linked(message: &Value, triple: &str) -> Option<PathBuf> {
    let is_own = message["package_id"].as_str()?.starts_with("path+");
    let mut files = message["filenames"].as_array()?.iter();
    let is_of_target = |file: &Value| {
        let path = Path::new(file.as_str().unwrap_or_default());
        path.iter().any(|part| part == triple)
    };
    let is_linked = !is_own && files.any(is_of_target);
    let manifest = Path::new(message["manifest_path"].as_str()?);
    is_linked.then_some(manifest.parent()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_are_taken_from_cargos_messages_and_nothing_else() {
        let message = |executable: Option<&str>| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": "/w/crates/a/Cargo.toml",
                "target": { "name": "syscost" },
                "profile": { "test": true },
                "executable": executable,
            })
        };
        assert_eq!(program(&message(None)), None);
        assert_eq!(program(&json!({})), None);
        let expected = Built {
            path: "/t/syscost".into(),
            target: "syscost".to_owned(),
            package: "/w/crates/a".into(),
            is_test: true,
        };
        assert_eq!(program(&message(Some("/t/syscost"))), Some(expected));
    }

    #[test]
    fn what_is_linked_is_from_elsewhere_and_for_the_target() {
        let (own, other) = (
            "path+file:///w/a#1.0.0",
            "registry+https://crates.io#a@1.0.0",
        );
        for (from, file, is_linked) in [
            (other, "/t/cpu-os/release/deps/liba.rlib", true),
            (own, "/t/cpu-os/release/deps/liba.rlib", false),
            (other, "/t/release/deps/liba.so", false),
            (other, "/t/cpu-os-2/release/deps/liba.rlib", false),
        ] {
            let message = json!({
                "reason": "compiler-artifact",
                "package_id": from,
                "manifest_path": "/s/a-1.0.0/Cargo.toml",
                "filenames": [file],
            });
            let expected = is_linked.then(|| PathBuf::from("/s/a-1.0.0"));
            assert_eq!(linked(&message, "cpu-os"), expected, "{from} {file}");
        }
        assert_eq!(
            linked(&json!({ "reason": "build-finished" }), "cpu-os"),
            None
        );
    }
}
