//! Processes that syscost did not start are neither ended nor waited for.

use std::fs;
use std::process::Command;

use crate::common::{Program, or_skip};

/// A run of one cheap row.
const RUN: &str = "run --profile quick --no-save syscall.umask";

/// Ends a process that a script left running; returns whether it was still running.
fn end(pid: &str) -> bool {
    let killed = Command::new("kill").arg(pid).output();
    killed.is_ok_and(|output| output.status.success())
}

#[test]
fn children_of_the_shell_that_became_syscost_go_on() {
    let program = Program::new();
    let text = format!("sleep 777 >/dev/null 2>&1 & echo $! >sleeper; exec $syscost {RUN}");
    let output = or_skip!(program.script(&["sh"], &text));
    let sleeper = fs::read_to_string(program.folder().join("sleeper")).expect("was written");
    assert!(end(sleeper.trim()), "the shell's child was ended");
    output.ran();
}

#[test]
fn a_log_that_the_shell_pipes_to_is_whole() {
    let program = Program::new();
    let text = format!("exec > >(tee log) 2>&1; exec $syscost {RUN}");
    let output = or_skip!(program.script(&["bash"], &text));
    output.ran();
    let log = fs::read_to_string(program.folder().join("log")).expect("was written");
    assert!(log.contains(" of 1 measured"), "{log}");
}

#[test]
#[ignore = "machine suite"]
fn a_foreign_proc_is_noticed_and_a_run_comes_to_its_end() {
    let program = Program::new();
    let shell = ["unshare", "--pid", "--fork", "sh"];
    let text =
        format!("sleep 777 >/dev/null 2>&1 & $syscost {RUN}; echo ended $?; $syscost doctor");
    let output = or_skip!(program.script(&shell, &text));
    let said = &output.out;
    if !said.contains("ended") {
        println!("skipped: no pid namespace: {output:?}");
        return;
    }
    assert!(said.contains("ended 0"), "{output:?}");
    assert!(said.contains("/proc does not show this process"), "{said}");
}
