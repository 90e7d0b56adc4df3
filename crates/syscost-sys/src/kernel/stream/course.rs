//! How a stream goes through its arrays.

use super::Stream;
use super::arrays::SUMMED;

/// Bytes of every array in one turn of a kernel's inner loop.
pub(super) const BLOCK: usize = 1024;

/// No core made so far loads and stores more bytes together in a cycle: two lines and one.
const MOST_BYTES_PER_CYCLE: f64 = 192.0;

/// How a stream goes through its arrays: in whole kilobytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    pub(super) stream: Stream,
    /// Bytes of one array.
    pub(super) array: usize,
    /// Bytes of each array in one pass: all of it or a part.
    pub(super) part: usize,
    /// Passes in one operation.
    pub(super) passes: u64,
}

impl Course {
    /// Of a stream whose arrays have so many bytes together. One operation goes through about `operation` bytes: a part of them, or all of
    /// them as often as fits.
    pub fn new(stream: Stream, bytes: usize, operation: usize) -> Self {
        let count = stream.arrays();
        let grain = |bytes: usize, grain: usize| (bytes / grain * grain).max(grain);
        let whole = grain(bytes / count, BLOCK);
        let (array, part, passes) = if count * whole <= operation {
            (whole, whole, (operation / (count * whole)) as u64)
        } else {
            let part = grain(operation / count, SUMMED);
            (grain(whole, part), part, 1)
        };
        Self {
            stream,
            array,
            part,
            passes,
        }
    }

    /// Bytes that one operation loads and stores.
    pub fn bytes(&self) -> u64 {
        (self.stream.arrays() * self.part) as u64 * self.passes
    }

    /// Whether it writes anything.
    pub fn writes(&self) -> bool {
        self.stream.destinations() > 0
    }

    /// Bytes of all its arrays.
    pub fn footprint(&self) -> usize {
        self.stream.arrays() * self.array
    }

    /// Parts of an array.
    pub(super) fn parts(&self) -> u64 {
        (self.array / self.part) as u64
    }

    /// The fewest core cycles that one operation can take on any core made so far.
    pub fn floor_cycles(&self) -> f64 {
        self.bytes() as f64 / MOST_BYTES_PER_CYCLE
    }
}
