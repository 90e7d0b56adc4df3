//! `syscost show` prints what `run` printed.

use std::fs;
use std::path::Path;

use crate::common::Program;

#[test]
fn the_table_of_a_kept_run_is_printed_again() {
    let program = Program::new();
    let measured = program.run("run --profile quick call.integer syscall.null");
    let printed = measured.out;
    let show = |arguments: &str| program.run(&format!("show {arguments}"));
    let shows = |arguments: &str, part: &str, without: &str| {
        let text = show(arguments).succeeded().out;
        assert!(text.contains(part) && !text.contains(without), "{text}");
        text
    };
    let again = show("").succeeded().out;
    // Only `run` says where it was saved, and what to do next.
    let table = printed.split("\nSaved to").next().expect("a table");
    assert!(
        table.contains("getppid") && again.contains(table.trim_end()),
        "{again}"
    );

    let some = shows("latest syscall.null{call=getppid}", "getppid", "integer");
    assert!(some.contains(" in a run of "), "{some}");
    assert!(!again.contains(" in a run of "), "{again}");
    // Completeness is stated for the whole run.
    let [whole, some] = ["show --format json", "show latest syscall --format json"]
        .map(|arguments| program.json(arguments)["complete"].clone());
    assert_eq!(whole, some);
    assert!(whole.is_boolean());
    shows("latest syscall{call=getppid}", "getppid", "getuid");
    shows("-v latest syscall", "seccomp audit", "integer");
    shows("latest null system call", "getppid", "integer");
    shows("latest getuid", "getuid", "integer");
    // No run has this name, but rows do.
    let latest = shows("syscall", "getppid", "integer");
    assert_eq!(show("null system call").out, latest);

    for (arguments, words) in [
        (
            "latest syscall.null{call=getpgid}",
            "syscall.null has no call=getpgid; there are call=getppid,",
        ),
        // The run has no row of what is found.
        ("latest lat_ctx", "no row of what `lat_ctx` finds"),
        ("latest lat_ctx", "switch.ring"),
        (
            "latest switch.pipe",
            "`syscost run switch.pipe` measures it",
        ),
        (
            "latest syscall.nothing",
            "no row is called `syscall.nothing`",
        ),
        ("zebra", "no kept run called `zebra`"),
    ] {
        show(arguments).says(2, words);
    }
    let unknown = show("--beside zebra").says(2, "epyc-guest").err;
    assert_eq!(unknown.matches("zebra").count(), 1, "{unknown}");
}

#[test]
fn the_summary_of_a_kept_run_is_printed_again() {
    let program = Program::new();
    // The shipped reference is a run of all rows.
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/references/epyc-guest.json.gz");
    let runs = program.folder().join("syscost/runs");
    fs::create_dir_all(&runs).expect("a folder");
    let run = syscost_store::load(Path::new(reference)).expect("a document");
    let document = serde_json::to_vec(&run).expect("JSON");
    fs::write(runs.join(format!("{}.json", run.id)), document).expect("written");
    let show = |arguments: &str| program.run(&format!("show --summary {arguments}"));
    let text = show("").succeeded().out;
    for part in [
        "Null system call",
        "reference: epyc-guest",
        "Next: syscost show latest |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let beside = show("--beside latest").out;
    assert!(beside.contains("reference: latest,"), "{beside}");
    let quiet = show("-q").out;
    assert!(
        quiet.contains("Null system call") && !quiet.contains("Next:"),
        "{quiet}"
    );
    let rows = show("latest syscall");
    assert_eq!(rows.code, Some(2), "a summary is of the whole run");
}
