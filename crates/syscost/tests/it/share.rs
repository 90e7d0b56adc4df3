//! Runs that users send as references.

use crate::common::{Program, RUN};

/// A reference, as it was shared.
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/references/epyc-guest.json.gz");

#[test]
fn a_full_run_is_written_to_be_sent() {
    let program = Program::new();
    let shared = program.folder().join("my.json.gz");
    let written = format!("report {SHARED} --anonymous --share {}", shared.display());
    program.run(&written).says(0, "Wrote ");
    // What is shared twice tells as much as what is shared once.
    let [once, twice] = [SHARED, shared.to_str().expect("UTF-8")]
        .map(|file| program.run(&format!("show {file} --format json")).ran().out);
    assert_eq!(once, twice);
}

#[test]
fn what_is_not_fit_or_not_anonymous_is_refused_in_a_sentence() {
    let program = Program::new();
    for (arguments, why) in [
        (
            format!("{RUN} --anonymous --share s.json.gz"),
            "quick profile",
        ),
        (format!("{SHARED} --share s.json.gz"), "--anonymous"),
        (
            format!("{SHARED} --anonymous --share s.json"),
            "written as .gz",
        ),
        (
            format!("{SHARED} {RUN} --anonymous --share s.json.gz"),
            "one run",
        ),
        (
            format!("{SHARED} --anonymous --share s.gz -o s.html"),
            "--output",
        ),
    ] {
        let refused = program.run(&format!("report {arguments}")).says(2, why);
        assert_eq!(refused.out, "");
        let sentence = refused.err.lines().filter(|line| line.contains("error"));
        assert_eq!(sentence.count(), 1, "{}", refused.err);
        assert!(!std::path::Path::new("s.json.gz").exists());
    }
}
