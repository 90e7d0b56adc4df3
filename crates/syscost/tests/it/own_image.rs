//! A run continues with the program that it was started from, whatever happens to the program's
//! file.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::Program;

#[test]
fn a_binary_that_is_removed_or_replaced_meanwhile_costs_nothing() {
    for replaced in [false, true] {
        let program = Program::new();
        let binary = program.folder().join("syscost");
        fs::copy(env!("CARGO_BIN_EXE_syscost"), &binary).expect("copied");
        let mut child = program
            .confine(&mut Command::new(&binary))
            .args(["run", "--profile", "quick", "--no-save"])
            .args(["syscall.umask", "syscall.null{call=getppid}", "timing.loop"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        // A busy machine's warning may come first.
        let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let started = said.any(|line| line.expect("is read").starts_with("measuring"));
        assert!(started, "the run says when it begins to measure");
        fs::remove_file(&binary).expect("removed");
        if replaced {
            fs::write(&binary, "#!/bin/false\n").expect("written");
        }
        // Whether others left it anything to measure does not matter.
        let status = child.wait().expect("ends");
        assert!(matches!(status.code(), Some(0 | 4)), "{replaced}: {status}");
    }
}
