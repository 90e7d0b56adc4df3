//! Pointer chases: each load gets its address from the load before it, so that nothing can be
//! fetched ahead of time.

mod code;
mod route;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::hint::black_box;

use super::{Code, Entry, Line, WORDS_PER_LINE, Work, machine, share_of_most_frequent};
use crate::Unsupported;
use crate::memory::Memory;

use route::Sequence;
pub use route::{LINE, Order, Route, max_share_alike};

/// Number of parts in which a cycle is walked simultaneously: most processors can have this many
/// misses outstanding.
const PARTS: usize = 16;

/// Maximum number of steps that are examined to find an order, two at each place.
const SOME_STEPS: usize = 4096;

/// Steps that stay within this many bytes are on one page, whatever the pages are.
const NEAR: usize = 4096;

/// The content of one line of a chase.
#[repr(C)]
struct Node {
    /// Address of the next line.
    next: *const Node,
    /// The line's position on the cycle, from 0.
    position: u64,
}

/// One cycle through memory and the chains that follow it. A step is one load, whose address is the
/// result of the load before.
///
/// One to twelve chains each have a register. 16, 24 or 32 chains are kept in a table instead, from
/// which each step loads its position and to which it stores it: negligible beside a miss, but a
/// few cycles that a chain in a nearer cache would notice. Chains begin evenly spaced on the cycle.
/// Each run continues where the one before stopped.
///
/// What proves the steps: every line holds its position on the cycle, and the checksum is the sum
/// of the positions that the chains reached. [`Chase::visited`] checks the cycle itself.
#[derive(Debug)]
pub struct Chase {
    memory: Memory,
    route: Route,
    sequence: Sequence,
    entry: Entry,
    operations_per_iteration: u64,
    chains: usize,
    /// The position where the first chain begins.
    first: usize,
    table: Box<[Line]>,
    /// Steps that each chain has made.
    steps: Cell<u64>,
    /// Result of the last walk: the distance in bytes by which lines were counted as different, and
    /// their number.
    walked: Cell<Option<(usize, usize)>>,
}

impl Chase {
    /// Lays a cycle along this route into the memory, for this many chains.
    ///
    /// # Errors
    /// `Unsupported` when there is no kernel for this many chains, or when the memory is too small
    /// for the route.
    pub fn new(memory: Memory, route: Route, chains: usize) -> Result<Self, Unsupported> {
        let code = code::code(chains)?;
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
            operations_per_iteration: code.operations(),
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

    /// Changes the number of chains on the same cycle; the first begins at this position.
    pub fn set_chains(&mut self, chains: usize, first: usize) -> Result<(), Unsupported> {
        let code = code::code(chains)?;
        if self.lines() < chains {
            return Err(no_such_chains(chains));
        }
        (self.entry, self.operations_per_iteration, self.chains) =
            (code.entry, code.operations(), chains);
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

    /// How many loads in a row, in the machine code of one iteration of one chain, each load from
    /// the address that the one before returned: counted in the code that is run.
    pub fn loads_in_a_row(&self) -> usize {
        machine::chase::loads_in_a_row(self.entry)
    }

    /// The route of the cycle.
    pub fn route(&self) -> Route {
        self.route
    }

    /// The memory that the cycle lies in.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Releases that memory for another use.
    pub fn into_memory(self) -> Memory {
        self.memory
    }

    /// Walks once around the cycle and counts the different lines on it: equal to [`Chase::lines`]
    /// if the cycle is correct.
    pub fn visited(&self) -> usize {
        self.visited_apart(self.route.min_distance())
    }

    /// As [`Chase::visited`], but counts pieces of this many bytes (e.g. pages) instead of lines.
    ///
    /// The cycle is walked in parts, all interleaved. A part that does not end where the next one
    /// begins is not counted.
    pub fn visited_apart(&self, bytes: usize) -> usize {
        let lines = self.lines();
        let parts = PARTS.min(lines);
        // Divisions in the loop would take longer than the walk itself.
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
                // SAFETY: `link` made every node that can be reached, within this memory, and
                // nothing else writes there.
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

    /// The last result of [`Chase::visited_apart`], which stays valid: lines are only written when
    /// the cycle is laid.
    pub fn known_visited_apart(&self, bytes: usize) -> usize {
        match self.walked.get() {
            Some((apart, visited)) if apart == bytes => visited,
            _ => self.visited_apart(bytes),
        }
    }

    /// Loads a line of each page of 4 KiB, in the order of the cycle, so that the translation of
    /// each page has been looked up; chains on a long cycle would take many milliseconds for that.
    /// The lines are those that the chains reach last.
    pub fn touch_pages(&self) {
        let lines = self.lines();
        let last = self.start(0) + lines / self.chains;
        for position in self.sequence.one_of_each_page(&self.route, last) {
            // SAFETY: a node within this memory, which nothing writes meanwhile.
            let node = unsafe { self.node(position % lines).read_volatile() };
            black_box(node.position);
        }
    }

    /// Bytes from the lowest to the highest line, both included, of those thousands of places all
    /// over the cycle between which steps are sampled: of all lines if there are no more.
    pub fn span(&self) -> usize {
        let (low, high) = self
            .steps_of_all()
            .fold((usize::MAX, 0), |(low, high), (at, next)| {
                (low.min(at).min(next), high.max(at).max(next))
            });
        high - low + LINE
    }

    /// The most frequent distance of those sampled steps, up or down, in bytes.
    pub fn most_frequent_distance(&self) -> usize {
        let steps = self.steps_of_all();
        let mut distances: Vec<usize> = steps.map(|(at, next)| next.abs_diff(at)).collect();
        distances.sort_unstable();
        let alike = distances.chunk_by(|a, b| a == b);
        alike.max_by_key(|one| one.len()).map_or(0, |one| one[0])
    }

    /// The share of the cycle's steps, of thousands sampled all over it, that lead this many bytes upwards.
    pub fn share_of_steps(&self, bytes: usize) -> f64 {
        self.share_of(|at, next| next.wrapping_sub(at) == bytes)
    }

    /// The share of those sampled steps that lead this many bytes up- or downwards.
    pub fn share_of_steps_apart(&self, bytes: usize) -> f64 {
        self.share_of(|at, next| next.abs_diff(at) == bytes)
    }

    /// The share of those sampled steps that stay on a page of 4 KiB.
    pub fn share_within_a_page(&self) -> f64 {
        self.share_of(|at, next| at / NEAR == next / NEAR)
    }

    fn share_of(&self, is_one: impl Fn(usize, usize) -> bool) -> f64 {
        let steps = self.steps_of_all();
        let count = steps.clone().filter(|(at, next)| is_one(*at, *next));
        count.count() as f64 / steps.count() as f64
    }

    /// The share of those sampled steps that have the most frequent distance and direction.
    pub fn share_of_most_frequent_step(&self) -> f64 {
        let steps = self.steps_of_all();
        share_of_most_frequent(
            steps
                .map(|(at, next)| next.wrapping_sub(at) as u64)
                .collect(),
        )
    }

    /// Origin and destination of thousands of steps, two at each of many places evenly spaced on
    /// the cycle, since an order of pairs alternates.
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

    /// Sets the chains to where they begin.
    fn begin(&mut self) {
        self.table = (0..self.chains.div_ceil(WORDS_PER_LINE))
            .map(|_| Line::default())
            .collect();
        self.put_at(0);
    }

    /// Goes back as far as this many iterations go: the next ones make the same steps again.
    pub fn go_back(&self, iterations: u64) {
        let steps = iterations * (self.operations_per_iteration / self.chains as u64);
        self.put_at(self.steps.get().saturating_sub(steps));
    }

    /// Puts each chain this many steps behind its beginning.
    fn put_at(&self, steps: u64) {
        let cells = self.table.iter().flat_map(|line| &line.0);
        for (chain, cell) in (0..self.chains).zip(cells) {
            let position = (self.start(chain) as u64 + steps) % self.lines() as u64;
            cell.set(self.node(position as usize).expose_provenance() as u64);
        }
        self.steps.set(steps);
    }

    /// The position where a chain begins.
    fn start(&self, chain: usize) -> usize {
        (self.first + chain * self.lines() / self.chains) % self.lines()
    }

    fn node(&self, position: usize) -> *mut Node {
        let offset = self.sequence.offset(&self.route, position);
        debug_assert!(offset + size_of::<Node>() <= self.memory.bytes());
        self.memory.start().wrapping_add(offset).cast()
    }
}

/// A length by which many offsets are divided.
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

    /// The number of the piece in which this offset lies.
    fn number(self, offset: usize) -> usize {
        match self {
            Self::PowerOfTwo(bits) => offset >> bits,
            Self::Other(bytes) => offset / bytes,
        }
    }
}

impl Work for Chase {
    fn operations_per_iteration(&self) -> u64 {
        self.operations_per_iteration
    }

    /// No core made so far takes less than three cycles before it can load from an address that it
    /// has just loaded, or loads more than four addresses per cycle.
    fn floor_cycles(&self) -> f64 {
        (2.0 / self.chains as f64).max(0.2)
    }

    #[inline]
    fn run(&self, iterations: u64) -> u64 {
        let steps = iterations * (self.operations_per_iteration / self.chains as u64);
        self.steps.set(self.steps.get().wrapping_add(steps));
        let table = self.table.as_ptr().cast::<u64>().cast_mut();
        // SAFETY: the entry is that of a chase whose number of chains equals the number of
        // addresses in the table; these are nodes that `link` made, which lead only to each other.
        // The table consists of `Cell`s, so it may be written through a shared borrow; nothing else
        // uses it meanwhile because `Chase` is not `Sync`.
        unsafe { (self.entry)(iterations, table, 0) }
    }

    fn expected(&self, iterations: u64) -> u64 {
        let steps =
            iterations * (self.operations_per_iteration / self.chains as u64) + self.steps.get();
        let lines = self.lines() as u64;
        (0..self.chains)
            .map(|chain| (self.start(chain) as u64 + steps) % lines)
            .sum()
    }
}

fn no_such_chains(chains: usize) -> Unsupported {
    Unsupported::new(format!(
        "a chase has 1 to 12, 16, 24 or 32 chains and no more than lines, not {chains}"
    ))
}
