//! The table of a hand-made run, in human-readable form.

mod names;

use insta::assert_snapshot;
use syscost_results::{Flag, Measurement, Run, Status};

use crate::expect::has;
use crate::{TableOptions, fixture, table};

fn draw(run: &Run, width: usize) -> String {
    table(run, &TableOptions::of_width(width))
}

#[test]
fn brief_at_100_columns() {
    let options = TableOptions {
        saved_to: Some("runs/today.json".to_owned()),
        ..TableOptions::default()
    };
    assert_snapshot!(table(&fixture::run(), &options));
}

#[test]
fn brief_at_80_columns() {
    assert_snapshot!(draw(&fixture::run(), 80));
}

#[test]
fn verbose() {
    assert_snapshot!(table(
        &fixture::run(),
        &TableOptions::default().verbose(true)
    ));
}

#[test]
fn colours_change_nothing_but_colour() {
    for verbose in [false, true] {
        let plain = TableOptions::default().verbose(verbose);
        let colored = table(
            &fixture::run(),
            &TableOptions {
                color: true,
                ..plain.clone()
            },
        );
        assert_eq!(without_ansi(&colored), table(&fixture::run(), &plain));
        assert!(colored.contains("\u{1b}[1msyscall\u{1b}[0m"));
        assert!(colored.contains("clock_read\u{1b}[2m{source=tsc}\u{1b}[0m"));
        has(&colored, &["\u{1b}[32m✓\u{1b}[0m", "\u{1b}[33m?\u{1b}[0m"]);
        assert!(colored.contains("\u{1b}[31mwithheld: "));
    }
}

#[test]
fn every_row_is_there_and_a_withheld_number_is_not() {
    let mut run = fixture::run();
    let lie = run
        .measurements
        .iter_mut()
        .find(|row| row.name.contains("libc"))
        .unwrap();
    // Even if a document still contains the number, it must not be shown.
    lie.estimate.median = Some(3.25);
    lie.estimate.ci95_low = Some(3.2);
    lie.estimate.ci95_high = Some(3.3);
    let text = draw(&run, 120);
    let is_shown = |row: &&Measurement| row.status != Status::Skipped;
    for row in run.measurements.iter().filter(is_shown) {
        let name = row.name.split_once('.').unwrap().1;
        // The two cases of `null` stand below its own line.
        let name = name
            .strip_prefix("null{")
            .map_or(name, |case| case.trim_end_matches('}'));
        assert_eq!(
            text.lines()
                .filter(|line| line.trim_start().starts_with(name))
                .count(),
            1,
            "{name}"
        );
    }
    assert!(!text.contains("3.25"), "{text}");
}

#[test]
fn columns_give_way_before_names() {
    let mut run = fixture::run();
    let header = |run: &Run, width| {
        draw(run, width)
            .lines()
            .find(|line| line.starts_with("syscall "))
            .unwrap()
            .split_whitespace()
            .skip(1)
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (width, columns) in [
        (
            130,
            "median ± 95 % best company cycles 95 % interval undisturbed",
        ),
        (110, "median ± 95 % best company cycles undisturbed"),
        (90, "median ± 95 % company cycles"),
        (80, "median ± 95 % company"),
        (72, "median ± 95 %"),
    ] {
        assert_eq!(header(&run, width), columns, "{width}");
    }
    assert!(
        draw(&run, 72).contains("± 95 %   best  cycles"),
        "other groups have them"
    );
    run.measurements.retain(|row| !row.name.contains("poll"));
    assert_eq!(header(&run, 80), "median ± 95 % best company cycles");
    run.measurements[0].name = format!("timing.{}{{last=yes}}", "long".repeat(15));
    let text = draw(&run, 80);
    let above = format!("\n  {}{{last=yes}}\n", "long".repeat(15));
    assert!(text.contains(&above), "{text}");
}

#[test]
fn the_legend_explains_what_occurs_and_nothing_else() {
    let mut run = fixture::run();
    run.measurements
        .retain(|row| row.name == "syscall.null{call=getppid}");
    run.warnings.clear();
    let text = draw(&run, 100);
    let end: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with('✓'))
        .collect();
    assert_eq!(
        end,
        [
            "✓ every claim was counted and confirmed",
            "± the larger side of the 95 % confidence interval of the median over processes",
            "company: how many times the own price it is while others use the core; only: the median is that",
            "  price",
            "",
            "1 of 1 measured in 54 s"
        ]
    );
    run.measurements[0].flags = vec![Flag::Autocorrelated, Flag::Noisy];
    assert!(!draw(&run, 100).contains("after a flag"), "there is room");
    run.measurements[0].flags = vec![Flag::Autocorrelated, Flag::PartlyUnverified];
    let text = draw(&run, 100);
    assert!(text.contains("serial: neighbouring samples resemble each other"));
    assert!(!text.contains("partly"), "the mark says it: {text}");
}

#[test]
fn a_price_in_company_is_never_shown_as_the_own_one() {
    let mut run = fixture::run();
    run.measurements
        .retain(|row| row.name == "syscall.null{call=getppid}");
    run.measurements[0].flags = vec![Flag::TooFewRounds, Flag::Disturbed];
    // However narrow it is: the sign comes before the grade and all other flags.
    for width in [60, 80, 130] {
        let text = draw(&run, width);
        let line = text.lines().find(|line| line.contains("79.13 ns"));
        let line = line.expect("is listed");
        assert!(line.contains("✓ shared"), "{width}: {text}");
        assert!(!line.contains("1.18x"), "{width}: {text}");
    }
    let text = draw(&run, 130);
    has(
        &text,
        &[
            "only",
            "0 of 1 rows on a core of our own",
            "shared: the price in company",
        ],
    );
}

#[test]
fn a_few_rows_are_drawn_against_the_ratios_of_their_probes() {
    let verbose = TableOptions::default().verbose(true);
    let mut run = fixture::run();
    run.measurements[4] = fixture::probed(run.measurements[4].clone(), 1.34);
    let picture = "ratio of the probes";
    assert!(!table(&run, &verbose).contains(picture), "too many rows");
    run.measurements.drain(..4);
    run.measurements.truncate(4);
    let text = table(&run, &verbose);
    has(&text, &[picture, "● own core: 90 samples, median 79.1 ns"]);
    assert!(!table(&run, &verbose.verbose(false)).contains(picture));
}

#[test]
fn many_rows_of_one_reason_are_counted() {
    let mut run = fixture::run();
    let row = fixture::row(&run, "signal.mask").clone();
    run.measurements = (0..7)
        .map(|number| {
            let mut row = row.clone();
            row.name = format!("signal.mask{{number={number}}}");
            row
        })
        .collect();
    let brief = draw(&run, 200);
    assert!(
        brief.contains("signal.mask{number=3} and 3 more: io_uring_setup: operation not permitted"),
        "{brief}"
    );
    let verbose = table(&run, &TableOptions::of_width(300).verbose(true));
    has(&verbose, &["signal.mask{number=6}: io_uring_setup"]);
}

#[test]
fn a_run_without_rows_still_says_so() {
    let mut run = fixture::run();
    run.measurements.clear();
    assert!(draw(&run, 80).ends_with("\n0 of 0 measured in 54 s\n"));
}

fn without_ansi(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        out + part.split_once('m').map_or(part, |(_, rest)| rest)
    })
}
