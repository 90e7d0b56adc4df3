//! Pointer chases: the address of each load is what the load before it found, so that nothing can be had ahead of time.

mod route;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::hint::black_box;

use super::{Line, WORDS_PER_LINE, Work, machine, share_of_most_frequent};
use crate::Unsupported;
use crate::memory::Memory;

use route::Sequence;
pub use route::{LINE, Order, Route, most_alike};

/// Parts in which a cycle is walked at once: this many misses most processors have under way.
const PARTS: usize = 16;

/// Steps that are looked at to tell an order, two at each of this many places.
const SOME_STEPS: usize = 4096;

/// Steps that stay within this many bytes are on one page, whatever the pages are.
const NEAR: usize = 4096;

/// What is on a line of a chase.
#[repr(C)]
struct Node {
    /// Where the next one is.
    next: *const Node,
    /// Its place on the cycle, from 0.
    position: u64,
}

/// One cycle through memory, and chains that go round on it: one load a step, whose address is what the load before found.
///
/// One to twelve chains are each in a register of its own. 16, 24 or 32 are in a table instead, from and to which each step also moves its
/// place: nothing beside a miss, but a few cycles that a chain in a nearer cache would notice. Chains begin evenly spaced on the
/// cycle. Runs go on where the one before stopped.
///
/// What proves the steps: every line carries its position on the cycle, and the checksum is the sum of the positions that the chains
/// arrived at. [`Chase::visited`] tells what the cycle consists of.
#[derive(Debug)]
pub struct Chase {
    memory: Memory,
    route: Route,
    sequence: Sequence,
    entry: machine::Entry,
    operations_per_turn: u64,
    chains: usize,
    /// The position where the first chain begins.
    first: usize,
    /// The place of each chain.
    table: Box<[Line]>,
    /// Steps that each chain has made.
    steps: Cell<u64>,
    /// At what distance from each other, in bytes, the last walk counted lines, and how many there were.
    walked: Cell<Option<(usize, usize)>>,
}

impl Chase {
    /// Lays a cycle along this route into the memory, for this many chains.
    ///
    /// # Errors
    /// `Unsupported` when nobody has written it for this processor or for this many chains, or when
    /// the memory is too small for the route.
    pub fn new(memory: Memory, route: Route, chains: usize) -> Result<Self, Unsupported> {
        let code = machine::chase(chains)?;
        if route.bytes > memory.bytes() || route.lines() < chains {
            return Err(Unsupported::new(format!(
                "{chains} chains through {} lines in {} bytes do not fit into {} bytes of memory",
                route.lines(),
                route.bytes,
                memory.bytes()
            )));
        }
        let mut chase = Self {
            sequence: Sequence::of(&route),
            memory,
            route,
            entry: code.entry,
            operations_per_turn: code.operations,
            chains,
            first: 0,
            table: Box::default(),
            steps: Cell::new(0),
            walked: Cell::new(None),
        };
        chase.link();
        chase.begin();
        Ok(chase)
    }

    /// The same cycle with another number of chains, the first of which begins at this position.
    ///
    /// # Errors
    /// As [`Chase::new`].
    pub fn set_chains(&mut self, chains: usize, first: usize) -> Result<(), Unsupported> {
        let code = machine::chase(chains)?;
        if self.lines() < chains {
            return Err(no_such_chains(chains));
        }
        (self.entry, self.operations_per_turn, self.chains) = (code.entry, code.operations, chains);
        self.first = first;
        self.begin();
        Ok(())
    }

    /// How many lines the cycle should have.
    pub fn lines(&self) -> usize {
        self.route.lines()
    }

    /// How many chains there are: the checksum is a sum over this many positions.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// How many of the loads that a turn of one chain executes stand one after the other and each load from the address that the one before
    /// gave: read from the code that is run.
    pub fn loads_in_a_row(&self) -> usize {
        machine::loads_in_a_row(self.entry)
    }

    /// Its route.
    pub fn route(&self) -> Route {
        self.route
    }

    /// The memory it goes through.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// That memory, for something else.
    pub fn into_memory(self) -> Memory {
        self.memory
    }

    /// Walks once around the cycle and counts the different lines it came by: [`Chase::lines`] if it is what it should be.
    pub fn visited(&self) -> usize {
        self.visited_apart(self.route.least_distance())
    }

    /// The same of which only those count that are in different pieces of this many bytes, e.g. pages.
    ///
    /// It is walked in parts, all at once. A part that does not end where the next one begins counts for nothing.
    pub fn visited_apart(&self, bytes: usize) -> usize {
        let lines = self.lines();
        let parts = PARTS.min(lines);
        // Divisions would take longer than the walk.
        let begins: Vec<usize> = (0..=parts).map(|part| part * lines / parts).collect();
        let piece = Piece::of(bytes);
        let first = self.memory.start().addr();
        let mut seen = vec![0_u64; (self.memory.bytes() / bytes).div_ceil(64)];
        let mut at: Vec<*const Node> = begins[..parts]
            .iter()
            .map(|begin| self.node(*begin).cast_const())
            .collect();
        let mut counts = vec![0; parts];
        for step in 0..lines.div_ceil(parts) {
            for part in 0..parts {
                if begins[part] + step >= begins[part + 1] {
                    continue;
                }
                let place = piece.number(at[part].addr() - first);
                let (word, bit) = (place / 64, 1 << (place % 64));
                counts[part] += usize::from(seen[word] & bit == 0);
                seen[word] |= bit;
                // SAFETY: `link` made every node that can be reached, within this memory, and nothing else writes there.
                at[part] = unsafe { (*at[part]).next };
            }
        }
        let visited = (0..parts)
            .filter(|part| at[*part] == self.node(begins[part + 1] % lines))
            .map(|part| counts[part])
            .sum();
        self.walked.set(Some((bytes, visited)));
        visited
    }

    /// [`Chase::visited_apart`] as it was last found: lines are written once, when they are laid.
    pub fn known_visited_apart(&self, bytes: usize) -> usize {
        match self.walked.get() {
            Some((apart, visited)) if apart == bytes => visited,
            _ => self.visited_apart(bytes),
        }
    }

    /// Loads a line of each page of 4 KiB, in the order of the cycle: afterwards the translation of each page has been looked up, which takes
    /// chains many milliseconds of a long cycle. They are the lines that the chains come to last.
    pub fn touch_pages(&self) {
        let lines = self.lines();
        let last = self.start(0) + lines / self.chains;
        for position in self.sequence.one_of_each_page(&self.route, last) {
            // SAFETY: a node within this memory, which nobody writes meanwhile.
            let node = unsafe { self.node(position % lines).read_volatile() };
            black_box(node.position);
        }
    }

    /// The share of the cycle's steps, of thousands from all over it, that lead this many bytes upwards.
    pub fn share_of_steps(&self, bytes: usize) -> f64 {
        self.share_of(|at, next| next.wrapping_sub(at) == bytes)
    }

    /// The share of those steps that lead this many bytes up- or downwards.
    pub fn share_of_steps_apart(&self, bytes: usize) -> f64 {
        self.share_of(|at, next| next.abs_diff(at) == bytes)
    }

    /// The share of those steps that stay on a page of 4 KiB.
    pub fn share_within_a_page(&self) -> f64 {
        self.share_of(|at, next| at / NEAR == next / NEAR)
    }

    fn share_of(&self, is_one: impl Fn(usize, usize) -> bool) -> f64 {
        let steps = self.steps_of_all();
        let count = steps.clone().filter(|(at, next)| is_one(*at, *next));
        count.count() as f64 / steps.count() as f64
    }

    /// The share of those steps that lead equally far in the same direction, of the distance that is most frequent.
    pub fn share_of_most_frequent_step(&self) -> f64 {
        let steps = self.steps_of_all();
        share_of_most_frequent(
            steps
                .map(|(at, next)| next.wrapping_sub(at) as u64)
                .collect(),
        )
    }

    /// From where to where thousands of steps lead, two at each of places that are evenly spaced on the cycle: an order of pairs alternates.
    fn steps_of_all(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let places = (self.lines().min(SOME_STEPS) / 2).max(1);
        (0..places).flat_map(move |number| {
            let first = self.node(number * self.lines() / places).cast_const();
            // SAFETY: as in `visited_apart`.
            let second = unsafe { (*first).next };
            // SAFETY: as above.
            let third = unsafe { (*second).next };
            [(first, second), (second, third)].map(|(at, next)| (at.addr(), next.addr()))
        })
    }

    /// Writes the cycle's lines.
    fn link(&self) {
        match self.sequence.by_place() {
            Some(positions) => positions.for_each(|position| self.link_one(position)),
            None => (0..self.lines()).for_each(|position| self.link_one(position)),
        }
    }

    fn link_one(&self, position: usize) {
        let next = if position + 1 == self.lines() {
            0
        } else {
            position + 1
        };
        let content = Node {
            next: self.node(next),
            position: position as u64,
        };
        // SAFETY: `node` gives aligned places within the memory, which is ours alone.
        unsafe { self.node(position).write(content) };
    }

    /// Puts the chains where they begin.
    fn begin(&mut self) {
        self.table = (0..self.chains.div_ceil(WORDS_PER_LINE))
            .map(|_| Line::default())
            .collect();
        let cells = self.table.iter().flat_map(|line| &line.0);
        for (chain, cell) in (0..self.chains).zip(cells) {
            cell.set(self.node(self.start(chain)).expose_provenance() as u64);
        }
        self.steps.set(0);
    }

    /// The position where a chain begins.
    fn start(&self, chain: usize) -> usize {
        (self.first + chain * self.lines() / self.chains) % self.lines()
    }

    /// Where the line of this position is.
    fn node(&self, position: usize) -> *mut Node {
        let offset = self.sequence.offset(&self.route, position);
        debug_assert!(offset + size_of::<Node>() <= self.memory.bytes());
        self.memory.start().wrapping_add(offset).cast()
    }
}

/// A length that many addresses are divided by.
#[derive(Clone, Copy)]
enum Piece {
    PowerOfTwo(u32),
    Other(usize),
}

impl Piece {
    fn of(bytes: usize) -> Self {
        match bytes.is_power_of_two() {
            true => Self::PowerOfTwo(bytes.trailing_zeros()),
            false => Self::Other(bytes),
        }
    }

    /// In which piece this offset lies.
    fn number(self, offset: usize) -> usize {
        match self {
            Self::PowerOfTwo(bits) => offset >> bits,
            Self::Other(bytes) => offset / bytes,
        }
    }
}

impl Work for Chase {
    fn operations_per_turn(&self) -> u64 {
        self.operations_per_turn
    }

    /// No core made so far loads an address that it has just loaded in less than three cycles, nor more than four at a time.
    fn floor_cycles(&self) -> f64 {
        (2.0 / self.chains as f64).max(0.2)
    }

    #[inline]
    fn run(&self, turns: u64) -> u64 {
        let steps = turns * (self.operations_per_turn / self.chains as u64);
        self.steps.set(self.steps.get().wrapping_add(steps));
        let table = self.table.as_ptr().cast::<u64>().cast_mut();
        // SAFETY: the entry is that of a chase of this many chains as the table has places; these
        // are nodes that `link` made, which lead only to each other. The table consists of `Cell`s,
        // so it may be written through a shared borrow; nothing else uses it meanwhile because
        // `Chase` is not `Sync`.
        unsafe { (self.entry)(turns, table, 0) }
    }

    fn expected(&self, turns: u64) -> u64 {
        let steps = turns * (self.operations_per_turn / self.chains as u64) + self.steps.get();
        let lines = self.lines() as u64;
        (0..self.chains)
            .map(|chain| (self.start(chain) as u64 + steps) % lines)
            .sum()
    }
}

/// Why there is no chase of this many chains.
pub(super) fn no_such_chains(chains: usize) -> Unsupported {
    Unsupported::new(format!(
        "a chase has 1 to 12, 16, 24 or 32 chains and no more than lines, not {chains}"
    ))
}
