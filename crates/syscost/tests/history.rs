//! The stored runs as people use them: listed, followed, tagged, pruned.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use common::{Program, stamped};
use serde_json::Value;

/// A program that has stored this many runs, a day apart; from the 21st on `a.b` costs a fifth
/// more.
fn with_runs(count: u32) -> Program {
    let program = Program::new();
    let folder = runs(&program);
    fs::create_dir_all(&folder).expect("made");
    for day in 0..count {
        let median = f64::from(day % 3) + if day < 20 { 100.0 } else { 120.0 };
        let (id, document) = stamped(day, median);
        fs::write(folder.join(format!("{id}.json")), document.to_string()).expect("written");
    }
    program
}

fn runs(program: &Program) -> PathBuf {
    program.folder().join("syscost/runs")
}

fn files(program: &Program) -> usize {
    fs::read_dir(runs(program)).map_or(0, Iterator::count)
}

#[test]
fn the_latest_run_that_has_a_row_is_shown_where_a_later_one_lacks_it() {
    let program = with_runs(3);
    let (id, document) = stamped(3, 7.0);
    let other = document.to_string().replace("a.b", "e.f");
    fs::write(runs(&program).join(format!("{id}.json")), other).expect("written");
    let show = |arguments: &[&str]| {
        let all = [&["show"], arguments].concat();
        let output = program.command(&all).output().expect("it runs");
        (text(&output.stdout), text(&output.stderr))
    };
    let (shown, message) = show(&["latest", "a.b"]);
    assert!(shown.contains("a.b") || shown.contains("{c=d}"), "{shown}");
    assert!(
        message.contains("20260103") && message.contains("has no row called a.b"),
        "{message}"
    );
    // For what the very latest run has, or for a whole run, `latest` is the very latest.
    for arguments in [&["latest", "e.f"][..], &[]] {
        let (_, message) = show(arguments);
        assert_eq!(message, "", "{arguments:?}");
    }
    let (_, message) = show(&["latest", "g.h"]);
    assert!(message.contains("no row is called `g.h`"), "{message}");
}

#[test]
fn files_that_are_no_stored_run_do_not_hide_the_latest() {
    let program = with_runs(3);
    let (newest, document) = stamped(2, 7.0);
    let write = |name: &str, content: &str| {
        fs::write(runs(&program).join(name), content).expect("written");
    };
    let whole = document.to_string();
    let page = program.folder().join("page.html").display().to_string();
    write(
        "fio-result.json",
        r#"{"fio version": "fio-3.36", "jobs": []}"#,
    );
    write("20990101T000000Z-0.json", &whole[..whole.len() / 2]);
    write(&format!("{newest}-conflicted-copy.json"), &whole);
    for arguments in [
        &["show"][..],
        &["show", "latest"],
        &["numbers"],
        &["compare", "latest~1", "latest"],
        &["report", "latest", "-o", &page],
    ] {
        let output = program.run(arguments);
        let messages = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {messages}");
        for file in ["fio-result", "20990101T", "conflicted-copy"] {
            assert!(messages.contains(file), "{arguments:?}: {messages}");
        }
        assert!(messages.contains("skipped"), "{arguments:?}: {messages}");
    }
    let tagged = program.run(&["history", "tag", "latest", "mine"]);
    assert!(tagged.status.success(), "{}", text(&tagged.stderr));
    let list: Value = serde_json::from_slice(&program.run(&["history", "--format", "json"]).stdout)
        .expect("a list");
    assert_eq!(ids(&list)[0], newest);
    assert_eq!(list["runs"][0]["tags"], serde_json::json!(["mine"]));
    // Where none can be read, the reason is the newest one's.
    let only = Program::new();
    fs::create_dir_all(runs(&only)).expect("made");
    fs::write(runs(&only).join("1.json"), "{").expect("written");
    let output = only.run(&["show"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("1.json"));
}

#[test]
fn a_tag_that_begins_a_runs_id_is_refused() {
    let program = with_runs(2);
    let (first, _) = stamped(0, 1.0);
    let (second, _) = stamped(1, 1.0);
    let output = program.run(&["history", "tag", &first, &second[..8]]);
    let messages = text(&output.stderr);
    assert!(!output.status.success(), "{messages}");
    let sentence: Vec<&str> = messages.split_whitespace().collect();
    assert!(
        sentence.join(" ").contains("beginning of a run's id"),
        "{messages}"
    );
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ids(list: &Value) -> Vec<&str> {
    let runs = list["runs"].as_array().expect("runs");
    runs.iter()
        .map(|run| run["id"].as_str().expect("an id"))
        .collect()
}

#[test]
fn without_runs_the_list_says_what_to_do_and_makes_no_folder() {
    let program = Program::new();
    let output = program.run(&["history"]);
    assert!(output.status.success());
    assert_eq!(
        text(&output.stdout),
        "no run is kept yet; measure first: syscost run\n"
    );
    assert!(!program.folder().join("syscost").exists());
}

#[test]
fn the_newest_run_comes_first_and_a_damaged_file_is_said_once() {
    let program = with_runs(3);
    fs::write(
        runs(&program).join("broken.json"),
        "{\"schema_version\": 1,",
    )
    .expect("written");
    let output = program.run(&["history", "list", "--format", "json"]);
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        ids(&list),
        [stamped(2, 0.0).0, stamped(1, 0.0).0, stamped(0, 0.0).0]
    );
    assert_eq!(
        text(&output.stderr).lines().count(),
        1,
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stderr).contains("broken.json:1:21: the document ends too early"));
    let again = program.run(&["history"]);
    assert_eq!(text(&again.stderr), "");
    assert!(
        text(&again.stdout)
            .contains("skipped, because they are not readable runs: \"broken.json\"")
    );
    assert_eq!(files(&program), 4);
}

#[test]
fn a_step_is_shown_with_its_date() {
    let program = with_runs(40);
    let shown = text(
        &program
            .command(&["history", "show", "a.b"])
            .env("TZ", "UTC")
            .output()
            .expect("the binary starts")
            .stdout,
    );
    assert!(
        shown.contains("▲ 101 ns → 121 ns, +20 %, 2026-01-21: worse"),
        "{shown}"
    );
    let changes = text(&program.run(&["history", "changes"]).stdout);
    assert!(
        changes.contains("1 of 1 metrics changed over 40 runs"),
        "{changes}"
    );
    let series =
        &program.json(&["history", "show", "a.*", "--last", "12", "--format", "json"])["series"][0];
    assert_eq!(series["points"].as_array().map(Vec::len), Some(12));
    assert_eq!(series["changes"].as_array().map(Vec::len), Some(0));
    let since = program.json(&[
        "history",
        "show",
        "a",
        "--since",
        "2026-02-02",
        "--format",
        "json",
    ]);
    assert!(
        since["runs"]
            .as_u64()
            .is_some_and(|runs| (8..12).contains(&runs)),
        "{since}"
    );
    let unknown = program.run(&["history", "show", "no.such"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("no row is called `no.such` in 40 runs"));
    let near = program.run(&["history", "show", "syscall.nul"]);
    assert!(text(&near.stderr).contains("did you mean `syscall.null`"));
}

#[test]
fn a_tagged_run_is_found_and_not_pruned() {
    let program = with_runs(6);
    assert!(
        program
            .run(&["history", "tag", "latest~5", "baseline"])
            .status
            .success()
    );
    let list = program.json(&["history", "--format", "json"]);
    assert_eq!(list["runs"][5]["tags"][0], "baseline");
    let dry = text(
        &program
            .run(&["history", "prune", "--keep", "2", "--dry-run"])
            .stdout,
    );
    assert!(
        dry.contains("3 runs, ") && dry.contains("1 run with a tag stay"),
        "{dry}"
    );
    assert_eq!(files(&program), 6);
    let unasked = program
        .command(&["history", "prune", "--keep", "2"])
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    assert_eq!(unasked.status.code(), Some(2));
    assert!(text(&unasked.stderr).contains("no terminal to ask on; add --yes"));
    for unlimited in [&["--yes"][..], &["--tagged", "--yes"], &[]] {
        let output = program.run(&[&["history", "prune"], unlimited].concat());
        assert_eq!(output.status.code(), Some(2), "{unlimited:?}");
        assert!(text(&output.stderr).contains("--keep"), "{unlimited:?}");
    }
    assert_eq!(files(&program), 6);
    assert!(
        program
            .run(&["history", "prune", "--keep", "2", "--yes"])
            .status
            .success()
    );
    let list = program.json(&["history", "--format", "json"]);
    assert_eq!(
        ids(&list),
        [stamped(5, 0.0).0, stamped(4, 0.0).0, stamped(0, 0.0).0]
    );
    assert!(
        program
            .run(&["history", "untag", "baseline", "baseline"])
            .status
            .success()
    );
    let old = [
        "history",
        "prune",
        "--older-than",
        "1h",
        "--yes",
        "--format",
        "json",
    ];
    assert_eq!(program.json(&old)["removed"], true);
    assert_eq!(files(&program), 0);
}

#[test]
fn a_damaged_index_is_built_anew() {
    let program = with_runs(2);
    assert!(program.run(&["history"]).status.success());
    let index = program.folder().join("syscost/index.sqlite");
    let mut bytes = fs::read(&index).expect("it is there");
    bytes[..4096].fill(0x5a);
    fs::write(&index, bytes).expect("written");
    let output = program.run(&["history", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let list: Value = serde_json::from_slice(&output.stdout).expect("a list");
    assert_eq!(ids(&list).len(), 2);
    assert!(index.with_extension("sqlite.damaged").exists());
}

#[test]
fn an_index_of_a_newer_version_is_refused_in_one_line() {
    let program = with_runs(1);
    assert!(program.run(&["history"]).status.success());
    let index = program.folder().join("syscost/index.sqlite");
    let mut bytes = fs::read(&index).expect("read");
    // The header's user version, big-endian, is at byte 60.
    bytes[60..64].copy_from_slice(&7u32.to_be_bytes());
    fs::write(&index, &bytes).expect("written");
    let output = program.run(&["history"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.contains("index.sqlite was written by a newer syscost (version 7, this one knows 1)"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
    assert_eq!(fs::read(&index).expect("read"), bytes);
}
