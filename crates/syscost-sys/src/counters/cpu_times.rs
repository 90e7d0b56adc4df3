//! How a processor's time was spent.

use crate::{SystemError, Unsupported};
use std::collections::BTreeMap;
use std::fs;

/// The time of one processor by use, in ticks, 100 a second on nearly every Linux (/proc/stat). Guest time is
/// within `user`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// In user mode.
    pub user: u64,
    /// In user mode at low priority.
    pub nice: u64,
    /// In the kernel.
    pub system: u64,
    /// Doing nothing.
    pub idle: u64,
    /// Doing nothing while a request to a device was pending.
    pub iowait: u64,
    /// In interrupts.
    pub irq: u64,
    /// In soft interrupts.
    pub softirq: u64,
    /// Wanted by this machine but given to another by the hypervisor.
    pub steal: u64,
}

impl CpuTimes {
    /// Time of all kinds, in ticks.
    pub fn total(&self) -> u64 {
        self.user
            + self.nice
            + self.system
            + self.idle
            + self.iowait
            + self.irq
            + self.softirq
            + self.steal
    }

    /// Stolen time as a share of all, 0 to 1; 0 when no tick has passed.
    pub fn steal_share(&self) -> f64 {
        match self.total() {
            0 => 0.0,
            total => self.steal as f64 / total as f64,
        }
    }
}

difference! { CpuTimes { user, nice, system, idle, iowait, irq, softirq, steal } }

/// The times of one processor since the machine started.
///
/// # Errors
/// `Unsupported` where there is no /proc/stat, or the processor is not in it (it is offline).
pub fn cpu_times(cpu: u32) -> Result<CpuTimes, Unsupported> {
    find(&stat()?, cpu)
        .ok_or_else(|| Unsupported::new(format!("{STAT} has no line for cpu {cpu}; is it online?")))
}

/// As [`cpu_times`], of every processor that is online.
///
/// # Errors
/// `Unsupported` where there is no /proc/stat.
pub fn cpu_times_of_all() -> Result<BTreeMap<u32, CpuTimes>, Unsupported> {
    Ok(each(&stat()?)
        .filter_map(|(cpu, fields)| Some((cpu, parse(fields)?)))
        .collect())
}

const STAT: &str = "/proc/stat";

fn stat() -> Result<String, Unsupported> {
    let text = fs::read_to_string(STAT).map_err(|cause| SystemError::new("read", STAT, cause))?;
    Ok(text)
}

/// The processors' lines: number, and fields.
fn each(text: &str) -> impl Iterator<Item = (u32, &str)> {
    text.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        Some((name.strip_prefix("cpu")?.parse().ok()?, rest))
    })
}

fn find(text: &str, cpu: u32) -> Option<CpuTimes> {
    let (_, fields) = each(text).find(|(number, _)| *number == cpu)?;
    parse(fields)
}

fn parse(fields: &str) -> Option<CpuTimes> {
    let mut fields = fields
        .split_ascii_whitespace()
        .map(|field| field.parse().ok());
    let mut next = || fields.next().flatten();
    Some(CpuTimes {
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        iowait: next()?,
        irq: next()?,
        softirq: next()?,
        steal: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  3126 0 1552 334598 400 0 33 41 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n\
                        cpu1 10 0 0 80 0 0 0 10 0 0\nintr 5\n";

    #[test]
    fn a_processors_line_is_found_by_its_number() {
        let first = find(STAT, 0).unwrap();
        assert_eq!(
            (first.user, first.softirq, first.steal, first.total()),
            (1, 7, 8, 36)
        );
        assert_eq!(find(STAT, 1).unwrap().steal_share(), 0.1);
        assert_eq!(find(STAT, 2), None);
        assert_eq!(CpuTimes::default().steal_share(), 0.0);
    }

    #[test]
    fn this_machine_has_a_first_processor() {
        assert!(or_skip!(cpu_times(crate::cpu::current())).total() > 0);
        let all = cpu_times_of_all().expect("it is there");
        assert!(all.values().all(|times| times.total() > 0) && !all.is_empty());
    }
}
