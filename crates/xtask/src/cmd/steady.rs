//! `cargo xtask steady`: whether a number depends on how one looks.
//!
//! Every row is measured by each profile, in batches half and twice as long, and with half and twice the margin within which a core is our own, again and again in
//! random order. However it is measured, its intervals should meet; those of a shared core are left out, and the rows that a host's scheduler is part of counted apart.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use syscost_harness::session::Profile;
use syscost_harness::trial::Trial;
use syscost_results::stats::order;
use syscost_results::{Flag, Run, Status};

use crate::columns::{columns, line};
use crate::host::is_of_the_host;
use crate::program::Program;

/// Medians that differ by no more than this share agree, however narrow their intervals are.
const ALIKE: f64 = 0.01;

/// How one looks.
const WAYS: [Way; 7] = [
    Way::by(Profile::Quick),
    Way::by(Profile::Standard),
    Way::by(Profile::Careful),
    Way::changed(Trial::Batch, 0.5),
    Way::changed(Trial::Batch, 2.0),
    Way::changed(Trial::Margin, 0.5),
    Way::changed(Trial::Margin, 2.0),
];

/// Arguments of `steady`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to measure, as for `syscost run`
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// How often to measure in each way
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Seconds for all runs, each of which has an equal share of what is left; without it each has its profile's own budget. Too little
    /// leaves rows without intervals: give selectors as well
    #[arg(long, value_name = "SECONDS")]
    budget: Option<u64>,
    /// CPU to measure on, always the same one; each run chooses if not given
    #[arg(long)]
    cpu: Option<u32>,
    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A way of looking: a profile, and what is changed by which factor.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Way {
    profile: Profile,
    change: Option<(Trial, f64)>,
}

impl Way {
    const fn by(profile: Profile) -> Self {
        Self {
            profile,
            change: None,
        }
    }

    const fn changed(trial: Trial, factor: f64) -> Self {
        Self {
            profile: Profile::Standard,
            change: Some((trial, factor)),
        }
    }

    fn name(self) -> String {
        match self.change {
            None => self.profile.name().to_owned(),
            Some((Trial::Batch, factor)) => format!("batch x {factor}"),
            Some((Trial::Margin, factor)) => format!("margin x {factor}"),
        }
    }

    /// A run of no more than so long, if that is less than the profile's own budget.
    fn run(
        self,
        program: &Program,
        selectors: &[String],
        cpu: Option<&str>,
        most: Option<Duration>,
    ) -> Result<Run> {
        let mut options = vec!["--profile", self.profile.name()];
        options.extend(cpu.iter().flat_map(|cpu| ["--cpus", cpu]));
        let most = most.filter(|most| *most < self.profile.budget());
        let most = most.map(|most| most.as_secs().max(1).to_string());
        if let Some(most) = &most {
            options.extend(["--budget", most]);
        }
        let mut variables = Vec::new();
        if let Some((trial, factor)) = self.change {
            variables.push((trial.variable(), factor.to_string()));
        }
        let selectors: Vec<&str> = selectors.iter().map(String::as_str).collect();
        program.run_with(&options, &variables, &selectors)
    }
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = Program::build()?;
    let cpu = arguments.cpu.map(|cpu| cpu.to_string());
    let begun = Instant::now();
    let budget = arguments.budget.map(Duration::from_secs);
    let count = WAYS.len() as u32 * arguments.repetitions;
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let mut rows: Rows = BTreeMap::new();
    let mut order: Vec<usize> = (0..WAYS.len()).collect();
    for number in 0..count {
        let place = number as usize % WAYS.len();
        if place == 0 {
            random.shuffle(&mut order);
        }
        let way = WAYS[order[place]];
        eprintln!("{}, run {} of {count}", way.name(), number + 1);
        let share = budget.map(|all| all.saturating_sub(begun.elapsed()) / (count - number));
        let run = way.run(&program, &arguments.selectors, cpu.as_deref(), share)?;
        take(&mut rows, order[place], &run);
    }
    let seen: Vec<Seen> = rows
        .iter()
        .filter_map(|(row, ways)| seen(row, ways))
        .collect();
    ensure!(!seen.is_empty(), "no row has a number in two ways");
    print!("{}", table(&seen));
    println!("{}", summary(&seen));
    Ok(())
}

/// By row and way: the median and the interval of each run.
type Rows = BTreeMap<(String, &'static str), [Vec<Interval>; WAYS.len()]>;

/// A median and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    median: f64,
    low: f64,
    high: f64,
}

/// Takes note of the rows of a run that have an interval, of cores of our own.
fn take(rows: &mut Rows, way: usize, run: &Run) {
    let rows_of_run = run.measurements.iter();
    let measured = rows_of_run.filter(|row| row.status == Status::Ok);
    for row in measured.filter(|row| !row.flags.contains(&Flag::Disturbed)) {
        let estimate = &row.estimate;
        if let (Some(median), Some(low), Some(high)) =
            (estimate.median, estimate.ci95_low, estimate.ci95_high)
        {
            let ways = rows
                .entry((row.name.clone(), row.unit.symbol()))
                .or_default();
            ways[way].push(Interval { median, low, high });
        }
    }
}

/// A row seen in several ways.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    name: String,
    unit: &'static str,
    /// What it is in each way, if anything.
    ways: [Option<Interval>; WAYS.len()],
    /// The two ways that differ most beyond their intervals.
    differing: Option<(usize, usize)>,
}

/// The row with the runs of each way joined; `None` where there is nothing to compare.
fn seen((name, unit): &(String, &'static str), runs: &[Vec<Interval>; WAYS.len()]) -> Option<Seen> {
    let ways = std::array::from_fn(|way| joined(&runs[way]));
    let known: Vec<(usize, Interval)> = (0..WAYS.len())
        .filter_map(|way| Some((way, ways[way]?)))
        .collect();
    if known.len() < 2 {
        return None;
    }
    let pairs = known
        .iter()
        .flat_map(|a| known.iter().map(move |b| (a, b)))
        .filter(|((_, a), (_, b))| a.high < b.low && difference(a, b) > ALIKE);
    let most =
        pairs.max_by(|(a, b), (c, d)| difference(&a.1, &b.1).total_cmp(&difference(&c.1, &d.1)));
    Some(Seen {
        name: name.clone(),
        unit,
        ways,
        differing: most.map(|(low, high)| (low.0, high.0)),
    })
}

/// By how much the larger exceeds the smaller, as a share of the smaller.
fn difference(small: &Interval, large: &Interval) -> f64 {
    ((large.median - small.median) / small.median).abs()
}

/// Several runs as one: what they differ by is chance, too.
fn joined(runs: &[Interval]) -> Option<Interval> {
    let medians: Vec<f64> = runs.iter().map(|run| run.median).collect();
    Some(Interval {
        median: order::median(&medians)?,
        low: runs.iter().map(|run| run.low).reduce(f64::min)?,
        high: runs.iter().map(|run| run.high).reduce(f64::max)?,
    })
}

fn table(rows: &[Seen]) -> String {
    let mut head = line(["row", "unit"]);
    head.extend(WAYS.iter().map(|way| way.name()));
    head.push("depends".to_owned());
    let mut lines = vec![head];
    for row in rows {
        let mut cells = vec![row.name.clone(), row.unit.to_owned()];
        cells.extend(row.ways.iter().map(|way| match way {
            Some(Interval { median, low, high }) => {
                format!("{} ({} to {})", short(*median), short(*low), short(*high))
            }
            None => "-".to_owned(),
        }));
        cells.push(match row.differing {
            Some((low, high)) => {
                let percent = 100.0 * row.difference();
                format!(
                    "{} < {} by {percent:.1} %",
                    WAYS[low].name(),
                    WAYS[high].name()
                )
            }
            None => "-".to_owned(),
        });
        lines.push(cells);
    }
    columns(&lines)
}

impl Seen {
    /// By how much the two differ that differ most.
    fn difference(&self) -> f64 {
        let (low, high) = self.differing.unwrap_or_default();
        match (self.ways[low], self.ways[high]) {
            (Some(low), Some(high)) => difference(&low, &high),
            _ => 0.0,
        }
    }
}

/// Four figures.
fn short(value: f64) -> String {
    if value != 0.0 && !(0.01..1e5).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let digits = (3 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 5);
    format!("{value:.*}", digits as usize)
}

fn summary(rows: &[Seen]) -> String {
    let count = |rows: &[&Seen]| {
        let depending = rows.iter().filter(|row| row.differing.is_some());
        format!("{} of {}", depending.count(), rows.len())
    };
    let (host, own): (Vec<&Seen>, Vec<&Seen>) =
        rows.iter().partition(|row| is_of_the_host(&row.name));
    format!(
        "{} rows depend on how one looks; of rows that sleep or wake another CPU {}",
        count(&own),
        count(&host)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::tests::{row, run};

    fn interval(low: f64, median: f64, high: f64) -> Interval {
        Interval { median, low, high }
    }

    fn judged(quick: &[Interval], careful: &[Interval]) -> Seen {
        let mut runs: [Vec<Interval>; WAYS.len()] = Default::default();
        (runs[0], runs[2]) = (quick.to_vec(), careful.to_vec());
        seen(&("a".to_owned(), "ns"), &runs).expect("two ways")
    }

    #[test]
    fn a_row_depends_whose_intervals_do_not_meet() {
        let cold = [interval(190.0, 200.0, 210.0)];
        let warm = [interval(160.0, 162.0, 165.0)];
        let row = judged(&cold, &warm);
        assert_eq!(row.differing, Some((2, 0)));
        assert!(table(std::slice::from_ref(&row)).contains("careful < quick by 23.5 %"));
        let text = summary(&[row]);
        assert!(
            text.starts_with("1 of 1 rows depend on how one looks"),
            "{text}"
        );
    }

    #[test]
    fn intervals_that_meet_and_small_differences_are_chance() {
        let wide = [interval(160.0, 200.0, 210.0)];
        let warm = [interval(150.0, 162.0, 165.0)];
        assert_eq!(judged(&wide, &warm).differing, None);
        let (a, b) = (
            [interval(9.99, 10.0, 10.01)],
            [interval(10.05, 10.06, 10.07)],
        );
        assert_eq!(judged(&a, &b).differing, None);
    }

    #[test]
    fn runs_that_differ_make_an_interval_wider() {
        let runs = [interval(190.0, 200.0, 210.0), interval(150.0, 155.0, 160.0)];
        let warm = [interval(160.0, 162.0, 165.0)];
        let row = judged(&runs, &warm);
        assert_eq!(row.ways[0], Some(interval(150.0, 177.5, 210.0)));
        assert_eq!(row.differing, None);
    }

    #[test]
    fn rows_without_a_number_in_two_ways_are_left_out() {
        let mut rows = Rows::new();
        take(&mut rows, 0, &run(vec![row("1"), row("10")]));
        take(&mut rows, 1, &run(vec![row("1")]));
        let seen: Vec<Seen> = rows
            .iter()
            .filter_map(|(row, ways)| seen(row, ways))
            .collect();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].name, "selftest.chain{adds=1}");
    }

    #[test]
    fn numbers_have_four_figures() {
        assert_eq!(
            [0.5, 12.344, 1234.4].map(short),
            ["0.5000", "12.34", "1234"]
        );
        assert_eq!(short(1.674e10), "1.674e10");
    }
}
