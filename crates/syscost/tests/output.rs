//! Where output goes: to nobody, to a full disk, to standard output. It costs no measurement, and the exit code stays.

mod common;

use std::fs;
use std::process::{Command, Output};

use common::Program;
use serde_json::Value;

/// A run of one cheap row with that redirection, by bash; what it printed ends with its exit code. `None` where there is no bash.
fn run(program: &Program, redirected: &str) -> Option<Output> {
    let run = "$syscost run --profile quick --no-save -o kept.json syscall.umask";
    let output = Command::new("bash")
        .args([
            "-c",
            &format!("{run} {redirected}; echo ${{PIPESTATUS[0]}}"),
        ])
        .env("syscost", env!("CARGO_BIN_EXE_syscost"))
        .env("XDG_DATA_HOME", program.folder())
        .current_dir(program.folder())
        .output();
    match output {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: bash: {error}");
            None
        }
    }
}

/// The document that the run kept is whole.
fn assert_kept(program: &Program, redirected: &str) {
    let kept = fs::read(program.folder().join("kept.json"));
    let kept: Value = serde_json::from_slice(&kept.expect(redirected)).expect(redirected);
    assert_eq!(kept["complete"], true, "{redirected}");
    assert!(program.journals().is_empty(), "{redirected}");
}

#[test]
fn a_run_that_nobody_reads_is_kept_and_exits_as_ever() {
    for redirected in [
        "2>&1 | true",
        "2>/dev/full",
        "2>&- | true",
        "2> >(true) | true",
    ] {
        let program = Program::new();
        let Some(output) = run(&program, redirected) else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.ends_with("0\n"), "{redirected}: {output:?}");
        assert_kept(&program, redirected);
    }
}

#[test]
fn a_table_that_cannot_be_written_is_an_error_and_the_run_is_kept() {
    let program = Program::new();
    let Some(output) = run(&program, ">/dev/full") else {
        return;
    };
    assert_eq!(output.stdout, b"1\n", "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("error") && !said.contains("panicked"),
        "{said}"
    );
    assert_kept(&program, ">/dev/full");
}

#[test]
fn an_error_that_nobody_hears_keeps_its_code() {
    let program = Program::new();
    for redirected in ["2>/dev/full", "2>&1 | true"] {
        let output = Command::new("bash")
            .args([
                "-c",
                &format!("$syscost show no-such-run {redirected}; echo ${{PIPESTATUS[0]}}"),
            ])
            .env("syscost", env!("CARGO_BIN_EXE_syscost"))
            .env("XDG_DATA_HOME", program.folder())
            .output();
        let Ok(output) = output else {
            println!("skipped: no bash");
            return;
        };
        assert_eq!(output.stdout, b"1\n", "{redirected}: {output:?}");
    }
}

#[test]
fn standard_output_holds_one_document_where_it_is_asked_for() {
    for format in ["json", "table"] {
        let program = Program::new();
        let run = program.json(&[
            "run",
            "--profile",
            "quick",
            "--no-save",
            "--format",
            format,
            "-o",
            "-",
            "syscall.umask",
        ]);
        assert_eq!(run["measurements"][0]["name"], "syscall.umask", "{format}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_anything_is_measured() {
    let program = Program::new();
    for place in ["/proc/kept.json", "/tmp", "/no/such/folder/kept.json"] {
        let output = program.run(&["run", "--profile", "quick", "-o", place, "syscall.umask"]);
        assert_eq!(output.status.code(), Some(2), "{place}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("cannot be written") && !said.contains("measuring"),
            "{said}"
        );
    }
}
