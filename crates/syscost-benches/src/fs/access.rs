//! Shared: the order in which the blocks of a file are read or written.

use syscost_harness::prelude::*;

/// An order of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// One after the other, cyclically.
    Sequential,
    /// At random, never next to the one before.
    Random,
}

impl Access {
    pub(super) const ALL: [Access; 2] = [Access::Sequential, Access::Random];

    /// The key of the case parameter that names it.
    pub(super) const KEY: &str = "access";

    pub(super) const fn name(self) -> &'static str {
        match self {
            Access::Sequential => "sequential",
            Access::Random => "random",
        }
    }

    /// The parameter of a case.
    pub(super) const fn parameter(self) -> (&'static str, &'static str) {
        (Self::KEY, self.name())
    }

    /// The order that a case names.
    pub(super) fn of(case: &Case) -> Result<Self, Failure> {
        let name = case.get(Self::KEY);
        let found = Self::ALL.into_iter().find(|access| access.name() == name);
        found.ok_or_else(|| case.unknown(Self::KEY))
    }

    /// The numbers of `count` blocks in this order. In random order one or two may be missing that would
    /// have to follow a neighbour.
    pub(super) fn order(self, count: u64, random: &mut fastrand::Rng) -> Vec<u64> {
        match self {
            Access::Sequential => (0..count).collect(),
            Access::Random => scattered(count, random),
        }
    }
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
    fn a_case_names_its_order() {
        for access in Access::ALL {
            assert_eq!(Access::of(&Case::new([access.parameter()])), Ok(access));
        }
        let unknown = Access::of(&Case::new([(Access::KEY, "backwards")]));
        assert!(matches!(unknown, Err(Failure::Broken(_))), "{unknown:?}");
    }

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
