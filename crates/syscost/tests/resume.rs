//! A journal is untrusted input: what others wrote into it runs no code, names no file and ends no
//! run with a panic.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::Program;
use serde_json::{Value, json};
use syscost_harness::session::journal::line;

/// The journal of a run that was ended by its budget.
fn broken_off(program: &Program) -> PathBuf {
    program.run(&[
        "run",
        "--profile",
        "quick",
        "--budget",
        "1",
        "syscall",
        "--no-save",
    ]);
    let mut journals = program.journals();
    assert_eq!(journals.len(), 1, "the budget ends it");
    journals.remove(0)
}

/// Changes the first line.
fn with_header(journal: &Path, text: &str, change: impl FnOnce(&mut Value)) {
    let (first, rest) = text.split_once('\n').expect("a header");
    let json = line::unsealed(first.as_bytes()).expect("as it was written");
    let mut header: Value = serde_json::from_slice(json).expect("JSON");
    change(&mut header);
    let first = line::sealed(header.to_string().as_bytes());
    fs::write(journal, [&first, rest.as_bytes()].concat()).expect("written");
}

/// A change to a header.
type Damage = fn(&mut Value);

#[test]
fn what_this_program_would_not_have_written_is_refused() {
    let program = Program::new();
    let journal = broken_off(&program);
    let text = fs::read_to_string(&journal).expect("is text");
    let resume = || {
        let path = journal.display().to_string();
        let output = program.run(&["run", "--resume", &path, "--no-save"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let damages: [(&str, Damage); 7] = [
        ("LD_PRELOAD", |header| {
            header["config"]["environment"] = json!({"LD_PRELOAD": "/tmp/evil.so"});
        }),
        ("is no name", |header| header["id"] = json!("../../escaped")),
        ("CPUs", |header| header["config"]["cpus"] = json!([])),
        ("budget", |header| header["config"]["budget_s"] = json!(-1)),
        ("budget", |header| {
            header["config"]["budget_s"] = json!(1e300)
        }),
        ("time limit", |header| header["time_limit_s"] = json!(-1)),
        ("program", |header| {
            header["config"]["program"] = json!("/bin/sh")
        }),
    ];
    for (words, damage) in damages {
        with_header(&journal, &text, damage);
        let (code, said) = resume();
        assert_eq!(code, Some(1), "{words}: {said}");
        assert!(said.contains(words) && !said.contains("panicked"), "{said}");
    }
    let output = program.run(&["run", "--resume", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(1));

    // Unmodified, it is resumed for another second.
    fs::write(&journal, text).expect("written");
    let (code, said) = resume();
    assert!(matches!(code, Some(0 | 4)), "{code:?}: {said}");
}
