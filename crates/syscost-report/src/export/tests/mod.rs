//! Every export format of a hand-made run, as other tools see it.

mod ktap_reader;
mod property;

use std::collections::BTreeSet;

use insta::assert_snapshot;
use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::{Flag, RoundSamples, Run, Status};

use super::*;
use crate::fixture;

/// The fixture with what only exports contain: a host, samples.
pub(super) fn run() -> Run {
    let mut run = fixture::run();
    run.machine.hostname = "imaginary".to_owned();
    let samples = |raw: Vec<f64>| {
        vec![RoundSamples {
            round: 0,
            cpu: 1,
            iterations: 4096,
            core_ghz: Some(3.69),
            sample_ghz: vec![3.69, 0.0, 3.71],
            usual_ghz: Some(3.7),
            alone_percent: Some(61.5),
            values: vec![79.0, 80.5, 77.1],
            raw,
            disturbed: vec![Disturbance {
                sample: 1,
                cause: Cause::SharedCore,
            }],
            ..RoundSamples::default()
        }]
    };
    row_mut(&mut run, "syscall.null{call=getppid}").samples = Some(samples(vec![]));
    row_mut(&mut run, "signal.catch").samples = Some(samples(vec![81.0, 82.5, 79.1]));
    run
}

pub(super) fn row_mut<'a>(run: &'a mut Run, name: &str) -> &'a mut syscost_results::Measurement {
    run.measurements
        .iter_mut()
        .find(|row| row.name == name)
        .expect("a row of the fixture")
}

/// The run with every number that a withheld, failed, unsupported or skipped row could hold in
/// breach of the rules.
fn with_forbidden_numbers() -> Run {
    let mut run = run();
    let full = fixture::row(&run, "syscall.null{call=getppid}").clone();
    for row in &mut run.measurements {
        if row.status == Status::Ok {
            continue;
        }
        let samples = row.estimate.samples;
        row.estimate = syscost_results::Estimate {
            median: Some(66.6),
            ci95_low: Some(66.6),
            ci95_high: Some(66.6),
            min: Some(66.6),
            mad: Some(66.6),
            raw_median: Some(66.6),
            samples,
            ..full.estimate.clone()
        };
        row.core_cycles = Some(66.6);
        row.details.insert("median_ns".to_owned(), 66.6);
        if row.status == Status::Withheld {
            row.samples = full.samples.clone();
            for value in row.samples.iter_mut().flatten().flat_map(|r| &mut r.values) {
                *value = 66.6;
            }
        }
    }
    run.measurements
        .retain(|row| row.status != Status::BelowResolution);
    run
}

#[test]
fn csv() {
    assert_snapshot!(to_csv(&[&run()]).expect("written"));
}

#[test]
fn markdown() {
    assert_snapshot!(to_markdown(&[&run()]));
}

#[test]
fn jsonl() {
    assert_snapshot!(to_jsonl(&[&run()]).expect("written"));
}

#[test]
fn openmetrics() {
    assert_snapshot!(to_openmetrics(&[&run()]).expect("written"));
}

#[test]
fn bencher() {
    assert_snapshot!(to_bencher(&run()).expect("written"));
}

#[test]
fn ktap() {
    assert_snapshot!(to_ktap(&[&run()]));
}

#[test]
fn a_row_without_a_number_has_none_in_any_form_whatever_its_document_holds() {
    let run = with_forbidden_numbers();
    let mut texts = vec![
        to_csv(&[&run]).expect("written"),
        to_markdown(&[&run]),
        to_jsonl(&[&run]).expect("written"),
        to_openmetrics(&[&run]).expect("written"),
        to_bencher(&run).expect("written"),
        to_ktap(&[&run]),
    ];
    for text in &mut texts {
        assert!(!text.contains("66.6") && !text.contains("6.66"), "{text}");
    }
}

#[test]
fn a_price_in_company_is_no_point_of_a_chart_that_cannot_say_so() {
    let mut run = run();
    let name = "syscall.null{call=getppid}";
    assert!(to_bencher(&run).expect("written").contains(name));
    let row = row_mut(&mut run, name);
    row.flags = vec![syscost_results::Flag::Disturbed];
    row.sharing = Some(syscost_results::Sharing {
        limit: 1.05,
        basis: syscost_results::LimitBasis::Effect,
    });
    (row.estimate.shared_ci95_low, row.estimate.shared_ci95_high) = (Some(91.0), Some(96.0));
    assert!(!to_bencher(&run).expect("written").contains(name));
    let lines = to_csv(&[&run]).expect("written");
    let line = lines.lines().find(|line| line.contains(name));
    let line = line.expect("its line");
    assert!(
        line.ends_with(",disturbed,34.2,93.4,91,96,1.05,effect"),
        "{line}"
    );
    let metrics = to_openmetrics(&[&run]).expect("written");
    for value in [
        "shared_ci95_low_seconds",
        "shared_ci95_high_seconds",
        "sharing_limit_ratio",
    ] {
        assert!(metrics.contains(&format!("syscost_{value}{{")), "{value}");
    }
    let doubt = metrics
        .lines()
        .find(|line| line.starts_with("syscost_beyond_doubt{") && line.contains(name));
    assert!(doubt.expect("its line").ends_with(" 0.0"), "{doubt:?}");
    // Of a row without a number nothing is known.
    row_mut(&mut run, name).status = Status::Withheld;
    let withheld = to_csv(&[&run]).expect("written");
    assert!(!withheld.contains("effect"), "{withheld}");
}

#[test]
fn times_are_seconds_and_shares_ratios_in_openmetrics() {
    let mut run = run();
    let row = row_mut(&mut run, "timing.core_frequency");
    let gigahertz = row.clone();
    row.unit = syscost_results::Unit::Percent;
    row.estimate.median = Some(12.5);
    run.measurements.push(gigahertz);
    let text = to_openmetrics(&[&run]).expect("written");
    for line in [
        "syscost_median_seconds{host=\"imaginary\",name=\"syscall.null{call=getppid}\",group=\"syscall\",operation=\"null\",revision=\"1\",case_call=\"getppid\"} \
         7.913e-8",
        "syscost_median_ratio{host=\"imaginary\",name=\"timing.core_frequency\",group=\"timing\",operation=\"core_frequency\",revision=\"1\"} 0.125",
        "syscost_median_hertz{host=\"imaginary\",name=\"timing.core_frequency\",group=\"timing\",operation=\"core_frequency\",revision=\"1\"} 3693000000.0",
        "# UNIT syscost_median_seconds seconds",
        "syscost_rows{host=\"imaginary\",status=\"withheld\"} 1.0",
        "syscost_run_start_timestamp_seconds{host=\"imaginary\"} 1795248000.0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

/// The series of values that these runs have, and those that say something of rows.
fn series(runs: &[&Run]) -> [BTreeSet<String>; 2] {
    let text = to_openmetrics(runs).expect("written");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let names = lines.map(|line| line.rsplit_once(' ').expect("a value").0.to_owned());
    let is_about = |name: &String| {
        [
            "syscost_row_info",
            "syscost_without_number",
            "syscost_run_info",
        ]
        .iter()
        .any(|family| name.starts_with(family))
    };
    let (about, values) = names.partition(is_about);
    [values, about]
}

#[test]
fn a_value_stays_in_its_series_whatever_is_said_of_it() {
    let run = run();
    let mut next = run.clone();
    next.id = "another".to_owned();
    let row = row_mut(&mut next, "syscall.null{call=getppid}");
    row.flags.push(Flag::Noisy);
    row.evidence.clear();
    let [[values, about], [next_values, next_about]] = [&run, &next].map(|run| series(&[run]));
    assert_eq!(values, next_values);
    assert_ne!(about, next_about);
    let doubt = |run: &Run| {
        let text = to_openmetrics(&[run]).expect("written");
        let mut lines = text.lines();
        let line = lines.find(|line| {
            line.starts_with("syscost_beyond_doubt") && line.contains("{call=getppid}")
        });
        line.expect("it has a number").ends_with(" 0.0")
    };
    assert!(!doubt(&run) && doubt(&next));
}

#[test]
fn hosts_and_what_their_users_call_them_are_labels() {
    let mut runs = [run(), run()];
    for (run, host) in runs.iter_mut().zip(["n1", "n2"]) {
        run.machine.hostname = host.to_owned();
        let labels = &mut run.config.labels;
        labels.insert("rack".to_owned(), "r 7\"".to_owned());
        // Only a forged document has such a key.
        labels.insert("x\"} 1\ny".to_owned(), "7".to_owned());
    }
    let [values, about] = series(&runs.each_ref());
    for host in ["n1", "n2"] {
        let labels = format!("{{host=\"{host}\",label_rack=\"r 7\\\"\"");
        let of_host =
            |all: &BTreeSet<String>| all.iter().filter(|name| name.contains(&labels)).count();
        assert_eq!(2 * of_host(&values), values.len());
        assert_eq!(2 * of_host(&about), about.len());
    }
}

#[test]
fn a_formula_is_no_formula_any_more() {
    let mut run = run();
    run.machine.hostname = "=cmd|' /C calc'!A0".to_owned();
    let text = to_csv(&[&run]).expect("written");
    assert!(text.contains(",'=cmd|' /C calc'!A0,"), "{text}");
}

#[test]
fn csv_and_json_lines_say_verdicts_in_the_same_words() {
    let run = run();
    let csv = to_csv(&[&run]).expect("written");
    let heads: Vec<&str> = csv.lines().next().expect("heads").split(',').collect();
    let column = heads.iter().position(|head| *head == "evidence");
    let column = column.expect("a column");
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let words: Vec<String> = reader
        .records()
        .map(|record| record.expect("a row")[column].to_owned())
        .collect();
    let lines = to_jsonl(&[&run]).expect("written");
    let mut seen = 0;
    for (line, word) in lines.lines().zip(&words) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let claims = record["evidence"].as_array().expect("claims");
        let has = |verdict: &str| claims.iter().any(|claim| claim["verdict"] == verdict);
        let worst = ["refuted", "unverified", "confirmed"]
            .into_iter()
            .find(|verdict| has(verdict));
        assert_eq!(worst.unwrap_or("unverified"), word, "{line}");
        seen += claims.len();
    }
    assert!(seen > 3, "{seen}");
}

#[test]
fn a_group_fails_with_a_row_and_is_skipped_with_all() {
    let mut run = run();
    let tests = ktap_reader::read(&to_ktap(&[&run])).expect("KTAP");
    assert!(!tests[0].ok && tests[0].name == run.id);
    assert_eq!(tests[0].tests.len(), 4);
    let syscall = &tests[0].tests[2];
    assert!(!syscall.ok, "a row of it was withheld");
    assert!(tests[0].tests[0].ok, "timing");
    run.measurements
        .retain(|row| matches!(row.status, Status::Unsupported | Status::Skipped));
    let tests = ktap_reader::read(&to_ktap(&[&run])).expect("KTAP");
    assert!(tests[0].ok && tests[0].skipped && tests[0].tests[0].skipped);
}

#[test]
fn several_runs_follow_each_other() {
    let (first, mut second) = (run(), run());
    second.id = "20261122T080000Z-2".to_owned();
    let runs = [&first, &second];
    let rows = first.measurements.len();
    assert_eq!(
        to_csv(&runs).expect("written").lines().count(),
        2 * rows + 1
    );
    assert_eq!(to_jsonl(&runs).expect("written").lines().count(), 2 * rows);
    assert_eq!(to_markdown(&runs).matches("\n## Run ").count() + 1, 2);
    assert_eq!(ktap_reader::read(&to_ktap(&runs)).expect("KTAP").len(), 2);
}

#[test]
fn no_run_and_no_row_are_legal() {
    let mut empty = run();
    empty.measurements.clear();
    for runs in [&[][..], &[&empty]] {
        assert_eq!(to_csv(runs).expect("written").lines().count(), 1);
        assert_eq!(to_jsonl(runs).expect("written"), "");
        ktap_reader::read(&to_ktap(runs)).expect("KTAP");
    }
}

#[test]
fn an_invalid_start_time_is_reported_with_its_run() {
    let mut run = run();
    run.started = "yesterday".to_owned();
    let error = to_openmetrics(&[&run]).map(drop).expect_err("no time");
    assert!(
        error.to_string().starts_with(
            "run 20261121T080000Z-1 cannot be exported: its start `yesterday` is no RFC 3339 time ("
        ),
        "{error}"
    );
}
