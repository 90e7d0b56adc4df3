//! `syscost show` prints what `run` printed.

mod common;

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
    // Where it was saved, and what to do next, only `run` says.
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
    let (_, told, _) = show(&["-v", "latest", "syscall"]);
    assert!(
        told.contains("seccomp audit") && !told.contains("integer"),
        "{told}"
    );

    let (_, found, _) = show(&["latest", "null", "system", "call"]);
    assert!(
        found.contains("getppid") && !found.contains("integer"),
        "{found}"
    );
    let (code, _, complaint) = show(&["latest", "lat_ctx"]);
    assert_eq!(code, Some(2), "the run has no row of what is found");
    assert!(complaint.contains("no row called `lat_ctx`"), "{complaint}");

    let (code, _, complaint) = show(&["latest", "syscall.nothing"]);
    assert_eq!(code, Some(2));
    assert!(
        complaint.contains("no row called `syscall.nothing`"),
        "{complaint}"
    );
}
