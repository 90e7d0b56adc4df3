//! Shared: the order in which the blocks of a file are read or written.

use syscost_harness::prelude::*;

use crate::witness::files::MOVED;

/// The order in which the blocks are visited.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// One after the other, cyclically.
    Sequential,
    /// At random, never next to the one before.
    Random,
}

impl Access {
    /// The numbers of `count` blocks in this order. In random order one or two may be missing that would
    /// have to follow a neighbour.
    pub(super) fn order(self, count: u64, random: &mut fastrand::Rng) -> Vec<u64> {
        match self {
            Access::Sequential => (0..count).collect(),
            Access::Random => scattered(count, random),
        }
    }
}

/// The blocks of a file that are read or written in turn, repeatedly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks {
    pub(super) access: Access,
    pub(super) size: Bytes,
    /// Length of the file, or of the part at its beginning that they make up, in bytes.
    pub(super) all: u64,
}

/// How many different blocks there are.
static BLOCKS: Witness = Witness::of("blocks of the file that take their turn", "the order");

/// Maximum number of blocks that may be missing from a random order.
const MISSING: u64 = 4;

impl Blocks {
    /// How many there are in the file.
    pub(super) fn count(self) -> u64 {
        self.all / self.size.0.max(1)
    }

    pub(super) fn offsets(self, random: &mut fastrand::Rng) -> Vec<u64> {
        let numbers = self.access.order(self.count(), random);
        let offsets = numbers.into_iter().map(|number| number * self.size.0);
        offsets.collect()
    }

    /// Proof of their order by the offsets of such calls.
    pub(super) fn in_order(self, call: Sysno) -> Proof {
        let given = match self.access {
            Access::Sequential => ArgumentValue::InOrder {
                step: self.size.0,
                end: self.all,
            },
            Access::Random => ArgumentValue::Apart(2 * self.size.0),
        };
        Proof::argument(call, Argument::at(3, "offset"), given)
    }

    /// Proof of their size by the length of such calls, by what these moved, and by how many blocks
    /// there are.
    pub(super) fn sized(self, call: Sysno) -> Proof {
        let length = ArgumentValue::Always(self.size.0);
        let moved = MOVED.expects(self.size.0).and(self.whole());
        moved.and(Proof::argument(call, Argument::at(2, "length"), length))
    }

    /// Proof that they are the whole file, and not a part of it, which would stay in the core's
    /// caches.
    pub(super) fn whole(self) -> Proof {
        BLOCKS.within(Bound::Within(self.least() as f64, self.count() as f64))
    }

    /// How many of them take their turn at least.
    pub(super) fn least(self) -> u64 {
        match self.access {
            Access::Sequential => self.count(),
            Access::Random => self.count().saturating_sub(MISSING),
        }
    }
}

pub(super) fn see_blocks(b: &mut Bencher, blocks: u64, size: u64) {
    b.observe(&BLOCKS, blocks as f64);
    b.observe(&MOVED, size);
}

/// Numbers of blocks in random order, such that no two successive ones are neighbours in the file, not
/// even the last and the first. One or two may be missing for which there is no such place.
pub(super) fn scattered(blocks: u64, random: &mut fastrand::Rng) -> Vec<u64> {
    let mut order: Vec<u64> = (0..blocks).collect();
    random.shuffle(&mut order);
    let are_apart = |one: u64, other: u64| one.abs_diff(other) >= 2;
    let mut count = 1;
    while count < order.len() {
        let last = order[count - 1];
        let Some(fitting) = (count..order.len()).find(|index| are_apart(order[*index], last))
        else {
            break;
        };
        order.swap(count, fitting);
        count += 1;
    }
    order.truncate(count);
    while order.len() > 2 && !are_apart(order[0], order[order.len() - 1]) {
        order.pop();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_blocks_are_all_apart_and_nearly_all_there() {
        for seed in 0..200 {
            for blocks in [8, 16, 128, 2048] {
                let order = scattered(blocks, &mut fastrand::Rng::with_seed(seed));
                let after = order.iter().cycle().skip(1);
                let apart = order
                    .iter()
                    .zip(after)
                    .all(|(one, next)| one.abs_diff(*next) >= 2);
                assert!(apart, "{order:?}");
                let mut known = order.clone();
                known.sort_unstable();
                known.dedup();
                assert_eq!(known.len(), order.len(), "none twice");
                assert!(order.len() as u64 + 4 >= blocks, "{order:?}");
            }
        }
    }
}
