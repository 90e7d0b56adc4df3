//! Programs of a user's own study: a C file, or a command.
//!
//! ## Measures
//! What the program prints, each time it is started: a number in the unit that its study states, or lines
//! as the programs of the published studies print them (docs/studies.md).
//! ## Does not measure
//! Anything that syscost knows: the study says what its procedure is.
//! ## Interpretation
//! By the study's own text.
//! ## Source
//! The user's TOML file.

use std::process::{Command, Stdio};

use syscost_harness::prelude::*;

use super::program::results_of;

/// What a C file may include as `result.h`, to print more than a number.
pub const HEADER: &str = include_str!("result.h");

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A procedure of your own study",
    tags: "system call",
    quantity: Quantity::Level,
    ..Benchmark::of::<Row>()
};

static STUDY: Witness = Witness::of("study of the program", "study");

static QUANTITY: Witness = Witness::of("quantity of the program", "study");

#[derive(Params, Clone)]
struct Row {
    /// The study's name.
    study: String,
    /// The quantity of the study.
    quantity: String,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        let ids = here.programs.iter().map(|one| &one.id);
        ids.flat_map(|id| {
            rows!(Row {
                study: [id.study.clone()],
                quantity: [id.quantity.clone()]
            })
        })
        .collect()
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        RowProofs {
            study: STUDY.sees(&*self.study),
            quantity: QUANTITY.sees(&*self.quantity),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let Row { study, quantity } = self;
        let mut programs = plan.programs().iter();
        let own = programs.find(|one| one.id.study == study && one.id.quantity == quantity);
        let own = own.expect("rows are listed by the programs");
        let made = own.made.clone().map_err(Failure::Failed)?;
        let start = || {
            let mut command = Command::new(&made.command[0]);
            command
                .args(&made.command[1..])
                .current_dir(&made.directory);
            command.stdin(Stdio::null()).output()
        };
        let mut outcome = results_of(plan, 1, Unit::Nanoseconds, Some(&made.unit), start)?;
        outcome.saw(&STUDY, &*own.id.study);
        outcome.saw(&QUANTITY, &*own.id.quantity);
        outcome.note("program", made.how.as_str(), "study");
        Ok(outcome)
    }
}
