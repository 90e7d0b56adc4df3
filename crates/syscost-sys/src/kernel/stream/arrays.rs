//! The memory of streams: a source that is only read, whose every word is known, and a destination
//! that is written.

use super::Course;
use crate::Unsupported;
use crate::memory::{Memory, Pages};

/// Sums are kept for every this many bytes of the source.
pub(super) const SUMMED: usize = 16 << 10;

/// Long destinations begin this many bytes further within their pages than sources do, half a huge
/// page. Streams that go through the same places of their pages at the same time meet in the same
/// banks of memory: a copy of 256 MiB took a fifth longer on a Zen 4. Small offsets help some
/// kernels and harm others, and any that is not a multiple of 4 KiB makes loads wait for stores that
/// seem to overlap them.
const SKEW: usize = 1 << 20;

/// Shorter arrays fit in caches, where the skew makes no difference.
const LONG: usize = 16 * SKEW;

/// The offset within its memory at which a destination of this many bytes begins.
fn skew(bytes: usize) -> usize {
    if bytes < LONG { 0 } else { SKEW }
}

/// A word of the source: the bits of a number from 1 to 1 + 1/256 that differs from word to word,
/// so that sums and small multiples of them are exact.
#[inline]
pub(super) fn word(index: usize) -> u64 {
    let scrambled = (index as u32).wrapping_mul(0x9E37_79B1);
    let scrambled = scrambled ^ (scrambled >> 15);
    1_f64.to_bits() | u64::from(scrambled) << 12
}

/// Memory for streams, allocated when a stream first needs that much, so that successive streams
/// can reuse it.
#[derive(Debug)]
pub struct Arrays {
    pages: Pages,
    node: Option<u32>,
    /// Where the last long stream stopped, in bytes from the start: the next one continues there,
    /// not in what that one left in a cache.
    pub(super) place: usize,
    source: Option<Source>,
    destination: Option<Destination>,
}

#[derive(Debug)]
struct Destination {
    memory: Memory,
    /// The offset at which the array begins within the memory, in bytes.
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
    /// The sum of the words of each [`SUMMED`] bytes.
    sums: Vec<u64>,
}

impl Arrays {
    /// Memory in pages of this size, or in small ones where the kernel gives none of these; nothing
    /// is allocated yet.
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

    /// The memory allocated so far: source and destination.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.parts().into_iter().flatten()
    }

    /// The part of the allocated memory that a stream on this course goes through.
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

    /// The length of the longer array, in bytes.
    pub(super) fn largest(&self) -> usize {
        self.memories().map(Memory::bytes).max().unwrap_or(0)
    }

    /// How many bytes a stream on this course has to allocate first. An array that is too short is
    /// allocated anew as a whole.
    pub fn missing_bytes(&self, course: Course) -> usize {
        let (read, written) = course.lengths();
        let missing = |there: usize, bytes: usize| if there >= bytes { 0 } else { bytes };
        missing(self.readable(), read) + missing(self.writable(), written)
    }

    /// Allocates what a stream on this course still lacks, in the calling thread.
    ///
    /// # Errors
    /// As [`Memory::fill`]; the existing memory stays.
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

    fn readable(&self) -> usize {
        self.source
            .as_ref()
            .map_or(0, |source| source.memory.bytes())
    }

    fn writable(&self) -> usize {
        self.destination.as_ref().map_or(0, Destination::bytes)
    }

    /// As [`Arrays::get`], and makes all of the destination writable now: a page that a child of
    /// this process shares is otherwise copied at its next write.
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

    /// Start of the source; of the destination if there is no source.
    pub(super) fn source(&self) -> *const u8 {
        let source = self.source.as_ref().map(|source| source.memory.start());
        source.unwrap_or_else(|| self.destination()).cast_const()
    }

    /// Start of the destination; null if there is none.
    pub(super) fn destination(&self) -> *mut u8 {
        let destination = self.destination.as_ref();
        destination.map_or(std::ptr::null_mut(), Destination::start)
    }

    pub(super) fn start(&self) -> *const u8 {
        self.source()
    }

    /// The sum of this many words of the source, starting with this one.
    pub(super) fn sum(&self, first: usize, words: usize) -> u64 {
        /// Words of which the sum is kept.
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
