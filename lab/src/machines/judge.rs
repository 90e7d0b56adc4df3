//! What did not go well in a machine, held against what is expected of it.

use std::fmt;

use serde_json::Value;
use syscost_benches::CATALOGUE;
use syscost_results::{Status, document};

use crate::invariants::violations;

use super::boot::{Booted, Taken};
use super::list::{Expected, List, Machine};

/// Something that did not go as on a machine where all goes well.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// A step, a row, a fact.
    pub(super) at: String,
    /// How it ended, or what it is.
    pub(super) is: String,
    /// What was said of it.
    pub(super) said: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.said.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(f, "{} {}: {said}", self.at, self.is)
    }
}

/// All that did not go well.
pub(super) fn findings(list: &List, machine: &Machine, booted: &Booted) -> Vec<Finding> {
    let mut found = Vec::new();
    for step in list.steps(machine) {
        match booted.steps.iter().find(|taken| taken.name == step.name) {
            Some(taken) => found.extend(of_step(list, machine, taken)),
            None => found.push(finding(
                &step.name,
                "not begun",
                last_lines(&booted.printed),
            )),
        }
    }
    found
}

fn finding(at: impl Into<String>, is: impl Into<String>, said: impl Into<String>) -> Finding {
    Finding {
        at: at.into(),
        is: is.into(),
        said: said.into(),
    }
}

fn of_step(list: &List, machine: &Machine, taken: &Taken) -> Vec<Finding> {
    let err = String::from_utf8_lossy(&taken.err);
    let mut found = Vec::new();
    match taken.code {
        Some(0) => {}
        Some(code) => found.push(finding(&taken.name, format!("exit {code}"), &*err)),
        None => return vec![finding(&taken.name, "not ended", "")],
    }
    if err.contains("panicked") {
        found.push(finding(&taken.name, "panicked", &*err));
    }
    match &*taken.name {
        "list" => found.extend(of_list(&taken.out)),
        "doctor" => found.extend(of_doctor(list, machine, &taken.out)),
        "run" => found.extend(of_run(&taken.out)),
        _ => {}
    }
    found
}

/// The benchmarks that cannot be measured, or not in all their cases.
fn of_list(out: &[u8]) -> Vec<Finding> {
    let Ok(benchmarks) = serde_json::from_slice::<Vec<Value>>(out) else {
        return vec![finding("list", "no document", "")];
    };
    let text = |benchmark: &Value, key: &str| words(&benchmark[key]);
    let lacking = benchmarks.iter().filter(|one| one["support"] != "yes");
    let lacking = lacking.map(|one| {
        let is = format!("listed {}", text(one, "support"));
        finding(text(one, "id"), is, text(one, "reason"))
    });
    lacking.collect()
}

/// The facts that are not those of this machine.
fn of_doctor(list: &List, machine: &Machine, out: &[u8]) -> Vec<Finding> {
    let Ok(mut document) = serde_json::from_slice::<Value>(out) else {
        return vec![finding("doctor", "no document", "")];
    };
    // By their codes instead of one after the other.
    let findings = document["findings"].take();
    let by_code = findings.as_array().into_iter().flatten();
    document["findings"] = by_code
        .map(|one| (words(&one["code"]), one.clone()))
        .collect();
    let mut found = Vec::new();
    for (path, expected) in list.facts(machine) {
        let fact = document.pointer(path).unwrap_or(&Value::Null);
        if fact != expected {
            found.push(finding(
                path,
                words(fact),
                format!("not {}", words(expected)),
            ));
        }
    }
    found
}

/// The rows that have no number, and what is inconsistent in the document.
fn of_run(out: &[u8]) -> Vec<Finding> {
    let run = match document::read(out) {
        Ok(run) => run,
        Err(error) => return vec![finding("run", "no document", error.to_string())],
    };
    let violations = violations(&run, &CATALOGUE).into_iter();
    let mut found: Vec<Finding> = violations
        .map(|what| finding("run", "inconsistent", what))
        .collect();
    for row in run
        .measurements
        .iter()
        .filter(|row| row.status != Status::Ok)
    {
        let reason = row.reason.as_deref().unwrap_or_default();
        found.push(finding(&row.name, row.status.words(), reason));
    }
    found
}

/// Text without its quotation marks, anything else as it is in a document.
fn words(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// What ends a text, where the reason for its end usually is.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("; ")
}

/// What was found and is not expected, and what is expected and was not found.
#[derive(Debug, Default)]
pub(super) struct Verdict<'a> {
    pub(super) unexpected: Vec<&'a Finding>,
    pub(super) missing: Vec<&'a Expected>,
    /// How much of what was found is expected.
    pub(super) expected: usize,
}

/// Holds what was found on a machine against what is expected of it.
pub(super) fn verdict<'a>(list: &'a List, machine: &str, found: &'a [Finding]) -> Verdict<'a> {
    let expected: Vec<&Expected> = list
        .expect
        .iter()
        .filter(|one| one.is_of(machine))
        .collect();
    let is_expected = |finding: &&Finding| expected.iter().any(|one| one.is_met_by(finding));
    let (known, unexpected): (Vec<_>, Vec<_>) = found.iter().partition(is_expected);
    let is_missing =
        |one: &&Expected| !one.sometimes && !found.iter().any(|finding| one.is_met_by(finding));
    Verdict {
        unexpected,
        missing: expected
            .iter()
            .copied()
            .filter(|one| is_missing(one))
            .collect(),
        expected: known.len(),
    }
}
