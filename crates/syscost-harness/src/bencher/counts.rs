//! What the kernel counted for the tasks of an operation, and what follows.

use syscost_results::{Evidence, Fact, Verdict};
use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskReading, Usage};

use super::Bencher;
use crate::expect::{Bound, Counter};

const RUSAGE: &str = "getrusage";
const NOT_TOLD: &str = "this kernel does not tell";

/// What the kernel counted, for one task or several.
pub(super) struct Counted {
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    switches: u64,
    migrations: Option<u64>,
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
            source: "/proc",
        }
    }
}

impl Bencher<'_> {
    /// Judges what is declared of faults, switches and migrations.
    pub(super) fn judge_counts(&mut self, counted: Result<Counted, Unsupported>, operations: u64) {
        let voluntary = counted
            .as_ref()
            .map_or(0, |counted| counted.voluntary_switches);
        for expect in &self.declared {
            let count: fn(&Counted) -> Option<u64> = match expect.counter {
                Counter::MinorFaults => |counted| Some(counted.minor_faults),
                Counter::MajorFaults => |counted| Some(counted.major_faults),
                Counter::VoluntarySwitches => |counted| Some(counted.voluntary_switches),
                Counter::Switches => |counted| Some(counted.switches),
                Counter::Migrations => |counted| counted.migrations,
                _ => continue,
            };
            let (source, counted) = match &counted {
                Ok(counted) => (counted.source, count(counted).ok_or(NOT_TOLD.to_owned())),
                Err(reason) => (RUSAGE, Err(reason.to_string())),
            };
            let evidence = match counted {
                Ok(count) => {
                    let mut evidence = expect.judge(count as f64 / operations as f64, source);
                    if count == 1 && operations > 1 && matches!(expect.bound, Bound::AtMost(_)) {
                        evidence.verdict = Verdict::Confirmed;
                        evidence.reason = Some(format!("a single one in {operations} operations"));
                    }
                    if expect.counter == Counter::Switches && evidence.verdict == Verdict::Refuted {
                        excuse_preemptions(&mut evidence, expect.bound, voluntary, operations);
                    }
                    evidence
                }
                Err(reason) => expect.unverified(source, reason),
            };
            self.findings.evidence.push(evidence);
        }
    }
}

/// Switches beyond the bound of which the tasks made no more than it allows by themselves are other programs' doing: they refute
/// nothing.
fn excuse_preemptions(evidence: &mut Evidence, bound: Bound, voluntary: u64, operations: u64) {
    let per_operation = |count: u64| count as f64 / operations as f64;
    let Some(most) = bound.most() else { return };
    let too_many = matches!(evidence.observed, Some(Fact::Number(observed)) if observed > most);
    if too_many && per_operation(voluntary) <= most {
        evidence.verdict = Verdict::Unverified;
        evidence.reason = Some("other tasks of the machine preempted them".to_owned());
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
