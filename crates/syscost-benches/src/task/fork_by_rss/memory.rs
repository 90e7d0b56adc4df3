//! Memory whose size determines the cost of a fork.
#![allow(unsafe_code)] // madvise, and a byte read in a child

use std::hint::black_box;

use rustix::mm::{Advice, madvise};
use syscost_harness::prelude::*;
use syscost_sys::memory::{self, Memory as Filled};

/// The size of the memory's pages.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pages {
    #[value("4K")]
    Small,
    /// Where small ones have 4 KiB.
    #[value("2M")]
    Huge,
}

impl Pages {
    /// The size of one, in bytes.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Pages::Small => 4 << 10,
            Pages::Huge => 2 << 20,
        }
    }
}

/// Private memory, every page of it written.
pub(super) struct Memory(Filled);

impl Memory {
    /// This many bytes, a multiple of 2 MiB, in these pages.
    pub(super) fn fill(bytes: usize, pages: Pages) -> Result<Self, Failure> {
        let kind = match pages {
            Pages::Small => memory::Pages::Small,
            Pages::Huge => memory::Pages::Huge,
        };
        let (real, size) = (kind.bytes()?, pages.bytes());
        if real != size {
            return Err(Failure::Unsupported(format!(
                "these pages have {real} bytes on this machine, not {size}"
            )));
        }
        Ok(Self(Filled::fill(bytes, kind)?))
    }

    /// Advises the kernel about a part of the memory; the advice must not discard it.
    pub(super) fn advise(&self, from: usize, to: usize, advice: Advice) -> Result<(), Failure> {
        assert!(from <= to && to <= self.0.bytes());
        // SAFETY: within the mapping; the advice given here changes no content.
        unsafe { madvise(self.0.start().add(from).cast(), to - from, advice) }
            .map_err(|cause| Failure::of("madvise", cause))
    }

    /// Reads the byte at this offset; a process that does not have it is killed by a signal.
    pub(super) fn look_at(&self, at: usize) {
        assert!(at < self.0.bytes());
        // SAFETY: within the mapping; a child that was not given this part is killed, which is intended.
        black_box(unsafe { self.0.start().add(at).read_volatile() });
    }

    /// Claims that all of it is resident, in pages of the size in the row's name.
    pub(super) fn claim(&self, b: &mut Bencher) -> Result<(), Failure> {
        b.claim_resident(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_last_byte_can_be_read() {
        match Memory::fill(8 << 20, Pages::Small) {
            Ok(memory) => memory.look_at((8 << 20) - 1),
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}
