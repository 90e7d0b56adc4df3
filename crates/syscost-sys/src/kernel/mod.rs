//! Kernels: the measured instructions themselves, written in assembly so that no compiler can fold,
//! reorder or vectorise them.
//!
//! A [`Kernel`] runs a loop of exactly the requested number of iterations; each iteration holds
//! [`Kernel::operations_per_iteration`] operations, enough that the loop's own instructions cost less than
//! 1 % (the exceptions say so). It returns a checksum that the executed instructions computed, and
//! [`Kernel::expected`] computes in another way, in Rust, what that must be: the evidence that every
//! operation happened.
//!
//! Every function here exists on every target; where the processor has no such instruction, it
//! returns [`Unsupported`](crate::Unsupported) with the reason.
#![allow(unsafe_code)] // entering assembly is the purpose of this module

mod arithmetic;
mod atomic;
mod branch;
mod call;
mod chase;
mod empty_loop;
mod fetch;
mod forward;
mod jumps;
mod listing;
mod shell;
mod stream;
mod table;
mod vector;
mod window;
mod written;

#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
mod machine;

#[cfg(test)]
mod tests;

use std::cell::Cell;

pub use arithmetic::{OperandType, Operation, Shape, arithmetic, dependent_adds};
pub use atomic::{Atomic, atomic};
pub use branch::{Branch, Directions, branch};
pub use call::{Call, MAX_ARGUMENTS, MAX_DEPTH, MAX_DEPTH_BY_CHANCE, call};
pub use chase::{Chase, LINE, Order, Route, max_share_alike};
pub use empty_loop::{LoopShape, empty_loop};
pub use fetch::{Fetch, Filler};
pub use forward::{Forward, forward};
pub use jumps::{Jumps, Path};
pub use stream::{Arrays, Course, Stream, Streaming, supports};
pub use table::{TARGETS, Targets};
pub use vector::{Simd, VectorOperation, vector};
pub use window::{Walks, Window};
pub use written::Iteration;

/// The function type of a kernel's entry.
type Entry = unsafe extern "C" fn(iterations: u64, data: *mut u64, position: u64) -> u64;

/// Measured instructions, ready to run.
///
/// It owns the memory that its instructions work on and is therefore for one thread at a time.
#[derive(Debug)]
pub struct Kernel {
    /// Operations in one iteration of the loop.
    pub operations_per_iteration: u64,
    /// The same by the machine code and its text, where they tell.
    operations_in_code: Option<u64>,
    /// The fewest core cycles that one operation can plausibly take on any core made so far. A result below
    /// it means that the operation was not executed.
    pub floor_cycles: f64,
    entry: Entry,
    assembly: &'static str,
    data: Box<[Line]>,
    checksum: Checksum,
    /// Iterations executed so far: a kernel with a table continues where it stopped, so that short
    /// runs do not walk the table's beginning again and again until the predictor knows it.
    position: Cell<u64>,
}

/// Measured instructions that prove what they did: they return a checksum which is known beforehand
/// from another computation.
pub trait Work {
    /// Operations in one iteration.
    fn operations_per_iteration(&self) -> u64;

    /// The same, counted in the machine code; `None` where it is not counted there.
    fn operations_in_code(&self) -> Option<u64> {
        None
    }

    /// As [`Kernel::floor_cycles`].
    fn floor_cycles(&self) -> f64;

    /// Bytes that one operation moves, if moving data is its purpose.
    fn bytes_per_operation(&self) -> Option<u64> {
        None
    }

    /// Executes `iterations` iterations and returns the checksum.
    fn run(&self, iterations: u64) -> u64;

    /// The checksum that the next `run(iterations)` has to return.
    fn expected(&self, iterations: u64) -> u64;

    /// Checks what the last run left in memory, where the checksum does not cover it. Not timed.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Work for Kernel {
    fn operations_per_iteration(&self) -> u64 {
        self.operations_per_iteration
    }

    fn operations_in_code(&self) -> Option<u64> {
        self.operations_in_code
    }

    fn floor_cycles(&self) -> f64 {
        self.floor_cycles
    }

    #[inline]
    fn run(&self, iterations: u64) -> u64 {
        Kernel::run(self, iterations)
    }

    fn expected(&self, iterations: u64) -> u64 {
        Kernel::expected(self, iterations)
    }
}

/// A cache line of the kernel's own memory; assembly code writes into it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct Line([Cell<u64>; WORDS_PER_LINE]);

/// Words of a cache line of 64 bytes.
const WORDS_PER_LINE: usize = 8;

/// The share of the most frequent distance among these.
fn share_of_most_frequent(mut distances: Vec<u64>) -> f64 {
    distances.sort_unstable();
    let alike = distances.chunk_by(|a, b| a == b).map(<[u64]>::len);
    alike.max().unwrap_or(0) as f64 / distances.len() as f64
}

/// The checksum that a kernel must return.
#[derive(Debug, Clone)]
enum Checksum {
    /// The same amount for every iteration.
    PerTurn(u64),
    /// The same amount for every iteration, and `once` in addition if there is any iteration.
    Begun { once: u64, per_iteration: u64 },
    /// A closed form of the number of iterations.
    Closed(Closed),
    /// One amount for each iteration, from a table that is walked cyclically.
    Table(Box<[u64]>),
}

/// Closed forms of checksums.
#[derive(Debug, Clone, Copy)]
enum Closed {
    /// `chains` counters, each incremented once per step and saturating at `limit` or wrapping at `bits`.
    Counters {
        chains: u64,
        steps_per_iteration: u64,
        limit: u64,
        bits: u32,
    },
    /// `chains` powers of `base`, wrapping at `bits`.
    Powers {
        chains: u64,
        steps_per_iteration: u64,
        base: u64,
        bits: u32,
    },
}

/// The machine code of a kernel, as an architecture's module provides it.
#[derive(Debug, Clone, Copy)]
struct Code {
    entry: Entry,
    /// Operations in a body.
    per_body: u64,
    /// Whether an iteration repeats the body as often as the sizes before it say; else it has one.
    is_repeated: bool,
    /// Independent chains, among which the operations are shared evenly.
    chains: u64,
    /// The text that the assembler is given for the operation; streams say it in their own words.
    instructions: &'static str,
}

impl Code {
    /// Operations in one iteration: those of a body, as often as the assembler has repeated it.
    fn operations(&self) -> u64 {
        match self.is_repeated {
            true => self.per_body * bodies(self.entry),
            false => self.per_body,
        }
    }

    /// The same by its text and its bytes: a body that does not fall into as many equal parts as it is
    /// said to have operations has as many operations as it has parts.
    fn operations_in_code(&self) -> Option<u64> {
        let parts = listing::equal_parts(self.instructions);
        let per_body = match parts.is_multiple_of(self.per_body) {
            true => self.per_body,
            false => parts,
        };
        self.is_repeated.then(|| per_body * bodies(self.entry))
    }
}

/// How often the body is in an iteration of this code.
fn bodies(entry: Entry) -> u64 {
    let start = entry as *const u8;
    let sizes = start.wrapping_add(machine::JUMP_BYTES);
    let sizes = sizes.wrapping_add(sizes.align_offset(size_of::<u64>()));
    // SAFETY: a kernel that repeats its body begins with two words after a jump, and code can be read.
    let [all, first] = unsafe { sizes.cast::<[u64; 2]>().read() };
    all / first
}

impl Kernel {
    fn new(code: Code, words: &[u64], checksum: Checksum, floor_cycles: f64) -> Self {
        let lines = words
            .len()
            .div_ceil(WORDS_PER_LINE)
            .max(SCRATCH_WORDS / WORDS_PER_LINE);
        let data: Box<[Line]> = (0..lines).map(|_| Line::default()).collect();
        for (cell, &word) in data.iter().flat_map(|line| &line.0).zip(words) {
            cell.set(word);
        }
        Self {
            assembly: code.instructions,
            operations_per_iteration: code.operations(),
            operations_in_code: code.operations_in_code(),
            floor_cycles,
            entry: code.entry,
            data,
            checksum,
            position: Cell::new(0),
        }
    }

    /// Executes `iterations` iterations of the loop and returns the checksum.
    #[inline]
    pub fn run(&self, iterations: u64) -> u64 {
        let position = self.position.get();
        self.position.set(position.wrapping_add(iterations));
        let data = self.data.as_ptr().cast::<u64>().cast_mut();
        // SAFETY: the entry is one of this module's own kernels, written for the memory laid out by the
        // function that made `self`; that memory consists of `Cell`s, so it may be written through a shared
        // borrow, and nothing else uses it meanwhile because `Kernel` is not `Sync`. The kernels keep to
        // their platform-independent calling convention.
        unsafe { (self.entry)(iterations, data, position) }
    }

    /// The instructions of an operation with the kinds of their operands, e.g. `lock xadd m, r64`,
    /// from the very text that was assembled: to be compared with what a name stands for
    /// ([`Atomic::instructions`] and its like).
    pub fn instructions(&self) -> String {
        listing::listing(self.assembly)
    }

    /// The words of its table, which says where its branches go; none without a table.
    pub fn table(&self) -> impl Iterator<Item = u64> {
        let words = self.data.iter().flat_map(|line| &line.0);
        words.skip(SCRATCH_WORDS).map(Cell::get)
    }

    /// The checksum that the next `run(iterations)` has to return, computed without the measured
    /// instructions.
    pub fn expected(&self, iterations: u64) -> u64 {
        match &self.checksum {
            Checksum::PerTurn(amount) => iterations.wrapping_mul(*amount),
            Checksum::Begun {
                once,
                per_iteration,
            } => match iterations {
                0 => 0,
                _ => iterations.wrapping_mul(*per_iteration).wrapping_add(*once),
            },
            Checksum::Closed(closed) => closed.value(iterations),
            Checksum::Table(amounts) => {
                let length = amounts.len() as u64;
                let (laps, rest) = (iterations / length, iterations % length);
                let lap: u64 = if laps == 0 { 0 } else { amounts.iter().sum() };
                let start = (self.position.get() % length) as usize;
                let partial: u64 = amounts.iter().cycle().skip(start).take(rest as usize).sum();
                laps.wrapping_mul(lap).wrapping_add(partial)
            }
        }
    }
}

impl Closed {
    fn value(self, iterations: u64) -> u64 {
        let low = |bits: u32, value: u64| {
            if bits == 64 {
                value
            } else {
                value & ((1 << bits) - 1)
            }
        };
        match self {
            Self::Counters {
                chains,
                steps_per_iteration,
                limit,
                bits,
            } => chains.wrapping_mul(low(
                bits,
                iterations.wrapping_mul(steps_per_iteration).min(limit),
            )),
            Self::Powers {
                chains,
                steps_per_iteration,
                base,
                bits,
            } => chains.wrapping_mul(low(
                bits,
                power(base, iterations.wrapping_mul(steps_per_iteration)),
            )),
        }
    }
}

/// `base` to the power of `exponent`, modulo 2^64 (`wrapping_pow` takes only 32 bits of exponent).
fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut product: u64 = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = product.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    product
}

/// Words at the start of every kernel's memory that are not a table: operands, or working space.
const SCRATCH_WORDS: usize = 24;
