//! What the kernel counted for a thread, this process or a processor, read without privilege.
//!
//! All counters only grow; a measurement is the difference of two readings (`after - before`),
//! which never goes below 0.

/// The difference of two readings, which never goes below 0.
macro_rules! difference {
    ($reading:ident { $($count:ident),+ }) => {
        impl std::ops::Sub for $reading {
            type Output = Self;

            fn sub(self, before: Self) -> Self {
                Self { $($count: self.$count.saturating_sub(before.$count)),+ }
            }
        }
    };
}
pub(crate) use difference;

mod cpu_times;
mod interrupts;
mod io;
mod proc_file;
mod resident;
mod runnable;
mod sched;
mod task;
mod usage;

pub use cpu_times::{CpuTimes, cpu_times, cpu_times_of_all};
pub use interrupts::Interrupts;
pub use io::{Io, IoReader};
pub use resident::resident_anonymous_bytes;
pub use runnable::runnable_tasks;
pub(crate) use sched::parse as parse_schedstat;
pub use sched::{SchedReading, SchedStat, migrations};
pub use task::{FamilyRun, TaskId, TaskPlace, TaskReading, TaskStat, own_run_ns};
pub(crate) use task::{Numbers, add_served};
pub use usage::Usage;
pub(crate) use usage::Whose;
