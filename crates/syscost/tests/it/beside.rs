//! Figures of another run beside the numbers, for every command that takes `--beside`.

use crate::common::{Json, Program, RUN};
use serde_json::Value;

const ROW: &str = "syscall.null{call=getppid}";

#[test]
fn a_run_of_some_rows_has_figures_beside_them() {
    let program = Program::new();
    let printed = |arguments: &str| program.run(arguments).ran().out;
    let run = format!("run {ROW} --profile quick --all --beside {RUN}");
    for command in [
        run,
        format!("show --beside {RUN}"),
        format!("show -v --beside {RUN}"),
    ] {
        let table = printed(&command);
        let has_column = table.contains("reference: ") && table.contains("  reference");
        assert!(has_column, "{command}: {table}");
    }
    // `latest` is the previous run, not the one being measured.
    let table = printed(&format!("run {ROW} --profile quick --beside latest"));
    let list = program.json("history --format json");
    let before = list["runs"][1]["id"].text();
    assert!(table.contains(&format!("reference: {before}")), "{table}");
    let without = printed(&format!("run {ROW} --profile quick"));
    assert!(!without.contains("reference"), "{without}");
}

#[test]
fn where_figures_have_no_place_they_are_refused_before_anything_is_measured() {
    let program = Program::new();
    for arguments in [
        format!("run {ROW} --beside {RUN} --format json"),
        format!("run {ROW} --beside {RUN} -o -"),
        format!("show {RUN} --beside {RUN} --format json"),
    ] {
        let refused = program.run(&arguments).says(2, "--beside");
        assert_eq!(refused.out, "", "{arguments}");
    }
}

#[test]
fn numbers_tell_the_figures_beside_them_in_a_document_too() {
    let program = Program::new();
    let alone = program.json(&format!("numbers {RUN} --format json"));
    let beside = program.json(&format!("numbers {RUN} --format json --beside {RUN}"));
    assert_eq!(alone["reference"], Value::Null);
    assert_eq!(beside["reference"], RUN);
    let lines = |document: &Value| document["numbers"].list().clone();
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
    let table = program.run(&format!("numbers {RUN} --beside epyc-guest"));
    let table = table.succeeded().out;
    assert!(table.contains("reference: epyc-guest"), "{table}");
}
