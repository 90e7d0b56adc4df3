//! Output to a closed pipe, a full disk, or standard output: it costs no measurement, and the exit
//! code stays the same.

use std::fs;

use crate::common::{Ended, Program, or_skip};
use serde_json::Value;

/// The output of bash for a command with that redirection, followed by the command's exit code.
fn redirected(program: &Program, command: &str, redirection: &str) -> Result<Ended, String> {
    let text = format!("$syscost {command} {redirection}; echo ${{PIPESTATUS[0]}}");
    program.script(&["bash"], &text)
}

/// A run of one cheap row.
const RUN: &str = "run --profile quick --no-save -o kept.json syscall.umask";

/// Asserts that the document which the run saved is complete.
fn assert_kept(program: &Program, redirection: &str) {
    let kept = fs::read(program.folder().join("kept.json"));
    let kept: Value = serde_json::from_slice(&kept.expect(redirection)).expect(redirection);
    assert_eq!(kept["complete"], true, "{redirection}");
    assert!(program.journals().is_empty(), "{redirection}");
}

#[test]
fn a_run_without_a_reader_is_saved_and_exits_as_usual() {
    for redirection in [
        "2>&1 | true",
        "2>/dev/full",
        "2>&- | true",
        "2> >(true) | true",
    ] {
        let program = Program::new();
        let output = or_skip!(redirected(&program, RUN, redirection));
        assert!(output.out.ends_with("0\n"), "{redirection}: {output:?}");
        assert_kept(&program, redirection);
    }
}

#[test]
fn a_table_that_cannot_be_written_is_an_error_and_the_run_is_kept() {
    let program = Program::new();
    let output = or_skip!(redirected(&program, RUN, ">/dev/full"));
    assert_eq!(output.out, "1\n", "{output:?}");
    let said = output.err;
    assert!(
        said.contains("error") && !said.contains("panicked"),
        "{said}"
    );
    assert_kept(&program, ">/dev/full");
}

#[test]
fn an_error_without_a_reader_keeps_its_exit_code() {
    let program = Program::new();
    for redirection in ["2>/dev/full", "2>&1 | true"] {
        let output = or_skip!(redirected(&program, "show no-such-run", redirection));
        assert_eq!(output.out, "2\n", "{redirection}: {output:?}");
    }
}

#[test]
fn standard_output_holds_one_document_where_it_is_asked_for() {
    for format in ["json", "table"] {
        let program = Program::new();
        let run = program.json(&format!(
            "run --profile quick --no-save --format {format} -o - syscall.umask"
        ));
        assert_eq!(run["measurements"][0]["name"], "syscall.umask", "{format}");
    }
}

#[test]
fn an_unwritable_path_is_reported_before_anything_is_measured() {
    let program = Program::new();
    for place in ["/proc/kept.json", "/tmp", "/no/such/folder/kept.json"] {
        let output = program.run(&format!("run --profile quick -o {place} syscall.umask"));
        assert_eq!(output.code, Some(2), "{place}: {output:?}");
        let said = output.err;
        assert!(
            said.contains("cannot be written") && !said.contains("measuring"),
            "{said}"
        );
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_no_death() {
    let program = Program::new();
    let run = "ulimit -f 1; $syscost run --profile quick syscall.umask; echo $?";
    let output = or_skip!(program.script(&["sh"], run));
    let table = output.out;
    assert!(table.contains("umask") && table.ends_with("1\n"), "{table}");
    let said = output.err;
    assert!(said.contains("too large"), "{said}");
}
