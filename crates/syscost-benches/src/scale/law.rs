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

use super::usl::{self, MIN_POINTS};
use super::{copies, futex, open};

/// Maximum relative error of a law that fits its rows.
const MAX_ERROR: f64 = 0.1;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Universal scalability law",
    tags: "usl, contention, coherence, amdahl, gunther, speedup",
    unit: Unit::Ratio,
    quantity: Quantity::Level,
    ..Benchmark::computed::<ScalingLaw>()
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
struct ScalingLaw {
    of: Of,
    /// What the copies are: processes or threads.
    r#as: Between,
    term: Term,
}

impl Computed for ScalingLaw {
    const FROM: &'static [&'static str] = &[SYSCALL, FAULT, FUTEX, PIPE, OPEN];

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ScalingLaw {
            of: Of::ALL,
            r#as: Between::ALL,
            term: Term::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.of, self.r#as) {
            (Of::FutexWait, _) => Profile::Full,
            (Of::Fault, _) | (_, Between::Processes) => Profile::Standard,
            (_, Between::Threads) => Profile::Full,
        }
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
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

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
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
    if let Some(&futex::ScaleFutex { op, r#as, copies }) = case.row() {
        let of = match op {
            futex::Op::Wake => Of::FutexWake,
            futex::Op::Wait => Of::FutexWait,
        };
        return Some((of, r#as, copies));
    }
    if let Some(&open::Open { of, r#as, copies }) = case.row() {
        let of = match of {
            open::Of::Same => Of::OpenSame,
            open::Of::Different => Of::OpenDifferent,
        };
        return Some((of, r#as, copies));
    }
    let &copies::ScaledCopies { r#as, copies } = case.row()?;
    let of = [(SYSCALL, Of::Syscall), (FAULT, Of::Fault), (PIPE, Of::Pipe)];
    let (_, of) = of.into_iter().find(|(known, _)| *known == id)?;
    Some((of, r#as, copies))
}

#[cfg(test)]
mod tests {
    use syscost_harness::session::computed;
    use syscost_harness::{Catalogue, Row};
    use syscost_results::{Estimate, Measurement, RoundSamples, Status};
    use syscost_stats::order::median;

    use super::open::Open;
    use super::usl::UniversalLaw;
    use super::*;
    use crate::CATALOGUE;

    const COPIES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 96];

    const ROUNDS: u32 = 9;

    /// The rows of `scale.open{of=same,as=threads}` on a machine of 96 CPUs, with these throughputs in
    /// every round.
    fn run(throughput: impl Fn(usize, u32) -> f64) -> Vec<(Row, Measurement)> {
        let benchmark = CATALOGUE.find(OPEN).expect("it is listed");
        let cases = rows!(Open {
            of: [open::Of::Same],
            r#as: [Between::Threads],
            copies: COPIES.map(|copies| Copies(copies as u32))
        });
        let row = |(copies, case): (usize, Case<Open>)| {
            let row = Row {
                benchmark,
                case: case.erased(),
            };
            let values: Vec<f64> = (0..ROUNDS).map(|round| throughput(copies, round)).collect();
            let measurement = Measurement {
                name: row.name(),
                id: benchmark.id.to_owned(),
                case: row.case.to_map(),
                title: benchmark.title.to_owned(),
                revision: 1,
                unit: benchmark.unit,
                better: benchmark.better,
                status: Status::Ok,
                estimate: Estimate {
                    median: median(&values),
                    ..Estimate::default()
                },
                samples: Some(
                    (0..)
                        .zip(values)
                        .map(|(round, value)| one_round(round, value))
                        .collect(),
                ),
                ..Measurement::default()
            };
            (row, measurement)
        };
        COPIES.into_iter().zip(cases).map(row).collect()
    }

    fn one_round(round: u32, value: f64) -> RoundSamples {
        RoundSamples {
            round,
            cpu: 0,
            iterations: 1_000,
            values: vec![value; 5],
            ..RoundSamples::default()
        }
    }

    fn law_of(run: &[(Row, Measurement)], term: &str) -> Measurement {
        let benchmark = CATALOGUE.find(id!(scale::law)).expect("it is listed");
        let rows = Catalogue::rows(
            std::iter::once(benchmark),
            &syscost_harness::Testbed::plain(),
        );
        let name = format!("scale.law{{of=open_same,as=threads,term={term}}}");
        let row = rows.iter().find(|row| row.name() == name).expect("a row");
        computed(
            row,
            run.iter().map(|(row, m)| (row, m)),
            0.02,
            None,
            &Testbed::plain(),
        )
    }

    #[test]
    fn eight_rows_give_the_terms_of_their_law_with_intervals() {
        let law = UniversalLaw {
            lambda: 2e6,
            sigma: 0.08,
            kappa: 4e-4,
            relative_error: 0.0,
        };
        // Each round and row is off by up to two percent, in a fixed pattern.
        let noise = |copies: usize, round: u32| {
            1.0 + 0.02 * (((copies as u32 * 7 + round * 5) % 11) as f64 / 5.0 - 1.0)
        };
        let run = run(|copies, round| law.throughput(copies as f64) * noise(copies, round));
        for (term, truth) in [("contention", law.sigma), ("coherence", law.kappa)] {
            let row = law_of(&run, term);
            assert_eq!((row.status, &row.reason), (Status::Ok, &None), "{term}");
            let Estimate {
                median,
                ci95_low,
                ci95_high,
                rounds,
                ..
            } = row.estimate;
            let (median, low, high) = (median.unwrap(), ci95_low.unwrap(), ci95_high.unwrap());
            assert_eq!(rounds, ROUNDS);
            assert!((median / truth - 1.0).abs() < 0.1, "{term}: {median}");
            assert!(
                low < median && median < high,
                "{term}: {low} {median} {high}"
            );
            assert!((row.details["lambda_operations_per_s"] / 2e6 - 1.0).abs() < 0.05);
            assert!(row.details["relative_error_percent"] < 3.0);
        }
    }

    #[test]
    fn what_follows_no_law_has_none() {
        let cliff = run(|copies, _| {
            if copies <= 16 {
                copies as f64 * 1e6
            } else {
                2e6
            }
        });
        let row = law_of(&cliff, "contention");
        let absent = (Status::Unsupported, None);
        assert_eq!((row.status, row.estimate.median), absent);
        let reason = row.reason.unwrap();
        assert!(reason.contains("follow no law of this form"), "{reason}");
    }

    #[test]
    fn two_numbers_of_copies_have_no_law() {
        let few = run(|copies, _| copies as f64);
        let row = law_of(&few[..2], "contention");
        assert_eq!(
            (row.status, row.estimate.median),
            (Status::Unsupported, None)
        );
        let reason = row.reason.unwrap();
        let expected = "needs at least 4 numbers of copies to fit the law; 2 were measured";
        assert_eq!(reason, expected);
    }

    #[test]
    fn every_measured_row_of_the_group_belongs_to_one_law_of_both_terms() {
        let scale = CATALOGUE.groups().find(|group| group.name == "scale");
        let benchmarks = scale.expect("the group").benchmarks;
        let rows = Catalogue::rows(benchmarks.iter(), &syscost_harness::Testbed::plain());
        let (laws, measured): (Vec<&Row>, Vec<&Row>) = rows
            .iter()
            .partition(|row| row.benchmark.computation.is_some());
        for row in &measured {
            let of = laws.iter().filter(|law| law.is_computed_from(row)).count();
            assert_eq!(of, 2, "{}", row.name());
        }
        for law in laws {
            let points = measured
                .iter()
                .filter(|row| law.is_computed_from(row))
                .count();
            assert_eq!(
                points,
                copies::counts(&Testbed::plain()).len(),
                "{}",
                law.name()
            );
        }
    }
}
