//! The notices that precede the rows.

use syscost_results::compare::{ComparedIn, Missing, Pair};

use super::super::{markdown, table};
use super::{comparison, fact};
use crate::TableOptions;
use crate::expect::{fits, has, lacks};

#[test]
fn noise_frequency_and_tails_are_said_once_after_the_rows() {
    let mut comparison = comparison();
    let noisy = "very different noise: somebody else was there";
    comparison.facts.insert(
        0,
        fact(
            "noise.cores_ours",
            Some("97.0 %"),
            Some("31.0 %"),
            Some(noisy),
        ),
    );
    comparison.rows[0].compared_in = ComparedIn::OneFrequency;
    comparison.rows[1].compared_in = ComparedIn::OneFrequency;
    for (row, new) in comparison.rows.iter_mut().zip([300.0, 110.0]) {
        row.p99 = Some(Pair { base: 100.0, new });
    }
    comparison.missing.push(Missing {
        name: "mem.x".to_owned(),
        reason: "failed".to_owned(),
        lost: false,
        to_noise: true,
    });
    let options = |verbose| TableOptions::of_width(200).verbose(verbose);
    let text = table(&comparison, &options(false));
    let (rows, after) = text.split_once("groups").expect("groups after the rows");
    for notice in [
        "noise: cores ours: 97.0 % -> 31.0 % (very different noise",
        "core frequency in GHz: 3.60 -> 3.00",
        "frequency: 2 of 5 rows compared as if both sides had run at base's, by how much of each row is core cycles",
        "1 row was lost on new's side, where no core was its own or no time was left",
        "p99: 1.82x in the geometric mean over the 2 rows that have one on both sides, largest change 3.00x in syscall.null{call=getppid}",
    ] {
        assert!(after.contains(notice), "{notice}: {text}");
    }
    assert!(!rows.contains("the core ran at"), "said once: {text}");
    let verbose = table(&comparison, &options(true));
    has(&verbose, &["p99 100 ns -> 300 ns (3.00x)"]);
}

#[test]
fn a_tail_on_a_shared_core_is_no_part_of_the_mean() {
    let mut comparison = comparison();
    for (row, new) in comparison.rows.iter_mut().zip([300.0, 110.0]) {
        row.p99 = Some(Pair { base: 100.0, new });
    }
    comparison.rows[0].disturbed = true;
    let text = table(&comparison, &TableOptions::default());
    has(
        &text,
        &["p99: 1.10x in the geometric mean over the 1 row that has one on both sides;"],
    );
}

#[test]
fn what_single_runs_cannot_tell_is_said_before_all_else() {
    let caveat = "one run per side: run-to-run variation is unknown";
    let of_single_runs = |compared: &mut syscost_results::compare::Comparison, known: bool| {
        let rows = compared.rows.iter_mut();
        rows.for_each(|row| row.knows_runs = known);
    };
    let mut comparison = comparison();
    let options = TableOptions::of_width(400);
    assert!(
        !table(&comparison, &options).contains(caveat),
        "two runs and another"
    );
    comparison.new.runs.truncate(1);
    comparison.spread.clear();
    assert!(
        !table(&comparison, &options).contains(caveat),
        "one run a side, of which documents know how they differ from kept ones"
    );
    of_single_runs(&mut comparison, false);
    comparison.rows[0].knows_runs = true;
    let text = table(&comparison, &options);
    let some = "one run per side of 3 of 4 rows: run-to-run variation is unknown";
    assert!(text.contains(some), "{text}");
    of_single_runs(&mut comparison, false);
    let text = table(&comparison, &options);
    assert!(
        text.lines()
            .nth(3)
            .is_some_and(|line| line.starts_with(caveat)),
        "{text}"
    );
    let text = markdown(&comparison, false);
    assert!(text.contains(&format!("\n{caveat}")), "{text}");
    comparison.paired = true;
    of_single_runs(&mut comparison, true);
    let text = table(&comparison, &options);
    assert!(!text.contains(caveat), "{text}");
    assert!(
        text.contains("where the rounds of both move together, each ratio is that of rounds"),
        "{text}"
    );
}

#[test]
fn cycles_are_shown_where_they_were_asked_for() {
    let mut comparison = comparison();
    comparison.in_cycles = true;
    comparison.rows[0].cycles = Some(Pair {
        base: 292.0,
        new: 525.0,
    });
    for text in [
        table(&comparison, &TableOptions::default()),
        markdown(&comparison, false),
    ] {
        has(&text, &["292 cycles", "525 cycles"]);
        assert!(text.contains("compared in core cycles, as asked"), "{text}");
    }
}

#[test]
fn a_note_that_many_rows_share_is_said_once() {
    let mut comparison = comparison();
    let (common, own) = (
        "no samples were kept: estimated from intervals",
        "it drifts",
    );
    for row in &mut comparison.rows[..4] {
        row.notes = vec![common.to_owned()];
    }
    comparison.rows[0].notes.push(own.to_owned());
    let text = table(&comparison, &TableOptions::default());
    assert_eq!(text.matches(common).count(), 1, "{text}");
    assert!(text.contains(&format!("4 of 5 rows: {common}")), "{text}");
    let (before, after) = text.split_once("groups").expect("groups");
    assert!(before.contains(own) && after.contains(common), "{text}");
    let text = markdown(&comparison, false);
    assert_eq!(
        (text.matches(common).count(), text.matches(own).count()),
        (1, 1),
        "{text}"
    );
}

#[test]
fn notes_that_differ_in_their_number_are_one() {
    let mut comparison = comparison();
    let note = |number: &str| format!("it drifts: its interval is {number} times as wide");
    for (row, number) in comparison.rows.iter_mut().zip(["9.3", "2.1", "10.5"]) {
        row.notes = vec![note(number)];
    }
    comparison.rows[3].notes = vec!["2 of 3 runs left out".to_owned()];
    comparison.rows[4].notes = vec!["2 of 4 runs left out".to_owned()];
    let text = |verbose| {
        let options = TableOptions::of_width(200).verbose(verbose);
        table(&comparison, &options)
    };
    let brief = text(false);
    let once = format!("3 of 5 rows: {}", note("2.1 to 10.5"));
    assert!(brief.contains(&once), "{brief}");
    assert_eq!(brief.matches("it drifts").count(), 1, "{brief}");
    // Of several numbers none tells what differs.
    for own in ["2 of 3 runs left out", "2 of 4 runs left out"] {
        assert_eq!(text(true).matches(own).count(), 1, "{own}");
    }
}

#[test]
fn the_verdict_comes_first_and_quiet_leaves_the_groups_out() {
    let mut comparison = comparison();
    comparison.new.hostname = String::new();
    let text = table(&comparison, &TableOptions::default());
    assert!(
        text.starts_with("5 of 7 rows compared: 2 worse, 1 better"),
        "{text}"
    );
    has(
        &text,
        &["could have found changes of 1.2 % in half of the rows, 4.1 % in nine of ten"],
    );
    assert!(text.contains(", of unknown host, "), "{text}");
    let quiet = TableOptions {
        quiet: true,
        ..TableOptions::default()
    };
    let text = table(&comparison, &quiet);
    lacks(&text, &["groups", "could have found"]);
}

#[test]
fn the_power_of_each_row_is_listed_the_best_known_first() {
    let text = table(&comparison(), &TableOptions::default().verbose(true));
    let (_, list) = text.split_once("\nPower\n").expect("a list");
    let lines: Vec<&str> = list.lines().skip(3).collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(
        lines[0].ends_with("2.2 %") && lines[4].ends_with("none"),
        "{text}"
    );
    let text = markdown(&comparison(), true);
    has(&text, &["| `signal.catch` | 1.03 µs | none |"]);
}

#[test]
fn a_fact_shows_where_its_two_values_differ() {
    let mut comparison = comparison();
    let mitigation = |what: &str| format!("Mitigation: {what}; STIBP: disabled; RSB filling; BHI");
    let command_line =
        |last: &str| format!("console=ttyS0 quiet panic=1 {} {last}", "a=b ".repeat(40));
    let long = "[{\"level\":1,\"size\":32768},".repeat(8);
    comparison.facts = vec![
        fact(
            "machine.mitigations.spectre_v2",
            Some(&mitigation("Retpolines")),
            Some(&mitigation("Enhanced IBRS")),
            Some("costs of entering the kernel may change with it"),
        ),
        fact(
            "machine.kernel_cmdline",
            Some(&command_line("mitigations=off")),
            Some(&command_line("mitigations=auto")),
            None,
        ),
        fact("caches", None, Some(&long), None),
    ];
    for width in [80, 120] {
        let options = TableOptions::of_width(width);
        let text = table(&comparison, &options);
        let (_, differs) = text.split_once("Differs").expect("a section");
        let facts = differs.split("\n\n").next().expect("one");
        let facts: Vec<&str> = facts.split_whitespace().collect();
        let facts = facts.join(" ");
        for part in [
            "Retpolines; STIBP",
            "Enhanced IBRS",
            "(costs of entering the kernel may change with it)",
            "mitigations=off",
            "mitigations=auto",
            "caches unknown -> [{\"level\"",
        ] {
            assert!(facts.contains(part), "{width}: {part}: {facts}");
        }
        fits(&text, width);
    }
}

#[test]
fn sides_measured_in_turn_are_called_a_and_b_throughout() {
    let mut comparison = comparison();
    comparison.paired = true;
    comparison.rows[0].compared_in = ComparedIn::OneFrequency;
    let options = TableOptions::of_width(200);
    let texts = |comparison: &_| [table(comparison, &options), markdown(comparison, true)];
    for text in texts(&comparison) {
        for part in ["as if both sides had run at A's", "Cost of B relative to A"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("The 95 % interval"), "{text}");
        lacks(&text, &["base  ", "- base:", "Base", "New"]);
    }
    // Without an interval in any group none is explained.
    for group in &mut comparison.groups {
        (group.ci95_low, group.ci95_high) = (None, None);
    }
    for text in texts(&comparison) {
        lacks(&text, &["The 95 % interval"]);
        has(&text, &["too few benchmarks for an interval"]);
    }
}
