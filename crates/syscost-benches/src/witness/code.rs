//! What code is measured: a kernel's instructions, and the table that says where its branches go.

use syscost_harness::prelude::*;
use syscost_sys::kernel;

const ASSEMBLED: &str = "the text that was assembled";
const TABLE: &str = "the kernel's table";

static INSTRUCTIONS: Witness = Witness::of("instructions of an operation", ASSEMBLED);

static DIRECTIONS: Witness = Witness::of(
    "share of the branches that go another way than the one before",
    TABLE,
);

static TARGETS: Witness = Witness::of(
    "share of the branches that go to another target than the one before",
    TABLE,
);

/// Measures this kernel, and shows what it consists of.
pub(crate) fn measure<'a>(
    mut plan: Plan<'a>,
    kernel: &kernel::Kernel,
) -> Result<Outcome<'a>, Failure> {
    show(&mut plan, kernel);
    plan.measure(Kernel::of(kernel))
}

pub(crate) fn show(b: &mut Bencher, kernel: &kernel::Kernel) {
    b.observe(&INSTRUCTIONS, kernel.instructions());
    b.observe(&DIRECTIONS, changes(kernel.table(), 1));
    b.observe(&TARGETS, changes(kernel.table(), 8));
}

/// Proof by these instructions, as a kernel lists them.
pub(crate) fn consists_of(instructions: impl Into<String>) -> Proof {
    INSTRUCTIONS.expects(instructions.into())
}

/// Proof by directions that always or as often as not differ from the one before.
pub(crate) fn alternates(always: bool) -> Proof {
    DIRECTIONS.within(match always {
        true => Bound::Exactly(1.0),
        false => Bound::Within(0.45, 0.55),
    })
}

/// Proof by targets that never differ from the one before, or nearly always.
pub(crate) fn leads_elsewhere(nearly_always: bool) -> Proof {
    TARGETS.within(match nearly_always {
        true => Bound::Within(0.9, 0.97),
        false => Bound::Exactly(0.0),
    })
}

/// The share of a table's entries of this many bits that differ from the one before.
fn changes(table: impl Iterator<Item = u64>, bits: u32) -> f64 {
    let (mut changes, mut entries, mut last) = (0_u64, 0_u64, None);
    for word in table {
        for at in (0..64).step_by(bits as usize) {
            let entry = word >> at & ((1 << bits) - 1);
            changes += u64::from(last.is_some_and(|last| last != entry));
            entries += u64::from(last.is_some());
            last = Some(entry);
        }
    }
    changes as f64 / entries.max(1) as f64
}

#[cfg(test)]
mod tests {
    use syscost_sys::kernel::{Atomic, Branch, Directions, Targets, atomic, branch};

    use super::*;
    use crate::testing::findings_by;

    /// A row that is proven by one of the ways above.
    #[derive(Params, Clone)]
    struct WitnessedCode {
        /// Which.
        way: Way,
    }

    #[derive(Value, Clone, Copy)]
    enum Way {
        FetchAdd,
        Alternating,
        RandomDirections,
        SameTarget,
        RandomTargets,
    }

    impl Measured for WitnessedCode {
        fn rows(_: &Testbed) -> Vec<Case<Self>> {
            rows!(WitnessedCode { way: Way::ALL })
        }

        fn proofs(&self) -> WitnessedCodeProofs<Proof> {
            let way = match self.way {
                Way::FetchAdd => consists_of(Atomic::FetchAdd.instructions()),
                Way::Alternating => alternates(true),
                Way::RandomDirections => alternates(false),
                Way::SameTarget => leads_elsewhere(false),
                Way::RandomTargets => leads_elsewhere(true),
            };
            WitnessedCodeProofs { way }
        }

        fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
            measure(plan, &atomic(Atomic::FetchAdd)?)
        }
    }

    /// The verdict on this kernel under the name of a row that is proven so.
    fn verdict(way: Way, kernel: &kernel::Kernel) -> Verdict {
        let cases = (Benchmark::of::<WitnessedCode>().cases)(&Testbed::plain());
        let case = &cases[way as usize];
        let found = findings_by(case, Pass::Timed, &[], |plan| measure(plan, kernel)).unwrap();
        let sources = [ASSEMBLED, TABLE];
        let mut own = found
            .evidence
            .iter()
            .filter(|one| sources.contains(&&*one.source));
        own.next().expect("a witness saw it").verdict
    }

    #[test]
    fn a_kernel_of_other_instructions_is_refuted() {
        let own = atomic(Atomic::FetchAdd).unwrap();
        assert_eq!(verdict(Way::FetchAdd, &own), Verdict::Confirmed);
        for lie in [Atomic::Store, Atomic::Exchange] {
            let lie = atomic(lie).unwrap();
            assert_eq!(verdict(Way::FetchAdd, &lie), Verdict::Refuted);
        }
    }

    #[test]
    fn a_table_that_is_predicted_otherwise_is_refuted() {
        let [random, alternating] = [Directions::Random(1), Directions::Alternating]
            .map(|directions| branch(Branch::OnBit(directions)));
        let [same, elsewhere] = [Targets::Same, Targets::Random(1)]
            .map(|targets| branch(Branch::IndirectByTable(targets)));
        for (way, own, lie) in [
            (Way::Alternating, &alternating, &random),
            (Way::RandomDirections, &random, &alternating),
            (Way::SameTarget, &same, &elsewhere),
            (Way::RandomTargets, &elsewhere, &same),
        ] {
            assert_eq!(verdict(way, own), Verdict::Confirmed, "{}", way.name());
            assert_eq!(verdict(way, lie), Verdict::Refuted, "{}", way.name());
        }
        assert_eq!(
            verdict(Way::Alternating, &branch(Branch::Taken)),
            Verdict::Refuted
        );
    }
}
