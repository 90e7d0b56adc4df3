//! How often operations allocate, counted where something is expected of it.

use syscost_sys::memory::Allocations;

use crate::bencher::Plan;
use crate::expect::Counter;
use crate::failure::Failure;

/// What makes operations.
pub(super) type Operations<'o> = &'o mut dyn FnMut() -> Result<(), Failure>;

impl Plan<'_> {
    /// Judges how often these operations allocate, if something is expected of it. `run` makes them by what
    /// it is given, and prepares them beside it.
    pub(super) fn judge_allocations(
        &mut self,
        operations: u64,
        mut run: impl FnMut(&mut dyn FnMut(Operations) -> Result<(), Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        const SOURCE: &str = "debug registers";
        let Some(expect) = self.find(|counter| counter == Counter::Allocations) else {
            return Ok(());
        };
        let (mut count, mut uncounted) = (0, None);
        for group in 0..Allocations::GROUPS {
            let allocations = match Allocations::begin(group) {
                Ok(allocations) => allocations,
                Err(reason) => {
                    uncounted = Some(reason.to_string());
                    break;
                }
            };
            run(&mut |operations| {
                let before = allocations.count();
                operations()?;
                match allocations.count().and_then(|after| Ok(after - before?)) {
                    Ok(made) => count += made,
                    Err(error) => uncounted = Some(error.to_string()),
                }
                Ok(())
            })?;
            self.done.operations += operations;
        }
        self.findings.evidence.push(match uncounted {
            None => expect.judge_count(count, operations, SOURCE),
            Some(reason) => expect.unverified(SOURCE, reason),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use syscost_results::Verdict;
    use syscost_sys::cpu;

    use crate::bencher::tests::real::{found_of, verdict_of};
    use crate::bencher::{Loop, Single};
    use crate::case::Case;
    use crate::expect::{Counter, exactly};
    use crate::pass::Pass;
    use syscost_sys::or_skip;

    #[test]
    fn allocations_of_batches_and_of_single_operations_are_counted() {
        let cpus = or_skip!(cpu::allowed(), "no affinity here");
        let blocks = |count: usize| (0..count).for_each(|_| drop(black_box(Box::new(1_u64))));
        let verdicts = [0, 1, 2].map(|count| {
            let expected = [exactly(Counter::Allocations, 1.0)];
            let case = Case::default();
            let batches = found_of(&case, &cpus, Pass::Evidence, &expected, |plan| {
                plan.measure(Loop::infallible(|| blocks(count)))
            });
            let singles = found_of(&case, &cpus, Pass::Evidence, &expected, |plan| {
                let made = |count| {
                    blocks(count);
                    Ok(())
                };
                plan.measure(Single::of(|| made(3), || made(count)))
            });
            let verdict = |found| verdict_of(&found, "allocations per operation");
            [batches, singles].map(|found| verdict(found.expect("measured")))
        });
        use Verdict::{Confirmed, Refuted, Unverified};
        let is_unsupported = verdicts == [[Unverified; 2]; 3];
        assert!(
            is_unsupported || verdicts == [[Refuted; 2], [Confirmed; 2], [Refuted; 2]],
            "{verdicts:?}"
        );
    }
}
