//! A pipe that one process both writes and reads.
//!
//! ## Measures
//! A write of `size` bytes into an empty pipe and the read that takes them out again, by the same
//! task.
//! ## Does not measure
//! A switch: the bytes are there when the read asks for them, so nobody waits and nobody is woken
//! (`switch.pipe`, `ipc.round_trip`). What it costs to wake a reader.
//! ## Interpretation
//! Two system calls (`syscall.write_null`, `syscall.read_zero`), and the pipe's lock, its page and
//! two copies. To subtract it from a round trip between two tasks, as published experiments do,
//! gives an approximation only: a write that wakes a reader does more than this one, and a read
//! that has slept as well.
//! ## Source
//! UnixBench "Pipe Throughput" (512 bytes); libMicro `pipe` with one thread; "Read & Write
//! overhead" of the switch-costs experiment (one byte).

use rustix::io::{read, write};
use syscost_harness::prelude::*;

use crate::syscall::{Bad, must, subject};
use crate::witness::messages::LENGTH;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Pipe: write and read by one process",
    tags: "pipe throughput, pipe overhead, read and write overhead, unixbench pipe, libmicro pipe",
    expect: &[
        calls(Sysno::WRITE),
        calls(Sysno::READ),
        at_most(Counter::OtherSyscalls, 0.0),
        at_most(Counter::VoluntarySwitches, 0.001),
        // Each write into an empty pipe takes a page that the last read has put back.
        at_most(Counter::MinorFaults, 0.01),
    ],
    ..Benchmark::of::<PipeAlone>()
};

#[derive(Params, Clone)]
struct PipeAlone {
    /// Bytes of a write.
    size: Bytes,
}

impl Measured for PipeAlone {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(PipeAlone {
            size: [Bytes(1), Bytes(512)]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.size {
            Bytes(1) => Profile::Standard,
            Bytes(_) => Profile::Full,
        }
    }

    fn proofs(&self) -> PipeAloneProofs<Proof> {
        let given = |call| Proof::argument(call, LENGTH, ArgumentValue::Always(self.size.0));
        PipeAloneProofs {
            size: given(Sysno::WRITE).and(given(Sysno::READ)),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let size = self.size.get();
        let (out, into) = subject::pipe()?;
        let (mut sent, mut received) = (vec![0_u8; size], vec![0_u8; size]);
        plan.measure(Loop::each(|| -> Result<(), Bad> {
            // Every message differs from the one before: what comes out is what has just gone in.
            sent[0] = sent[0].wrapping_add(1);
            must(write(&into, &sent)? == size)?;
            must(read(&out, &mut received)? == size && received[0] == sent[0])
        }))
    }
}
