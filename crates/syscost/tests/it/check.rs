//! `syscost check`: its answers and exit codes, against runs that are good, slowed, foreign or
//! missing.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Ended, Ending, Json, Program, recorded};
use serde_json::{Value, json};

/// A row that has no noise to speak of, whatever else this machine does.
const ROW: &str = "syscall.null{call=getppid}";

/// Writes a baseline that expects this machine to need `factor` times what it needed.
fn keep(program: &Program, name: &str, run: &Value, factor: f64) {
    let mut run = run.clone();
    run["id"] = json!(name);
    let scale = |value: &mut Value| {
        if let Some(number) = value.as_f64() {
            *value = json!(number * factor);
        }
    };
    for row in run["measurements"].list_mut() {
        // What is doctored here is the cost; how it depends on the frequency stays out of it.
        for field in ["core_cycles", "core_share", "between_runs"] {
            row[field] = Value::Null;
        }
        for field in [
            "median",
            "raw_median",
            "ci95_low",
            "ci95_high",
            "min",
            "best",
        ] {
            scale(&mut row["estimate"][field]);
        }
        for round in row["samples"].as_array_mut().into_iter().flatten() {
            for field in ["values", "raw"] {
                let values = round.get_mut(field).and_then(Value::as_array_mut);
                values.into_iter().flatten().for_each(scale);
            }
        }
    }
    program.put(&format!("{name}.json"), run.to_string());
}

/// Checks one row, against a baseline of the data directory.
fn check(program: &Program, baseline: &str, options: &str) -> Ended {
    let arguments = format!("check --baseline {baseline} {ROW} {options}");
    let mut command = program.command(&arguments);
    command.current_dir(program.folder()).ended()
}

/// Whether the answer depends on what else this machine does now: then it must be that nobody can
/// tell, and the test has nothing more to say.
fn is_busy(ended: &Ended) -> bool {
    let is_busy = ended.code == Some(2);
    if is_busy {
        assert!(ended.out.starts_with("cannot tell: only "), "{ended:?}");
        println!("skipped: {}", ended.out);
    }
    is_busy
}

#[test]
#[ignore = "machine suite"]
fn a_machine_is_as_it_was_and_not_as_a_faster_one() {
    let program = Program::new();
    let run = program.json("run syscall.null --profile quick --no-save --format json");
    // Wide margins: what is tested is the answer, not this machine.
    keep(&program, "same", &run, 1.0);
    keep(&program, "faster", &run, 0.2);
    keep(&program, "slower", &run, 5.0);
    let files = || fs::read_dir(program.folder()).expect("a folder").count();
    let before = files();
    let same = check(&program, "same.json", "--margin 90%");
    if !is_busy(&same) {
        let line = "as it should be: 2 rows within 90 % of the baseline\n";
        assert_eq!(same.out, line);
        same.succeeded();
    }
    let slow = check(&program, "faster.json", "--margin 90%");
    if !is_busy(&slow) {
        let begin = format!("not as it should be: {ROW} is ");
        assert!(slow.out.starts_with(&begin), "{slow:?}");
        assert_eq!(slow.code, Some(1));
        assert!(slow.out.chars().count() <= 201 && slow.out.lines().count() == 1);
        for (format, code, begin) in [
            ("nagios", 1, "SYSCOST WARNING - not as it should be: "),
            ("npd", 1, ROW),
        ] {
            let ended = check(
                &program,
                "faster.json",
                &format!("--margin 90% --format {format}"),
            );
            assert!(ended.out.starts_with(begin), "{ended:?}");
            assert_eq!(ended.code, Some(code));
        }
        let ended = check(&program, "faster.json", "--margin 90% --format json").json();
        assert_eq!(ended["answer"], "not_as_it_should_be");
        assert_eq!(ended["worse"][0]["name"], ROW);
    }
    let fast = check(&program, "slower.json", "");
    if !is_busy(&fast) {
        fast.prints(", 1 better (");
        fast.succeeded();
    }
    assert_eq!(files(), before, "a check keeps nothing");
}

#[test]
fn nothing_is_said_against_a_baseline_of_another_processor() {
    let program = Program::new();
    let mut run = recorded();
    run["machine"]["cpu_model"] = json!("Imaginary 2000");
    let baseline = program.put("other.json", run.to_string());
    for (format, code) in [("line", 2), ("nagios", 3), ("npd", 2)] {
        let ended = check(&program, &baseline, &format!("--format {format}"));
        assert_eq!(ended.code, Some(code), "{ended:?}");
        ended.prints("cannot tell: the baseline is of a ");
    }
}

#[test]
fn what_is_no_baseline_is_an_answer_and_not_an_error() {
    let program = Program::new();
    program.put("foreign.json", "{}");
    for baseline in ["missing.json", "foreign.json", "no-such-tag", "."] {
        let ended = check(&program, baseline, "");
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(ended.out.starts_with("could not measure: "), "{ended:?}");
        assert_eq!(ended.out.lines().count(), 1, "{ended:?}");
        let ended = check(&program, baseline, "--format nagios");
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(ended.out.starts_with("SYSCOST UNKNOWN - "), "{ended:?}");
    }
    // Bad usage is not 2: that would be an answer.
    program.run("check").says(3, "--baseline");
    program
        .run("--quiet check --baseline x --format xml")
        .says(3, "xml");
}

#[test]
#[ignore = "machine suite"]
fn it_answers_in_time_even_if_the_baseline_never_can_be_read() {
    let program = Program::new();
    let pipe = program.folder().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return println!("skipped: no mkfifo here");
    }
    let begun = Instant::now();
    let ended = check(&program, "pipe", "");
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!(ended.out, "could not measure: no answer within 19 s\n");
    // The promise of the command, which this test is about.
    assert!(begun.elapsed() < Duration::from_secs(20));
}
