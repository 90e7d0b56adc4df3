//! Smoke and honesty of the whole catalogue, really measured: every benchmark runs here or says why
//! not, and proves its claims.

use crate::common::{Program, rows};
use syscost_benches::CATALOGUE;
use syscost_harness::Catalogue;

/// Maximum share of the rows that may need a second try: other tests alone do not disturb more.
const MAX_SECOND_TRIES: f64 = 0.05;

/// The time for all rows, in seconds; rows for which it does not suffice are measured again.
const BUDGET_S: &str = "300";

/// Maximum number of times a row is measured.
const TRIES: usize = 4;

/// Maximum share of the rows that may still be withheld. Withholding is for numbers whose evidence
/// does not hold, which depends on the machine: how soon another CPU wakes, what else fills its
/// caches, whether a curve has a step. A wrong claim would affect more rows, or every machine.
const MAX_WITHHELD: f64 = 0.005;

/// A row without a number, although the machine supports it.
#[derive(Debug)]
struct Trouble {
    name: String,
    status: String,
    reason: String,
}

impl Trouble {
    /// Whether there was no time for it.
    fn is_late(&self) -> bool {
        self.status == "skipped" && !self.reason.contains("which has no number")
    }

    /// Whether it, or a row from which it would be computed, is withheld because of evidence.
    fn is_withheld(&self) -> bool {
        self.status == "withheld"
            || self.status == "skipped" && self.reason.contains("which has no number")
    }
}

/// Measures these rows and returns the ones in trouble.
fn troubles(program: &Program, selectors: &[&str]) -> Vec<Trouble> {
    let run = program.json(&format!(
        "run --profile quick --budget {BUDGET_S} --format json --no-samples {}",
        selectors.join(" ")
    ));
    let mut troubles = Vec::new();
    for row in rows(&run) {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let (name, reason, status) = (text("name"), text("reason"), text("status"));
        match &*status {
            "ok" | "below_resolution" | "above_range" => {
                let evidence = row["evidence"].as_array().expect("evidence");
                assert!(!evidence.is_empty(), "{name} claims nothing");
            }
            "unsupported" => {
                // A worker lists the cases of its benchmark exactly as the coordinator does.
                assert!(!reason.starts_with("this build"), "{name}: {reason}");
                println!("skipped: {name}: {reason}");
            }
            _ => troubles.push(Trouble {
                name,
                status,
                reason,
            }),
        }
    }
    troubles
}

#[test]
fn every_benchmark_runs_or_says_why_not() {
    let program = Program::new();
    // Every row, not only those of the quick profile.
    let mut left = troubles(&program, &["*"]);
    let rows =
        Catalogue::rows(CATALOGUE.benchmarks(), &syscost_harness::Here::plain()).len() as f64;
    let disturbed: Vec<&Trouble> = left.iter().filter(|row| !row.is_late()).collect();
    assert!(
        disturbed.len() as f64 <= MAX_SECOND_TRIES * rows,
        "{} rows: {disturbed:#?}",
        disturbed.len()
    );
    // Other tests run at the same time and easily disturb what several tasks do together, but not
    // every time.
    for _ in 1..TRIES {
        if left.is_empty() {
            return;
        }
        println!("measured again: {left:#?}");
        let names: Vec<&str> = left.iter().map(|row| &*row.name).collect();
        left = troubles(&program, &names);
    }
    println!("no number: {left:#?}");
    assert!(left.iter().all(Trouble::is_withheld), "{left:#?}");
    assert!(left.len() as f64 <= MAX_WITHHELD * rows, "{left:#?}");
}

#[test]
fn known_costs_are_met_and_lies_are_caught() {
    let report = Program::new().run("selftest --format json");
    let report = report.json();
    for negative in report["liars"].as_array().expect("liars") {
        // Some cannot lie on a machine with one CPU, or without room for a file.
        assert_ne!(negative["outcome"], "fail", "{negative}");
    }
    for source in report["interference"].as_array().expect("interference") {
        assert_ne!(source["outcome"], "fail", "{source}");
    }
    for positive in report["truths"].as_array().expect("truths") {
        // A debug build runs the same assembly; the bound is wide only because the machine may be
        // shared with other tests. If no frequency is steady enough, the cycles are unknown.
        match positive["bias_percent"].as_f64() {
            Some(bias) => assert!(bias.abs() < 10.0, "{positive}"),
            None => println!("skipped: {}: {}", positive["name"], positive["reason"]),
        }
    }
}
