//! A real directory of runs: what is indexed, what is left alone, what several processes do to it.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{document, id, open, put, store};
use syscost_results::renamed::RENAMED;

use crate::{Index, IndexError, Scope, Store, StoreError};

/// The number of documents read when opening the index.
fn read_by_opening(store: &Store) -> usize {
    let mut read = 0;
    Index::open(store, &mut |_, all| read = all).expect("an index");
    read
}

/// The medians of the only row over all runs.
fn medians(index: &Index) -> Vec<f64> {
    let followed = index
        .follow(&Scope::default(), &|_| true)
        .expect("followed");
    let points = followed.series[0].series.points.iter();
    points.map(|point| point.median).collect()
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
    assert_eq!(medians(&index), [100.0, 12345.0, 100.0, 100.0]);
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
    // An older one is made anew.
    change("DROP TABLE runs; CREATE TABLE runs (id TEXT); PRAGMA user_version = 1");
    assert_eq!(open(&store).runs().expect("runs")[0].asked, "run");
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
    store.tag(&id(0), "baseline").expect("tagged as well");
    store.tag(&id(1), "second").expect("tagged");
    drop(open(&store));
    fs::remove_file(store.folder().join("index.sqlite")).expect("removed");
    assert_eq!(
        open(&store).runs().expect("runs")[1].tags,
        ["baseline", "second"]
    );
    assert_eq!(store.find("second").expect("found").run.id, id(1));
    assert_eq!(store.kept_ids("latest").expect("found"), [id(2)]);
    let newest = store.find("baseline").expect("found");
    assert_eq!((newest.run.id, newest.older), (id(1), 1));
    assert_eq!(store.each("baseline"), [id(0), id(1)]);
    assert_eq!(store.each("second"), ["second"]);
    assert_eq!(
        store.names().expect("names"),
        [id(2), "baseline".into(), "second".into(), id(1), id(0)]
    );
    assert!(store.untag(&id(0), "baseline").expect("untagged"));
    assert!(store.untag(&id(1), "baseline").expect("untagged"));
    assert!(!store.untag(&id(1), "baseline").expect("untagged"));
    store.remove(&id(1)).expect("removed");
    assert!(store.tags().is_empty());
    assert!(!store.folder().join("tags").join(id(1)).exists());
    let nonsense = ["", "a/b", "..", "-x", "latest", "x.json", "a b", "\u{1b}"];
    // What an id of later may begin with, too.
    let ids = ["2", "20261128", "20261128T0800", "19990101T"];
    for nonsense in nonsense.into_iter().chain(ids) {
        assert!(
            matches!(store.tag(&id(0), nonsense), Err(StoreError::NoTag { .. })),
            "{nonsense:?}"
        );
    }
}

#[test]
fn a_tag_is_written_while_another_is_removed() {
    let (_folder, store) = store();
    put(&store, &document(0, "here", 100.0));
    std::thread::scope(|scope| {
        for tag in ["6.12", "20261128-after"] {
            let (store, run) = (&store, id(0));
            scope.spawn(move || {
                for _ in 0..500 {
                    store.tag(&run, tag).expect("tagged");
                    assert!(store.untag(&run, tag).expect("untagged"));
                }
            });
        }
    });
    assert!(store.tags().is_empty());
}

/// Set for the copies of this test program that write concurrently: the directory, and the number
/// of the copy.
const FOLDER: &str = "SYSCOST_TEST_FOLDER";
const WRITER: &str = "SYSCOST_TEST_WRITER";

/// The name of the test that follows.
const NAME: &str = "tests::store::processes_that_write_at_once_lose_nothing";

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
                .args(["--exact", NAME])
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
    let written: Vec<f64> = (0..WRITERS * EACH).map(f64::from).collect();
    assert_eq!(medians(&index), written);
}

#[test]
fn the_index_has_the_names_of_its_version() {
    // It keeps the names that rows had when their run was indexed. Whoever renames a row raises the
    // version, and lets an index of an older one be made anew.
    assert_eq!((super::super::index::VERSION, RENAMED.len()), (2, 0));
}
