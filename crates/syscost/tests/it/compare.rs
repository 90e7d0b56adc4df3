//! Comparing runs on the command line.

use crate::common::comparing::{ROW, compare, keep, program, slowed};
use crate::common::{Json, or_skip};
use serde_json::json;

#[test]
fn a_slower_row_is_found_reported_and_fails_the_gate() {
    let (program, run) = program();
    keep(&program, "new", &slowed(&run, 1.2));
    let text = compare(&program, "base.json new.json").succeeded().out;
    assert!(text.contains("1.20x slower  1.20 to 1.20"), "{text}");
    assert!(
        text.contains(": 1 worse, 0 better, 0 inconclusive, "),
        "{text}"
    );
    for (gate, expected) in [("worse", 3), ("worse:5%", 3), ("worse:25%", 0)] {
        let judged = compare(&program, &format!("base.json new.json --fail-on {gate}"));
        assert_eq!(judged.code, Some(expected), "{gate}");
    }
    // Better is no regression.
    let judged = compare(&program, "new.json base.json --fail-on worse");
    let text = judged.succeeded().out;
    assert!(text.contains("1.20x faster"), "{text}");
    // A reader that has gone must not make the gate pass.
    let piped = "$syscost compare base.json new.json --fail-on worse | true; echo ${PIPESTATUS[0]}";
    let output = or_skip!(program.script(&["bash"], piped));
    assert_eq!(output.out, "3\n", "{output:?}");
    output.says(0, "the gate failed");
}

#[test]
fn cycles_leave_out_what_the_frequency_did() {
    let (program, run) = program();
    let at = |name: &str, ghz: f64, factor: f64| {
        let mut new = slowed(&run, factor);
        for row in new["measurements"].list_mut() {
            for round in row["samples"].list_mut() {
                round["core_ghz"] = json!(ghz);
            }
        }
        keep(&program, name, &new);
    };
    at("fast", 4.0, 1.0);
    // A quarter slower, because of the frequency alone.
    at("slow", 3.2, 1.25);
    let verdict = |options: &str| {
        let compared = format!("fast.json slow.json --format json {options}");
        let document = compare(&program, &compared).json();
        let rows = document["rows"].list().clone();
        let row = rows
            .into_iter()
            .find(|row| row["name"] == ROW)
            .expect("the row");
        (row["verdict"].clone(), row["cycles"]["base"].as_f64())
    };
    assert_eq!(verdict("--cycles").0, json!("same"));
    let cycles = verdict("--cycles").1.expect("cycles of a time");
    assert!((cycles - 400.0).abs() < 5.0, "{cycles}");
    assert_eq!(verdict("").1, None);
}

#[test]
fn a_changed_definition_is_refused_by_name() {
    let (program, mut run) = program();
    run["measurements"][0]["revision"] = json!(9);
    let name = run["measurements"][0]["name"].text().to_owned();
    keep(&program, "new", &run);
    let judged = compare(&program, "base.json new.json --fail-on worse");
    let refused = format!("{name}: its definition changed: revision 1 on");
    judged.prints(&refused);
    // The base's row is lost, and the gate cannot say that it did not become worse.
    judged.says(3, &format!("the gate failed: {name} is lost"));
}

#[test]
fn a_comparison_lists_how_large_a_change_it_could_have_found() {
    let (program, run) = program();
    keep(&program, "new", &slowed(&run, 1.2));
    let text = compare(&program, "base.json new.json -v").succeeded();
    let list = text.out.split("The smallest change that").nth(1);
    let mut list = list.expect("a list").lines();
    let line = list.find(|line| line.contains(ROW)).expect("the row");
    assert!(line.ends_with("2.0 %"), "{line}");
    let document = compare(&program, "base.json new.json --format json").json();
    let detectable = document["rows"][0]["detectable"].number();
    assert!((0.02..0.021).contains(&detectable), "{document}");
}

#[test]
fn several_runs_are_pooled_but_none_twice() {
    let (program, run) = program();
    keep(&program, "again", &run);
    keep(&program, "new", &slowed(&run, 1.2));
    keep(&program, "other", &slowed(&run, 1.2001));
    let pooled = "base.json new.json other.json --base again.json --format json";
    let document = compare(&program, pooled).json();
    assert_eq!(document["base"]["runs"], json!(["base", "again"]));
    assert_eq!(document["new"]["runs"], json!(["new", "other"]));
    assert_eq!(document["rows"][0]["verdict"], "worse");
    let mut elsewhere = slowed(&run, 0.5);
    elsewhere["machine"]["cpu_model"] = json!("Imaginary 2000");
    keep(&program, "elsewhere", &elsewhere);
    compare(&program, "base.json new.json elsewhere.json").says(2, "runs of different processors");
    // Two at a time are compared.
    compare(&program, "base.json elsewhere.json").succeeded();
    for twice in [
        "base.json new.json new.json -v",
        "base.json new.json --base base.json",
        "base.json new.json --spread base.json",
        "base.json new.json --spread new.json",
        "base.json new.json base.json -v",
    ] {
        compare(&program, twice).says(2, "is given twice; give each run once");
    }
}

#[test]
fn a_comparison_has_the_format_asked_for() {
    let (program, run) = program();
    keep(&program, "new", &slowed(&run, 1.2));
    for (format, begins) in [
        ("markdown", "**"),
        ("html", "<!DOCTYPE html>"),
        ("json", "{"),
        ("table", "9 rows compared"),
    ] {
        let words = format!("base.json new.json --format {format}");
        let printed = compare(&program, &words).succeeded().out;
        assert!(printed.starts_with(begins), "{format}: {printed}");
        assert!(
            !printed.contains("The smallest change"),
            "only if asked: {printed}"
        );
    }
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let (program, _) = program();
    for (runs, words) in [
        ("nothing.json base.json", "nothing.json"),
        ("base.json base.json --fail-on better", "worse:5%"),
        // One run alone is compared with the latest.
        ("base.json", "no run is kept"),
    ] {
        compare(&program, runs).says(2, words);
    }
}
