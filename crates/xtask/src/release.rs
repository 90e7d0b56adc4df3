//! Builds the release binary of syscost.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace;

/// The binary's path, once it is built as `cargo build --release` does, with additional arguments for cargo and, if given, these `RUSTFLAGS`.
///
/// # Errors
/// If it cannot be built; cargo prints why.
pub fn build(arguments: &[&str], rustflags: Option<&str>) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--release"])
        .args(["--package", "syscost", "--bin", "syscost"])
        .args(["--message-format", "json-render-diagnostics"])
        .args(arguments)
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
    let mut path = None;
    for line in BufReader::new(output).lines() {
        path = executable(&line.context("reading cargo's messages")?).or(path);
    }
    if !child.wait().context("waiting for cargo")?.success() {
        bail!("the release could not be built; cargo says why above");
    }
    path.context("cargo named no binary called syscost")
}

/// The binary named by one of cargo's messages, if it is syscost's.
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    if message["target"]["name"] != "syscost" {
        return None;
    }
    message["executable"].as_str().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_binary_itself_is_taken_from_cargos_messages() {
        let library =
            r#"{"reason":"compiler-artifact","target":{"name":"syscost"},"executable":null}"#;
        let other =
            r#"{"reason":"compiler-artifact","target":{"name":"xtask"},"executable":"/t/xtask"}"#;
        let binary = r#"{"reason":"compiler-artifact","target":{"name":"syscost"},"executable":"/t/syscost"}"#;
        assert_eq!(executable(library), None);
        assert_eq!(executable(other), None);
        assert_eq!(executable("warning: not JSON"), None);
        assert_eq!(executable(binary), Some(PathBuf::from("/t/syscost")));
    }
}
