//! Whether another program wants the CPU that this one measures on.

use std::time::{Duration, Instant};

use syscost_results::{Evidence, Verdict};
use syscost_sys::counters::SchedStat;

/// How long is looked for others: longer than two slices of the scheduler.
const LOOK: Duration = Duration::from_millis(12);

/// Who waits this share of the time has company.
const WAITED: f64 = 0.1;

/// Evidence whose count other programs may have raised refutes only where there are none.
pub(super) fn excused(mut evidence: Evidence, may_be_others: bool) -> Evidence {
    if may_be_others && evidence.verdict == Verdict::Refuted && is_there() == Some(true) {
        evidence.verdict = Verdict::Unverified;
        evidence.reason = Some("another program wants this CPU, and may have caused it".to_owned());
    }
    evidence
}

/// Whether this task has to wait for the CPU though it does nothing but run; `None` where the kernel does not say.
fn is_there() -> Option<bool> {
    let statistics = SchedStat::open().ok()?;
    let before = statistics.read().ok()?;
    let begun = Instant::now();
    while begun.elapsed() < LOOK {
        std::hint::spin_loop();
    }
    let waited = (statistics.read().ok()? - before).run_delay_ns;
    Some(waited as f64 > WAITED * begun.elapsed().as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::{Counter, at_most};

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
                (0..20).find_map(|_| is_there().filter(|seen| *seen))
            });
            let seen = seen.join().expect("it only looks");
            is_over.store(true, Relaxed);
            assert!(seen == Some(true) || SchedStat::open().is_err());
        });
    }
}
