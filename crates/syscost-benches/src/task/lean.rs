//! Shared: a lean process that forks in this one's place, so that the cost is that of a small
//! program and does not grow with this one.

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::counters::{TaskStat, Usage};
use syscost_sys::lean::{self, Call, Done, Lean, Script};
use syscost_sys::process::{self, Batch};

use super::ids::{DISTINCT, Ids};

/// Calls in the audit beyond those of the operation: the process waits for its next turns again, or
/// not yet, when it ends.
pub(super) const ASKED: Expect = at_most(Counter::OtherSyscalls, 0.2);

/// The same of a call that the operation makes once.
pub(super) const fn once_and_asked(call: Sysno) -> Expect {
    within(Counter::Syscall(call), 0.8, 1.2)
}

/// Pages that the process writes after each fork are given back to it: its stack, its log.
pub(super) const FAULTS: Expect = within(Counter::MinorFaults, 0.9, 16.0);

/// Maximum memory of its own that it may have, in pages: twice what it writes.
const MAX_PAGES: u64 = 32;

/// What a lean process does in a turn: makes a child, and waits for it.
pub(super) struct Turn {
    /// The call that makes the child.
    pub(super) create: Call,
    /// What the child does.
    pub(super) child: Vec<Call>,
    /// What follows its end, and what that leaves in the log.
    pub(super) then: Option<(Call, u64)>,
    /// Paths and other texts that these calls use.
    pub(super) script: Script,
}

/// Whether only the call that creates the child is timed, or the child's whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    Created,
    Reaped,
}

impl Until {
    pub(super) fn of(case: &Case) -> Result<Self, Failure> {
        Ok(match case.is("until", "created", "reaped")? {
            true => Until::Created,
            false => Until::Reaped,
        })
    }
}

/// Measures a turn.
pub(super) fn measure(b: &mut Bencher, turn: Turn, until: Until) -> Result<(), Failure> {
    // A child that runs before the call has returned ends before it is waited for, so that its
    // parent does not sleep. In the class for batch work new tasks do not preempt.
    let _policy = match until {
        Until::Created => {
            if !Lean::reads(b.clock()) {
                let reason = "the run's clock is not the processor's counter, which the call's \
                              process reads";
                return Err(Failure::Unsupported(reason.to_owned()));
            }
            b.expect(within(Counter::VoluntarySwitches, 0.75, 1.5));
            Some(Batch::enter().map_err(|error| Failure::Unsupported(error.to_string()))?)
        }
        Until::Reaped => None,
    };
    let mut parent = Parent::new(b, turn, until);
    parent.prepare()?;
    parent.claim(b)?;
    b.served(&mut parent)?;
    b.report(DISTINCT, parent.ids.distinct());
    Ok(())
}

/// A lean process, one for each process that asks for it.
struct Parent {
    script: Script,
    /// What the call after the child's end leaves.
    left: Option<u64>,
    until: Until,
    clock: Clock,
    cpu: u32,
    ids: Ids,
    /// The process that asked, and what it got.
    started: Option<(u32, Lean, TaskStat)>,
}

impl Parent {
    fn new(b: &Bencher, turn: Turn, until: Until) -> Self {
        let wait = Call::new(Sysno::WAIT4, [0, Script::ANSWER, 0, 0]);
        let create = match until {
            Until::Created => turn.create.forking().stamped(),
            Until::Reaped => turn.create.forking(),
        };
        let mut calls = vec![create, wait.of_child().answering()];
        let (then, left) = turn.then.unzip();
        calls.extend(then);
        Self {
            script: turn.script.turn(calls).child(turn.child),
            left,
            until,
            clock: *b.clock(),
            cpu: b.cpu(),
            ids: Ids::default(),
            started: None,
        }
    }

    /// The process that this one asks.
    fn lean(&mut self) -> Result<&mut Lean, Failure> {
        let missing = || Failure::Broken("asks a lean process before it is started".into());
        let started = self.started.as_mut().ok_or_else(missing)?;
        Ok(&mut started.1)
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
            Err(reason) => {
                b.claim_unverified(claim, Bencher::ANY, "unknown", "/proc", &reason.to_string());
            }
        }
        Ok(())
    }

    /// Checks what a turn left, and returns its child and how long the call took, in ticks.
    fn checked(until: Until, left: Option<u64>, turn: &[u64]) -> Result<(i32, u64), Failure> {
        let (ticks, results) = match until {
            Until::Created => (turn[1].saturating_sub(turn[0]), &turn[2..]),
            Until::Reaped => (0, turn),
        };
        let error = |what: &str, result: u64| {
            let cause = std::io::Error::from_raw_os_error(-(result as i64) as i32);
            Failure::of(what, cause)
        };
        let child = results[0];
        if (child as i64) < 0 {
            return Err(error("creating a child", child));
        }
        match results[1] {
            waited if waited == child => {}
            waited if (waited as i64) < 0 => return Err(error("waiting for the child", waited)),
            waited => {
                let status = waited >> 32;
                let what = format!("the child {child} ended with the wait status {status:#x}");
                return Err(Failure::Failed(what));
            }
        }
        if left.is_some_and(|left| results[2] != left) {
            return Err(Failure::of("reading the marker", "the program left none"));
        }
        Ok((child as i32, ticks))
    }
}

impl Served for Parent {
    const MAX_TURNS: u64 = lean::MAX_TURNS;

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

    fn run(&mut self, lead_in: u64, turns: u64) -> Result<Option<f64>, Failure> {
        let (until, left, clock) = (self.until, self.left, self.clock);
        let mut ids = std::mem::take(&mut self.ids);
        let asked = self.lean()?.make(lead_in, turns);
        let done: Done<'_> = asked.map_err(|cause| Failure::of("ask a lean process", cause))?;
        let mut of_calls = 0;
        for (number, turn) in done.turns().enumerate() {
            let (child, ticks) = Parent::checked(until, left, turn)?;
            ids.note(child);
            if number as u64 >= lead_in {
                of_calls += ticks;
            }
        }
        let ticks = match until {
            Until::Created => of_calls,
            Until::Reaped => done.ticks,
        };
        self.ids = ids;
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
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::*;
    use crate::testing::{claims, found_of};

    #[test]
    fn a_small_process_forks_and_its_calls_are_counted() {
        let expect = [
            calls(Sysno::CLONE),
            calls(Sysno::EXIT_GROUP),
            calls(Sysno::WAIT4),
            ASKED,
            exactly(Counter::Reported(DISTINCT), 1.0),
            FAULTS,
        ];
        for pass in [Pass::Timed, Pass::Evidence] {
            let turn = Turn {
                create: crate::task::fork::call(),
                child: vec![Call::new(Sysno::EXIT_GROUP, [0])],
                then: None,
                script: Script::new(),
            };
            let forked = |b: &mut Bencher| measure(b, turn, Until::Reaped);
            let Some(found) = found_of(&Case::default(), pass, &expect, forked) else {
                return;
            };
            let confirmed = claims(&found, Verdict::Confirmed);
            assert!(
                confirmed.contains(&"memory of the parent's own, in bytes"),
                "{confirmed:?}"
            );
            let mut refuted = claims(&found, Verdict::Refuted);
            // Other tests keep the CPU busy.
            refuted.retain(|claim| !claim.starts_with("voluntary") && !claim.starts_with("time"));
            assert_eq!(refuted, [""; 0], "{pass:?}");
        }
    }

    #[test]
    fn a_child_that_fails_fails_the_row() {
        let turn = Turn {
            create: crate::task::fork::call(),
            child: vec![Call::new(Sysno::EXIT_GROUP, [7])],
            then: None,
            script: Script::new(),
        };
        let expect = [exactly(Counter::Reported(DISTINCT), 1.0)];
        let forked = |b: &mut Bencher| measure(b, turn, Until::Reaped);
        let found = crate::testing::findings(Pass::Timed, &expect, forked);
        match found {
            Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
            Err(Failure::Failed(why)) => assert!(why.contains("status 0x700"), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    fn checked(until: Until, turn: &[u64]) -> Result<(i32, u64), String> {
        Parent::checked(until, None, turn).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_turn_must_have_made_a_child_that_ended_well() {
        assert_eq!(checked(Until::Reaped, &[7, 7]), Ok((7, 0)));
        assert_eq!(checked(Until::Created, &[100, 130, 7, 7]), Ok((7, 30)));
        let again = checked(Until::Reaped, &[-11_i64 as u64, -10_i64 as u64]).unwrap_err();
        assert!(again.contains("creating a child"), "{again}");
        let lost = checked(Until::Reaped, &[7, -10_i64 as u64]).unwrap_err();
        assert!(lost.contains("waiting"), "{lost}");
        let other = checked(Until::Reaped, &[7, 7 | 127 << 40]).unwrap_err();
        assert!(other.contains("status 0x7f00"), "{other}");
    }

    #[test]
    fn a_program_that_leaves_no_marker_is_noticed() {
        let left = |found| Parent::checked(Until::Reaped, Some(1), &[7, 7, found]);
        assert!(left(1).is_ok() && left(0).is_err());
    }
}
