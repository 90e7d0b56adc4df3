//! The universal scalability law, fitted to the throughputs of the other rows of this group.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `scale.syscall`, `fault`, `futex`, `pipe` and
//! `open`. By Gunther's law n copies together perform X(n) = λ n / (1 + σ (n − 1) + κ n (n − 1))
//! operations per second. `term=contention` is σ, the share of the work that only one copy at a
//! time can do: its inverse bounds the speedup of any number of copies over one. `term=coherence`
//! is κ, what each pair of copies pays to agree on what they share: with it throughput has a peak
//! and then falls.
//! ## Does not measure
//! The cause. Copies that share a core, a cache or a clock look like contention too; compare with
//! `of=syscall`, which shares nothing else. Nor anything beyond the number of CPUs that were
//! measured: the law can be extrapolated, but the machine need not follow it.
//! ## Interpretation
//! 0 is best: throughput grows with the copies. No term can be negative. The law is fitted anew in
//! every round, by least squares of the relative errors; the interval shows how much rounds differ.
//! `lambda_operations_per_s` is what one copy would do alone, `relative_error_percent` how far the
//! rows typically are from the law. Beyond 10 % the law does not fit and there is no number; nor is
//! there with fewer than four numbers of copies, which takes four CPUs.
//! ## Source
//! Gunther, Guerrilla Capacity Planning (2007).

use std::collections::BTreeMap;

use syscost_harness::prelude::*;
use syscost_results::stats::usl::{self, MIN_POINTS};
use syscost_results::{Evidence, Verdict};
use syscost_sys::partner::Between;

use super::{copies, futex, open};

/// Maximum relative error of a law that fits its rows.
const MAX_ERROR: f64 = 0.1;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Universal scalability law",
    tags: "usl, contention, coherence, amdahl, gunther, speedup",
    unit: Unit::Ratio,
    quantity: Quantity::Level,
    ..Benchmark::computed::<Row>()
};

/// The benchmarks whose rows it is computed from.
const SYSCALL: &str = id!(scale::syscall);
const FAULT: &str = id!(scale::fault);
const FUTEX: &str = id!(scale::futex);
const PIPE: &str = id!(scale::pipe);
const OPEN: &str = id!(scale::open);

/// What the copies do.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Syscall,
    Fault,
    FutexWake,
    FutexWait,
    Pipe,
    OpenSame,
    OpenDifferent,
}

/// Which term of the law it is.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    Contention,
    Coherence,
}

#[derive(Params, Clone)]
struct Row {
    of: Of,
    /// What the copies are: processes or threads.
    r#as: Between,
    term: Term,
}

impl Computed for Row {
    const FROM: &'static [&'static str] = &[SYSCALL, FAULT, FUTEX, PIPE, OPEN];

    fn rows(_: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            of: Of::ALL,
            r#as: Between::ALL,
            term: Term::ALL
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        match (self.of, self.r#as) {
            (Of::FutexWait, _) => Profile::Full,
            (Of::Fault, _) | (_, Between::Processes) => Profile::Standard,
            (_, Between::Threads) => Profile::Full,
        }
    }

    fn support(&self, here: &Here) -> Result<(), Unsupported> {
        match copies::counts(here).len() {
            MIN_POINTS.. => Ok(()),
            // So few that each number of copies up to them is measured.
            cpus => Err(Unsupported::new(format!(
                "needs at least {MIN_POINTS} CPUs to fit the law; {cpus} may be used here"
            ))),
        }
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        let copies = copies_of(other.benchmark.id, &other.case);
        copies.is_some_and(|(of, r#as, _)| (of, r#as) == (self.of, self.r#as))
    }

    fn compute(&self, sources: &[Source<'_>], _: &Here) -> Result<ComputedValue, Failure> {
        if sources.len() < MIN_POINTS {
            return Err(Failure::Unsupported(format!(
                "needs at least {MIN_POINTS} numbers of copies to fit the law; {} were measured",
                sources.len()
            )));
        }
        let point = |source: &Source<'_>| {
            let (_, _, Copies(count)) = copies_of(source.id, source.case)?;
            Some((f64::from(count), source.median))
        };
        let points: Vec<(f64, f64)> = sources.iter().filter_map(point).collect();
        let law = usl::fit(&points).ok_or_else(|| {
            Failure::Failed("no law can be fitted to these throughputs".to_owned())
        })?;
        let misfit = (law.relative_error > MAX_ERROR).then(|| {
            let percent = 100.0 * law.relative_error;
            format!("the throughputs follow no law of this form: the nearest is {percent:.0} % off")
        });
        Ok(ComputedValue {
            misfit,
            value: match self.term {
                Term::Contention => law.sigma,
                Term::Coherence => law.kappa,
            },
            evidence: vec![Evidence::new(
                "relative error of the fitted law",
                format!("at most {MAX_ERROR}"),
                law.relative_error,
                "least squares",
                Verdict::Confirmed,
            )],
            details: BTreeMap::from([
                ("lambda_operations_per_s".to_owned(), law.lambda),
                (
                    "relative_error_percent".to_owned(),
                    100.0 * law.relative_error,
                ),
            ]),
            ..ComputedValue::default()
        })
    }
}

/// What the copies of a row of the group do, what they are, and their number.
fn copies_of(id: &str, case: &Case) -> Option<(Of, Between, Copies)> {
    if let Some(&futex::Row { op, r#as, copies }) = case.row() {
        let of = match op {
            futex::Op::Wake => Of::FutexWake,
            futex::Op::Wait => Of::FutexWait,
        };
        return Some((of, r#as, copies));
    }
    if let Some(&open::Row { of, r#as, copies }) = case.row() {
        let of = match of {
            open::Of::Same => Of::OpenSame,
            open::Of::Different => Of::OpenDifferent,
        };
        return Some((of, r#as, copies));
    }
    let &copies::Row { r#as, copies } = case.row()?;
    let of = [(SYSCALL, Of::Syscall), (FAULT, Of::Fault), (PIPE, Of::Pipe)];
    let (_, of) = of.into_iter().find(|(known, _)| *known == id)?;
    Some((of, r#as, copies))
}

#[cfg(test)]
mod tests;
