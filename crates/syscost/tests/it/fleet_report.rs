//! `fleet report` on documents made from a recorded run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ended, Json, Program, recorded};
use serde_json::{Value, json};

/// A run of one of several machines that differ by up to half a percent; what begins with `slow.0` takes `slow.1` times as long.
fn document(machine: u32, day: u32, slow: (&str, f64)) -> Value {
    let mut run = recorded();
    run["id"] = json!(format!("202611{day:02}T120000.000Z-{machine:06}"));
    run["started"] = json!(format!("2026-11-{day:02}T12:00:00Z"));
    run["machine"]["hostname"] = json!(format!("node{machine:02}"));
    for (number, row) in run["measurements"].list_mut().iter_mut().enumerate() {
        let wobble = f64::from((machine * 7 + number as u32 * 5) % 11) / 1000.0;
        let mut factor = 0.995 + wobble;
        if row["name"]
            .as_str()
            .is_some_and(|name| name.starts_with(slow.0))
        {
            factor *= if row["better"] == "lower" {
                slow.1
            } else {
                1.0 / slow.1
            };
        }
        let fields = row.as_object_mut().expect("a row");
        for raw in ["samples", "histogram", "details", "core_share"] {
            fields.remove(raw);
        }
        let scaled = |value: &mut Value| {
            if let Some(number) = value.as_f64() {
                *value = json!(number * factor);
            }
        };
        for figure in [
            "median",
            "ci95_low",
            "ci95_high",
            "min",
            "best",
            "raw_median",
            "shared_median",
            "shared_ci95_low",
            "shared_ci95_high",
            "p99",
            "mad",
        ] {
            if let Some(value) = row["estimate"].get_mut(figure) {
                scaled(value);
            }
        }
        scaled(&mut row["core_cycles"]);
    }
    run
}

/// A directory with the documents of twelve machines, the fourth as `slow`.
fn fleet(program: &Program, name: &str, day: u32, slow: (&str, f64)) -> PathBuf {
    let nodes = program.folder().join(name).join("nodes");
    fs::create_dir_all(&nodes).expect("made");
    for machine in 0..12 {
        let mut run = document(machine, day, if machine == 3 { slow } else { ("", 1.0) });
        if machine == 3 && slow.1 != 1.0 {
            run["machine"]["kernel"] = json!("Linux 6.1.0-13");
        }
        let path = nodes.join(format!("node{machine:02}.json"));
        fs::write(path, run.to_string()).expect("written");
    }
    program.folder().join(name)
}

/// Expects this exit code, and these words on standard output.
fn prints(ended: &Ended, code: i32, words: &str) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert!(ended.out.contains(words), "no `{words}`: {ended:?}");
}

#[test]
fn a_machine_with_a_quota_is_named_though_no_row_is_slower() {
    let program = Program::new();
    let fleet = fleet(&program, "fleet", 20, ("", 1.0));
    let path = fleet.join("nodes/node05.json");
    let mut run: Value =
        serde_json::from_slice(&fs::read(&path).expect("a document")).expect("JSON");
    run["machine"]["cgroup_cpu_quota"] = json!(0.5);
    fs::write(&path, run.to_string()).expect("written");
    let report = program.run(&format!("fleet report {}", fleet.display()));
    prints(&report, 3, "CPU quota: 0.5 on node05, none on 11 others");
    report.prints("In all that was measured, all 12 machines");
}

#[test]
fn a_machine_unlike_the_others_is_named_with_what_is_different_about_it() {
    let program = Program::new();
    let before = fleet(&program, "before", 20, ("", 1.0));
    let report = |arguments: &str| program.run(&format!("fleet report {arguments}"));
    prints(
        &report(&before.display().to_string()),
        0,
        "All 12 machines are like the others",
    );
    let now = fleet(&program, "now", 27, ("", 1.3));
    let both = format!("{} {}", before.display(), now.display());
    let text = report(&both);
    for words in [
        "1 of 12 machines is not like the others",
        "node03",
        "since 2026-11-27",
        "goes with kernel Linux 6.1.0-13: this machine, 0 of 11 others",
        "1 machine changed as the others did not",
        "is Linux 6.1.0-13",
    ] {
        assert!(text.out.contains(words), "{words}: {text:?}");
    }
    assert_eq!(text.code, Some(3), "{text:?}");
    let document: Value =
        serde_json::from_str(&report(&format!("{both} --format json")).out).expect("JSON");
    let outlier = &document["outliers"][0];
    assert_eq!(
        (&outlier["machine"], &document["judged"]),
        (&json!("node03"), &json!(12))
    );
    let row = &outlier["rows"][0];
    let [change, low, high] = ["change", "low", "high"].map(|name| row[name].number());
    assert!(
        low < change && change < high && (0.25..0.35).contains(&change),
        "{row}"
    );
}

#[test]
fn of_one_day_the_later_directory_is_the_present_in_whatever_order_they_are_named() {
    let program = Program::new();
    let morning = fleet(&program, "morning", 27, ("", 1.0));
    let evening = fleet(&program, "evening", 27, ("", 1.3));
    for entry in fs::read_dir(evening.join("nodes")).expect("a directory") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a document");
        let text = text
            .replace("20261127T12", "20261127T20")
            .replace("2026-11-27T12", "2026-11-27T20");
        fs::write(&path, text).expect("written");
    }
    let report = |one: &Path, other: &Path| {
        let arguments = format!("fleet report {} {}", one.display(), other.display());
        program.run(&arguments)
    };
    let told = report(&morning, &evening);
    prints(&told, 3, "1 of 12 machines is not like the others");
    assert_eq!(report(&evening, &morning).out, told.out);
}

#[test]
fn what_machines_cost_is_kept_for_others_to_be_held_against() {
    let program = Program::new();
    let fleet = fleet(&program, "fleet", 27, ("", 1.0));
    let path = program.folder().join("baseline.json");
    let arguments = format!(
        "fleet report {} --save-baseline {}",
        fleet.display(),
        path.display()
    );
    prints(&program.run(&arguments), 0, "All 12 machines");
    let baseline = syscost_fleet::baseline::Baseline::read(&path).expect("a baseline");
    let judged = |slow| {
        let bytes = document(40, 28, slow).to_string();
        let digest = syscost_results::document::read_digest(bytes.as_bytes()).expect("a run");
        let cohort = baseline.cohort_of(&digest).expect("a kind of machine");
        let deviations = digest.rows.iter().filter_map(|row| cohort.deviation(row));
        deviations.map(|one| one.p_value).collect::<Vec<f64>>()
    };
    let (alike, slow) = (judged(("", 1.0)), judged(("", 1.3)));
    assert!(
        alike.len() > 20 && alike.iter().all(|chance| *chance > 0.05),
        "{alike:?}"
    );
    assert!(
        slow.iter().filter(|chance| **chance < 0.01).count() > alike.len() / 2,
        "{slow:?}"
    );
}

#[test]
fn bad_documents_are_named_and_harm_nothing() {
    let program = Program::new();
    let fleet = fleet(&program, "fleet", 27, ("", 1.0));
    let nodes = fleet.join("nodes");
    let write = |name: &str, text: &str| fs::write(nodes.join(name), text).expect("written");
    let changed = |name: &str, change: fn(&mut Value)| {
        let mut run = document(50, 27, ("", 1.0));
        run["id"] = json!(name);
        change(&mut run);
        write(&format!("{name}.json"), &run.to_string());
    };
    write("empty.json", "");
    write("foreign.json", "{}");
    write("twice.json", &document(5, 27, ("", 1.0)).to_string());
    changed("future", |run| {
        run["started"] = json!("2999-01-01T00:00:00Z")
    });
    changed("past", |run| run["started"] = json!("1970-01-01T00:00:00Z"));
    changed("long", |run| {
        run["machine"]["hostname"] = json!("h".repeat(1_000_000))
    });
    changed("later", |run| {
        run["machine"]["hostname"] = json!("node07");
        run["started"] = json!("2026-11-27T13:00:00Z");
    });
    changed("other", |run| {
        run["machine"]["hostname"] = json!("node08");
        run["machine"]["hypervisor"] = json!("another");
        run["started"] = json!("2026-11-27T13:00:00Z");
    });
    changed("hostile", |run| {
        run["machine"]["hostname"] = json!("<script>alert(1)</script>\u{1b}[31m");
        for row in run["measurements"].list_mut() {
            for figure in ["median", "ci95_low", "ci95_high"] {
                if let Some(number) = row["estimate"][figure].as_f64() {
                    row["estimate"][figure] = json!(3.0 * number);
                }
            }
            row["core_cycles"] = Value::Null;
        }
    });
    let page = program.folder().join("fleet.html");
    let report = program.run(&format!(
        "fleet report {} -v -o {}",
        fleet.display(),
        page.display()
    ));
    assert_eq!(report.code, Some(3), "{report:?}");
    report.prints("<script>alert(1)</script>\\u{1b}[31m");
    for words in [
        "empty.json: the file is empty",
        "foreign.json: this is JSON, but no run document",
        "it is the same run as",
        "future.json: it is dated 2999-01-01",
        "past.json: it is dated 1970-01-01",
        "host name has 1000000 bytes",
        "node07.json: node07 has a later document of the same day",
        "two machines are called node08",
    ] {
        // Lines are wrapped.
        let text: Vec<&str> = report.out.split_whitespace().collect();
        assert!(text.join(" ").contains(words), "{words}: {report:?}");
    }
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<script>alert(1)"));
}

#[test]
fn where_nothing_can_be_judged_the_exit_code_says_so() {
    let program = Program::new();
    let folder = program.folder().join("few");
    fs::create_dir(&folder).expect("made");
    let report = |more: &str| program.run(&format!("fleet report {}{more}", folder.display()));
    prints(
        &report(""),
        1,
        "Nothing could be judged: there is no document.",
    );
    fs::write(folder.join("empty.json"), "").expect("written");
    let left_out = "Nothing could be judged: 1 document left out";
    prints(&report(""), 1, left_out);
    for machine in 0..3 {
        let run = document(machine, 27, ("", 1.0)).to_string();
        fs::write(folder.join(format!("{machine}.json")), run).expect("written");
    }
    let told = report("");
    prints(
        &told,
        1,
        "Nothing could be judged of 3 machines: it takes 5 of one kind to tell which is not like the others.",
    );
    prints(&told, 1, "only 3 machines are like it");
    report(" --cohort no_such_fact").says(2, "no machine has a fact `no_such_fact`");
    report("/missing").says(1, "cannot read");
}
