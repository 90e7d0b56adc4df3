//! Runs to compare, made steady so that noise does not matter.

use serde_json::{Value, json};

use super::{Ended, Ending, Json, Program, recorded_of};

pub(crate) const ROW: &str = "syscall.null{call=getppid}";

/// A program with a run `base.json` of null system calls, which is steady.
pub(crate) fn program() -> (Program, Value) {
    let program = Program::new();
    let mut run = recorded_of(&["syscall.null"]);
    for row in run["measurements"].list_mut() {
        row["status"] = json!("ok");
        row["reason"] = Value::Null;
        row["flags"] = json!([]);
        let figures = [
            ("median", 2.5),
            ("raw_median", 2.5),
            ("ci95_low", 0.0),
            ("ci95_high", 5.0),
            ("min", 0.0),
        ];
        for (field, steps) in figures {
            row["estimate"][field] = json!(100.0 + 0.01 * steps);
        }
        row["estimate"]["rounds"] = json!(6);
        for field in ["core_cycles", "core_share", "between_runs"] {
            row[field] = Value::Null;
        }
        row["estimate"]["clock_grain"] = Value::Null;
        let rounds = (0..6).map(|round| {
            let level = 100.0 + 0.01 * f64::from(round);
            json!({"round": round, "cpu": 0, "iterations": 1, "core_ghz": null, "values": vec![level; 5]})
        });
        row["samples"] = rounds.collect();
    }
    keep(&program, "base", &run);
    (program, run)
}

/// Writes a run under a name, which becomes its id.
pub(crate) fn keep(program: &Program, name: &str, run: &Value) {
    let mut run = run.clone();
    run["id"] = json!(name);
    program.put(&format!("{name}.json"), run.to_string());
}

/// The run with one row slower by a factor.
pub(crate) fn slowed(run: &Value, factor: f64) -> Value {
    let mut run = run.clone();
    let rows = run["measurements"].list_mut();
    let row = rows
        .iter_mut()
        .find(|row| row["name"] == ROW)
        .expect("the row");
    let scale = |value: &mut Value| *value = json!(value.number() * factor);
    for field in ["median", "ci95_low", "ci95_high"] {
        scale(&mut row["estimate"][field]);
    }
    for round in row["samples"].list_mut() {
        round["values"].list_mut().iter_mut().for_each(scale);
    }
    run
}

/// Compares runs of the data directory.
pub(crate) fn compare(program: &Program, arguments: &str) -> Ended {
    program
        .command(&format!("compare {arguments}"))
        .current_dir(program.folder())
        .ended()
}
