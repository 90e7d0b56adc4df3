//! The switch-costs experiment: an empty loop, the minimum function and system call, and switches as elapsed
//! time less CPU time.

use syscost_harness::prelude::*;

use super::program::{self, PROCEDURE, procedure, program};

/// Iterations of loops with a function or system call: a tenth of those published, since a row must
/// end in time. Even so the two readings of the clock are a negligible part of a result.
const CALLS: u64 = 10_000_000;

/// Iterations of loops whose every iteration enters the kernel and does no more: fewer than those
/// published.
const ENTRIES: u64 = 20_000;

/// Iterations of the pipe of one process, as published.
const TURNS: u64 = 100_000;

/// Round trips: a fiftieth of those published.
const ROUND_TRIPS: u64 = 2_000;

/// Reads of a round trip, and writes: two, and in each run two of the first round trip and one of the child's
/// report.
const A_ROUND_TRIP: f64 = 2.0 + 3.0 / ROUND_TRIPS as f64;

/// Yields of both threads: a twentieth of those published.
const YIELDS: u64 = 2 * 5_000;

/// Operations whose system calls are counted, where those of a whole result would take too long.
const COUNTED: u64 = 64;

/// The clock by which the switches are timed.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// Elapsed time.
    Monotonic,
    CpuTime,
    /// The difference of a run by each.
    Difference,
}

impl Clock {
    const fn runs(self) -> u64 {
        match self {
            Clock::Monotonic | Clock::CpuTime => 1,
            Clock::Difference => 2,
        }
    }
}

pub(super) const LOOP: Benchmark = Benchmark {
    title: "Loop overhead: one turn of an empty loop, as published",
    tags: "loop overhead",
    // The clock is read twice per result.
    expect: &[at_most(Counter::OtherSyscalls, 0.001)],
    ..procedure::<Loop>()
};

/// Iterations of the loop.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Iterations {
    #[value("100M")]
    Many = 100_000_000,
    #[value("100K")]
    Few = 100_000,
}

#[derive(Params, Clone)]
struct Loop {
    turns: Iterations,
}

impl Measured for Loop {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Loop {
            turns: Iterations::ALL
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        LoopProofs {
            turns: program::argument(0, self.turns as u64),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let iterations = self.turns as u64;
        program("switch_costs/loop", iterations)
            .argument(iterations)
            .measure(plan)
    }
}

pub(super) const FUNCTION_CALL: Benchmark = Benchmark {
    title: "Minimal function call, as published",
    tags: "procedure call, function call overhead",
    quantity: Quantity::Level,
    // The clock is read four times per result.
    expect: &[at_most(Counter::OtherSyscalls, 0.001)],
    measure: |plan| {
        program("switch_costs/function_call", CALLS)
            .argument(CALLS)
            .measure(plan)
    },
    ..PROCEDURE
};

pub(super) const CLOCK_INSIDE: Benchmark = Benchmark {
    title: "Function call with the clock inside the loop, as published",
    tags: "timer overhead, function call overhead",
    expect: &[
        exactly(Counter::Syscall(Sysno::CLOCK_GETTIME), 2.0),
        exactly(Counter::OtherSyscalls, 0.0),
    ],
    measure: |plan| {
        program("switch_costs/clock_inside", ENTRIES)
            .argument(ENTRIES)
            .measure(plan)
    },
    ..PROCEDURE
};

pub(super) const SYSTEM_CALL: Benchmark = Benchmark {
    title: "Minimal system call, as published",
    tags: "syscall, null system call, kernel entry",
    quantity: Quantity::Level,
    // The clock is read four times per result.
    expect: &[at_most(Counter::OtherSyscalls, 0.001)],
    ..procedure::<SystemCall>()
};

/// Whether the library answers from its cache or the kernel is entered.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Getpid {
    Cached,
    Entered,
}

#[derive(Params, Clone)]
struct SystemCall {
    getpid: Getpid,
}

impl Measured for SystemCall {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SystemCall {
            getpid: Getpid::ALL
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        SystemCallProofs {
            getpid: program::argument(0, self.getpid.name()).and(Proof::counted([
                match self.getpid {
                    Getpid::Cached => exactly(Counter::Syscall(Sysno::GETPID), 0.0),
                    Getpid::Entered => calls(Sysno::GETPID),
                },
            ])),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let iterations = match self.getpid {
            Getpid::Cached => CALLS,
            Getpid::Entered => ENTRIES,
        };
        let program = program("switch_costs/system_call", iterations);
        let program = program.argument(self.getpid.name()).argument(iterations);
        program.measure(plan)
    }
}

pub(super) const PIPE_WRITE_READ: Benchmark = Benchmark {
    title: "Write and read of a pipe, as published",
    tags: "pipe latency",
    expect: &[
        calls(Sysno::WRITE),
        calls(Sysno::READ),
        // The clock is read twice per result.
        at_most(Counter::OtherSyscalls, 2.0 / COUNTED as f64),
    ],
    measure: |plan| {
        let program = program("switch_costs/pipe_write_read", TURNS);
        program.counted(TURNS, COUNTED, COUNTED).measure(plan)
    },
    ..PROCEDURE
};

pub(super) const PROCESS_SWITCH: Benchmark = Benchmark {
    title: "Process switch, as published",
    tags: "context switch, ping-pong, pipe",
    // CPU time is not always less than elapsed time: it comes from another run.
    quantity: Quantity::Level,
    // Of a round trip, with its share of the first one, which is not timed, and of the child's report.
    expect: &[
        exactly(Counter::Syscall(Sysno::READ), A_ROUND_TRIP),
        exactly(Counter::Syscall(Sysno::WRITE), A_ROUND_TRIP),
    ],
    // It is not known beforehand where unpinned tasks run.
    ignores_interference: true,
    ..procedure::<ProcessSwitch>()
};

#[derive(Params, Clone)]
struct ProcessSwitch {
    clock: Clock,
}

impl Measured for ProcessSwitch {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ProcessSwitch { clock: Clock::ALL })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        ProcessSwitchProofs {
            clock: program::argument(0, self.clock.name()),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let trips = self.clock.runs() * ROUND_TRIPS;
        let program = program("switch_costs/process_switch", trips);
        program
            .argument(self.clock.name())
            .argument(ROUND_TRIPS)
            .unpinned()
            .measure(plan)
    }
}

pub(super) const THREAD_SWITCH: Benchmark = Benchmark {
    title: "Thread switch by yields, as published",
    tags: "context switch, sched_yield",
    // Two threads that run simultaneously use more CPU time than elapses.
    quantity: Quantity::Level,
    expect: &[
        calls(Sysno::SCHED_YIELD),
        // The end of each of the two threads.
        exactly(Counter::Syscall(Sysno::EXIT), 2.0 / YIELDS as f64),
    ],
    // It is not known beforehand where unpinned tasks run.
    ignores_interference: true,
    ..procedure::<ThreadSwitch>()
};

#[derive(Params, Clone)]
struct ThreadSwitch {
    clock: Clock,
}

impl Measured for ThreadSwitch {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ThreadSwitch { clock: Clock::ALL })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        ThreadSwitchProofs {
            clock: program::argument(0, self.clock.name()),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let yields = self.clock.runs() * YIELDS;
        let program = program("switch_costs/thread_switch", yields);
        program
            .argument(self.clock.name())
            .argument(YIELDS / 2)
            .unpinned()
            .measure(plan)
    }
}

pub(super) const YIELD_ALONE: Benchmark = Benchmark {
    title: "sched_yield of one task, as published",
    tags: "yield",
    expect: &[calls(Sysno::SCHED_YIELD)],
    measure: |plan| {
        let program = program("switch_costs/yield_alone", ENTRIES);
        program.argument(ENTRIES).measure(plan)
    },
    ..PROCEDURE
};

#[cfg(test)]
mod tests {
    use syscost_studies::figures;

    fn published() -> Vec<(String, Vec<f64>)> {
        let study = syscost_studies::parse(include_str!("study.toml")).expect("a study");
        let of = |quantity| {
            let figures = figures(&study, quantity);
            figures.iter().filter_map(|figure| figure.value).collect()
        };
        let quantities = study.quantities.iter();
        quantities.map(|one| (one.id.clone(), of(one))).collect()
    }

    fn figure(id: &str) -> f64 {
        let all = published();
        let (_, figures) = all.iter().find(|(one, _)| one == id).expect("a quantity");
        *figures.last().expect("it has a figure")
    }

    #[test]
    fn published_differences_are_those_of_their_parts() {
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-6, "{one} {other}");
        let process = figure("process-monotonic") - figure("process-cpu-time");
        near(process / 2.0, figure("process-switch"));
        let thread = figure("thread-monotonic") - figure("thread-cpu-time");
        near(thread, figure("thread-switch"));
        // The printed value of each loop before the empty one is subtracted.
        near(2.592_456 - figure("loop-100m"), figure("function-call"));
        near(2.671_331 - figure("loop-100m"), figure("system-call"));
    }
}
