//! What whoever started this process has put around it, and /proc says nowhere.

use std::fs;

use super::tree::{name_of, parent_of, proc_of};
use crate::{SystemError, Unsupported, os};

/// Layers that a process without any could add.
const ALL: i32 = os::MAX_LANDLOCK_LAYERS;

/// How many layers of Landlock rules this process has inherited, each of which is looked at
/// whenever a path is opened. No file says so: a child adds layers until the kernel, which allows
/// sixteen, refuses another.
///
/// # Errors
/// `Unsupported` where the kernel has no Landlock, or refuses it to this process.
pub fn landlock_layers() -> Result<u32, Unsupported> {
    /// The exit status of a child that cannot add any.
    const REFUSED: i32 = 100;
    let failed = |call| move |cause| SystemError::new(call, "a child that adds layers", cause);
    let child = os::fork(&mut || os::add_landlock_layers(ALL).unwrap_or(REFUSED));
    let child = child.map_err(failed("fork"))?;
    let added = os::wait_for(child).map_err(failed("wait"))?;
    match u32::try_from(ALL - added) {
        Ok(inherited) => Ok(inherited),
        Err(_) => Err(Unsupported::new(
            "the kernel has no Landlock, or refuses it",
        )),
    }
}

/// A process above this one that holds performance counters (perf_event_open(2)), which processes
/// inherit: they are read at each switch, and tracepoints among them at each system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observer {
    /// The name of its program.
    pub name: String,
    /// Its process.
    pub process: u32,
}

/// The nearest process above this one that holds performance counters, as `perf` does for what it
/// starts; `None` also where /proc does not show its open files.
///
/// # Errors
/// `Unsupported` where /proc does not show this process.
pub fn observer() -> Result<Option<Observer>, Unsupported> {
    proc_of(std::process::id())?;
    Ok(os::parent_id().and_then(observer_from))
}

/// The nearest observer, from this process up.
fn observer_from(mut process: u32) -> Option<Observer> {
    // A process cannot be its own ancestor, but /proc may change between two looks.
    for _ in 0..MAX_ANCESTORS {
        if counts(process) {
            let name = name_of(process).unwrap_or_default();
            return Some(Observer { name, process });
        }
        process = parent_of(process)?;
    }
    None
}

/// Maximum number of ancestors that are looked at.
const MAX_ANCESTORS: usize = 64;

/// Whether a process has a performance counter among its open files.
fn counts(process: u32) -> bool {
    let files = fs::read_dir(format!("/proc/{process}/fd"));
    let links = files.into_iter().flatten().flatten();
    let mut links = links.filter_map(|file| fs::read_link(file.path()).ok());
    links.any(|link| link.to_str() == Some("anon_inode:[perf_event]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::TaskId;
    use crate::perf::{Uses, Watch};

    #[test]
    fn layers_of_landlock_are_counted() {
        let before = or_skip!(landlock_layers());
        // Layers stay: it is a child that gets two more.
        let child = os::fork(&mut || {
            let added = os::add_landlock_layers(2).unwrap_or(0);
            let seen = landlock_layers().map_or(0, u32::cast_signed);
            10 * added + seen
        });
        let seen = os::wait_for(child.expect("forks")).expect("ends");
        let added = 2.min(ALL - before.cast_signed());
        assert_eq!(seen, 10 * added + before.cast_signed() + added);
    }

    #[test]
    fn counters_of_the_process_above_are_seen() {
        let word = 0_u64;
        let counter = or_skip!(Watch::of(TaskId::own(), &raw const word, Uses::Stores));
        let own = std::process::id();
        let is_own = || {
            observer()
                .ok()
                .flatten()
                .is_some_and(|above| above.process == own)
        };
        let child = os::fork(&mut || i32::from(!is_own()));
        assert_eq!(os::wait_for(child.expect("forks")).expect("ends"), 0);
        drop(counter);
    }
}
