//! Creating a mapping.
//!
//! ## Measures
//! One mmap of private anonymous memory, by length, at an address chosen by the kernel. Nothing is
//! touched, and the mappings are removed after each batch, untimed. Every second mapping is
//! read-only, so that the kernel cannot merge neighbours.
//! ## Does not measure
//! The pages (`memory.page_fault`), or a neighbour that merely grows, which is a little cheaper.
//! ## Interpretation
//! The kernel finds a gap and records who owns it: that costs the same for any length. Memory is
//! paid for when it is touched.
//! ## Source
//! lmbench `lat_mmap`, which unmaps as well.
#![allow(unsafe_code)] // mappings

use std::cell::RefCell;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use syscost_harness::prelude::*;

use super::space::maps::{mapped_bytes, mappings};
use super::space::{LENGTH, PROTECTION, not_mapped, whole_pages};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "mmap",
    tags: "memory mapping, virtual memory, address space, vma, lat_mmap",
    revision: 2,
    expect: &[calls(Sysno::MMAP)],
    ..Benchmark::of::<Mmap>()
};

/// Maximum bytes and mappings per batch. Machines with strict overcommit reserve
/// memory for every second mapping.
pub(super) const MAX_BYTES: usize = 256 << 20;
pub(super) const MAX_MAPPINGS: usize = 512;

/// The protections of successive mappings, alternating.
const IN_TURN: [ProtFlags; 2] = [ProtFlags::READ.union(ProtFlags::WRITE), ProtFlags::READ];

/// Maximum number of calls whose mappings are counted.
const COUNTED: usize = 50;

#[derive(Params, Clone)]
struct Mmap {
    /// Bytes of the mapping.
    size: Bytes,
}

impl Measured for Mmap {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Mmap {
            size: [Bytes::kib(4), Bytes::mib(16)]
        })
    }

    fn proofs(&self) -> MmapProofs<Proof> {
        MmapProofs {
            size: Proof::argument(Sysno::MMAP, LENGTH, ArgumentValue::Always(self.size.0)),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let bytes = whole_pages(self.size)?;
        let most = (MAX_BYTES / bytes).min(MAX_MAPPINGS);
        let [one, other] = IN_TURN.map(|access| access.bits().into());
        plan.expect_argument(Sysno::MMAP, PROTECTION, ArgumentValue::InTurn(one, other));
        let made = RefCell::new(Mappings {
            starts: Vec::with_capacity(most),
            bytes,
        });
        let map = |iterations| made.borrow_mut().map(iterations as usize);
        let unmap = |_| made.borrow_mut().unmap();
        let mut outcome = plan.measure(Loop::batches(1, map).prepared(most as u64, unmap))?;
        let mut made = made.into_inner();
        made.unmap()?;
        let counted = most.min(COUNTED);
        let before = (mappings()?, mapped_bytes()?);
        made.map(counted)?;
        let grown = mapped_bytes()?.saturating_sub(before.1);
        let more = mappings()?.saturating_sub(before.0);
        // The first may be merged with an existing mapping.
        let least = counted - 1;
        let (claim, expected) = (
            format!("mappings more after {counted} calls"),
            format!("{least} or {counted}"),
        );
        let holds = (least..=counted).contains(&more);
        outcome.claim(&claim, expected, more, "/proc/self/maps", holds);
        let claim = format!("bytes mapped by {counted} calls");
        outcome.claim_equal(&claim, counted * bytes, grown, "/proc/self/statm");
        Ok(outcome)
    }
}

/// The mappings made.
struct Mappings {
    starts: Vec<*mut u8>,
    bytes: usize,
}

impl Mappings {
    #[inline(always)]
    fn map(&mut self, count: usize) -> Result<(), Failure> {
        for number in 0..count {
            let access = IN_TURN[number % 2];
            // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
            let start =
                unsafe { mmap_anonymous(ptr::null_mut(), self.bytes, access, MapFlags::PRIVATE) }
                    .map_err(|cause| not_mapped("mmap", cause))?;
            self.starts.push(start.cast());
        }
        Ok(())
    }

    fn unmap(&mut self) -> Result<(), Failure> {
        for start in self.starts.drain(..) {
            // SAFETY: mapped by `map`, and nothing refers to it.
            unsafe { munmap(start.cast(), self.bytes) }.tried("munmap")?;
        }
        Ok(())
    }
}

impl Drop for Mappings {
    fn drop(&mut self) {
        // What cannot be unmapped disappears with the process.
        let _ = self.unmap();
    }
}
