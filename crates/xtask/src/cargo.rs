//! What cargo builds: the release, the tests.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
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

/// The release binary's path, once it is built as `cargo build --release` does, with additional arguments for cargo and, if given, these `RUSTFLAGS`.
///
/// # Errors
/// If it cannot be built; cargo prints why.
pub fn release(arguments: &[&str], rustflags: Option<&str>) -> Result<PathBuf> {
    let of_program = [
        "build",
        "--release",
        "--package",
        "syscost",
        "--bin",
        "syscost",
    ];
    let built = built(&[&of_program, arguments].concat(), rustflags)?;
    let program = built.into_iter().find(|one| one.target == "syscost");
    Ok(program
        .context("cargo named no binary called syscost")?
        .path)
}

/// The programs that cargo has built when called with these arguments and, if given, these `RUSTFLAGS`.
///
/// # Errors
/// If something cannot be built; cargo prints why.
pub fn built(arguments: &[&str], rustflags: Option<&str>) -> Result<Vec<Built>> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(arguments)
        .args(["--quiet", "--message-format", "json-render-diagnostics"])
        .current_dir(workspace::root())
        .stdout(Stdio::piped());
    if let Some(flags) = rustflags {
        cargo.env("RUSTFLAGS", flags);
    }
    let mut child = cargo.spawn().context("starting cargo")?;
    let output = child
        .stdout
        .take()
        .context("cargo has no standard output")?;
    let mut built = Vec::new();
    for line in BufReader::new(output).lines() {
        built.extend(program(&line.context("reading cargo's messages")?));
    }
    let status = child.wait().context("waiting for cargo")?;
    ensure!(
        status.success(),
        "`cargo {}` failed; it says why above",
        arguments.join(" ")
    );
    Ok(built)
}

/// The program that one of cargo's messages names, if it does.
fn program(message: &str) -> Option<Built> {
    let message: Value = serde_json::from_str(message).ok()?;
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    Some(Built {
        path: message["executable"].as_str()?.into(),
        target: message["target"]["name"].as_str()?.to_owned(),
        package: manifest.parent()?.to_owned(),
        is_test: message["profile"]["test"] == true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_taken_from_cargos_messages_and_nothing_else() {
        let message = |executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml",
                "target":{{"name":"syscost"}},"profile":{{"test":true}},"executable":{executable}}}"#
            )
        };
        for (message, expected) in [
            (message("null"), None),
            ("warning: not JSON".to_owned(), None),
            (
                message(r#""/t/syscost""#),
                Some(Built {
                    path: "/t/syscost".into(),
                    target: "syscost".to_owned(),
                    package: "/w/crates/a".into(),
                    is_test: true,
                }),
            ),
        ] {
            assert_eq!(program(&message), expected, "{message}");
        }
    }
}
