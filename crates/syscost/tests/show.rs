//! `syscost show` prints what `run` printed.

mod common;

use std::fs;

use common::Program;

#[test]
fn the_table_of_a_kept_run_is_printed_again() {
    let program = Program::new();
    let measured = program.run(&["run", "--profile", "quick", "call.integer", "syscall.null"]);
    let printed = String::from_utf8(measured.stdout).expect("text");
    let show = |arguments: &[&str]| {
        let output = program.run(&[&["show"], arguments].concat());
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
            String::from_utf8(output.stderr).expect("text"),
        )
    };
    let (code, again, _) = show(&[]);
    assert_eq!(code, Some(0));
    // Only `run` says where it was saved, and what to do next.
    let table = printed.split("\nSaved to").next().expect("a table");
    assert!(
        table.contains("getppid") && again.contains(table.trim_end()),
        "{again}"
    );

    let (_, some, _) = show(&["latest", "syscall.null{call=getppid}"]);
    assert!(
        some.contains("getppid") && !some.contains("integer"),
        "{some}"
    );
    assert!(some.contains(" in a run of "), "{some}");
    assert!(!again.contains(" in a run of "), "{again}");
    // Completeness is stated for the whole run.
    let [whole, some] = [
        &["show", "--format", "json"][..],
        &["show", "latest", "syscall", "--format", "json"],
    ]
    .map(|arguments| program.json(arguments)["complete"].clone());
    assert_eq!(whole, some);
    assert!(whole.is_boolean());
    let (_, some, _) = show(&["latest", "syscall", "--case", "call=getppid"]);
    assert!(
        some.contains("getppid") && !some.contains("getuid"),
        "{some}"
    );
    let (code, _, complaint) = show(&["latest", "syscall.null{call=getpgid}"]);
    assert_eq!(code, Some(2));
    assert!(
        complaint.contains("syscall.null has no call=getpgid; there are call=getppid,"),
        "{complaint}"
    );
    let (_, text, _) = show(&["-v", "latest", "syscall"]);
    assert!(
        text.contains("seccomp audit") && !text.contains("integer"),
        "{text}"
    );

    let (_, found, _) = show(&["latest", "null", "system", "call"]);
    assert!(
        found.contains("getppid") && !found.contains("integer"),
        "{found}"
    );
    let (code, _, complaint) = show(&["latest", "lat_ctx"]);
    assert_eq!(code, Some(2), "the run has no row of what is found");
    assert!(
        complaint.contains("no row of what `lat_ctx` finds") && complaint.contains("switch.ring"),
        "{complaint}"
    );
    let (code, _, complaint) = show(&["latest", "switch.pipe"]);
    assert_eq!(code, Some(2));
    assert!(
        complaint.contains("`syscost run switch.pipe` measures it"),
        "{complaint}"
    );
    let (_, found, _) = show(&["latest", "getuid"]);
    assert!(found.contains("getuid"), "{found}");

    let (code, _, complaint) = show(&["latest", "syscall.nothing"]);
    assert_eq!(code, Some(2));
    assert!(
        complaint.contains("no row is called `syscall.nothing`"),
        "{complaint}"
    );

    // No run has this name, but rows do.
    let (code, latest, _) = show(&["syscall"]);
    assert_eq!(code, Some(0));
    assert!(
        latest.contains("getppid") && !latest.contains("integer"),
        "{latest}"
    );
    let (_, found, _) = show(&["null", "system", "call"]);
    assert_eq!(found, latest);
    let (code, _, complaint) = show(&["zebra"]);
    assert_eq!(code, Some(2));
    assert!(
        complaint.contains("no kept run called `zebra`"),
        "{complaint}"
    );
    let (code, _, complaint) = show(&["--beside", "zebra"]);
    assert_eq!(code, Some(2));
    assert_eq!(complaint.matches("zebra").count(), 1, "{complaint}");
    assert!(complaint.contains("epyc-guest"), "{complaint}");
}

#[test]
fn the_summary_of_a_kept_run_is_printed_again() {
    let program = Program::new();
    // The shipped reference is a run of all rows.
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/references/epyc-guest.json");
    let runs = program.folder().join("syscost/runs");
    fs::create_dir_all(&runs).expect("a folder");
    fs::copy(reference, runs.join("20261125T154047.581Z-dc0949.json")).expect("copied");
    let show = |arguments: &[&str]| program.run(&[&["show", "--summary"], arguments].concat());
    let output = show(&[]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    for part in [
        "Null system call",
        "reference: epyc-guest",
        "Next: syscost show latest |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let beside = show(&["--beside", "latest"]);
    let beside = String::from_utf8(beside.stdout).expect("text");
    assert!(beside.contains("reference: latest,"), "{beside}");
    let quiet = show(&["-q"]);
    let quiet = String::from_utf8(quiet.stdout).expect("text");
    assert!(
        quiet.contains("Null system call") && !quiet.contains("Next:"),
        "{quiet}"
    );
    let rows = show(&["latest", "syscall"]);
    assert_eq!(rows.status.code(), Some(2), "a summary is of the whole run");
}
