//! The real-time class is entered only if requested, and the document says so.

use crate::common::{Json, Program, row};
use serde_json::{Value, json};

const ROW: &str = "switch.wakeup{via=timer,class=fifo,cpu=idle}";

fn measured(more: &str) -> Value {
    let run = format!("run {ROW} --profile quick --no-save --format json {more}");
    Program::new().json(&run)
}

#[test]
fn the_real_time_class_is_entered_only_when_asked_for() {
    let run = measured("");
    let refused = row(&run, ROW);
    assert_eq!(refused["status"], "unsupported");
    let reason = refused["reason"].text();
    assert!(reason.contains("--real-time"), "{reason}");
    assert_eq!(run["config"]["real_time"], Value::Null);
}

#[test]
#[ignore = "machine suite"]
fn the_document_says_that_it_was_requested() {
    let run = measured("--real-time");
    assert_eq!(run["config"]["real_time"], json!(true));
    let row = row(&run, ROW);
    if row["status"] == "unsupported" {
        println!("skipped: {}", row["reason"]);
        return;
    }
    let class = row["evidence"]
        .list()
        .iter()
        .find(|one| one["claim"] == "class of the task")
        .expect("the class is claimed");
    assert_eq!(class["observed"], "SCHED_FIFO 80");
    // On a busy host no wake-up may have followed a sleep: such a row has no figures.
    let reason = row["reason"].as_str().unwrap_or_default();
    if reason.contains("followed a sleep") {
        assert_eq!(row["status"], "withheld");
        println!("skipped: {reason}");
        return;
    }
    // As many quantiles as the number of wake-ups allows, and no more.
    let (details, singles) = (&row["details"], row["details"]["singles_count"].as_f64());
    assert!(details["longest_ns"].is_number(), "{row}");
    assert_eq!(details["p99_9_ns"].is_number(), singles >= Some(2_995.0));
    assert!(details["p99_99_ns"].is_null());
}
