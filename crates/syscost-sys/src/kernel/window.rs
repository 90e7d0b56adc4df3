//! Two walks through memory, with other instructions between their steps.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::written::{Turn, Written};
use super::{Work, machine, share_of_most_frequent};
use crate::Unsupported;
use crate::memory::{Memory, Pages};

/// Two lists in memory, each of which goes through its half by chance and around: where one is, only the loads before it tell.
#[derive(Debug)]
pub struct Walks {
    /// Holds the nodes: a line with the address of the next one and its own number.
    memory: Memory,
    /// The numbers of the nodes in the order of each walk.
    order: [Vec<u32>; 2],
    /// The addresses of the nodes that were reached.
    reached: [Cell<u64>; 2],
    /// Steps of each walk so far.
    steps: Cell<u64>,
    /// What [`Walks::visited`] found.
    visited: OnceCell<[usize; 2]>,
}

/// Bytes of a node: the longest line there is, or two of them.
const NODE: usize = 128;

/// Steps of each walk that are looked at to tell an order.
const SOME_STEPS: usize = 2048;

impl Walks {
    /// Lists in so much memory; `below(n)` is a random number below n.
    ///
    /// # Errors
    /// As [`Memory::fill`].
    pub fn new(
        bytes: usize,
        pages: Pages,
        mut below: impl FnMut(usize) -> usize,
    ) -> Result<Self, Unsupported> {
        let mut memory = Memory::fill(bytes, pages)?;
        let start = memory.start().expose_provenance() as u64;
        // Not of the memory, which may be longer: whole pages.
        let half = bytes / NODE / 2;
        let order = [0, half].map(|first| {
            let mut order: Vec<u32> = (first..first + half).map(|node| node as u32).collect();
            for last in (1..half).rev() {
                order.swap(last, below(last + 1));
            }
            order
        });
        let address = |node: u32| start + u64::from(node) * NODE as u64;
        let words = memory.words();
        for order in &order {
            for (place, node) in order.iter().enumerate() {
                let word = *node as usize * NODE / size_of::<u64>();
                words[word] = address(order[(place + 1) % half]);
                words[word + 1] = u64::from(*node);
            }
        }
        let reached = [&order[0], &order[1]].map(|order| Cell::new(address(order[0])));
        Ok(Self {
            memory,
            order,
            reached,
            steps: Cell::new(0),
            visited: OnceCell::new(),
        })
    }

    /// The memory they go through.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Goes around each walk as its addresses lead, and counts the nodes it comes by: half of the memory's, if it is what it should be. Only once: they are
    /// written when they are made.
    pub fn visited(&self) -> [usize; 2] {
        let count = |walk: usize| {
            let begin = self.reached[walk].get();
            let mut count = 1;
            let mut at = self.next(begin);
            while at != begin && count <= self.order[walk].len() {
                count += 1;
                at = self.next(at);
            }
            count
        };
        *self.visited.get_or_init(|| [0, 1].map(count))
    }

    /// How many bytes both go through.
    pub fn bytes(&self) -> usize {
        2 * NODE * self.nodes()
    }

    /// How many nodes there are for each walk.
    pub fn nodes(&self) -> usize {
        self.order[0].len()
    }

    /// The share of both walks' next steps, thousands of each, that lead equally far in the same direction, of the distance that is most frequent.
    pub fn share_of_most_frequent_step(&self) -> f64 {
        let mut distances: Vec<u64> = Vec::new();
        for reached in &self.reached {
            let mut at = reached.get();
            for _ in 0..SOME_STEPS {
                let next = self.next(at);
                distances.push(next.wrapping_sub(at));
                at = next;
            }
        }
        share_of_most_frequent(distances)
    }

    /// The address of the node that this one leads to.
    fn next(&self, node: u64) -> u64 {
        // SAFETY: addresses of nodes lead to nodes only, in memory that is ours and that nobody writes to.
        unsafe { std::ptr::with_exposed_provenance::<u64>(node as usize).read() }
    }

    /// The sum of the numbers of the nodes that both walks reach after this many more steps.
    fn after(&self, steps: u64) -> u64 {
        let place = (self.steps.get() + steps) % self.order[0].len() as u64;
        let numbers = self
            .order
            .iter()
            .map(|order| u64::from(order[place as usize]));
        numbers.sum()
    }
}

/// Steps of both walks in turn, with this many instructions that do nothing after each. One
/// operation is one step with what follows it.
#[derive(Debug)]
pub struct Window {
    code: Written,
    walks: Rc<Walks>,
    fillers: usize,
}

/// Steps of each walk in a turn of the loop: few, so that the caches of code hold the longest.
const STEPS: usize = 2;

impl Window {
    /// The most instructions between two steps.
    pub const MOST: usize = 1 << 12;

    /// Writes the code.
    ///
    /// # Errors
    /// More instructions than [`Window::MOST`], a processor for which there is no such code, or a system that lets nobody write code.
    pub fn write(fillers: usize, walks: Rc<Walks>) -> Result<Self, Unsupported> {
        if fillers > Self::MOST {
            let reason = format!(
                "{fillers} instructions between two loads: at most {}",
                Self::MOST
            );
            return Err(Unsupported::new(reason));
        }
        Ok(Self {
            code: Written::new(&machine::window(fillers, STEPS)?)?,
            walks,
            fillers,
        })
    }

    /// The same code along other walks.
    #[must_use]
    pub fn along(self, walks: Rc<Walks>) -> Self {
        Self { walks, ..self }
    }

    /// What a turn executes, read back from the bytes that are run.
    ///
    /// # Errors
    /// An instruction that no such code has.
    pub fn turn(&self) -> Result<Turn, Unsupported> {
        self.code.turn()
    }
}

impl Work for Window {
    fn operations_per_turn(&self) -> u64 {
        2 * STEPS as u64
    }

    fn floor_cycles(&self) -> f64 {
        // No core gets through more than sixteen instructions in a cycle.
        (self.fillers + 1) as f64 / 16.0
    }

    #[inline]
    fn run(&self, turns: u64) -> u64 {
        let walks = &*self.walks;
        walks.steps.set(walks.steps.get() + turns * STEPS as u64);
        let reached = walks.reached.as_ptr().cast::<u64>().cast_mut();
        // SAFETY: `window` writes a kernel that follows the two addresses and leaves those it has reached; they are those of nodes,
        // which lead to nodes only, in memory that lives as long as the walks.
        unsafe { (self.code.entry())(turns, reached, 0) }
    }

    fn expected(&self, turns: u64) -> u64 {
        self.walks.after(turns * STEPS as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_walks_go_on_where_they_were_whatever_lies_between_their_steps() {
        let mut state = 1_usize;
        let below = |n: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % n
        };
        let walks = match Walks::new(1 << 16, Pages::Small, below) {
            Ok(walks) => Rc::new(walks),
            Err(reason) => return println!("skipped: {reason}"),
        };
        let half = (1 << 16) / NODE / 2;
        for fillers in [0, 1, 1000] {
            let window = match Window::write(fillers, Rc::clone(&walks)) {
                Ok(window) => window,
                Err(reason) => return println!("skipped: {reason}"),
            };
            let turn = window.turn().unwrap();
            assert_eq!(turn.after_loads, Some((fillers, fillers)));
            assert_eq!(turn.loads as u64, window.operations_per_turn());
            assert_eq!((turn.jumps, turn.additions), (0, 0));
            // Past the lists' ends, too.
            for turns in [0, 1, 5, half as u64] {
                let expected = window.expected(turns);
                assert_eq!(window.run(turns), expected, "{fillers} {turns}");
            }
            let Ok(others) = Walks::new(1 << 12, Pages::Small, |n| n - 1) else {
                continue;
            };
            let (before, window) = (walks.steps.get(), window.along(Rc::new(others)));
            let expected = window.expected(3);
            assert_eq!(window.run(3), expected, "{fillers}, elsewhere");
            assert_eq!(walks.steps.get(), before);
        }
        // Each walk meets all nodes of its half: the order is one cycle.
        assert_eq!(walks.visited(), [half; 2]);
        assert!(walks.share_of_most_frequent_step() < 0.1);
        let mut first = walks.order[0].clone();
        first.sort_unstable();
        assert!(first.into_iter().eq(0..half as u32));
        assert!(Window::write(Window::MOST + 1, walks).is_err());
    }
}
