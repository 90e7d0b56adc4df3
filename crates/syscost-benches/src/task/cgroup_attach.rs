//! Moving a process from one control group to another.
//!
//! ## Measures
//! One write of a sleeping process's id to the `cgroup.procs` of a group (version 2), back and
//! forth between two new groups below the group that syscost runs in; after each, /proc shows where
//! the process is. The groups have no controllers of their own and are removed afterwards.
//! ## Does not measure
//! What controllers add when a process with memory and many threads moves, or creating a group.
//! ## Interpretation
//! The kernel takes the locks of all groups and of the process, and blocks forks and exits
//! meanwhile. These moves follow each other closely; the first one after a pause may wait for
//! milliseconds until every CPU has passed a grace period of RCU, which is why container runtimes
//! start a process in its group (CLONE_INTO_CGROUP) rather than move it.
//! ## Source
//! cgroups(7), the kernel's cgroup-v2 documentation on migration.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::io::{Errno, read};
use rustix::pipe::pipe;
use syscost_harness::prelude::*;
use syscost_sys::process::proc_of;
use syscost_sys::scratch::{Directory, directory_in};

use crate::task::child::{Child, close, fork};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "cgroup migration",
    tags: "control group, cgroup v2, container",
    expect: &[
        calls(Sysno::WRITE),
        // The kernel's lock may have to be waited for.
        at_most(Counter::VoluntarySwitches, 20.0),
        exactly(Counter::Reported(MOVED), 1.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

const MOVED: &str = "moves that /proc showed";

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let groups = Groups::new()?;
    // Which of the two is next, and whether a move is to be checked.
    let (next, to_see, mut moved) = (Cell::new(1), Cell::new(false), 0_u64);
    groups.attach(0)?;
    let mut look = || -> Result<(), Failure> {
        let is_there = groups.holds(1 - next.get())?;
        moved += u64::from(to_see.take() && is_there);
        Ok(())
    };
    let mut outcome = plan.measure(Single::of(&mut look, || {
        groups.attach(next.get())?;
        next.set(1 - next.get());
        to_see.set(true);
        Ok(())
    }))?;
    look()?;
    outcome.report(MOVED, moved as f64);
    Ok(outcome)
}

/// Two groups and a process; dropping this removes and ends all three.
struct Groups {
    process: Option<Child>,
    /// The text that is written to move the process.
    id: String,
    groups: Vec<Directory>,
    members: Vec<File>,
    _life: std::os::fd::OwnedFd,
}

impl Groups {
    /// Creates them below this process's own group.
    fn new() -> Result<Self, Failure> {
        let own = own_group()?;
        let (end, life) = pipe().tried("make a pipe")?;
        let process = fork(|| {
            // The pipe ends with this process's parent, the only one that then holds the other end.
            close(life.as_raw_fd());
            while read(&end, &mut [0; 1]) == Err(Errno::INTR) {}
            0
        })?;
        let mut groups = Self {
            id: process.id().to_string(),
            process: Some(process),
            groups: Vec::new(),
            members: Vec::new(),
            _life: life,
        };
        for _ in 0..2 {
            // Recorded, so that not even kill -9 leaves it behind.
            let group = directory_in(&own)
                .map_err(|cause| Failure::Unsupported(format!("make a control group: {cause}")))?;
            let path = group.path().join("cgroup.procs");
            let members = File::options().write(true).open(&path);
            groups.members.push(members.map_err(|cause| {
                Failure::Unsupported(format!("open {}: {cause}", path.display()))
            })?);
            groups.groups.push(group);
        }
        // Where this process may create groups, it may still not be allowed to move others out of its own.
        groups
            .attach(0)
            .map_err(|cause| Failure::Unsupported(cause.to_string()))?;
        Ok(groups)
    }

    fn attach(&self, group: usize) -> Result<(), Failure> {
        match (&self.members[group]).write(self.id.as_bytes()) {
            Ok(written) if written == self.id.len() => Ok(()),
            Ok(_) => Err(Failure::of("write to cgroup.procs", "it took only a part")),
            Err(cause) => Err(Failure::of("write to cgroup.procs", cause)),
        }
    }

    fn holds(&self, group: usize) -> Result<bool, Failure> {
        let id = self.process.as_ref().map_or(0, Child::id);
        let path = format!("{}/cgroup", proc_of(id.cast_unsigned())?);
        let text = fs::read_to_string(&path).map_err(|cause| Failure::of(&path, cause))?;
        let wanted = self.groups[group].path();
        Ok(path_in_tree(&text).is_some_and(|path| wanted.ends_with(path.trim_start_matches('/'))))
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        // A group can be removed once it contains no process, not even one that has just ended.
        self.process = None;
        for group in &self.groups {
            for _ in 0..100 {
                match fs::remove_dir(group.path()) {
                    Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                        thread::sleep(Duration::from_millis(1));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// The directory of this process's own group, version 2.
fn own_group() -> Result<PathBuf, Failure> {
    let text = |path: &str| {
        fs::read_to_string(path).map_err(|cause| Failure::Unsupported(format!("{path}: {cause}")))
    };
    let none = || Failure::Unsupported("no control groups of version 2 are mounted".to_owned());
    let (mounts, groups) = (text("/proc/self/mountinfo")?, text("/proc/self/cgroup")?);
    let (root, mount) = mount_of(&mounts).ok_or_else(none)?;
    let path = path_in_tree(&groups).ok_or_else(none)?;
    let below = Path::new(path).strip_prefix(root).map_err(|_| none())?;
    Ok(Path::new(mount).join(below))
}

/// The mount point of version 2, and the group mounted there:
/// `id parent device root mount options … - cgroup2 source options`.
fn mount_of(mounts: &str) -> Option<(&str, &str)> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let found = (fields.next()?, fields.next()?);
        kind.starts_with("cgroup2 ").then_some(found)
    })
}

/// The process's path in the tree of version 2: the line without a number and controllers, `0::/path`.
fn path_in_tree(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn the_mount_of_version_2_is_found_beside_others() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      31 23 0:27 /part /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(mount_of(mounts), Some(("/part", "/sys/fs/cgroup/unified")));
        assert_eq!(mount_of(""), None);
        assert_eq!(
            path_in_tree("4:memory:/x\n0::/user.slice\n"),
            Some("/user.slice")
        );
        assert_eq!(path_in_tree("4:memory:/x\n"), None);
    }

    #[test]
    fn nothing_is_left_behind() {
        let groups = or_skip!(Groups::new());
        assert!(groups.holds(0).unwrap() && !groups.holds(1).unwrap());
        groups.attach(1).unwrap();
        assert!(groups.holds(1).unwrap() && !groups.holds(0).unwrap());
        let paths = [0, 1].map(|group| groups.groups[group].path().to_owned());
        drop(groups);
        assert!(!paths.iter().any(|path| path.exists()));
    }
}
