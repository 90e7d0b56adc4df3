//! Logical processors: where this thread may run, and lists of them as text.

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

/// The processors the calling thread may run on, ascending.
///
/// # Errors
/// When the system does not say.
pub fn allowed() -> Result<Vec<u32>, SystemError> {
    os::affinity().map_err(|cause| SystemError::new("sched_getaffinity", "of this thread", cause))
}

/// The processor the calling thread runs on at this moment.
///
/// # Errors
/// When the system does not say.
pub fn current() -> Result<u32, SystemError> {
    os::current_cpu().map_err(|cause| SystemError::new("getcpu", "of this thread", cause))
}

/// What kind of core a processor belongs to. Processors of one kind are alike; all fields are empty
/// where the system reports nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    /// Its capacity as the scheduler counts it, 1024 for the largest.
    capacity: Option<u64>,
    /// Its highest frequency, in kHz.
    max_khz: Option<u64>,
}

/// The kind of a processor's core.
pub fn kind(cpu: u32) -> Kind {
    let read = |file: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/{file}");
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    };
    Kind {
        capacity: read("cpu_capacity"),
        max_khz: read("cpufreq/cpuinfo_max_freq"),
    }
}

/// The other hardware threads of this processor's core, as the system reports them; none where it
/// does not. Virtual machines often do not know.
pub fn siblings(cpu: u32) -> Vec<u32> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let list = std::fs::read_to_string(path).ok();
    let list = list.and_then(|list| parse_list(&list).ok());
    let mut siblings = list.unwrap_or_default();
    siblings.retain(|&sibling| sibling != cpu);
    siblings
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
        .trim()
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
    fn a_pinned_thread_stays_where_it_was_put() {
        let Ok(all) = allowed() else {
            println!("skipped: no affinity here");
            return;
        };
        let last = *all.last().expect("a thread may run somewhere");
        std::thread::spawn(move || {
            pin(last).unwrap();
            assert_eq!(allowed().unwrap(), [last]);
            assert_eq!(current().unwrap(), last);
            assert!(pin(9_999).unwrap_err().to_string().contains("9999"));
        })
        .join()
        .unwrap();
    }
}
