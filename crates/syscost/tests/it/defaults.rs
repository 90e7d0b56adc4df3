//! Which run and which rows a command means where they are not named.

use std::fs;
use std::process::Command;

use crate::common::{Ended, Ending, Json, Program, or_skip, recorded};

/// A data directory with these runs, alike but for their ids.
fn with_runs(ids: &[&str]) -> Program {
    let program = Program::new();
    for id in ids {
        let mut run = recorded();
        run["id"] = (*id).into();
        program.keep(&run);
    }
    program
}

const OLD: &str = "20260101T000000Z-1";
const NEW: &str = "20260102T000000Z-2";

/// Runs in the data directory.
fn run(program: &Program, arguments: &str) -> Ended {
    let mut command = program.command(arguments);
    command.current_dir(program.folder()).ended()
}

#[test]
fn where_no_run_is_named_the_latest_is_meant() {
    let program = with_runs(&[OLD, NEW]);
    run(&program, "report").succeeded();
    let page = fs::read_to_string(program.folder().join("report.html")).expect("a page");
    assert!(page.contains(NEW) && !page.contains(OLD));
    for compare in ["compare", &format!("compare {OLD}")] {
        let text = run(&program, compare).succeeded().out;
        assert!(text.contains(OLD) && text.contains(NEW), "{text}");
    }
    let text = run(&program, "export --format csv").succeeded().out;
    assert!(text.contains(NEW) && !text.contains(OLD), "{text}");
}

#[test]
fn without_names_runs_of_the_same_rows_are_compared() {
    let program = with_runs(&[OLD]);
    let alone = run(&program, "compare").says(2, "only one run is kept");
    assert!(!alone.err.contains("latest~1"), "{}", alone.err);
    let keep = |id: &str, group: &str, selectors: &[&str]| {
        let mut run = recorded();
        (run["id"], run["config"]["selectors"]) = (id.into(), selectors.into());
        let of_group = |row: &serde_json::Value| row["id"].text().starts_with(group);
        run["measurements"].list_mut().retain(of_group);
        program.keep(&run);
    };
    let compared = |said: &str| {
        let compared = run(&program, "compare --format json").says(0, said);
        let document = compared.json();
        [&document["base"], &document["new"]].map(|side| side["runs"][0].text().to_owned())
    };
    // Of rows in common, if there is none of the same.
    let [syscall, op, again] = [
        "20260103T000000Z-3",
        "20260104T000000Z-4",
        "20260105T000000Z-5",
    ];
    keep(syscall, "syscall.", &["syscall"]);
    assert_eq!(compared(""), [OLD, syscall]);
    keep(op, "op.", &["op"]);
    assert_eq!(
        compared("with rows in common; passed over: 20260103T000000Z-3 (run syscall)."),
        [OLD, op]
    );
    keep(again, "syscall.", &["syscall"]);
    let passed =
        "the latest earlier one of the same rows; passed over: 20260104T000000Z-4 (run op).";
    assert_eq!(compared(passed), [syscall, again]);
    keep("20260106T000000Z-6", "zebra.", &["zebra"]);
    run(&program, "compare").says(2, "no earlier run has rows of the latest");
    run(&program, "history").prints("run op");
}

#[test]
fn a_group_is_shown_of_a_run_of_it_and_not_of_a_study() {
    let program = with_runs(&[OLD]);
    let mut study = recorded();
    study["id"] = NEW.into();
    let rows = study["measurements"].list_mut();
    rows.retain(|row| row["id"] == "syscall.null" || row["id"] == "syscall.lseek");
    let procedure = "study.three_costs.clock_read";
    (rows[0]["id"], rows[0]["name"]) = (procedure.into(), procedure.into());
    rows[0]["case"] = serde_json::json!({});
    let names: Vec<serde_json::Value> = rows.iter().map(|row| row["name"].clone()).collect();
    let own = names[1].text().to_owned();
    study["config"]["selectors"] = names.into();
    program.keep(&study);
    run(&program, "history").prints("study three-costs");
    let shown = |words: &str| run(&program, &format!("show {words}")).succeeded().err;
    for words in ["syscall", "latest syscall", "null system call"] {
        let told = shown(words);
        assert!(
            told.contains("was to repeat study three-costs"),
            "{words}: {told}"
        );
    }
    // What is named as such is shown.
    for words in ["", procedure, "study", &own] {
        assert_eq!(shown(words), "", "{words}");
    }
}

#[test]
fn rows_without_a_run_are_those_of_the_latest() {
    let program = with_runs(&[OLD, NEW]);
    for (plot, part) in [
        ("plot syscall.null", "call=getppid"),
        ("plot null system call", "call=getppid"),
        ("plot numbers", "System call"),
    ] {
        let text = run(&program, plot).succeeded().out;
        assert!(text.contains(part), "{text}");
    }
    let exported = |words: &str| {
        let export = format!("export --format csv {words}");
        run(&program, &export).succeeded().out
    };
    let all = exported("");
    let some = exported("syscall");
    assert!(some.lines().count() > 3 && some.lines().count() < all.lines().count());
    assert!(
        some.lines().skip(1).all(|line| line.contains(",syscall.")),
        "{some}"
    );
    assert_eq!(exported("latest syscall"), some);
    let both = exported(&format!("{OLD} {NEW} syscall"));
    assert_eq!(both.lines().count() - 1, 2 * (some.lines().count() - 1));
    let one = exported("syscall.null{call=getppid}");
    assert_eq!(one.lines().count(), 2, "{one}");
    run(&program, "plot").says(2, "name what to draw");
}

#[test]
fn a_run_behind_its_rows_is_told_where_it_goes() {
    let program = with_runs(&[OLD]);
    for (command, options) in [("show", ""), ("plot", ""), ("export", "--format csv")] {
        let order = format!("the run goes before its rows: syscost {command} latest syscall");
        run(&program, &format!("{command} {options} syscall latest")).says(2, &order);
        run(&program, &format!("{command} {options} zebra")).says(2, "no kept run called `zebra`");
    }
}

#[test]
fn a_history_of_nothing_says_that_nothing_is_kept() {
    let program = Program::new();
    run(&program, "history syscall.null").says(2, "no run is kept yet; measure first: syscost run");
}

#[test]
fn a_group_is_explained_by_what_its_benchmarks_measure() {
    let program = Program::new();
    let text = run(&program, "explain ipc").succeeded().out;
    for part in [
        "First look",
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
    let output = program
        .confine(&mut Command::new("script"))
        .args(["-qec", &line, "/dev/null"])
        .env_remove("COLUMNS")
        .current_dir(program.folder())
        .output();
    let output = or_skip!(output);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(program.folder().join("out.txt")).expect("the table");
    assert!(text.contains("getppid"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 70, "{line}");
    }
}
