//! What the kernel counted for the tasks of an operation, and what follows.

use syscost_results::Verdict;
use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskReading, Usage};

use super::{Bencher, company};
use crate::expect::{Bound, Counter, Expect};

const RUSAGE: &str = "getrusage";
const NOT_TOLD: &str = "this kernel does not tell";
const OUTSIDERS: &str = "other tasks of the machine may have preempted them";
const EARLY: &str = "on CPUs of their own, some were served before they had fallen asleep";
const IN_VAIN: &str =
    "other tasks of the machine wanted their CPU, and had some of them yield in vain";
const FEW: &str = "so few that they took less than a hundredth of the time";

/// How often others preempt a running task at most, in ns of its running time: builds on all CPUs did every fourth
/// millisecond, but tasks with a mebibyte of work a hop were switched out every 0.23 ms beside a build and every
/// 0.11 ms beside two busy loops. Tasks that preempt each other do so every ten microseconds.
const PREEMPTED_EVERY_NS: u64 = 100_000;

/// Beside these: however short the count, others may wake up in it.
const CHANCE_PREEMPTIONS: u64 = 2;

/// Of the sleeps of tasks that wait for each other on CPUs of their own, this part takes place wherever they do wait: one side may find
/// its answer there already, where the call that woke the other took longer than the other's turn, but then the other has slept.
const ASLEEP_AT_LEAST: f64 = 0.5;

/// Of the yields of tasks on one CPU, this part leads to a switch also where others want the CPU: the kernel owes time to one task at a
/// time, then, and which has its turn again is seldom the one that has just yielded: 0.875 was the least seen. One that yields to nobody but
/// others switches once, which is half of what two that yield to each other do.
const YIELDED_AT_LEAST: f64 = 0.7;

/// Tasks that yield to each other sleep in this share of the operations at most.
const NEVER_ASLEEP: f64 = 0.01;

/// A page fault without a device takes about so long, in ns.
const FAULT_NS: f64 = 2_000.0;

/// The share of the time that faults may take which nobody expected: more would change the cost.
const HARMLESS: f64 = 0.01;

/// Where tasks ran that do an operation together.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Placed {
    /// All on one CPU, or there is but one.
    OneCpu,
    /// Where the scheduler put them: perhaps at the same time.
    AnyCpu,
    /// Each on a CPU of its own.
    OwnCpus,
}

impl Placed {
    /// Of a task on `cpu` with this many partners on `cpus`.
    pub(super) fn of(cpu: u32, partners: usize, cpus: &[u32]) -> Self {
        if cpus == [cpu] {
            Self::OneCpu
        } else if cpus.contains(&cpu) || partners > cpus.len() {
            Self::AnyCpu
        } else {
            Self::OwnCpus
        }
    }
}

/// What the kernel counted, for one task or several.
pub(super) struct Counted {
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    switches: u64,
    migrations: Option<u64>,
    /// Time that the tasks ran, in ns.
    run_ns: Option<u64>,
    /// Where the tasks ran.
    placed: Placed,
    /// The share of the time that others had of the CPU, where the tasks were all on one and the kernel tells.
    others: Option<f64>,
    /// How long it was counted, in ns.
    passed_ns: f64,
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
            placed: Placed::OneCpu,
            others: None,
            passed_ns: 0.0,
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
            placed: Placed::OneCpu,
            others: None,
            passed_ns: 0.0,
            source: "/proc",
        }
    }
}

impl Counted {
    /// The same of tasks that were placed so.
    pub(super) fn placed(self, placed: Placed) -> Self {
        Self { placed, ..self }
    }

    /// The same of tasks that all were on one CPU, of which others had this share of the time that passed.
    pub(super) fn beside(self, others: Option<f64>, passed_ns: f64) -> Self {
        Self {
            others,
            passed_ns,
            ..self
        }
    }

    /// The switches that the tasks may have caused themselves. On CPUs of their own they cannot preempt each other, so those where one fell
    /// asleep: two that spin beside busy programs are preempted as often as they pass a word on, where only one runs at a time.
    fn own_switches(&self) -> u64 {
        match self.placed {
            Placed::OwnCpus => self.voluntary_switches,
            Placed::OneCpu | Placed::AnyCpu => self.switches,
        }
    }

    /// Whether the switches beyond the bound may be other programs' doing: the tasks made no more by themselves than it allows, and the
    /// rest are no more than others can have caused while they or others ran. Where the kernel does not tell how long that was, nothing is excused.
    fn may_be_outsiders(&self, bound: Bound, operations: u64) -> bool {
        let (Some(most), Some(run_ns)) = (bound.most(), self.run_ns) else {
            return false;
        };
        let allowed = most * operations as f64;
        let excess = self.own_switches() as f64 - allowed;
        // Who wants the CPU all the time has a slice whenever it is switched to.
        let theirs_ns = self.others.unwrap_or(0.0) * self.passed_ns;
        let by_others = CHANCE_PREEMPTIONS + (run_ns + theirs_ns as u64) / PREEMPTED_EVERY_NS;
        self.voluntary_switches as f64 <= allowed && (0.0..=by_others as f64).contains(&excess)
    }

    /// Whether too few switches are what happens to tasks on several CPUs, which need not fall asleep each time they wait.
    fn may_be_early(&self, bound: Bound, operations: u64) -> bool {
        let per_operation = self.voluntary_switches as f64 / operations as f64;
        let least = bound.least();
        self.placed != Placed::OneCpu && (ASLEEP_AT_LEAST * least..least).contains(&per_operation)
    }

    /// Whether too few switches are what happens to tasks that yield a CPU which others want as well.
    fn may_be_in_vain(&self, bound: Bound, operations: u64) -> bool {
        let per_operation = |count| count as f64 / operations as f64;
        let least = bound.least();
        per_operation(self.voluntary_switches) <= NEVER_ASLEEP
            && (YIELDED_AT_LEAST * least..least).contains(&per_operation(self.switches))
    }

    /// Whether the faults beyond the bound took next to no time. Where the kernel does not tell how long the tasks ran, nothing is excused.
    fn are_harmless(&self, bound: Bound, operations: u64) -> bool {
        let (Some(most), Some(run_ns)) = (bound.most(), self.run_ns) else {
            return false;
        };
        let excess = self.minor_faults as f64 - most * operations as f64;
        excess * FAULT_NS <= HARMLESS * run_ns as f64
    }

    /// Whether others wanted the one CPU of the tasks: they had it while there was counting, or, as that may be shorter than a slice of
    /// the scheduler's, want it now.
    fn had_company(&self) -> bool {
        self.others
            .is_some_and(|others| others > company::MAX_OTHERS || company::is_there())
    }

    /// What may have led to a count that the bound does not allow, other than that the claim is wrong.
    fn excuse(&self, expect: &Expect, operations: u64) -> Option<&'static str> {
        let bound = expect.bound;
        match (expect.counter, bound) {
            (Counter::Switches, _) if self.may_be_outsiders(bound, operations) => Some(OUTSIDERS),
            (Counter::Switches, _) if self.may_be_early(bound, operations) => Some(EARLY),
            (Counter::Switches, _) if self.may_be_in_vain(bound, operations) => {
                self.had_company().then_some(IN_VAIN)
            }
            (Counter::MinorFaults, Bound::AtMost(_)) if self.are_harmless(bound, operations) => {
                Some(FEW)
            }
            _ => None,
        }
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
                Counter::Switches => |counted| Some(counted.own_switches()),
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
                    let counted = counted.as_ref().ok();
                    let excuse = counted.and_then(|counted| counted.excuse(expect, operations));
                    if let (Verdict::Refuted, Some(reason)) = (evidence.verdict, excuse) {
                        evidence.verdict = Verdict::Unverified;
                        evidence.reason = Some(reason.to_owned());
                    }
                    evidence
                }
                Err(reason) => expect.unverified(source, reason),
            };
            self.findings.evidence.push(evidence);
        }
    }
}

impl Bencher<'_> {
    /// What explains that tasks which yield to each other made only this many switches per yield, once [`Bencher::together`] has timed
    /// them: others had their one CPU for longer than interrupts and the kernel's own threads do (the samples are then tagged), or want
    /// it now. `None` where that does not explain it.
    pub fn yields_in_vain(&self, switches: f64) -> Option<&'static str> {
        let explains = switches >= YIELDED_AT_LEAST && (self.had_company || company::is_there());
        explains.then_some(IN_VAIN)
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
    use crate::expect::within;

    fn counted(voluntary_switches: u64, switches: u64, run_ns: Option<u64>) -> Counted {
        Counted {
            minor_faults: 0,
            major_faults: 0,
            voluntary_switches,
            switches,
            migrations: Some(0),
            run_ns,
            placed: Placed::OneCpu,
            others: None,
            passed_ns: 0.0,
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
        // Hops of 60 us beside a build.
        let often = counted(3072, 3867, Some(184_000_000));
        assert!(often.may_be_outsiders(bound, 3072));
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
    fn few_faults_in_much_time_change_nothing() {
        let copies = |minor_faults, run_ns| Counted {
            minor_faults,
            ..counted(0, 0, run_ns)
        };
        let bound = Bound::AtMost(0.01);
        assert!(copies(4, Some(20_000_000)).are_harmless(bound, 170));
        assert!(!copies(400, Some(20_000_000)).are_harmless(bound, 170));
        assert!(!copies(4, None).are_harmless(bound, 170));
    }

    #[test]
    fn only_as_many_partners_as_cpus_have_one_each() {
        assert!(Placed::of(0, 1, &[0]) == Placed::OneCpu);
        assert!(Placed::of(0, 1, &[0, 1]) == Placed::AnyCpu);
        assert!(Placed::of(0, 2, &[1]) == Placed::AnyCpu);
        assert!(Placed::of(0, 1, &[1]) == Placed::OwnCpus);
    }

    #[test]
    fn who_waits_on_a_cpu_of_its_own_need_not_sleep_each_time() {
        let bound = Bound::Within(1.9, 2.1);
        let here = |switches| counted(switches, switches, None);
        let apart = |switches| {
            here(switches)
                .placed(Placed::OwnCpus)
                .may_be_early(bound, 1000)
        };
        assert!(apart(1070));
        // On one CPU each must make way for the other.
        assert!(!here(1070).may_be_early(bound, 1000));
        // Neither side sleeps: they spin.
        assert!(!apart(900));
        assert!(!apart(2200));
        // Nor here, where busy programs preempt them.
        let expect = within(Counter::Switches, 1.9, 2.1);
        let spinning = counted(0, 2000, Some(2_000_000_000)).placed(Placed::OwnCpus);
        assert_eq!(spinning.own_switches(), 0);
        assert_eq!(spinning.excuse(&expect, 1000), None);
        // Where the scheduler puts both on one CPU, they may yield to each other.
        assert_eq!(spinning.placed(Placed::AnyCpu).own_switches(), 2000);
    }

    #[test]
    fn who_yields_beside_others_may_do_so_in_vain() {
        let bound = Bound::Within(0.95, 1.05);
        let seen =
            |voluntary, switches| counted(voluntary, switches, None).may_be_in_vain(bound, 1000);
        assert!(seen(0, 917));
        // There is nobody to yield to, whoever else there is.
        assert!(!seen(0, 300));
        // Nor here, but each yield leads to somebody else's program: two switches were claimed.
        assert!(!counted(0, 1030, None).may_be_in_vain(Bound::Within(1.9, 2.1), 1000));
        // Tasks that sleep switch each time, whatever others do.
        assert!(!seen(900, 917));
        assert!(!seen(0, 1200));
    }

    #[test]
    fn others_are_switched_to_as_often_as_their_time_allows() {
        let bound = Bound::Within(0.95, 1.05);
        let seen = |voluntary, switches, others, passed_ns| {
            let counted = counted(voluntary, switches, Some(300_000)).beside(others, passed_ns);
            counted.may_be_outsiders(bound, 100)
        };
        // Wakes beside a busy loop, which has its slice in each of them.
        assert!(seen(100, 193, Some(0.94), 300e6));
        // Who falls asleep does so by itself.
        assert!(!seen(193, 193, Some(0.94), 300e6));
        // Tasks that yield eight times, whoever else is there.
        assert!(!seen(0, 800, Some(0.5), 2e6));
        assert!(!seen(100, 193, None, 300e6));
    }

    #[test]
    fn only_company_excuses_yields_in_vain() {
        let expect = within(Counter::Switches, 0.95, 1.05);
        let seen = |others| counted(0, 917, None).beside(others, 1e6);
        assert_eq!(seen(Some(0.3)).excuse(&expect, 1000), Some(IN_VAIN));
        // On CPUs of their own, or where the kernel does not say.
        assert_eq!(seen(None).excuse(&expect, 1000), None);
    }

    #[test]
    fn sleeps_and_missing_switches_are_nobody_elses_doing() {
        let bound = Bound::Within(0.95, 1.15);
        assert!(!counted(1200, 1200, Some(u64::MAX)).may_be_outsiders(bound, 1000));
        assert!(!counted(500, 500, Some(u64::MAX)).may_be_outsiders(bound, 1000));
        assert!(!counted(1000, 1151, None).may_be_outsiders(bound, 1000));
    }
}
