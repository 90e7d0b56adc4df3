//! Shared: the number of copies, and whether they are processes or threads.

use std::fmt::Display;

use syscost_harness::prelude::*;

/// Maximum number of copies.
pub(super) const MAX_COPIES: usize = 512;

/// 1, 2, 3, 4, then powers of two, and the number of CPUs that may be used.
pub(crate) fn counts(here: &Testbed) -> Vec<usize> {
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

/// An operation that is a benchmark of its own.
pub(super) trait Operation {
    /// Which profiles measure it by processes, and by threads.
    const PROFILES: [Profile; 2];

    fn measure(row: ScaledCopies, plan: Plan) -> Result<Outcome, Failure>;
}

/// The row of such an operation.
#[derive(Params, Clone, Copy)]
pub(super) struct ScaledCopies {
    /// What the copies are: processes or threads.
    pub(super) r#as: Between,
    pub(super) copies: Copies,
}

impl<O: Operation> Measured<O> for ScaledCopies {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(ScaledCopies {
            r#as: Between::ALL,
            copies: copies(here)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        let [processes, threads] = O::PROFILES;
        match self.r#as {
            Between::Processes => processes,
            Between::Threads => threads,
        }
    }

    fn proofs(&self) -> ScaledCopiesProofs<Proof> {
        ScaledCopiesProofs {
            r#as: Proof::by_tasks(),
            copies: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        O::measure(self, plan)
    }
}

pub(super) fn copies(here: &Testbed) -> impl Iterator<Item = Copies> + use<> {
    counts(here).into_iter().map(|count| Copies(count as u32))
}

/// Measures these copies, each of which performs one operation per iteration.
pub(super) fn measure<O, E>(
    plan: Plan,
    between: Between,
    Copies(count): Copies,
    make: impl Fn(usize) -> Result<O, Failure> + Clone + Send + 'static,
) -> Result<Outcome, Failure>
where
    O: FnMut() -> Result<(), E>,
    E: Display,
{
    plan.measure(Copied::of(between, count as usize, 1, make))
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
