//! What did not go well in a machine, held against what is expected of it.

use std::fmt;

use serde_json::Value;
use syscost_benches::CATALOGUE;
use syscost_results::{Run, Status, document};

use crate::invariants::violations;
use crate::listed::measured;

use super::boot::{Booted, Taken};
use super::list::{Expected, List, Machine, Prints, Step};

/// How much of what was said is shown, in characters.
const SHOWN: usize = 400;

/// Something that did not go as on a machine where all goes well.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The step that shows it.
    pub(super) step: String,
    /// The step itself, a row, a fact.
    pub(super) at: String,
    /// How it ended, or what it is.
    pub(super) is: String,
    /// What was said of it.
    pub(super) said: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.said.split_whitespace().collect::<Vec<_>>().join(" ");
        let said: String = said.chars().take(SHOWN).collect();
        write!(f, "{}: {} {}: {said}", self.step, self.at, self.is)
    }
}

/// All that did not go well.
pub(super) fn findings(list: &List, machine: &Machine, booted: &Booted) -> Vec<Finding> {
    let mut found = Vec::new();
    for step in list.steps(machine) {
        let mut seen = Seen {
            step,
            found: &mut found,
        };
        let taken = booted.steps.iter().find(|taken| taken.name == step.name);
        match taken.and_then(|taken| Some((taken, taken.code?))) {
            Some((taken, code)) => seen.step(list, machine, taken, code),
            // Nothing comes after it.
            None => {
                let is = taken.map_or("not begun", |_| "not ended");
                seen.add(&step.name, is, last_lines(&booted.printed));
                break;
            }
        }
    }
    found
}

/// The commit that the program was built of, as it says.
pub(super) fn commit(booted: &Booted) -> Option<String> {
    let documents = booted
        .steps
        .iter()
        .map(|step| serde_json::from_slice::<Value>(&step.out));
    let mut commits = documents
        .flatten()
        .filter_map(|document| Some(document["machine"]["build"]["commit"].as_str()?.to_owned()));
    commits.next().map(|commit| match commit.split_once('-') {
        None => commit.chars().take(8).collect(),
        Some((commit, changes)) => format!("{commit:.8}-{changes}"),
    })
}

/// What a step printed, in a few words: how many rows have a number, how many tests passed.
pub(super) fn summary(step: &Step, taken: &Taken) -> Option<String> {
    match step.prints? {
        Prints::Run => Some(measured(&document::read(&taken.out).ok()?)),
        Prints::Tests => {
            let [passed, failed] = ["ok", "FAILED"].map(|end| tests(&taken.out, end).len());
            Some(format!("{passed} of {}", passed + failed))
        }
        Prints::Catalogue | Prints::Doctor | Prints::Selftest => None,
    }
}

/// The tests that ended so, by what programs of tests print: `test name ... ok`.
fn tests(printed: &[u8], end: &str) -> Vec<String> {
    let printed = String::from_utf8_lossy(printed);
    let tests = printed.lines().filter_map(|line| {
        let (name, ended) = line.strip_prefix("test ")?.split_once(" ... ")?;
        // What a test itself prints may stand between.
        ended.ends_with(end).then(|| name.to_owned())
    });
    tests.collect()
}

/// Whether each program of tests that began said in the end what came of it, and any began.
fn are_whole(printed: &[u8]) -> bool {
    let printed = String::from_utf8_lossy(printed);
    let lines = |begin| {
        printed
            .lines()
            .filter(|line| line.starts_with(begin))
            .count()
    };
    let begun = lines("running ");
    begun > 0 && begun == lines("test result: ")
}

/// What a step shows.
struct Seen<'a> {
    step: &'a Step,
    found: &'a mut Vec<Finding>,
}

impl Seen<'_> {
    fn add(&mut self, at: impl Into<String>, is: impl Into<String>, said: impl Into<String>) {
        self.found.push(Finding {
            step: self.step.name.clone(),
            at: at.into(),
            is: is.into(),
            said: said.into(),
        });
    }

    fn step(&mut self, list: &List, machine: &Machine, taken: &Taken, code: i32) {
        let err = String::from_utf8_lossy(&taken.err);
        if code != 0 {
            self.add(&self.step.name, format!("exit {code}"), &*err);
        }
        if err.contains("panicked") {
            self.add(&self.step.name, "panicked", &*err);
        }
        let document = || serde_json::from_slice::<Value>(&taken.out).ok();
        let is_read = match self.step.prints {
            Some(Prints::Catalogue) => document().map(|document| self.cases(&document)),
            Some(Prints::Doctor) => document().map(|document| self.facts(list, machine, document)),
            Some(Prints::Selftest) => document().map(|document| self.controls(&document)),
            Some(Prints::Run) => document::read(&taken.out)
                .ok()
                .map(|run| self.rows(list, &run)),
            Some(Prints::Tests) => {
                for name in tests(&taken.out, "FAILED") {
                    self.add(name, "fail", "");
                }
                are_whole(&taken.out).then_some(())
            }
            None => Some(()),
        };
        if is_read.is_none() {
            self.add(
                &self.step.name,
                "no document",
                String::from_utf8_lossy(&taken.out),
            );
        }
    }

    /// The cases that cannot be measured.
    fn cases(&mut self, document: &Value) {
        let benchmarks = document.as_array().into_iter().flatten();
        for benchmark in benchmarks.filter(|one| one["support"] != "yes") {
            // `{values}: reason; {values}: reason`
            for case in words(&benchmark["reason"]).split("; {") {
                let (values, reason) = case.split_once("}: ").unwrap_or(("", case));
                let values = values.trim_start_matches('{');
                let name = format!("{}{{{values}}}", words(&benchmark["id"]));
                self.add(name, "unsupported", reason);
            }
        }
    }

    /// The facts that are not those of this machine.
    fn facts(&mut self, list: &List, machine: &Machine, mut document: Value) {
        // By their codes instead of one after the other.
        let findings = document["findings"].take();
        let findings = findings.as_array().into_iter().flatten();
        document["findings"] = findings
            .map(|one| (words(&one["code"]), one.clone()))
            .collect();
        for (path, expected) in list.facts(machine) {
            let fact = document.pointer(path);
            let is_near = match (expected, fact.and_then(Value::as_f64)) {
                // What is measured, too.
                (Value::Number(wanted), Some(found)) if wanted.is_f64() => wanted
                    .as_f64()
                    .is_some_and(|wanted| (found - wanted).abs() <= 0.01 * wanted),
                _ => false,
            };
            let fact = fact.map_or_else(|| "absent".to_owned(), words);
            let expected = words(expected);
            if fact != expected && !is_near {
                self.add(path, fact, format!("not {expected}"));
            }
        }
    }

    /// The controls that failed.
    fn controls(&mut self, document: &Value) {
        let parts = ["truths", "liars", "interference"].map(|part| document[part].as_array());
        let tests = parts.into_iter().flatten().flatten();
        for test in tests.filter(|test| test["outcome"] == "fail") {
            self.add(words(&test["name"]), "fail", words(&test["reason"]));
        }
    }

    /// The rows that have no number or one that cannot be, and what is inconsistent in the document.
    fn rows(&mut self, list: &List, run: &Run) {
        for what in violations(run, &CATALOGUE) {
            self.add(&self.step.name, "inconsistent", what);
        }
        let number = |name: &str| {
            let row = run.measurements.iter().find(|row| row.name == name)?;
            row.estimate.median.filter(|_| row.status == Status::Ok)
        };
        for row in &run.measurements {
            if row.status != Status::Ok {
                let reason = row.reason.as_deref().unwrap_or_default();
                self.add(&row.name, row.status.words(), reason);
            }
            for dearer in list.dearer.iter().filter(|one| one.is_of(&row.name)) {
                if let (Some(own), Some(other)) = (number(&row.name), number(&dearer.than))
                    && own < other
                {
                    self.add(
                        &row.name,
                        "too cheap",
                        format!("{own} ns, {} {other} ns", dearer.than),
                    );
                }
            }
        }
    }
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
pub(super) fn verdict<'a>(
    list: &'a List,
    machine: &str,
    booted: &Booted,
    found: &'a [Finding],
) -> Verdict<'a> {
    let expected: Vec<&Expected> = list
        .expected
        .iter()
        .filter(|one| one.is_of(machine))
        .collect();
    let is_expected = |finding: &&Finding| expected.iter().any(|one| one.is_met_by(finding));
    let (known, unexpected): (Vec<_>, Vec<_>) = found.iter().partition(is_expected);
    // A step that failed shows less than it would have.
    let is_whole = |name: &str| {
        let mut steps = booted.steps.iter();
        steps.any(|step| step.name == name && step.code == Some(0))
    };
    let is_missing = |one: &Expected| {
        let is_due = !one.sometimes && is_whole(&one.step);
        is_due && !found.iter().any(|finding| one.is_met_by(finding))
    };
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LISTED: &str = r#"[
        {"id": "op.simd", "support": "partly", "reason": "{bits=256}: no AVX2; {bits=512}: no AVX-512"},
        {"id": "op.float", "support": "yes", "reason": null}
    ]"#;

    /// What the verdict on a machine is that takes only the step `list`, and prints this.
    fn complaints(out: &str, code: Option<i32>, expected: &str) -> Vec<String> {
        let mut list = List::read().expect("a list");
        list.step.retain(|step| step.name == "list");
        let machine = list.machine[0].clone();
        list.expected = vec![toml::from_str(expected).expect("an expectation")];
        let booted = Booted {
            steps: vec![Taken {
                name: "list".to_owned(),
                code,
                out: out.into(),
                err: Vec::new(),
            }],
            printed: "@@begin list".to_owned(),
            took: Duration::ZERO,
        };
        let found = findings(&list, &machine, &booted);
        let verdict = verdict(&list, &machine.name, &booted, &found);
        let unexpected = verdict.unexpected.iter().map(ToString::to_string);
        let missing = verdict.missing.iter().map(|one| format!("missing {one}"));
        unexpected.chain(missing).collect()
    }

    #[test]
    fn what_is_found_and_not_expected_and_what_is_expected_and_not_found_is_told() {
        const AVX512: &str = "step = 'list'\nsaid = 'AVX-512'\nbecause = 'an old one'";
        let avx2 = "list: op.simd{bits=256} unsupported: no AVX2";
        assert_eq!(complaints(LISTED, Some(0), AVX512), [avx2]);
        let missing = "missing list: * * AVX-512";
        assert_eq!(complaints("[]", Some(0), AVX512), [missing]);
        assert_eq!(
            complaints("[]", Some(0), &format!("{AVX512}\nsometimes = true")),
            [""; 0]
        );
        assert_eq!(
            complaints("", Some(0), AVX512),
            ["list: list no document: ", missing]
        );
    }

    #[test]
    fn tests_are_counted_by_how_their_lines_end() {
        let printed = b"test a::b ... ok\ntest c ... printed\nFAILED\ntest d ... said: FAILED\ntest e ... ignored\n";
        assert_eq!(tests(printed, "ok"), ["a::b"]);
        assert_eq!(tests(printed, "FAILED"), ["d"]);
        assert!(!are_whole(b"sh: /tests/0: not found"));
        assert!(!are_whole(
            b"running 2 tests\ntest a ... ok\nSegmentation fault"
        ));
        assert!(are_whole(
            b"running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed"
        ));
    }

    #[test]
    fn a_step_that_did_not_end_is_told_alone() {
        let expected = "step = 'list'\nbecause = 'so'\nis = 'exit *'";
        assert_eq!(
            complaints(LISTED, None, expected),
            ["list: list not ended: @@begin list"]
        );
        assert_eq!(complaints("[]", Some(2), expected), [""; 0]);
    }
}
