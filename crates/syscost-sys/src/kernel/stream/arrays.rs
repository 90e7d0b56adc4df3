//! What streams go through: memory that is only read, whose every word is known, and memory that is written.

use super::Course;
use crate::Unsupported;
use crate::memory::{Memory, Pages};

/// Sums are kept of this many bytes of the source.
pub(super) const SUMMED: usize = 16 << 10;

/// Long destinations begin this many bytes further within their pages than sources do, half a huge
/// page. Streams that go through the same places of their pages at the same time meet in the same
/// banks of memory: a copy of 256 MiB took a fifth longer on a Zen 4. Small offsets help some
/// kernels and harm others, and any that is no multiple of 4 KiB makes loads wait for stores that
/// seem to overlap them.
const SKEW: usize = 1 << 20;

/// What is shorter lies in caches, which do not mind.
const LONG: usize = 16 * SKEW;

/// How far into its memory a destination of this many bytes begins.
fn skew(bytes: usize) -> usize {
    if bytes < LONG { 0 } else { SKEW }
}

/// A word of the source: a number from 1 to 1 + 1/256 that differs from word to word, so that sums and small multiples of them are exact.
#[inline]
pub(super) fn word(index: usize) -> u64 {
    let scrambled = (index as u32).wrapping_mul(0x9E37_79B1);
    let scrambled = scrambled ^ (scrambled >> 15);
    1_f64.to_bits() | u64::from(scrambled) << 12
}

/// Memory for streams, gotten when a stream first needs so much of it, so that one stream after the other can use it.
#[derive(Debug)]
pub struct Arrays {
    pages: Pages,
    node: Option<u32>,
    /// Where the last long stream stopped, in bytes from the start: the next one goes on there, not over what that left in a cache.
    pub(super) place: usize,
    source: Option<Source>,
    destination: Option<Destination>,
}

#[derive(Debug)]
struct Destination {
    memory: Memory,
    /// How far into the memory it begins, in bytes.
    skew: usize,
}

impl Destination {
    fn start(&self) -> *mut u8 {
        self.memory.start().wrapping_add(self.skew)
    }

    fn bytes(&self) -> usize {
        self.memory.bytes() - self.skew
    }
}

#[derive(Debug)]
struct Source {
    memory: Memory,
    /// What the words of each [`SUMMED`] bytes add up to.
    sums: Vec<u64>,
}

impl Arrays {
    /// Memory in pages of this size, or in small ones where the kernel gives none of these; nothing is there yet.
    pub fn new(pages: Pages) -> Self {
        Self {
            pages,
            node: None,
            place: 0,
            source: None,
            destination: None,
        }
    }

    /// Memory of this node only, in pages of this size.
    pub fn on_node(pages: Pages, node: u32) -> Self {
        Self {
            node: Some(node),
            ..Self::new(pages)
        }
    }

    /// The memory that is there: what is read and what is written.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.parts().into_iter().flatten()
    }

    /// The memory that a stream on this course goes through, of what is there.
    pub fn used_by(&self, course: Course) -> impl Iterator<Item = &Memory> {
        let (read, written) = course.lengths();
        let parts = self.parts().into_iter().zip([read, written]);
        parts.filter_map(|(part, bytes)| part.filter(|_| bytes > 0))
    }

    /// The source's memory and the destination's.
    fn parts(&self) -> [Option<&Memory>; 2] {
        let source = self.source.as_ref().map(|source| &source.memory);
        let destination = self.destination.as_ref();
        [source, destination.map(|destination| &destination.memory)]
    }

    /// How long the longest of them is, in bytes.
    pub(super) fn largest(&self) -> usize {
        self.memories().map(Memory::bytes).max().unwrap_or(0)
    }

    /// How many bytes a stream on this course has to get first: of what is too short, all.
    pub fn missing_bytes(&self, course: Course) -> usize {
        let (read, written) = course.lengths();
        let missing = |there: usize, bytes: usize| if there >= bytes { 0 } else { bytes };
        missing(self.readable(), read) + missing(self.writable(), written)
    }

    /// Gets what a stream on this course needs and is not there yet, by the calling thread.
    ///
    /// # Errors
    /// As [`Memory::fill`]; what was there stays.
    pub fn get(&mut self, course: Course) -> Result<(), Unsupported> {
        let (read, written) = course.lengths();
        if self.readable() < read {
            self.source = Some(Source::fill(self.fill(read)?));
        }
        if self.writable() < written {
            let skew = skew(written);
            let memory = self.fill(written + skew)?;
            self.destination = Some(Destination { memory, skew });
        }
        Ok(())
    }

    /// Bytes of the source that are there.
    fn readable(&self) -> usize {
        self.source
            .as_ref()
            .map_or(0, |source| source.memory.bytes())
    }

    /// Bytes of the destination that are there.
    fn writable(&self) -> usize {
        self.destination.as_ref().map_or(0, Destination::bytes)
    }

    /// The same, and makes all of the destination writable at once: a page that a child of this process has seen since is otherwise so
    /// only at its next write.
    pub(super) fn provide(&mut self, course: Course) -> Result<(), Unsupported> {
        self.get(course)?;
        let (_, destination) = course.lengths();
        if let Some(there) = &self.destination {
            for offset in (0..destination).step_by(Pages::Small.bytes()?) {
                // SAFETY: within the memory, which is ours alone.
                unsafe { there.start().add(offset).write_volatile(0) };
            }
        }
        Ok(())
    }

    fn fill(&self, bytes: usize) -> Result<Memory, Unsupported> {
        match self.node {
            Some(node) => Memory::fill_on(bytes, self.pages, node),
            None => Memory::fill_or_small(bytes, self.pages),
        }
    }

    /// Where the source begins; where the destination does if there is none.
    pub(super) fn source(&self) -> *const u8 {
        let source = self.source.as_ref().map(|source| source.memory.start());
        source.unwrap_or_else(|| self.destination()).cast_const()
    }

    /// Where the destination begins; null if there is none.
    pub(super) fn destination(&self) -> *mut u8 {
        let destination = self.destination.as_ref();
        destination.map_or(std::ptr::null_mut(), Destination::start)
    }

    /// Where either of them begins.
    pub(super) fn start(&self) -> *const u8 {
        self.source()
    }

    /// What this many words of the source add up to, from this one on.
    pub(super) fn sum(&self, first: usize, words: usize) -> u64 {
        const WORDS: usize = SUMMED / 8;
        match &self.source {
            Some(source) if first.is_multiple_of(WORDS) && words.is_multiple_of(WORDS) => {
                let sums = &source.sums[first / WORDS..(first + words) / WORDS];
                sums.iter().fold(0, |sum, part| sum.wrapping_add(*part))
            }
            _ => sum_of(first..first + words),
        }
    }
}

pub(super) fn sum_of(indexes: std::ops::Range<usize>) -> u64 {
    indexes.fold(0, |sum, index| sum.wrapping_add(word(index)))
}

impl Source {
    fn fill(mut memory: Memory) -> Self {
        let parts = memory.words().chunks_mut(SUMMED / 8).enumerate();
        let sums = parts
            .map(|(number, part)| {
                let first = number * (SUMMED / 8);
                let mut sum: u64 = 0;
                for (offset, place) in part.iter_mut().enumerate() {
                    let word = word(first + offset);
                    *place = word;
                    sum = sum.wrapping_add(word);
                }
                sum
            })
            .collect();
        Self { memory, sums }
    }
}
