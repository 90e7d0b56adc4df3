//! Documents that say two things of one row.

use serde_json::{Value, json};

use super::super::read;
use super::{document, text_of};
use crate::estimate::{Rules, estimate};
use crate::fixture::{normal, row, run};
use crate::{Run, Status, Unit};

const NAME: &str = "syscall.null{call=getppid}";

/// A run of one row as the harness computes it: of samples at frequencies that wander.
fn honest() -> Run {
    let mut rng = fastrand::Rng::with_seed(4);
    let mut row = row(NAME, vec![Vec::new(); 7]);
    let rounds = row.samples.as_mut().expect("samples");
    for round in rounds.iter_mut() {
        round.usual_ghz = Some(3.0);
        for _ in 0..5 {
            let ghz = 3.0 * (1.0 + 0.02 * normal(&mut rng));
            round.sample_ghz.push(ghz);
            round
                .values
                .push(300.0 / ghz * (1.0 + 0.001 * normal(&mut rng)));
        }
    }
    let found = estimate(rounds, &Rules::new(Unit::Nanoseconds));
    row.estimate = found.estimate;
    row.core_cycles = found.core_cycles;
    row.core_share = found.core_share;
    row.between_runs = found.between_runs;
    assert!(row.core_share.is_some() && row.between_runs.is_some());
    assert!(row.core_cycles.is_some());
    run("one", vec![row])
}

/// What is said of the document after this change; `None` if it is read.
fn said(change: impl FnOnce(&mut Value)) -> Option<String> {
    let mut document = serde_json::to_value(honest()).expect("JSON");
    change(&mut document["measurements"][0]);
    read(&text_of(&document))
        .err()
        .map(|error| error.to_string())
}

/// Checks that the change is refused at this field, by the row's name, and for this.
fn refused(field: &str, problem: &str, change: impl FnOnce(&mut Value)) {
    let text = said(change).expect(problem);
    let begin = format!(", field measurements[0].{field}: `");
    assert!(text.starts_with(&begin) && text.contains(problem), "{text}");
}

fn scale(number: &mut Value, factor: f64) {
    *number = json!(number.as_f64().expect("a number") * factor);
}

#[test]
fn an_honest_document_is_read_with_samples_and_without() {
    assert_eq!(said(|_| {}), None);
    assert_eq!(said(|row| row["samples"] = Value::Null), None);
    // A method may be coarser than its samples.
    assert_eq!(
        said(|row| scale(&mut row["estimate"]["ci95_high"], 2.0)),
        None
    );
}

#[test]
fn figures_that_are_not_those_of_the_samples_are_refused() {
    refused("estimate", "its median is ", |row| {
        scale(&mut row["estimate"]["median"], 1.0001);
    });
    refused("estimate", "narrower than its samples allow", |row| {
        let median = row["estimate"]["median"].clone();
        row["estimate"]["ci95_low"] = median;
    });
    refused("estimate", "its median is ", |row| {
        let samples = row["samples"].as_array_mut().expect("rounds");
        for round in samples {
            let values = round["values"].as_array_mut().expect("values");
            values.iter_mut().for_each(|value| scale(value, 0.9));
        }
    });
    // Of an earlier build's conversion only the limits are known.
    let of_older_build = |factor: f64| {
        said(|row| {
            row["core_share"] = Value::Null;
            row["between_runs"] = Value::Null;
            for figure in ["median", "ci95_low", "ci95_high"] {
                scale(&mut row["estimate"][figure], factor);
            }
        })
    };
    assert_eq!(of_older_build(1.001), None);
    let text = of_older_build(1.5).expect("it lies beyond all samples");
    assert!(text.contains("its samples lie from"), "{text}");
}

#[test]
fn however_large_a_figure_is_it_is_said_in_few_letters() {
    for figure in [1e308, -1e300, 1e-300] {
        for change in [
            |row: &mut Value, figure| row["estimate"]["median"] = json!(figure),
            |row: &mut Value, figure| row["core_cycles"] = json!(figure),
            |row: &mut Value, figure| {
                row["samples"] = Value::Null;
                row["core_cycles"] = json!(figure);
            },
            |row: &mut Value, figure| {
                row["evidence"] = json!([{
                    "claim": "a count", "expected": "at most 1", "observed": figure,
                    "source": "x", "verdict": "Confirmed",
                }]);
            },
        ] {
            let text = said(|row| change(row, figure)).unwrap_or_default();
            assert!(text.len() < 400, "{text}");
        }
    }
}

#[test]
fn core_cycles_that_are_not_the_time_at_the_cores_frequency_are_refused() {
    refused("core_cycles", "those of its samples", |row| {
        scale(&mut row["core_cycles"], 1.01);
    });
    refused("core_cycles", "GHz, and the cores ran at", |row| {
        row["samples"] = Value::Null;
        scale(&mut row["core_cycles"], 3.0);
    });
    refused("core_cycles", "another unit", |row| {
        row["samples"] = Value::Null;
        row["unit"] = json!("op/s");
    });
}

#[test]
fn a_name_is_that_of_its_benchmark_with_the_parameters_of_its_case() {
    refused("name", "no row of its benchmark, `syscall.nul`", |row| {
        row["id"] = json!("syscall.nul");
    });
    for case in [
        json!({}),
        json!({"call": "getpid"}),
        json!({"call": "getppid", "via": "libc"}),
    ] {
        refused("name", "its case is another one", |row| row["case"] = case);
    }
}

#[test]
fn a_claim_is_confirmed_only_if_what_was_observed_is_what_was_expected() {
    let judged = |expected: &Value, observed: &Value, reason: Option<&str>| {
        said(|row| {
            row["evidence"] = json!([{
                "claim": "calls", "expected": expected, "observed": observed,
                "source": "seccomp audit", "verdict": "Confirmed", "reason": reason
            }]);
        })
    };
    let single = Some("a single one in 4 operations");
    for (expected, observed, reason) in [
        (json!(1.0), json!(1.0), None),
        (json!("at most 0.01"), json!(0.01), None),
        (json!("0.95 to 1.05"), json!(1.0), None),
        (json!("at least 50"), json!(51.0), None),
        (json!("at most 0.01"), json!(0.25), single),
        (json!("equal"), json!("equal"), None),
        (json!("any"), json!("network"), None),
    ] {
        assert_eq!(judged(&expected, &observed, reason), None);
    }
    for (expected, observed, reason) in [
        (json!(1.0), json!(0.0), None),
        (json!(1.0), json!("none"), None),
        (json!(1.0), Value::Null, None),
        (json!("at most 0.01"), json!(0.02), None),
        (json!("0.95 to 1.05"), json!(2.0), None),
        (json!("at least 50"), json!(7.0), None),
        (json!("at most 0.01"), json!(0.5), single),
        (json!(0.0), json!(0.25), single),
        (json!("at most 0.01"), json!(0.25), Some("who knows")),
    ] {
        let text = judged(&expected, &observed, reason).expect("it contradicts itself");
        let said = format!("measurements[0].evidence[0]: `{NAME}`: marked confirmed: calls: ");
        assert!(text.contains(&said), "{text}");
    }
}

#[test]
fn a_cache_of_about_the_reported_size_is_the_reported_one() {
    let judged = |observed: f64| {
        let mut document = document();
        document["measurements"][0]["evidence"] = json!([{
            "claim": "size of the cache as the system tells it", "expected": 49152.0,
            "observed": observed, "source": "sysfs", "verdict": "Confirmed"
        }]);
        read(&text_of(&document))
    };
    assert!(judged(52605.0).is_ok() && judged(100e3).is_err());
}

#[test]
fn what_is_estimated_of_any_unit_and_number_of_processes_is_read() {
    for unit in Unit::ALL {
        for processes in [
            [2.0, 40.0, 60.0, 0.0, 99.0, 100.0],
            [0.0, 0.0, 0.001, 0.0, 0.0, 0.002],
        ] {
            for count in 1..=processes.len() {
                let rounds = processes[..count].iter().map(|value| vec![*value; 4]);
                let mut row = row(NAME, rounds.collect());
                row.unit = unit;
                let rounds = row.samples.as_ref().expect("samples");
                let found = estimate(rounds, &Rules::new(unit));
                row.estimate = found.estimate;
                row.core_share = found.core_share;
                row.between_runs = found.between_runs;
                let run = run("one", vec![row]);
                let document = serde_json::to_value(&run).expect("JSON");
                let read = read(&text_of(&document));
                assert!(read.is_ok(), "{unit:?} of {count}: {:?}", read.err());
            }
        }
    }
}

#[test]
fn a_row_that_contradicts_itself_is_withheld_by_its_writer() {
    let mut run = honest();
    run.withhold_contradictions();
    assert_eq!(run, honest(), "nothing is taken from an honest row");
    run.measurements[0].estimate.median = Some(1.0);
    run.withhold_contradictions();
    let row = &run.measurements[0];
    assert_eq!(row.status, Status::Withheld);
    let reason = row.reason.as_deref().unwrap_or_default();
    assert!(
        reason.contains("its own `estimate` contradicts it"),
        "{reason}"
    );
    let document = serde_json::to_value(&run).expect("JSON");
    assert!(read(&text_of(&document)).is_ok());
}
