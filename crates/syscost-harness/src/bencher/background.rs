//! Whether another program wants the CPU that is measured on.

use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use syscost_sys::Unsupported;
use syscost_sys::counters::{
    CpuTimes, SchedStat, TaskReading, cpu_times, own_run_ns, runnable_tasks,
};
use syscost_sys::cpu::pin;

/// How long to look for other programs: longer than two slices of the scheduler.
const WAITED_FOR: Duration = Duration::from_millis(12);

/// Two ticks of the times that a CPU was idle, and a part of one.
const SLEPT: Duration = Duration::from_millis(25);

/// Minimum share of the time that a task has to wait if other programs want its CPU.
const WAITED: f64 = 0.1;

/// Maximum share of the time that others may have of the CPUs of a team: interrupts and the
/// kernel's own threads take less.
pub(super) const MAX_BACKGROUND: f64 = 0.05;

/// Upper bound for the share of the time in which a CPU ran other tasks than those of a team, all
/// of which are on it: none of these ran then, but one of them was ready to. Tasks that sleep and
/// wait for each other are suspected too often rather than too rarely. `None` where the kernel does
/// not say how long tasks ran and waited.
pub(super) fn share(used: &TaskReading, passed_ns: f64) -> Option<f64> {
    let (run_ns, delay_ns) = (used.run_ns? as f64, used.delay_ns? as f64);
    Some((passed_ns - run_ns).clamp(0.0, delay_ns) / passed_ns)
}

/// Upper bound for the share of the time in which some task of a team on separate CPUs was ready
/// and did not run: behind others or, where the tasks sleep, also while its CPU woke up. `None`
/// where the kernel does not say how long tasks waited.
pub(super) fn share_of_waiting(used: &TaskReading, passed_ns: f64) -> Option<f64> {
    Some((used.delay_ns? as f64 / passed_ns).min(1.0))
}

/// Upper bound for others' share of the time of some CPU of a team that is on several. A task
/// that is woken on a CPU that sleeps waits for it as for another task, and one delay of 200 us
/// is 5 % of a short process: where more was counted, what a task that never sleeps has to wait
/// on these CPUs decides.
pub(super) fn share_of_separate(cpus: &[u32], used: &TaskReading, passed_ns: f64) -> Option<f64> {
    let waited = share_of_waiting(used, passed_ns)?;
    confirmed(waited, MAX_BACKGROUND, cpus)
}

/// A share of the time that tasks waited for these CPUs which may be the CPUs' own waking up: where
/// it is more than `most`, no more counts than a task that never sleeps has to wait there now.
/// `None` where the kernel does not report that.
pub(super) fn confirmed(waited: f64, most: f64, cpus: &[u32]) -> Option<f64> {
    match waited <= most {
        true => Some(waited),
        false => Some(waited.min(share_on(cpus)?)),
    }
}

/// The largest share of the time that a task on one of these CPUs has to wait though it never
/// sleeps. `None` where the kernel does not report it.
fn share_on(cpus: &[u32]) -> Option<f64> {
    // None runs before all are where they look: until then they start on this task's CPU. Where one
    // cannot be started (`ulimit -u`), none is waited for.
    let missing = AtomicIsize::new(cpus.len() as isize);
    let look = |cpu| {
        let pinned = pin(cpu);
        missing.fetch_sub(1, Relaxed);
        while missing.load(Relaxed) > 0 {
            thread::yield_now();
        }
        pinned.ok().and_then(|()| waited().ok())
    };
    thread::scope(|scope| {
        let start = |cpu: &u32| {
            let cpu = *cpu;
            thread::Builder::new().spawn_scoped(scope, move || look(cpu))
        };
        let looks: Result<Vec<_>, _> = cpus.iter().map(start).collect();
        let looks = looks.inspect_err(|_| missing.store(0, Relaxed)).ok()?;
        let shares = looks.into_iter().filter_map(|one| one.join().ok()?);
        shares.reduce(f64::max)
    })
}

/// What the kernel has counted for this task, all of whose waiting is others' if it makes an
/// operation alone and never sleeps. `None` where the kernel does not report it.
pub(super) fn own_reading(schedule: &SchedStat) -> Option<TaskReading> {
    let delay_ns = schedule.read().ok()?.run_delay_ns;
    Some(TaskReading {
        run_ns: Some(own_run_ns()),
        delay_ns: Some(delay_ns),
        ..TaskReading::default()
    })
}

/// A stretch of time in which tasks may share a CPU with other programs: a task that sleeps or yields
/// lets them run for a slice, which may be all that is timed, regardless of the work; and where two
/// batches are as long as a slice, others run in the longer one each time.
pub(super) struct Stretch {
    before: Option<TaskReading>,
    begun: Instant,
}

impl Stretch {
    /// Begins with what the kernel has counted for the tasks so far; `None` where they are not on one CPU.
    pub(super) fn begin(before: Option<TaskReading>) -> Self {
        Self {
            before,
            begun: Instant::now(),
        }
    }

    /// Whether others had the CPU since then, given what has been counted by now.
    pub(super) fn had_background_tasks(&self, now: Option<TaskReading>) -> bool {
        let passed_ns = self.begun.elapsed().as_nanos() as f64;
        let used = now.zip(self.before).map(|(now, before)| now - before);
        used.and_then(|used| share(&used, passed_ns))
            .is_some_and(|others| others > MAX_BACKGROUND)
    }
}

/// Why evidence that other programs may have affected refutes nothing.
pub(super) const WANTED: &str = "another program wants this CPU, and may have caused it";

/// Whether a task has to wait for one of these CPUs though it never sleeps: other programs want it.
/// False where the kernel does not report it.
pub(super) fn is_on(cpus: &[u32]) -> bool {
    share_on(cpus).is_some_and(|share| share > WAITED)
}

/// Whether this task has to wait for the CPU though it never sleeps. False where the kernel does
/// not report it.
pub(super) fn is_there() -> bool {
    waited().is_ok_and(|share| share > WAITED)
}

/// Whether another program is ready to run on this CPU, of whatever priority: also one that gets next
/// to no time while a task here is ready. False where the kernel does not report it.
pub(super) fn is_ready_on(cpu: u32) -> bool {
    // Those of all CPUs: mostly this task is the only one.
    let is_alone = runnable_tasks().is_ok_and(|tasks| tasks <= 1);
    !is_alone && idled(cpu).is_ok_and(|idled| !idled)
}

/// Whether this CPU has nothing to do while this task, which is on it, sleeps.
fn idled(cpu: u32) -> Result<bool, Unsupported> {
    let nothing = |times: CpuTimes| times.idle + times.iowait;
    let before = nothing(cpu_times(cpu)?);
    thread::sleep(SLEPT);
    Ok(nothing(cpu_times(cpu)?) > before)
}

/// The share of the time that this task has to wait for the CPU though it never sleeps.
fn waited() -> Result<f64, Unsupported> {
    let statistics = SchedStat::open()?;
    let before = statistics.read()?;
    let begun = Instant::now();
    while begun.elapsed() < WAITED_FOR {
        std::hint::spin_loop();
    }
    let waited_ns = (statistics.read()? - before).run_delay_ns;
    Ok(waited_ns as f64 / begun.elapsed().as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bencher::tests::real::beside_busy_loops;

    fn used(run_ns: u64, delay_ns: u64) -> TaskReading {
        TaskReading {
            run_ns: Some(run_ns),
            delay_ns: Some(delay_ns),
            ..TaskReading::default()
        }
    }

    #[test]
    fn others_ran_while_some_task_was_ready_and_none_ran() {
        let of = |run_ns, delay_ns| share(&used(run_ns, delay_ns), 100.0);
        assert_eq!(of(98, 90), Some(0.02), "of two that take turns");
        assert_eq!(of(10, 1), Some(0.01), "of tasks that sleep");
        assert_eq!(of(40, 140), Some(0.6), "beside a busy loop");
        assert_eq!(of(101, 90), Some(0.0), "read a little later");
        assert_eq!(share(&TaskReading::default(), 100.0), None);
    }

    #[test]
    fn a_slice_of_others_is_seen_in_the_stretch_that_has_it() {
        let counted = |run_ns, delay_ns| Some(used(run_ns, delay_ns));
        let passed = Duration::from_millis(4);
        let stretch = |before| Stretch {
            before,
            begun: Instant::now() - passed,
        };
        let run_ns = passed.as_nanos() as u64;
        assert!(stretch(counted(0, 0)).had_background_tasks(counted(40_000, 3_000_000)));
        // The test may be preempted here, but then no task of the team waited.
        assert!(!stretch(counted(0, 0)).had_background_tasks(counted(run_ns, 0)));
        assert!(!stretch(None).had_background_tasks(None));
    }

    #[test]
    fn a_task_that_shares_its_cpu_has_background_tasks() {
        let cpu = syscost_sys::cpu::allowed().expect("some")[0];
        let look = || {
            let _ = pin(cpu);
            (0..20).any(|_| is_there())
        };
        let seen = beside_busy_loops(&[cpu], || {
            thread::scope(|scope| scope.spawn(look).join().expect("it only looks"))
        });
        assert!(seen || SchedStat::open().is_err());
    }

    #[test]
    fn a_program_that_wants_this_cpu_is_ready_on_it() {
        let cpu = syscost_sys::cpu::allowed().expect("some")[0];
        let look = || {
            let _ = pin(cpu);
            is_ready_on(cpu)
        };
        let seen = beside_busy_loops(&[cpu], || {
            thread::scope(|scope| scope.spawn(look).join().expect("it only looks"))
        });
        assert!(seen || runnable_tasks().is_err() || cpu_times(cpu).is_err());
    }
}
