//! The clock-read-switch experiment: readings of gettimeofday, reads of no bytes, two processes that pass a
//! byte back and forth.

use syscost_harness::prelude::*;

use super::program::{self, PROCEDURE, procedure, program};

/// Readings of the clock in a row.
const READINGS: u64 = 100_000;

/// The kernel answers either every reading of the clock or none, which depends on the machine.
const ANSWERED: &[Expect] = &[
    either(Counter::Syscall(Sysno::GETTIMEOFDAY), 0.0, 1.0),
    exactly(Counter::OtherSyscalls, 0.0),
];

/// Reads of a result, all repetitions together.
const READS: u64 = 100_000;

pub(super) const CLOCK_READ: Benchmark = Benchmark {
    title: "Clock read: gettimeofday, as published",
    tags: "timer overhead, vdso",
    expect: ANSWERED,
    measure: |plan| program("clock_read_switch/clock_read", READINGS).measure(plan),
    ..PROCEDURE
};

pub(super) const LONG_STEPS: Benchmark = Benchmark {
    title: "Clock steps over 1 µs: gettimeofday, as published",
    tags: "clock granularity, jitter",
    unit: Unit::Percent,
    quantity: Quantity::Level,
    // It measures what other tasks take of the CPU.
    ignores_interference: true,
    expect: ANSWERED,
    measure: |plan| {
        let program = program("clock_read_switch/long_steps", READINGS);
        program.in_unit(Unit::Percent).measure(plan)
    },
    ..PROCEDURE
};

pub(super) const LARGEST_STEP: Benchmark = Benchmark {
    title: "Largest clock step: gettimeofday, as published",
    tags: "clock granularity, jitter, os noise",
    // It measures what other tasks take of the CPU.
    ignores_interference: true,
    expect: ANSWERED,
    measure: |plan| program("clock_read_switch/largest_step", READINGS).measure(plan),
    ..PROCEDURE
};

pub(super) const READ_ZERO_BYTES: Benchmark = Benchmark {
    title: "Read of 0 bytes, as published",
    tags: "syscall, system call, kernel entry",
    expect: &[calls(Sysno::READ)],
    ..procedure::<ReadZeroBytes>()
};

#[derive(Params, Clone)]
struct ReadZeroBytes {
    /// Reads between two readings of the clock.
    in_a_row: u64,
}

impl Measured for ReadZeroBytes {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ReadZeroBytes {
            in_a_row: [100, 1000, 10_000]
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        ReadZeroBytesProofs {
            in_a_row: program::argument(0, self.in_a_row),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        program("clock_read_switch/read_zero_bytes", READS)
            .argument(self.in_a_row)
            .measure(plan)
    }
}

pub(super) const PROCESS_SWITCH: Benchmark = Benchmark {
    title: "Process switch, as published",
    tags: "context switch, ping-pong, pipe",
    ..procedure::<ProcessSwitch>()
};

/// What the processes tell the scheduler of where they want to run.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    None,
    SameCpu,
}

#[derive(Params, Clone)]
struct ProcessSwitch {
    /// Round trips between two readings of the clock.
    in_a_row: u64,
    hint: Hint,
}

impl Measured for ProcessSwitch {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ProcessSwitch {
            in_a_row: [20, 200, 20_000],
            hint: Hint::ALL
        })
    }

    /// It is not known beforehand where unpinned children run.
    fn ignores_interference(&self) -> bool {
        self.hint == Hint::None
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        ProcessSwitchProofs {
            in_a_row: program::argument(0, self.in_a_row),
            hint: program::argument(2, self.hint.name()),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let bytes = self.in_a_row;
        // How many runs is not published.
        let runs = if bytes > 1000 { 2 } else { 10 };
        let program = program("clock_read_switch/process_switch", runs * bytes);
        let program = match self.hint {
            Hint::SameCpu => program,
            Hint::None => program.unpinned(),
        };
        program
            .argument(bytes)
            .argument(runs)
            .argument(self.hint.name())
            .measure(plan)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::found_by;

    #[test]
    fn switches_are_to_the_partner_where_it_shares_the_cpu() {
        let found = found_by(&Case::default(), Pass::Timed, &[], |plan| {
            // The bencher of tests allows one CPU.
            let program = program("clock_read_switch/process_switch", 40).unpinned();
            let program = program.argument(20).argument(2).argument("same_cpu");
            program.measure(plan)
        });
        let found = or_skip!(found);
        let of = |name: &str| found.details[name].value;
        let to_partner = of("switches_to_partner_per_byte_count");
        assert_eq!(to_partner, of("switches_per_byte_count"));
        assert!(to_partner >= 0.9, "{to_partner}");
        assert!(of("median_run_ns") <= of("slowest_run_ns"));
    }
}
