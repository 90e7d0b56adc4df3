//! Figures of another run beside the numbers, for every command that takes `--beside`.

mod common;

use std::process::Output;

use common::Program;
use serde_json::Value;

const RUN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/runs/quick.json"
);
const ROW: &str = "syscall.null{call=getppid}";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The standard output of a successful command.
fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_run_of_some_rows_has_figures_beside_them() {
    let program = Program::new();
    for more in [&[][..], &["-v"], &["--all"]] {
        let run = ["run", ROW, "--profile", "quick", "--beside", RUN];
        let table = printed(program.run(&[&run[..], more].concat()));
        assert!(
            table.contains("reference: ") && table.contains("  reference"),
            "{more:?}: {table}"
        );
    }
    // `latest` is the previous run, not the one being measured.
    let table = printed(program.run(&["run", ROW, "--profile", "quick", "--beside", "latest"]));
    let list = program.json(&["history", "--format", "json"]);
    let before = list["runs"][1]["id"].as_str().expect("an id");
    assert!(table.contains(&format!("reference: {before}")), "{table}");
    let without = printed(program.run(&["run", ROW, "--profile", "quick"]));
    assert!(!without.contains("reference"), "{without}");
}

#[test]
fn where_figures_have_no_place_they_are_refused_before_anything_is_measured() {
    let program = Program::new();
    for arguments in [
        &["run", ROW, "--beside", RUN, "--format", "json"][..],
        &["run", ROW, "--beside", RUN, "-o", "-"],
        &["show", RUN, "--beside", RUN, "--format", "json"],
        &["show", RUN, "--beside", RUN, "--format", "csv"],
    ] {
        let output = program.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        let complaint = text(&output.stderr);
        assert!(complaint.contains("--beside"), "{arguments:?}: {complaint}");
    }
}

#[test]
fn numbers_tell_the_figures_beside_them_in_a_document_too() {
    let program = Program::new();
    let numbers = |more: &[&str]| -> Value {
        program.json(&[&["numbers", RUN, "--format", "json"][..], more].concat())
    };
    let (alone, beside) = (numbers(&[]), numbers(&["--beside", RUN]));
    assert_eq!(alone["reference"], Value::Null);
    assert_eq!(beside["reference"], RUN);
    let lines = |document: &Value| document["numbers"].as_array().expect("lines").clone();
    assert!(
        lines(&alone)
            .iter()
            .all(|line| line["reference_ns"].is_null())
    );
    let with_time = |line: &&Value| line["median_ns"].is_f64();
    let lines = lines(&beside);
    assert!(lines.iter().filter(with_time).count() > 3);
    for line in lines.iter().filter(with_time) {
        let is_of_any_machine = !line["row"].as_str().is_some_and(|row| row.contains("dir="));
        if is_of_any_machine {
            assert_eq!(line["reference_ns"], line["median_ns"], "{line}");
        }
    }
    let table = printed(program.run(&["numbers", RUN, "--beside", "epyc-guest"]));
    assert!(table.contains("reference: epyc-guest"), "{table}");
}
