//! Running the real binary in a data folder of its own.
#![allow(dead_code)] // each test file uses its part

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A data folder, and the binary that keeps its runs there.
pub(crate) struct Program {
    folder: TempDir,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_syscost"));
        command
            .args(arguments)
            .env("XDG_DATA_HOME", self.folder.path())
            .env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    /// Runs, expects success and exactly one JSON document on standard output.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?} exited with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).expect("standard output is one JSON document")
    }

    /// The journals of unfinished runs.
    pub(crate) fn journals(&self) -> Vec<std::path::PathBuf> {
        std::fs::read_dir(self.folder.path().join("syscost/journals"))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default()
    }
}

/// The row of this name.
pub(crate) fn row<'a>(run: &'a Value, name: &str) -> &'a Value {
    rows(run)
        .iter()
        .find(|row| row["name"] == name)
        .unwrap_or_else(|| panic!("no row {name}"))
}

/// All rows.
pub(crate) fn rows(run: &Value) -> &Vec<Value> {
    run["measurements"]
        .as_array()
        .expect("measurements is an array")
}
