//! Streams: going through memory line by line, reading, writing or both.
//!
//! What proves them: a stream that only reads sums every word it loads in the first pass of a run, and the sum is known from when the
//! memory was filled; in further passes over the same small array it only loads, since adding would take longer than loading from the
//! nearest cache, and returns how far its pointer advanced. That each of these loads happens is shown by the minimum number of cycles that they take, and
//! by tests that count them in the machine code. A stream that writes returns how far its destination's pointer advanced, and [`Work::check`] looks at
//! randomly chosen words that were overwritten with wrong values before the run. A stream that writes without reading also writes another value in each pass.

mod arrays;
mod course;
mod engine;
mod operation;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::hint::black_box;

use super::{Simd, Work, machine};
use crate::Unsupported;

pub use arrays::Arrays;
use arrays::word;
use course::BLOCK;
pub use course::Course;
pub use engine::supports;
use engine::{Engine, engine};
pub use operation::Stream;

/// The factor by which [`Stream::Scale`] and [`Stream::Triad`] multiply.
const FACTOR: f64 = 3.0;

/// The value that a write-only stream stores in its first pass; each later pass stores one more.
const WRITTEN: u64 = 0x5157_0000_0000_0000;

/// How many words of the destination show what it holds.
const SOME_WORDS: usize = 64;

/// An array smaller than the memory divided by this is meant for a cache, and does not change where the next long stream begins.
const SMALL_SHARE: usize = 8;

/// Arguments of a stream's machine code.
#[repr(C)]
pub(super) struct Arguments {
    pub(super) destination: *mut u8,
    pub(super) sources: [*const u8; 3],
    /// Blocks per pass.
    blocks: usize,
    /// The value that the first pass stores.
    written: u64,
    one: u64,
    factor: f64,
    /// Bytes per pass.
    bytes: usize,
}

/// A stream through arrays, ready to run. One operation goes through [`Course::bytes`] bytes.
#[derive(Debug)]
pub struct Streaming {
    course: Course,
    engine: Engine,
    /// The instructions for one vector, in the processor's own terms, for display.
    pub instructions: &'static str,
    floor_cycles: f64,
    arrays: Arrays,
    /// The sum of the sources' words in each part, if they are only read.
    sums: Vec<u64>,
    /// Number of the first operation, and of the next one; each operation goes through the next part.
    first: u64,
    done: Cell<u64>,
    looks: RefCell<Vec<Look>>,
    /// How many words are checked after each run.
    looks_per_run: usize,
    /// Words checked so far.
    looked: Cell<u64>,
    chance: Cell<u64>,
}

/// A word of the destination, and what must be there after the next run.
#[derive(Debug, Clone, Copy)]
struct Look {
    word: usize,
    expected: u64,
}

impl Streaming {
    /// A stream on this course, through these arrays.
    ///
    /// # Errors
    /// `Unsupported` when this processor lacks these instructions, or there is no such memory.
    pub fn new(simd: Simd, course: Course, mut arrays: Arrays) -> Result<Self, Unsupported> {
        let Course {
            stream,
            array,
            part,
            ..
        } = course;
        let (engine, instructions) = engine(stream, simd)?;
        arrays.provide(course)?;
        let first = (arrays.place / part) as u64 % course.parts();
        let sums = match stream {
            Stream::Read => (0..array / part)
                .map(|number| arrays.sum(number * part / 8, part / 8))
                .collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            course,
            engine,
            instructions,
            floor_cycles: course.floor_cycles(simd),
            sums,
            first,
            done: Cell::new(first),
            looks: RefCell::default(),
            looks_per_run: 4,
            looked: Cell::new(0),
            chance: Cell::new(arrays.start().addr() as u64),
            arrays,
        })
    }

    /// Checks this many words after each run, instead of four.
    #[must_use]
    pub fn looking_at(mut self, words: usize) -> Self {
        self.looks_per_run = words;
        self
    }

    /// The course that it takes through its arrays.
    pub fn course(&self) -> Course {
        self.course
    }

    /// The set of vector instructions that its machine code uses. `None` where the processor or the C library chooses.
    pub fn simd(&self) -> Option<Simd> {
        Simd::of(self.instructions)
    }

    /// By what it stores: instructions that its machine code has, or a function of the C library.
    pub fn storing(&self) -> &'static str {
        match self.engine {
            Engine::Assembly(entry) => machine::stream::storing(entry),
            Engine::Memset => "memset",
            Engine::Memcpy => "memcpy",
        }
    }

    /// What the last operation left in its destination a, by some words of it: what they are of the
    /// arrays b, c and d that it reads, or which constant.
    pub fn left(&self) -> &'static str {
        let Some(last) = self
            .done
            .get()
            .checked_sub(1)
            .filter(|_| self.course.writes())
        else {
            return "nothing";
        };
        let (parts, words) = (self.course.parts(), self.course.part / 8);
        let array = self.course.array / 8;
        // What a word of the destination may be, of which this was found.
        let made = |index: usize, found: u64| {
            let [b, c, d] = [0, 1, 2].map(|source| f64::from_bits(word(source * array + index)));
            let number = (found >> 48 == WRITTEN >> 48).then_some(found);
            [
                ("b", b.to_bits()),
                ("s b", (FACTOR * b).to_bits()),
                ("b + c", (b + c).to_bits()),
                ("b + s c", (b + FACTOR * c).to_bits()),
                ("b + c + d", (b + c + d).to_bits()),
                ("a number", number.unwrap_or(!found)),
                ("a byte", u64::from_ne_bytes([found as u8; 8])),
            ]
        };
        let first = (last % parts) as usize * words;
        let mut kinds = made(0, 0).map(|(kind, _)| (kind, true));
        for place in 0..SOME_WORDS {
            let index = first + place * words / SOME_WORDS;
            // SAFETY: within the destination, which only this stream writes to.
            let found = unsafe { self.destination(index).read_volatile() };
            for ((_, is_it), (_, wanted)) in kinds.iter_mut().zip(made(index, found)) {
                *is_it &= wanted == found;
            }
        }
        let left = kinds.into_iter().find(|(_, is_it)| *is_it);
        left.map_or("something else", |(kind, _)| kind)
    }

    /// How many operations have been done.
    pub fn operations(&self) -> u64 {
        self.done.get() - self.first
    }

    /// Number of the next operation, which determines where in the arrays it works.
    pub fn next(&self) -> u64 {
        self.done.get()
    }

    /// The memory that it works on.
    pub fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// Returns the memory that it worked on.
    pub fn into_arrays(mut self) -> Arrays {
        let Course { array, part, .. } = self.course;
        let stopped = (self.done.get() % self.course.parts()) as usize * part;
        self.arrays.place = match array < self.arrays.largest() / SMALL_SHARE {
            // All of the array may be in a cache now: the next stream stays where it was, but not within this array.
            true => self.arrays.place.max(array),
            false => stopped,
        };
        self.arrays
    }

    /// How many words have been checked so far.
    pub fn looked(&self) -> u64 {
        self.looked.get()
    }

    /// Runs one operation with everything that proves it.
    #[inline]
    pub fn proved(&self) -> Result<(), String> {
        self.summed().map(drop)
    }

    /// Runs this many iterations with everything that proves them, and returns the checksum.
    #[inline]
    pub fn summed(&self) -> Result<u64, String> {
        let expected = self.expected(1);
        let sum = self.run(1);
        if sum != expected {
            return Err(format!("the checksum is {sum}, expected {expected}"));
        }
        self.check().map(|()| sum)
    }

    /// Compares every word written so far with its expected value, and returns the numbers of words written and of words that are right.
    pub fn verify(&self) -> (u64, u64) {
        let parts = self.course.parts();
        let (words, done) = (self.course.part / 8, self.done.get());
        let (mut written, mut right) = (0, 0);
        if self.course.stream.destinations() == 0 {
            return (0, 0);
        }
        for operation in done.saturating_sub(parts).max(self.first)..done {
            let first = (operation % parts) as usize * words;
            for index in first..first + words {
                // SAFETY: within the destination, which only this stream writes to.
                let found = unsafe { self.destination(index).read() };
                written += 1;
                right += u64::from(found == self.must_be(index, operation));
            }
        }
        (written, right)
    }

    /// Goes `passes` times through a part; `operation` is the number of the first of these operations.
    #[inline]
    fn walk(&self, operation: u64, passes: u64) -> u64 {
        let parts = self.course.parts();
        let offset = (operation % parts) as usize * self.course.part;
        let source = |number: usize| {
            let skipped =
                number.min(self.course.stream.sources().saturating_sub(1)) * self.course.array;
            self.arrays.source().wrapping_add(skipped + offset)
        };
        let mut arguments = Arguments {
            destination: self.arrays.destination().wrapping_add(offset),
            sources: [source(0), source(1), source(2)],
            blocks: self.course.part / BLOCK,
            written: self.written(operation, 0),
            one: 1,
            factor: FACTOR,
            bytes: self.course.part,
        };
        match self.engine {
            Engine::Assembly(entry) => {
                let arguments = &raw mut arguments;
                // SAFETY: the entry is one of this module's own, written for these arguments. Sources and destination have at least
                // `bytes` from there on, which are a whole number of blocks; nothing else uses the destination meanwhile, because the
                // arrays are owned and `Streaming` is not `Sync`.
                unsafe { entry(passes, arguments.cast(), 0) }
            }
            Engine::Memset => {
                for pass in 0..passes {
                    let byte = (arguments.written + pass) as u8;
                    // SAFETY: as above. The compiler, which cannot know the length, calls `memset`.
                    unsafe {
                        arguments
                            .destination
                            .write_bytes(byte, black_box(self.course.part))
                    };
                    black_box(arguments.destination);
                }
                passes * self.course.part as u64
            }
            Engine::Memcpy => {
                let [from, ..] = arguments.sources;
                for _ in 0..passes {
                    // SAFETY: as above; source and destination are different memory.
                    unsafe {
                        from.copy_to_nonoverlapping(
                            arguments.destination,
                            black_box(self.course.part),
                        )
                    };
                    black_box(arguments.destination);
                }
                passes * self.course.part as u64
            }
        }
    }

    /// The value that a pass of an operation stores, if the stream is write-only.
    fn written(&self, operation: u64, pass: u64) -> u64 {
        WRITTEN.wrapping_add(
            operation
                .wrapping_mul(self.course.passes)
                .wrapping_add(pass),
        )
    }

    /// The value that a word of the destination must have after this operation.
    fn must_be(&self, index: usize, operation: u64) -> u64 {
        let words = self.course.array / 8;
        let number = |array: usize| f64::from_bits(word(array * words + index));
        match self.course.stream {
            Stream::Read => 0,
            Stream::Write | Stream::WriteNontemporal => {
                self.written(operation, self.course.passes - 1)
            }
            Stream::RepeatStore | Stream::Memset => {
                let byte = self.written(operation, self.course.passes - 1) as u8;
                u64::from_ne_bytes([byte; 8])
            }
            Stream::Copy | Stream::CopyNontemporal | Stream::RepeatMove | Stream::Memcpy => {
                word(index)
            }
            Stream::Scale => (FACTOR * number(0)).to_bits(),
            Stream::Add => (number(0) + number(1)).to_bits(),
            Stream::Triad => (number(0) + FACTOR * number(1)).to_bits(),
            Stream::AddThree => (number(0) + number(1) + number(2)).to_bits(),
        }
    }

    /// A random word among those that are read; `None` if none is.
    pub fn some_source(&self) -> Option<*const u64> {
        let (bytes, _) = self.course.lengths();
        let number = self.below(bytes as u64 / 8) as usize;
        (bytes > 0).then(|| self.arrays.source().cast::<u64>().wrapping_add(number))
    }

    fn destination(&self, index: usize) -> *mut u64 {
        self.arrays.destination().cast::<u64>().wrapping_add(index)
    }

    /// A random number below this limit (a step of a linear congruential generator; its upper bits).
    fn below(&self, limit: u64) -> u64 {
        let next = self
            .chance
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.chance.set(next);
        (next >> 33) % limit.max(1)
    }

    /// Overwrites random words with wrong values, which the next operations must write again.
    fn spoil(&self, iterations: u64) {
        let mut looks = self.looks.borrow_mut();
        looks.clear();
        if self.course.stream.destinations() == 0 || iterations == 0 {
            return;
        }
        let (parts, words) = (self.course.parts(), self.course.part / 8);
        let last = self.done.get() + iterations - 1;
        for _ in 0..self.looks_per_run {
            // What an operation wrote stays until the same part is written again.
            let operation = last - self.below(iterations.min(parts));
            let word = (operation % parts) as usize * words + self.below(words as u64) as usize;
            let expected = self.must_be(word, operation);
            // SAFETY: within the destination, which only this stream writes to.
            unsafe { self.destination(word).write(!expected) };
            looks.push(Look { word, expected });
        }
    }
}

impl Work for Streaming {
    fn operations_per_iteration(&self) -> u64 {
        1
    }

    fn floor_cycles(&self) -> f64 {
        self.floor_cycles
    }

    fn bytes_per_operation(&self) -> Option<u64> {
        Some(self.course.bytes())
    }

    #[inline]
    fn run(&self, iterations: u64) -> u64 {
        let first = self.done.get();
        self.done.set(first + iterations);
        if self.course.part == self.course.array {
            return self.walk(first, iterations * self.course.passes);
        }
        (first..first + iterations).fold(0, |sum: u64, operation| {
            sum.wrapping_add(self.walk(operation, 1))
        })
    }

    fn expected(&self, iterations: u64) -> u64 {
        self.spoil(iterations);
        let first = self.done.get();
        match (self.course.stream, self.sums.as_slice()) {
            // The first pass returns a sum, the others how far they went.
            (Stream::Read, [sum]) if iterations > 0 => {
                let others = iterations.wrapping_mul(self.course.passes).wrapping_sub(1);
                sum.wrapping_add(others.wrapping_mul(self.course.part as u64))
            }
            (Stream::Read, sums) => (first..first + iterations).fold(0, |sum: u64, operation| {
                sum.wrapping_add(sums[(operation % sums.len() as u64) as usize])
            }),
            _ => iterations.wrapping_mul(self.course.passes * self.course.part as u64),
        }
    }

    fn check(&self) -> Result<(), String> {
        let looks = self.looks.borrow();
        for look in looks.iter() {
            // SAFETY: within the destination, which only this stream writes to.
            let found = unsafe { self.destination(look.word).read_volatile() };
            if found != look.expected {
                return Err(format!(
                    "word {} of the destination is {found:#x} after the run, expected {:#x}",
                    look.word, look.expected
                ));
            }
        }
        self.looked.set(self.looked.get() + looks.len() as u64);
        Ok(())
    }
}
