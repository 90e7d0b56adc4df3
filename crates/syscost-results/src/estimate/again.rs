//! A published run, judged again from its samples.

use super::sharing::{self, OwnCore, OwnCores};
use super::{Estimated, Rules, estimate};
use crate::measurement::{Estimate, Flag, Measurement, RoundSamples, Sharing, Status};
use crate::run::Run;

impl Run {
    /// The run as this version judges its samples: which are of a core of our own, and what the rows
    /// cost by them. Rows without samples stay as they are. What earlier runs of the machine showed is
    /// not at hand: each row's core share and difference between runs hold.
    #[must_use]
    pub fn judged_again(&self) -> Self {
        let cores = OwnCore::of_noise(&self.noise);
        let rows = self.measurements.iter();
        Self {
            measurements: rows.map(|row| judged_again(row, &cores)).collect(),
            ..self.clone()
        }
    }
}

fn judged_again(row: &Measurement, cores: &OwnCores) -> Measurement {
    let Some(published) = row.samples.as_ref().filter(|_| row.status == Status::Ok) else {
        return row.clone();
    };
    let mut rounds = published.clone();
    let sharing = sharing::judge(&mut rounds, row.unit, cores);
    let rules = rules(row, published);
    let found = estimate(&rounds, &rules);
    with(row, rounds, sharing, found)
}

/// The rules by which a row was estimated, as far as its own numbers tell.
fn rules<'a>(row: &'a Measurement, published: &[RoundSamples]) -> Rules<'a> {
    let known = [row.estimate.min, row.estimate.ci95_low, row.estimate.median];
    let rules = Rules {
        better: row.better,
        signed: known.iter().flatten().any(|value| *value <= 0.0),
        grain: row.estimate.clock_grain.unwrap_or(0.0),
        histogram: &row.histogram,
        published: Some(row),
        ..Rules::new(row.unit)
    };
    // A choice of a few, and the limits of a method, are what the same samples do not give alone.
    let of = |rules: &Rules<'_>| estimate(published, rules).estimate;
    let discrete = Rules {
        discrete: true,
        ..rules
    };
    let is_same = |one: &Estimate| are_close(one.median, row.estimate.median);
    let rules = match is_same(&of(&rules)) || !is_same(&of(&discrete)) {
        true => rules,
        false => discrete,
    };
    let found = of(&rules);
    let is_wider = !are_close(found.ci95_low, row.estimate.ci95_low)
        || !are_close(found.ci95_high, row.estimate.ci95_high);
    let interval = row.estimate.ci95_low.zip(row.estimate.ci95_high);
    Rules {
        // Only sizes and counts have such limits; intervals of older builds were others.
        limits: interval.filter(|_| is_wider && is_same(&found) && !row.unit.is_timed()),
        ..rules
    }
}

/// Whether two figures are equal but for rounding.
fn are_close(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-6 * one.abs().max(other.abs()),
        (one, other) => one == other,
    }
}

fn with(
    row: &Measurement,
    rounds: Vec<RoundSamples>,
    sharing: Option<Sharing>,
    found: Estimated,
) -> Measurement {
    let judged = [Flag::TooFewRounds, Flag::Disturbed];
    let mut flags = row.flags.clone();
    flags.retain(|flag| !judged.contains(flag));
    flags.extend(found.flags.iter().filter(|flag| judged.contains(flag)));
    flags.sort_unstable();
    Measurement {
        status: match found.below_resolution {
            true => Status::BelowResolution,
            false => row.status,
        },
        estimate: found.estimate,
        core_cycles: found.core_cycles,
        between_runs: found.between_runs,
        earlier: match found.flags.contains(&Flag::Disturbed) {
            true => Vec::new(),
            false => row.earlier.clone(),
        },
        sharing,
        flags,
        samples: Some(rounds),
        ..row.clone()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sharing::tests::{CORE, Hour};
    use super::*;
    use crate::estimate::KeptRuns;
    use crate::estimate::between::Level;
    use crate::run::Noise;
    use crate::{Unit, fixture};

    /// A run of one row as the harness makes it, of a machine that kept some runs.
    fn run(mut rounds: Vec<RoundSamples>, kept: &KeptRuns) -> Run {
        let noise = Noise {
            cpu: 0,
            alone_ratio: Some(CORE.ratio),
            alone_limit: Some(CORE.limit),
            limit_basis: Some(CORE.basis),
            ..Noise::default()
        };
        let cores = OwnCore::of_noise(std::slice::from_ref(&noise));
        let unit = Unit::Nanoseconds;
        let sharing = sharing::judge(&mut rounds, unit, &cores);
        let rules = Rules {
            kept: Some(kept),
            grain: 0.01,
            ..Rules::new(unit)
        };
        let found = estimate(&rounds, &rules);
        let row = Measurement {
            estimate: found.estimate,
            core_cycles: found.core_cycles,
            core_share: found.core_share,
            between_runs: found.between_runs,
            sharing,
            flags: found.flags,
            samples: Some(rounds),
            ..fixture::row("syscall.null", Vec::new())
        };
        Run {
            noise: vec![noise],
            ..fixture::run("one", vec![row])
        }
    }

    fn kept() -> KeptRuns {
        let level = |number: u32| Level {
            ghz: Some(3.0 + 0.01 * f64::from(number)),
            level: 100_f64.ln() + 0.003 * f64::from(number % 3),
            error: 0.001,
            ..Level::default()
        };
        KeptRuns {
            levels: (0..6).map(level).collect(),
            ..KeptRuns::default()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn judged_again_from_the_file_a_run_gives_the_same_numbers(
            shared in 0.0..1.0,
            slower in 0.0..0.5,
            spread in 0.0001..0.02,
            stays in 1.0..50.0,
            rounds in 1..13_usize,
            ghz in 2.5..3.5,
            seed: u64,
        ) {
            let hour = Hour { shared, slower, spread, stays, rounds };
            let mut rounds = hour.rounds(&mut fastrand::Rng::with_seed(seed));
            for round in &mut rounds {
                round.usual_ghz = Some(3.0);
                round.sample_ghz = (0..9).map(|n| ghz + 0.01 * f64::from(n)).collect();
            }
            let run = run(rounds, &kept());
            let text = serde_json::to_string(&run).unwrap();
            let read: Run = serde_json::from_str(&text).unwrap();
            let again = read.judged_again();
            prop_assert_eq!(&again.measurements[0], &run.measurements[0]);
        }
    }

    #[test]
    fn a_later_limit_gives_other_numbers() {
        let hour = Hour {
            shared: 0.5,
            slower: 0.4,
            spread: 0.01,
            stays: 5.0,
            rounds: 12,
        };
        let mut run = run(
            hour.rounds(&mut fastrand::Rng::with_seed(3)),
            &KeptRuns::default(),
        );
        let own = run.measurements[0].estimate.median;
        run.noise[0].alone_limit = Some(0.9);
        let again = run.judged_again();
        let row = &again.measurements[0];
        assert!(row.estimate.median > own, "{:?}", row.estimate);
        assert_eq!(row.estimate.undisturbed_percent, Some(0.0));
        assert!(row.flags.contains(&Flag::Disturbed));
    }

    #[test]
    fn a_document_of_before_ratios_were_kept_is_judged_by_its_tags() {
        let text = include_bytes!("../../../../fixtures/runs/quick.json");
        let run = crate::document::read(text).expect("a run");
        let again = run.judged_again();
        for (old, new) in run.measurements.iter().zip(&again.measurements) {
            assert_eq!((old.status, &old.name), (new.status, &new.name));
            let six = old.estimate.rounds >= 6 && !old.flags.contains(&Flag::Disturbed);
            if six {
                assert!(
                    are_close(old.estimate.median, new.estimate.median),
                    "{}",
                    old.name
                );
            }
        }
    }
}
