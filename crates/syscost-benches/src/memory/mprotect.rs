//! Changing the protection of memory.
//!
//! ## Measures
//! One mprotect of a whole mapping of private anonymous memory, by length. Calls revoke write
//! permission and restore it alternately; half of each is the number. None of its pages is touched,
//! or all are, in small pages.
//! ## Does not measure
//! Other CPUs that must forget the old protection
//! (`memory.tlb_shootdown`). Parts of a mapping, which must be split off first. The faults of writes in the meantime (`signal.protection_fault`).
//! ## Interpretation
//! The page table entry of each touched page is changed. Revoking must also flush them from the
//! TLB, restoring need not.
//! ## Source
//! mprotect(2).

use rustix::mm::MprotectFlags;
use syscost_harness::prelude::*;

use super::space::area::Area;
use super::space::{ADDRESS, LENGTH, PROTECTION, in_pages, maps, whole_pages};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "mprotect",
    tags: "memory protection, page protection, page permissions",
    revision: 2,
    expect: &[calls(Sysno::MPROTECT)],
    ..Benchmark::of::<Mprotect>()
};

static BEFORE: Witness = Witness::of("pages resident before the calls", "pagemap");
static AFTER: Witness = Witness::of("pages resident after the calls", "pagemap");

const PAGE: Bytes = Bytes::kib(4);

#[derive(Params, Clone)]
struct Mprotect {
    /// Bytes of the mapping.
    size: Bytes,
    /// Whether its pages were written before.
    touched: bool,
}

impl Measured for Mprotect {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let sizes = [PAGE, Bytes::kib(64), Bytes::mib(1), Bytes::mib(64)];
        [
            rows!(Mprotect {
                size: [PAGE],
                touched: [false]
            }),
            rows!(Mprotect {
                size: sizes,
                touched: [true]
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.size {
            PAGE => Profile::Standard,
            Bytes(_) => Profile::Full,
        }
    }

    fn proofs(&self) -> MprotectProofs<Proof> {
        let resident = if self.touched {
            in_pages(self.size)
        } else {
            0.0
        };
        MprotectProofs {
            size: Proof::argument(Sysno::MPROTECT, LENGTH, ArgumentValue::Always(self.size.0)),
            touched: BEFORE.expects(resident).and(AFTER.expects(resident)),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let bytes = whole_pages(self.size)?;
        let area = match self.touched {
            true => Area::fill(bytes, Pages::Small)?,
            false => Area::reserve(bytes, Pages::Small)?,
        };
        let (less, more) = (
            MprotectFlags::READ,
            MprotectFlags::READ | MprotectFlags::WRITE,
        );
        let in_turn = ArgumentValue::InTurn(less.bits().into(), more.bits().into());
        let start = area.memory().start().addr();
        // Besides the alternating protection: it is this memory that changes each time, and it is checked.
        plan.expect_argument(
            Sysno::MPROTECT,
            ADDRESS,
            ArgumentValue::Always(start as u64),
        );
        plan.expect_argument(Sysno::MPROTECT, PROTECTION, in_turn);
        let resident = || Ok::<_, Failure>(area.look(0..area.pages())?.present);
        plan.observe(&BEFORE, resident()?);
        let mut outcome = plan.measure(Loop::batches(2, |iterations| {
            for _ in 0..iterations {
                area.protect(less)?;
                area.protect(more)?;
            }
            Ok(())
        }))?;
        outcome.observe(&AFTER, resident()?);
        area.protect(MprotectFlags::READ)?;
        let only_read = maps::bytes_with("r--", start..start + bytes)?;
        let claim = "bytes that may only be read after a call";
        outcome.claim_equal(claim, bytes, only_read, "/proc/self/maps");
        Ok(outcome)
    }
}
