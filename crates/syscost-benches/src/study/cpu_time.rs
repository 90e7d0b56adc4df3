//! Shared: how the CPU time of a process divides into its own code and the kernel's.
#![allow(unsafe_code)] // getrusage

use std::mem::MaybeUninit;
use std::ops::{AddAssign, Sub};

use syscost_harness::Failure;

/// CPU time of all threads of a process. Most kernels check only at their tick which of both runs,
/// so the split is accurate only over many ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CpuTime {
    /// In its own code, in ns.
    user_ns: f64,
    /// In the kernel, in ns.
    kernel_ns: f64,
}

impl CpuTime {
    /// The CPU time of this process since it was started.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn now() -> Result<Self, Failure> {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: `usage` has room for what the kernel writes.
        if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
            return Err(Failure::last_os_error("getrusage"));
        }
        // SAFETY: the call succeeded, so all of it was written.
        let usage = unsafe { usage.assume_init() };
        let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
        Ok(Self {
            user_ns: ns(usage.ru_utime),
            kernel_ns: ns(usage.ru_stime),
        })
    }

    /// The kernel's share in percent; NaN where there was no time.
    pub(super) fn kernel_percent(self) -> f64 {
        100.0 * self.kernel_ns / (self.user_ns + self.kernel_ns)
    }
}

impl Sub for CpuTime {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            user_ns: self.user_ns - before.user_ns,
            kernel_ns: self.kernel_ns - before.kernel_ns,
        }
    }
}

impl AddAssign for CpuTime {
    fn add_assign(&mut self, more: Self) {
        self.user_ns += more.user_ns;
        self.kernel_ns += more.kernel_ns;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn own_code_is_not_the_kernels() {
        let before = CpuTime::now().expect("getrusage is always there");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
        let used = CpuTime::now().expect("it was there before") - before;
        assert!(used.user_ns > 0.0, "{used:?}");
    }

    #[test]
    fn shares_are_of_all_time() {
        let mut time = CpuTime::default();
        assert!(time.kernel_percent().is_nan());
        time += CpuTime {
            user_ns: 1.0,
            kernel_ns: 3.0,
        };
        assert_eq!(time.kernel_percent(), 75.0);
    }
}
