//! What the kernel counted for the tasks of an operation, and what follows.

use syscost_results::Verdict;
use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskReading, Usage};

use super::Bencher;
use crate::expect::{Bound, Counter};

const RUSAGE: &str = "getrusage";
const NOT_TOLD: &str = "this kernel does not tell";
const OUTSIDERS: &str = "other tasks of the machine may have preempted them";

/// Other tasks of a busy machine preempt a running one about every fourth millisecond. So often at most, in ns of its running time, is
/// believed to be their doing. Tasks that preempt each other do so a hundred times as often.
const PREEMPTED_EVERY_NS: u64 = 1_000_000;

/// Beside these: however short the count, others may wake up in it.
const CHANCE_PREEMPTIONS: u64 = 2;

/// What the kernel counted, for one task or several.
pub(super) struct Counted {
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    switches: u64,
    migrations: Option<u64>,
    /// Time that the tasks ran, in ns.
    run_ns: Option<u64>,
    source: &'static str,
}

impl From<Usage> for Counted {
    fn from(used: Usage) -> Self {
        Self {
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
            voluntary_switches: used.voluntary_switches,
            switches: used.voluntary_switches + used.involuntary_switches,
            migrations: None,
            run_ns: None,
            source: RUSAGE,
        }
    }
}

impl From<TaskReading> for Counted {
    fn from(used: TaskReading) -> Self {
        Self {
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
            voluntary_switches: used.voluntary_switches,
            switches: used.switches(),
            migrations: used.migrations,
            run_ns: used.run_ns,
            source: "/proc",
        }
    }
}

impl Counted {
    /// Whether the switches beyond the bound may be other programs' doing: the tasks made no more by themselves than it allows, and the
    /// rest are no more than others can have caused while they ran. Where the kernel does not tell how long that was, nothing is excused.
    fn may_be_outsiders(&self, bound: Bound, operations: u64) -> bool {
        let (Some(most), Some(run_ns)) = (bound.most(), self.run_ns) else {
            return false;
        };
        let allowed = most * operations as f64;
        let excess = self.switches as f64 - allowed;
        let by_others = CHANCE_PREEMPTIONS + run_ns / PREEMPTED_EVERY_NS;
        self.voluntary_switches as f64 <= allowed && (0.0..=by_others as f64).contains(&excess)
    }
}

impl Bencher<'_> {
    /// Judges what is declared of faults, switches and migrations.
    pub(super) fn judge_counts(&mut self, counted: Result<Counted, Unsupported>, operations: u64) {
        for expect in &self.declared {
            let count: fn(&Counted) -> Option<u64> = match expect.counter {
                Counter::MinorFaults => |counted| Some(counted.minor_faults),
                Counter::MajorFaults => |counted| Some(counted.major_faults),
                Counter::VoluntarySwitches => |counted| Some(counted.voluntary_switches),
                Counter::Switches => |counted| Some(counted.switches),
                Counter::Migrations => |counted| counted.migrations,
                _ => continue,
            };
            let (source, seen) = match &counted {
                Ok(counted) => (counted.source, count(counted).ok_or(NOT_TOLD.to_owned())),
                Err(reason) => (RUSAGE, Err(reason.to_string())),
            };
            let evidence = match seen {
                Ok(count) => {
                    let mut evidence = expect.judge(count as f64 / operations as f64, source);
                    if count == 1 && operations > 1 && matches!(expect.bound, Bound::AtMost(_)) {
                        evidence.verdict = Verdict::Confirmed;
                        evidence.reason = Some(format!("a single one in {operations} operations"));
                    }
                    let outsiders = counted.as_ref().is_ok_and(|counted| {
                        expect.counter == Counter::Switches
                            && counted.may_be_outsiders(expect.bound, operations)
                    });
                    if evidence.verdict == Verdict::Refuted && outsiders {
                        evidence.verdict = Verdict::Unverified;
                        evidence.reason = Some(OUTSIDERS.to_owned());
                    }
                    evidence
                }
                Err(reason) => expect.unverified(source, reason),
            };
            self.findings.evidence.push(evidence);
        }
    }
}

/// What was counted since.
pub(super) fn since(before: Result<Usage, Unsupported>) -> Result<Usage, Unsupported> {
    let now = Usage::thread()?;
    Ok(now - before?)
}

/// Both together.
pub(super) fn plus(a: Usage, b: Usage) -> Usage {
    Usage {
        minor_faults: a.minor_faults + b.minor_faults,
        major_faults: a.major_faults + b.major_faults,
        voluntary_switches: a.voluntary_switches + b.voluntary_switches,
        involuntary_switches: a.involuntary_switches + b.involuntary_switches,
        max_rss_kib: a.max_rss_kib.max(b.max_rss_kib),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(voluntary_switches: u64, switches: u64, run_ns: Option<u64>) -> Counted {
        Counted {
            minor_faults: 0,
            major_faults: 0,
            voluntary_switches,
            switches,
            migrations: Some(0),
            run_ns,
            source: "/proc",
        }
    }

    #[test]
    fn others_preempt_now_and_then_and_own_tasks_all_the_time() {
        let bound = Bound::Within(0.95, 1.15);
        let hops = 1000;
        // Hops of 60 us, and a busy machine.
        let disturbed = counted(1000, 1165, Some(60_000_000));
        assert!(disturbed.may_be_outsiders(bound, hops));
        // Hops of 2 us, in every fifth of which the woken preempts the one that woke it.
        let own = counted(1000, 1200, Some(2_000_000));
        assert!(!own.may_be_outsiders(bound, hops));
        // Yields: none of their switches is voluntary.
        let twice = counted(0, 2000, Some(500_000));
        assert!(!twice.may_be_outsiders(Bound::Within(0.95, 1.05), hops));
        let chance = counted(0, 2, Some(100_000));
        assert!(chance.may_be_outsiders(Bound::AtMost(0.001), 100));
    }

    #[test]
    fn sleeps_and_missing_switches_are_nobody_elses_doing() {
        let bound = Bound::Within(0.95, 1.15);
        assert!(!counted(1200, 1200, Some(u64::MAX)).may_be_outsiders(bound, 1000));
        assert!(!counted(500, 500, Some(u64::MAX)).may_be_outsiders(bound, 1000));
        assert!(!counted(1000, 1151, None).may_be_outsiders(bound, 1000));
    }
}
