//! Any file contents cause exit code 1 and one line that names the file, never a panic. A missing
//! file is a usage error.

use std::fs::{self, File};

use crate::common::{Program, stamped};

#[test]
fn a_bad_file_costs_one_line() {
    let program = Program::new();
    let whole = stamped(0, 100.0).1.to_string();
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("empty", Vec::new(), "the file is empty"),
        ("blank", b" \n\n".to_vec(), "the file is empty"),
        (
            "truncated",
            whole.as_bytes()[..whole.len() - 9].to_vec(),
            "the document ends too early",
        ),
        (
            "binary",
            (0..=255).cycle().take(9999).collect(),
            "byte 0: this is no text",
        ),
        (
            "foreign",
            b"{\"benchmarks\": []}".to_vec(),
            "this is JSON, but no run document",
        ),
        (
            "newer",
            whole
                .replacen("\"schema_version\":1", "\"schema_version\":9", 1)
                .into(),
            "has version 9",
        ),
        (
            "wrong",
            whole
                .replacen("\"unit\":\"ns\"", "\"unit\":\"mile\"", 1)
                .into(),
            "field measurements[0].unit",
        ),
        (
            "deep",
            "[".repeat(1 << 20).into(),
            "recursion limit exceeded",
        ),
    ];
    for (name, bytes, expected) in cases {
        let path = program.folder().join(format!("{name}.json"));
        fs::write(&path, bytes).expect("written");
        refused(&program, path.to_str().expect("text"), expected);
    }
}

#[test]
fn a_gigabyte_a_folder_and_a_missing_file_cost_one_line() {
    let program = Program::new();
    let huge = program.folder().join("huge.json");
    File::create(&huge)
        .and_then(|file| file.set_len(1 << 30))
        .expect("a sparse file");
    refused(
        &program,
        huge.to_str().expect("text"),
        "too large: more than 256 MiB",
    );
    unknown(
        &program,
        program.folder().to_str().expect("text"),
        "is a folder",
    );
    unknown(&program, "no/such.json", "cannot read no/such.json");
    unknown(
        &program,
        "nonsense",
        "there is no file and no kept run called `nonsense`",
    );
}

fn refused(program: &Program, path: &str, expected: &str) {
    ends(program, path, expected, 1);
}

fn unknown(program: &Program, path: &str, expected: &str) {
    ends(program, path, expected, 2);
}

fn ends(program: &Program, path: &str, expected: &str, code: i32) {
    let output = program.run(&format!("show {path}"));
    let error = output.err;
    assert_eq!(output.code, Some(code), "{path}: {error}");
    assert!(
        error.contains(expected) && error.contains(path),
        "{path}: {error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(output.out.is_empty());
}
