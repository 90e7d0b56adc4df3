//! How a stream goes through its arrays.

use super::arrays::{SUMMED, sum_of};
use super::{Simd, Stream};

/// Bytes of every array in one iteration of a kernel's inner loop.
pub(super) const BLOCK: usize = 1024;

/// Maximum number of registers that any core made so far stores per cycle.
const MAX_STORES_PER_CYCLE: f64 = 2.0;

/// Tolerance of the limits, since the core's frequency is known only approximately.
const TOLERANCE: f64 = 1.1;

/// Upper bound for what a string instruction or the C library moves in one step, in bytes: no
/// register is wider.
const WIDEST: u64 = 64;

/// How a stream goes through its arrays, in units of whole kilobytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    pub(super) stream: Stream,
    /// Bytes of one array.
    pub(super) array: usize,
    /// Bytes of each array in one pass: all of it or a part.
    pub(super) part: usize,
    pub(super) passes: u64,
}

impl Course {
    /// The course of a stream whose arrays have this many bytes together. One operation goes through about
    /// `operation` bytes: a part of them, or all of them as often as fits.
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

    /// The stream's kind.
    pub fn stream(&self) -> Stream {
        self.stream
    }

    /// Bytes that one operation loads and stores.
    pub fn bytes(&self) -> u64 {
        (self.stream.arrays() * self.part) as u64 * self.passes
    }

    /// Whether the stream writes anything.
    pub fn writes(&self) -> bool {
        self.stream.destinations() > 0
    }

    /// Bytes of all its arrays.
    pub fn footprint(&self) -> usize {
        self.stream.arrays() * self.array
    }

    /// Bytes of the arrays that are read, and of those that are written.
    pub(super) fn lengths(&self) -> (usize, usize) {
        let Self { stream, array, .. } = self;
        (stream.sources() * array, stream.destinations() * array)
    }

    /// The sum that a read-only stream returns for this many operations starting with this one, each
    /// going through another part. Computed from the words' definition, not from memory.
    pub fn sum(&self, first: u64, operations: u64) -> u64 {
        let (parts, words) = (self.parts(), self.part / 8);
        let sums: Vec<u64> = (0..parts as usize)
            .map(|part| sum_of(part * words..(part + 1) * words))
            .collect();
        let lap = sums.iter().fold(0_u64, |sum, part| sum.wrapping_add(*part));
        let rest =
            (first..first + operations % parts).map(|operation| sums[(operation % parts) as usize]);
        rest.fold(lap.wrapping_mul(operations / parts), u64::wrapping_add)
    }

    pub(super) fn parts(&self) -> u64 {
        (self.array / self.part) as u64
    }

    /// The fewest core cycles that one operation with these vectors can take on any core made so far.
    pub fn floor_cycles(&self, simd: Simd) -> f64 {
        // Wide cores of aarch64 have a fourth load unit.
        let max_loads_per_cycle = match simd {
            Simd::Neon => 4.0,
            Simd::Sse2 | Simd::Avx2 | Simd::Avx512 => 3.0,
        };
        let width = match self.stream.is_vector() {
            true => 8 * simd.lanes(),
            false => WIDEST,
        };
        let vectors = (self.part as u64 * self.passes / width) as f64;
        let loads = vectors * self.stream.sources() as f64 / max_loads_per_cycle;
        let stores = vectors * self.stream.destinations() as f64 / MAX_STORES_PER_CYCLE;
        loads.max(stores) / TOLERANCE
    }
}
