//! The end of the summary: its legend, warnings, and next steps.

use syscost_results::Flag;

use super::tests::full;
use super::*;

#[test]
fn signs_are_whole_and_explained_at_80_columns() {
    let mut run = full();
    run.measurements[0].flags = vec![Flag::TwoModes, Flag::NotSteady, Flag::Disturbed];
    run.measurements[1].flags = vec![Flag::LowTrust];
    run.warnings = vec![run.warnings[0].clone(); 5];
    let options = TableOptions {
        width: 80,
        ..TableOptions::default()
    };
    let reference = Reference {
        name: "epyc-guest",
        run: &run,
    };
    let text = summary(&run, Some(reference), &options);
    assert!(text.lines().count() <= 50, "{text}");
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
    for legend in [
        "modes: two levels",
        "shared: partly of",
        "overhead: over half",
    ] {
        assert!(text.contains(legend), "{text}");
    }
    // What does not fit is counted, not cut.
    let table = text.split("confirmed by").next().expect("a table");
    assert!(table.contains('+'), "{text}");
    assert!(!table.contains('…'), "{text}");
}

#[test]
fn what_is_not_kept_has_no_next_step_and_silence_leaves_the_result() {
    let run = full();
    let shown = |name: Option<&str>, quiet| {
        let options = TableOptions {
            name: name.map(str::to_owned),
            saved_to: name.map(str::to_owned),
            quiet,
            ..TableOptions::default()
        };
        summary(&run, None, &options)
    };
    let [kept, unkept, quiet] = [(Some("r"), false), (None, false), (Some("r"), true)]
        .map(|(name, quiet)| shown(name, quiet));
    assert!(kept.contains("saved to r") && kept.contains("Next: syscost show r |"));
    assert!(
        !unkept.contains("saved") && !unkept.contains("Next"),
        "{unkept}"
    );
    assert!(kept.contains("\n! ") && !quiet.contains("\n! "), "{quiet}");
    assert!(
        !quiet.contains("saved") && !quiet.contains("Next"),
        "{quiet}"
    );
    assert!(quiet.contains("25 of 25 measured"), "{quiet}");
}
