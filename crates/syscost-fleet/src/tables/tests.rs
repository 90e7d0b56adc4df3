//! Documents into tables and back.

use std::fs;
use std::path::PathBuf;

use syscost_results::Run;
use syscost_results::document::Digest;
use syscost_store::packed;
use tempfile::TempDir;

use super::*;
use crate::collection::Places;
use crate::fixture;

/// A directory with a document for each of these hosts, and the runs.
fn collection(hosts: &[&str]) -> (TempDir, Vec<Run>) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let runs: Vec<Run> = hosts.iter().map(|host| run_of(host)).collect();
    for run in &runs {
        let text = serde_json::to_vec(run).expect("JSON");
        let name = format!("{}.json.gz", run.machine.hostname);
        fs::write(folder.path().join(name), packed(&text)).expect("written");
    }
    (folder, runs)
}

fn run_of(host: &str) -> Run {
    let mut run = fixture::run();
    run.id = format!("20261121T120433Z-{host}");
    run.machine.hostname = host.to_owned();
    run
}

fn add(documents: &Path, tables: &Path) -> Imported {
    let mut places = Places::default();
    places.add(documents, 0).expect("documents");
    import(&places.files(), tables, &|| {}).expect("imported")
}

fn digests(tables: &Path) -> Vec<Digest> {
    let digests = read(tables).expect("tables");
    digests.map(|digest| digest.expect("a digest")).collect()
}

/// What tables keep of a run.
fn kept(run: &Run) -> Digest {
    let mut digest = Digest::from(run);
    let started: jiff::Timestamp = digest.started.parse().expect("a time");
    let us = jiff::Timestamp::from_microsecond(started.as_microsecond());
    digest.started = us.expect("a time").to_string();
    for row in &mut digest.rows {
        let all = std::mem::take(&mut row.estimate);
        row.estimate.median = all.median;
        row.estimate.ci95_low = all.ci95_low;
        row.estimate.ci95_high = all.ci95_high;
        row.estimate.undisturbed_percent = all.undisturbed_percent;
        row.estimate.rounds = all.rounds;
    }
    digest
}

#[test]
fn runs_come_back_by_host_and_documents_as_they_were() {
    let (documents_in_files, mut runs) = collection(&["n2", "n1", "n3"]);
    let tables = tempfile::tempdir().expect("a temporary directory");
    let imported = add(documents_in_files.path(), tables.path());
    let rows = runs[0].measurements.len();
    assert_eq!((imported.runs, imported.rows), (3, 3 * rows));
    runs.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(
        digests(tables.path()),
        runs.iter().map(kept).collect::<Vec<_>>()
    );
    let mut given = Vec::new();
    let wanted = Wanted {
        hostname: Some("n2".to_owned()),
        date: Some("2026-11-21".to_owned()),
    };
    let give = |name, bytes: &[u8]| {
        given.push((name, bytes.to_vec()));
        Ok::<(), TablesError>(())
    };
    documents(tables.path(), &wanted, give).expect("documents");
    let original = fs::read(documents_in_files.path().join("n2.json.gz")).expect("there");
    assert_eq!(
        given,
        [("20261121T120433Z-n2.json.gz".to_owned(), original)]
    );
}

#[test]
fn machines_whose_runs_have_one_id_are_kept_apart() {
    let (folder, mut runs) = collection(&["n1", "n2"]);
    runs[1].id = runs[0].id.clone();
    runs[1].measurements.truncate(3);
    let text = serde_json::to_vec(&runs[1]).expect("JSON");
    fs::write(folder.path().join("n2.json.gz"), packed(&text)).expect("written");
    let tables = tempfile::tempdir().expect("a temporary directory");
    assert_eq!(add(folder.path(), tables.path()).runs, 2);
    assert_eq!(add(folder.path(), tables.path()).known, 2);
    let expected: Vec<Digest> = runs.iter().map(kept).collect();
    assert_eq!(digests(tables.path()), expected);
    let found = digests(tables.path()).into_iter().chain(expected);
    let documents = found.zip(0..).map(|(digest, number)| {
        Ok(crate::collection::Document {
            place: number.to_string(),
            digest,
            source: 0,
        })
    });
    let fleet = crate::fleet::Fleet::of(documents, jiff::Timestamp::now());
    assert_eq!((fleet.entries.len(), fleet.left_out.len()), (2, 2));
}

#[test]
fn a_run_is_added_once_and_what_is_no_run_is_left_out() {
    let (folder, runs) = collection(&["n1", "n2"]);
    let tables = tempfile::tempdir().expect("a temporary directory");
    let text = serde_json::to_string(&runs[0]).expect("JSON");
    let write =
        |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).expect("written");
    write("twice.json", text.as_bytes());
    write("empty.json", b"");
    write("cut.json", &text.as_bytes()[..text.len() / 2]);
    write("cut.json.gz", &packed(text.as_bytes())[..999]);
    write("foreign.json", b"{\"a\": 1}");
    let newer = text.replacen("\"schema_version\":1", "\"schema_version\":99", 1);
    write("newer.json", newer.as_bytes());
    write(
        "timeless.json",
        text.replace(&runs[0].started, "yesterday").as_bytes(),
    );
    write("fleet.json", b"[]");
    let imported = add(folder.path(), tables.path());
    assert_eq!(imported.runs, 2);
    let why: Vec<String> = imported.left_out.iter().map(LeftOut::to_string).collect();
    for (name, reason) in [
        ("twice.json", "of one run only one document counts"),
        ("empty.json", "the file is empty"),
        ("cut.json", "ends too early"),
        ("cut.json.gz", "cannot read"),
        ("foreign.json", "no run document"),
        ("newer.json", "version 99"),
        ("timeless.json", "no RFC 3339 time"),
    ] {
        let is_told = |line: &&String| line.contains(name) && line.contains(reason);
        assert_eq!(why.iter().filter(is_told).count(), 1, "{name}: {why:#?}");
    }
    assert_eq!(why.len(), 7, "{why:#?}");
    let again = add(folder.path(), tables.path());
    assert_eq!((again.runs, again.known), (0, 3), "the copy is known, too");
    assert_eq!(digests(tables.path()).len(), 2);
}

#[test]
fn what_a_killed_import_left_is_completed_or_removed() {
    let (folder, _) = collection(&["n1"]);
    let tables = tempfile::tempdir().expect("a temporary directory");
    add(folder.path(), tables.path());
    // As if it had been killed after the first of its three files was in its place.
    let part = |table: &str| {
        let files = files_of(tables.path(), table, None).expect("files");
        files.into_iter().next().expect("a file")
    };
    let name = part("runs")
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let whole = tables
        .path()
        .join(".import")
        .join(format!("2026-11-21.{name}"));
    fs::create_dir_all(&whole).expect("made");
    for table in ["runs", "measurements"] {
        fs::rename(part(table), whole.join(table)).expect("moved");
    }
    let half = tables.path().join(".import/x.part");
    fs::create_dir(&half).expect("made");
    fs::write(half.join("runs"), "half").expect("written");
    let again = add(folder.path(), tables.path());
    assert_eq!((again.runs, again.known), (0, 1));
    assert_eq!(digests(tables.path()).len(), 1);
    assert!(!tables.path().join(".import").exists());
}

#[test]
fn a_damaged_table_is_named_and_an_empty_directory_has_none() {
    let (folder, _) = collection(&["n1"]);
    let tables = tempfile::tempdir().expect("a temporary directory");
    let none = read(tables.path())
        .map(drop)
        .expect_err("empty")
        .to_string();
    assert!(none.contains("has no tables"), "{none}");
    add(folder.path(), tables.path());
    let path: PathBuf = files_of(tables.path(), "measurements", None).expect("files")[0].clone();
    let bytes = fs::read(&path).expect("there");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
    let mut digests = read(tables.path()).expect("tables");
    let error = digests
        .next()
        .expect("one")
        .expect_err("damaged")
        .to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
    assert!(digests.next().is_none());
}

#[test]
fn two_imports_at_once_are_refused() {
    let tables = tempfile::tempdir().expect("a temporary directory");
    let first = part::Stage::open(tables.path()).expect("free");
    let second = import(&[], tables.path(), &|| {}).expect_err("busy");
    assert!(matches!(second, TablesError::Busy { .. }), "{second}");
    drop(first);
    import(&[], tables.path(), &|| {}).expect("free again");
}
