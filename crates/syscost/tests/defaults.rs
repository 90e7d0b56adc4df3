//! Which run and which rows a command means where they are not named.

mod common;

use std::fs;
use std::process::Command;

use common::Program;

const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/runs/quick.json"
);

/// A data directory with these runs, alike but for their ids.
fn with_runs(ids: &[&str]) -> Program {
    let program = Program::new();
    let folder = program.folder().join("syscost/runs");
    fs::create_dir_all(&folder).expect("a folder");
    let document = fs::read_to_string(RUN).expect("the fixture");
    for id in ids {
        let mut run: serde_json::Value = serde_json::from_str(&document).expect("JSON");
        run["id"] = (*id).into();
        fs::write(folder.join(format!("{id}.json")), run.to_string()).expect("written");
    }
    program
}

const OLD: &str = "20260101T000000Z-1";
const NEW: &str = "20260102T000000Z-2";

/// Exit code, standard output and standard error.
fn run(program: &Program, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = program.command(arguments);
    let output = command
        .current_dir(program.folder())
        .output()
        .expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn where_no_run_is_named_the_latest_is_meant() {
    let program = with_runs(&[OLD, NEW]);
    let (code, _, said) = run(&program, &["report"]);
    assert_eq!(code, Some(0), "{said}");
    let page = fs::read_to_string(program.folder().join("report.html")).expect("a page");
    assert!(page.contains(NEW) && !page.contains(OLD));
    let (code, text, said) = run(&program, &["compare"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.contains(OLD) && text.contains(NEW), "{text}");
    let (code, text, said) = run(&program, &["compare", OLD]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.contains(OLD) && text.contains(NEW), "{text}");
    let (code, text, said) = run(&program, &["export", "--format", "csv"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.contains(NEW) && !text.contains(OLD), "{text}");
}

#[test]
fn rows_without_a_run_are_those_of_the_latest() {
    let program = with_runs(&[OLD, NEW]);
    for words in [&["syscall.null"][..], &["null", "system", "call"]] {
        let (code, text, said) = run(&program, &[&["plot"], words].concat());
        assert_eq!(code, Some(0), "{words:?}: {said}");
        assert!(text.contains("call=getppid"), "{text}");
    }
    let (code, text, said) = run(&program, &["plot", "numbers"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(text.contains("System call"), "{text}");
    let exported = |words: &[&str]| {
        let (code, text, said) = run(&program, &[&["export", "--format", "csv"], words].concat());
        assert_eq!(code, Some(0), "{words:?}: {said}");
        text
    };
    let all = exported(&[]);
    let some = exported(&["syscall"]);
    assert!(some.lines().count() > 3 && some.lines().count() < all.lines().count());
    assert!(
        some.lines().skip(1).all(|line| line.contains(",syscall.")),
        "{some}"
    );
    assert_eq!(exported(&["latest", "syscall"]), some);
    let both = exported(&[OLD, NEW, "syscall"]);
    assert_eq!(both.lines().count() - 1, 2 * (some.lines().count() - 1));
    let one = exported(&["syscall.null", "--case", "call=getppid"]);
    assert_eq!(one.lines().count(), 2, "{one}");
    let (code, _, said) = run(&program, &["plot"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("name what to draw"), "{said}");
}

#[test]
fn a_run_behind_its_rows_is_told_where_it_goes() {
    let program = with_runs(&[OLD]);
    for command in [&["show"][..], &["plot"], &["export", "--format", "csv"]] {
        let (code, _, said) = run(&program, &[command, &["syscall", "latest"]].concat());
        assert_eq!(code, Some(2));
        let order = format!(
            "the run goes before its rows: syscost {} latest syscall",
            command[0]
        );
        assert!(said.contains(&order), "{said}");
        let (code, _, said) = run(&program, &[command, &["zebra"]].concat());
        assert_eq!(code, Some(2));
        assert!(said.contains("no kept run called `zebra`"), "{said}");
    }
}

#[test]
fn a_history_of_nothing_says_that_nothing_is_kept() {
    let program = Program::new();
    let (code, _, said) = run(&program, &["history", "show", "syscall.null"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("no run is kept yet; measure first: syscost run"),
        "{said}"
    );
}

#[test]
fn a_group_is_explained_by_what_its_benchmarks_measure() {
    let program = Program::new();
    let (code, text, said) = run(&program, &["explain", "ipc"]);
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "A group of ",
        "syscost list ipc",
        "ipc.round_trip",
        "ipc.bandwidth",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_a_pipe_gets_is_as_wide_as_the_terminal_beside_it() {
    let program = with_runs(&[OLD]);
    let line = format!(
        "stty rows 30 cols 70 <&2; {} show {OLD} syscall.null | cat >out.txt",
        env!("CARGO_BIN_EXE_syscost")
    );
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("XDG_DATA_HOME", program.folder())
        .env_remove("COLUMNS")
        .current_dir(program.folder())
        .output();
    let Ok(output) = output.inspect_err(|error| println!("skipped: script: {error}")) else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(program.folder().join("out.txt")).expect("the table");
    assert!(text.contains("getppid"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 70, "{line}");
    }
}
