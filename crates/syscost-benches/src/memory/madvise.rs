//! Giving pages back, or permitting the kernel to take them.
//!
//! ## Measures
//! One madvise on private anonymous memory, by length. `dontneed` gives its pages back immediately.
//! `free` lets the kernel take them when memory runs short. They are written again before each
//! batch, untimed; or never were (`touched=no`).
//! ## Does not measure
//! The faults of touching them again
//! (`memory.page_fault`), or other CPUs that must forget them (`memory.tlb_shootdown`).
//! ## Interpretation
//! The cost for an allocator of returning memory. A page that is given back and touched again costs
//! this share and a fault.
//! ## Source
//! madvise(2).

use std::cell::Cell;

use rustix::mm;
use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::space::area::Area;
use super::space::{
    self, ADDRESS, GIVING_BACK, LENGTH, RESIDENT, gives_back, in_pages, maps, whole_pages,
};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "madvise",
    tags: "madv_dontneed, madv_free, release memory",
    revision: 2,
    expect: &[calls(Sysno::MADVISE)],
    ..Benchmark::of::<Madvise>()
};

/// Pages that are resident afterwards, which the benchmark counts itself.
const LEFT: &str = "pages that are resident after it";

/// Memory that the kernel may take afterwards, by smaps, which the benchmark reads before and after
/// each batch.
const TAKEABLE: &str = "bytes more that may be taken after it";

/// Maximum bytes and calls per batch.
const MAX_BYTES: usize = 32 << 20;
const MAX_CALLS: usize = 1024;

/// The advice given to the kernel.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Advice {
    Dontneed,
    Free,
}

impl Advice {
    fn given(self) -> mm::Advice {
        match self {
            Advice::Free => mm::Advice::LinuxFree,
            Advice::Dontneed => mm::Advice::LinuxDontNeed,
        }
    }
}

#[derive(Params, Clone)]
struct Madvise {
    advice: Advice,
    /// Bytes of the range.
    size: Bytes,
    /// Whether its pages were written before.
    touched: bool,
}

impl Measured for Madvise {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let [page, some, many] = [Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)];
        [
            rows!(Madvise {
                advice: [Advice::Dontneed],
                size: [page],
                touched: [false]
            }),
            rows!(Madvise {
                advice: [Advice::Dontneed],
                size: [page, some, many],
                touched: [true]
            }),
            rows!(Madvise {
                advice: [Advice::Free],
                size: [many],
                touched: [true]
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.touched && self.size != Bytes::kib(64) {
            true => Profile::Standard,
            false => Profile::Full,
        }
    }

    fn proofs(&self) -> MadviseProofs<Proof> {
        let argument = |argument, value| {
            Proof::argument(Sysno::MADVISE, argument, ArgumentValue::Always(value))
        };
        let pages = if self.touched {
            in_pages(self.size)
        } else {
            0.0
        };
        let mut before = vec![exactly(Counter::Reported(RESIDENT), pages)];
        let takeable = exactly(Counter::Reported(TAKEABLE), self.size.0 as f64);
        let after = Proof::counted(match self.advice {
            Advice::Dontneed => vec![exactly(Counter::Reported(LEFT), 0.0)],
            // What may be taken stays as long as memory is not short.
            Advice::Free => vec![at_most(Counter::Reported(LEFT), pages), takeable],
        });
        if self.touched {
            before.push(GIVING_BACK);
        }
        if self.touched && self.advice == Advice::Dontneed {
            before.push(gives_back(self.size));
        }
        MadviseProofs {
            advice: argument(space::ADVICE, self.advice.given() as u64).and(after),
            size: argument(LENGTH, self.size.0),
            touched: Proof::counted(before),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (bytes, is_touched) = (whole_pages(self.size)?, self.touched);
        let advice = self.advice.given();
        let most = (MAX_BYTES / bytes).min(MAX_CALLS);
        let area = Area::reserve(most * bytes, Pages::Small)?;
        let pages = bytes / page_size();
        plan.expect_argument(Sysno::MADVISE, ADDRESS, ArgumentValue::Different);
        let gone = self.advice == Advice::Dontneed;
        let clean = || match gone {
            true => Ok(0),
            false => maps::clean_bytes(area.memory().start().addr()),
        };
        let (clean_before, takeable) = (Cell::new(0), Cell::new(0));
        let (resident, left, batch) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let look_after = || -> Result<(), Failure> {
            left.set(left.get() + area.look(0..batch.get())?.present);
            if batch.get() > 0 {
                takeable.set(takeable.get() + clean()?.saturating_sub(clean_before.get()));
            }
            Ok(())
        };
        let prepare = |iterations| {
            look_after()?;
            batch.set(iterations as usize * pages);
            if is_touched {
                area.write(0..batch.get());
            }
            resident.set(resident.get() + area.look(0..batch.get())?.present);
            clean_before.set(clean()?);
            Ok(())
        };
        let advise = |iterations| {
            (0..iterations as usize)
                .try_for_each(|number| area.advise(number * pages, bytes, advice))
        };
        let batches = Loop::batches(1, advise).prepared(most as u64, prepare);
        let mut outcome = plan.measure(batches)?;
        look_after()?;
        outcome.report(RESIDENT, resident.get() as f64);
        outcome.report(LEFT, left.get() as f64);
        if !gone {
            outcome.report(TAKEABLE, takeable.get() as f64);
        }
        Ok(outcome)
    }
}
