//! Made-up runs, for the tests of whatever reads documents: in this crate and in those that depend on it.

use syscost_stats::order;

use crate::run::{Clock, Config, Tool};
use crate::{Better, Estimate, Measurement, Role, RoundSamples, Run, SCHEMA_VERSION, Status, Unit};

/// A run of these rows.
pub fn run(id: &str, measurements: Vec<Measurement>) -> Run {
    Run {
        schema_version: SCHEMA_VERSION,
        tool: Tool {
            name: "syscost".to_owned(),
            version: "0.1.0".to_owned(),
        },
        id: id.to_owned(),
        started: "2026-11-21T08:00:00Z".to_owned(),
        duration_s: 1.0,
        complete: true,
        clock: Clock {
            source: "tsc".to_owned(),
            ghz: 2.5,
            step_ns: 1.0,
            read_ns: 10.0,
            ..Clock::default()
        },
        core_ghz: Some(3.6),
        config: Config {
            profile: "quick".to_owned(),
            budget_s: 9.0,
            seed: 1,
            cpus: vec![1],
            min_rounds: 6,
            max_rounds: 6,
            samples_per_round: 9,
            ..Config::default()
        },
        measurements,
        ..Run::default()
    }
}

/// A run of one row with these samples by process.
pub fn run_of(processes: &[Vec<f64>]) -> Run {
    run("one", vec![row("syscall.null", processes.to_vec())])
}

/// A row that stands for this.
pub fn of_role(role: Role, name: &str, value: f64) -> Measurement {
    Measurement {
        roles: vec![role],
        ..row(name, vec![vec![value; 2]; 6])
    }
}

/// A row with these samples by process.
pub fn row(name: &str, processes: Vec<Vec<f64>>) -> Measurement {
    let medians: Vec<f64> = processes
        .iter()
        .filter_map(|values| order::median(values))
        .collect();
    let interval = syscost_stats::interval::of_median(&medians);
    Measurement {
        name: name.to_owned(),
        id: crate::row_name::id(name).to_owned(),
        case: crate::row_name::parameters(name)
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        revision: 1,
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        status: Status::Ok,
        estimate: Estimate {
            median: order::median(&medians),
            ci95_low: interval.map(|interval| interval.low),
            ci95_high: interval.map(|interval| interval.high),
            coverage: interval.map(|interval| interval.coverage),
            rounds: medians.len() as u32,
            ..Estimate::default()
        },
        samples: Some(
            (0..)
                .zip(processes)
                .map(|(round, values)| RoundSamples {
                    round,
                    cpu: 1,
                    iterations: 1,
                    core_ghz: Some(3.6),
                    values,
                    ..RoundSamples::default()
                })
                .collect(),
        ),
        ..Measurement::default()
    }
}

/// A row of which only this number is known.
pub fn valued(name: &str, value: f64) -> Measurement {
    Measurement {
        title: "A".to_owned(),
        samples: None,
        ..row(name, vec![vec![value]; 6])
    }
}

/// A standard normal value, as the sum of twelve uniform ones.
pub fn normal(rng: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

/// Processes around `level` with these relative standard deviations between and within processes.
pub fn noisy(
    level: f64,
    count: usize,
    between: f64,
    within: f64,
    rng: &mut fastrand::Rng,
) -> Vec<Vec<f64>> {
    (0..count)
        .map(|_| {
            let process = level * (between * normal(rng)).exp();
            (0..9)
                .map(|_| process * (within * normal(rng)).exp())
                .collect()
        })
        .collect()
}
