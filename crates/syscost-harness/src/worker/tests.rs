//! A worker that misbehaves costs one row, and nothing of it survives.
//!
//! The test has a process of its own: a launcher ends everything that its process started, which
//! would be the children of other tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::clock::ClockCost;
use crate::pass::Pass;
use crate::profile::Effort;
use crate::worker::{ClockSettings, Interrupted, Job, JobCase, Launcher, Outcome, Program};

/// Set in the process of its own.
const ALONE: &str = "SYSCOST_TEST_ALONE";

fn job(cases: usize) -> Job {
    Job {
        benchmark: "syscall.null".into(),
        cases: (0..cases)
            .map(|case| JobCase {
                instead: None,
                suffix: format!("{{n={case}}}"),
                iterations: None,
                may_defer: false,
                is_audited: false,
            })
            .collect(),
        keeps_order: false,
        pass: Pass::Timed,
        time_limit_s: 20.0,
        effort: Effort {
            samples: 5,
            warm_up_ns: 0.0,
            batch_ns: 1e4,
            case_ns: 1e6,
            patience_ns: 0.0,
            singles: 200,
            second_witness: false,
        },
        clock: ClockSettings {
            source: "clock_gettime".into(),
            ticks_per_ns: 1.0,
            cost: ClockCost {
                step_ns: 1.0,
                read_ns: 20.0,
            },
        },
        cpu: 0,
        candidates: Vec::new(),
        allowed: vec![0],
        cores: Default::default(),
        targets: Default::default(),
        programs: Vec::new(),
        commands: Vec::new(),
        seed: 1,
        stack_offset: 0,
        parent: std::process::id(),
    }
}

/// A shell script that acts as the worker.
fn script(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("worker.sh");
    fs::write(&path, format!("#!/bin/sh\nread job\n{body}\n")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

fn program(folder: &Path, body: &str) -> Program {
    Program {
        wrapper: Vec::new(),
        is_other: true,
        binary: script(folder, body),
        environment: vec![
            ("SYSCOST_TEST_SET".to_owned(), Some("given".to_owned())),
            ("HOME".to_owned(), None),
        ],
        about: None,
    }
}

fn run(folder: &Path, body: &str, cases: usize) -> Result<Outcome, Interrupted> {
    launched(program(folder, body), cases)
}

fn launched(program: Program, cases: usize) -> Result<Outcome, Interrupted> {
    let interrupted = AtomicBool::new(false);
    let launcher = Launcher::new(program, Duration::from_millis(500), &interrupted);
    launcher.run(&job(cases), 100, None)
}

fn failure(outcome: &Outcome, case: usize) -> String {
    match &outcome.results[case] {
        Some(Err(failure)) => failure.to_string(),
        other => panic!("expected a failure, got {other:?}"),
    }
}

fn is_running(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with('Z'))
    })
}

#[test]
fn a_misbehaving_worker_costs_one_row_and_leaves_nothing() {
    let name = concat!(
        "worker::tests::",
        "a_misbehaving_worker_costs_one_row_and_leaves_nothing"
    );
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().expect("a path"));
        let alone = alone.args(["--exact", name]).env(ALONE, "");
        let output = alone.output().expect("started");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && out.contains("1 passed"), "{out}");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let ready = r#"echo '"ready"'; echo '{"begin":0}'"#;

    let crash = run(folder, &format!("{ready}; echo why >&2; kill -SEGV $$"), 2).expect("ran");
    assert_eq!(failure(&crash, 0), "the worker was ended by signal 11: why");
    assert!(
        crash.results[1].is_none(),
        "the second case goes to another worker"
    );

    let exit = run(folder, &format!("{ready}; exit 3"), 1).expect("ran");
    assert_eq!(failure(&exit, 0), "the worker exited with 3");

    let hang = run(folder, &format!("{ready}; sleep 1000"), 1).expect("ran");
    assert!(failure(&hang, 0).starts_with("still running after"));

    let half_a_line = run(
        folder,
        &format!(r#"{ready}; printf '{{"done'; sleep 1000"#),
        1,
    )
    .expect("ran");
    assert!(failure(&half_a_line, 0).starts_with("still running after"));

    let garbage = run(folder, &format!("{ready}; echo hello there; sleep 1000"), 1).expect("ran");
    assert_eq!(failure(&garbage, 0), "the worker said `hello there`");

    let unknown = run(folder, &format!(r#"{ready}; echo '{{"begin":7}}'"#), 1).expect("ran");
    assert!(
        failure(&unknown, 0).contains("spoke of a case 7"),
        "{}",
        failure(&unknown, 0)
    );

    let lost = format!("{ready}; sleep 1000 & kill -KILL $!; exec sleep 1000");
    let lost = run(folder, &lost, 1).expect("ran");
    assert!(
        failure(&lost, 0).ends_with("was killed by signal 9, which syscost did not send"),
        "{}",
        failure(&lost, 0)
    );

    // It kills one itself, and is off the CPU for a while before it waits for it.
    let stopped = format!(
        "{ready}; sleep 1000 & kill -KILL $!
        (sleep 0.3; kill -CONT $$) & kill -STOP $$; wait; exit 3"
    );
    let interrupted = AtomicBool::new(false);
    let launcher = Launcher::new(
        program(folder, &stopped),
        Duration::from_secs(20),
        &interrupted,
    );
    let stopped = launcher.run(&job(1), 100, None).expect("ran");
    assert_eq!(failure(&stopped, 0), "the worker exited with 3");

    let environment = run(
        folder,
        &format!(r#"{ready}; echo "$SYSCOST_TEST_SET ${{HOME-taken}}""#),
        1,
    )
    .expect("ran");
    assert_eq!(failure(&environment, 0), "the worker said `given taken`");

    let closes = run(folder, &format!("{ready}; exec >&-; sleep 1000"), 1).expect("ran");
    assert!(
        failure(&closes, 0).contains("signal 9"),
        "{}",
        failure(&closes, 0)
    );

    let ends_early = run(folder, "echo sorry >&2; exit 7", 2).expect("ran");
    for case in 0..2 {
        assert_eq!(
            failure(&ends_early, case),
            "a worker ended before it could begin (exit status: 7): sorry"
        );
    }
    let second = folder.join("second");
    let begins_late = format!(
        "test -e {second} || {{ touch {second}; exit 7; }}; {ready}; echo nonsense",
        second = second.display()
    );
    let begins_late = run(folder, &begins_late, 1).expect("ran");
    assert_eq!(failure(&begins_late, 0), "the worker said `nonsense`");
    let gone = program(folder, "");
    fs::remove_file(&gone.binary).expect("there");
    let gone = launched(gone, 1).expect("ran");
    assert!(
        failure(&gone, 0).contains("starting a worker process"),
        "{}",
        failure(&gone, 0)
    );

    let pids = folder.join("pids");
    let family = format!(
        "{ready}; (setsid sleep 1000 & echo $! >> {pids}); sleep 1000 & echo $! >> {pids}; wait",
        pids = pids.display()
    );
    run(folder, &family, 1).expect("ran");
    for pid in fs::read_to_string(&pids).expect("both wrote").lines() {
        assert!(!is_running(pid), "process {pid} survived its worker");
    }
}
