//! What the scheduler counted for one thread.

use super::proc_file::ProcFile;
use super::task::{TaskId, open as open_of};
use crate::Unsupported;

/// The scheduler's statistics of a thread, e.g. the one that opens them (/proc/thread-self/schedstat), kept
/// open so that a reading is one system call and allocates nothing.
#[derive(Debug)]
pub struct SchedStat(ProcFile);

/// One reading of a [`SchedStat`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedReading {
    /// Time on a processor, in ns.
    pub run_ns: u64,
    /// Time ready to run but waiting for a processor, in ns.
    pub run_delay_ns: u64,
}

impl SchedStat {
    /// Opens the statistics of the calling thread.
    ///
    /// # Errors
    /// `Unsupported` where the kernel has none (it needs CONFIG_SCHED_INFO).
    pub fn open() -> Result<SchedStat, Unsupported> {
        ProcFile::open("/proc/thread-self/schedstat").map(SchedStat)
    }

    /// Opens those of any task of this user.
    ///
    /// # Errors
    /// As [`SchedStat::open`], and when there is no such task.
    pub fn of(task: TaskId) -> Result<SchedStat, Unsupported> {
        open_of(task, "schedstat").map(SchedStat)
    }

    /// Reads them now.
    ///
    /// # Errors
    /// `Unsupported` when the thread they are of has ended, or the text is not as proc(5)
    /// describes.
    pub fn read(&self) -> Result<SchedReading, Unsupported> {
        let mut buffer = [0; 96];
        let text = self.0.read(&mut buffer)?;
        parse(text).ok_or_else(|| self.0.unexpected())
    }
}

pub(crate) fn parse(text: &str) -> Option<SchedReading> {
    let mut fields = text
        .split_ascii_whitespace()
        .map(|field| field.parse().ok());
    let mut next = || fields.next().flatten();
    Some(SchedReading {
        run_ns: next()?,
        run_delay_ns: next()?,
    })
}

difference! { SchedReading { run_ns, run_delay_ns } }

/// How often the calling thread was moved to another processor (`nr_migrations` of
/// /proc/thread-self/sched).
///
/// # Errors
/// `Unsupported` where the kernel has no such file (it needs CONFIG_SCHED_DEBUG before Linux 6.15).
pub fn migrations() -> Result<u64, Unsupported> {
    let file = ProcFile::open("/proc/thread-self/sched")?;
    let mut buffer = [0; 4096];
    let text = file.read(&mut buffer)?;
    parse_migrations(text).ok_or_else(|| file.unexpected())
}

pub(super) fn parse_migrations(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_are_understood() {
        let reading = parse("165103 20 7\n").unwrap();
        assert_eq!(
            reading,
            SchedReading {
                run_ns: 165_103,
                run_delay_ns: 20,
            }
        );
        assert_eq!(parse("1"), None);
        let text = "cat (1, #threads: 1)\n---\nse.exec_start  :  1.5\nse.nr_migrations   :      12\nnr_switches : 3\n";
        assert_eq!(parse_migrations(text), Some(12));
        assert_eq!(parse_migrations("nr_switches : 3\n"), None);
    }

    #[test]
    fn a_spin_is_time_on_a_processor() {
        let stat = or_skip!(SchedStat::open());
        let before = stat.read().unwrap();
        let (start, mut sum) = (std::time::Instant::now(), 0_u64);
        while start.elapsed().as_millis() < 20 {
            sum = std::hint::black_box(sum + 1);
        }
        let delta = stat.read().unwrap() - before;
        // The thread was running or waiting for a processor; what a hypervisor stole counts as
        // running.
        assert!(delta.run_ns + delta.run_delay_ns > 10_000_000, "{delta:?}");
    }

    #[test]
    fn a_thread_moved_by_hand_has_migrated() {
        let cpus = crate::cpu::allowed().unwrap_or_default();
        if cpus.len() < 2 || migrations().is_err() {
            println!("skipped: one processor, or no /proc/thread-self/sched");
            return;
        }
        std::thread::spawn(move || {
            crate::cpu::pin(cpus[0]).unwrap();
            let before = migrations().unwrap();
            crate::cpu::pin(cpus[1]).unwrap();
            crate::cpu::pin(cpus[0]).unwrap();
            assert_eq!(migrations().unwrap() - before, 2);
        })
        .join()
        .unwrap();
    }
}
