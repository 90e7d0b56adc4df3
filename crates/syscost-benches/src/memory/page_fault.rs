//! Touching a page that is not present, by kind.
//!
//! ## Measures
//! The first access to a page, per page: the processor's fault, the kernel's allocation or lookup
//! of a page, its page table entry, and the way back. Pages are made absent again before each
//! batch, untimed: the page tables stay, so that none has to be allocated.
//!
//! - `anonymous_write`: private memory, which the kernel clears first. `state=recycled`: 1 MiB of
//!   it, given back just before, so that the kernel hands out pages that are still in the caches.
//!   `state=fresh`: page after page of 256 MiB; none is given back before all have been touched.
//! - `zero_page_read`: it is only read, so all such pages are the one zero page; `zero_page_write`:
//!   it was read before and is written now, to pages given back just before.
//! - `copy_on_write`: memory shared with a child that is stopped; each write copies a page.
//! - `huge`: a transparent huge page, which is cleared as a whole: one of two that are `recycled`,
//!   or of 256 MiB, `fresh`.
//! - `file_warm`: a file that was written page by page and is in the page cache. The kernel also
//!   maps the surrounding pages, 16 by default (`pages_per_fault`, as found here), so `fault_ns` is
//!   for several pages. Such pieces are touched in random order, the pages of each piece in order.
//!   `file_warm_alone`: each page is a separate mapping, so a fault maps only one.
//! - `file_cold`: a file that is not in the page cache, proven before each fault, one page at a
//!   time from the device.
//! - `userfaultfd`: a thread on the same CPU is notified of the fault and copies a page in.
//! ## Does not measure
//! Memory that the host has not provided yet: the pages were used before. Readahead, which the
//! order and the advice rule out. The device itself: what a disk's host has cached is faster than
//! the disk.
//! ## Interpretation
//! What a program pays for memory in addition to malloc, once per page: `fresh` where it grows,
//! `recycled` where it frees and allocates in turn. The difference is the clearing of memory that
//! is in no cache of the core. A huge page costs more than a small one, but far less than the 512
//! that it replaces. MADV_RANDOM keeps the kernel from reading ahead, not from mapping cached pages
//! around a fault.
//! ## Source
//! lmbench `lat_pagefault`, which comes nearest to `file_warm`: it touches single pages of a file,
//! in random order.

mod anonymous;
pub(crate) mod copy_on_write;
pub(crate) mod file;
pub(crate) mod huge;
mod state;
mod userfaultfd;

use syscost_harness::prelude::*;

use state::State;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Page fault: minor, copy-on-write, major",
    tags: "minor fault, major fault, soft fault, minor page fault, major page fault, cow, \
        demand paging, zero page, first touch, transparent huge pages, fault-around, userfaultfd, \
        lat_pagefault",
    revision: 3,
    roles: roles!(
        MemoryPageFault { kind: Kind::AnonymousWrite, state: Some(State::Recycled) } => Role::PageFault,
    ),
    ..Benchmark::of::<MemoryPageFault>()
};

/// The kind of page that is touched.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    AnonymousWrite,
    ZeroPageRead,
    ZeroPageWrite,
    CopyOnWrite,
    Huge,
    FileWarm,
    FileWarmAlone,
    FileCold,
    Userfaultfd,
}

impl Kind {
    fn states(self) -> Vec<Option<State>> {
        match self {
            Kind::AnonymousWrite | Kind::Huge => State::ALL.map(Some).to_vec(),
            Kind::ZeroPageRead
            | Kind::ZeroPageWrite
            | Kind::CopyOnWrite
            | Kind::FileWarm
            | Kind::FileWarmAlone
            | Kind::FileCold
            | Kind::Userfaultfd => vec![None],
        }
    }
}

impl Kind {
    fn proof(self) -> Proof {
        match self {
            Kind::AnonymousWrite => anonymous::proof(anonymous::Left::OWN),
            Kind::ZeroPageRead => anonymous::proof(anonymous::Left::ZEROS),
            Kind::ZeroPageWrite => anonymous::proof(anonymous::Left::OWN_AFTER_ZEROS),
            Kind::CopyOnWrite => Proof::counted(copy_on_write::EXPECT),
            Kind::Huge => huge::proof(),
            Kind::FileWarm => file::proof_of_around(),
            Kind::FileWarmAlone => file::proof_of_alone(),
            Kind::FileCold => Proof::counted(file::COLD),
            Kind::Userfaultfd => Proof::counted(userfaultfd::EXPECT),
        }
    }

    fn proof_of(self, state: State) -> Proof {
        let recycled = match self {
            Kind::Huge => huge::recycled_bytes(),
            Kind::AnonymousWrite
            | Kind::ZeroPageRead
            | Kind::ZeroPageWrite
            | Kind::CopyOnWrite
            | Kind::FileWarm
            | Kind::FileWarmAlone
            | Kind::FileCold
            | Kind::Userfaultfd => anonymous::recycled_bytes(),
        };
        state::GIVEN_BACK.expects(match state {
            State::Recycled => recycled,
            State::Fresh => state::FRESH_BYTES,
        })
    }
}

/// This many faults without a device per operation; the kernel may add a fault now and then.
const fn minor_faults(count: f64) -> Expect {
    within(Counter::MinorFaults, 0.99 * count, 1.01 * count)
}

#[derive(Params, Clone)]
struct MemoryPageFault {
    kind: Kind,
    state: Option<State>,
}

impl Measured for MemoryPageFault {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(MemoryPageFault {
            kind: Kind::ALL,
            state: kind.states()
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.kind {
            Kind::AnonymousWrite | Kind::CopyOnWrite | Kind::FileWarm => Profile::Quick,
            Kind::ZeroPageRead
            | Kind::ZeroPageWrite
            | Kind::Huge
            | Kind::FileWarmAlone
            | Kind::FileCold
            | Kind::Userfaultfd => Profile::Standard,
        }
    }

    fn proofs(&self) -> MemoryPageFaultProofs<Proof> {
        MemoryPageFaultProofs {
            kind: self.kind.proof(),
            state: match self.state {
                Some(state) => self.kind.proof_of(state),
                None => Proof::default(),
            },
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match (self.kind, self.state) {
            (Kind::AnonymousWrite, Some(state)) => anonymous::write(plan, state),
            (Kind::Huge, Some(state)) => huge::write(plan, state),
            (Kind::AnonymousWrite | Kind::Huge, None) => {
                Err(Failure::Broken("has no state of its pages".into()))
            }
            (Kind::ZeroPageRead, _) => anonymous::read(plan),
            (Kind::ZeroPageWrite, _) => anonymous::write_after_read(plan),
            (Kind::CopyOnWrite, _) => copy_on_write::measure(plan),
            (Kind::FileWarm, _) => file::around(plan),
            (Kind::FileWarmAlone, _) => file::alone(plan),
            (Kind::FileCold, _) => file::cold(plan),
            (Kind::Userfaultfd, _) => userfaultfd::measure(plan),
        }
    }
}
