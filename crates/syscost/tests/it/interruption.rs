//! Ctrl-C and kill -9 lose at most the round in progress, and leave no process behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Ended, Json, Program, rows};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use syscost_harness::session::journal::{HEADERS, line};

/// Rows of a run that takes some seconds.
const SELECTION: &str = "run syscall --profile standard --format json --budget 20";

/// Starts a run and waits until its journal has records of this many workers. The caller waits for
/// its end.
#[allow(clippy::zombie_processes)]
fn start(program: &Program, workers: usize) -> (Child, PathBuf) {
    let child = program
        .command(SELECTION)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    loop {
        if let Some(journal) = program.journals().first()
            && lines(journal) >= HEADERS + workers
        {
            return (child, journal.clone());
        }
        sleep(Duration::from_millis(5));
    }
}

fn lines(path: &Path) -> usize {
    fs::read(path).map_or(0, |bytes| {
        bytes.iter().filter(|byte| **byte == b'\n').count()
    })
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Ids of a process's children.
fn children(pid: u32) -> Vec<u32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

fn is_running(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with('Z'))
    })
}

/// Rounds of all rows, as (row, round, first sample).
fn rounds(run: &Value) -> Vec<(String, u64, f64)> {
    rows(run)
        .iter()
        .flat_map(|row| {
            let name = row["name"].as_str().unwrap_or_default().to_owned();
            row["samples"]
                .as_array()
                .into_iter()
                .flatten()
                .map(move |round| {
                    let first = round["values"][0].as_f64().unwrap_or(f64::NAN);
                    (
                        name.clone(),
                        round["round"].as_u64().unwrap_or(u64::MAX),
                        first,
                    )
                })
        })
        .collect()
}

/// The rounds in the journal, in the same form.
fn journaled(journal: &Path) -> Vec<(String, u64, f64)> {
    let text = fs::read_to_string(journal).expect("the journal is there");
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut found = Vec::new();
    for line in whole.lines() {
        let json = line::unsealed(line.as_bytes()).expect("a whole line");
        let record: Value = serde_json::from_slice(json).expect("JSON");
        // The header is not a round.
        let Some(round) = record["round"].as_u64() else {
            continue;
        };
        for case in record["cases"].list() {
            if let Some(first) = case[1]["Ok"]["values"][0].as_f64() {
                let name = format!(
                    "{}{}",
                    record["benchmark"].as_str().unwrap_or_default(),
                    case[0].as_str().unwrap_or_default()
                );
                found.push((name, round, first));
            }
        }
    }
    found
}

#[cfg(feature = "doctor")]
#[test]
fn ctrl_c_ends_the_interference_meter_with_its_summary() {
    use std::io::{BufRead, BufReader, Read};

    let program = Program::new();
    for (argument, code) in [("--watch", 0), ("--watch=60", 130)] {
        let mut child = program
            .command(&format!("doctor {argument}"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        out.read_line(&mut line).expect("a first line");
        kill_process(pid(&child), Signal::INT).expect("it can be interrupted");
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("the rest");
        let status = child.wait().expect("it can be waited for");
        assert_eq!(status.code(), Some(code), "{line}{rest}");
        // An empty line separates the lines from the summary.
        assert!(rest.lines().any(str::is_empty), "{rest}");
    }
}

#[test]
#[ignore = "machine suite"]
fn a_closed_terminal_sends_more_than_one_signal_and_the_run_is_kept() {
    let program = Program::new();
    let (mut child, _) = start(&program, 10);
    // Nothing can be printed any more.
    drop(child.stdout.take());
    for _ in 0..2 {
        kill_process(pid(&child), Signal::HUP).expect("it is there");
        sleep(Duration::from_millis(1));
    }
    let status = child.wait().expect("it can be waited for");
    assert_eq!(status.code(), Some(130));
    let kept = fs::read_dir(program.folder().join("syscost/runs")).expect("it is there");
    assert_eq!(kept.count(), 1);
}

#[test]
#[ignore = "machine suite"]
fn a_killed_run_is_resumed_without_loss_and_leaves_no_process() {
    let program = Program::new();
    let (mut child, journal) = start(&program, 40);
    let workers = children(child.id());
    kill_process(pid(&child), Signal::KILL).expect("the run can be killed");
    child.wait().expect("it can be waited for");
    for worker in workers {
        let mut patience = 400;
        while is_running(worker) && patience > 0 {
            sleep(Duration::from_millis(5));
            patience -= 1;
        }
        assert!(
            !is_running(worker),
            "worker {worker} survived its coordinator"
        );
    }
    let before = journaled(&journal);
    assert!(!before.is_empty());

    let run = program.json(&format!("run --resume {} --format json", journal.display()));
    assert_eq!(run["config"]["resumed"], 1);
    let after = rounds(&run);
    for round in &before {
        assert!(after.contains(round), "{round:?} was lost");
    }
    assert!(after.len() > before.len(), "the resumed run measured on");
    // On a machine with other users the budget may end before all rows have their rounds.
    let is_complete = run["complete"].as_bool().expect("a flag");
    assert_eq!(
        journal.exists(),
        !is_complete,
        "only a complete run needs no journal"
    );
}

#[test]
fn ctrl_c_keeps_what_is_done() {
    let program = Program::new();
    let (child, journal) = start(&program, 1);
    while journaled(&journal).is_empty() {
        sleep(Duration::from_millis(5));
    }
    kill_process(pid(&child), Signal::INT).expect("the run can be interrupted");
    let output = Ended::from(child.wait_with_output().expect("it can be waited for"));
    assert_eq!(output.code, Some(130));
    let run = output.json();
    assert_eq!(run["complete"], false);
    // A row that others on its CPU have refuted in its only process shows no samples.
    let is_withheld = |row: &Value| row["status"] == "withheld";
    assert!(
        !rounds(&run).is_empty() || rows(&run).iter().any(is_withheld),
        "{run:#}"
    );
    assert!(journal.exists(), "it can be resumed");
}

#[test]
#[ignore = "machine suite"]
fn a_living_runs_journal_cannot_be_taken() {
    let program = Program::new();
    let (mut child, journal) = start(&program, 1);
    let output = program.run(&format!("run --resume {}", journal.display()));
    child.kill().expect("the run can be killed");
    child.wait().expect("it can be waited for");
    assert_eq!(output.code, Some(1));
    assert!(output.err.contains("still going on"));
}
