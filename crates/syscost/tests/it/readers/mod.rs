//! The tools that exports are meant for.
//!
//! DuckDB and prometheus_client are Python packages: the tests use `python3` from the PATH, and
//! `promtool` likewise. If one is missing its test says so and is skipped, unless
//! SYSCOST_REQUIRE_TOOLS is set, as in CI.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The output of a reader, parsed as JSON; an error if it is not installed.
pub(crate) fn python(
    script: &str,
    argument: &Path,
    input: &str,
    modules: &str,
) -> Result<Value, String> {
    if !starts("python3", &["-c", &format!("import {modules}")]) {
        return Err(missing(&format!("python3 with {modules}")));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/readers")
        .join(script);
    let mut command = Command::new("python3");
    command.arg(script).arg(argument);
    Ok(serde_json::from_str(&fed(command, input)).expect("JSON"))
}

/// Whether a program is installed and succeeds.
pub(crate) fn starts(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success())
}

/// An error if a program is not installed.
pub(crate) fn installed(program: &str) -> Result<(), String> {
    match starts(program, &["--version"]) {
        true => Ok(()),
        false => Err(missing(program)),
    }
}

/// Says that a reader is missing; fails if it must not be.
pub(crate) fn missing(reader: &str) -> String {
    assert!(
        std::env::var_os("SYSCOST_REQUIRE_TOOLS").is_none(),
        "{reader} is not installed, and SYSCOST_REQUIRE_TOOLS is set"
    );
    format!("{reader} is not installed")
}

/// Runs a command with this input and returns its output; it must succeed.
pub(crate) fn fed(mut command: Command, input: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the reader starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A reader that needs no input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the reader ends");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{command:?}: {stderr}{stdout}");
    stdout
}
