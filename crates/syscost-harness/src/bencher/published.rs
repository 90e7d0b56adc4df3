//! Published procedures, repeated as a whole by programs that are started: each sample is one
//! result as its program prints it. The kernel's counts of the program, not those of the task that
//! waits for it, decide whether others disturbed it.

use syscost_results::Evidence;
use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskReading, Usage};
use syscost_sys::raw::Sysno;

use super::body::Body;
use super::counts::{RUSAGE, plus};
use super::plan::{Plan, Shape};
use crate::expect::{Counter, Manner};
use crate::failure::Failure;

/// How often whoever started a program may take the CPU from it outside of its marks: at its start,
/// and at its end.
const BY_ITS_PARENT: u64 = 2;

/// Why nothing is counted of a program.
pub(super) const UNMARKED: &str =
    "its program does not call begin() and end() of result.h, between which all is counted";

/// What a program printed, and what the kernel counted for it.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Its result, in the benchmark's own unit.
    pub result: f64,
    /// What was counted for all its tasks, from its start to its end.
    pub whole: Usage,
    /// The same of its first task alone; `None` where the kernel does not tell.
    pub first: Option<TaskReading>,
    /// What was counted for all its tasks between its marks; `None` of a program without.
    pub marked: Option<Marked>,
}

/// What was counted for a program between the marks of what it times.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marked {
    /// The operations that it made there.
    pub operations: u64,
    /// What the kernel counted meanwhile.
    pub used: Usage,
}

impl Ran {
    /// Whether it had one task only.
    fn is_one_task(&self) -> bool {
        self.first.is_none_or(|first| first.is_all_of(&self.whole))
    }

    /// How long it was ready and did not run, as far as its first task tells, in ns. Outside of its
    /// marks that does not matter: one task that never sleeps between them waits there only if it
    /// is preempted.
    fn delay_ns(&self) -> u64 {
        let never_sleeps = |marked: Marked| marked.used.voluntary_switches == 0;
        match self.is_one_task() && self.marked.is_some_and(never_sleeps) {
            true => 0,
            false => self.first.and_then(|first| first.delay_ns).unwrap_or(0),
        }
    }

    /// Whether something else had its CPU while it was ready: tasks of one program preempt each other.
    fn was_preempted(&self) -> bool {
        let preempted = match self.marked {
            Some(marked) => marked.used.involuntary_switches,
            None => self
                .whole
                .involuntary_switches
                .saturating_sub(BY_ITS_PARENT),
        };
        preempted > 0 && self.is_one_task()
    }
}

/// A published procedure, repeated as a whole: each sample is one result as its program prints it,
/// in the benchmark's own unit.
pub struct Published<P> {
    counted: Counted,
    procedure: P,
}

/// What is to be counted of the system calls, faults and switches of a program.
#[derive(Debug, Clone)]
pub enum Counted {
    /// What its benchmark expects, per operation of this many that a run of it makes.
    Expected(u64),
    /// All, of which nothing is expected, per operation of those that it says it makes; of these
    /// calls also that there were none.
    Noted(Vec<Sysno>),
}

impl<P: FnMut() -> Result<Ran, Failure>> Published<P> {
    /// `procedure` starts the program and waits for its end,
    /// [uncounted](syscost_sys::audit::uncounted): what is counted is the program's.
    pub fn of(counted: Counted, procedure: P) -> Self {
        Self { counted, procedure }
    }
}

impl<P: FnMut() -> Result<Ran, Failure>> Shape for Published<P> {
    type Output = ();

    const MANNER: Manner = Manner::Observations;

    fn time(self, plan: &mut Plan) -> Result<(), Failure> {
        // A published figure was not converted to a usual frequency either.
        plan.disregard_frequency();
        plan.time_programs(self.procedure)
    }

    fn count(mut self, plan: &mut Plan) -> Result<(), Failure> {
        match self.counted {
            Counted::Expected(operations) => plan.count_batches(
                operations,
                &mut ProgramBody(self.procedure, Usage::default()),
            ),
            Counted::Noted(calls) => {
                let ran = (self.procedure)()?;
                if let Some(marked) = ran.marked {
                    plan.note_counts(marked);
                }
                plan.note_calls(&calls, &mut || (self.procedure)().map(drop))
            }
        }
    }
}

impl Plan<'_> {
    /// Takes a sample of each run of a program, and tags those of runs that others disturbed.
    fn time_programs(
        &mut self,
        mut procedure: impl FnMut() -> Result<Ran, Failure>,
    ) -> Result<(), Failure> {
        self.waits.begin_programs();
        self.sample(1, |plan| {
            plan.done.operations += 1;
            plan.wait_before_sample();
            plan.probe_before();
            let ran = procedure()?;
            plan.waits.add_program(ran.delay_ns(), !ran.is_one_task());
            plan.probe_after();
            if ran.was_preempted() {
                plan.tag_preempted();
            }
            Ok((ran.result, None))
        })
    }

    /// Notes faults and switches per operation.
    pub(super) fn note_counts(&mut self, Marked { operations, used }: Marked) {
        self.done.operations += operations;
        for (counter, count) in [
            (Counter::MinorFaults, used.minor_faults),
            (Counter::MajorFaults, used.major_faults),
            (Counter::VoluntarySwitches, used.voluntary_switches),
            (
                Counter::Switches,
                used.voluntary_switches + used.involuntary_switches,
            ),
        ] {
            let each = count as f64 / operations as f64;
            self.add_evidence(Evidence::note(counter.claim(), each, RUSAGE));
        }
    }
}

/// A program that repeats a procedure, started for each result; and what was counted for all that were.
struct ProgramBody<P>(P, Usage);

impl<P: FnMut() -> Result<Ran, Failure>> Body for ProgramBody<P> {
    fn run(&mut self, results: u64) -> Result<(), Failure> {
        (0..results).try_for_each(|_| {
            let ran = (self.0)()?;
            let used = ran.marked.map_or(ran.whole, |marked| marked.used);
            self.1 = plus(self.1, used);
            Ok(())
        })
    }

    fn usage(&self) -> Option<Result<Usage, Unsupported>> {
        Some(Ok(self.1))
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::measurement::Cause;
    use syscost_sys::clock::mock;

    use super::*;
    use crate::bencher::tests::timed;

    /// A program that was switched out against its will this often in all; between its marks, if it
    /// has some, it slept and was switched out this often.
    fn ran(in_all: u64, marked: Option<(u64, u64)>) -> Ran {
        Ran {
            result: 1.0,
            whole: Usage {
                minor_faults: 40,
                involuntary_switches: in_all,
                ..Usage::default()
            },
            first: Some(TaskReading {
                minor_faults: 40,
                involuntary_switches: in_all,
                delay_ns: Some(7),
                ..TaskReading::default()
            }),
            marked: marked.map(|(voluntary_switches, involuntary_switches)| Marked {
                operations: 1,
                used: Usage {
                    voluntary_switches,
                    involuntary_switches,
                    ..Usage::default()
                },
            }),
        }
    }

    /// The same of a program whose tasks take turns, with memory of their own or in common.
    fn of_several(mut ran: Ran, has_own_memory: bool) -> Ran {
        let first = ran.first.as_mut().expect("it is known");
        match has_own_memory {
            true => first.minor_faults -= 10,
            false => first.involuntary_switches -= 4,
        }
        ran
    }

    #[test]
    fn a_result_is_tagged_by_what_was_counted_for_its_program() {
        let all = [
            // Between its marks, whatever was before and behind.
            (ran(9, Some((0, 1))), true),
            (ran(9, Some((0, 0))), false),
            // Without marks in all, but for the parent's own.
            (ran(3, None), true),
            (ran(2, None), false),
            // Tasks of one program take turns.
            (of_several(ran(9, Some((5, 9))), true), false),
            (of_several(ran(9, Some((5, 9))), false), false),
        ];
        let mut next = (0..).map(|sample: usize| all[sample % all.len()].0.clone());
        let findings = timed(|plan| {
            plan.measure(Published::of(Counted::Expected(1), || {
                mock::advance_ns(1_000);
                Ok(next.next().expect("no end"))
            }))
        });
        let samples = findings.expect("measured").samples;
        let preempted = samples.disturbed.iter();
        let preempted = preempted.filter(|tag| tag.cause == Cause::Preempted);
        let preempted: Vec<usize> = preempted.map(|tag| tag.sample as usize).collect();
        let expected = (0..samples.values.len()).filter(|sample| all[sample % all.len()].1);
        assert_eq!(preempted, expected.collect::<Vec<_>>());
    }

    #[test]
    fn how_long_a_program_waited_matters_between_its_marks() {
        for (ran, expected) in [
            (ran(9, Some((0, 0))), 0),
            // It sleeps, or has several tasks, or nobody knows where it is timed.
            (ran(9, Some((1, 0))), 7),
            (of_several(ran(9, Some((0, 0))), true), 7),
            (ran(9, None), 7),
        ] {
            assert_eq!(ran.delay_ns(), expected, "{ran:?}");
        }
    }
}
