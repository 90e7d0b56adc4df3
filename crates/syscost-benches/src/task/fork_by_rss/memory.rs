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

    /// How many of its pages this many bytes are.
    pub(super) fn pages(&self, bytes: usize) -> Result<f64, Unsupported> {
        Ok(bytes as f64 / self.0.pages().bytes()? as f64)
    }

    /// Advises the kernel about a part of the memory; the advice must not discard it.
    pub(super) fn advise(&self, from: usize, to: usize, advice: Advice) -> Result<(), Failure> {
        assert!(from <= to && to <= self.0.bytes());
        // SAFETY: within the mapping; the advice given here changes no content.
        unsafe { madvise(self.0.start().add(from).cast(), to - from, advice) }.tried("madvise")
    }

    /// Reads the byte at this offset; a process that does not have it is killed by a signal.
    pub(super) fn look_at(&self, at: usize) {
        assert!(at < self.0.bytes());
        // SAFETY: within the mapping; a child that was not given this part is killed, which is intended.
        black_box(unsafe { self.0.start().add(at).read_volatile() });
    }

    /// How much of it is resident, in bytes, and in which pages: [`MIXED`] if in several kinds. And
    /// what else than this program may have caused that.
    fn resident(&self) -> Result<(usize, &'static str, Option<&'static str>), Unsupported> {
        let resident = self.0.resident()?;
        let as_asked = resident.in_pages_bytes;
        let seen = match as_asked == resident.bytes {
            true => self.0.pages().name(),
            false => MIXED,
        };
        let is_split = as_asked as f64 >= MIN_UNSPLIT * resident.bytes as f64;
        let doubt = is_split.then_some("the kernel has split some of these pages since");
        Ok((resident.bytes, seen, doubt))
    }
}

static BYTES: Witness = Witness::of("resident bytes in addition", "smaps");

static PAGES: Witness = Witness::of("pages that they are in", "smaps");

/// Where there is no memory in addition.
const NONE: &str = "none";

const MIXED: &str = "several kinds";

/// Minimum share still in huge pages where the kernel, which may split some at any time, has.
const MIN_UNSPLIT: f64 = 0.95;

/// What proves that this many bytes were there in addition, in these pages.
pub(super) fn proofs(bytes: u64, pages: Pages) -> (Proof, Proof) {
    let seen = match (bytes, pages) {
        (0, Pages::Small | Pages::Huge) => NONE,
        (_, Pages::Small) => memory::Pages::Small.name(),
        (_, Pages::Huge) => memory::Pages::Huge.name(),
    };
    (BYTES.sees(bytes), PAGES.sees(seen))
}

/// Reports what memory there is in addition.
pub(super) fn see(b: &mut Bencher, memory: Option<&Memory>) -> Result<(), Failure> {
    let (bytes, pages, doubt) = match memory {
        Some(memory) => memory.resident()?,
        None => (0, NONE, None),
    };
    b.saw(&BYTES, bytes);
    b.saw_unless(&PAGES, pages, doubt);
    Ok(())
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
