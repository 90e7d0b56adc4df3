//! Logical processors: where this thread may run, and lists of them as text.

use std::path::{Path, PathBuf};

use crate::counters::TaskId;
use crate::topology::pretended_cpus;
use crate::{SystemError, os};

/// Lets the calling thread run on this processor only.
///
/// # Errors
/// When the processor does not exist, is offline, or lies outside the cgroup's set.
pub fn pin(cpu: u32) -> Result<(), SystemError> {
    pin_to(&[cpu])
}

/// Lets the calling thread run on these processors only.
///
/// # Errors
/// When none of them may be used (see [`pin`]); the system silently drops those that may not.
pub fn pin_to(cpus: &[u32]) -> Result<(), SystemError> {
    os::set_affinity(cpus).map_err(|cause| {
        SystemError::new(
            "sched_setaffinity",
            format!("to cpus {}", format_list(cpus)),
            cause,
        )
    })
}

/// Lets the calling thread run on these processors as well, and returns those that it may use then.
/// Isolated ones (`isolcpus`) are not among those that a process starts with, but the kernel admits
/// whoever asks for them by number.
pub fn admit(cpus: &[u32]) -> Result<Vec<u32>, SystemError> {
    let before = allowed()?;
    if cpus.iter().any(|cpu| !before.contains(cpu)) {
        pin_to(&[&before, cpus].concat())?;
    }
    allowed()
}

/// The processors the calling thread may run on, ascending.
///
/// # Errors
/// When the system does not say.
pub fn allowed() -> Result<Vec<u32>, SystemError> {
    if let Some(pretended) = pretended_cpus() {
        return Ok(pretended);
    }
    os::affinity().map_err(|cause| SystemError::new("sched_getaffinity", "of this thread", cause))
}

/// The processors that this task may use; `None` where the kernel does not show it.
pub fn allowed_to(task: TaskId) -> Option<Vec<u32>> {
    let TaskId { process, thread } = task;
    os::shown_in(&format!("/proc/{process}/task/{thread}/status"))
}

/// The processors that a process's first thread may use, or where the kernel does not show it, the calling
/// thread.
///
/// # Errors
/// When it does not show this either.
pub(crate) fn of_process(pid: u32) -> Result<Vec<u32>, SystemError> {
    let first = TaskId {
        process: pid,
        thread: pid,
    };
    allowed_to(first).map_or_else(allowed, Ok)
}

/// The processor the calling thread runs on at this moment.
pub fn current() -> u32 {
    os::current_cpu()
}

/// What kind of core a processor belongs to. Processors of one kind are alike; all fields are empty
/// where the system reports nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoreKind {
    /// Its capacity as the scheduler counts it, 1024 for the largest.
    capacity: Option<u64>,
    /// Its highest frequency, in kHz.
    max_khz: Option<u64>,
}

/// The kind of a processor's core.
pub fn kind(cpu: u32) -> CoreKind {
    let read = |file: &str| file_text(&folder(cpu).join(file))?.parse().ok();
    CoreKind {
        capacity: read("cpu_capacity"),
        max_khz: read("cpufreq/cpuinfo_max_freq"),
    }
}

/// The other hardware threads of this processor's core, as the system reports them; none where it
/// does not. Virtual machines often do not know.
pub fn siblings(cpu: u32) -> Vec<u32> {
    let list = listed(&folder(cpu).join("topology"), THREADS);
    let mut siblings = list.unwrap_or_default();
    siblings.retain(|&sibling| sibling != cpu);
    siblings
}

/// The list and the mask of the hardware threads of a core.
pub(crate) const THREADS: [&str; 2] = ["thread_siblings_list", "thread_siblings"];

fn folder(cpu: u32) -> PathBuf {
    Path::new("/sys/devices/system/cpu").join(format!("cpu{cpu}"))
}

/// The text of a small file of the kernel, without what surrounds it: some write a final NUL. What
/// is not UTF-8 in it is replaced.
pub fn file_text(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_matches(is_padding).to_owned())
}

fn is_padding(char: char) -> bool {
    char.is_whitespace() || char == '\0'
}

/// The processors in this list of a folder, or in this mask: older kernels have only masks.
pub(crate) fn listed(folder: &Path, [list, mask]: [&str; 2]) -> Option<Vec<u32>> {
    let list = file_text(&folder.join(list)).and_then(|list| parse_list(&list).ok());
    list.or_else(|| parse_mask(&file_text(&folder.join(mask))?))
}

/// Reads a mask as the kernel writes it: words of 32 bits in hexadecimal, the highest first
/// (`1,00000003` is 0, 1 and 32).
pub(crate) fn parse_mask(text: &str) -> Option<Vec<u32>> {
    let words: Option<Vec<u32>> = text
        .trim_matches(is_padding)
        .rsplit(',')
        .map(|word| u32::from_str_radix(word, 16).ok())
        .collect();
    let bits = (0..).step_by(32).zip(words?);
    Some(
        bits.flat_map(|(first, word)| (0..32).map(move |bit| (first + bit, word >> bit & 1 == 1)))
            .filter(|(_, is_set)| *is_set)
            .map(|(cpu, _)| cpu)
            .collect(),
    )
}

/// A text that is no list of processors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no list of processors: {part:?} is neither a number nor a range; write it like 0-3,5"
)]
pub struct ListError {
    /// The whole text.
    pub text: String,
    /// The part that was not understood.
    pub part: String,
}

/// Upper bound for a processor's number: a range beyond it is a typo, not a list.
const MAX_CPUS: u32 = 1 << 16;

/// Reads a list as the kernel writes it (`0-3,5`), ascending and without repeats. An empty text is
/// an empty list.
///
/// # Errors
/// [`ListError`] naming the part that is neither a number nor an ascending range.
pub fn parse_list(text: &str) -> Result<Vec<u32>, ListError> {
    let mut cpus = Vec::new();
    for part in text
        .trim_matches(is_padding)
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let bad = || ListError {
            text: text.to_owned(),
            part: part.to_owned(),
        };
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().map_err(|_| bad())?;
        let last: u32 = last.trim().parse().map_err(|_| bad())?;
        if first > last || last >= MAX_CPUS {
            return Err(bad());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Writes a list as the kernel does: `[0, 1, 2, 3, 5]` is `0-3,5`.
pub fn format_list(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b);
    let parts: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            _ => format!("{}-{}", run[0], run[run.len() - 1]),
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_go_in_and_out() {
        for (text, cpus) in [
            ("0-3,5", vec![0, 1, 2, 3, 5]),
            ("7", vec![7]),
            ("", vec![]),
            ("0-1,4-5", vec![0, 1, 4, 5]),
        ] {
            assert_eq!(parse_list(text).unwrap(), cpus);
            assert_eq!(format_list(&cpus), text);
        }
        assert_eq!(parse_list(" 2, 0-1\n").unwrap(), [0, 1, 2]);
        assert_eq!(parse_list("0-1\n\0").unwrap(), [0, 1]);
        assert_eq!(parse_mask("1,00000003\n").unwrap(), [0, 1, 32]);
        assert_eq!(parse_mask("00000000\0").unwrap(), []);
        assert_eq!(parse_mask("0-3"), None);
        assert_eq!(format_list(&[5, 3, 4, 3]), "3-5");
    }

    #[test]
    fn a_bad_list_names_its_bad_part() {
        for (text, part) in [
            ("0-3,x", "x"),
            ("3-1", "3-1"),
            ("1-", "1-"),
            ("0-4000000000", "0-4000000000"),
        ] {
            assert_eq!(parse_list(text).unwrap_err().part, part);
        }
    }

    #[test]
    fn a_processor_outside_of_the_first_set_is_admitted_when_asked_for() {
        let Ok(&[first, .., last]) = allowed().as_deref() else {
            return println!("skipped: one processor");
        };
        std::thread::spawn(move || {
            pin(first).unwrap();
            assert_eq!(admit(&[last]).unwrap(), [first, last]);
            assert_eq!(admit(&[first, 9_999]).unwrap(), [first, last]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_pinned_thread_stays_where_it_was_put() {
        let all = or_skip!(allowed(), "no affinity here");
        let last = *all.last().expect("a thread may run somewhere");
        std::thread::spawn(move || {
            pin(last).unwrap();
            assert_eq!(allowed().unwrap(), [last]);
            assert_eq!(current(), last);
            assert!(pin(9_999).unwrap_err().to_string().contains("9999"));
        })
        .join()
        .unwrap();
    }
}
