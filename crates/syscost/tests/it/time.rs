//! Commands of the user's own: what is refused before it is measured, what is counted, and what is compared.

use serde_json::Value;

use crate::common::{Ended, Ending, Json, Program, or_skip, row};

/// Runs `time` with these arguments, each as it is.
fn time(program: &Program, arguments: &[&str]) -> Ended {
    let mut command = program.command("time --budget 10 --time-limit 5");
    command.args(arguments).ended()
}

/// The document of such a run.
fn measured(program: &Program, arguments: &[&str]) -> Value {
    let ended = time(program, &[&["--format", "json"], arguments].concat());
    ended.ran().json()
}

/// What was noted or claimed of a row by these words, as the document has it.
fn evidence<'r>(row: &'r Value, claim: &str) -> &'r Value {
    let mut all = row["evidence"].list().iter();
    let found = all.find(|one| one["claim"] == claim);
    found.unwrap_or_else(|| panic!("no {claim}: {row:#}"))
}

/// The processes in whose command line this mark of a test is, and that line.
fn running(mark: &str) -> Vec<(i32, String)> {
    let processes = std::fs::read_dir("/proc").expect("readable").flatten();
    let all = processes.filter_map(|one| {
        let id = one.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(one.path().join("cmdline")).ok()?;
        Some((id, String::from_utf8_lossy(&line).into_owned()))
    });
    all.filter(|(_, line)| line.contains(mark)).collect()
}

#[test]
fn what_cannot_be_measured_is_refused_before_it_is() {
    let program = Program::new();
    let script = program.put("script", "no program");
    let folder = program.folder().display().to_string();
    for (command, words) in [
        ("no-such-command-anywhere", "there is no command"),
        (&*folder, "it is a directory"),
        (&script, "nobody may execute it"),
        ("false", "--ignore-failure"),
        ("sh -c 'kill -SEGV $$'", "signal: 11"),
        (
            "sleep 100 & true",
            "leaves processes running when it ends (sleep)",
        ),
        ("'", "a quotation mark is not closed"),
        ("", "a command is empty"),
        ("sleep 100", "--time-limit"),
        ("yes", "it prints more than"),
        ("yes >&2", "it prints more than"),
    ] {
        let ended = match command {
            "'" => time(&program, &["-N", command]),
            command if command.contains("SEGV") => time(&program, &["-N", command]),
            command => time(&program, &[command]),
        };
        ended.says(2, words);
    }
    let kept = program.folder().join("syscost/runs");
    assert!(!kept.exists(), "nothing was measured");
}

#[test]
fn what_lets_a_command_pass_whose_output_varies_is_said() {
    let program = Program::new();
    let varies = time(&program, &["--no-save", "date +%N"]);
    varies.says(4, "--output null leaves its output uncompared");
    let steady = time(&program, &["--no-save", "true"]).ran();
    assert!(!steady.err.contains("--output null"), "{}", steady.err);
}

#[test]
fn a_command_is_counted_as_the_kernel_sees_it() {
    let program = Program::new();
    program.put("input", "x".repeat(100_000));
    let input = program.folder().join("input").display().to_string();
    let run = measured(&program, &["--input", &input, "--runs", "3", "cat"]);
    let cat = row(&run, "command.cpu{command=cat}");
    // What it reads until nothing is left, and what it prints, besides what its start reads.
    let moved = |name: &str| evidence(cat, name)["observed"].number();
    assert!(
        (100_000.0..200_000.0).contains(&moved("read_bytes")),
        "{cat:#}"
    );
    assert_eq!(moved("written_bytes"), 100_000.0);
    let is_audited = !cat["flags"]
        .list()
        .iter()
        .any(|flag| flag == "partly_unverified");
    if is_audited {
        assert_eq!(moved("execve system calls per operation"), 1.0);
        assert_eq!(moved("tasks that made system calls"), 1.0);
        assert!(moved("read system calls per operation") >= 2.0);
    }
    let output = evidence(cat, "output of each run");
    assert!(
        output["observed"].text().starts_with("100000 B"),
        "{output}"
    );
    for samples in cat["samples"].list() {
        assert_eq!(samples["values"].list().len(), 1, "--runs");
        let memory = samples["also"]["peak_bytes"][0].number();
        assert!((1e5..1e7).contains(&memory), "a small program: {memory}");
    }
    assert_eq!(cat["samples"].list().len(), 3);
}

#[test]
fn another_output_or_end_withholds_the_number() {
    let program = Program::new();
    let counter = program.folder().join("counter").display().to_string();
    let counts = format!("echo x >> {counter}; wc -l < {counter}");
    let run = measured(&program, &[&counts]);
    let rows = run["measurements"].list();
    assert_eq!(rows[0]["status"], "withheld", "{run:#}");
    assert_eq!(
        evidence(&rows[0], "output of each run")["verdict"],
        "Refuted"
    );
    // Where it is not compared there is a number.
    let run = measured(&program, &["--output", "null", &counts]);
    assert_ne!(run["measurements"][0]["status"], "withheld");
    std::fs::remove_file(&counter).expect("it was written");
    let fails = format!("echo x >> {counter}; test $(wc -l < {counter}) -lt 2");
    let run = measured(&program, &["--ignore-failure", &fails]);
    assert_eq!(run["measurements"][0]["status"], "withheld", "{run:#}");
}

#[test]
fn steps_precede_each_run_and_files_are_warm_or_cold() {
    let program = Program::new();
    let [log, data] = ["log", "data"].map(|name| program.folder().join(name));
    std::fs::write(&data, vec![7; 1 << 20]).expect("written");
    let [log, data] = [log, data].map(|path| path.display().to_string());
    let step = |word: &str| format!("echo {word} >> {log}");
    let [setup, cleanup, prepare] = ["setup", "cleanup", "prepare"].map(step);
    let steps = [
        "--setup",
        &setup,
        "--cleanup",
        &cleanup,
        "--prepare",
        &prepare,
    ];
    let runs = ["--warmup", "2", "--runs", "2", "--warm", &data];
    let command = format!("cat {data}");
    measured(&program, &[&steps[..], &runs, &[&command]].concat());
    let written = std::fs::read_to_string(&log).expect("written");
    let steps: Vec<&str> = written.lines().collect();
    assert_eq!(
        (steps[0], *steps.last().expect("some")),
        ("setup", "cleanup")
    );
    let prepared = steps.iter().filter(|step| **step == "prepare").count();
    // The first try, two to warm up, two that are counted, two that are timed, the first of which is audited, too.
    assert!((7..=8).contains(&prepared), "{steps:?}");
}

#[test]
fn values_take_the_place_of_names_and_results_are_in_hyperfines_form() {
    let program = Program::new();
    let json = program.folder().join("out.json");
    let export = json.display().to_string();
    let arguments = ["-L", "word", "a,b{", "-P", "n", "1", "2", "--runs", "1"];
    let ended = time(
        &program,
        &[
            &arguments[..],
            &["--export-json", &export, "echo {word} {n}"],
        ]
        .concat(),
    );
    let printed = ended.ran();
    printed.prints("echo b{ 2");
    let text = std::fs::read_to_string(&json).expect("written");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    let results = written["results"].list();
    let commands: Vec<&str> = results.iter().map(|one| one["command"].text()).collect();
    assert_eq!(commands, ["echo a 1", "echo a 2", "echo b{ 1", "echo b{ 2"]);
    for one in results {
        let [mean, user, system] = ["mean", "user", "system"].map(|key| one[key].number());
        assert!(mean > 0.0 && user >= 0.0 && system >= 0.0, "{one}");
        assert_eq!(one["times"].list().len(), 1);
        assert_eq!(one["exit_codes"], serde_json::json!([0]));
    }
}

#[test]
fn commands_of_a_run_are_compared_and_read_as_other_rows_are() {
    let program = Program::new();
    let [little, much] = [
        "i=0; while [ $i -lt 200 ]; do i=$((i+1)); done",
        "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done",
    ];
    let arguments = [
        "-n", "little", "-n", "much", "--runs", "8", "--tag", "loops", little, much,
    ];
    let printed = time(&program, &arguments).ran();
    printed.prints("slower: much takes");
    let gated = time(
        &program,
        &[&arguments[..], &["--fail-on", "worse:20%"]].concat(),
    );
    assert_eq!(gated.code, Some(3), "{}{}", gated.out, gated.err);
    let shown = program.run("show loops command").succeeded();
    shown.prints("command=much");
    let csv = program.run("export loops --format csv").succeeded();
    csv.prints("command.memory{command=little}");
    let explained = program.run("explain command.cpu").succeeded();
    explained.prints("CPU time");
}

#[test]
fn who_tries_a_command_elsewhere_is_told_of_it() {
    let program = Program::new();
    for line in [
        "run -- ls -l",
        "run ./prog",
        "bench ls",
        "stat ls",
        "exec ls",
    ] {
        program.run(line).says(2, "syscost time");
    }
}

#[test]
fn a_command_has_what_it_would_have_without_syscost() {
    let program = Program::new();
    // A broken pipe ends who writes into it; nothing but standard input, output and error is open; its process group is
    // its own, so that it may end that; its environment is the same each time.
    for command in [
        "while :; do echo y; done | head -1",
        "ls /proc/self/fd | wc -l",
        "trap 'kill 0' EXIT; true",
        "env",
    ] {
        let run = measured(&program, &["--runs", "2", "--ignore-failure", command]);
        let row = &run["measurements"][0];
        assert_eq!(row["status"], "ok", "{command}: {row:#}");
    }
    let listed = time(
        &program,
        &["--show-output", "--runs", "1", "ls /proc/self/fd"],
    )
    .ran();
    let open: Vec<&str> = listed.out.lines().filter(|line| line.len() == 1).collect();
    // `ls` has the folder open as well.
    assert!(
        !open.is_empty()
            && open
                .iter()
                .all(|number| ["0", "1", "2", "3"].contains(number)),
        "{}",
        listed.out
    );
}

#[test]
fn what_others_started_is_let_alone() {
    let program = Program::new();
    let mark = format!("{}.{}", std::process::id(), "6133");
    // A child of the shell that becomes syscost, and what a step leaves running.
    let text = format!(
        "sleep {mark} >/dev/null 2>&1 & before=$!; \
         (exec $syscost time --no-save --budget 5 --runs 1 --setup 'sleep {mark} & echo $! > step' true) >/dev/null; code=$?; \
         kill -0 $before && kill $before $(cat step) && echo both, $code"
    );
    let ended = or_skip!(program.script(&["sh", "-c"], &text));
    assert_eq!(ended.out.trim(), "both, 0", "{}", ended.err);
    let text = format!(
        "sleep {mark} >/dev/null 2>&1 & exec $syscost time --no-save --budget 5 --runs 1 true"
    );
    let ended = program
        .script(&["sh", "-c"], &text)
        .expect("the shell is there");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let left = running(&mark);
    assert_eq!(left.len(), 1, "it still runs, and is this test's: {left:?}");
    let id = rustix::process::Pid::from_raw(left[0].0).expect("a process");
    rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("it is ours");
}

#[test]
fn ctrl_c_ends_a_command_and_what_it_started() {
    let program = Program::new();
    let mark = format!("{}.{}", std::process::id(), "7127");
    let mut command = program.command("time --no-save --time-limit 60");
    command.arg(format!(
        "trap '' INT TERM; sleep {mark} & sleep {mark}; true"
    ));
    let child = command
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn();
    let child = child.expect("started");
    let sleeps = |(_, line): &(i32, String)| line.starts_with("sleep");
    while running(&mark).into_iter().filter(sleeps).count() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is ours");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(running(&mark), []);
}

#[test]
fn nothing_is_left_running_or_in_files() {
    let program = Program::new();
    let mark = format!("{}.{}", std::process::id(), "5071");
    time(
        &program,
        &[
            "--time-limit",
            "1",
            &format!("sh -c 'sleep {mark} & sleep {mark}'"),
        ],
    )
    .says(2, "--time-limit");
    let left = running(&mark);
    assert!(left.is_empty(), "{left:?}");
    let left = std::fs::read_dir(program.temporary());
    assert_eq!(left.map_or(0, |entries| entries.count()), 0);
}
