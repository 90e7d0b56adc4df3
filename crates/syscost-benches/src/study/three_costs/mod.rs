//! The three-costs experiment: one pair of rdtsc around each single operation, 10 000 times, three runs
//! averaged.

mod cached_getpid;
pub(super) mod clock_read;
pub(super) mod procedure_call;
pub(super) mod switch;
pub(super) mod system_call;
mod task;
pub(super) mod task_create;

use syscost_harness::prelude::*;
use syscost_sys::arch;

use super::unoptimised::{InMemory, repeat};
use crate::timing::clock_read::counter_ticks_per_ns;

/// Operations of a run.
const ITERATIONS: u64 = 10_000;

/// Tasks created in a run. Published are 10 000, which would take seconds.
const TASKS: u64 = 1_000;

/// Number of runs whose mean is a result.
const RUNS: u64 = 3;

/// The counter as the programs read it: by a function, which without optimisation is called
/// and keeps the value in memory. Nothing orders it with the instructions around it.
#[inline(never)]
extern "C" fn rdtsc() -> u64 {
    InMemory::new(arch::cycle_counter_unfenced()).get()
}

/// The mean of three runs.
fn mean_of_runs(mut run: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut sum = 0.0;
    for _ in 0..RUNS {
        sum += run()?;
    }
    Ok(sum / RUNS as f64)
}

/// The difference of two readings in a row, in ticks: the overhead that is subtracted from each operation.
fn overhead(pairs: &mut Pairs) -> Result<f64, Failure> {
    mean_of_runs(|| pairs.around(0.0, || Ok(()), Ok))
}

/// Measures an operation by a pair of readings around each: three runs, each of which begins with
/// `prepare`, minus the overhead; details what their mean hides.
fn measure(
    b: &mut Bencher,
    mut prepare: impl FnMut(),
    mut operation: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let ticks_per_ns = counter_ticks_per_ns(b.clock());
    let mut empty = Pairs::new(ITERATIONS);
    let mut pairs = Pairs::new(ITERATIONS);
    let mut subtracted = 0.0;
    b.as_published(ITERATIONS * RUNS, || {
        subtracted = overhead(&mut empty)?;
        let mean = mean_of_runs(|| {
            prepare();
            pairs.around(subtracted, &mut operation, Ok)
        })?;
        Ok(mean / ticks_per_ns)
    })?;
    pairs.detail(b, subtracted, ticks_per_ns);
    pairs.detail_difference(&empty, b, ticks_per_ns);
    Ok(())
}

/// Pairs of readings around single operations. The published programs kept only the sum; here each pair is
/// kept for the details.
struct Pairs {
    /// The pairs of the last run, in ticks.
    elapsed: Vec<i64>,
    /// The very first pair in this process, in ticks.
    first: Option<i64>,
}

impl Pairs {
    /// For runs of this many operations, at least one.
    fn new(operations: u64) -> Self {
        Self {
            elapsed: vec![0; operations as usize],
            first: None,
        }
    }

    /// Performs one run; returns the mean time of an operation, in ticks, less `overhead`. `after`
    /// is called after each of them, outside of the pair.
    #[inline(always)]
    fn around<T>(
        &mut self,
        overhead: f64,
        mut operation: impl FnMut() -> Result<T, Failure>,
        mut after: impl FnMut(T) -> Result<(), Failure>,
    ) -> Result<f64, Failure> {
        let operations = self.elapsed.len() as u64;
        let mut total = InMemory::new(0.0);
        let mut places = self.elapsed.iter_mut();
        let mut went = Ok(());
        repeat(operations, || {
            if went.is_err() {
                return;
            }
            let begun = InMemory::new(rdtsc());
            let done = operation();
            let ended = InMemory::new(rdtsc());
            let elapsed = ended.get().wrapping_sub(begun.get()) as i64;
            total.set(total.get() + (elapsed as f64 - overhead));
            if let Some(place) = places.next() {
                *place = elapsed;
            }
            went = done.and_then(&mut after);
        });
        went?;
        self.first.get_or_insert(self.elapsed[0]);
        Ok(total.get() / operations as f64)
    }

    /// The typical time of an operation in the last run, in ticks: the median, which is robust
    /// against interruptions.
    fn typical(&self) -> f64 {
        spread(&self.elapsed, 0.0).middle as f64
    }

    /// Details what the mean hides: the first operation, how much single ones vary, and how many of them
    /// took no longer than the overhead alone.
    fn detail(&self, b: &mut Bencher, overhead: f64, ticks_per_ns: f64) {
        let ns = |ticks: i64| (ticks as f64 - overhead) / ticks_per_ns;
        if let Some(first) = self.first {
            b.detail("first_operation_ns", ns(first));
        }
        let Spread {
            tenth,
            middle: _,
            ninetieth,
            no_longer_percent,
        } = spread(&self.elapsed, overhead);
        b.detail("single_p10_ns", ns(tenth));
        b.detail("single_p90_ns", ns(ninetieth));
        b.detail(
            "single_p90_less_p10_ns",
            (ninetieth - tenth) as f64 / ticks_per_ns,
        );
        b.detail("zero_or_less_percent", no_longer_percent);
    }

    /// Details by how much typical pairs around an operation are longer than `empty` ones.
    fn detail_difference(&self, empty: &Pairs, b: &mut Bencher, ticks_per_ns: f64) {
        let longer = self.typical() - empty.typical();
        b.detail("typical_pair_less_empty_ns", longer / ticks_per_ns);
        let of_empty = spread(&empty.elapsed, 0.0);
        b.detail(
            "empty_pair_p90_less_p10_ns",
            (of_empty.ninetieth - of_empty.tenth) as f64 / ticks_per_ns,
        );
    }
}

/// How much single pairs vary.
#[derive(Debug, PartialEq)]
struct Spread {
    /// The 10th percentile, in ticks.
    tenth: i64,
    /// The median, in ticks.
    middle: i64,
    /// The 90th percentile, in ticks.
    ninetieth: i64,
    /// The share of pairs that are no longer than the overhead, in percent.
    no_longer_percent: f64,
}

fn spread(elapsed: &[i64], overhead: f64) -> Spread {
    let mut sorted = elapsed.to_vec();
    sorted.sort_unstable();
    let at = |tenths: usize| sorted[(sorted.len() - 1) * tenths / 10];
    let no_longer = sorted.partition_point(|one| *one as f64 <= overhead);
    Spread {
        tenth: at(1),
        middle: at(5),
        ninetieth: at(9),
        no_longer_percent: 100.0 * no_longer as f64 / sorted.len() as f64,
    }
}

/// Checks that there is a counter to read.
fn support(_: &Case) -> Result<(), Unsupported> {
    arch::cycle_counter()
}

#[cfg(test)]
mod tests {
    use syscost_results::study::{Study, figures};

    use super::*;

    #[test]
    fn a_result_is_the_mean_of_three_runs() {
        let mut runs = [10.0, 20.0, 60.0].into_iter();
        let mean = mean_of_runs(|| runs.next().ok_or_else(|| Failure::Broken("more".into())));
        assert_eq!(mean.ok(), Some(30.0));
        assert_eq!(runs.next(), None);
    }

    #[test]
    fn a_run_makes_each_operation_and_what_follows_it() {
        let (mut made, mut ended) = (0, 0);
        let mut pairs = Pairs::new(100);
        let operation = || {
            made += 1;
            Ok(made)
        };
        let mean = pairs.around(0.0, operation, |number| {
            ended += number;
            Ok(())
        });
        assert!(mean.is_ok());
        assert_eq!((made, ended), (100, 5050));
        assert_eq!(pairs.first, Some(pairs.elapsed[0]));
    }

    #[test]
    fn overhead_is_taken_off_each_operation() {
        let mut pairs = Pairs::new(50);
        let mean = pairs.around(7.0, || Ok(()), Ok).unwrap_or(f64::NAN);
        let sum: i64 = pairs.elapsed.iter().sum();
        assert!((mean - (sum as f64 / 50.0 - 7.0)).abs() < 1e-6, "{mean}");
    }

    #[test]
    fn the_first_failure_ends_a_run() {
        let mut made = 0;
        let failing = || {
            made += 1;
            match made {
                3 => Err(Failure::Failed("the third".into())),
                _ => Ok(()),
            }
        };
        let failed = Pairs::new(10).around(0.0, failing, Ok);
        assert!(failed.is_err_and(|failure| failure.to_string() == "the third"));
        assert_eq!(made, 3);
    }

    #[test]
    fn the_spread_is_of_single_operations() {
        let elapsed: Vec<i64> = (0..=10).rev().map(|number| 10 * number).collect();
        let expected = Spread {
            tenth: 10,
            middle: 50,
            ninetieth: 90,
            no_longer_percent: 100.0 * 3.0 / 11.0,
        };
        assert_eq!(spread(&elapsed, 28.5), expected);
    }

    fn study() -> Study {
        Study::parse(include_str!("study.toml")).expect("a study")
    }

    #[test]
    fn each_row_of_the_published_tables_has_its_four_machines() {
        let study = study();
        let tables = |table: &str| {
            let of_table = study.quantities.iter().filter(|one| one.table == table);
            let rows = of_table.map(|one| one.published.len());
            rows.collect::<Vec<_>>()
        };
        // A getpid that enters the kernel was never published.
        assert_eq!(tables("System calls"), [4, 4, 0, 4]);
        assert_eq!(tables("Procedure calls"), [4; 6]);
        assert_eq!(tables("Creation and context switches"), [4; 4]);
        let all = study.quantities.iter().flat_map(|one| &one.published);
        assert!(
            all.clone()
                .all(|one| one.cycles.is_some() && one.value.is_some())
        );
        assert_eq!(all.count(), 52);
    }

    #[test]
    fn figures_that_disagree_with_themselves_are_marked() {
        let study = study();
        let doubts = |id: &str, machine: &str| {
            let judged = figures(&study, study.quantity(id).expect("a quantity"));
            let one = judged.into_iter().find(|one| one.machine == machine);
            one.expect("a figure").doubts.len()
        };
        // 1261.60 cycles, but 506.10 ns and runs of 1213 to 1219.
        assert_eq!(doubts("setuid", "opteron"), 2);
        assert_eq!(doubts("getpid", "xeon-e7310"), 1);
        assert_eq!(doubts("setuid", "i7-4770k"), 0);
        assert_eq!(doubts("call-2", "i7-4770k"), 0);
    }
}
