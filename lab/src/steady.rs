//! `cargo lab steady`: whether a number depends on how it is measured.
//!
//! Each trial measures all rows in two ways in turn, as `syscost ab` does: in batches half and
//! twice as long, and after warm-ups of different lengths. On request, the profiles, which differ in all of that, are also
//! compared, as runs one after the other. Rows called changed depend on how they are measured,
//! except for one in twenty of them, which is chance.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use syscost_harness::session::Profile;
use syscost_harness::variation::Variation;
use syscost_results::Run;
use syscost_results::compare::{self, Change, Comparison, Row};

use crate::columns::{columns, line};
use crate::host::is_of_the_host;
use crate::program::{Given, Program};

/// The trials, each with the factors of its two sides. The longest warm-up is 20 ms; a careful
/// run's is 50 ms.
const TRIALS: [(Variation, [f64; 2]); 2] = [
    (Variation::Batch, [0.5, 2.0]),
    (Variation::WarmUp, [0.5, 20.0]),
];

/// The profiles to compare.
const PROFILES: [[Profile; 2]; 3] = [
    [Profile::Quick, Profile::Standard],
    [Profile::Standard, Profile::Full],
    [Profile::Full, Profile::Careful],
];

/// Arguments of `steady`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to measure, as for `syscost run`
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    #[command(flatten)]
    program: Given,
    /// Try the quick profile, and its rows, instead of the standard one
    #[arg(long)]
    quick: bool,
    /// Seconds for each trial, if not twice the profile's own
    #[arg(long, value_name = "SECONDS")]
    budget: Option<u64>,
    /// Also compare the profiles
    #[arg(long)]
    profiles: bool,
}

/// Runs the chore.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = arguments.program.get()?;
    let selectors: Vec<&str> = arguments.selectors.iter().map(String::as_str).collect();
    let budget = arguments.budget.map(Duration::from_secs);
    let profile = match arguments.quick {
        true => Profile::Quick,
        false => Profile::Standard,
    };
    for (trial, factors) in TRIALS {
        let sides = factors.map(|factor| format!("{} x {factor}", trial.what()));
        eprintln!("{} and {} in turn", sides[0], sides[1]);
        let environment = factors.map(|factor| format!("{}={factor}", trial.variable()));
        let [a, b] = program.pair(profile, budget, Some(&environment), &selectors)?;
        print!("{}", judged(&sides, &compare::compare_pair(&a, &b)));
    }
    if arguments.profiles {
        print!("{}", judged_profiles(&program, &selectors)?);
    }
    Ok(())
}

/// Runs each profile and compares it with the next one.
fn judged_profiles(program: &Program, selectors: &[&str]) -> Result<String> {
    let run = |profile: Profile| -> Result<Run> {
        eprintln!("a {} run", profile.name());
        program.run(profile, &[], selectors)
    };
    let mut text = String::new();
    for [left, right] in PROFILES {
        let (base, new) = (run(left)?, run(right)?);
        let sides = [left, right].map(|profile| profile.name().to_owned());
        text += &judged(&sides, &compare::compare(&[&base], &[&new], &[]));
    }
    Ok(text)
}

/// The result of comparing two ways: how many rows depend on the way, and which.
fn judged([base, new]: &[String; 2], comparison: &Comparison) -> String {
    let (host, own): (Vec<&Row>, Vec<&Row>) = comparison
        .rows
        .iter()
        .partition(|row| is_of_the_host(&row.name));
    let mut text = format!(
        "\n{base} against {new}: {} depend; of those that sleep or wake another CPU {}\n",
        counted(&own),
        counted(&host)
    );
    let mut lines = vec![line(["row", "unit", base, new, "ratio", "from", "to"])];
    lines.extend(
        comparison
            .rows
            .iter()
            .filter(|row| depends(row))
            .map(|row| {
                let end = |end: Option<f64>| {
                    end.map_or_else(|| "-".to_owned(), |end| format!("{end:.3}"))
                };
                vec![
                    row.name.clone(),
                    row.unit.symbol().to_owned(),
                    short(row.base),
                    short(row.new),
                    format!("{:.3}", row.ratio),
                    end(row.ci95_low),
                    end(row.ci95_high),
                ]
            }),
    );
    if lines.len() > 1 {
        text += &columns(&lines);
    }
    text
}

fn depends(row: &Row) -> bool {
    matches!(row.verdict, Change::Worse | Change::Better)
}

/// How many of the rows depend on the way, of those with a verdict.
fn counted(rows: &[&Row]) -> String {
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    let unsure = count(&|row| row.verdict == Change::Inconclusive);
    format!(
        "{} of {} rows ({unsure} more are inconclusive)",
        count(&depends),
        rows.len() - unsure
    )
}

/// A number with four significant digits.
fn short(value: f64) -> String {
    if value != 0.0 && !(0.01..1e5).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let digits = (3 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 5);
    format!("{value:.*}", digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::tests::{row, run};
    use syscost_results::measurement::RoundSamples;

    /// The report on twelve rounds in turn, with the second side slower by a factor.
    fn report(factor: f64) -> String {
        let of = |factor: f64| {
            let mut measured = row("1");
            let rounds = (0..12).map(|round| RoundSamples {
                round,
                iterations: 1,
                values: vec![factor * (10.0 + 0.001 * f64::from(round)); 5],
                ..RoundSamples::default()
            });
            measured.samples = Some(rounds.collect());
            run(vec![measured])
        };
        let comparison = compare::compare_pair(&of(1.0), &of(factor));
        judged(&["short".to_owned(), "long".to_owned()], &comparison)
    }

    #[test]
    fn a_row_that_is_dearer_in_one_way_depends() {
        let text = report(1.05);
        assert!(text.contains("short against long: 1 of 1 rows"), "{text}");
        assert!(text.contains("selftest.chain{adds=1}"), "{text}");
        assert!(text.contains("1.050"), "{text}");
        let text = report(1.0001);
        assert!(text.contains("short against long: 0 of 1 rows"), "{text}");
        assert!(!text.contains("selftest.chain"), "{text}");
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
