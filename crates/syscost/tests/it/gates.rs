//! What `compare --fail-on` judges, and its exit codes.

use crate::common::comparing::{ROW, compare, keep, program, slowed};
use crate::common::{Ended, Ending, Json, Program};
use serde_json::{Value, json};

#[test]
fn on_a_shared_core_only_what_sharing_cannot_explain_fails_a_gate() {
    let (program, run) = program();
    let gate = |factor, is_shared: fn(&Value) -> bool| {
        let mut sides = [run.clone(), slowed(&run, factor)];
        for row in sides
            .iter_mut()
            .flat_map(|side| side["measurements"].list_mut())
        {
            if !is_shared(row) {
                continue;
            }
            row["flags"] = json!(["disturbed"]);
            row["sharing"] = json!({"limit": 1.06, "basis": "gap"});
            // Neighbours slow each sample by the same.
            for round in row["samples"].list_mut() {
                let samples = round["values"].list().len();
                round["ratios"] = json!(vec![1400; samples]);
                round["own_limit"] = json!(1.06);
            }
        }
        keep(&program, "base", &sides[0]);
        keep(&program, "new", &sides[1]);
        // A gate prints its result whatever else is silenced.
        let judged = compare(&program, "base.json new.json --fail-on worse -q");
        judged.prints("1 worse");
        judged
    };
    let one = |row: &Value| row["name"] == ROW;
    gate(1.2, one).says(0, "1 on a shared core on one side or both");
    gate(1.2, |_| true).says(1, "cannot tell");
    gate(3.0, one).says(3, "the gate failed");
    gate(3.0, |_| true).says(3, "the gate failed");
}

/// Why noise kept a row from having a number.
const NOISE: &str = "something else ran on its core whenever it was due";

#[test]
fn a_row_lost_to_noise_fails_no_gate() {
    let (program, run) = program();
    let lost = |name: &str, rows: usize, reason: &str| {
        let mut new = run.clone();
        let all = new["measurements"].list_mut();
        for row in all.iter_mut().take(rows) {
            (row["status"], row["reason"]) = (json!("failed"), json!(reason));
        }
        keep(&program, name, &new);
    };
    lost("noise", 1, NOISE);
    lost("only_noise", usize::MAX, NOISE);
    lost("failure", 1, "open: permission denied");
    lost("only_failures", usize::MAX, "open: permission denied");
    for (new, expected, words) in [
        ("noise.json", 0, "1 not compared"),
        ("only_noise.json", 1, "cannot tell"),
        ("failure.json", 3, "the gate failed"),
        ("only_failures.json", 3, "the gate failed"),
    ] {
        let gate = format!("base.json {new} --fail-on worse");
        compare(&program, &gate).says(expected, words);
    }
}

#[test]
fn a_gate_with_nothing_to_judge_is_not_passed() {
    let (program, run) = program();
    let mut other = run.clone();
    other["measurements"] = json!([]);
    other["config"]["selectors"] = json!(["call"]);
    keep(&program, "other", &other);
    compare(&program, "base.json other.json --fail-on worse").says(1, "cannot tell");
    let mut fewer = slowed(&run, 1.0);
    fewer["measurements"].list_mut().pop();
    fewer["config"]["selectors"] = json!([ROW]);
    keep(&program, "fewer", &fewer);
    // Less was asked for.
    compare(&program, "base.json fewer.json --fail-on worse").says(0, "1 not compared");
}

#[test]
fn a_row_that_is_no_longer_there_fails_the_gate() {
    let (program, run) = program();
    let lost = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut new = run.clone();
        change(&mut new["measurements"]);
        keep(&program, name, &new);
        let new = format!("{name}.json");
        compare(&program, &format!("base.json {new} --fail-on worse:5%"))
    };
    let status = |status: &'static str, reason: &'static str| {
        move |rows: &mut Value| {
            (rows[0]["status"], rows[0]["reason"]) = (json!(status), json!(reason));
        }
    };
    for judged in [
        lost("unsupported", &status("unsupported", "no such call")),
        lost("skipped", &status("skipped", "interrupted")),
        lost("withheld", &status("withheld", "counted 0")),
        lost("missing", &|rows| drop(rows.list_mut().remove(0))),
        lost("unit", &|rows| rows[0]["unit"] = json!("count")),
        lost("revision", &|rows| rows[0]["revision"] = json!(9)),
    ] {
        judged.says(3, " is lost on the new side (");
    }
    lost("time", &status("skipped", "the time budget was spent")).succeeded();
}

#[test]
fn what_others_take_fails_no_gate() {
    let (program, mut run) = program();
    // A row of the hour: what others took tripled.
    let row = |run: &mut Value| {
        let row = &mut run["measurements"][0];
        (row["id"], row["name"]) = (json!("timing.noise"), json!("timing.noise{cpu=0}"));
        row["case"] = json!({"cpu": "0"});
        row["name"].clone()
    };
    let name = row(&mut run);
    keep(&program, "base", &run);
    let mut new = run.clone();
    for figure in ["median", "ci95_low", "ci95_high"] {
        new["measurements"][0]["estimate"][figure] = json!(300.0);
    }
    for round in new["measurements"][0]["samples"].list_mut() {
        round["values"] = json!([300.0, 300.0, 300.0]);
    }
    keep(&program, "new", &new);
    let judged = compare(&program, "base.json new.json -v --fail-on worse:5%");
    let text = judged.succeeded().out;
    assert!(!text.contains(name.text()), "{text}");
}

#[test]
fn a_document_that_contradicts_itself_is_printed_by_nothing() {
    let (program, run) = program();
    let evidence = |verdict: &str| {
        json!([{
            "claim": "getppid system calls per operation", "expected": 1.0, "observed": 0.0,
            "source": "seccomp audit", "verdict": verdict
        }])
    };
    let with = |change: &dyn Fn(&mut Value)| {
        let mut run = run.clone();
        change(&mut run["measurements"][0]);
        keep(&program, "liar", &run);
    };
    with(&|row| row["evidence"] = evidence("Refuted"));
    is_printed_by_nothing(&program, "has a number that this evidence refutes");
    with(&|row| row["evidence"] = evidence("Confirmed"));
    let said = "marked confirmed: getppid system calls per operation: expected 1, observed 0";
    is_printed_by_nothing(&program, said);
    with(&|row| row["estimate"]["median"] = json!(100.04));
    is_printed_by_nothing(&program, "its median is 100.04, that of its samples 100.02");
    with(&|row| row["estimate"]["ci95_low"] = json!(100.02));
    is_printed_by_nothing(&program, "narrower than its samples allow");
    with(&|row| row["core_cycles"] = json!(90_000.0));
    is_printed_by_nothing(&program, " GHz, and the cores ran at ");
    with(&|row| row["case"] = json!({"call": "another"}));
    is_printed_by_nothing(&program, "its case is another one: {call=another}");
}

/// Checks that no command prints `liar.json`, and that all say what is wrong with its first row.
fn is_printed_by_nothing(program: &Program, why: &str) {
    for command in [
        "show liar.json",
        "show --summary liar.json",
        "compare base.json liar.json",
        "export liar.json --format openmetrics",
        "export liar.json --format bencher",
    ] {
        let mut command = program.command(command);
        let output = command.current_dir(program.folder()).ended();
        let said = output.err;
        assert!(
            output.code != Some(0) && output.out.is_empty(),
            "{command:?}: {said}"
        );
        let place = "liar.json, field measurements[0].";
        assert!(
            said.contains(place) && said.contains(why),
            "{command:?}: {said}"
        );
    }
}

#[test]
fn a_noisy_run_does_not_pass_by_being_inconclusive() {
    let (program, run) = program();
    let rows = run["measurements"].list().len();
    let judged = |new: &str, percent: &str| -> Ended {
        let gate = format!("base.json {new} --fail-on worse --min-conclusive {percent}");
        compare(&program, &gate)
    };
    // What the new run was not to measure does not count.
    let mut fewer = slowed(&run, 1.0);
    fewer["measurements"].list_mut().pop();
    fewer["config"]["selectors"] = json!([ROW]);
    keep(&program, "fewer", &fewer);
    judged("fewer.json", "100%").succeeded();
    // What noise kept from it does, and what neither side could measure.
    let lose_last = |run: &serde_json::Value| {
        let mut run = run.clone();
        let all = run["measurements"].list_mut();
        let last = all.last_mut().expect("a row");
        (last["status"], last["reason"]) = (json!("failed"), json!(NOISE));
        run
    };
    keep(&program, "noise", &lose_last(&slowed(&run, 1.0)));
    let words = format!("of {rows} rows {} are no worse", rows - 1);
    judged("noise.json", "100%")
        .says(1, &words)
        .says(1, "asks for 100 %");
    keep(&program, "base", &lose_last(&run));
    assert_eq!(judged("noise.json", "100%").code, Some(1));
    judged("noise.json", "1%").succeeded();
    let alone = compare(&program, "base.json noise.json --min-conclusive 10%");
    assert_eq!(alone.code, Some(2), "it needs a gate");
}
