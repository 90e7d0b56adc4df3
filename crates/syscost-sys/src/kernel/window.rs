//! Two walks through memory, with other instructions between their steps.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::written::{Iteration, Written};
use super::{Work, machine, share_of_most_frequent};
use crate::Unsupported;
use crate::memory::{Memory, Pages};

/// Two cyclic lists in memory, each in random order through its half. Only the loads before it show
/// where a walk is.
#[derive(Debug)]
pub struct Walks {
    /// The nodes: each is a line with the address of the next one and its own number.
    memory: Memory,
    /// The numbers of the nodes in the order of each walk.
    order: [Vec<u32>; 2],
    reached: [Cell<u64>; 2],
    steps: Cell<u64>,
    /// The result of [`Walks::visited`].
    visited: OnceCell<[usize; 2]>,
}

/// Bytes per node: the longest cache line there is, or two of them.
const NODE: usize = 128;

/// Steps of each walk that are examined to find an order.
const SOME_STEPS: usize = 2048;

impl Walks {
    /// Lists in this many bytes of memory; `below(n)` is a random number below n.
    pub fn new(
        bytes: usize,
        pages: Pages,
        mut below: impl FnMut(usize) -> usize,
    ) -> Result<Self, Unsupported> {
        let mut memory = Memory::fill(bytes, pages)?;
        let start = memory.start().expose_provenance() as u64;
        // Half of the requested bytes, not of the memory, which is rounded up to whole pages.
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

    /// The memory that the walks go through.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Follows each walk once around and counts the different nodes on it: half of the memory's
    /// nodes if the list is correct. Computed only once, since nodes are written only when they are
    /// created.
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

    /// How many bytes both walks go through together.
    pub fn bytes(&self) -> usize {
        2 * NODE * self.nodes()
    }

    /// Number of nodes of each walk.
    pub fn nodes(&self) -> usize {
        self.order[0].len()
    }

    /// Among the next few thousand steps of both walks, the share that has the most frequent
    /// distance and direction.
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

    /// Address of the node that follows this one.
    fn next(&self, node: u64) -> u64 {
        // SAFETY: addresses of nodes lead to nodes only, in memory that is ours and that nothing writes to.
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

/// Steps of both walks alternately, with this many instructions that do nothing after each. One
/// operation is one step with the instructions after it.
#[derive(Debug)]
pub struct Window {
    code: Written,
    walks: Rc<Walks>,
    fillers: usize,
}

/// Steps of each walk per iteration of the loop: few, so that the instruction caches hold even the
/// longest.
const STEPS: usize = 2;

impl Window {
    /// Maximum number of instructions between two steps.
    pub const MAX_FILLERS: usize = 1 << 12;

    /// Writes the code.
    ///
    /// # Errors
    /// When there are more than [`Window::MAX_FILLERS`] instructions, the processor is not
    /// supported, or the system does not permit writing code.
    pub fn write(fillers: usize, walks: Rc<Walks>) -> Result<Self, Unsupported> {
        if fillers > Self::MAX_FILLERS {
            let reason = format!(
                "{fillers} instructions between two loads: at most {}",
                Self::MAX_FILLERS
            );
            return Err(Unsupported::new(reason));
        }
        Ok(Self {
            code: Written::new(&machine::written::window(fillers, STEPS))?,
            walks,
            fillers,
        })
    }

    /// The same code on other walks.
    #[must_use]
    pub fn along(self, walks: Rc<Walks>) -> Self {
        Self { walks, ..self }
    }

    /// What one iteration executes, decoded from the bytes that are run.
    ///
    /// # Errors
    /// When the code contains an instruction that is not expected there.
    pub fn iteration(&self) -> Result<Iteration, Unsupported> {
        self.code.iteration()
    }
}

impl Work for Window {
    fn operations_per_iteration(&self) -> u64 {
        2 * STEPS as u64
    }

    fn floor_cycles(&self) -> f64 {
        // No core executes more than sixteen instructions per cycle.
        (self.fillers + 1) as f64 / 16.0
    }

    #[inline]
    fn run(&self, iterations: u64) -> u64 {
        let walks = &*self.walks;
        walks
            .steps
            .set(walks.steps.get() + iterations * STEPS as u64);
        let reached = walks.reached.as_ptr().cast::<u64>().cast_mut();
        // SAFETY: `window` writes a kernel that follows the two addresses and stores those it has
        // reached; they are addresses of nodes, which lead to nodes only, in memory that lives as
        // long as the walks.
        unsafe { (self.code.entry())(iterations, reached, 0) }
    }

    fn expected(&self, iterations: u64) -> u64 {
        self.walks.after(iterations * STEPS as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_walks_go_on_where_they_were_whatever_lies_between_their_steps() {
        let mut random = fastrand::Rng::with_seed(1);
        let below = |n: usize| random.usize(..n);
        let walks = Rc::new(or_skip!(Walks::new(1 << 16, Pages::Small, below)));
        let half = (1 << 16) / NODE / 2;
        for fillers in [0, 1, 1000] {
            let window = or_skip!(Window::write(fillers, Rc::clone(&walks)));
            let iteration = window.iteration().unwrap();
            assert_eq!(iteration.after_loads, Some((fillers, fillers)));
            assert_eq!(iteration.loads as u64, window.operations_per_iteration());
            assert_eq!((iteration.jumps, iteration.additions), (0, 0));
            // Also beyond the lists' ends.
            for iterations in [0, 1, 5, half as u64] {
                let expected = window.expected(iterations);
                assert_eq!(window.run(iterations), expected, "{fillers} {iterations}");
            }
            let Ok(others) = Walks::new(1 << 12, Pages::Small, |n| n - 1) else {
                continue;
            };
            let (before, window) = (walks.steps.get(), window.along(Rc::new(others)));
            let expected = window.expected(3);
            assert_eq!(window.run(3), expected, "{fillers}, elsewhere");
            assert_eq!(walks.steps.get(), before);
        }
        // Each walk visits all nodes of its half: the order is one cycle.
        assert_eq!(walks.visited(), [half; 2]);
        assert!(walks.share_of_most_frequent_step() < 0.1);
        let mut first = walks.order[0].clone();
        first.sort_unstable();
        assert!(first.into_iter().eq(0..half as u32));
        assert!(Window::write(Window::MAX_FILLERS + 1, walks).is_err());
    }
}
