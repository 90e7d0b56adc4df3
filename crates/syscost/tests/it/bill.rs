//! What a program asks of the kernel: counted, compared with what was counted before, priced.

use std::process::Command;

use serde_json::Value;

use crate::common::{Ended, Ending, Json, Program, or_skip};

/// Runs `bill` with these arguments, each as it is; an error where the machine does not let programs be
/// traced.
fn bill(program: &Program, arguments: &[&str]) -> Result<Ended, String> {
    let mut command = program.command("bill --time-limit 5 --budget 20");
    let ended = command.args(arguments).ended();
    let untraceable = "programs cannot be traced here";
    match ended.err.contains(untraceable) {
        true => Err(ended.err),
        false => Ok(ended),
    }
}

/// The counts of a program.
fn counted(program: &Program, words: &[&str]) -> Result<Value, String> {
    let arguments = [&["--counts-only", "--format", "json", "--"], words].concat();
    let run = bill(program, &arguments)?.ran().json();
    Ok(run["bill"].clone())
}

/// How often the uses of this name, or with this failure, were seen in each run.
fn times(bill: &Value, is_it: impl Fn(&Value) -> bool) -> Vec<f64> {
    let mut sums = Vec::new();
    for one in bill["uses"].list().iter().filter(|one| is_it(one)) {
        let counts = one["counts"].list();
        sums.resize(counts.len(), 0.0);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count.number();
        }
    }
    sums
}

#[test]
fn what_cannot_be_counted_is_refused_before_it_is() {
    let program = Program::new();
    let script = program.put("script", "no program");
    let folder = program.folder().display().to_string();
    for (words, said) in [
        (&["no-such-command-anywhere"][..], "there is no command"),
        (&[&folder], "it is a directory"),
        (&[&script], "nobody may execute it"),
        (&["false"], "--ignore-failure"),
        (&["sh", "-c", "kill -SEGV $$"], "signal: 11"),
        (
            &["sh", "-c", "sleep 100 & true"],
            "leaves processes running",
        ),
        (&["sleep", "100"], "--time-limit"),
        (&["yes"], "it prints more than"),
        (&[], "required"),
    ] {
        if let Ok(ended) = bill(&program, &[&["--counts-only", "--"], words].concat()) {
            ended.says(2, said);
        }
    }
    if let Ok(ended) = bill(&program, &["--pid", "4194999"]) {
        ended.says(2, "4194999");
    }
}

#[test]
fn calls_are_counted_by_what_became_of_them() {
    let program = Program::new();
    let file = program.put("file", "x".repeat(10_000));
    let bill = or_skip!(counted(&program, &["cat", &file, &file]));
    assert_eq!(bill["refuted"], Value::Null, "{bill:#}");
    let of_one = counted(&program, &["cat", &file]).expect("the first was counted");
    let is_opened = |one: &Value| one["name"] == "openat" && one["failed"] == Value::Null;
    let is_first_read = |one: &Value| one["name"] == "read" && one["variant"] == "first";
    let is_ever: [&dyn Fn(&Value) -> bool; 2] = [&is_opened, &is_first_read];
    for is_it in is_ever {
        let pairs = times(&bill, is_it).into_iter().zip(times(&of_one, is_it));
        let more: Vec<f64> = pairs.map(|(two, one)| two - one).collect();
        assert_eq!(more, [1.0; 3], "{bill:#}");
    }
    let written = bill["uses"]
        .list()
        .iter()
        .filter(|one| one["name"] == "write");
    let bytes: f64 = written.map(|one| one["bytes"][0].number()).sum();
    let spliced = times(&bill, |one| {
        one["name"] == "splice" || one["name"] == "copy_file_range"
    });
    assert!(bytes == 20_000.0 || !spliced.is_empty(), "{bill:#}");
    let faults = times(&bill, |one| one["name"] == "page fault");
    assert!(faults.iter().all(|count| *count > 10.0), "{bill:#}");
}

#[test]
fn the_counts_are_those_of_strace() {
    let program = Program::new();
    let report = program.folder().join("strace");
    let words = [
        "sh",
        "-c",
        "for i in 1 2 3; do /bin/true; done; ls /proc/self/fd > /dev/null",
    ];
    let strace = Command::new("strace")
        .args(["-f", "-c", "-U", "calls,name", "-o"])
        .arg(&report)
        .args(words)
        .stdout(std::process::Stdio::null())
        .status();
    if !strace.is_ok_and(|status| status.success()) {
        return println!("skipped: no strace that can trace here");
    }
    let bill = or_skip!(counted(&program, &words));
    let text = std::fs::read_to_string(&report).expect("its report");
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let count: f64 = words.next()?.parse().ok()?;
        Some((words.next()?, count)).filter(|(name, _)| *name != "total")
    });
    let mut compared = 0;
    for (name, count) in lines {
        let mut seen = times(&bill, |one| one["name"] == name);
        seen.dedup();
        assert_eq!(seen, [count], "{name}: {text}");
        compared += 1;
    }
    assert!(compared > 10, "{text}");
}

#[test]
fn counts_are_compared_with_earlier_ones_and_a_gate_goes_by_what_is_exact() {
    let program = Program::new();
    let file = program.put("file", "x");
    let ended = or_skip!(bill(
        &program,
        &["--tag", "before", "--counts-only", "--", "cat", &file],
    ));
    ended.succeeded();
    let gate = ["--against", "before", "--fail-on", "calls:1%", "--"];
    let again = |words: &[&str]| bill(&program, &[&gate, words].concat()).expect("as before");
    let same = again(&["cat", &file]).succeeded();
    same.prints("calls: as before");
    let more = again(&["cat", &file, &file, &file]).says(3, "");
    more.prints("% calls: ");
    more.prints("openat +2");
    // Another program has other calls, some of them new.
    let other = again(&["ls", &file]).says(3, "");
    other.prints("(new)");
    program
        .run("bill --against nothing true")
        .says(2, "nothing");
}

#[test]
fn a_program_that_notices_has_no_bill() {
    let program = Program::new();
    let script = "grep -q 'TracerPid:.0$' /proc/self/status && echo alone || echo traced";
    let words = ["--counts-only", "--", "sh", "-c", script];
    let printed = or_skip!(bill(&program, &words)).says(4, "").out;
    let refuted = "refuted: it ends or prints otherwise";
    assert!(printed.contains(refuted), "{printed}");
}

#[test]
fn it_ignores_what_whoever_started_it_has_it_ignore() {
    let program = Program::new();
    let script = r#"trap '' INT HUP; exec "$0" "$@""#;
    let mut words = vec!["-c", script];
    let bill =
        program.command("bill --counts-only -r 1 -- grep -q SigIgn:.*[37bf]$ /proc/self/status");
    let binary = bill.get_program().to_str().expect("a path");
    words.push(binary);
    words.extend(bill.get_args().map(|word| word.to_str().expect("a word")));
    let mut command = Command::new("sh");
    let ended = program.confine(&mut command).args(words).ended();
    match ended.err.contains("programs cannot be traced here") {
        true => println!("skipped: {}", ended.err.trim()),
        false => drop(ended.succeeded()),
    }
}

#[test]
fn nor_has_one_that_does_less_where_it_is_traced() {
    let program = Program::new();
    let until = "end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do :; done";
    let words = ["-r", "1", "--counts-only", "--", "sh", "-c", until];
    let ended = or_skip!(bill(&program, &words));
    match ended.out.contains("no run was counted that nothing traces") {
        true => println!("skipped: {}", ended.out),
        false => {
            let ended = ended.says(4, "");
            ended.prints("where nothing traces it");
        }
    }
}

#[test]
fn each_kind_has_the_price_that_was_measured() {
    let program = Program::new();
    let folder = program.folder().display().to_string();
    let ended = or_skip!(bill(
        &program,
        &["--format", "json", "-r", "1", "ls", &folder]
    ));
    let run = ended.ran().json();
    let uses = run["bill"]["uses"].list();
    let opened = uses
        .iter()
        .find(|one| one["name"] == "openat" && one["failed"] == Value::Null);
    let by = &opened.expect("it opens files")["priced_by"][0];
    let of = format!(
        "{}{{call={},displaced=0}}",
        by["row"].text(),
        by["of"].text()
    );
    let priced = run["measurements"]
        .list()
        .iter()
        .find(|row| row["name"] == *of);
    assert!(priced.is_some(), "{of}: {run:#}");
    let shown = program.run("show").succeeded();
    // What others leave of the time decides how many.
    let words = ["priced: ", "were not measured"];
    let says = words.iter().any(|words| shown.out.contains(words));
    assert!(says, "{}", shown.out);
}

#[test]
fn a_running_process_is_counted_and_goes_on() {
    let program = Program::new();
    let mut child = Command::new("sh")
        .args(["-c", "while :; do read line < /dev/null; kill -0 $$; done"])
        .spawn()
        .expect("a shell");
    let pid = child.id().to_string();
    let ended = bill(
        &program,
        &[
            "--pid",
            &pid,
            "--for",
            "0.5",
            "--format",
            "json",
            "--counts-only",
        ],
    );
    let is_alive = child.try_wait().expect("its state").is_none();
    child.kill().expect("it is a child");
    child.wait().expect("its end");
    let ended = or_skip!(ended);
    let run = ended.ran().json();
    let killed = times(&run["bill"], |one| one["name"] == "kill");
    assert!(
        killed.iter().all(|count| *count > 10.0) && !killed.is_empty(),
        "{run:#}"
    );
    assert!(is_alive);
}
