//! `syscost export`, read back by the tools it is meant for.

mod recipe;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Json, Program, or_skip, recorded, recorded_of, rows};
use crate::readers::{fed, installed, python};
use recipe::{assert_recipe, recipe};
use serde_json::{Value, json};

/// A real run as a document, with a row of every status, and texts that every format has to escape.
struct Exported {
    program: Program,
    document: String,
    run: Value,
}

impl Exported {
    fn new() -> Self {
        let program = Program::new();
        let mut run = recorded_of(&["syscall.null", "timing.core_frequency"]);
        run["machine"]["hostname"] = json!("=host, \"quoted\" \\ back");
        let samples = run["measurements"][0]["samples"].clone();
        let numbers = run["measurements"][0]["estimate"].clone();
        let made: Vec<Value> = [
            "withheld",
            "below_resolution",
            "above_range",
            "unsupported",
            "failed",
            "skipped",
        ]
        .iter()
        .map(|status| {
            let mut row = run["measurements"][0].clone();
            row["name"] = json!(format!("syscall.made{{status={status},odd-key=#|}}"));
            row["id"] = json!("syscall.made");
            row["case"] = json!({"status": status, "odd-key": "#|"});
            row["status"] = json!(status);
            row["reason"] = json!("a | \"reason\" of two, \u{e9}, # with \\ signs");
            // Numbers that must not be exported.
            row["estimate"] = numbers.clone();
            row["samples"] = samples.clone();
            row
        })
        .collect();
        let all = run["measurements"].list_mut();
        all.extend(made);
        let document = program.put("run.json", run.to_string());
        Exported {
            program,
            document,
            run,
        }
    }

    /// The output of the export.
    fn text(&self, format: &str) -> String {
        let output = self
            .program
            .run(&format!("export {} --format {format}", self.document));
        assert!(output.code == Some(0), "{format}: {}", output.err);
        output.out
    }
}

#[test]
fn duckdb_reads_the_parquet_tables() {
    let exported = Exported::new();
    let folder = exported.program.folder().join("tables");
    let path = folder.to_str().expect("text");
    let output = exported.program.run(&format!(
        "export {} --format parquet -o {path}",
        exported.document
    ));
    if output.lacks("parquet") {
        return;
    }
    assert!(output.succeeded().out.is_empty());
    let read = or_skip!(python("parquet.py", &folder, &recipe(path), "duckdb"));
    assert_recipe(&exported.run, &read["recipe"]);
    let types = &read["types"];
    assert_eq!(types["runs"]["started"], "TIMESTAMP WITH TIME ZONE");
    for (column, wanted) in [
        ("run", "VARCHAR"),
        ("round", "INTEGER"),
        ("sample", "INTEGER"),
        ("value", "DOUBLE"),
        ("counted", "BOOLEAN"),
        ("value_corrected", "DOUBLE"),
        ("raw", "DOUBLE"),
        ("cpu", "INTEGER"),
        ("iterations", "BIGINT"),
        ("disturbed", "VARCHAR"),
    ] {
        assert_eq!(types["samples"][column], wanted, "{column}");
    }
    for table in ["runs", "measurements", "samples"] {
        for (column, found) in types[table].as_object().expect("columns") {
            let found = found.text();
            assert!(!found.starts_with('U'), "{table}.{column} is {found}");
        }
    }
    let run = &exported.run;
    let started: jiff::Timestamp = run["started"].text().parse().expect("time");
    let ok = rows(run).iter().filter(|row| row["status"] == "ok").count();
    let machine = &run["machine"]["hostname"];
    assert_eq!(
        read["runs"],
        json!([[run["id"], machine, started.as_microsecond(), ok]])
    );
    assert_rows(run, &read["measurements"]);
    assert_samples(run, &read["samples"]);
}

/// Asserts that every row is there, with the numbers its status allows.
fn assert_rows(run: &Value, found: &Value) {
    let by_name: BTreeMap<&str, &Value> = rows(run)
        .iter()
        .map(|row| (row["name"].text(), row))
        .collect();
    let found = found.list();
    assert_eq!(found.len(), by_name.len());
    for (found, (name, row)) in found.iter().zip(by_name) {
        let estimate = &row["estimate"];
        let (median, high) = match row["status"].text() {
            "ok" => (&estimate["median"], &estimate["ci95_high"]),
            "below_resolution" => (&Value::Null, &estimate["ci95_high"]),
            _ => (&Value::Null, &Value::Null),
        };
        assert_eq!(
            *found,
            json!([name, row["status"], row["reason"], median, high])
        );
    }
}

/// Asserts that every row has as many samples as in its document, with the same sum, and none
/// without a number.
fn assert_samples(run: &Value, found: &Value) {
    let found: BTreeMap<String, (u64, f64, u64)> = found
        .list()
        .iter()
        .map(|row| {
            let (name, count, sum, iterations): (String, u64, f64, u64) =
                serde_json::from_value(row.clone()).expect("four values");
            (name, (count, sum, iterations))
        })
        .collect();
    let mut with_samples = 0;
    for row in rows(run) {
        let name = row["name"].text();
        let rounds = match row["samples"].as_array() {
            Some(rounds)
                if ["ok", "below_resolution", "above_range"].contains(&row["status"].text()) =>
            {
                rounds
            }
            _ => {
                assert!(!found.contains_key(name), "{name}");
                continue;
            }
        };
        let values: Vec<f64> = rounds
            .iter()
            .flat_map(|round| round["values"].list())
            .filter_map(Value::as_f64)
            .collect();
        let iterations = rounds
            .iter()
            .filter_map(|round| round["iterations"].as_u64());
        let (count, sum, max_iterations) = found[name];
        assert_eq!(count, values.len() as u64, "{name}");
        assert_eq!(Some(max_iterations), iterations.max(), "{name}");
        let wanted: f64 = values.iter().sum();
        assert!((sum - wanted).abs() <= 1e-9 * wanted.abs(), "{name}");
        with_samples += 1;
    }
    assert_eq!(with_samples, found.len());
    assert!(with_samples > 0);
}

#[test]
fn both_parsers_of_prometheus_read_the_metrics() {
    let exported = Exported::new();
    let text = exported.text("openmetrics");
    let modules = "prometheus_client";
    let read = or_skip!(python("openmetrics.py", Path::new("-"), &text, modules));
    for parser in ["openmetrics", "text_format"] {
        let samples = read[parser].list();
        for row in rows(&exported.run) {
            let of = |family: &str| {
                samples
                    .iter()
                    .find(|sample| sample[2] == family && sample[3]["name"] == row["name"])
            };
            if row["status"] != "ok" {
                let why = of("syscost_without_number").expect("a reason");
                assert_eq!(why[3]["reason"], row["reason"], "{parser}");
                assert!(of("syscost_median_seconds").is_none());
            } else if row["unit"] == "ns" {
                let seconds = of("syscost_median_seconds").expect("a median");
                let median = row["estimate"]["median"].number();
                assert_eq!(seconds[4].as_f64(), Some(median / 1e9));
                assert_eq!(seconds[0], "gauge");
            }
        }
        let info = samples
            .iter()
            .find(|sample| sample[2] == "syscost_run_info");
        let labels = &info.expect("the run")[3];
        assert_eq!(labels["host"], exported.run["machine"]["hostname"]);
    }
}

#[test]
fn promtool_finds_nothing_to_complain_about() {
    let exported = Exported::new();
    or_skip!(installed("promtool"));
    assert_eq!(checked(&exported.text("openmetrics")), "");
}

/// What promtool says about metrics.
fn checked(text: &str) -> String {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]);
    fed(promtool, text)
}

#[cfg(feature = "fleet")]
#[test]
fn a_collection_becomes_metrics_of_each_host_once() {
    let exported = Exported::new();
    let folder = exported.program.folder().join("collection");
    let nodes = folder.join("nodes");
    fs::create_dir_all(&nodes).expect("made");
    let put = |name: &str, host: &str, id: &str, started: &str| {
        let mut run = exported.run.clone();
        run["machine"]["hostname"] = json!(host);
        run["config"]["labels"] = json!({"rack": "r7"});
        run["id"] = json!(id);
        run["started"] = json!(started);
        let text = run.to_string().into_bytes();
        let bytes = match name.ends_with(".gz") {
            true => syscost_store::packed(&text),
            false => text,
        };
        fs::write(nodes.join(name), bytes).expect("written");
    };
    put("n1.json.gz", "n1", "first", "2026-11-26T08:00:00Z");
    put("n1-again.json", "n1", "again", "2026-11-27T08:00:00Z");
    put("n2.json", "n2", "second", "2026-11-27T08:00:00Z");
    fs::write(nodes.join("n3.json"), "{\"half\": ").expect("written");
    fs::write(folder.join("fleet.json"), "{}").expect("written");
    let path = folder.to_str().expect("text");
    let output = exported.program.run(&format!(
        "export {path} syscall.null{{call=getppid}} --format openmetrics"
    ));
    let output = output.says(0, "n3.json");
    assert!(output.err.contains("Left out 1 older run"), "{output:?}");
    let infos: Vec<&str> = output
        .out
        .lines()
        .filter(|line| line.starts_with("syscost_run_info"))
        .collect();
    assert_eq!(infos.len(), 2, "{infos:?}");
    assert!(infos[0].contains("host=\"n1\",label_rack=\"r7\",run=\"again\""));
    assert!(infos[1].contains("host=\"n2\",label_rack=\"r7\",run=\"second\""));
    let medians = output.out.matches("\nsyscost_median_seconds{").count();
    assert_eq!(medians, 2, "of one row on two hosts");
    if installed("promtool").is_ok() {
        assert_eq!(checked(&output.out), "");
    }
    fs::remove_dir_all(&nodes).expect("removed");
    let output = exported
        .program
        .run(&format!("export {path} --format openmetrics"));
    output.says(2, "holds no run document");
}

#[test]
fn every_row_is_a_json_line() {
    let exported = Exported::new();
    let text = exported.text("jsonl");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), rows(&exported.run).len());
    for (line, row) in lines.iter().zip(rows(&exported.run)) {
        assert_eq!(line["name"], row["name"]);
        assert_eq!(line["run"], exported.run["id"]);
    }
}

#[test]
fn a_file_is_what_would_be_printed_and_others_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let exported = Exported::new();
    for format in ["csv", "markdown", "jsonl", "openmetrics", "bencher", "ktap"] {
        let file = exported.program.folder().join(format);
        let path = file.to_str().expect("text");
        let document = &exported.document;
        let output = exported.program.run(&format!(
            "export {document} --format {format} --output {path}"
        ));
        assert!(output.code == Some(0) && output.out.is_empty());
        assert_eq!(
            fs::read_to_string(&file).expect("written"),
            exported.text(format)
        );
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&file), mode(Path::new(&exported.document)));
    }
}

#[test]
fn what_cannot_be_exported_is_reported_in_a_line() {
    let exported = Exported::new();
    let document = &exported.document;
    let mut run = exported.run.clone();
    run["id"] = json!("20260101T000000Z-other");
    let other = exported.program.put("other.json", run.to_string());
    let folder = exported.program.folder().join("no/such");
    let nowhere = folder.to_str().expect("text");
    for (arguments, wanted) in [
        (
            format!("{document} {other} --format bencher"),
            "bencher holds one run and 2 were named",
        ),
        (
            format!("{document} {document} --format csv"),
            "is given twice; give each run once",
        ),
        (
            format!("{document} --format parquet"),
            "parquet is three files; name a folder for them: -o FOLDER",
        ),
        (
            format!("{document} --format parquet -o {other}"),
            "other.json is not a folder; name one for the tables",
        ),
        (
            format!("{document} --format csv -o {nowhere}"),
            "cannot be written: there is no folder",
        ),
    ] {
        let output = exported.program.run(&format!("export {arguments}"));
        let output = output.says(2, wanted);
        assert_eq!(output.err.lines().count(), 1, "{output:?}");
        assert!(output.out.is_empty());
    }
}

#[test]
fn the_notebook_draws_the_medians_of_an_export() {
    let program = Program::new();
    let mut run = recorded();
    // Latencies of memory: two of pages of 2 MiB, one without a number.
    let like = rows(&run)
        .iter()
        .find(|row| row["name"] == "syscall.null{call=getppid}");
    let like = like.expect("a row with a number").clone();
    let latency = |size: &str, status: &str, median: f64| {
        let mut row = like.clone();
        row["name"] = json!(format!(
            "memory.latency{{pages=2M,access=random,size={size}}}"
        ));
        row["id"] = json!("memory.latency");
        row["case"] = json!({"pages": "2M", "access": "random", "size": size});
        row["status"] = json!(status);
        (row["samples"], row["core_cycles"]) = (Value::Null, Value::Null);
        let estimate = &mut row["estimate"];
        (estimate["median"], estimate["ci95_low"]) = (json!(median), json!(0.9 * median));
        estimate["ci95_high"] = json!(1.2 * median);
        row
    };
    run["measurements"] = json!([
        latency("64K", "ok", 3.5),
        latency("1M", "skipped", 12.5),
        latency("16K", "ok", 1.25),
    ]);
    let document = program.put("run.json", run.to_string());
    let [csv, figure] = ["memory.csv", "memory.pdf"].map(|name| program.folder().join(name));
    let export = format!("export {document} memory.latency");
    program
        .run(&format!("{export} --format csv -o {}", csv.display()))
        .succeeded();
    let notebook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/notebook.ipynb");
    let files = format!("{}\n{}\n", csv.display(), figure.display());
    let modules = "pandas, matplotlib";
    let lines = or_skip!(python("notebook.py", &notebook, &files, modules));
    let line = json!([[16384.0, 1.25], [65536.0, 3.5]]);
    assert_eq!(lines, json!({"2M pages, random": line}));
    assert!(fs::read(figure).expect("a figure").starts_with(b"%PDF"));
}
