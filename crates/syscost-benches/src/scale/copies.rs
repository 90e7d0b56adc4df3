//! Shared: the number of copies, and whether they are processes or threads.

use std::fmt::Display;

use syscost_harness::prelude::*;
use syscost_sys::partner::Between;

/// Maximum number of copies that is measured.
const MAX_COPIES: usize = 512;

/// 1, 2, 3, 4, then powers of two, and the number of CPUs that may be used.
pub(crate) fn counts(here: &Here) -> Vec<usize> {
    counts_to(here.allowed.len())
}

fn counts_to(cpus: usize) -> Vec<usize> {
    let max = cpus.clamp(1, MAX_COPIES);
    let doubled = (2..).map(|power| 1 << power);
    let mut counts: Vec<usize> = [1, 2, 3]
        .into_iter()
        .chain(doubled.take_while(|count| *count < max))
        .filter(|count| *count < max)
        .collect();
    counts.push(max);
    counts
}

/// These numbers of copies.
pub(super) fn copies(here: &Here) -> impl Iterator<Item = Copies> + use<> {
    counts(here).into_iter().map(|count| Copies(count as u32))
}

/// Measures these copies, each of which performs one operation per iteration.
pub(super) fn measure<O, E>(
    b: &mut Bencher,
    between: Between,
    Copies(count): Copies,
    make: impl Fn(usize) -> Result<O, Failure> + Clone + Send + 'static,
) -> Result<(), Failure>
where
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    b.copies(between, count as usize, 1, make)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_double_up_to_all_cpus() {
        assert_eq!(counts_to(1), [1]);
        assert_eq!(counts_to(2), [1, 2]);
        assert_eq!(counts_to(4), [1, 2, 3, 4]);
        assert_eq!(counts_to(12), [1, 2, 3, 4, 8, 12]);
        assert_eq!(counts_to(96), [1, 2, 3, 4, 8, 16, 32, 64, 96]);
        assert_eq!(counts_to(5_000).last(), Some(&512));
    }
}
