//! Commands of a user: each sample is one process, from its start to its end, with all that it starts.

use std::collections::BTreeMap;

use syscost_sys::counters::Usage;

use super::plan::{Plan, Shape};
use super::published::Marked;
use crate::expect::Manner;
use crate::failure::Failure;

const OTHERWISE: &str = "it ends or prints otherwise where its calls are counted";

/// One run of a command, with what the kernel counted of it and all that it started and waited for.
#[derive(Debug, Clone, Default)]
pub struct Execution {
    /// Time on CPUs, in ns.
    pub cpu_ns: f64,
    /// Other quantities of the run, by name.
    pub also: BTreeMap<&'static str, f64>,
    /// Faults and switches.
    pub usage: Usage,
    /// How long it was ready and did not run, as far as its first task tells, in ns.
    pub waited_ns: u64,
    /// Whether it had several tasks, which wait for each other.
    pub has_several_tasks: bool,
    /// Whether it ended and printed as it was to.
    pub is_as_expected: bool,
}

/// What is called again and again while a command runs.
pub type Often<'a> = &'a mut dyn FnMut();

/// Runs of a command: a sample is the CPU time of one.
pub struct Executions<P, R> {
    is_pinned: bool,
    prepare: P,
    run: R,
}

impl<P, R> Executions<P, R>
where
    P: FnMut() -> Result<(), Failure>,
    R: FnMut(Option<Often<'_>>) -> Result<Execution, Failure>,
{
    /// `prepare`, and `run` starts the command and waits for its end; it calls what it is given meanwhile. If
    /// its tasks are not all on the measuring CPU, whose core that is says nothing.
    pub fn of(is_pinned: bool, prepare: P, run: R) -> Self {
        Self {
            is_pinned,
            prepare,
            run,
        }
    }
}

impl<P, R> Shape for Executions<P, R>
where
    P: FnMut() -> Result<(), Failure>,
    R: FnMut(Option<Often<'_>>) -> Result<Execution, Failure>,
{
    type Output = ();

    const MANNER: Manner = Manner::Observations;

    fn time(mut self, plan: &mut Plan) -> Result<(), Failure> {
        // Much of what programs do is no work of the core's.
        plan.disregard_frequency();
        if !self.is_pinned {
            plan.ignore_interference();
            plan.pinned = false;
        }
        plan.may_take_few(1);
        plan.waits.begin_programs();
        plan.sample(1, |plan| {
            plan.done.operations += 1;
            (self.prepare)()?;
            plan.wait_before_sample();
            plan.probe_before();
            let ran = (self.run)(self.is_pinned.then_some(&mut || plan.probe_during()))?;
            // What it waited for the CPU is no part of its CPU time.
            plan.waits.add_program(0, ran.has_several_tasks);
            plan.probe_after();
            for (name, value) in ran.also {
                let values = plan.findings.samples.also.entry(name.to_owned());
                values.or_default().push(value);
            }
            Ok((ran.cpu_ns, None))
        })
    }

    fn count(mut self, plan: &mut Plan) -> Result<(), Failure> {
        (self.prepare)()?;
        let Execution { usage: used, .. } = (self.run)(None)?;
        plan.note_counts(Marked {
            operations: 1,
            used,
        });
        (self.prepare)()?;
        let counted = plan.note_calls(&[], &mut || match (self.run)(None)?.is_as_expected {
            true => Ok(()),
            false => Err(Failure::Failed(OTHERWISE.to_owned())),
        });
        // What is timed is not counted, and may well do what it cannot do there.
        counted.or_else(|why| {
            plan.claim_unobserved("system calls of the program", "any", "seccomp audit", why);
            Ok(())
        })
    }
}
