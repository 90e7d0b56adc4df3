//! Bad input: any bytes give a run or a one-line error, never a panic.

mod contradictions;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{DocumentError, read};

/// A small document with a value in every kind of field.
fn document() -> Value {
    json!({
        "schema_version": 1,
        "tool": {"name": "syscost", "version": "0.1.0"},
        "id": "20261121T080000Z-1", "started": "2026-11-21T08:00:00Z",
        "duration_s": 1.5, "complete": true,
        "machine": {"hostname": "here", "cpus_online": 2, "mitigations": {"meltdown": "Not affected"}},
        "clock": {"source": "tsc", "ghz": 2.6, "step_ns": 0.7, "read_ns": 12.3, "drift_ppm": null, "health": []},
        "core_ghz": 3.6,
        "noise": [],
        "config": {
            "profile": "quick", "budget_s": 9.0, "seed": 1, "cpus": [1], "selectors": [], "min_rounds": 6,
            "max_rounds": 6, "samples_per_round": 20, "worker_start_ms": null, "resumed": 0
        },
        "warnings": [],
        "measurements": [row("getppid", 100.0), row("getpid", 90.0)]
    })
}

fn row(call: &str, median: f64) -> Value {
    json!({
        "name": format!("syscall.null{{call={call}}}"), "id": "syscall.null", "case": {"call": call}, "title": "Null system call", "unit": "ns",
        "better": "lower", "status": "ok", "reason": null,
        "estimate": {
            "median": median, "ci95_low": median - 1.0, "ci95_high": median + 1.0, "min": 1.0, "mad": 0.5,
            "p99": null, "raw_median": null, "rounds": 6, "samples": 6
        },
        "core_cycles": null, "flags": ["noisy"],
        "evidence": [{"claim": "c", "expected": 1, "observed": 1, "source": "s", "verdict": "Confirmed"}],
        "details": {"longest_gap_ns": 3.5},
        "samples": [{"round": 0, "cpu": 1, "iterations": 10, "core_ghz": null, "values": [median - 1.0, median + 1.0]}]
    })
}

#[test]
fn a_share_is_no_more_than_the_whole() {
    for (field, percent, is_sound) in [
        ("measured_alone_percent", 100.0, true),
        ("measured_alone_percent", 1e308, false),
        ("alone_percent", -1.0, false),
        ("lost_percent", 100.5, false),
    ] {
        let mut document = document();
        document["noise"] = json!([{
            "cpu": 0, "probe_s": 0.2, "lost_percent": 0.1, "longest_gap_us": 9.0, "gaps_over_5us": 3,
            "used": true, "alone_percent": 50.0
        }]);
        document["noise"][0][field] = json!(percent);
        let read = read(&text_of(&document));
        assert_eq!(
            read.is_ok(),
            is_sound,
            "{field} {percent}: {:?}",
            read.err()
        );
    }
}

#[test]
fn what_no_run_and_no_machine_is_is_refused() {
    let frequency = |ghz: f64| json!({ "usual_ghz": ghz, "is_of_machine": true, "low_ghz": 1.0, "high_ghz": 9.0 });
    for (pointer, value, is_sound) in [
        ("/duration_s", json!(-5.0), false),
        ("/duration_s", json!(1e308), false),
        ("/core_ghz", json!(1e300), false),
        ("/core_ghz", json!(3.7), true),
        ("/frequency", frequency(-1.0), false),
        ("/frequency", frequency(3.0), true),
        ("/machine/cpu_model", json!("x".repeat(300_000)), false),
        ("/machine/cpu_model", json!("x".repeat(900)), true),
        (
            "/measurements/0/estimate/undisturbed_percent",
            json!(-40.0),
            false,
        ),
        (
            "/measurements/0/estimate/undisturbed_percent",
            json!(40.0),
            true,
        ),
    ] {
        let mut document = document();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap();
        parent
            .as_object_mut()
            .unwrap()
            .insert(field.to_owned(), value.clone());
        match read(&text_of(&document)) {
            Ok(_) => assert!(is_sound, "{pointer} {value:.40}"),
            Err(error) => {
                assert!(!is_sound, "{pointer} {value:.40}: {error}");
                check_line(&error);
            }
        }
    }
}

/// The error, as it follows a file's name; checked to be one line.
fn refused(bytes: &[u8]) -> String {
    let error = read(bytes).expect_err("this is no run");
    check_line(&error);
    error.to_string()
}

fn check_line(error: &DocumentError) {
    let text = error.to_string();
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(text.chars().count() < 700, "{text}");
    assert!(text.contains("; "), "no advice: {text}");
}

fn text_of(document: &Value) -> Vec<u8> {
    serde_json::to_vec(document).expect("JSON")
}

fn with(pointer: &str, value: Value) -> Vec<u8> {
    let mut document = document();
    *document.pointer_mut(pointer).expect("the field is there") = value;
    text_of(&document)
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_document() {
    let marked = [b"\xef\xbb\xbf", &*text_of(&document())].concat();
    assert_eq!(
        read(&marked).expect("a run"),
        read(&text_of(&document())).expect("a run")
    );
}

#[test]
fn what_is_wrong_and_where_is_said_in_one_line() {
    let copy = "take another copy of the file, or measure anew";
    let give = "give a file that `syscost run -o` wrote";
    let cases: [(Vec<u8>, String); 14] = [
        (Vec::new(), format!(": the file is empty; {give}")),
        (b" \n\t ".to_vec(), format!(": the file is empty; {give}")),
        (b"\x7fELF\x02\0\0".to_vec(), format!(", byte 5: this is no text, so no run document; {give}")),
        (b"{\"a\": \"\xff\"}".to_vec(), format!(", byte 7: this is no text, so no run document; {give}")),
        (b"hello\n".to_vec(), format!(": this is text, but no run document; {give}")),
        (b"[1, 2]".to_vec(), format!(": this is JSON, but no run document; {give}")),
        (b"{}".to_vec(), format!(": this is JSON, but no run document; {give}")),
        (b"{\"machine\":{},\"measurements\":[]}".to_vec(), format!(": there is no schema_version; {give}")),
        (b"{\"schema_version\": 1,\n  oops}".to_vec(), format!(":2:3: key must be a string; {copy}")),
        (b"{\"schema_version\": 1,\n".to_vec(), format!(":2:0: the document ends too early; {copy}")),
        (
            with("/schema_version", json!(2)),
            ", field schema_version: the document has version 2, this syscost reads up to 1; read it with a newer syscost"
                .to_owned(),
        ),
        (
            with("/schema_version", json!("1")),
            format!(", field schema_version: \"1\" is no version of a run document; {give}"),
        ),
        (
            with("/measurements/1/name", json!("syscall.null{call=getppid}")),
            format!(", field measurements[1].name: `syscall.null{{call=getppid}}`: occurs twice; {copy}"),
        ),
        (
            with("/measurements/0/estimate/median", json!(200.0)),
            format!(", field measurements[0].estimate: `syscall.null{{call=getppid}}`: the median is not within its interval; {copy}"),
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(refused(&bytes), expected);
    }
}

#[test]
fn a_wrong_type_names_its_field() {
    let text = refused(&with("/measurements/1/unit", json!("parsec")));
    assert!(
        text.contains("field measurements[1].unit: unknown variant `parsec`"),
        "{text}"
    );
    let text = refused(&with("/config/seed", json!(-1)));
    assert!(
        text.contains("field config.seed: invalid value: integer `-1`"),
        "{text}"
    );
}

#[test]
fn a_newer_document_of_another_shape_is_still_newer() {
    let text = refused(b"{\"schema_version\": 7, \"measurements\": {\"all\": \"new\"}}");
    assert!(text.contains("the document has version 7"), "{text}");
}

#[test]
fn letters_that_would_deceive_a_terminal_are_escaped() {
    let text = refused(&with(
        "/measurements/0/unit",
        json!("\u{1b}[2J\n\u{202e}at line 3"),
    ));
    assert!(
        text.contains("\\u{1b}[2J\\u{a}\\u{202e}at line 3"),
        "{text}"
    );
    let long = "x".repeat(1 << 20);
    refused(&with("/measurements/0/unit", json!(long)));
    refused(&with(
        "/measurements/0/details",
        json!({ long: "no number" }),
    ));
    refused(&with(
        "/measurements/0/details",
        json!({ "a\nb": "no number" }),
    ));
}

#[test]
fn nesting_numbers_and_keys_beyond_measure_are_refused() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = open.repeat(200_000) + &close.repeat(200_000);
        refused(deep.as_bytes());
        refused(format!("{{\"schema_version\":{deep}}}").as_bytes());
        refused(format!("{{\"schema_version\":1,\"tool\":{deep}}}").as_bytes());
    }
    let text = String::from_utf8(text_of(&document())).expect("text");
    let twice = text.replacen('{', "{\"schema_version\":1,", 1);
    assert!(refused(twice.as_bytes()).contains("duplicate field `schema_version`"));
    for number in [
        "1e999",
        "-1e999",
        "123456789012345678901234567890",
        "NaN",
        "Infinity",
        "01",
        "1e",
    ] {
        let huge = text.replacen("\"duration_s\":1.5", &format!("\"duration_s\":{number}"), 1);
        match read(huge.as_bytes()) {
            Ok(run) => assert!(run.duration_s.is_finite()),
            Err(error) => check_line(&error),
        }
    }
    refused(format!("{text}{text}").as_bytes());
}

#[test]
fn every_truncation_is_refused() {
    let bytes = serde_json::to_vec_pretty(&document()).expect("JSON");
    for length in 0..bytes.len() {
        refused(&bytes[..length]);
    }
}

/// Every place of a document, as a JSON pointer.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                pointers(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                pointers(value, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Checks that the bytes give a run or a one-line error.
fn harmless(bytes: &[u8]) {
    if let Err(error) = read(bytes) {
        check_line(&error);
    }
}

#[test]
fn every_field_replaced_by_every_kind_of_value_or_removed_is_harmless() {
    let mut all = Vec::new();
    pointers(&document(), "", &mut all);
    let kinds = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}\n"),
        json!([]),
        json!({}),
        json!([[{}]]),
        json!({"Ok": 1}),
    ];
    for pointer in &all {
        for kind in &kinds {
            harmless(&with(pointer, kind.clone()));
        }
        if let Some((parent, key)) = pointer.rsplit_once('/') {
            let mut document = document();
            match document.pointer_mut(parent) {
                Some(Value::Object(fields)) => drop(fields.remove(key)),
                Some(Value::Array(values)) => drop(values.pop()),
                _ => unreachable!("a parent holds others"),
            }
            harmless(&text_of(&document));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_harmless(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        harmless(&bytes);
    }

    #[test]
    fn any_text_is_harmless(text in "\\PC{0,400}|[\\[\\]{}:,\"0-9eE.+\\- a-z\\\\\n]{0,400}") {
        harmless(text.as_bytes());
    }

    #[test]
    fn a_document_with_changed_bytes_is_harmless(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..6)
    ) {
        let mut bytes = text_of(&document());
        for (place, byte, how) in changes {
            let at = place.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        harmless(&bytes);
    }
}

#[test]
fn texts_that_would_steer_a_terminal_are_escaped() {
    let mut document = document();
    document["machine"]["cpu_model"] = json!("red \u{1b}[31m, turned \u{202e}, broken\nline");
    document["measurements"][0]["name"] = json!("syscall.null{\u{7}=\r}");
    document["measurements"][0]["case"] = json!({"\u{7}": "\r"});
    for text in [
        document.to_string(),
        // The same character, unescaped, which JSON allows.
        document.to_string().replace("\\u202e", "\u{202e}"),
    ] {
        let run = read(text.as_bytes()).expect("a run");
        assert_eq!(
            run.machine.cpu_model,
            "red \\u{1b}[31m, turned \\u{202e}, broken\\u{a}line"
        );
        let case = run.measurements[0].case.iter().next();
        assert_eq!(case, Some((&"\\u{7}".to_owned(), &"\\u{d}".to_owned())));
    }
}

#[test]
fn a_number_is_read_to_its_last_digit() {
    let mut document = document();
    document["core_ghz"] = json!(18.127548163571777_f64);
    let run = read(document.to_string().as_bytes()).expect("a run");
    assert_eq!(run.core_ghz, Some(18.127548163571777));
}

#[test]
fn a_number_that_its_own_evidence_refutes_is_refused() {
    let refuted = json!([{
        "claim": "getppid system calls per operation", "expected": 1.0, "observed": 0.0,
        "source": "seccomp audit", "verdict": "Refuted"
    }]);
    let mut document = document();
    document["measurements"][0]["evidence"] = refuted;
    for (status, is_read) in [
        ("ok", false),
        ("below_resolution", false),
        ("withheld", true),
    ] {
        document["measurements"][0]["status"] = json!(status);
        match read(document.to_string().as_bytes()) {
            Ok(_) => assert!(is_read, "{status}"),
            Err(error) => {
                assert!(!is_read, "{status}: {error}");
                let text = error.to_string();
                let said = "measurements[0].evidence[0]: `syscall.null{call=getppid}`: has a number that this evidence refutes: getppid";
                assert!(text.contains(said), "{text}");
            }
        }
    }
}
