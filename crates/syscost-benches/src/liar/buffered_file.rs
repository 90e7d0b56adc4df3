//! Claims direct reads of a file that is open without O_DIRECT.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: the reads go through the page cache.
//! ## Source
//! None: it is made up.
//!
//! Except for how the file is opened it is `fs.read{cache=direct}`, in a file of the folder for
//! temporary files.

use std::fs::File;

use rustix::io::pread;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Buffer};
use syscost_sys::scratch;

use super::FILE_BYTES;
use crate::fs::claim_flag;

/// Bytes per read.
const BLOCK: usize = 4 << 10;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Buffered reads sold as direct ones",
    expect: &[
        calls(Sysno::PREAD64),
        at_most(Counter::VoluntarySwitches, 3.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let scratch = scratch::filled("direct", FILE_BYTES)
        .map_err(|error| Failure::Unsupported(error.to_string()))?;
    let file =
        File::open(scratch.path()).map_err(|cause| Failure::of("open the scratch file", cause))?;
    files::drop_clean_pages(&file)?;
    let (mut buffer, mut offset) = (Buffer::new(BLOCK, BLOCK), 0);
    let mut outcome = plan.measure(Single::of(
        || Ok(()),
        || {
            let count = pread(&file, &mut buffer[..], offset)
                .map_err(|cause| Failure::of("pread", cause))?;
            offset = (offset + BLOCK as u64) % FILE_BYTES;
            match count == BLOCK {
                true => Ok(()),
                false => Err(Failure::Failed(format!("pread gave {count} bytes"))),
            }
        },
    ))?;
    claim_flag(&mut outcome, &file)?;
    Ok(outcome)
}
