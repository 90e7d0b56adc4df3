//! Setting the position in an open file.
//!
//! ## Measures
//! lseek to an absolute position in a file in memory: descriptor, the position's lock, and the
//! position itself.
//! ## Does not measure
//! Any input or output: nothing moves but a number.
//! ## Interpretation
//! Close to a null call; the excess is the descriptor table and the lock.
//! ## Source
//! libMicro `lseek`.

use rustix::fs::{SeekFrom, seek};
use syscost_harness::prelude::*;

use super::{Bad, must, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "lseek",
    tags: "file position, file offset",
    expect: &[calls(Sysno::LSEEK)],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let file = subject::file_in_memory()?;
    let mut position = 0;
    plan.measure(Loop::each(|| -> Result<(), Bad> {
        position = (position + 1) % 4096;
        must(seek(&file, SeekFrom::Start(position))? == position)
    }))
}
