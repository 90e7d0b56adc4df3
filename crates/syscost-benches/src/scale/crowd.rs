//! Shared: the number of copies, and whether they are processes or threads.

use std::fmt::Display;

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::partner::Between;

/// Maximum number of copies that is measured.
const MAX_COPIES: usize = 512;

/// The key of the parameter that names what the copies are.
pub(super) const AS: &str = "as";

/// The key of the parameter with the number of copies.
pub(super) const COPIES: &str = "copies";

/// 1, 2, 3, 4, then powers of two, and the number of CPUs that this process may use.
pub(crate) fn counts() -> Vec<usize> {
    counts_to(cpu::allowed().map_or(1, |cpus| cpus.len()))
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

/// Processes and threads in every number, for each of these values of the benchmark's parameter
/// `key`; for a benchmark without such a parameter the values are empty.
pub(super) fn cases(key: &'static str, values: &[&'static str]) -> Vec<Case> {
    let whats: Vec<Option<&'static str>> = match values {
        [] => vec![None],
        values => values.iter().copied().map(Some).collect(),
    };
    let mut cases = Vec::new();
    for what in whats {
        for between in Between::ALL {
            for count in counts() {
                let what = what.map(|value| (key, value.to_owned()));
                let many = [(AS, between.name().to_owned()), (COPIES, count.to_string())];
                cases.push(Case::new(what.into_iter().chain(many)));
            }
        }
    }
    cases
}

/// Whether the copies of a case are processes or threads.
pub(super) fn between(case: &Case) -> Result<Between, Failure> {
    Value::parse(case.get(AS)).ok_or_else(|| case.unknown(AS))
}

/// The number of copies.
pub(super) fn count(case: &Case) -> usize {
    case.number(COPIES) as usize
}

/// Measures the copies of the case, each of which performs one operation per turn.
pub(super) fn measure<O, E>(
    b: &mut Bencher,
    make: impl Fn(usize) -> Result<O, Failure> + Clone + Send + 'static,
) -> Result<(), Failure>
where
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    b.copies(between(b.case())?, count(b.case()), 1, make)
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

    #[test]
    fn a_case_says_what_how_and_how_many() {
        let cases = cases("of", &["same", "different"]);
        assert_eq!(cases.len(), 4 * counts().len());
        assert_eq!(cases[0].suffix(), "{of=same,as=processes,copies=1}");
        assert_eq!(count(&cases[0]), 1);
        assert_eq!(between(&cases[0]), Ok(Between::Processes));
    }
}
