//! Runs the real binary with a separate data directory.

pub(crate) mod browser;
pub(crate) mod comparing;
pub(crate) mod nfs;
pub(crate) mod server;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A real run, recorded on another machine.
pub(crate) const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/runs/quick.json"
);

/// A data directory, and the binary that stores its runs there.
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

    /// The binary with these arguments, which are separated by spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_syscost"));
        command
            .args(arguments.split_whitespace())
            .env("XDG_DATA_HOME", self.folder.path())
            .env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Ended {
        self.command(arguments).ended()
    }

    /// The output of a shell script in which `$syscost` is the binary, run in the data directory;
    /// `None`, with a message, if there is no such shell.
    pub(crate) fn script(&self, shell: &[&str], text: &str) -> Option<Ended> {
        let output = Command::new(shell[0])
            .args(&shell[1..])
            .args(["-c", text])
            .env("syscost", env!("CARGO_BIN_EXE_syscost"))
            .env("XDG_DATA_HOME", self.folder())
            .current_dir(self.folder())
            .output()
            .inspect_err(|error| println!("skipped: {}: {error}", shell[0]));
        output.ok().map(Ended::from)
    }

    /// Runs, expects success and exactly one JSON document on standard output.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        self.run(arguments).succeeded().json()
    }

    /// The journals of unfinished runs.
    pub(crate) fn journals(&self) -> Vec<std::path::PathBuf> {
        std::fs::read_dir(self.folder.path().join("syscost/journals"))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default()
    }
}

/// A program that has ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

impl Ended {
    /// Asserts that its exit code is 0.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// Asserts that it has this exit code, and says these words on standard error.
    #[track_caller]
    pub(crate) fn says(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.err.contains(words), "no `{words}`: {}", self.err);
        self
    }

    /// The document on its standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let document = serde_json::from_str(&self.out);
        document.unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// Waiting for the end of what is to be started.
pub(crate) trait Ending {
    /// Starts it, and waits for its end.
    fn ended(&mut self) -> Ended;
}

impl Ending for Command {
    #[track_caller]
    fn ended(&mut self) -> Ended {
        self.output().expect("the program starts").into()
    }
}

/// The row with this name.
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

/// Id and text of a small run document with one row, `a.b`, measured `day` days after the beginning
/// of 2026.
pub(crate) fn stamped(day: u32, median: f64) -> (String, Value) {
    let (month, day_of_month) = (1 + day / 31, 1 + day % 31);
    let id = format!("2026{month:02}{day_of_month:02}T120000Z-{day}");
    let document = serde_json::json!({
        "schema_version": 1, "tool": {"name": "syscost", "version": "0.1.0"},
        "id": id, "started": format!("2026-{month:02}-{day_of_month:02}T12:00:00Z"), "duration_s": 1.5, "complete": true,
        "machine": {"hostname": "here", "cpu_model": "Imaginary", "build": {"profile": "release"}},
        "clock": {"source": "tsc", "ghz": 2.6, "step_ns": 0.7, "read_ns": 12.3, "drift_ppm": null, "health": []},
        "core_ghz": null, "noise": [],
        "config": {
            "profile": "quick", "budget_s": 9.0, "seed": 1, "cpus": [1], "selectors": [], "min_rounds": 6,
            "max_rounds": 6, "samples_per_round": 20, "worker_start_ms": null, "resumed": 0
        },
        "warnings": [],
        "measurements": [{
            "name": "a.b{c=d}", "id": "a.b", "case": {"c": "d"}, "title": "A", "unit": "ns", "better": "lower",
            "status": "ok", "reason": null,
            "estimate": {
                "median": median, "ci95_low": median, "ci95_high": median, "min": 1.0, "mad": 0.5, "p99": null,
                "raw_median": null, "rounds": 6, "samples": 6
            },
            "core_cycles": null, "flags": [], "evidence": []
        }]
    });
    (id, document)
}
