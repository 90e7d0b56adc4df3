//! getrusage.

use crate::{Unsupported, os};

/// Faults and context switches, as getrusage(2) counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Page faults served without reading from a device.
    pub minor_faults: u64,
    /// Page faults that had to read.
    pub major_faults: u64,
    /// Switches because the task waited for something.
    pub voluntary_switches: u64,
    /// Switches because another task was to run: its time was up, it was preempted, or it yielded.
    pub involuntary_switches: u64,
    /// The most memory ever resident, in KiB. A peak, not a count: a difference is its growth.
    pub max_rss_kib: u64,
}

impl Usage {
    /// Counts of the calling thread.
    ///
    /// # Errors
    /// `Unsupported` where a filter refuses the call.
    pub fn thread() -> Result<Usage, Unsupported> {
        os::usage(Whose::Thread)
    }

    /// Counts of all children that ended and were waited for, and of their children.
    ///
    /// # Errors
    /// `Unsupported` where a filter refuses the call.
    pub fn children() -> Result<Usage, Unsupported> {
        os::usage(Whose::Children)
    }
}

/// Whose usage is requested.
#[derive(Clone, Copy)]
pub(crate) enum Whose {
    Thread,
    Children,
}

difference! { Usage { minor_faults, major_faults, voluntary_switches, involuntary_switches, max_rss_kib } }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_is_a_voluntary_switch_of_this_thread() {
        let before = or_skip!(Usage::thread(), "no getrusage here");
        for _ in 0..5 {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        let delta = Usage::thread().unwrap() - before;
        assert!(delta.voluntary_switches >= 5, "{delta:?}");
    }

    #[test]
    fn touching_fresh_pages_faults() {
        let before = or_skip!(Usage::thread(), "no getrusage here");
        // Far over malloc's threshold, so it is a mapping of its own; one byte a page.
        let mut fresh = vec![0_u8; 64 << 20];
        for page in (0..fresh.len()).step_by(rustix::param::page_size()) {
            fresh[page] = 1;
        }
        std::hint::black_box(&fresh);
        let faults = (Usage::thread().unwrap() - before).minor_faults;
        // Each page, or each huge one: of 2 MiB, or of 32 MiB beside pages of 16 KiB.
        assert!(faults >= 2, "{faults}");
        // The kernel adds up what tasks gain by some dozens of pages, which may have 64 KiB each.
        assert!(Usage::thread().unwrap().max_rss_kib >= 56 << 10);
    }

    #[test]
    fn a_difference_is_never_below_zero() {
        let larger = Usage {
            minor_faults: 5,
            ..Usage::default()
        };
        assert_eq!(Usage::default() - larger, Usage::default());
        assert_eq!((larger - Usage::default()).minor_faults, 5);
    }
}
