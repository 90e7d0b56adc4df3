//! Nothing that a killed run created survives its partners or the next run.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::browser::Browser;
use crate::common::{Ending, Program, or_skip};

/// Rows whose partners communicate through a SysV object, which the kernel keeps when its users are
/// gone.
const SELECTION: &str = "run switch.sysv_semaphore --profile careful";

/// Starts a run. The caller waits for its end.
fn start(program: &Program) -> Child {
    program
        .command(SELECTION)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

/// The records there.
fn records(scratch: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(scratch).into_iter().flatten().flatten();
    folders
        .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "record"))
        .collect()
}

/// Keys of the SysV semaphores on record.
fn keys(records: &[PathBuf]) -> Vec<String> {
    let texts = records.iter().flat_map(fs::read_to_string);
    texts
        .filter_map(|text| Some(text.lines().nth(1)?.strip_prefix("semaphores ")?.to_owned()))
        .collect()
}

/// Keys of all SysV semaphores of this machine.
fn existing() -> std::io::Result<Vec<String>> {
    let text = fs::read_to_string("/proc/sysvipc/sem")?;
    let keys = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    Ok(keys.map(str::to_owned).collect())
}

/// A process and all its descendants, from the `children` files.
fn tree(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let below = children
        .split_whitespace()
        .filter_map(|word| word.parse().ok());
    [pid].into_iter().chain(below.flat_map(tree)).collect()
}

fn is_running(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit(") ")
            .next()
            .is_some_and(|rest| !rest.starts_with('Z'))
    })
}

#[test]
fn a_test_that_fails_leaves_nothing() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut made = Vec::new();
    let failed = catch_unwind(AssertUnwindSafe(|| {
        let program = Program::new();
        made.push(program.folder().to_owned());
        // Scratch files, a directory in which files are measured, a journal, a kept run.
        program
            .command("run fs.lock ipc.round_trip{via=fifo,size=64} --profile quick --budget 3")
            .env("HOME", home.path())
            .ended();
        let browser = Browser::start();
        made.extend(
            browser
                .iter()
                .map(|browser| browser.profile.path().to_owned()),
        );
        panic!("as a test that fails");
    }));
    assert!(failed.is_err());
    for folder in made {
        assert!(!folder.exists(), "{} is left", folder.display());
    }
    let mut beside = fs::read_dir(home.path()).expect("it is there");
    assert!(beside.next().is_none(), "something is written elsewhere");
}

#[test]
fn clean_removes_what_was_left_half_written() {
    let program = Program::new();
    let data = program.folder().join("syscost");
    fs::create_dir_all(data.join("runs")).expect("made");
    let left = ["runs/.syscost-AbCdEf.tmp", "cores.12853.tmp"].map(|name| data.join(name));
    for path in &left {
        fs::write(path, "half").expect("written");
    }
    let said = program.run("clean --dry-run").out;
    for path in &left {
        let line = format!("would remove file {}", path.display());
        assert!(said.contains(&line) && path.exists(), "{said}");
    }
    program.run("clean").succeeded();
    assert!(left.iter().all(|path| !path.exists()));
}

#[test]
#[ignore = "machine suite"]
fn a_killed_runs_partners_end_with_it_and_its_objects_with_the_next_run() {
    or_skip!(existing());
    let program = Program::new();
    let scratch = program.temporary();
    // A run creates and removes many sets; it is to be killed while it has one.
    let left = (0..20).find_map(|_| {
        let mut child = start(&program);
        while keys(&records(&scratch)).is_empty() && is_running(child.id()) {
            sleep(Duration::from_millis(2));
        }
        let running = tree(child.id());
        child.kill().expect("the run can be killed");
        child.wait().expect("it can be waited for");
        for pid in running {
            // Its workers end after it, and their partners after them.
            while is_running(pid) {
                sleep(Duration::from_millis(1));
            }
        }
        Some(keys(&records(&scratch))).filter(|keys| !keys.is_empty())
    });
    let left = left.expect("a run is killed while it has semaphores");
    let there = existing().expect("read before");
    assert!(
        left.iter().any(|key| there.contains(key)),
        "{left:?} are on record and made"
    );

    let next = program.run("run timing.loop --profile quick --no-save");
    next.succeeded();
    let there = existing().expect("read before");
    assert!(
        !left.iter().any(|key| there.contains(key)),
        "{left:?} outlived the next run"
    );
    assert_eq!(records(&scratch), [] as [PathBuf; 0]);
}
