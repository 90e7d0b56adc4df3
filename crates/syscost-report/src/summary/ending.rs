//! The end of the summary: its legend, warnings, and next steps.

use syscost_results::{Flag, Status};

use super::tests::full;
use super::*;
use crate::expect::{fits, has, lacks};
use crate::fixture;

#[test]
fn signs_are_whole_and_explained_at_80_columns() {
    let mut run = full();
    run.measurements[0].flags = vec![Flag::TwoModes, Flag::NotSteady, Flag::Disturbed];
    run.measurements[1].flags = vec![Flag::LowTrust];
    run.warnings = vec![run.warnings[0].clone(); 5];
    let options = TableOptions::of_width(80);
    let reference = Reference {
        name: "epyc-guest",
        family: None,
        run: &run,
    };
    let text = summary(&run, Some(reference), &options);
    assert!(text.lines().count() <= 50, "{text}");
    fits(&text, 80);
    for legend in [
        "modes: two levels",
        "shared: price in",
        "overhead: over half",
    ] {
        assert!(text.contains(legend), "{text}");
    }
    // What does not fit is counted, not cut.
    let table = text.split("confirmed by").next().expect("a table");
    assert!(table.contains('+'), "{text}");
    assert!(!table.contains('…'), "{text}");
}

/// The longest ending: all lines of the table, many flags, warnings, withheld and failed rows, and a
/// sentence of counts that takes two lines.
#[test]
fn a_few_lines_more_hold_the_longest_ending() {
    let mut run = full();
    run.complete = false;
    let flags = [
        Flag::TooFewRounds,
        Flag::TwoModes,
        Flag::NotSteady,
        Flag::Disturbed,
        Flag::LowTrust,
    ];
    for (row, flag) in run.measurements.iter_mut().zip(flags) {
        row.flags = vec![flag, Flag::Disturbed];
    }
    run.warnings = vec![run.warnings[0].clone(); 5];
    for status in Status::ALL.into_iter().skip(1) {
        let mut beyond = run.measurements[0].clone();
        "scale.open{of=other}".clone_into(&mut beyond.name);
        beyond.status = status;
        beyond.reason = Some("a reason of many words ".repeat(9));
        run.measurements.push(beyond);
    }
    let reference = Reference {
        name: "epyc-guest",
        family: None,
        run: &full(),
    };
    for columns in [80, 100, 120] {
        let options = TableOptions {
            width: columns,
            name: Some("latest".to_owned()),
            saved_to: Some(
                "~/.local/share/syscost/runs/20261125T135701.853Z-d5a1b4.json".to_owned(),
            ),
            ..TableOptions::default()
        };
        let text = summary(&run, Some(reference), &options);
        println!("{text}");
        assert!(text.lines().count() <= 54, "{text}");
        has(&text, &["\n! ", "\nwithheld: ", "\nsaved ", "\nNext: "]);
        has(&text, &["(and 4 more)\n", "\nfailed: "]);
    }
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
    lacks(&unkept, &["saved", "Next"]);
    assert!(kept.contains("\n! ") && !quiet.contains("\n! "), "{quiet}");
    lacks(&quiet, &["saved", "Next"]);
    assert!(quiet.contains("25 of 25 measured"), "{quiet}");
}

#[test]
fn the_legend_explains_what_is_there_and_nothing_else() {
    let shown = |run: &Run| {
        let options = TableOptions::of_width(120);
        summary(run, None, &options)
    };
    let plain = shown(&full());
    lacks(&plain, &["✓ confirmed", "+N", "+1"]);
    assert!(plain.contains("? unconfirmed") && plain.contains("± larger side"));
    let mut run = full();
    run.measurements[0].estimate.ci95_high = Some(9000.0);
    run.measurements[1].evidence = fixture::run().measurements[0].evidence.clone();
    let [upper, evidence] = ["+N: its upper side", "✓ confirmed by counts"];
    let text = shown(&run);
    has(&text, &[upper, evidence, "  +7"]);
    // Flags that did not fit are explained where there are some.
    run.measurements[0].flags = vec![
        Flag::TooFewRounds,
        Flag::TwoModes,
        Flag::NotSteady,
        Flag::Disturbed,
        Flag::LowTrust,
    ];
    let options = TableOptions::of_width(80);
    assert!(summary(&run, None, &options).contains("+1: a flag more"));
}
