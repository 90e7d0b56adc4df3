//! What /proc/self/status says of this process's circumstances.

use std::fs;
use std::path::Path;

use super::tree::proc_of;
use crate::{SystemError, Unsupported, os};

/// The seccomp mode of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seccomp {
    /// No filter: system calls have their usual cost.
    Off,
    /// Only read, write and exit are allowed.
    Strict,
    /// A filter runs before each system call, as container runtimes install it; each call costs
    /// more.
    Filter,
}

/// The seccomp mode of this process.
///
/// # Errors
/// `Unsupported` where /proc/self/status does not say (CONFIG_SECCOMP off).
pub fn seccomp_mode() -> Result<Seccomp, Unsupported> {
    match field(&read()?, "Seccomp").as_deref() {
        Some("0") => Ok(Seccomp::Off),
        Some("1") => Ok(Seccomp::Strict),
        Some("2") => Ok(Seccomp::Filter),
        _ => Err(Unsupported::new(
            "/proc/self/status has no Seccomp line; the kernel was built without it",
        )),
    }
}

/// Whether a debugger or tracer follows this process, which stops it at every signal or system
/// call.
///
/// # Errors
/// `Unsupported` where /proc/self/status does not say.
pub fn is_traced() -> Result<bool, Unsupported> {
    field(&read()?, "TracerPid")
        .map(|pid| pid != "0")
        .ok_or_else(|| Unsupported::new("/proc/self/status has no TracerPid line"))
}

/// Whether this process ignores a signal, as what nohup or a shell's `&` has started does; false where
/// /proc/self/status does not say.
pub fn ignores(signal: i32) -> bool {
    os::Status::of(std::process::id()).is_some_and(|status| status.has_bit("SigIgn", signal - 1))
}

/// Settings of this process alone, inherited from whoever made them with prctl(2), that change what
/// it pays: mitigations of speculative execution that others do without (container runtimes and
/// sandboxes ask for them), and huge pages that it is refused. In words; `None` where
/// /proc/self/status cannot be read.
pub fn set_for_this_process() -> Option<Vec<&'static str>> {
    Some(settings(&read().ok()?, has_huge_pages()))
}

/// What [`has_huge_pages`] has looked at.
pub(crate) const NO_HUGE_PAGES: &str =
    "no transparent huge pages: /sys/kernel/mm/transparent_hugepage is not there";

/// Whether the kernel has transparent huge pages at all: without, its processes have none either.
pub fn has_huge_pages() -> bool {
    Path::new("/sys/kernel/mm/transparent_hugepage").exists()
}

/// The lines of proc(5), by what the kernel writes only where prctl(2) was asked for it; where the
/// kernel has no huge pages, it says of each process that they are disabled.
fn settings(status: &str, has_huge_pages: bool) -> Vec<&'static str> {
    let is = |name, values: &[&str]| {
        field(status, name).is_some_and(|value| values.contains(&value.as_str()))
    };
    let mitigated = ["thread mitigated", "thread force mitigated"];
    let disabled = ["conditional disabled", "conditional force disabled"];
    let all = [
        (
            is("Speculation_Store_Bypass", &mitigated),
            "speculative store bypass is disabled for this process",
        ),
        (
            is("SpeculationIndirectBranch", &disabled),
            "indirect branch speculation is disabled for this process",
        ),
        (
            has_huge_pages && is("THP_enabled", &["0"]),
            "transparent huge pages are disabled for this process",
        ),
    ];
    let set = all.into_iter().filter(|(is_set, _)| *is_set);
    set.map(|(_, words)| words).collect()
}

/// Whether prctl(2) took transparent huge pages from this process; false where the kernel does not
/// say, or has none.
pub fn has_no_huge_pages() -> bool {
    has_huge_pages()
        && read().is_ok_and(|status| field(&status, "THP_enabled").as_deref() == Some("0"))
}

/// Memory of this process that is resident, in bytes.
///
/// # Errors
/// `Unsupported` where /proc/self/status does not say.
pub fn resident_bytes() -> Result<u64, Unsupported> {
    bytes(&read()?, "VmRSS")
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryOf {
    /// What is resident.
    pub resident_bytes: u64,
    /// The part of it that is no file's: what a fork copies the page tables of.
    pub own_bytes: u64,
}

/// The memory of another process of this user.
///
/// # Errors
/// `Unsupported` where its status in /proc does not say (where it has ended).
pub fn memory_of(process: u32) -> Result<MemoryOf, Unsupported> {
    let status = read_of(&proc_of(process)?)?;
    Ok(MemoryOf {
        resident_bytes: bytes(&status, "VmRSS")?,
        own_bytes: bytes(&status, "RssAnon")?,
    })
}

fn bytes(status: &str, name: &str) -> Result<u64, Unsupported> {
    field(status, name)
        .and_then(|size| size.strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map(|kib| 1024 * kib)
        .ok_or_else(|| Unsupported::new(format!("a process's status has no {name} line")))
}

fn read() -> Result<String, Unsupported> {
    read_of("/proc/self")
}

fn read_of(folder: &str) -> Result<String, Unsupported> {
    let path = format!("{folder}/status");
    fs::read_to_string(&path).map_err(|cause| SystemError::new("read", path, cause).into())
}

fn field(status: &str, name: &str) -> Option<String> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_matched_whole() {
        let status = "TracerPid:\t17\nSeccomp:\t2\nSeccomp_filters:\t3\n";
        assert_eq!(field(status, "Seccomp").unwrap(), "2");
        assert_eq!(field(status, "TracerPid").unwrap(), "17");
        assert_eq!(field(status, "Tracer"), None);
    }

    #[test]
    fn settings_of_this_process_are_told_from_the_machines() {
        let of = |store: &str, branch: &str, huge: &str| {
            settings(
                &format!(
                    "Speculation_Store_Bypass:\t{store}\nSpeculationIndirectBranch:\t{branch}\n\
                 THP_enabled:\t{huge}\n"
                ),
                true,
            )
        };
        for (store, branch, huge, expected) in [
            ("thread vulnerable", "conditional enabled", "1", 0),
            ("globally mitigated", "always disabled", "1", 0),
            ("not vulnerable", "not affected", "1", 0),
            ("thread mitigated", "conditional enabled", "1", 1),
            ("thread force mitigated", "conditional disabled", "1", 2),
            (
                "thread force mitigated",
                "conditional force disabled",
                "0",
                3,
            ),
        ] {
            let seen = of(store, branch, huge);
            assert_eq!(seen.len(), expected, "{store}, {branch}, {huge}: {seen:?}");
        }
        assert!(settings("Name:\tx\n", true).is_empty(), "of an old kernel");
        let without = settings("THP_enabled:\t0\n", false);
        assert!(without.is_empty(), "nobody asked for it: {without:?}");
    }

    #[test]
    fn what_is_resident_grows_with_what_is_touched() {
        or_skip!(resident_bytes());
        // Other tests of this process may give memory back meanwhile.
        let has_grown = |_| {
            let before = resident_bytes().unwrap();
            let touched = std::hint::black_box(vec![1_u8; 32 << 20]);
            let grown = resident_bytes().unwrap().saturating_sub(before);
            std::hint::black_box(touched);
            grown >= 16 << 20
        };
        assert!((0..100).any(has_grown));
    }

    #[test]
    fn this_process_has_both() {
        match (seccomp_mode(), is_traced()) {
            (Ok(_), Ok(traced)) => assert!(!traced, "the tests do not run under a debugger"),
            (mode, traced) => println!("skipped: {mode:?} {traced:?}"),
        }
    }
}
