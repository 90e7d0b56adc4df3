//! The three-costs experiment: one pair of rdtsc around each single operation, 10 000 times, three runs
//! averaged.

use syscost_harness::prelude::*;

use super::program::{self, PROCEDURE, procedure, program};

/// Operations of a result, in its three runs.
const CALLS: u64 = 3 * 10_000;

/// Tasks made for a result.
const TASKS: u64 = 3 * 1_000;

pub(super) const CLOCK_READ: Benchmark = Benchmark {
    title: "Timer overhead: two clock readings, as published",
    tags: "rdtsc, time-stamp counter",
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    measure: |plan| program("three_costs/clock_read", CALLS).measure(plan),
    ..PROCEDURE
};

pub(super) const SYSTEM_CALL: Benchmark = Benchmark {
    title: "System call, as published",
    tags: "syscall, setuid, kernel entry",
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    ..procedure::<SystemCall>()
};

/// The system call, as the published program makes it.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    GetpidCached,
    Getpid,
    Setuid,
}

#[derive(Params, Clone)]
struct SystemCall {
    call: Call,
}

impl Measured for SystemCall {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SystemCall { call: Call::ALL })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        SystemCallProofs {
            call: program::argument(0, self.call.name()).and(Proof::counted([match self.call {
                // The call that fills the cache, in each run.
                Call::GetpidCached => at_most(Counter::Syscall(Sysno::GETPID), 0.0001),
                Call::Getpid => calls(Sysno::GETPID),
                Call::Setuid => calls(Sysno::SETUID),
            }])),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        program("three_costs/system_call", CALLS)
            .argument(self.call.name())
            .measure(plan)
    }
}

pub(super) const PROCEDURE_CALL: Benchmark = Benchmark {
    title: "Procedure call, as published",
    tags: "function call, function call overhead, argument passing",
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    ..procedure::<ProcedureCall>()
};

#[derive(Params, Clone)]
struct ProcedureCall {
    /// Arguments of the procedure.
    arguments: u32,
}

impl Measured for ProcedureCall {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ProcedureCall { arguments: 0..=5 })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        ProcedureCallProofs {
            arguments: program::argument(0, self.arguments),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        program("three_costs/procedure_call", CALLS)
            .argument(self.arguments)
            .measure(plan)
    }
}

pub(super) const TASK_CREATE: Benchmark = Benchmark {
    title: "Process and thread creation, as published",
    tags: "fork, clone, process creation, thread creation",
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::WAIT4),
        calls(Sysno::EXIT_GROUP),
        // The C library's own calls at a fork, such as set_robust_list in the child.
        at_most(Counter::OtherSyscalls, 4.0),
    ],
    ..procedure::<TaskCreate>()
};

/// The call that creates the task.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Fork,
    Clone,
}

#[derive(Params, Clone)]
struct TaskCreate {
    via: Via,
}

impl Measured for TaskCreate {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TaskCreate { via: Via::ALL })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        TaskCreateProofs {
            via: program::argument(0, self.via.name()),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        program("three_costs/task_create", TASKS)
            .argument(self.via.name())
            .measure(plan)
    }
}

pub(super) const SWITCH: Benchmark = Benchmark {
    title: "Context switch, as published",
    tags: "process switch, thread switch, pipe",
    quantity: Quantity::Level,
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::WAIT4),
        calls(Sysno::EXIT_GROUP),
        // The C library's own calls at a fork.
        at_most(Counter::OtherSyscalls, 4.0),
    ],
    ..procedure::<Switch>()
};

#[derive(Params, Clone)]
struct Switch {
    between: Between,
}

impl Measured for Switch {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Switch {
            between: Between::ALL
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        SwitchProofs {
            between: program::argument(0, self.between.name()).and(Proof::counted(
                [Sysno::READ, Sysno::WRITE].map(|call| {
                    let times = match self.between {
                        Between::Processes => 2.0,
                        Between::Threads => 1.0,
                    };
                    exactly(Counter::Syscall(call), times)
                }),
            )),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        program("three_costs/switch", TASKS)
            .argument(self.between.name())
            .measure(plan)
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::study::Study;
    use syscost_studies::figures;

    fn study() -> Study {
        syscost_studies::parse(include_str!("study.toml")).expect("a study")
    }

    #[test]
    fn a_cut_off_cycle_time_gives_all_published_times_but_two() {
        let study = study();
        let quantities = study.quantities.iter();
        let doubts = quantities
            .flat_map(|one| figures(&study, one))
            .flat_map(|one| one.doubts);
        let misprints =
            doubts.filter(|doubt| doubt.contains(" ns are ") || doubt.contains(" ns, not"));
        assert_eq!(
            misprints.count(),
            2,
            "getpid on the i7-2600, setuid on the Opteron"
        );
    }

    #[test]
    fn figures_that_disagree_with_themselves_are_marked() {
        let study = study();
        let doubts = |id: &str, machine: &str| {
            let judged = figures(&study, study.quantity(id).expect("a quantity"));
            let one = judged.into_iter().find(|one| one.machine == machine);
            one.expect("a figure").doubts.len()
        };
        // 1261.60 cycles, but 506.10 ns and runs of 1213 to 1219: one misprint, one sentence.
        assert_eq!(doubts("setuid", "opteron"), 1);
        assert_eq!(doubts("getpid", "xeon-e7310"), 1);
        // 8.37 cycles of 0.294 ns are not 2.42 ns.
        assert_eq!(doubts("getpid", "i7-2600"), 1);
        // Printed with four decimals, and not the mean of its runs.
        assert_eq!(doubts("fork", "opteron"), 1);
        assert_eq!(doubts("rdtsc", "i7-4770k"), 0);
        assert_eq!(doubts("call-2", "i7-4770k"), 0);
    }
}
