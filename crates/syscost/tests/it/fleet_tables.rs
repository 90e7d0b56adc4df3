//! Tables of many machines, in the engines that they are meant for.

use std::fs;
use std::path::Path;

use crate::common::{Json, Program, or_skip, recorded};
use crate::readers::{missing, python, starts};
use serde_json::{Value, json};

/// The query that lists the machines that are not like the others.
const OUTLIERS: &str = include_str!("../../../../docs/fleet-outliers.sql");

/// What the documentation says about tables, with queries.
const DOCUMENTATION: &str = include_str!("../../../../docs/fleet.md");

/// Machines of two kinds; the second kind is too few to be judged.
const MACHINES: usize = 30;

/// Writes a document for each machine: `node04` has slower system calls, `node11` one slow row,
/// `node17` a core that was mostly not its own, and slower system calls for it.
fn write_documents(folder: &Path) {
    let run = recorded();
    fs::create_dir(folder).expect("made");
    for machine in 0..MACHINES {
        let mut run = run.clone();
        run["id"] = json!(format!("20261121T120433Z-{machine:02}"));
        run["machine"]["hostname"] = json!(format!("node{machine:02}"));
        if machine >= MACHINES - 3 {
            run["machine"]["cpus_online"] = json!(64);
        }
        let ours = if machine == 17 { 40.0 } else { 95.0 };
        for noise in run["noise"].list_mut() {
            noise["used"] = json!(true);
            noise["measured_alone_percent"] = json!(ours);
        }
        for (index, row) in run["measurements"].list_mut().iter_mut().enumerate() {
            let is_system_call = row["id"].text().starts_with("syscall.");
            let planted = match machine {
                4 | 17 | 28 if is_system_call => 1.2,
                11 if index == 20 => 0.7,
                _ => 1.0,
            };
            // Any scatter will do that is not the same for all rows.
            let scatter = ((machine * 7 + index * 13) % 29) as f64 / 29.0 - 0.5;
            let factor = planted * (1.0 + 0.03 * scatter);
            for number in ["median", "ci95_low", "ci95_high"] {
                if let Some(value) = row["estimate"][number].as_f64() {
                    row["estimate"][number] = json!(value * factor);
                }
            }
            for number in ["min", "best"] {
                row["estimate"][number].take();
            }
            row["samples"].take();
        }
        let path = folder.join(format!("node{machine:02}.json"));
        fs::write(path, run.to_string()).expect("written");
    }
}

#[test]
#[ignore = "machine suite"]
fn both_engines_find_the_machines_that_the_report_finds() {
    let program = Program::new();
    let [folder, tables] = ["nodes", "tables"].map(|name| program.folder().join(name));
    write_documents(&folder);
    let (documents, tables) = (folder.display(), tables.display().to_string());
    let export = format!("export {documents} --format parquet -o {tables}");
    let exported = program.run(&export);
    if exported.lacks("parquet") {
        return;
    }
    exported.succeeded();
    let report = program.run(&format!("fleet report {documents} --format json"));
    assert_eq!(report.code, Some(3), "{}", report.err);
    let report: Value = serde_json::from_str(&report.out).expect("JSON");
    let outliers = report["outliers"].list();
    let mut told: Vec<(&str, &str)> = Vec::new();
    for machine in outliers {
        let name = machine["machine"].text();
        let rows = machine["rows"].list().iter();
        told.extend(rows.map(|row| (name, row["row"].text())));
    }
    told.sort_unstable();
    let mut machines: Vec<&str> = told.iter().map(|(machine, _)| *machine).collect();
    machines.dedup();
    assert_eq!(
        machines,
        ["node04", "node11"],
        "what was planted, and can be judged"
    );

    let mut queries = vec![OUTLIERS];
    let parts = DOCUMENTATION.split("```sql\n").skip(1);
    queries.extend(parts.filter_map(|part| part.split("```").next()));
    assert!(queries.len() >= 4, "{queries:#?}");
    // Spark is a package without Java.
    let modules = "duckdb, pyspark";
    if !starts("java", &["-version"]) {
        return println!("skipped: {}", missing("java"));
    }
    let input = serde_json::to_string(&queries).expect("JSON");
    let found = or_skip!(python("fleet.py", Path::new(&tables), &input, modules));
    for engine in ["duckdb", "spark"] {
        let rows = found[engine][0].list();
        let mut listed: Vec<(&str, &str)> = rows
            .iter()
            .map(|row| (row[0].text(), row[2].text()))
            .collect();
        listed.sort_unstable();
        assert_eq!(listed, told, "{engine}");
        for answer in found[engine].list() {
            assert!(!answer.list().is_empty(), "{engine}");
        }
    }
}
