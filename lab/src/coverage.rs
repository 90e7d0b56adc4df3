//! `cargo lab coverage`: how often the 95 % intervals contain the true value.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use syscost_harness::session::Profile;
use syscost_results::simulate::{Coverage, NoiseModel, Simulation};
use syscost_stats::looks::{self, StopRule};
use syscost_stats::{interval, order};

use crate::columns::{columns, line};
use crate::program::{Given, measured};

/// Minimum and maximum coverage, in percent.
const MIN_COVERAGE: f64 = 93.0;
const MAX_COVERAGE: f64 = 97.0;

/// Numbers of rounds for which the interval is Student's, which assumes a normal distribution.
const FEW: [u32; 3] = [3, 4, 5];

/// Limits of the coverage for these, in percent: they need not be as accurate.
const FEW_LIMITS: std::ops::RangeInclusive<f64> = 90.0..=99.0;

/// Share of real runs, in percent, whose interval must contain the grand median.
const GOAL: f64 = 90.0;

/// Arguments of `coverage`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Simulated experiments for each noise and each number of rounds
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(100..))]
    experiments: u32,
    /// Seed of the simulations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Instead, this many real quick runs: in how many does the interval hold the median of all?
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    real: Option<u32>,
    #[command(flatten)]
    program: Given,
    /// Row of the real runs
    #[arg(long, default_value = "syscall.null{call=getppid}")]
    row: String,
    /// CPU of the real runs (the quietest if not given)
    #[arg(long)]
    cpu: Option<u32>,
    /// Seconds between real runs
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    apart: u64,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match arguments.real {
        Some(runs) => real(runs, arguments),
        None => simulated(arguments.experiments, arguments.seed),
    }
}

/// A way to measure.
struct Plan {
    name: String,
    rule: StopRule<'static>,
}

/// Each fixed number of rounds, then the profiles that stop by the interval's width.
fn plans() -> Vec<Plan> {
    let fixed = FEW.chunks(1).chain(looks::ALL.chunks(1)).map(|look| Plan {
        name: format!("{} rounds", look[0]),
        rule: StopRule {
            looks: look,
            ..Profile::Standard.stop_rule()
        },
    });
    let stopped = Profile::ALL.map(|profile| Plan {
        name: format!("{}, stopping", profile.name()),
        rule: profile.stop_rule(),
    });
    fixed.chain(stopped).collect()
}

impl Plan {
    /// The coverage in percent if it is known exactly: if there is no stop rule.
    fn exact(&self) -> Option<f64> {
        match self.rule.looks[..] {
            [rounds] => interval::ranks(rounds as usize, 0.5).map(|ranks| 100.0 * ranks.coverage),
            _ => None,
        }
    }

    /// Why a simulated coverage is wrong, if it is.
    ///
    /// With the stop rule only the simulation shows the coverage, so its own result must lie within
    /// the limits. With a fixed number of rounds the exact coverage must, and the simulated one
    /// must agree with it within chance: six rounds cover 96.9 %, so every third correct simulation
    /// shows more than 97 %.
    fn complaint(&self, coverage: &Coverage) -> Option<String> {
        let share = 100.0 * coverage.share();
        let wanted = |percent: &f64| (MIN_COVERAGE..=MAX_COVERAGE).contains(percent);
        if self.rule.looks.iter().all(|look| FEW.contains(look)) {
            let (min, max) = (FEW_LIMITS.start(), FEW_LIMITS.end());
            let is_outside = !FEW_LIMITS.contains(&share);
            return is_outside.then(|| format!("{share:.2} % is outside {min} to {max} %"));
        }
        match self.exact() {
            None if wanted(&share) => None,
            None => Some(format!(
                "{share:.2} % is outside {MIN_COVERAGE} to {MAX_COVERAGE} %"
            )),
            Some(exact) if !wanted(&exact) => Some(format!(
                "exactly {exact:.2} % is outside {MIN_COVERAGE} to {MAX_COVERAGE} %"
            )),
            Some(exact)
                if (share - exact).abs() > 4.0 * standard_error(exact, coverage.experiments) =>
            {
                Some(format!("{share:.2} % is not the exact {exact:.2} %"))
            }
            Some(_) => None,
        }
    }
}

/// The standard error of a share in percent, from this many experiments.
fn standard_error(percent: f64, experiments: u32) -> f64 {
    (percent * (100.0 - percent) / f64::from(experiments)).sqrt()
}

fn simulated(experiments: u32, seed: u64) -> Result<()> {
    let samples = Profile::Quick.effort().samples as usize;
    let found = simulate(samples, experiments, seed);
    let mut table = vec![line(["", "exact"])];
    table[0].extend(NoiseModel::ALL.map(|noise| format!("{noise:?}").to_lowercase()));
    let mut complaints = Vec::new();
    for (index, plan) in plans().iter().enumerate() {
        let exact = plan
            .exact()
            .map_or_else(String::new, |exact| format!("{exact:.1} %"));
        let mut cells = vec![plan.name.clone(), exact];
        for (noise, coverages) in NoiseModel::ALL.iter().zip(&found) {
            let coverage = &coverages[index];
            cells.push(format!("{:.1} %", 100.0 * coverage.share()));
            let complaint = plan.complaint(coverage);
            complaints.extend(complaint.map(|what| format!("{noise:?}, {}: {what}", plan.name)));
        }
        table.push(cells);
    }
    print!("{}", columns(&table));
    let error = standard_error(95.0, experiments);
    println!("{experiments} experiments each, standard error {error:.1} %");
    ensure!(complaints.is_empty(), "{}", complaints.join("; "));
    Ok(())
}

/// The coverage of each plan for each noise, with this many samples per round.
fn simulate(samples: usize, experiments: u32, seed: u64) -> Vec<Vec<Coverage>> {
    let one = |noise| -> Vec<Coverage> {
        let simulation = Simulation::new(noise, samples, seed);
        let plans = plans().into_iter();
        plans
            .map(|plan| simulation.coverage_with_stop(plan.rule, experiments))
            .collect()
    };
    thread::scope(|scope| {
        let threads = NoiseModel::ALL.map(|noise| scope.spawn(move || one(noise)));
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a simulation only computes"))
            .collect()
    })
}

fn real(runs: u32, arguments: &Arguments) -> Result<()> {
    let row = &*arguments.row;
    let cpu = arguments.cpu.map(|cpu| cpu.to_string());
    let mut options = vec!["--no-samples"];
    if let Some(cpu) = &cpu {
        options.extend(["--cpus", cpu]);
    }
    let program = arguments.program.get()?;
    let mut rows = Vec::new();
    for number in 1..=runs {
        if number > 1 {
            thread::sleep(Duration::from_secs(arguments.apart));
        }
        eprintln!("run {number} of {runs}");
        let run = program.run(Profile::Quick, &options, &[row])?;
        let estimate = &measured(&run, row)?.estimate;
        let interval = estimate.ci95_low.zip(estimate.ci95_high);
        let (low, high) = interval.with_context(|| format!("{row} has no interval"))?;
        let median = estimate.median;
        let median = median.with_context(|| format!("{row} has no median"))?;
        rows.push((median, low, high));
    }
    let (grand, held) = holding(&rows).context("there is no run")?;
    let share = 100.0 * held as f64 / rows.len() as f64;
    println!("{row}: {held} of {runs} runs ({share:.0} %) hold the grand median, {grand:.3}");
    ensure!(
        share >= GOAL,
        "{share:.0} % is less than the {GOAL} % that are the goal"
    );
    Ok(())
}

/// The median of the runs' medians, and how many of the `(median, low, high)` contain it.
fn holding(runs: &[(f64, f64, f64)]) -> Option<(f64, usize)> {
    let medians: Vec<f64> = runs.iter().map(|run| run.0).collect();
    let grand = order::median(&medians)?;
    let holds = |(_, low, high): &&(f64, f64, f64)| (*low..=*high).contains(&grand);
    Some((grand, runs.iter().filter(holds).count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_miss_the_grand_median_are_not_counted() {
        let near = [(10.0, 9.0, 11.0), (10.2, 10.0, 11.0)];
        let far = [(9.0, 8.0, 9.9), (12.0, 10.1, 13.0)];
        let runs = [near, far].concat();
        let (grand, held) = holding(&runs).unwrap();
        assert!((grand - 10.1).abs() < 1e-12);
        assert_eq!(held, 3);
        assert_eq!(holding(&[]), None);
    }

    #[test]
    fn every_look_and_every_stop_rule_is_simulated_for_every_noise() {
        let looks: Vec<&[u32]> = plans().iter().map(|plan| plan.rule.looks).collect();
        assert_eq!(
            looks[..12],
            [3, 4, 5, 6, 9, 12, 17, 20, 25, 30, 37, 51]
                .each_ref()
                .map(std::slice::from_ref)
        );
        assert!(
            looks[12..].len() == Profile::ALL.len()
                && looks[12..].iter().all(|looks| looks.len() > 1)
        );
        let found = simulate(1, 100, 3);
        assert_eq!(found.len(), NoiseModel::ALL.len());
        for coverages in &found {
            assert_eq!(coverages.len(), looks.len());
            assert!(
                coverages.iter().all(|coverage| coverage.share() > 0.85),
                "{coverages:?}"
            );
            let rounds = [
                coverages[0].mean_rounds.round(),
                coverages[11].mean_rounds.round(),
            ];
            assert_eq!(rounds, [3.0, 51.0]);
        }
    }

    #[test]
    fn too_much_coverage_is_as_wrong_as_too_little() {
        let complaint = |looks: &'static [u32], covered| {
            let plan = Plan {
                name: String::new(),
                rule: StopRule {
                    looks,
                    target: 0.02,
                    gives_up: false,
                },
            };
            plan.complaint(&Coverage {
                covered,
                experiments: 2000,
                mean_width: 0.1,
                mean_rounds: 6.0,
            })
        };
        let stopping: &[u32] = &[9, 12, 17];
        for (looks, covered, expected) in [
            (stopping, 1860, None),
            (stopping, 1940, None),
            (stopping, 1859, Some("92.95 % is outside 93 to 97 %")),
            (stopping, 1941, Some("97.05 % is outside 93 to 97 %")),
            // Six rounds: exactly 96.875 %; four standard errors are 1.556 %.
            (&[6], 1960, None),
            (&[6], 1906, Some("95.30 % is not the exact 96.88 %")),
            (&[6], 1969, Some("98.45 % is not the exact 96.88 %")),
            // With few rounds the limits are wider.
            (&[3], 1801, None),
            (&[3], 1799, Some("89.95 % is outside 90 to 99 %")),
            (&[5], 2000, Some("100.00 % is outside 90 to 99 %")),
            (&[10], 1958, Some("exactly 97.85 % is outside 93 to 97 %")),
        ] {
            assert_eq!(complaint(looks, covered).as_deref(), expected);
        }
    }
}
