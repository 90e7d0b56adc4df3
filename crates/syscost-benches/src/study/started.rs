//! Shared: a program that is started and waited for, with what the kernel counted for it.

use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use syscost_sys::counters::{TaskId, TaskReading, TaskStat, Usage};
use syscost_sys::files;

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// What it printed, and what it said on standard error.
    pub(super) printed: String,
    pub(super) said: String,
    /// What was counted for all its tasks, and of its first task alone.
    pub(super) whole: Usage,
    pub(super) first: Option<TaskReading>,
}

/// Starts a program, looks at it with `see` while it runs, and waits for its end. It writes into memory: to
/// read a pipe, this process would take its CPU. What children used is counted by process: meanwhile no other
/// child must be waited for.
pub(super) fn run(command: &mut Command, see: impl FnOnce(&Child)) -> io::Result<Ended> {
    let written = || files::in_memory("syscost-study");
    let (mut printed, mut said) = (written()?, written()?);
    let error = |cause: syscost_sys::Unsupported| io::Error::other(cause.to_string());
    let before = Usage::children().map_err(error)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(printed.try_clone()?)
        .stderr(said.try_clone()?)
        .spawn()?;
    see(&child);
    let id = WaitId::Pid(Pid::from_child(&child));
    // It stays to be looked at.
    retry_on_intr(|| waitid(id.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT))?;
    let task = TaskId {
        process: child.id(),
        thread: child.id(),
    };
    let first = TaskStat::of(task).and_then(|task| task.read()).ok();
    let status = child.wait()?;
    let whole = Usage::children().map_err(error)? - before;
    Ok(Ended {
        status,
        printed: text(&mut printed)?,
        said: text(&mut said)?,
        whole,
        first,
    })
}

fn text(file: &mut File) -> io::Result<String> {
    let bytes = files::end_of(file, u64::MAX)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
