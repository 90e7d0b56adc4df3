//! Which results of a procedure were disturbed, and by what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::view::printed;
use syscost_results::Measurement;
use syscost_results::measurement::Cause;

/// The results of a row that something disturbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Disturbed {
    /// How many.
    results: usize,
    /// Of how many.
    of: usize,
    /// How many of them each cause disturbed, the most frequent first: one may have several.
    by: Vec<(Cause, usize)>,
}

impl Disturbed {
    pub(crate) fn of(row: &Measurement) -> Self {
        let (mut results, mut of) = (0, 0);
        let mut by: BTreeMap<Cause, usize> = BTreeMap::new();
        for round in row.samples.iter().flatten() {
            let tags = round.disturbed.iter().map(|tag| (tag.sample, tag.cause));
            let tags: BTreeSet<(u32, Cause)> = tags.collect();
            let samples: BTreeSet<u32> = tags.iter().map(|(sample, _)| *sample).collect();
            results += samples.len();
            of += printed(round).len();
            for (_, cause) in tags {
                *by.entry(cause).or_default() += 1;
            }
        }
        let mut by: Vec<(Cause, usize)> = by.into_iter().collect();
        by.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self { results, of, by }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.results == 0
    }

    pub(crate) fn is_every_result(&self) -> bool {
        self.results == self.of
    }
}

/// `every result was disturbed (preemption 30, SMT interference 24)`.
impl fmt::Display for Disturbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_every_result() {
            true => f.write_str("every result was disturbed")?,
            false => write!(f, "{} of {} results were disturbed", self.results, self.of)?,
        }
        let by = self.by.iter();
        let by = by.map(|(cause, count)| format!("{} {count}", cause.words()));
        write!(f, " ({})", by.collect::<Vec<_>>().join(", "))
    }
}
