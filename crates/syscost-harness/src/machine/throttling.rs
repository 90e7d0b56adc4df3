//! How often the quota of a control group held this process back.

use std::path::Path;

use super::tree::Tree;

/// Fewer periods say little of how often.
const MIN_PERIODS: u64 = 10;

/// What the kernel has counted for each control group that this process is in: its own, and those
/// around it.
#[derive(Debug, Clone, Default)]
pub struct Throttling(pub(super) Vec<Periods>);

/// The periods of a control group's quota in which it had work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Periods {
    pub(super) all: u64,
    /// Those in which the quota was used up.
    pub(super) used_up: u64,
}

impl Throttling {
    /// Reads the counts; empty where the kernel shows none.
    pub fn read() -> Self {
        Self(Tree::new(Path::new("/")).throttling())
    }

    /// The share of the periods since an earlier reading in which a quota was used up, in percent:
    /// of the group that was held back most. `None` without a quota, or too soon to tell.
    pub fn percent_since(&self, before: &Self) -> Option<f64> {
        let groups = self.0.iter().zip(&before.0);
        let shares = groups.filter_map(|(now, before)| {
            let all = now.all.checked_sub(before.all)?;
            let used_up = now.used_up.checked_sub(before.used_up)?;
            (all >= MIN_PERIODS).then(|| 100.0 * used_up as f64 / all as f64)
        });
        shares.max_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_was_held_back_most_counts() {
        let of = |counts: &[(u64, u64)]| {
            let periods = counts
                .iter()
                .map(|&(all, used_up)| Periods { all, used_up });
            Throttling(periods.collect())
        };
        let before = of(&[(0, 0), (100, 7), (10, 10)]);
        let after = of(&[(0, 0), (200, 57), (15, 15)]);
        assert_eq!(after.percent_since(&before), Some(50.0));
        assert_eq!(before.percent_since(&before), None, "no period went by");
        assert_eq!(Throttling::default().percent_since(&before), None);
    }
}
