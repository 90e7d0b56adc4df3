//! Smoke and honesty of the whole catalogue, for real: every benchmark runs here or says why not, and proves its claims.

mod common;

use common::{Program, rows};
use syscost_benches::CATALOGUE;
use syscost_harness::Catalogue;

#[test]
fn every_benchmark_runs_or_says_why_not() {
    let program = Program::new();
    let run = program.json(&[
        "run",
        // Every row, not only those of the quick profile.
        "*",
        "--profile",
        "quick",
        "--format",
        "json",
        "--no-samples",
    ]);
    assert_eq!(run["complete"], true);
    let mut troubles = Vec::new();
    for row in rows(&run) {
        let (name, status) = (
            row["name"].as_str().unwrap_or(""),
            row["status"].as_str().unwrap_or(""),
        );
        match status {
            "ok" | "below_resolution" => {
                let evidence = row["evidence"].as_array().expect("evidence");
                assert!(!evidence.is_empty(), "{name} claims nothing");
            }
            "unsupported" => {
                let reason = row["reason"].as_str().unwrap_or("");
                // A worker lists the cases of its benchmark as the coordinator does.
                assert!(!reason.starts_with("this build"), "{name}: {reason}");
                println!("skipped: {name}: {reason}");
            }
            // Too dear for a quick run, and said so.
            "skipped" if row["reason"].as_str().unwrap_or("").contains("--budget") => {}
            _ => troubles.push(format!("{name} is {status}: {}", row["reason"])),
        }
    }
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

#[test]
fn known_costs_are_met_and_lies_are_caught() {
    let report = Program::new().run(&["selftest", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    for liar in report["liars"].as_array().expect("liars") {
        assert_eq!(liar["passed"], true, "{liar}");
    }
    for truth in report["truths"].as_array().expect("truths") {
        // A debug build runs the same assembly; the bound is wide only for a machine shared with other tests.
        // There may be no frequency steady enough to tell cycles by.
        match truth["bias_percent"].as_f64() {
            Some(bias) => assert!(bias.abs() < 10.0, "{truth}"),
            None => println!("skipped: {}: {}", truth["name"], truth["reason"]),
        }
    }
}

#[test]
fn the_numbers_name_rows_that_exist() {
    let rows = Catalogue::rows(CATALOGUE.benchmarks());
    for (id, case) in syscost_results::numbers::sources() {
        let Some(benchmark) = CATALOGUE.find(id) else {
            continue;
        };
        let told = rows.iter().any(|row| {
            row.benchmark.id == benchmark.id
                && row.case.len() == case.len()
                && case.iter().all(|(key, value)| row.case.get(key) == *value)
        });
        assert!(told, "no row of {id} has {case:?}");
    }
}
