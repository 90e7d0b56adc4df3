//! A real directory of runs: what is indexed, what is left alone, what several processes do to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use syscost_results::row_name;
use syscost_store::{Index, IndexError, Scope, Store, StoreError};
use tempfile::TempDir;

/// A document with one row, measured on day `day` of 2026-01.
fn document(day: u32, host: &str, median: f64) -> Value {
    json!({
        "schema_version": 1, "tool": {"name": "syscost", "version": "0.1.0"},
        "id": id(day), "started": format!("{}T08:00:00Z", date(day)), "duration_s": 1.5, "complete": true,
        "machine": {"hostname": host, "cpu_model": "Imaginary", "build": {"profile": "release"}},
        "clock": {"source": "tsc", "ghz": 2.6, "step_ns": 0.7, "read_ns": 12.3, "drift_ppm": null, "health": []},
        "core_ghz": null, "noise": [],
        "config": {
            "profile": "quick", "budget_s": 9.0, "seed": 1, "cpus": [1], "selectors": [], "min_rounds": 6,
            "max_rounds": 6, "samples_per_round": 20, "worker_start_ms": null, "resumed": 0
        },
        "warnings": [],
        "measurements": [{
            "name": "a.b{c=d}", "id": "a.b", "case": {"c": "d"}, "title": "A", "unit": "ns", "better": "lower",
            "status": "ok", "reason": null,
            "estimate": {
                "median": median, "ci95_low": median, "ci95_high": median, "min": 1.0, "mad": 0.5, "p99": null,
                "raw_median": null, "rounds": 6, "samples": 6
            },
            "core_cycles": null, "flags": [], "evidence": []
        }]
    })
}

fn date(day: u32) -> String {
    format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28)
}

fn id(day: u32) -> String {
    format!("{}T080000Z-{day}", date(day).replace('-', ""))
}

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::at(folder.path().join("syscost"));
    fs::create_dir_all(store.runs()).expect("made");
    (folder, store)
}

fn put(store: &Store, document: &Value) {
    let id = document["id"].as_str().expect("an id");
    fs::write(
        store.runs().join(format!("{id}.json")),
        document.to_string(),
    )
    .expect("written");
}

fn open(store: &Store) -> Index {
    Index::open(store, &mut |_, _| {}).expect("an index")
}

/// The number of documents read when opening the index.
fn read_by_opening(store: &Store) -> usize {
    let mut read = 0;
    Index::open(store, &mut |_, all| read = all).expect("an index");
    read
}

#[test]
fn a_step_is_found_in_the_runs_of_the_newest_machine_only() {
    let (_folder, store) = store();
    for day in 0..40 {
        put(
            &store,
            &document(
                day,
                "here",
                if day < 20 { 100.0 } else { 120.0 } + f64::from(day % 3),
            ),
        );
    }
    put(&store, &document(10 + 40, "there", 500.0));
    let index = open(&store);
    let here = Scope {
        machine: Some("here".to_owned()),
        ..Scope::default()
    };
    let followed = index
        .follow(&here, &|name| name.starts_with("a."))
        .expect("followed");
    assert_eq!((followed.runs, followed.other_machines), (40, 1));
    let [tracked] = &followed.series[..] else {
        panic!("one row")
    };
    assert_eq!(tracked.series.points.len(), 40);
    assert_eq!(
        tracked
            .series
            .changes
            .iter()
            .map(|change| change.index)
            .collect::<Vec<_>>(),
        [20]
    );
    assert!(tracked.series.changes[0].started.starts_with(&date(20)));
    assert_eq!(
        index
            .follow(&Scope::default(), &|_| true)
            .expect("followed")
            .hostname,
        "there"
    );
    let last = Scope {
        last: Some(7),
        ..here
    };
    assert_eq!(index.follow(&last, &|_| true).expect("followed").runs, 7);
    let nowhere = Scope {
        machine: Some("nowhere".to_owned()),
        ..Scope::default()
    };
    let text = index
        .follow(&nowhere, &|_| true)
        .expect_err("unknown")
        .to_string();
    assert!(
        text.starts_with("`nowhere` is no machine of the kept runs; kept are runs of: "),
        "{text}"
    );
}

#[test]
fn another_revision_or_build_and_what_was_withheld_are_left_out() {
    let (_folder, store) = store();
    for day in 0..8 {
        let mut document = document(day, "here", 100.0);
        match day {
            0 | 1 => document["measurements"][0]["revision"] = json!(1),
            2 => document["measurements"][0]["status"] = json!("withheld"),
            3 => document["machine"]["build"]["profile"] = json!("debug"),
            _ => {}
        }
        if day >= 2 {
            document["measurements"][0]["revision"] = json!(2);
        }
        put(&store, &document);
    }
    let followed = open(&store)
        .follow(&Scope::default(), &|_| true)
        .expect("followed");
    let tracked = &followed.series[0];
    assert_eq!(tracked.series.points.len(), 4);
    assert_eq!(
        (
            tracked.without_number,
            tracked.other_revisions,
            followed.other_builds
        ),
        (1, 2, 1)
    );
}

#[test]
fn rows_of_another_far_end_or_congestion_control_are_no_part_of_a_series() {
    let followed = |name: &str, environment: &dyn Fn(u32) -> Value| {
        let (_folder, store) = store();
        for day in 0..6 {
            let mut document = document(day, "here", 100.0);
            document["measurements"][0]["name"] = json!(name);
            document["measurements"][0]["id"] = json!(row_name::id(name));
            let case: BTreeMap<&str, &str> = row_name::parameters(name).collect();
            document["measurements"][0]["case"] = json!(case);
            document["config"]["environment"] = environment(day);
            put(&store, &document);
        }
        let is_it = |found: &str| found == name;
        let followed = open(&store).follow(&Scope::default(), &is_it);
        let tracked = followed.expect("followed").series.remove(0);
        (tracked.series.points.len(), tracked.other_revisions)
    };
    // Two days with one far end, then four with another; its services have a different port each day.
    let host = |day| if day < 2 { 1 } else { 2 };
    let peer = |day| json!({"SYSCOST_PEER": format!("10.0.0.{}:{}", host(day), 7000 + day)});
    let congestion = |day| match day {
        0..4 => json!({"SYSCOST_CONGESTION": "cubic"}),
        _ => json!({}),
    };
    let (near, far) = ("net.x{path=loopback}", "net.x{path=remote}");
    assert_eq!(followed(far, &peer), (4, 2));
    assert_eq!(followed(near, &peer), (6, 0), "it is the same way");
    assert_eq!(followed(near, &congestion), (2, 4));
    assert_eq!(followed("a.b{c=d}", &congestion), (6, 0));
    let server = |day| format!("nfs://10.0.0.{}:2049:{}/e", host(day), 4000 + day);
    let export = |day| json!({"SYSCOST_NFS": server(day)});
    assert_eq!(followed("fs.nfs{op=null}", &export), (4, 2));
    assert_eq!(followed("fs.read{dir=ssd}", &export), (6, 0));
}

#[test]
fn a_document_is_read_once_and_again_when_it_changes_and_forgotten_when_it_is_gone() {
    let (_folder, store) = store();
    (0..5).for_each(|day| put(&store, &document(day, "here", 100.0)));
    assert_eq!(read_by_opening(&store), 5);
    assert_eq!(read_by_opening(&store), 0);
    put(&store, &document(2, "here", 12345.0));
    assert_eq!(read_by_opening(&store), 1);
    fs::remove_file(store.runs().join(format!("{}.json", id(0)))).expect("removed");
    let index = open(&store);
    assert_eq!(index.runs().expect("runs").len(), 4);
    let followed = index
        .follow(&Scope::default(), &|_| true)
        .expect("followed");
    let medians: Vec<f64> = followed.series[0]
        .series
        .points
        .iter()
        .map(|point| point.median)
        .collect();
    assert_eq!(medians, [100.0, 12345.0, 100.0, 100.0]);
}

#[test]
fn damaged_and_foreign_files_are_reported_once_and_left_alone() {
    let (_folder, store) = store();
    put(&store, &document(0, "here", 100.0));
    let whole = document(1, "here", 1.0).to_string();
    let copy = document(0, "here", 1.0).to_string();
    let files = [
        (
            format!("{}.json", id(1)),
            whole.as_bytes()[..whole.len() / 2].to_vec(),
        ),
        ("copy.json".to_owned(), copy.into_bytes()),
        ("notes.txt".to_owned(), b"mine".to_vec()),
        ("empty.json".to_owned(), Vec::new()),
        ("binary.json".to_owned(), vec![0, 159, 146, 150]),
    ];
    for (name, bytes) in &files {
        fs::write(store.runs().join(name), bytes).expect("written");
    }
    let index = open(&store);
    assert_eq!(index.runs().expect("runs").len(), 1);
    assert_eq!(index.fresh_problems.len(), files.len());
    for problem in &index.fresh_problems {
        assert!(
            !problem.problem.contains('\n') && problem.problem.contains(&problem.file),
            "{problem:?}"
        );
    }
    let again = open(&store);
    assert_eq!(again.fresh_problems, []);
    assert_eq!(again.problems().expect("problems").len(), files.len());
    for (name, bytes) in &files {
        assert_eq!(
            &fs::read(store.runs().join(name)).expect("still there"),
            bytes
        );
    }
    // Once complete, it is a run.
    fs::write(store.runs().join(&files[0].0), whole).expect("written");
    assert_eq!(open(&store).runs().expect("runs").len(), 2);
}

#[test]
fn an_index_of_a_newer_version_or_a_foreign_one_is_refused_and_a_damaged_one_is_set_aside() {
    let (_folder, store) = store();
    put(&store, &document(0, "here", 100.0));
    drop(open(&store));
    let path = store.folder().join("index.sqlite");
    let refused = |path: &Path| {
        let before = fs::read(path).expect("read");
        let error = Index::open(&store, &mut |_, _| {}).expect_err("refused");
        assert_eq!(fs::read(path).expect("read"), before);
        assert!(!error.to_string().contains('\n'));
        error
    };
    let change = |statement: &str| {
        let connection = rusqlite::Connection::open(&path).expect("open");
        connection.execute_batch(statement).expect("changed");
    };
    change("PRAGMA user_version = 99");
    let newer = refused(&path);
    assert!(
        matches!(
            newer,
            StoreError::Index(IndexError::Newer { found: 99, .. })
        ),
        "{newer}"
    );
    change("PRAGMA application_id = 5");
    assert!(matches!(
        refused(&path),
        StoreError::Index(IndexError::Foreign { .. })
    ));
    // A damaged one is set aside as it is, and the index is built anew from the runs.
    let damaged = "this is no database, but long enough to be one";
    let aside = path.with_extension("sqlite.damaged");
    fs::write(&path, damaged).expect("written");
    assert_eq!(open(&store).runs().expect("runs").len(), 1);
    assert_eq!(fs::read_to_string(&aside).expect("set aside"), damaged);
    // Where it cannot be set aside it is refused.
    fs::remove_file(&aside).expect("removed");
    fs::create_dir(&aside).expect("made");
    fs::write(&path, damaged).expect("written");
    let kept = refused(&path);
    assert!(
        matches!(kept, StoreError::Index(IndexError::Damaged { .. })),
        "{kept}"
    );
    fs::remove_file(&path).expect("removed");
    assert_eq!(open(&store).runs().expect("runs").len(), 1);
}

#[test]
fn an_index_that_cannot_be_written_is_built_in_memory() {
    let (_folder, store) = store();
    put(&store, &document(0, "here", 100.0));
    fs::create_dir(store.folder().join("index.sqlite")).expect("made");
    let index = open(&store);
    assert_eq!(index.runs().expect("runs").len(), 1);
    assert!(index.not_kept.is_some());
}

#[test]
fn tags_outlive_the_index_and_find_runs() {
    let (_folder, store) = store();
    (0..3).for_each(|day| put(&store, &document(day, "here", 100.0)));
    store.tag(&id(1), "baseline").expect("tagged");
    store.tag(&id(1), "baseline").expect("tagged already");
    assert!(matches!(
        store.tag(&id(0), "baseline"),
        Err(StoreError::TagTaken { holder, .. }) if holder == id(1)
    ));
    store.tag(&id(1), "second").expect("tagged");
    drop(open(&store));
    fs::remove_file(store.folder().join("index.sqlite")).expect("removed");
    assert_eq!(
        open(&store).runs().expect("runs")[1].tags,
        ["baseline", "second"]
    );
    assert_eq!(store.find("second").expect("found").run.id, id(1));
    assert_eq!(store.kept_id("latest").expect("found"), id(2));
    assert_eq!(store.find("baseline").expect("found").run.id, id(1));
    assert!(store.untag(&id(1), "baseline").expect("untagged"));
    assert!(!store.untag(&id(1), "baseline").expect("untagged"));
    store.remove(&id(1)).expect("removed");
    assert!(store.tags().is_empty());
    for nonsense in ["", "a/b", "..", "-x", "latest", "x.json", "a b", "\u{1b}"] {
        assert!(
            matches!(store.tag(&id(0), nonsense), Err(StoreError::NoTag { .. })),
            "{nonsense:?}"
        );
    }
}

/// Set for the copies of this test program that write concurrently: the directory, and the number
/// of the copy.
const FOLDER: &str = "SYSCOST_TEST_FOLDER";
const WRITER: &str = "SYSCOST_TEST_WRITER";

#[test]
fn processes_that_write_at_once_lose_nothing() {
    const WRITERS: u32 = 4;
    const EACH: u32 = 15;
    if let (Ok(folder), Ok(writer)) = (std::env::var(FOLDER), std::env::var(WRITER)) {
        let store = Store::at(folder.into());
        let writer: u32 = writer.parse().expect("a number");
        for day in (0..EACH).map(|number| number * WRITERS + writer) {
            put(&store, &document(day, "here", f64::from(day)));
            store.tag(&id(0), &format!("t{day}")).expect("tagged");
            drop(open(&store));
        }
        return;
    }
    let (_folder, store) = store();
    let program = std::env::current_exe().expect("this program");
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            Command::new(&program)
                .args(["--exact", "processes_that_write_at_once_lose_nothing"])
                .env(FOLDER, store.folder())
                .env(WRITER, writer.to_string())
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("started")
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().expect("ended").success());
    }
    let index = open(&store);
    // Torn writes are possible here, since the test writes in place; none may remain.
    assert_eq!(index.problems().expect("problems"), []);
    let all = (WRITERS * EACH) as usize;
    let runs = index.runs().expect("runs");
    assert_eq!(runs.len(), all);
    assert_eq!(runs.last().expect("a run").tags.len(), all);
    let followed = index
        .follow(&Scope::default(), &|_| true)
        .expect("followed");
    let medians: Vec<f64> = followed.series[0]
        .series
        .points
        .iter()
        .map(|point| point.median)
        .collect();
    let written: Vec<f64> = (0..WRITERS * EACH).map(f64::from).collect();
    assert_eq!(medians, written);
}
