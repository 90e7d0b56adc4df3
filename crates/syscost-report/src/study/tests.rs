use insta::assert_snapshot;
use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::study::Study;
use syscost_results::{Evidence, RoundSamples, Run, Status, Unit, Verdict};

use super::*;
use crate::expect::{fits, has};
use crate::{TableOptions, fixture};

const HAND_MADE: &str = r#"
id = "hand-made"
question = ["Is it a system call?", "What would you count?"]
title = "A system call that is none"
source = "A note that nobody wrote"
about = "One reading of a clock before and behind each call, ten thousand times."
cycles = "tsc"

[[machine]]
id = "old"
name = "An old machine"
clock_ghz = 2.0

[[machine]]
id = "older"
name = "An older machine"
note = "nobody says how fast"

[[quantity]]
id = "getpid"
title = "getpid()"
table = "System calls"
unit = "ns"
procedure = "One at a time, less the clock."
as_published = "study.hand_made.getpid"
ours = "syscall.null{call=getppid}"
published = [
  { machine = "old", cycles = "40", value = "25.00", runs = [39.0, 40.0, 44.0], place = "Table 1" },
  { machine = "older", words = "2 to 3", place = "page 2", doubt = "read off a screenshot" },
]

[[quantity.claim]]
counted = "getpid system calls per operation"
at_least = 1.0
broken = "No system call happened: {} of {tries_count} entered the kernel."

[[quantity.reason]]
counted = "getpid system calls per operation"
at_most = 0.5
acts = "less"
text = "the library answers from a cache"

[[quantity]]
id = "law"
title = "Law of contention"
table = "System calls"
unit = "ns"
procedure = "Only the shape of a curve is printed."
ours = "study.hand_made.getpid"
published = [{ machine = "old", words = "linear", place = "Figure 1" }]

[[quantity.claim]]
counted = "tries_count"
at_least = 1.0
holds = "It was tried {} times."
broken = "It was never tried."

[[quantity]]
id = "switch"
title = "Switch"
table = "Switches"
unit = "ns"
procedure = "Nobody says how."
published = [{ machine = "old", cycles = 4000.0, place = "Table 2" }]

[[ratio]]
title = "switch : getpid()"
of = "switch"
to = "getpid"
words = "a hundred times"

[[doubt]]
text = "The figure is of a cache."
shown_by = ["getpid"]

[[chart]]
title = "Calls across the machines"
kind = "machines"
quantities = ["getpid"]

[[chart]]
title = "How long a call took"
kind = "distribution"
quantities = ["getpid"]

[[not_here]]
what = "An old C library"
why = "it is not to be had"
instead = "a model of it"
"#;

pub(crate) fn hand_made() -> Study {
    syscost_studies::parse(HAND_MADE).expect("it is right")
}

/// A hand-made run with the study's row.
pub(crate) fn run() -> Run {
    let mut run = fixture::run();
    let mut row = run.measurements[0].clone();
    row.name = "study.hand_made.getpid".to_owned();
    row.id = row.name.clone();
    row.case.clear();
    row.unit = Unit::Nanoseconds;
    row.status = Status::Ok;
    row.flags.clear();
    row.estimate.median = Some(3.0);
    row.estimate.ci95_low = Some(2.9);
    row.estimate.ci95_high = Some(3.2);
    row.estimate.rounds = 6;
    row.estimate.undisturbed_percent = Some(60.0);
    row.core_cycles = Some(11.1);
    row.details = [("tries_count".to_owned(), 10_000.0)].into();
    row.evidence = vec![Evidence::new(
        "getpid system calls per operation",
        0.0,
        0.0,
        "seccomp audit",
        Verdict::Confirmed,
    )];
    row.histogram = vec![(2.9, 70), (3.1, 20), (9.0, 10)];
    row.samples = Some(vec![RoundSamples {
        values: vec![2.9, 3.1, 9.0],
        disturbed: vec![Disturbance {
            sample: 2,
            cause: Cause::SharedCore,
        }],
        ..RoundSamples::default()
    }]);
    run.measurements.push(row);
    run
}

fn repeated(study: &Study) -> Repeated {
    Repeated::new(study, &[&run()])
}

/// The study, by runs of two machines, one of which has none of syscost's rows.
pub(crate) fn on_two_machines() -> [Run; 2] {
    let mut slow = run();
    slow.machine.hostname = "alpha".to_owned();
    let mut fast = run();
    fast.machine.hostname = "beta".to_owned();
    fast.id = "another".to_owned();
    fast.measurements
        .retain(|row| !row.name.starts_with("syscall.null"));
    for round in fast
        .measurements
        .iter_mut()
        .flat_map(|row| row.samples.iter_mut().flatten())
    {
        for value in &mut round.values {
            *value /= 2.0;
        }
    }
    [slow, fast]
}

#[test]
fn a_hand_made_study_on_two_machines() {
    let [slow, fast] = on_two_machines();
    let repeated = Repeated::new(&hand_made(), &[&slow, &fast]);
    let options = TableOptions::default();
    let runs = [&slow, &fast];
    assert_snapshot!(text(&repeated, &runs, &options));
    let narrow = TableOptions::of_width(60);
    let text = text(&repeated, &runs, &narrow);
    fits(&text, 60);
}

#[test]
fn a_hand_made_study_in_a_terminal() {
    let options = TableOptions::default();
    assert_snapshot!(text(&repeated(&hand_made()), &[&run()], &options));
    let narrow = TableOptions::of_width(80);
    let text = text(&repeated(&hand_made()), &[&run()], &narrow);
    fits(&text, 80);
}

#[test]
fn the_list_has_a_line_with_the_title_of_each_study() {
    let list = list([&hand_made()].into_iter(), &TableOptions::default());
    assert_eq!(
        list,
        "hand-made  A system call that is none (3 quantities): An old machine; An older machine\n"
    );
}

#[test]
fn everything_fits_a_terminal_of_80_columns() {
    let options = TableOptions::of_width(80);
    let study = HAND_MADE
        .replace(
            "words = \"linear\"",
            "words = \"linear in the number of threads, then not at all\"",
        )
        .replace("A system call that is none", &"A long title ".repeat(12))
        .replace(
            "Table 1",
            "Table 1, in the column of the machine that nobody has any more",
        );
    let study = syscost_studies::parse(&study).expect("it is right");
    let judged = repeated(&study);
    for text in [
        text(&judged, &[&run()], &options),
        published(&study, &options),
        list([&study].into_iter(), &options),
    ] {
        fits(&text, 80);
    }
}

#[test]
fn a_hand_made_study_as_published() {
    assert_snapshot!(published(&hand_made(), &TableOptions::default()));
}

#[test]
fn a_hand_made_study_as_a_page_of_documents() {
    assert_snapshot!(page(&hand_made()));
    assert!(index([&hand_made()].into_iter()).contains("(studies/hand-made.md)"));
}

#[test]
fn what_a_document_says_cannot_break_a_table() {
    let study = HAND_MADE.replace("Table 1", "Table | 1");
    let page = page(&syscost_studies::parse(&study).expect("it is right"));
    assert!(page.contains("Table \\| 1"));
}

#[test]
fn a_hand_made_study_as_a_lab_report() {
    let run = run();
    let studies = [repeated(&hand_made())];
    let report = markdown(&studies, &[&run], Some("figures"));
    for figure in figures(&studies[0], &[&run]) {
        has(&report, &[&format!("](figures/{}.svg)", figure.name)]);
    }
    assert_snapshot!(report);
    let bare = markdown(&studies, &[&run], None);
    assert!(!bare.contains("figures/"), "{bare}");
    let page = crate::study::lab_report(&studies, &[&run]);
    for part in [
        "Is it a system call?",
        "id=\"study-hand-made\"",
        "Imaginary CPU 9000",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn charts_as_files_name_their_machines() {
    let [slow, fast] = on_two_machines();
    let runs = [&slow, &fast];
    let figures = figures(&Repeated::new(&hand_made(), &runs), &runs);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    // The distribution is one for each machine.
    assert_eq!(names, ["hand-made-1", "hand-made-2", "hand-made-3"]);
    has(&figures[2].svg, &["How long a call took: beta"]);
    for figure in &figures {
        assert!(figure.svg.starts_with("<svg"), "{}", figure.svg);
        has(&figure.svg, &["beta: Imaginary CPU 9000"]);
    }
}

#[test]
fn a_hand_made_study_as_comma_separated_values() {
    let [slow, fast] = on_two_machines();
    let runs = [&slow, &fast];
    let lines = csv(&[Repeated::new(&hand_made(), &runs)], &runs).expect("written");
    assert_snapshot!(lines);
}
