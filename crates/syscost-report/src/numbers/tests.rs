//! The list on hand-made runs.

use super::*;
use crate::expect::fits;
use crate::fixture;
use crate::paint::width;
use syscost_results::numbers::numbers as list;
use syscost_results::{Flag, Measurement, Role};

#[test]
fn a_person_would_say_it_so() {
    for (seconds, words) in [
        (0.25, "0.2 s"),
        (1.0, "1 s"),
        (59.99, "1 min"),
        (300.0, "5 min"),
        (5_400.0, "1.5 h"),
        (86_400.0, "1 day"),
        (7.0e6, "2.7 months"),
        (3.2e8, "10 years"),
    ] {
        assert_eq!(human(seconds), words, "{seconds}");
    }
}

fn run_of_numbers() -> Run {
    let mut run = fixture::run();
    let rows = [
        (Role::Addition, 0.271),
        (Role::L1Latency, 1.084),
        (Role::BranchMiss, 4.9),
        (Role::Signal, 1034.0),
    ];
    run.measurements.extend(rows.map(|(role, median)| {
        let numbers = [0.99 * median, median, 1.02 * median, 0.9 * median];
        Measurement {
            roles: vec![role],
            ..fixture::measured(role.name(), numbers, None, Vec::new())
        }
    }));
    run
}

#[test]
fn the_list_of_a_hand_made_run() {
    let run = run_of_numbers();
    let text = numbers(&run, &list(&run), None, &TableOptions::default());
    insta::assert_snapshot!(text);
}

#[test]
fn a_bar_means_the_same_in_every_run() {
    let long = |time, steps| width(&bar(time, steps));
    assert_eq!(long(0.01, 3), 1, "below the beginning of the scale");
    assert_eq!(long(1.0, 3), 4);
    assert_eq!(long(1000.0, 1), 5);
    assert_eq!(long(1e12, 3), 28, "beyond its end");
    assert_eq!(bar(1.0, 0), "");
}

#[test]
fn lines_are_sorted_and_without_an_l1_hit_there_is_no_other_base() {
    let mut run = run_of_numbers();
    run.measurements.retain(|row| !row.is(Role::L1Latency));
    let rows = run.measurements.iter_mut();
    rows.filter(|row| row.is(Role::Addition))
        .for_each(|row| row.estimate.median = Some(9e6));
    let text = numbers(&run, &list(&run), None, &TableOptions::default());
    let place = |what: &str| text.find(what).expect("is there");
    assert!(place("Signal caught") < place("Addition"), "{text}");
    assert!(place("Addition") < place("not part of this run"), "{text}");
    assert!(!text.contains("feels like"), "{text}");
}

#[test]
fn a_reference_has_a_column_of_its_own() {
    let run = run_of_numbers();
    let found = list(&run).beside(&run, "itself", &run);
    let text = numbers(
        &run,
        &found,
        Some("reference: itself"),
        &TableOptions::default(),
    );
    let missed = text.lines().find(|line| line.contains("4.900 ns"));
    let missed = missed.expect("is listed");
    assert!(missed.contains(" 4.90 ns"), "{missed}");
    assert!(text.contains("reference: itself"), "{text}");
    let columns = TableOptions::default().width;
    fits(&text, columns);
}

#[test]
fn a_number_of_a_shared_core_says_so() {
    let mut run = run_of_numbers();
    let text_of = |run: &Run| numbers(run, &list(run), None, &TableOptions::default());
    assert!(!text_of(&run).contains("shared"));
    let rows = run.measurements.iter_mut();
    rows.filter(|row| row.is(Role::Signal))
        .for_each(|row| row.flags = vec![Flag::TwoModes, Flag::Disturbed]);
    let text = text_of(&run);
    let line = |what: &str| text.lines().find(|line| line.contains(what));
    let caught = line("1.034 µs").or(line("1034 ns")).expect("is listed");
    assert!(caught.ends_with("shared, modes"), "{caught}");
    let columns = TableOptions::default().width;
    assert!(caught.chars().count() <= columns, "{caught}");
    assert!(line("shared: the price in company").is_some(), "{text}");
}

#[test]
fn no_line_is_wider_than_asked() {
    let mut run = run_of_numbers();
    for row in &mut run.measurements {
        row.flags = vec![Flag::Disturbed, Flag::TwoModes, Flag::TooFewRounds];
    }
    let found = list(&run).beside(&run, "itself", &run);
    for columns in 60..130 {
        let options = TableOptions::of_width(columns);
        let text = numbers(&run, &found, Some("reference: itself"), &options);
        fits(&text, columns);
        let words = text.replace('\n', " ");
        let table = text.split("\n\n").nth(2).expect("the list");
        assert!(table.contains("shared"), "{columns}: {text}");
        for column in ["± 95 %", "ratio"] {
            let left_out = words
                .split_once(" left out:")
                .map_or("", |(before, _)| before);
            let is_left_out =
                left_out.ends_with(column) || left_out.contains(&format!("{column}, "));
            assert_ne!(
                is_left_out,
                table.contains(column),
                "{columns}: {column}: {text}"
            );
        }
        let is_more_said = words.contains("after a flag");
        assert_eq!(table.contains(" +"), is_more_said, "{columns}: {text}");
    }
}

#[test]
fn a_run_without_any_of_them_says_so_in_every_line() {
    let mut run = fixture::run();
    run.measurements.clear();
    let found = list(&run);
    assert_eq!(found.second, None);
    let text = numbers(&run, &found, None, &TableOptions::default());
    assert_eq!(
        text.matches("not part of this run").count(),
        found.numbers.len()
    );
    assert!(!text.contains("feels like"), "{text}");
}
