//! Two programs or environments, really measured in turn.

use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Json, Program, row, rows};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn read(path: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("the document is written")).expect("JSON")
}

fn rounds(run: &Value, name: &str) -> Vec<u64> {
    row(run, name)["samples"]
        .list()
        .iter()
        .filter_map(|round| round["round"].as_u64())
        .collect()
}

#[test]
#[ignore = "machine suite"]
fn a_slowdown_in_an_environment_is_found() {
    let program = Program::new();
    let files = ["a", "b"].map(|side| program.folder().join(format!("{side}.json")));
    let comparison = program.json(&format!("ab selftest.slowdown --profile quick --b-env SYSCOST_TEST_SLOWDOWN=200 --a-env HOME --format json --output-a {} --output-b {}", files[0].display(), files[1].display()));
    let [a, b] = files.each_ref().map(|file| read(file));
    assert_eq!(
        a["config"]["environment"],
        serde_json::json!({ "HOME": null })
    );
    assert_eq!(
        b["config"]["environment"],
        serde_json::json!({ "SYSCOST_TEST_SLOWDOWN": "200" })
    );
    assert_ne!(a["id"], b["id"]);
    for name in [
        "selftest.slowdown{of=getppid}",
        "selftest.slowdown{of=fstat}",
    ] {
        assert_eq!(rounds(&a, name), rounds(&b, name), "{name}");
        let compared = comparison["rows"]
            .as_array()
            .and_then(|rows| rows.iter().find(|row| row["name"] == name))
            .unwrap_or_else(|| panic!("{name} is compared: {comparison:#}"));
        let ratio = compared["ratio"].number();
        // Three times the operations; a loop of system calls consists of little else.
        assert!((2.0..4.0).contains(&ratio), "{compared}");
        assert_eq!(compared["verdict"], "worse", "{compared}");
    }
    assert!(
        !program.folder().join("syscost/runs").exists(),
        "neither is kept in the history"
    );
    assert!(program.journals().is_empty());
}

#[test]
fn another_build_measures_its_side_and_a_stranger_is_refused() {
    let program = Program::new();
    let file = program.folder().join("b.json");
    let own = env!("CARGO_BIN_EXE_syscost");
    program.json(&format!(
        "ab syscall.umask --profile quick --b {own} --format json --output-b {}",
        file.display()
    ));
    let b = read(&file);
    assert_eq!(b["config"]["program"], own);
    assert_eq!(b["tool"]["version"], env!("CARGO_PKG_VERSION"));

    program
        .run("ab syscall.umask --b /bin/true")
        .says(2, "/bin/true does not answer as syscost does");
}

#[test]
#[ignore = "machine suite"]
fn ctrl_c_compares_what_is_done() {
    let program = Program::new();
    let files = ["a", "b"].map(|side| program.folder().join(format!("{side}.json")));
    // On a busy machine the first round may take long.
    let is_kept = [4, 8, 16, 32].into_iter().any(|seconds| {
        interrupt_after(&program, &files, Duration::from_secs(seconds));
        files.iter().all(|file| {
            let run = read(file);
            assert_eq!(run["complete"], false);
            let rounds = |row: &Value| row["estimate"]["rounds"].as_u64();
            rows(&run).iter().any(|row| rounds(row) > Some(0))
        })
    });
    assert!(is_kept, "what was measured stays");
}

/// Interrupts an `ab` that would take long, and expects it to say so.
fn interrupt_after(program: &Program, files: &[PathBuf; 2], time: Duration) {
    let begun = Instant::now();
    let child = program
        .command("ab syscall.umask syscall.null --profile careful")
        .arg("--output-a")
        .arg(&files[0])
        .arg("--output-b")
        .arg(&files[1])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    sleep(time);
    kill_process(Pid::from_child(&child), Signal::INT).expect("it lives");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(
        output.status.code(),
        Some(130),
        "after {:?}",
        begun.elapsed()
    );
}
