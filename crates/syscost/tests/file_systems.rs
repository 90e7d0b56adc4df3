//! The file-system rows on file systems of every kind, each mounted for the test alone.
//!
//! docs/testing-file-systems.md shows how to run these tests, and how to mount the same by hand.

mod common;
mod disks;
mod groups;
mod limits;
mod tool;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use common::{Program, rows};
use serde_json::Value;

use disks::{Disk, Kind, on, on_all};

/// Size of a disk: the smallest on which every kind can be made, and the group finds room.
const BYTES: u64 = 1 << 30;

/// So that a run takes seconds.
const QUICK: &[&str] = &["--profile", "quick"];

/// Held by the test that measures: two tests at once would disturb each other.
static TURN: Mutex<()> = Mutex::new(());

pub(crate) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `--dir LABEL=PATH` of a disk.
fn directory(label: &str, disk: &Disk) -> String {
    format!("--dir={label}={}", disk.path().display())
}

/// A run's output. Records lie in the program's folder, apart from those of other programs.
fn run(program: &Program, arguments: &[&str]) -> Output {
    let output = program
        .command(&[&["run", "--no-samples"], arguments].concat())
        .env("TMPDIR", program.folder())
        .output();
    output.expect("the binary starts")
}

/// The document of a run that must end well.
fn document(program: &Program, arguments: &[&str]) -> Value {
    let output = run(program, &[arguments, QUICK, &["--format", "json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// What `syscost clean` says.
fn clean(program: &Program, arguments: &[&str]) -> String {
    let output = program
        .command(&[&["clean"], arguments].concat())
        .env("TMPDIR", program.folder())
        .env("XDG_CACHE_HOME", program.folder())
        .output()
        .expect("the binary starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Text of a row.
fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// The rows of a directory, with all these parts in their names.
fn rows_of<'a>(run: &'a Value, label: &str, parts: &[&str]) -> Vec<&'a Value> {
    let directory = format!("dir={label},");
    let has = |row: &&Value| {
        let name = text(row, "name");
        name.contains(&directory) && parts.iter().all(|part| name.contains(part))
    };
    rows(run).iter().filter(has).collect()
}

/// Whether evidence of this row was counted by `source`, and confirmed.
fn is_confirmed_by(row: &Value, source: &str) -> bool {
    let evidence = row["evidence"].as_array().into_iter().flatten();
    evidence
        .filter(|one| text(one, "source").contains(source))
        .any(|one| one["verdict"] == "Confirmed")
}

/// A row in a few words, for a message.
fn told(row: &Value) -> String {
    let (name, status) = (text(row, "name"), text(row, "status"));
    format!("{name} is {status}: {}", row["reason"])
}

#[test]
fn each_file_system_has_the_rows_that_it_can_have_and_no_others() {
    let _turn = turn();
    on_all(BYTES, |disks| {
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
                println!("{}", told(row));
                assert_fit(row, *kind);
            }
            assert_eq!(disk.content(), [] as [&Path; 0], "{kind:?}: nothing stays");
        }
    });
}

/// That the document describes the directory.
fn assert_described(run: &Value, kind: Kind) {
    let directories = run["directories"].as_array().expect("directories");
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

/// That a row of reading has a number where its file system can keep what it says, and a reason
/// where not.
fn assert_fit(row: &Value, kind: Kind) {
    let (name, status) = (text(row, "name"), text(row, "status"));
    let reason = text(row, "reason");
    let has_number = status == "ok";
    if name.contains("cache=cold") {
        match kind {
            Kind::Tmpfs => assert!(!has_number && reason.contains("memory"), "{}", told(row)),
            // Here cachestat always says that nothing is cached: only mincore can tell.
            Kind::Overlay => {
                let is_witnessed = is_confirmed_by(row, "mincore");
                assert!(!has_number || is_witnessed, "{}", told(row));
            }
            Kind::Ext4 | Kind::Xfs | Kind::Btrfs => assert!(has_number, "{}", told(row)),
        }
    } else if name.contains("cache=direct") {
        match kind {
            Kind::Tmpfs => assert!(!has_number && !reason.is_empty(), "{}", told(row)),
            Kind::Ext4 | Kind::Xfs => assert!(has_number, "{}", told(row)),
            // They may serve it from the cache: then there is no number.
            Kind::Btrfs | Kind::Overlay => {
                assert!(has_number || !reason.is_empty(), "{}", told(row));
            }
        }
    } else {
        assert!(has_number, "{}", told(row));
    }
}

#[test]
fn directories_stand_side_by_side() {
    let _turn = turn();
    on(Kind::Ext4, BYTES, "", |disk| {
        on_further(disk);
    });
}

/// Two folders of one disk, whose rows stand beside each other.
fn on_further(disk: &Disk) {
    let program = Program::new();
    let other = disk.path().join("other");
    fs::create_dir(&other).expect("a folder");
    let arguments = [
        "fs.read{cache=warm,size=4K,access=random}",
        "--profile=quick",
        &directory("one", disk),
        &format!("--dir=two={}", other.display()),
    ];
    let output = run(&program, &arguments);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{table}");
    let heading = table.lines().find(|line| line.starts_with("fs "));
    let heading = heading.expect("the group's heading");
    assert!(
        heading.contains("one") && heading.contains("to one"),
        "{table}"
    );
    assert!(table.contains("dir=two "), "both are described: {table}");
}

#[test]
fn a_directory_that_cannot_be_measured_is_told_before_anything_is() {
    let _turn = turn();
    on(Kind::Ext4, 64 << 20, "", |disk| {
        let program = Program::new();
        let refused = |dir: &str, words: &str| {
            let output = run(&program, &["fs", dir]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(words), "{said}");
        };
        refused("--dir=/no/such/folder", "No such file");
        refused(
            &format!("--dir=a,b={}", disk.path().display()),
            "row's name",
        );
        fill(disk);
        refused(&directory("full", disk), "are to be left");
        fs::remove_file(disk.path().join("filling")).expect("it can be removed");
        disk.remount("ro");
        refused(&directory("ro", disk), "Read-only");
    });
}

/// Fills a disk to the last block.
fn fill(disk: &Disk) {
    let mut file = fs::File::create(disk.path().join("filling")).expect("a file");
    let part = vec![1; 1 << 20];
    while std::io::Write::write_all(&mut file, &part).is_ok() {}
}

#[test]
fn a_disk_that_gets_full_costs_rows_and_no_run() {
    let _turn = turn();
    // Room enough, but for a few names only.
    on(Kind::Tmpfs, 256 << 20, "nr_inodes=12", |disk| {
        let program = Program::new();
        let run = document(&program, &["fs", "--budget", "20", &directory("few", disk)]);
        let failed = |row: &&Value| text(row, "status") == "failed";
        for row in rows(&run).iter().filter(failed) {
            println!("{}", told(row));
            assert!(!text(row, "reason").is_empty(), "{}", told(row));
        }
        assert_eq!(disk.content(), [] as [&Path; 0]);
    });
}

#[test]
fn a_disk_that_becomes_read_only_ends_no_run() {
    let _turn = turn();
    on(Kind::Ext4, BYTES, "", |disk| {
        let program = Program::new();
        let mut child = start(&program, disk, "10");
        wait_for_tree(&mut child, disk);
        // As after an error of the device: nothing can be written or removed any more.
        disk.remount("abort");
        let status = child.wait().expect("it ends");
        assert!(status.code().is_some(), "it ends by itself: {status}");
        let said = clean(&program, &[]);
        assert!(
            said.starts_with("cannot remove tree") || disk.content().is_empty(),
            "{said}"
        );
    });
}

#[test]
fn what_a_killed_run_left_is_gone_with_the_next_run() {
    let _turn = turn();
    on(Kind::Ext4, BYTES, "", |disk| {
        let program = Program::new();
        kill_midway(&program, disk);
        assert!(!disk.content().is_empty(), "it was killed midway");
        // Any run: the tree is on record.
        let output = run(
            &program,
            &["timing.loop", "--no-save", "--profile", "quick"],
        );
        assert!(output.status.success());
        assert_eq!(disk.content(), [] as [&Path; 0]);
    });
}

#[test]
fn what_a_killed_run_left_is_gone_with_clean_also_when_its_record_is_lost() {
    let _turn = turn();
    on(Kind::Ext4, BYTES, "", |disk| {
        let program = Program::new();
        let strange = disk.path().join("syscost-1-a");
        fs::create_dir(&strange).expect("a folder");
        for keeps_record in [true, false] {
            kill_midway(&program, disk);
            let left = disk.content();
            assert_eq!(left.len(), 2, "{left:?}");
            if !keeps_record {
                remove_records(program.folder());
            }
            let listed = clean(&program, &["--dry-run"]);
            let tree = left
                .iter()
                .find(|path| **path != strange)
                .expect("it is there");
            let tree = tree.display().to_string();
            assert!(
                listed.contains(&format!("would remove tree {tree}")),
                "{listed}"
            );
            assert_eq!(disk.content(), left, "nothing is removed yet");
            let removed = clean(&program, &[]);
            assert!(
                removed.contains(&format!("removed tree {tree}")),
                "{removed}"
            );
            assert_eq!(
                disk.content(),
                std::slice::from_ref(&strange),
                "another's stays"
            );
        }
        assert_eq!(clean(&program, &[]), "nothing was left behind\n");
    });
}

#[test]
fn a_resumed_run_keeps_its_directories_and_is_refused_where_they_lie_on_something_else() {
    let _turn = turn();
    let program = Program::new();
    let resume = || {
        let journal = program.journals().remove(0).display().to_string();
        let output = program
            .command(&["run", "--resume", &journal, "--no-save", "--format", "json"])
            .env("TMPDIR", program.folder())
            .output();
        output.expect("the binary starts")
    };
    on(Kind::Ext4, BYTES, "", |disk| {
        let arguments = ["fs.read", "--budget", "1.5", &directory("kept", disk)];
        run(
            &program,
            &[&arguments[..], &["--profile", "careful"]].concat(),
        );
        if program.journals().is_empty() {
            return println!("skipped: the run was complete");
        }
        // The same place, but in memory now.
        let path = disk.path().display().to_string();
        tool::run(&["mount", "-t", "tmpfs", "tmpfs", &path]).expect("it can be mounted");
        let output = resume();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("its directory kept was on ext4"), "{said}");
        tool::run(&["umount", &path]).expect("it can be unmounted");
        let output = resume();
        let resumed: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
        assert_eq!(resumed["directories"][0]["path"], path.as_str());
        assert!(
            rows(&resumed)
                .iter()
                .all(|row| text(row, "name").contains("{dir=kept,"))
        );
        assert_eq!(resumed["config"]["resumed"], 1);
    });
}

/// As a restart of the machine does with the folder for temporary files.
fn remove_records(folder: &Path) {
    let folders = fs::read_dir(folder).expect("it can be read").flatten();
    for found in folders.filter(|found| found.file_name().to_string_lossy().starts_with("syscost-"))
    {
        fs::remove_dir_all(found.path()).expect("it can be removed");
    }
}

/// Starts a run of this many seconds on a disk. The caller waits for its end.
fn start(program: &Program, disk: &Disk, budget: &str) -> Child {
    let arguments = [
        "run",
        "fs.read",
        "--profile",
        "careful",
        "--budget",
        budget,
        &directory("disk", disk),
    ];
    program
        .command(&arguments)
        .env("TMPDIR", program.folder())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

/// Waits until the run has a tree with a file in it.
fn wait_for_tree(child: &mut Child, disk: &Disk) {
    // Beside its marker.
    let has_file = || {
        let entries = |tree: &PathBuf| fs::read_dir(tree).map_or(0, Iterator::count);
        disk.content().iter().any(|tree| entries(tree) > 1)
    };
    while !has_file() {
        let ended = child.try_wait().expect("it can be asked");
        assert!(ended.is_none(), "it ended before it made a file: {ended:?}");
        sleep(Duration::from_millis(1));
    }
}

/// Kills a run while it has a tree on this disk, and waits until its workers are gone as well.
fn kill_midway(program: &Program, disk: &Disk) {
    let others = disk.content().len();
    for _ in 0..20 {
        let mut child = start(program, disk, "100");
        wait_for_tree(&mut child, disk);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        // Its workers follow it; until then they may make or remove things.
        while !running_in(program.folder()).is_empty() {
            sleep(Duration::from_millis(2));
        }
        if disk.content().len() > others {
            return;
        }
    }
    panic!("a run is killed while it has a tree");
}

/// Processes that have this folder for temporary files.
fn running_in(folder: &Path) -> Vec<String> {
    let variable = format!("TMPDIR={}", folder.display());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let has_it = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|one| one == variable.as_bytes())
    };
    processes
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(has_it)
        .collect()
}
