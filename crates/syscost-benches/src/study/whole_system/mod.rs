//! The whole-system experiment: processor, memory, network and file system of one machine, by trials
//! between two readings of the time-stamp counter.

use syscost_harness::prelude::*;

use super::program::{self, PROCEDURE, procedure, program};

/// Trials whose mean is a published result.
const TRIALS: u64 = 10;

/// Operations of a trial, as published.
const MANY: u64 = 1_000_000;

/// Operations of a trial: fewer than published, unless there is time. READINGS is of calls without a
/// system call as well.
const READINGS: u64 = 100_000;
const CALLS: u64 = 20_000;
const ROUND_TRIPS: u64 = 1_000;

/// Tasks of a trial: a million of them would take minutes at any time.
const THREADS: u64 = 100;
const PROCESSES: u64 = 10;

/// Round trips of a trial where the run is thorough: a million of them would take minutes, too.
const MANY_ROUND_TRIPS: u64 = 100_000;

/// The first number where the run is thorough, else the second.
fn thoroughly(b: &Bencher, many: u64, few: u64) -> u64 {
    match b.targets().thorough {
        true => many,
        false => few,
    }
}

/// Operations of a trial whose system calls are counted, and the bytes that it fills, where those of a
/// usual one would take too long.
const COUNTED: u64 = 100;
const COUNTED_BYTES: u64 = 1 << 20;

pub(super) const TIMING_OVERHEAD: Benchmark = Benchmark {
    title: "Timer overhead: time-stamp counter read, as published",
    tags: "rdtsc, clock read",
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    measure: |plan| {
        let readings = thoroughly(&plan, MANY, READINGS);
        program("whole_system/timing_overhead", TRIALS * readings)
            .argument(readings)
            .measure(plan)
    },
    ..PROCEDURE
};

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
        rows!(ProcedureCall { arguments: 0..=7 })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        ProcedureCallProofs {
            arguments: program::argument(0, self.arguments),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let iterations = thoroughly(&plan, MANY, READINGS);
        program("whole_system/procedure_call", TRIALS * iterations)
            .argument(self.arguments)
            .argument(iterations)
            .measure(plan)
    }
}

pub(super) const SYSTEM_CALL: Benchmark = Benchmark {
    title: "System call, as published",
    tags: "syscall, null system call, kernel entry",
    expect: &[calls(Sysno::GETPID), at_most(Counter::OtherSyscalls, 0.0)],
    measure: |plan| {
        let calls = thoroughly(&plan, MANY, CALLS);
        program("whole_system/system_call", TRIALS * calls)
            .counted(calls, COUNTED, TRIALS * COUNTED)
            .measure(plan)
    },
    ..PROCEDURE
};

pub(super) const TASK_CREATION: Benchmark = Benchmark {
    title: "Process and thread creation, as published",
    tags: "fork, clone, pthread_create",
    ..procedure::<TaskCreation>()
};

/// What is created.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Thread,
    Process,
}

#[derive(Params, Clone)]
struct TaskCreation {
    task: Task,
}

impl Measured for TaskCreation {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TaskCreation { task: Task::ALL })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        TaskCreationProofs {
            task: program::argument(0, self.task.name()).and(Proof::counted(match self.task {
                Task::Thread => vec![calls(Sysno::EXIT)],
                Task::Process => vec![calls(Sysno::WAIT4), calls(Sysno::EXIT_GROUP)],
            })),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let tasks = match self.task {
            Task::Thread => THREADS,
            Task::Process => PROCESSES,
        };
        program("whole_system/task_creation", TRIALS * tasks)
            .argument(self.task.name())
            .counted(tasks, PROCESSES, TRIALS * PROCESSES)
            .measure(plan)
    }
}

pub(super) const SWITCH: Benchmark = Benchmark {
    title: "Context switch by pipes, as published",
    tags: "ping-pong, process switch, thread switch",
    // Of a round trip.
    expect: &[
        exactly(Counter::Syscall(Sysno::READ), 2.0),
        exactly(Counter::Syscall(Sysno::WRITE), 2.0),
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
            between: [Between::Threads, Between::Processes]
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        SwitchProofs {
            between: program::argument(0, self.between.name()),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let round_trips = thoroughly(&plan, MANY_ROUND_TRIPS, ROUND_TRIPS);
        program("whole_system/switch", TRIALS * round_trips)
            .argument(self.between.name())
            .counted(round_trips, COUNTED, TRIALS * COUNTED)
            .measure(plan)
    }
}

/// Powers of two in bytes: of the 21 published sizes every other one but 2^12, and 2^15, where the first border
/// was.
const SIZES: [u32; 11] = [10, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30];

/// Up to this size in bytes a trial has as many accesses as published.
const QUICK: u64 = 32 << 10;

/// Number of accesses of a trial beyond.
const FEW: u64 = 20_000;

/// From this size in bytes on shuffling the chain takes long, at this rate in bytes per second.
const EXPENSIVE: u64 = 64 << 20;
const SHUFFLED_PER_SECOND: f64 = 1e9;

pub(super) const MEMORY_ACCESS: Benchmark = Benchmark {
    // Trials shorter than published come after a round of the chain.
    revision: 2,
    title: "Memory access latency, as published",
    tags: "load latency, pointer chasing",
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    ..procedure::<MemoryAccess>()
};

#[derive(Params, Clone)]
struct MemoryAccess {
    /// Bytes of the memory that is walked.
    size: Bytes,
}

impl Measured for MemoryAccess {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(MemoryAccess {
            size: SIZES.map(|power| Bytes(1 << power))
        })
    }

    fn setup(&self) -> Option<Setup> {
        let Bytes(bytes) = self.size;
        let seconds = bytes as f64 / SHUFFLED_PER_SECOND;
        (bytes >= EXPENSIVE).then_some(Setup::Expensive { seconds })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        MemoryAccessProofs {
            // What is counted does not depend on the size, and has another one.
            size: program::timed_argument(self.size.0),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let Bytes(bytes) = self.size;
        let accesses = match bytes <= QUICK {
            true => MANY,
            false => thoroughly(&plan, MANY, FEW),
        };
        program("whole_system/memory_access", TRIALS * accesses)
            .counted(accesses, COUNTED, TRIALS * COUNTED)
            // What is counted does not depend on the size.
            .counted(bytes, bytes.min(COUNTED_BYTES), TRIALS * COUNTED)
            .filling(bytes)
            .measure(plan)
    }
}

/// Bytes of both arrays, as published.
const GIGABYTE: u64 = 1_000_000_000;

/// Trials of a bandwidth: fewer than published, unless there is time.
const FEW_TRIALS: u64 = 2;

pub(super) const MEMORY_BANDWIDTH: Benchmark = Benchmark {
    // It is of a gigabyte, and its words are added up by code that was not optimised.
    revision: 2,
    title: "Memory bandwidth of two threads, as published",
    tags: "read bandwidth, write bandwidth",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    // Of filling, and of the same in registers.
    setup: Setup::Expensive { seconds: 0.7 },
    // The end of each thread.
    expect: &[exactly(Counter::Syscall(Sysno::EXIT), 2.0)],
    ..procedure::<MemoryBandwidth>()
};

/// Whether memory is read or written.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Read,
    Write,
}

/// On how many CPUs the two threads may run.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Cpus {
    All,
    One,
}

#[derive(Params, Clone)]
struct MemoryBandwidth {
    op: Op,
    cpus: Cpus,
}

impl Measured for MemoryBandwidth {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let unpinned = rows!(MemoryBandwidth {
            op: Op::ALL,
            cpus: [Cpus::All]
        });
        // One of the two operations is enough to see the effect.
        let pinned = rows!(MemoryBandwidth {
            op: [Op::Read],
            cpus: [Cpus::One]
        });
        [unpinned, pinned].concat()
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        MemoryBandwidthProofs {
            op: program::argument(0, self.op.name()),
            cpus: match self.cpus {
                Cpus::All => program::unpinned(),
                Cpus::One => program::pinned(),
            },
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let trials = thoroughly(&plan, TRIALS, FEW_TRIALS);
        let program = program("whole_system/memory_bandwidth", trials)
            .argument(self.op.name())
            .argument(trials)
            .counted(GIGABYTE, COUNTED_BYTES, trials)
            .filling(GIGABYTE)
            .in_unit(Unit::BytesPerSecond);
        match self.cpus {
            // There may be no second round.
            Cpus::All => program.with_results(3).unpinned().measure(plan),
            Cpus::One => program.measure(plan),
        }
    }
}

/// Pages of a trial.
const TOUCHED: u64 = 20;

pub(super) const PAGE_FAULT: Benchmark = Benchmark {
    title: "Major page fault of a mapped file, as published",
    tags: "major fault, mmap",
    expect: &[within(Counter::MajorFaults, 0.9, 1.1)],
    ignores_interference: true,
    measure: |plan| {
        program("whole_system/page_fault", TRIALS * TOUCHED)
            .in_scratch_folder()
            .measure(plan)
    },
    ..PROCEDURE
};
