//! The tools that exports are for.
//!
//! DuckDB and prometheus_client are Python packages: the tests take the `python3` on the PATH, and `promtool` from there too.
//! Where one is missing its test says so and is skipped, unless SYSCOST_REQUIRE_TOOLS is set, as it is in CI.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a reader prints, as JSON; `None` if it is not installed.
pub(crate) fn python(script: &str, argument: &Path, input: &str, modules: &str) -> Option<Value> {
    if !starts("python3", &["-c", &format!("import {modules}")]) {
        return missing(&format!("python3 with {modules}"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/readers")
        .join(script);
    let mut command = Command::new("python3");
    command.arg(script).arg(argument);
    Some(serde_json::from_str(&fed(command, input)).expect("JSON"))
}

/// Whether a program is there and ends well.
pub(crate) fn starts(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Says that a reader is missing; fails where it must not be.
pub(crate) fn missing<T>(reader: &str) -> Option<T> {
    assert!(
        std::env::var_os("SYSCOST_REQUIRE_TOOLS").is_none(),
        "{reader} is not installed, and SYSCOST_REQUIRE_TOOLS is set"
    );
    println!("skipped: {reader} is not installed");
    None
}

/// Runs a command with this input and gives its output; it must succeed.
pub(crate) fn fed(mut command: Command, input: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the reader starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A reader that needs no input may be gone already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the reader ends");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{command:?}: {stderr}{stdout}");
    stdout
}
