//! Runs that users send as references.

use serde_json::json;

use crate::common::{Json, Program, RUN, rows};

/// A reference, as it was shared.
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/references/epyc-guest.json.gz");

#[test]
fn a_full_run_is_written_to_be_sent() {
    let program = Program::new();
    let shared = program.folder().join("my.json.gz");
    let written = format!("report {SHARED} --anonymous --share {}", shared.display());
    program.run(&written).says(0, "Wrote ");
    // What is shared twice tells as much as what is shared once.
    let [once, twice] = [SHARED, shared.to_str().expect("UTF-8")]
        .map(|file| program.run(&format!("show {file} --format json")).ran().out);
    assert_eq!(once, twice);
}

#[test]
fn what_is_not_fit_or_not_anonymous_is_refused_in_a_sentence() {
    let program = Program::new();
    for (arguments, why) in [
        (
            format!("{RUN} --anonymous --share s.json.gz"),
            "quick profile",
        ),
        (format!("{SHARED} --share s.json.gz"), "--anonymous"),
        (
            format!("{SHARED} --anonymous --share s.json"),
            "written as .gz",
        ),
        (
            format!("{SHARED} {RUN} --anonymous --share s.json.gz"),
            "one run",
        ),
        (
            format!("{SHARED} --anonymous --share s.gz -o s.html"),
            "--output",
        ),
    ] {
        let refused = program.run(&format!("report {arguments}")).says(2, why);
        assert_eq!(refused.out, "");
        let sentence = refused.err.lines().filter(|line| line.contains("error"));
        assert_eq!(sentence.count(), 1, "{}", refused.err);
        assert!(!std::path::Path::new("s.json.gz").exists());
    }
}

#[test]
fn what_no_program_measures_is_not_shared() {
    let program = Program::new();
    let shared = program.json(&format!("show {SHARED} --format json"));
    let (first, all) = (&rows(&shared)[0], rows(&shared).len());
    let name = first["name"].text().replace('}', ",owner=alice}");
    let mut case = first["case"].clone();
    case["owner"] = json!("alice");
    for change in [
        json!({ "better": "higher" }),
        json!({ "revision": 99 }),
        json!({ "title": "Call of alice" }),
        json!({ "name": name, "case": case }),
    ] {
        let mut edited = shared.clone();
        for (field, value) in change.as_object().unwrap() {
            edited["measurements"][0][field] = value.clone();
        }
        let file = program.put("edited.json", edited.to_string());
        let to = program.folder().join("shared.json.gz");
        let command = format!("report {file} --anonymous --share {}", to.display());
        let said = program.run(&command).says(0, "Wrote ").err;
        assert!(
            said.contains(&format!("{} of {all} rows", all - 1)),
            "{change}: {said}"
        );
    }
}

#[test]
fn a_reference_whose_numbers_are_wrong_is_called_none() {
    let program = Program::new();
    let mut run = program.json(&format!("show {SHARED} --format json"));
    run["machine"]["build"]["profile"] = json!("debug");
    let file = program.put("debug.json", run.to_string());
    program
        .run(&format!("show {RUN} --beside {file}"))
        .says(0, "is no reference: measured by a debug build");
}
