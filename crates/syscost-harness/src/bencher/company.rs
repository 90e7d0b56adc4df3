//! Whether another program wants the CPU that this one measures on.

use std::time::{Duration, Instant};

use syscost_results::{Evidence, Verdict};
use syscost_sys::Unsupported;
use syscost_sys::counters::{SchedStat, TaskReading};

/// How long is looked for others: longer than two slices of the scheduler.
const LOOK: Duration = Duration::from_millis(12);

/// Who waits this share of the time has company.
const WAITED: f64 = 0.1;

/// Others may have this share of the time of a CPU that all tasks of a team are on: interrupts and the
/// kernel's own threads take less.
pub(super) const MAX_OTHERS: f64 = 0.05;

/// A time of which others had a larger share than this says little about the work that was done in it.
const MOSTLY_OTHERS: f64 = 0.5;

/// The share of the time in which a CPU ran others than the tasks that all were on it, at most: none of these
/// ran then, but one of them was ready to. Tasks that sleep and wait for each other as well are suspected too
/// often rather than too rarely. `None` where the kernel does not say how long tasks ran and waited.
pub(super) fn share(used: &TaskReading, passed_ns: f64) -> Option<f64> {
    let (run_ns, delay_ns) = (used.run_ns? as f64, used.delay_ns? as f64);
    Some((passed_ns - run_ns).clamp(0.0, delay_ns) / passed_ns)
}

/// Whether time that did not double with the work may be that of others, who had this share of the one CPU of
/// all tasks. Tasks that yield let them run for milliseconds in some batches and not in others, so it may
/// more than double beside any of them. Where others have most of the time, one slice of theirs may be all
/// that is timed, whatever the work.
pub(super) fn may_be_theirs(others: f64, is_longer: bool) -> bool {
    others > MOSTLY_OTHERS || (others > MAX_OTHERS && is_longer)
}

/// Evidence whose count other programs may have raised refutes only where there are none.
pub(super) fn excused(evidence: Evidence, may_be_others: bool) -> Evidence {
    match may_be_others && evidence.verdict == Verdict::Refuted && is_there() {
        true => excuse(evidence),
        false => evidence,
    }
}

/// Evidence that others may have spoilt refutes nothing.
pub(super) fn excuse(mut evidence: Evidence) -> Evidence {
    if evidence.verdict == Verdict::Refuted {
        evidence.verdict = Verdict::Unverified;
        evidence.reason = Some("another program wants this CPU, and may have caused it".to_owned());
    }
    evidence
}

/// Whether this task has to wait for the CPU though it does nothing but run. Not where the kernel does not say.
pub(super) fn is_there() -> bool {
    waited().is_ok_and(|share| share > WAITED)
}

/// The share of the time that this task has to wait for the CPU, though it does nothing but run.
fn waited() -> Result<f64, Unsupported> {
    let statistics = SchedStat::open()?;
    let before = statistics.read()?;
    let begun = Instant::now();
    while begun.elapsed() < LOOK {
        std::hint::spin_loop();
    }
    let waited_ns = (statistics.read()? - before).run_delay_ns;
    Ok(waited_ns as f64 / begun.elapsed().as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::{Counter, at_most};

    #[test]
    fn others_ran_while_some_task_was_ready_and_none_ran() {
        let of = |run_ns, delay_ns| {
            let used = TaskReading {
                run_ns: Some(run_ns),
                delay_ns: Some(delay_ns),
                ..TaskReading::default()
            };
            share(&used, 100.0)
        };
        assert_eq!(of(98, 90), Some(0.02), "of two that take turns");
        assert_eq!(of(10, 1), Some(0.01), "of tasks that sleep");
        assert_eq!(of(40, 140), Some(0.6), "beside a busy loop");
        assert_eq!(of(101, 90), Some(0.0), "read a little later");
        assert_eq!(share(&TaskReading::default(), 100.0), None);
    }

    #[test]
    fn few_others_make_no_time_shorter() {
        assert!(may_be_theirs(0.1, true));
        assert!(!may_be_theirs(0.1, false));
        assert!(!may_be_theirs(0.01, true));
        assert!(
            may_be_theirs(0.99, false),
            "a slice of theirs is all there is"
        );
    }

    #[test]
    fn what_nobody_else_can_have_caused_is_refuted() {
        let judged = || at_most(Counter::Reported("switches"), 0.25).judge(0.4, "benchmark");
        assert_eq!(excused(judged(), false).verdict, Verdict::Refuted);
        let fine = at_most(Counter::Reported("switches"), 0.25).judge(0.1, "benchmark");
        assert_eq!(excused(fine, true).verdict, Verdict::Confirmed);
    }

    #[test]
    fn who_shares_its_cpu_has_company() {
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        let cpu = syscost_sys::cpu::allowed().expect("some")[0];
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _ = syscost_sys::cpu::pin(cpu);
                while !is_over.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let seen = scope.spawn(|| {
                let _ = syscost_sys::cpu::pin(cpu);
                (0..20).any(|_| is_there())
            });
            let seen = seen.join().expect("it only looks");
            is_over.store(true, Relaxed);
            assert!(seen || SchedStat::open().is_err());
        });
    }
}
