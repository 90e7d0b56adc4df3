//! Runs the real binary with directories of its own, which vanish with the test.

pub(crate) mod browser;
pub(crate) mod comparing;
#[cfg(feature = "nfs")]
pub(crate) mod nfs;
pub(crate) mod server;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Once};

use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use syscost_results::fixture;
pub(crate) use syscost_sys::or_skip;
use syscost_sys::process;
use tempfile::TempDir;

/// A real run, recorded on another machine.
pub(crate) const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/runs/quick.json"
);

/// The same as a document.
pub(crate) fn recorded() -> Value {
    serde_json::from_slice(&fs::read(RUN).expect("the recorded run")).expect("JSON")
}

/// The rows of the recorded run with these ids, as if no others had been asked for. What a test
/// edits is this, never what this machine measures in this hour.
pub(crate) fn recorded_of(ids: &[&str]) -> Value {
    let mut run = recorded();
    run["config"]["selectors"] = ids.into();
    let rows = run["measurements"].list_mut();
    rows.retain(|row| ids.iter().any(|id| row["id"] == *id));
    run
}

/// By which a development build sees the cores as they are told to be.
pub(crate) const CORES: &str = "SYSCOST_FORCE_CORES";

/// The binary under test: cargo's, or the one that SYSCOST_TEST_PROGRAM names, such as a release with all parts.
fn binary() -> PathBuf {
    let given = env::var_os("SYSCOST_TEST_PROGRAM").map(PathBuf::from);
    given.unwrap_or_else(|| env!("CARGO_BIN_EXE_syscost").into())
}

/// Has programs hear what ends them, though this one may be to ignore that, as what is started by `nohup` or a
/// script's `&`: a signal that it catches is as usual where another program begins.
fn hear_signals() {
    static HEARD: Once = Once::new();
    HEARD.call_once(|| {
        let ignored = [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| process::ignores(*signal));
        for signal in ignored {
            signal_hook::flag::register(signal, Arc::default()).expect("it can be caught");
        }
    });
}

/// A directory for data, caches and temporary files, and the binary that keeps to it.
pub(crate) struct Program {
    folder: TempDir,
}

impl Program {
    pub(crate) fn new() -> Self {
        hear_signals();
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("tmp")).expect("a folder in it");
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The binary with these arguments, which are separated by spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments.split_whitespace())
            .env_remove("NO_COLOR");
        self.confine(&mut command);
        command
    }

    /// Has a command write into this directory only, and see cores of its own at any hour: only the
    /// machine suite sees those that are there.
    pub(crate) fn confine<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if env::var_os("XTASK_MACHINE").is_none() && env::var_os(CORES).is_none() {
            command.env(CORES, "own");
        }
        command
            .env("XDG_DATA_HOME", self.folder())
            .env("XDG_CACHE_HOME", self.folder())
            .env("TMPDIR", self.temporary())
    }

    /// Where it has its temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder().join("tmp")
    }

    /// Keeps a document as the program keeps a run.
    pub(crate) fn keep(&self, run: &Value) {
        let id = run["id"].text();
        self.put(&format!("syscost/runs/{id}.json"), run.to_string());
    }

    /// Writes a file, and the folders it is in; returns its path.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, content).expect("written");
        path.display().to_string()
    }

    pub(crate) fn run(&self, arguments: &str) -> Ended {
        self.command(arguments).ended()
    }

    /// The output of a shell script in which `$syscost` is the binary, run in the data directory;
    /// an error if there is no such shell.
    pub(crate) fn script(&self, shell: &[&str], text: &str) -> Result<Ended, String> {
        let output = self
            .confine(&mut Command::new(shell[0]))
            .args(&shell[1..])
            .args(["-c", text])
            .env("syscost", env!("CARGO_BIN_EXE_syscost"))
            .current_dir(self.folder())
            .output();
        let output = output.map_err(|error| format!("{}: {error}", shell[0]))?;
        Ok(output.into())
    }

    /// Runs, expects success and exactly one JSON document on standard output.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        self.run(arguments).succeeded().json()
    }

    /// The document of a run, which may have come to any result.
    pub(crate) fn measure(&self, arguments: &str) -> Value {
        self.run(arguments).ran().json()
    }

    /// The journals of unfinished runs.
    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        fs::read_dir(self.folder.path().join("syscost/journals"))
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

    /// Asserts that a run came to its end as usual. What others left it to measure, if anything, is
    /// a matter of the hour.
    #[track_caller]
    pub(crate) fn ran(self) -> Self {
        assert!(matches!(self.code, Some(0 | 4)), "{}{}", self.out, self.err);
        self
    }

    /// Whether the build lacks a part that this asked for; the test is skipped then, and fails where the program was given for it.
    pub(crate) fn lacks(&self, part: &str) -> bool {
        let lacks = self.code == Some(2) && self.err.contains(&format!("--features {part}"));
        assert!(
            !lacks || env::var_os("SYSCOST_TEST_PROGRAM").is_none(),
            "{}",
            self.err
        );
        if lacks {
            println!("skipped: {}", self.err);
        }
        lacks
    }

    /// Asserts that it has this exit code, and says these words on standard error.
    #[track_caller]
    pub(crate) fn says(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.err.contains(words), "no `{words}`: {}", self.err);
        self
    }

    /// Asserts that it says these words on standard output.
    #[track_caller]
    pub(crate) fn prints(&self, words: &str) {
        assert!(
            self.out.contains(words),
            "no `{words}`: {}{}",
            self.out,
            self.err
        );
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

/// What a document must be at a place.
pub(crate) trait Json {
    fn list(&self) -> &Vec<Value>;
    fn list_mut(&mut self) -> &mut Vec<Value>;
    fn text(&self) -> &str;
    fn number(&self) -> f64;
}

impl Json for Value {
    #[track_caller]
    fn list(&self) -> &Vec<Value> {
        self.as_array().unwrap_or_else(|| panic!("no list: {self}"))
    }

    #[track_caller]
    fn list_mut(&mut self) -> &mut Vec<Value> {
        self.as_array_mut().expect("a list")
    }

    #[track_caller]
    fn text(&self) -> &str {
        self.as_str().unwrap_or_else(|| panic!("no text: {self}"))
    }

    #[track_caller]
    fn number(&self) -> f64 {
        self.as_f64().unwrap_or_else(|| panic!("no number: {self}"))
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
    run["measurements"].list()
}

/// Id and text of a small run document with one row, `a.b`, measured `day` days after the beginning
/// of 2026.
pub(crate) fn stamped(day: u32, median: f64) -> (String, Value) {
    let (month, day_of_month) = (1 + day / 31, 1 + day % 31);
    let id = format!("2026{month:02}{day_of_month:02}T120000Z-{day}");
    let mut run = fixture::run(&id, vec![fixture::valued("a.b{c=d}", median)]);
    run.started = format!("2026-{month:02}-{day_of_month:02}T12:00:00Z");
    (run.machine.hostname, run.machine.cpu_model) = ("here".to_owned(), "Imaginary".to_owned());
    (id, serde_json::to_value(run).expect("JSON"))
}
