//! Programs in C, compiled against the library that this build has made (`cargo build --package syscost-c`).

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program of this source.
fn compiled(source: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = env::current_exe().expect("its file");
    let built = own.ancestors().nth(2).expect("target/debug");
    let source = root.join(source);
    let program = built.join(source.file_stem().expect("a name"));
    let library = built.join("libsyscost_c.a");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror"]);
    compiler.arg("-I").arg(root.join("include"));
    compiler.arg("-o").arg(&program).arg(&source).arg(&library);
    compiler.args(["-lpthread", "-ldl", "-lm"]);
    let status = compiler.status().expect("there is a C compiler");
    assert!(
        status.success(),
        "`cargo build --package syscost-c` makes {}",
        library.display()
    );
    program
}

fn ran(program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).output().expect("it starts")
}

/// Each row's status, and its reason if it has no number.
fn rows(program: &Path) -> BTreeMap<String, String> {
    let ran = ran(
        program,
        &[
            "run",
            "--no-save",
            "--profile",
            "quick",
            "--format",
            "json",
            "--quiet",
        ],
    );
    let run: Value = serde_json::from_slice(&ran.stdout).expect("a document");
    let rows = run["measurements"].as_array().expect("rows").iter();
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        (
            text("name"),
            format!("{} {}", text("status"), text("reason")),
        )
    };
    rows.map(row).collect()
}

#[test]
fn the_example_measures_its_functions_and_nothing_else() {
    let program = compiled("../../examples/c/functions.c");
    let rows = rows(&program);
    let rows: Vec<(&str, &str)> = rows.iter().map(|(name, how)| (&**name, &**how)).collect();
    assert_eq!(rows, [("list.sum", "ok "), ("text.strdup", "ok ")]);
    let listed = ran(&program, &["list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.contains("text.strdup") && !listed.contains("syscall.null"),
        "{listed}"
    );
    // What it prints last is there although no runtime of Rust's has begun the program.
    let about = ran(&program, &["worker", "about"]);
    assert!(serde_json::from_slice::<Value>(&about.stdout).is_ok());
}

#[test]
fn two_builds_are_measured_in_turn() {
    let program = compiled("../../examples/c/functions.c");
    let other = program.with_extension("other");
    std::fs::copy(&program, &other).expect("a copy");
    let other = other.to_str().expect("text");
    let ab = ran(
        &program,
        &["ab", "list.sum", "--b", other, "--budget", "10"],
    );
    let printed = String::from_utf8_lossy(&ab.stdout).into_owned();
    assert!(
        printed.contains("1 row compared: 0 worse"),
        "{printed}{}",
        String::from_utf8_lossy(&ab.stderr)
    );
    let foreign = ran(&program, &["ab", "--b", "/bin/true"]);
    assert_eq!(foreign.status.code(), Some(2));
}

#[test]
fn no_lie_has_a_number() {
    let rows = rows(&compiled("tests/lies.c"));
    for (name, expected) in [
        ("honest", "ok "),
        (
            "cached",
            "withheld core cycles per operation: expected at least 1000",
        ),
        (
            "returns_early",
            "withheld core cycles per operation: expected at least 1000",
        ),
        (
            "sleeps",
            "withheld voluntary switches per operation: expected at most 0.001",
        ),
        (
            "allocates",
            "withheld allocations per operation: expected 0, observed 1 (debug registers)",
        ),
        (
            "aligns",
            "withheld allocations per operation: expected 0, observed 1",
        ),
        (
            "calls_the_kernel",
            "withheld other system calls per operation: expected 0, observed 1",
        ),
        ("fails", "failed an operation failed: no luck"),
        ("crashes", "failed the worker was ended by signal 6"),
        ("has_nothing", "failed setup failed: it returned NULL"),
        ("cannot_begin", "failed setup failed: no data"),
    ] {
        let row = &rows[&format!("lie.{name}")];
        // Where debug registers do not work, nobody counts allocations, and the row says so.
        let is_uncounted = ["allocates", "aligns"].contains(&name) && row == "ok ";
        assert!(row.starts_with(expected) || is_uncounted, "{name}: {row}");
    }
}

#[test]
fn what_nothing_counts_cannot_be_declared() {
    let program = compiled("tests/lies.c");
    let refused = ran(&program, &["unicorns"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(
        error.contains("`lie.honest`: nothing counts \"unicorns\""),
        "{error}"
    );
}
