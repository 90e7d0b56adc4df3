//! The file-system rows on file systems of every kind, each mounted for the test alone.
//!
//! docs/testing-file-systems.md shows how to run these tests, and how to mount the same file
//! systems by hand.

mod broken_off;
mod disks;
mod groups;
mod limits;

use std::fs;
use std::path::Path;

use crate::common::{Ended, Ending, Json, Program, or_skip, rows};
use serde_json::Value;

use disks::{Disk, Kind, on, on_all};

/// Size of a disk: the smallest on which every kind can be created, with room for the group.
const BYTES: u64 = 1 << 30;

/// Options that make a run take only seconds.
const QUICK: &[&str] = &["--profile", "quick"];

/// `--dir LABEL=PATH` of a disk.
fn directory(label: &str, disk: &Disk) -> String {
    format!("--dir={label}={}", disk.path().display())
}

/// A run's output.
fn run(program: &Program, arguments: &[&str]) -> Ended {
    program.command("run --no-samples").args(arguments).ended()
}

/// The document of a run that must end well.
fn document(program: &Program, arguments: &[&str]) -> Value {
    let output = run(program, &[arguments, QUICK, &["--format", "json"]].concat());
    output.succeeded().json()
}

/// The output of `syscost clean`.
fn clean(program: &Program, arguments: &[&str]) -> String {
    program.command("clean").args(arguments).ended().out
}

/// A text field of a row.
fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// The rows of a directory whose names contain all these parts.
fn rows_of<'a>(run: &'a Value, label: &str, parts: &[&str]) -> Vec<&'a Value> {
    let directory = format!("dir={label},");
    let has = |row: &&Value| {
        let name = text(row, "name");
        name.contains(&directory) && parts.iter().all(|part| name.contains(part))
    };
    rows(run).iter().filter(has).collect()
}

/// Whether some evidence of this row was counted by `source`, and confirmed.
fn is_confirmed_by(row: &Value, source: &str) -> bool {
    let evidence = row["evidence"].as_array().into_iter().flatten();
    evidence
        .filter(|one| text(one, "source").contains(source))
        .any(|one| one["verdict"] == "Confirmed")
}

/// A row in a few words, for a message.
fn shown(row: &Value) -> String {
    let (name, status) = (text(row, "name"), text(row, "status"));
    format!("{name} is {status}: {}", row["reason"])
}

#[test]
#[ignore = "machine suite"]
fn each_file_system_has_the_rows_that_it_can_have_and_no_others() {
    or_skip!(on_all(BYTES, |disks| {
        let program = Program::new();
        let directories: Vec<String> = disks
            .iter()
            .map(|(kind, disk)| directory(kind.name(), disk))
            .collect();
        let mut arguments = vec!["fs.read{size=4K}", "fs.read{size=1M}", "--budget", "120"];
        arguments.extend(directories.iter().map(String::as_str));
        let run = document(&program, &arguments);
        for (kind, disk) in disks {
            assert_described(&run, *kind);
            for row in rows_of(&run, kind.name(), &["fs.read{"]) {
                println!("{}", shown(row));
                assert_fit(row, *kind);
            }
            assert_eq!(disk.content(), [] as [&Path; 0], "{kind:?}: nothing stays");
        }
    }));
}

/// Asserts that the document describes the directory.
fn assert_described(run: &Value, kind: Kind) {
    let directories = run["directories"].list();
    let mut of_kind = directories.iter();
    let found = of_kind.find(|directory| directory["label"] == kind.name());
    let found = found.expect("every directory is there");
    assert_eq!(found["filesystem"], kind.name());
    assert_eq!(found["in_memory"], kind == Kind::Tmpfs);
    let layers = found["layers"].to_string();
    match kind {
        Kind::Ext4 | Kind::Xfs | Kind::Btrfs => assert!(layers.contains("loop over"), "{layers}"),
        Kind::Overlay => assert!(layers.contains("overlay over"), "{layers}"),
        Kind::Tmpfs => assert_eq!(found["device"], Value::Null),
    }
}

/// Asserts that a row of reading has a number if its file system can fulfil its claims, and a
/// reason if not.
fn assert_fit(row: &Value, kind: Kind) {
    let (name, status) = (text(row, "name"), text(row, "status"));
    let reason = text(row, "reason");
    let has_number = status == "ok";
    if name.contains("cache=cold") {
        match kind {
            Kind::Tmpfs => assert!(!has_number && reason.contains("memory"), "{}", shown(row)),
            // Here cachestat always says that nothing is cached: only mincore can tell.
            Kind::Overlay => {
                let is_witnessed = is_confirmed_by(row, "mincore");
                assert!(!has_number || is_witnessed, "{}", shown(row));
            }
            Kind::Ext4 | Kind::Xfs | Kind::Btrfs => assert!(has_number, "{}", shown(row)),
        }
    } else if name.contains("cache=direct") {
        match kind {
            Kind::Tmpfs => assert!(!has_number && !reason.is_empty(), "{}", shown(row)),
            Kind::Ext4 | Kind::Xfs => assert!(has_number, "{}", shown(row)),
            // These may serve it from the cache: then there is no number.
            Kind::Btrfs | Kind::Overlay => {
                assert!(has_number || !reason.is_empty(), "{}", shown(row));
            }
        }
    } else {
        assert!(has_number, "{}", shown(row));
    }
}

#[test]
#[ignore = "machine suite"]
fn a_directory_that_cannot_be_measured_is_told_before_anything_is() {
    or_skip!(on(Kind::Ext4, 64 << 20, "", |disk| {
        let program = Program::new();
        let refused = |dir: &str, words: &str| {
            run(&program, &["fs", dir]).says(2, words);
        };
        refused("--dir=/no/such/folder", "No such file");
        refused(
            &format!("--dir=a,b={}", disk.path().display()),
            "row's name",
        );
        fill(disk);
        refused(&directory("full", disk), "must stay free");
        fs::remove_file(disk.path().join("filling")).expect("it can be removed");
        disk.remount("ro");
        refused(&directory("ro", disk), "Read-only");
    }));
}

/// Fills a disk to the last block.
fn fill(disk: &Disk) {
    let mut file = fs::File::create(disk.path().join("filling")).expect("a file");
    let part = vec![1; 1 << 20];
    while std::io::Write::write_all(&mut file, &part).is_ok() {}
}

#[test]
#[ignore = "machine suite"]
fn a_disk_that_has_no_more_room_costs_rows_and_no_run() {
    // Enough space, but only for a few names.
    or_skip!(on(Kind::Tmpfs, 256 << 20, "nr_inodes=12", |disk| {
        let program = Program::new();
        let run = document(&program, &["fs", "--budget", "20", &directory("few", disk)]);
        let mut failed = 0;
        for row in rows(&run).iter().filter(|row| row["status"] == "failed") {
            println!("{}", shown(row));
            assert!(
                text(row, "reason").contains("No space left"),
                "{}",
                shown(row)
            );
            failed += 1;
        }
        assert!(failed > 0, "rows that make many files fail");
        assert_eq!(disk.content(), [] as [&Path; 0]);
    }));
}
