//! Shared: a lean process that makes children in this one's place, so that the cost is that of a
//! small program and does not grow with this one.

use std::cell::RefCell;
use std::ffi::CStr;

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::counters::{TaskStat, Usage};
use syscost_sys::lean::{self, Done, Lean, Script, ScriptCall};
use syscost_sys::process::{self, Batch};
use syscost_sys::tiny::MARKER;

use super::ids::{DISTINCT, Ids};
use super::marked::Marked;
use super::until::Until;

/// Calls in the audit beyond those of the operation: the process waits for its next iterations
/// again, or not yet, when it ends.
pub(super) const ASKED: Expect = at_most(Counter::OtherSyscalls, 0.2);

/// The same of a call that the operation makes once.
pub(super) const fn once_and_asked(call: Sysno) -> Expect {
    within(Counter::Syscall(call), 0.8, 1.2)
}

/// Pages that the process writes after each fork are given back to it: its stack, its log.
pub(super) const FAULTS: Expect = within(Counter::MinorFaults, 0.9, 16.0);

/// Nothing is copied for a child that shares its parent's memory.
pub(super) const NO_FAULTS: Expect = at_most(Counter::MinorFaults, 0.1);

/// Maximum memory of its own that it may have, in pages: twice what it writes.
const MAX_PAGES: u64 = 32;

/// What a lean process does in an iteration: makes a child, and waits for it.
pub(super) struct Iteration {
    /// The calls that make the child: one that forks, and others that are required.
    pub(super) create: Vec<ScriptCall>,
    /// Whether the parent is blocked until the child has executed a program or ended.
    pub(super) is_blocked: bool,
    pub(super) child: Vec<ScriptCall>,
    pub(super) end: Vec<ScriptCall>,
    pub(super) status: u8,
    /// What follows its end, and what that leaves in the log.
    pub(super) then: Option<(ScriptCall, u64)>,
    /// Paths and other texts that these calls use.
    pub(super) script: Script,
}

impl Iteration {
    /// A child that exits at once, made by this call.
    pub(super) fn of(create: ScriptCall) -> Self {
        Self::by(vec![create.forking()])
    }

    /// As [`Iteration::of`], made by these calls.
    pub(super) fn by(create: Vec<ScriptCall>) -> Self {
        Self {
            create,
            is_blocked: false,
            child: Vec::new(),
            end: vec![ScriptCall::new(Sysno::EXIT_GROUP, [0])],
            status: 0,
            then: None,
            script: Script::new(),
        }
    }

    /// The same with a child that becomes the program of this path, with these arguments and no
    /// environment, or exits with the status that shells use for a missing file.
    pub(super) fn executing(mut self, path: &CStr, arguments: &[&CStr]) -> Self {
        let script = &mut self.script;
        let path = script.place(path.to_bytes_with_nul());
        let mut texts: Vec<u64> = arguments
            .iter()
            .map(|text| script.place(text.to_bytes_with_nul()))
            .collect();
        texts.push(0);
        let (arguments, environment) = (script.place_words(&texts), script.place_words(&[0]));
        self.end = vec![
            ScriptCall::new(Sysno::EXECVE, [path, arguments, environment]),
            ScriptCall::new(Sysno::EXIT_GROUP, [127]),
        ];
        self
    }

    /// The same where the marker of the one run of the tiny program that has ended is taken.
    pub(super) fn taking(mut self, marked: &Marked) -> Self {
        let read = [marked.markers() as u64, Script::ANSWER, 2];
        // One byte was read, and it was the marker.
        let taken = 1 | u64::from(MARKER) << 32;
        self.then = Some((ScriptCall::new(Sysno::READ, read).answering(), taken));
        self
    }

    pub(super) fn running(self, marked: &Marked) -> Self {
        self.executing(marked.path(), &[marked.path()])
            .taking(marked)
    }
}

/// How much of the time of its iterations is what is reported.
static TIMED: Witness = Witness::of(
    "share of the parent's time that is timed",
    "counter read by the parent",
);

/// What proves that children were timed up to this moment by [`measure`].
pub(super) fn proof(until: Until, is_blocked: bool) -> Proof {
    // The child's end, and the wait for it, come after what is timed.
    let part = || TIMED.within(Bound::AtMost(0.98));
    match (until, is_blocked) {
        // A child that runs on before the call has returned ends before it is waited for, so that
        // its parent does not sleep then.
        (Until::Created, false) => part().and(Proof::counted([within(
            Counter::VoluntarySwitches,
            0.75,
            1.5,
        )])),
        (Until::Created, true) => part().and(Proof::counted([within(
            Counter::VoluntarySwitches,
            1.75,
            2.5,
        )])),
        (Until::Reaped, _) => TIMED.within(Bound::Exactly(1.0)),
    }
}

/// Measures an iteration, or its calls that make the child.
pub(super) fn measure(
    mut plan: Plan,
    iteration: Iteration,
    until: Until,
) -> Result<Outcome, Failure> {
    if until == Until::Created && !Lean::reads(plan.clock()) {
        return Err(other_clock());
    }
    let _policy = match (until, iteration.is_blocked) {
        // In the class for batch work new tasks do not preempt.
        (Until::Created, false) => Some(Batch::enter().map_err(Unsupported::from)?),
        // In the normal class a task that is woken runs before others.
        (Until::Created, true) | (Until::Reaped, _) => None,
    };
    let mut parent = Parent::new(&plan, iteration, until);
    parent.prepare()?;
    parent.claim(&mut plan)?;
    let mut outcome = plan.measure(Loop::served(&mut parent))?;
    outcome.observe(&TIMED, parent.timed_ticks as f64 / parent.all_ticks as f64);
    outcome.report(DISTINCT, parent.ids.distinct());
    Ok(outcome)
}

/// Measures the calls of an iteration that make the child in the first iteration of a process, a
/// new one for each operation.
pub(super) fn measure_first(mut plan: Plan, iteration: Iteration) -> Result<Outcome, Failure> {
    if !Lean::reads(plan.clock()) {
        return Err(other_clock());
    }
    // In the class for batch work new tasks do not preempt.
    let _policy = Batch::enter().map_err(Unsupported::from)?;
    let mut parent = Parent::new(&plan, iteration, Until::Created);
    parent.prepare()?;
    parent.claim(&mut plan)?;
    let (parent, mut used) = (RefCell::new(parent), Usage::default());
    let observation = || {
        let mut parent = parent.borrow_mut();
        let before = parent.usage()?;
        let ns = parent.run(0, 1)?;
        let after = parent.usage()?;
        used.minor_faults += after.minor_faults - before.minor_faults;
        used.voluntary_switches += after.voluntary_switches - before.voluntary_switches;
        ns.ok_or_else(other_clock)
    };
    let renew = || parent.borrow_mut().renew();
    let mut outcome = plan.measure(Observed::of(observation).prepared(renew))?;
    outcome.report(FIRST_FAULTS, used.minor_faults as f64);
    outcome.report(FIRST_WAITS, used.voluntary_switches as f64);
    outcome.report(DISTINCT, parent.borrow().ids.distinct());
    Ok(outcome)
}

/// Page faults of a process in its first iteration, and how often it slept.
pub(super) const FIRST_FAULTS: &str = "page faults of the new process";
pub(super) const FIRST_WAITS: &str = "times the new process waited";

/// Why its process cannot time a call.
fn other_clock() -> Failure {
    let reason = "the run's clock is not the processor's counter, which the call's process reads";
    Failure::Unsupported(reason.to_owned())
}

/// A lean process, one for each process that asks for it.
struct Parent {
    script: Script,
    wanted: Wanted,
    clock: Clock,
    cpu: u32,
    ids: Ids,
    /// Of all its iterations, warm-up aside, by its own readings.
    all_ticks: u64,
    /// Those of them that were reported.
    timed_ticks: u64,
    /// The process that asked, and what it got.
    started: Option<(u32, Lean, TaskStat)>,
}

impl Parent {
    fn new(b: &Bencher, iteration: Iteration, until: Until) -> Self {
        let wait = ScriptCall::new(Sysno::WAIT4, [0, Script::ANSWER, 0, 0]);
        let mut calls = iteration.create;
        let child = [iteration.child, iteration.end].concat();
        if until == Until::Created {
            let last = calls.len() - 1;
            calls[0] = calls[0].stamped_before();
            calls[last] = calls[last].stamped_after();
        }
        calls.push(wait.of_child().answering());
        let (then, left) = iteration.then.unzip();
        calls.extend(then);
        Self {
            script: iteration.script.iteration(calls).child(child),
            wanted: Wanted {
                until,
                status: iteration.status,
                left,
            },
            clock: *b.clock(),
            cpu: b.cpu(),
            ids: Ids::default(),
            all_ticks: 0,
            timed_ticks: 0,
            started: None,
        }
    }

    /// The process that this one asks.
    fn lean(&mut self) -> Result<&mut Lean, Failure> {
        let missing = || Failure::Broken("asks a lean process before it is started".into());
        let started = self.started.as_mut().ok_or_else(missing)?;
        Ok(&mut started.1)
    }

    /// Ends it where this process started it, and starts another one.
    fn renew(&mut self) -> Result<(), Failure> {
        let own = std::process::id();
        self.started.take_if(|(asked_by, ..)| *asked_by == own);
        self.prepare()
    }

    /// Claims that its memory is that of a small program, and details it.
    fn claim(&mut self, b: &mut Bencher) -> Result<(), Failure> {
        let task = self.lean()?.task().process;
        let claim = "memory of the parent's own, in bytes";
        let most = Bound::AtMost((MAX_PAGES * page_size() as u64) as f64);
        match process::memory_of(task) {
            Ok(memory) => {
                b.claim_within(claim, most, memory.own_bytes as f64, "/proc");
                b.detail("resident_bytes", memory.resident_bytes as f64);
            }
            Err(reason) => b.claim_unobserved(claim, most.fact(), "/proc", reason),
        }
        Ok(())
    }
}

/// What an iteration must leave.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    until: Until,
    status: u8,
    /// What the call after the child's end leaves.
    left: Option<u64>,
}

impl Wanted {
    /// Checks what an iteration left, and returns its child and how long it took to make it, in
    /// ticks.
    fn check(self, iteration: &[u64]) -> Result<(i32, u64), Failure> {
        let (ticks, child, rest) = match self.until {
            Until::Created => (
                iteration[2].saturating_sub(iteration[0]),
                iteration[1],
                &iteration[3..],
            ),
            Until::Reaped => (0, iteration[0], &iteration[1..]),
        };
        let error = |what: &str, result: u64| {
            let cause = std::io::Error::from_raw_os_error(-(result as i64) as i32);
            Failure::of(what, cause)
        };
        if (child as i64) < 0 {
            return Err(error("creating a child", child));
        }
        // An exit's status is the second byte of what the wait gives.
        let ended = child | u64::from(self.status) << 40;
        match rest[0] {
            waited if waited == ended => {}
            waited if (waited as i64) < 0 => return Err(error("waiting for the child", waited)),
            waited => {
                let status = waited >> 32;
                let what = format!("the child {child} ended with the wait status {status:#x}");
                return Err(Failure::Failed(what));
            }
        }
        if self.left.is_some_and(|left| rest[1] != left) {
            return Err(Failure::of("reading the marker", "the program left none"));
        }
        Ok((child as i32, ticks))
    }
}

impl Served for Parent {
    const MAX_ITERATIONS: u64 = lean::MAX_ITERATIONS;

    fn prepare(&mut self) -> Result<(), Failure> {
        let own = std::process::id();
        if self
            .started
            .as_ref()
            .is_none_or(|(asked_by, ..)| *asked_by != own)
        {
            let lean = Lean::start(&self.script, &[self.cpu])?;
            let stat = TaskStat::of(lean.task())?;
            // The one before belongs to the process that this one is a copy of.
            std::mem::forget(self.started.replace((own, lean, stat)));
        }
        Ok(())
    }

    fn run(&mut self, warm_up: u64, iterations: u64) -> Result<Option<f64>, Failure> {
        let (wanted, clock) = (self.wanted, self.clock);
        let mut ids = std::mem::take(&mut self.ids);
        let done: Done<'_> = self
            .lean()?
            .make(warm_up, iterations)
            .tried("ask a lean process")?;
        let mut creating = 0;
        for (number, iteration) in done.iterations().enumerate() {
            let (child, ticks) = wanted.check(iteration)?;
            ids.note(child);
            if number as u64 >= warm_up {
                creating += ticks;
            }
        }
        let ticks = match wanted.until {
            Until::Created => creating,
            Until::Reaped => done.ticks,
        };
        let all_ticks = done.ticks;
        self.ids = ids;
        self.all_ticks += all_ticks;
        self.timed_ticks += ticks;
        Ok(Lean::reads(&clock).then(|| clock.to_ns(ticks)))
    }

    fn usage(&self) -> Result<Usage, Unsupported> {
        let missing = || Unsupported::new("there is no lean process");
        let (_, _, stat) = self.started.as_ref().ok_or_else(missing)?;
        let read = stat.read()?;
        Ok(Usage {
            minor_faults: read.minor_faults,
            major_faults: read.major_faults,
            voluntary_switches: read.voluntary_switches,
            involuntary_switches: read.involuntary_switches,
            max_rss_kib: 0,
        })
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::{claims, findings_by, found_by};

    /// A child that exits with this status, where 0 is wanted.
    fn exiting(status: u64) -> Iteration {
        Iteration {
            end: vec![ScriptCall::new(Sysno::EXIT_GROUP, [status])],
            ..crate::task::fork::iteration()
        }
    }

    #[test]
    fn a_small_process_makes_children_and_its_calls_are_counted() {
        use crate::task::{clone_vm, exec, first_child, fork, posix_spawn, shell, vfork};
        for row in [
            fork::BENCHMARK,
            vfork::BENCHMARK,
            clone_vm::BENCHMARK,
            posix_spawn::BENCHMARK,
            exec::BENCHMARK,
            shell::BENCHMARK,
            first_child::BENCHMARK,
        ] {
            for case in (row.cases)(&syscost_harness::Testbed::plain()) {
                if let Err(reason) = (row.support)(&case, &syscost_harness::Testbed::plain()) {
                    println!("skipped: {reason}");
                    continue;
                }
                makes_children(&row, &case);
            }
        }
    }

    fn makes_children(row: &Benchmark, case: &Case) {
        for pass in [Pass::Timed, Pass::Evidence] {
            let measure = row.measure;
            let found = or_skip!(found_by(case, pass, row.expect, measure));
            let name = format!("{}{} {pass:?}", row.title, case.suffix());
            let confirmed = claims(&found, Verdict::Confirmed);
            assert!(
                confirmed
                    .iter()
                    .any(|one| one == "memory of the parent's own, in bytes"),
                "{name}: {confirmed:?}"
            );
            let mut refuted = claims(&found, Verdict::Refuted);
            // Other tests keep the CPU busy.
            refuted.retain(|claim| !claim.starts_with("voluntary") && !claim.starts_with("time"));
            assert_eq!(refuted, [""; 0], "{name}");
        }
    }

    #[test]
    fn a_child_that_fails_fails_the_row() {
        let expect = [exactly(Counter::Reported(DISTINCT), 1.0)];
        let found = findings_by(&Case::default(), Pass::Timed, &expect, |plan| {
            measure(plan, exiting(7), Until::Reaped)
        });
        match found {
            Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
            Err(Failure::Failed(why)) => assert!(why.contains("status 0x700"), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    fn checked(until: Until, status: u8, iteration: &[u64]) -> Result<(i32, u64), String> {
        let wanted = Wanted {
            until,
            status,
            left: None,
        };
        wanted
            .check(iteration)
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_iteration_must_have_made_a_child_that_ended_well() {
        assert_eq!(checked(Until::Reaped, 0, &[7, 7]), Ok((7, 0)));
        assert_eq!(checked(Until::Created, 0, &[100, 7, 130, 7]), Ok((7, 30)));
        let again = checked(Until::Reaped, 0, &[-11_i64 as u64, -10_i64 as u64]).unwrap_err();
        assert!(again.contains("creating a child"), "{again}");
        let lost = checked(Until::Reaped, 0, &[7, -10_i64 as u64]).unwrap_err();
        assert!(lost.contains("waiting"), "{lost}");
        let other = checked(Until::Reaped, 0, &[7, 7 | 127 << 40]).unwrap_err();
        assert!(other.contains("status 0x7f00"), "{other}");
    }

    #[test]
    fn a_status_that_is_wanted_must_come() {
        assert_eq!(checked(Until::Reaped, 43, &[7, 7 | 43 << 40]), Ok((7, 0)));
        assert!(checked(Until::Reaped, 43, &[7, 7]).is_err());
        assert!(checked(Until::Reaped, 43, &[7, 7 | 9 << 32]).is_err());
    }

    #[test]
    fn a_program_that_leaves_no_marker_is_noticed() {
        let wanted = Wanted {
            until: Until::Reaped,
            status: 0,
            left: Some(1),
        };
        assert!(wanted.check(&[7, 7, 1]).is_ok() && wanted.check(&[7, 7, 0]).is_err());
    }
}
