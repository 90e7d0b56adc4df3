//! The page must not mislead about precision, about which run a number is from, or about when
//! something was seen.

use syscost_results::compare::{Change, compare};

use super::*;

const NAME: &str = "syscall.null{call=getppid}";

/// The markup of a row.
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
    let page = draw(&[&run, &run]);
    let at = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("not found: {text}"))
    };
    assert!(at("class=\"summary\"") < at("</header>"));
    assert!(at("From A to B, ") < at("class=\"warnings\""));
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

#[test]
fn a_chart_of_the_last_run_is_in_its_colour() {
    let run = fixture::run();
    assert!(!draw(&[&run]).contains("<figure class="));
    let page = draw(&[&run, &run, &run]);
    assert!(page.contains("<figure class=\"of2\">") && page.contains("the last run</figcaption>"));
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
    assert!(
        page.contains(&format!("<li><strong>{during}")),
        "not that of steal"
    );
    assert!(page.contains("rows may be flagged <code>shared</code>"));
}
