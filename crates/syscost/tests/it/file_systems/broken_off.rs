//! Runs on a file system that end midway, and what they leave there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::disks::{Disk, Kind, on};
use super::{BYTES, clean, directory, run, text};
use crate::common::{Ending, Program, or_skip, rows};
use crate::tool;

#[test]
#[ignore = "machine suite"]
fn a_disk_that_becomes_read_only_ends_no_run() {
    or_skip!(on(Kind::Ext4, BYTES, "", |disk| {
        let program = Program::new();
        let mut child = start(&program, disk, "10");
        wait_for_tree(&mut child, disk);
        // As after a device error: nothing can be written or removed any more.
        disk.remount("abort");
        let status = child.wait().expect("it ends");
        assert!(status.code().is_some(), "it ends by itself: {status}");
        let said = clean(&program, &[]);
        assert!(
            said.starts_with("cannot remove tree") || disk.content().is_empty(),
            "{said}"
        );
    }));
}

#[test]
#[ignore = "machine suite"]
fn what_a_killed_run_left_is_gone_with_the_next_run() {
    or_skip!(on(Kind::Ext4, BYTES, "", |disk| {
        let program = Program::new();
        kill_midway(&program, disk);
        assert!(!disk.content().is_empty(), "it was killed midway");
        // Any run will do: the tree is on record.
        run(
            &program,
            &["timing.loop", "--no-save", "--profile", "quick"],
        )
        .succeeded();
        assert_eq!(disk.content(), [] as [&Path; 0]);
    }));
}

#[test]
#[ignore = "machine suite"]
fn what_a_killed_run_left_is_gone_with_clean_also_when_its_record_is_lost() {
    or_skip!(on(Kind::Ext4, BYTES, "", |disk| {
        let program = Program::new();
        let strange = disk.path().join("syscost-1-a");
        fs::create_dir(&strange).expect("a folder");
        for keeps_record in [true, false] {
            kill_midway(&program, disk);
            let left = disk.content();
            assert_eq!(left.len(), 2, "{left:?}");
            if !keeps_record {
                remove_records(&program.temporary());
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
    }));
}

#[test]
#[ignore = "machine suite"]
fn a_resumed_run_keeps_its_directories_and_is_refused_where_they_lie_on_something_else() {
    let program = Program::new();
    let resume = || {
        let journal = program.journals().remove(0).display().to_string();
        program
            .command(&format!("run --resume {journal} --no-save --format json"))
            .ended()
    };
    or_skip!(on(Kind::Ext4, BYTES, "", |disk| {
        let arguments = ["fs.read", "--budget", "1.5", &directory("kept", disk)];
        run(
            &program,
            &[&arguments[..], &["--profile", "careful"]].concat(),
        );
        if program.journals().is_empty() {
            return println!("skipped: the run was complete");
        }
        // The same path, but in memory now.
        let path = disk.path().display().to_string();
        tool::run(&["mount", "-t", "tmpfs", "tmpfs", &path]).expect("it can be mounted");
        let said = resume().err;
        assert!(said.contains("its directory kept was on ext4"), "{said}");
        tool::run(&["umount", &path]).expect("it can be unmounted");
        let resumed = resume().json();
        assert_eq!(resumed["directories"][0]["path"], path.as_str());
        assert!(
            rows(&resumed)
                .iter()
                .all(|row| text(row, "name").contains("{dir=kept,"))
        );
        assert_eq!(resumed["config"]["resumed"], 1);
    }));
}

/// Removes the records, as a reboot does with the directory for temporary files.
fn remove_records(folder: &Path) {
    let folders = fs::read_dir(folder).expect("it can be read").flatten();
    for found in folders.filter(|found| found.file_name().to_string_lossy().starts_with("syscost-"))
    {
        fs::remove_dir_all(found.path()).expect("it can be removed");
    }
}

/// Starts a run of this many seconds on a disk. The caller waits for its end.
fn start(program: &Program, disk: &Disk, budget: &str) -> Child {
    let directory = directory("disk", disk);
    program
        .command(&format!(
            "run fs.read --profile careful --budget {budget} {directory}"
        ))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

/// Waits until the run has a tree that contains a file.
fn wait_for_tree(child: &mut Child, disk: &Disk) {
    // Besides its marker.
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

/// Kills a run while it has a tree on this disk, and waits until its workers have ended too.
fn kill_midway(program: &Program, disk: &Disk) {
    let others = disk.content().len();
    for _ in 0..20 {
        let mut child = start(program, disk, "100");
        wait_for_tree(&mut child, disk);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        // Its workers end after it; until then they may create or remove files.
        while !running_in(&program.temporary()).is_empty() {
            sleep(Duration::from_millis(2));
        }
        if disk.content().len() > others {
            return;
        }
    }
    panic!("a run is killed while it has a tree");
}

/// Processes that use this directory for temporary files.
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
