//! Network namespaces that are removed with the test, or by the next one if the test is killed.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::{DEVICE, Link, Running, Shape, Side};
use crate::common::or_skip;
use crate::tool::{Failure, require, run};

/// The directory in which ip(8) keeps them.
const FOLDER: &str = "/run/netns";
/// The prefix of their names, before the id of the process that made them.
const PREFIX: &str = "syscost-test";

/// A network namespace with a name, deleted on drop.
#[derive(Debug)]
pub(crate) struct Namespace {
    name: String,
}

impl Namespace {
    /// Creates a namespace. Its name contains this process's id and `label`, which must be unique
    /// in the process.
    pub(crate) fn new(label: &str) -> Result<Self, Failure> {
        let name = format!("{PREFIX}-{}-{label}", std::process::id());
        run(&["ip", "netns", "add", &name])?;
        // Deleted on drop from here on.
        let namespace = Self { name };
        namespace.ip(&["link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// The name that ip(8) knows.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its file, which keeps the namespace alive.
    pub(crate) fn path(&self) -> PathBuf {
        Path::new(FOLDER).join(&self.name)
    }

    /// Runs `ip` on it.
    pub(crate) fn ip(&self, words: &[&str]) -> Result<String, Failure> {
        run(&[&["ip", "-n", &self.name], words].concat())
    }

    /// Runs a program in it.
    pub(super) fn run(&self, words: &[&str]) -> Result<String, Failure> {
        require(words[0])?;
        run(&[&["ip", "netns", "exec", &self.name], words].concat())
    }

    /// A program in it, in the process that is started.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, program]);
        command
    }

    /// What runs in it.
    #[cfg(feature = "fleet")]
    pub(crate) fn processes(&self) -> Vec<Pid> {
        processes(&self.name)
    }

    /// Ends everything in it at once, as a power failure does.
    #[cfg(feature = "fleet")]
    pub(crate) fn kill(&self) {
        kill(&self.name);
    }

    /// Runs `work` in a separate thread in the namespace. A socket created there stays in the
    /// namespace, whichever thread uses it.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let path = self.path();
        thread::scope(|scope| {
            let thread = scope.spawn(move || {
                enter(&path).expect("the namespace can be entered");
                work()
            });
            match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Err(failure) = remove(&self.name) {
            eprintln!("{failure}");
        }
    }
}

fn processes(name: &str) -> Vec<Pid> {
    let listed = run(&["ip", "netns", "pids", name]).unwrap_or_default();
    let pids = listed.lines().filter_map(|line| line.trim().parse().ok());
    pids.filter_map(Pid::from_raw).collect()
}

/// Ends what runs in a namespace, and waits until it has: what still writes into a test's folder
/// would keep it from being removed.
fn kill(name: &str) {
    for _ in 0..500 {
        let left = processes(name);
        for process in &left {
            let _ = kill_process(*process, Signal::KILL);
        }
        if left.is_empty() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Removes a namespace, with what runs in it.
fn remove(name: &str) -> Result<(), Failure> {
    kill(name);
    run(&["ip", "netns", "del", name]).map(drop)
}

/// Moves the calling thread into the namespace of this file.
pub(super) fn enter(path: &Path) -> std::io::Result<()> {
    let file = File::open(path)?;
    Ok(move_into_link_name_space(
        file.as_fd(),
        Some(LinkNameSpaceType::Network),
    )?)
}

/// Names of the namespaces created by tests, including those of other processes.
fn existing() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(PREFIX))
        .collect()
}

/// Deletes the namespaces of tests that were killed.
pub(crate) fn sweep() {
    for name in existing() {
        let owner = name[PREFIX.len()..].split('-').nth(1);
        let is_left = owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists());
        if is_left {
            // Several processes may try to delete it.
            let _ = remove(&name);
        }
    }
}

#[test]
#[ignore = "machine suite"]
fn a_namespace_outlives_a_killed_test_only_until_the_next_link() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_syscost"))
        .arg("--version")
        .spawn()
        .expect("the binary starts");
    let pid = child.id();
    child.wait().expect("it ends");
    let name = format!("{PREFIX}-{pid}-0-near");
    let made = run(&["ip", "netns", "add", &name]);
    or_skip!(crate::tool::unless_required(made, super::GRANTED));
    assert!(existing().contains(&name));
    sweep();
    assert!(!existing().contains(&name), "{name} is still there");
}

#[test]
#[ignore = "machine suite"]
fn a_panic_leaves_nothing() {
    let delayed = Shape {
        delay: Some(Duration::from_millis(5)),
        ..Shape::PLAIN
    };
    let mut made = None;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let link = or_skip!(Link::new(delayed));
        let mut sleeper = link.command(Side::Far, "sleep");
        sleeper.arg("600");
        let running = Running::start(sleeper);
        let names = Side::BOTH.map(|side| link.end(side).name().to_owned());
        assert!(names.iter().all(|name| existing().contains(name)));
        made = Some((names, running.id()));
        panic!("as a test that fails");
    }));
    let Some((names, pid)) = made else {
        // Skipped, or it failed because a link is required.
        return panicked.unwrap_or_else(|panic| resume_unwind(panic));
    };
    assert!(panicked.is_err());
    assert!(!existing().iter().any(|name| names.contains(name)));
    assert!(!Path::new("/proc").join(pid.to_string()).exists());
    assert!(!Path::new("/sys/class/net").join(DEVICE).exists());
}
