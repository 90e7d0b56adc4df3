//! The document of real runs: a contract with other tools.

use std::path::Path;
use std::process::Command;

use syscost_stats::order;

use crate::common::{Ending, Json, Program, row, rows};
use serde_json::Value;
use syscost_results::estimate::selection::Conversion;
use syscost_results::{Measurement, document};

/// That the document can be read; whether it fits its schema is asked by `cargo lab validate`.
fn assert_valid(run: &Value) {
    if let Err(error) = document::read(run.to_string().as_bytes()) {
        panic!("the document{error}");
    }
}

#[test]
fn the_document_is_written_where_it_is_asked_for_though_the_run_cannot_be_kept() {
    let program = Program::new();
    let document = program.folder().join("run.json");
    let run = "run syscall.null{call=getppid} --profile quick -o";
    let mut command = program.command(run);
    command.arg(&document).env("XDG_DATA_HOME", "/proc/absent");
    command.ended().says(1, "--no-save");
    let text = std::fs::read_to_string(&document).expect("the document");
    assert_valid(&serde_json::from_str(&text).expect("JSON"));
}

#[test]
fn a_real_run_fits_the_schema_and_the_contract() {
    let run = "run syscall.null timing.core_frequency --profile quick --no-save --format json";
    let run = Program::new().measure(run);
    assert_valid(&run);
    for field in [
        "schema_version",
        "tool",
        "id",
        "started",
        "duration_s",
        "machine",
        "clock",
        "core_ghz",
        "noise",
        "config",
        "warnings",
        "measurements",
    ] {
        assert!(run.get(field).is_some(), "{field}");
    }
    let getppid = row(&run, "syscall.null{call=getppid}");
    assert_eq!(getppid["id"], "syscall.null");
    assert_eq!(getppid["case"]["call"], "getppid");
    assert_eq!(
        (&getppid["unit"], &getppid["better"]),
        (&"ns".into(), &"lower".into())
    );
    // What would take every row its check mark is claimed of none.
    for row in rows(&run) {
        let mut claims = row["evidence"].list().iter().map(|one| one["claim"].text());
        let replaced = "functions of the C library that another file replaces";
        assert!(claims.all(|claim| claim != replaced), "{row}");
    }
    // How many processes count, and whether there is an interval, is a matter of the hour.
    let max_processes = 3 * run["config"]["max_rounds"].number() as usize;
    for row in rows(&run) {
        let Some(samples) = row.get("samples").and_then(Value::as_array) else {
            continue;
        };
        let processes = samples.len();
        assert!(processes <= max_processes, "{row}");
        let counts = row["estimate"]["rounds"].as_u64().unwrap_or(0);
        assert!(counts <= processes as u64, "{row}");
    }
    let has_interval = |row: &&Value| row["status"] == "ok" && row["estimate"]["ci95_low"].is_f64();
    for row in rows(&run).iter().filter(has_interval) {
        let number = |field: &str| row["estimate"][field].number();
        let (low, median, high) = (number("ci95_low"), number("median"), number("ci95_high"));
        assert!(0.0 < low && low <= median && median <= high, "{row}");
        assert!(number("min") <= median, "{row}");
        assert!(!row["evidence"].list().is_empty(), "{row}");
    }
}

#[test]
fn samples_can_be_left_out_and_runs_unsaved() {
    let program = Program::new();
    let file = program.put("run.json", "");
    let run = program.measure(&format!(
        "run syscall.null{{call=getppid}} --profile quick --format json --no-samples --no-save --output {file}"
    ));
    assert_valid(&run);
    let written = std::fs::read(file).expect("the file is written");
    let written: Value = serde_json::from_slice(&written).expect("JSON");
    assert_eq!(written, run, "the same document is in both places");
    assert!(rows(&run)[0].get("samples").is_none());
    assert!(!program.folder().join("syscost/runs").exists());
    assert!(
        program.journals().is_empty(),
        "a complete run leaves no journal"
    );
}

#[test]
fn rows_stand_in_the_order_of_the_catalogue() {
    let program = Program::new();
    let selectors = "signal.mask syscall.null{call=getppid} call.integer{arguments=0}";
    let run = program.measure(&format!(
        "run {selectors} --profile quick --no-save --format json"
    ));
    let names: Vec<&str> = rows(&run)
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    let list = program.json("list --format json");
    let order: Vec<&str> = list
        .list()
        .iter()
        .flat_map(|entry| entry["cases"].list())
        .filter_map(Value::as_str)
        .filter(|name| names.contains(name))
        .collect();
    assert_eq!(names, order);
}

#[test]
fn the_commit_is_the_one_that_the_program_was_built_of() {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        let output = git
            .arg("-C")
            .arg(env!("CARGO_MANIFEST_DIR"))
            .args(arguments)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    let is_repository = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../.git")
        .exists();
    let Some(commit) = git(&["rev-parse", "HEAD"]).filter(|_| is_repository) else {
        return println!("skipped: this is no repository");
    };
    let run = Program::new().json("run syscall.null --profile quick --budget 3 --format json");
    let said = run["machine"]["build"]["commit"].text();
    assert_eq!(said.trim_end_matches("-dirty"), &commit[..12]);
}

#[test]
fn a_refuted_claim_has_no_number_anywhere() {
    let program = Program::new();
    let run = program.json("run liar.nothing --profile quick --format json");
    let row = &rows(&run)[0];
    assert_eq!(row["status"], "withheld");
    assert_eq!(
        row["reason"],
        "getppid system calls per operation: expected 1, observed 0 (seccomp audit)"
    );
    for field in [
        "median",
        "ci95_low",
        "ci95_high",
        "min",
        "mad",
        "p99",
        "raw_median",
    ] {
        assert!(row["estimate"][field].is_null(), "{field}");
    }
    assert!(row["core_cycles"].is_null() && row.get("samples").is_none());
    let strict = program.run("run liar.nothing --profile quick --strict --no-save");
    assert_eq!(strict.code, Some(3));
}

#[test]
fn a_crash_and_a_hang_cost_one_row_each() {
    let program = Program::new();
    let run = program.measure("run liar.crash liar.hang syscall.null{call=getppid} --profile quick --time-limit 1 --format json");
    assert_eq!(row(&run, "liar.crash")["status"], "failed");
    assert_eq!(
        row(&run, "liar.crash")["reason"],
        "the worker was ended by signal 6"
    );
    assert_eq!(row(&run, "liar.hang")["status"], "failed");
    // And what it waited for a CPU, on a busy machine.
    let hang = row(&run, "liar.hang")["reason"].text();
    assert!(
        hang.starts_with("still running after 1 s") && hang.ends_with("; raise --time-limit"),
        "{hang}"
    );
    // Where no row is ever begun, that is why.
    let hasty = program
        .measure("run syscall.null{call=getppid} --profile quick --time-limit 0.001 --format json");
    let late = row(&hasty, "syscall.null{call=getppid}")["reason"].text();
    assert!(
        late.ends_with("still running after 0.001 s; raise --time-limit"),
        "{late}"
    );
    // The next row is lost at most to what others do.
    let next = row(&run, "syscall.null{call=getppid}");
    let reason = next["reason"].as_str().unwrap_or_default();
    let is_lost = reason.contains("worker") || reason.contains("still running");
    assert!(!is_lost, "{next}");
}

/// A row's rounds: the number of each, its median (of undisturbed samples if there are enough, at
/// the frequency at which the row's cost is given), and whether there are.
fn rounds_of(row: &Value) -> Vec<(u64, f64, bool)> {
    let row: Measurement = serde_json::from_value(row.clone()).expect("a row");
    let conversion = Conversion::of(&row);
    let rounds = row.samples.expect("samples").into_iter();
    rounds
        .map(|round| {
            let median = order::median(&round.best(conversion)).expect("a median");
            (u64::from(round.round), median, round.is_undisturbed())
        })
        .collect()
}

#[test]
#[ignore = "machine suite"]
fn a_computed_row_is_computed_from_rounds_of_rows_measured_along_with_it() {
    let program = Program::new();
    let run = program.json("run selftest.ratio --profile quick --format json");
    assert_valid(&run);
    let names: Vec<&str> = rows(&run)
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "selftest.spin{delay=5us}",
            "selftest.spin{delay=50us}",
            "selftest.ratio"
        ]
    );
    let ratio = row(&run, "selftest.ratio");
    assert_eq!(ratio["status"], "ok", "{ratio}");
    let [short, long] =
        ["selftest.spin{delay=5us}", "selftest.spin{delay=50us}"].map(|n| rounds_of(row(&run, n)));
    let ratios = |short: &[(u64, f64, bool)], long: &[(u64, f64, bool)]| -> Vec<(u64, f64)> {
        std::iter::zip(short, long)
            .map(|((round, short, _), (_, long, _))| (*round, long / short))
            .collect()
    };
    let in_common = |rounds: &[(u64, f64, bool)], others: &[(u64, f64, bool)]| -> Vec<_> {
        let mut common = rounds.to_vec();
        common.retain(|(round, ..)| others.iter().any(|(other, ..)| other == round));
        common
    };
    let undisturbed = |rounds: &[(u64, f64, bool)]| -> Vec<_> {
        let mut own = rounds.to_vec();
        own.retain(|(.., is_undisturbed)| *is_undisturbed);
        own
    };
    // From the rounds that both have, or from the undisturbed ones of each.
    let expected = [
        ratios(&in_common(&short, &long), &in_common(&long, &short)),
        ratios(&undisturbed(&short), &undisturbed(&long)),
    ];
    let computed: Vec<(u64, f64)> = rounds_of(ratio)
        .into_iter()
        .map(|(round, value, _)| (round, value))
        .collect();
    assert!(expected.contains(&computed), "{computed:?}: {expected:?}");
    // On a shared machine not every process counts.
    let counting = ratio["estimate"]["rounds"].as_u64().expect("a number");
    let max_rounds = run["config"]["max_rounds"].as_u64().expect("a number");
    assert!((2..=max_rounds).contains(&counting), "{ratio}");
}

#[test]
fn a_law_brings_the_throughputs_it_is_fitted_to() {
    let program = Program::new();
    let law = "scale.law{of=futex_wait,as=threads,term=contention}";
    let run = program.measure(&format!("run {law} --profile quick --format json"));
    assert_valid(&run);
    let (last, throughputs) = rows(&run).split_last().expect("rows");
    assert_eq!(last["name"], law);
    assert!(!throughputs.is_empty());
    for row in throughputs {
        assert_eq!(
            (&row["id"], &row["case"]["as"], &row["case"]["op"]),
            (&"scale.futex".into(), &"threads".into(), &"wait".into())
        );
    }
    // With fewer than four CPUs there is no law, and the row says so.
    if throughputs.len() < 4 {
        assert_eq!(last["status"], "unsupported");
        let reason = last["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("needs at least 4"), "{reason}");
        assert!(last["estimate"]["median"].is_null());
    }
}
