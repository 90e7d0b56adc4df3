//! The page must not mislead about precision, about which run a number is from, or about when
//! something was seen.

use syscost_results::Measurement;
use syscost_results::compare::{Change, compare};

use super::*;
use crate::expect::has;
use crate::sentence::Mark;

const NAME: &str = "syscall.null{call=getppid}";

fn row_of<'p>(page: &'p str, name: &str) -> &'p str {
    let place = format!("id=\"row-{name}\"");
    let (_, rest) = page.split_once(&place).expect("its row");
    rest.split_once("</tbody>").expect("its end").0
}

/// What the page's data say about a row's change.
fn reasons_of(page: &str, name: &str) -> Vec<String> {
    let places = page.split("<tbody id=\"row-").skip(1);
    let index = places
        .enumerate()
        .find(|(_, rest)| rest.starts_with(&format!("{name}\"")))
        .expect("its row")
        .0;
    let data = data_of(page);
    let lines = data["rows"][index]["c"].as_array().expect("its change");
    lines
        .iter()
        .map(|line| {
            let number = line.as_u64().expect("a number") as usize;
            data["texts"][number].as_str().expect("a text").to_owned()
        })
        .collect()
}

#[test]
fn a_row_without_an_interval_shows_none() {
    let mut run = fixture::run();
    for row in run.measurements.iter_mut().filter(|row| row.name == NAME) {
        (row.estimate.ci95_low, row.estimate.ci95_high) = (None, None);
    }
    for runs in [vec![&run], vec![&run, &run, &run]] {
        let page = draw(&runs);
        let row = row_of(&page, NAME);
        let said = row.matches("title=\"no interval\"").count();
        assert_eq!(said, runs.len(), "{row}");
        assert!(!row.contains("width:"), "{row}");
    }
}

#[test]
fn numbers_of_another_definition_do_not_stand_on_a_line() {
    let new = scaled(&fixture::run(), "new", 1.1);
    let mut old = scaled(&new, "old", 3.0);
    for row in old.measurements.iter_mut().filter(|row| row.name == NAME) {
        row.revision += 1;
    }
    let page = draw(&[&old, &new]);
    let row = row_of(&page, NAME);
    assert_eq!(row.matches("other definition").count(), 1, "{row}");
    assert_eq!(row.matches("class=\"ci ").count(), 1, "{row}");
    let page = draw(&[&old, &new, &new, &new, &new]);
    let row = row_of(&page, NAME);
    assert!(row.contains("0.0 %"), "they are spread: {row}");
    assert!(!row.contains("261"), "{row}");
}

#[test]
fn a_run_has_one_count_of_what_is_confirmed() {
    let mut run = fixture::run();
    // As is a bound that was counted.
    let confirmed = run.measurements[0].evidence.clone();
    let mut rows = run.measurements.iter_mut();
    let bound = rows.find(|row| row.status == Status::BelowResolution);
    bound.expect("a bound").evidence = confirmed;
    let count = super::super::trust::marked(&run, Mark::Confirmed);
    assert!(draw(&[&run]).contains(&format!("✓ {count}</b>")));
    let cell = format!("data-head=\"✓ confirmed\">{count}</td>");
    assert_eq!(draw(&[&run, &run]).matches(&cell).count(), 2);
}

#[test]
fn the_legend_explains_what_is_there() {
    let run = fixture::run();
    for (count, is_compared, pictures, has_best) in [
        (1, false, Some("row's own"), true),
        (2, true, Some("first run's"), true),
        (3, false, Some("first run's"), true),
        (3, true, None, true),
        (5, false, None, false),
        (5, true, None, false),
    ] {
        let runs = vec![&run; count];
        let comparison = is_compared.then(|| compare(&[&run], &[&run], &[]));
        let options = PageOptions {
            comparison,
            ..PageOptions::default()
        };
        let page = page(&runs, &options);
        let (_, legend) = page.split_once("id=\"legend\"").expect("a legend");
        let case = format!("{count} runs, compared: {is_compared}");
        assert_eq!(legend.contains("<dt>best</dt>"), has_best, "{case}");
        assert_eq!(legend.contains("<dt>cycles</dt>"), has_best, "{case}");
        let explained = legend.contains("<dt>picture</dt>");
        assert_eq!(explained, pictures.is_some(), "{case}");
        if let Some(whose) = pictures {
            assert!(legend.contains(&format!("of the {whose} median")), "{case}");
        }
    }
}

#[test]
fn the_interval_column_sorts_by_the_longer_side() {
    let mut run = fixture::run();
    for row in run.measurements.iter_mut().filter(|row| row.name == NAME) {
        let estimate = &mut row.estimate;
        (estimate.median, estimate.ci95_low, estimate.ci95_high) =
            (Some(100.0), Some(95.0), Some(110.0));
    }
    let page = draw(&[&run]);
    let row = row_of(&page, NAME);
    assert!(row.contains("data-v=\"1e-1\""), "{row}");
}

#[test]
fn what_changed_stands_before_all_else() {
    let run = fixture::run();
    let page = draw(&[&run, &scaled(&run, "b", 1.5)]);
    let at = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("not found: {text}"))
    };
    assert!(at("class=\"verdicts\"") < at("</header>"));
    assert!(at("From A, the base, to B, the new side, ") < at("class=\"warnings\""));
}

#[test]
fn a_compared_row_tells_how_and_why() {
    let base = with_samples();
    let mut new = base.clone();
    new.id = "new".to_owned();
    let runs = [&base, &new];
    let page = draw(&runs);
    let compared = compare(&[&base], &[&new], &[]);
    assert!(!compared.rows.is_empty());
    for row in &compared.rows {
        let reasons = reasons_of(&page, &row.name);
        assert!(
            reasons[0].starts_with(&format!("{}: ", crate::compare::verdict(row.verdict))),
            "{reasons:?}"
        );
        assert!(
            reasons[1].starts_with("margin of a change: "),
            "{reasons:?}"
        );
        for note in &row.notes {
            assert!(reasons.contains(note), "{reasons:?}");
        }
        if row.verdict == Change::Inconclusive && row.ci95_low.is_none() {
            assert!(reasons[0].ends_with("there is no interval"), "{reasons:?}");
        }
    }
    for (name, why) in compared.uncompared() {
        assert_eq!(reasons_of(&page, name), [format!("not compared: {why}")]);
    }
}

#[test]
fn a_rate_is_distinguished_from_a_cost() {
    let cost = with_samples();
    let mut rate = cost.clone();
    for row in &mut rate.measurements {
        row.better = Better::Higher;
    }
    let is_rate = |run: &Run| row_of(&draw(&[run, run]), NAME).contains("</b> ↑");
    assert!(is_rate(&rate) && !is_rate(&cost));
}

/// The figures of a page: the class of each, and its markup.
fn figures_of(page: &str) -> Vec<(&str, &str)> {
    let figures = page.split("<figure").skip(1);
    let parts = figures.filter_map(|rest| rest.split_once("</figure>")?.0.split_once('>'));
    parts.collect()
}

#[test]
fn every_chart_shows_the_numbers_of_the_run_it_names() {
    let a = fixture::run();
    let b = scaled(&a, "b", 1.7);
    let mut c = scaled(&a, "c", 2.3);
    // The last run lacks most rows, and so do others: each has some of its own.
    c.measurements.retain(|row| row.name == NAME);
    assert!(!draw(&[&a]).contains("<figure class="), "one run has none");
    let runs = [&a, &b, &c];
    let page = draw(&runs);
    let shown = |row: &Measurement| {
        let figures = crate::view::value(row)?;
        Some(crate::chart::formatted(row.unit, &figures))
    };
    let mut seen = [0; 3];
    for (_, figure) in figures_of(&page) {
        let Some((_, rest)) = figure.split_once("data-points=\"") else {
            continue;
        };
        for point in rest.split('"').next().expect("points").lines() {
            let own = point.split(' ').nth(2).expect("a run");
            let own: usize = own.parse().expect("a number");
            let (_, number) = point.rsplit_once(": ").expect("a figure");
            let numbers: Vec<String> = runs[own].measurements.iter().filter_map(shown).collect();
            assert!(numbers.iter().any(|one| one == number), "{point}");
            for (other, run) in runs.iter().enumerate().filter(|(other, _)| *other != own) {
                let mut numbers = run.measurements.iter().filter_map(shown);
                assert!(!numbers.any(|one| one == number), "{point}: of {other}");
            }
            let written = ["value label", "curve"].map(|class| format!("{class} s{own}"));
            let is_written = written.iter().any(|class| figure.contains(class));
            assert!(is_written, "{figure}");
            has(figure, &[&format!("{}: ", ["A", "B", "C"][own])]);
            seen[own] += 1;
        }
    }
    assert!(
        seen[0] > 1 && seen[0] == seen[1] && seen[2] == 1,
        "{seen:?}"
    );
}

#[test]
fn a_chart_beside_many_runs_says_which_it_is_of() {
    let whole = fixture::run();
    let mut part = scaled(&whole, "part", 2.0);
    part.started = "2026-11-25T08:00:00Z".to_owned();
    part.measurements.retain(|row| row.name == NAME);
    let page = draw(&[&whole, &whole, &whole, &whole, &part]);
    let when = crate::sentence::time(&whole.started);
    let older = format!("not of the last run but of that of {when}");
    let captions: Vec<&str> = figures_of(&page).into_iter().map(|(_, one)| one).collect();
    let of_older = captions.iter().filter(|one| one.contains(&older)).count();
    assert!(
        of_older > 0 && of_older + 1 == captions.len(),
        "{captions:?}"
    );
    assert!(
        captions
            .iter()
            .any(|one| one.contains("the last run, 2026-11-25"))
    );
    // Nor is an older number in the column of the last run.
    let absent = whole
        .measurements
        .iter()
        .find(|row| row.name != NAME && row.status == Status::Ok);
    let row = row_of(&page, &absent.expect("another row").name);
    assert!(row.contains("not in this run"), "{row}");
}

#[test]
fn the_machines_of_a_page_are_told_apart() {
    let of = |host: &str, model: &str, started: &str| {
        let mut run = fixture::run();
        run.id = host.to_owned();
        run.machine.hostname = host.to_owned();
        run.machine.cpu_model = model.to_owned();
        run.started = started.to_owned();
        run
    };
    let late = of("node1", "AMD EPYC", "2026-11-26T09:35:00Z");
    let early = of("node2", "Intel Xeon", "2026-11-21T12:04:00Z");
    let page = draw(&[&late, &early, &early]);
    let (header, _) = page.split_once("</header>").expect("a header");
    for text in [
        "</span> node1</th><td>2026-11-26 09:35 UTC</td>",
        "</span> node2</th><td>2026-11-21 12:04 UTC</td>",
        "AMD EPYC",
        "Intel Xeon",
    ] {
        assert!(header.contains(text), "{text}: {header}");
    }
    let others: Vec<Run> = (3..8)
        .map(|node| of(&format!("node{node}"), "Intel Xeon", &early.started))
        .collect();
    let runs: Vec<&Run> = [&late].into_iter().chain(&others).collect();
    let page = draw(&runs);
    let (header, _) = page.split_once("</header>").expect("a header");
    for text in [
        "6 runs of 6 machines",
        "Intel Xeon (5 runs), AMD EPYC (1 run)",
        "syscost fleet report",
        "2026-11-21 12:04 UTC to 2026-11-26 09:35 UTC",
    ] {
        assert!(header.contains(text), "{text}: {header}");
    }
    assert!(page.contains("node5, 2026-11-21"), "each is named");
    let anonymous = of("", "AMD EPYC", &late.started);
    assert!(draw(&[&early, &anonymous]).contains("</span> unknown host</th>"));
}

#[test]
fn a_warning_says_when_it_was_seen() {
    let mut run = fixture::run();
    let mut before = run.warnings[0].clone();
    before.code = "shared_core".to_owned();
    before.advice = "rows may be flagged `shared`".to_owned();
    let during = before.message.clone();
    run.warnings.push(before);
    let page = draw(&[&run]);
    assert!(page.contains("before the run: </span><strong>"));
    has(&page, &[&format!("<li><strong>{during}")]);
    assert!(page.contains("rows may be flagged <code>shared</code>"));
}

#[test]
fn every_warning_of_a_kind_is_shown() {
    let mut run = fixture::run();
    run.warnings.truncate(1);
    let mut another = run.warnings[0].clone();
    run.warnings[0].message = "CPU 1 lost 16.3 %".to_owned();
    another.message = "CPU 0 lost 30.0 %".to_owned();
    run.warnings.push(another);
    let page = draw(&[&run]);
    assert!(page.contains("<strong>CPU 1 lost 16.3 %; CPU 0 lost 30.0 %</strong>"));
}

#[test]
fn the_noise_of_every_cpu_that_measured_is_a_fact() {
    let mut run = fixture::run();
    for (probe, lost) in run.noise.iter_mut().zip([73.1, 85.3]) {
        (probe.used, probe.lost_percent, probe.longest_gap_us) = (true, lost, 67_058.0);
    }
    let page = draw(&[&run]);
    for part in ["73.1 % of CPU", "85.3 % of CPU", "longest gap 67.1 ms;"] {
        assert!(page.contains(part), "{part}");
    }
}
