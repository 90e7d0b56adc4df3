//! Shared: detects, in constant time and memory, that tasks have distinct ids.

/// Ids of processes or threads, in the order of their creation.
///
/// The kernel assigns them in ascending order, and starts again from the lowest free one after the
/// highest. So an id that is higher than the one before is new; after the wrap-around it must stay
/// below the very first.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    first: i32,
    last: i32,
    is_second_lap: bool,
    distinct: u64,
}

/// The name of the count in the evidence.
pub(crate) const DISTINCT: &str = "distinct task ids";

impl Ids {
    /// Notes the id of a task.
    #[inline(always)]
    pub(crate) fn note(&mut self, id: i32) {
        if self.first == 0 {
            self.first = id;
        } else if !self.is_second_lap && id < self.first {
            self.is_second_lap = true;
        } else if id <= self.last || (self.is_second_lap && id >= self.first) {
            return;
        }
        self.last = id;
        self.distinct += 1;
    }

    /// The number of ids that differed from all before.
    pub(crate) fn distinct(&self) -> f64 {
        self.distinct as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(ids: &[i32]) -> u64 {
        let mut seen = Ids::default();
        ids.iter().for_each(|id| seen.note(*id));
        seen.distinct
    }

    #[test]
    fn ascending_ids_with_gaps_and_one_new_start_are_distinct() {
        assert_eq!(distinct(&[]), 0);
        assert_eq!(distinct(&[100, 101, 107, 32_000, 3, 4, 99]), 7);
    }

    #[test]
    fn what_was_seen_is_not_counted_again() {
        assert_eq!(distinct(&[5, 5, 5]), 1, "the same");
        assert_eq!(distinct(&[5, 3, 5, 3, 5]), 2, "two in turn");
        assert_eq!(
            distinct(&[10, 20, 15, 21]),
            3,
            "going back, but not below the first"
        );
    }
}
