//! Removing a mapping, including its pages.
//!
//! ## Measures
//! One munmap of a whole mapping of private anonymous memory, by length: none of its pages touched,
//! or all of them, in small pages. The mappings are made again, and touched, before each batch,
//! untimed.
//! ## Does not measure
//! Other CPUs that must forget the pages as well: this process has one thread
//! (`memory.tlb_shootdown`). Parts of a mapping.
//! ## Interpretation
//! Untouched it costs the same for any length. Touched, each page is removed from the page tables
//! and returned to the allocator.
//! ## Source
//! lmbench `lat_mmap`, which maps and touches as well.

use std::cell::{Cell, RefCell};

use syscost_harness::prelude::*;

use super::mmap::{MAX_BYTES, MAX_MAPPINGS};
use super::space::islands::Islands;
use super::space::maps::mapped_bytes;
use super::space::{ADDRESS, GIVING_BACK, LENGTH, RESIDENT, gives_back, in_pages, whole_pages};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "munmap",
    tags: "memory mapping, virtual memory, address space, lat_mmap",
    revision: 2,
    expect: &[calls(Sysno::MUNMAP)],
    ..Benchmark::of::<Munmap>()
};

const PAGE: Bytes = Bytes::kib(4);
const MANY: Bytes = Bytes::mib(1);

/// Touching more takes too long: ten times as long as what is measured.
const MOST: Bytes = Bytes::mib(16);

/// Maximum bytes per batch where they are touched.
const MAX_TOUCHED: usize = 32 << 20;

#[derive(Params, Clone)]
struct Munmap {
    /// Bytes of the mapping.
    size: Bytes,
    /// Whether its pages were written before.
    touched: bool,
}

impl Measured for Munmap {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        [
            rows!(Munmap {
                size: [PAGE, MOST],
                touched: [false]
            }),
            rows!(Munmap {
                size: [PAGE, Bytes::kib(64), MANY, MOST],
                touched: [true]
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.touched, self.size) {
            (true, PAGE | MANY) => Profile::Standard,
            (true | false, Bytes(_)) => Profile::Full,
        }
    }

    fn setup(&self) -> Option<Setup> {
        (self.touched && self.size == MOST).then_some(Setup::Expensive { seconds: 0.05 })
    }

    fn proofs(&self) -> MunmapProofs<Proof> {
        let resident = |pages| exactly(Counter::Reported(RESIDENT), pages);
        MunmapProofs {
            size: Proof::argument(Sysno::MUNMAP, LENGTH, ArgumentValue::Always(self.size.0)),
            touched: Proof::counted(match self.touched {
                true => vec![
                    resident(in_pages(self.size)),
                    GIVING_BACK,
                    gives_back(self.size),
                ],
                false => vec![resident(0.0)],
            }),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (bytes, is_touched) = (whole_pages(self.size)?, self.touched);
        let max_bytes = if is_touched { MAX_TOUCHED } else { MAX_BYTES };
        plan.expect_argument(Sysno::MUNMAP, ADDRESS, ArgumentValue::Different);
        let most = (max_bytes / bytes).clamp(2, MAX_MAPPINGS);
        let islands = RefCell::new(Islands::make(1, bytes)?);
        let resident = Cell::new(0);
        let prepare = |iterations| {
            let iterations = iterations as usize;
            // The old ones are released first, so that their memory can be reused.
            let mut islands = islands.borrow_mut();
            *islands = Islands::make(1, bytes)?;
            *islands = Islands::make(iterations, bytes)?;
            let present = match is_touched {
                true => islands.touch(iterations)?,
                // Checking one is enough: they do not differ.
                false => islands.present(1)?,
            };
            resident.set(resident.get() + present);
            Ok(())
        };
        let unmap = |iterations| {
            islands
                .borrow_mut()
                .unmap(iterations as usize)
                .tried("munmap")
        };
        let batches = Loop::batches(1, unmap).prepared(most as u64, prepare);
        let mut outcome = plan.measure(batches)?;
        outcome.report(RESIDENT, resident.get() as f64);
        drop(islands);
        let mut islands = Islands::make(most, bytes)?;
        if is_touched {
            islands.touch(most)?;
        }
        let before = mapped_bytes()?;
        let unmapped = islands.unmap(most);
        let gone = before.saturating_sub(mapped_bytes()?);
        unmapped.tried("munmap")?;
        // A mapping's pages are released with it.
        let claim = format!("bytes unmapped by {most} calls");
        outcome.claim_equal(&claim, most * bytes, gone, "/proc/self/statm");
        Ok(outcome)
    }
}
