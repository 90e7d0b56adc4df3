//! Two programs or environments, really measured in turn.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Ending, Json, Program, row};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

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
    let comparison = program
        .command("ab selftest.slowdown --profile quick --tag slow --format json")
        .args(["--b-wrapper", "env SYSCOST_TEST_SLOWDOWN=200"])
        .ended()
        .json();
    let [a, b] = ["slow-a", "slow-b"].map(|tag| program.json(&format!("show {tag} --format json")));
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
    assert!(program.journals().is_empty());
}

#[test]
fn another_build_measures_its_side_and_a_stranger_is_refused() {
    let program = Program::new();
    let own = env!("CARGO_BIN_EXE_syscost");
    program.json(&format!(
        "ab syscall.umask --profile quick --b {own} --tag own --format json"
    ));
    let b = program.json("show own-b --format json");
    assert_eq!(b["config"]["program"], own);
    assert_eq!(b["tool"]["version"], env!("CARGO_PKG_VERSION"));

    // Without a B there is nothing to find but chance.
    for bare in ["ab", "ab syscall.umask", "ab --b-wrapper="] {
        let refused = program.run(bare).says(2, "there is no B to compare with");
        for way in ["--b PROGRAM", "--b-wrapper '", "ab -- CMD -- CMD"] {
            assert!(refused.err.contains(way), "{way}: {}", refused.err);
        }
    }
    program
        .run("ab syscall.umask --b /bin/true")
        .says(2, "/bin/true does not answer as syscost does");
}

#[test]
#[ignore = "machine suite"]
fn ctrl_c_compares_what_is_done() {
    let program = Program::new();
    // On a busy machine the first round may take long.
    let mut times = [4, 8, 16, 32].map(Duration::from_secs).into_iter();
    let is_compared = times.any(|time| {
        let text = interrupt_after(&program, time);
        text.contains("rows compared") && !text.starts_with("0 rows")
    });
    assert!(is_compared, "what was measured until then");
    assert_eq!(
        program.json("history --format json")["runs"],
        serde_json::json!([])
    );
}

/// Interrupts an `ab` that would take long, and returns what it prints.
fn interrupt_after(program: &Program, time: Duration) -> String {
    let begun = Instant::now();
    let child = program
        .command("ab syscall.umask syscall.null --profile careful --tag long")
        .args(["--b", env!("CARGO_BIN_EXE_syscost")])
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
    String::from_utf8_lossy(&output.stdout).into_owned()
}
