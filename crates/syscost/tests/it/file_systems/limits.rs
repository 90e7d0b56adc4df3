//! Detects limits that a control group sets: of its page cache, and of reads from its device.

use std::os::linux::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::common::{Program, or_skip, row};
use rustix::fs::{major, minor};
use serde_json::Value;

use super::disks::{Kind, on};
use super::groups::{GRANTED, Group, Limit};
use crate::tool::{turn, unless_required};

/// The document of a run in a control group, which must end well.
fn document(group: &Group, command: &mut Command) -> Value {
    let arguments = [
        "--no-save",
        "--no-samples",
        "--format",
        "json",
        "--budget",
        "120",
    ];
    let output = group.within(command.args(arguments)).output();
    let output = output.expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn number(row: &Value, key: &str) -> f64 {
    row["estimate"][key]
        .as_f64()
        .unwrap_or_else(|| panic!("no {key}: {row}"))
}

#[test]
#[ignore = "machine suite"]
fn the_page_cache_of_a_memory_group_gives_way_at_its_limit() {
    let _turn = turn();
    const BYTES: u64 = 256 << 20;
    let group = or_skip!(unless_required(Group::new(&Limit::memory(BYTES)), GRANTED));
    let program = Program::new();
    // Next to the build, which is on a disk; the directory for temporary files may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let directory = format!("--dir=here={}", folder.path().display());
    let run = document(
        &group,
        &mut program.command(&format!("run fs.cache_size {directory}")),
    );
    let row = row(&run, "fs.cache_size{dir=here}");
    if row["status"] == "unsupported" {
        return println!("skipped: {}", row["reason"]);
    }
    assert_eq!(row["status"], "ok", "{row}");
    let limit = BYTES as f64;
    let (low, high) = (number(row, "ci95_low"), number(row, "ci95_high"));
    assert!(low <= limit && limit <= high, "{low} to {high}: {row}");
    assert!(
        low >= limit / 2.0 && high <= 1.5 * limit,
        "{low} to {high}: {row}"
    );
    assert_eq!(row["details"]["memory_limit_bytes"], limit);
}

#[test]
#[ignore = "machine suite"]
fn reads_that_a_group_limits_reach_a_plateau() {
    const LIMIT: u32 = 500;
    or_skip!(on(Kind::Ext4, 1 << 30, "", |disk| {
        let group = or_skip!(unless_required(
            Group::new(&limit_of(&disk.path(), LIMIT)),
            GRANTED
        ));
        let program = Program::new();
        let directory = format!("--dir=slow={}", disk.path().display());
        let names =
            [8, 32].map(|count| format!("fs.contention{{dir=slow,file=own,processes={count}}}"));
        let run = document(
            &group,
            &mut program.command(&format!("run {} {} {directory}", names[0], names[1])),
        );
        for name in &names {
            let row = row(&run, name);
            assert_eq!(row["status"], "ok", "{row}");
            let share = number(row, "median") / f64::from(LIMIT);
            assert!((0.8..1.1).contains(&share), "{share} of the limit: {row}");
        }
    }));
}

/// A limit of reads from the device that this directory is on.
fn limit_of(folder: &Path, reads: u32) -> Limit {
    let device = folder.metadata().expect("it is there").st_dev();
    Limit::reads_per_second((major(device), minor(device)), reads)
}
