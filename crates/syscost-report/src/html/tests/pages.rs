//! Pages as a whole: how large they are, where their links lead, what two runs say about each
//! other.

use std::collections::BTreeSet;

use syscost_results::Measurement;
use syscost_results::compare::Change;

use super::*;
use crate::expect::has;

/// A run of this many rows, each with a dozen claims, like a standard run's.
fn of_rows(rows: usize) -> Run {
    let mut run = with_samples();
    let claims = |like: &Measurement, row: usize| {
        let like = like.clone();
        (0..12).map(move |claim| {
            let mut evidence = like.evidence[0].clone();
            // Most claims are shared by many rows; what was observed differs from row to row.
            evidence.claim.sentence = format!("claim {} of operations {}", claim, row % 30);
            evidence.observed = Some(Fact::Number(row as f64 / 7.0));
            evidence
        })
    };
    let like = fixture::row(&run, "syscall.null{call=getppid}").clone();
    run.measurements = (0..rows)
        .map(|row| {
            let mut one = like.clone();
            one.id = format!("group{}.bench{:03}", row / 100, row / 8);
            one.name = format!("{}{{path=loopback,size={row}}}", one.id);
            one.case.insert("size".to_owned(), row.to_string());
            one.evidence = claims(&like, row).collect();
            one
        })
        .collect();
    run
}

/// Maximum size of a standard run's page in bytes, without its explanations, which take 0.2 MB.
const BUDGET: usize = 1_800_000;

#[test]
fn a_page_of_a_standard_run_is_small() {
    let run = of_rows(1200);
    let page = draw(&[&run]);
    assert!(page.len() < BUDGET, "{} bytes", page.len());
    let per_row = (page.len() - draw(&[&of_rows(200)]).len()) / 1000;
    assert!(per_row < 1400, "{per_row} bytes a row");
    has(&page, &["syscost report RUN --samples"]);
    assert_eq!(data_of(&page)["rows"].as_array().map(Vec::len), Some(1200));
}

#[test]
fn pictures_of_samples_come_when_asked_for() {
    let run = with_samples();
    let plain = draw(&[&run]);
    let options = PageOptions {
        samples: true,
        ..options(&[&run])
    };
    let drawn = page(&[&run], &options);
    let pictures = |page: &str| {
        let rows = data_of(page)["rows"].clone();
        let rows = rows.as_array().expect("rows").clone();
        rows.iter().filter(|row| row["p"].is_string()).count()
    };
    assert_eq!(pictures(&plain), 0);
    assert!(pictures(&drawn) > 3, "{}", pictures(&drawn));
    assert!(!plain.contains("Samples by round") && drawn.contains("Samples by round"));
    let note = "The samples of the rows are not in this page";
    assert!(plain.contains(note) && !drawn.contains(note));
}

#[test]
fn every_link_leads_somewhere() {
    let run = with_samples();
    let other = scaled(&run, "other", 1.5);
    for runs in [vec![&run], vec![&run, &other], vec![&run; 5]] {
        let page = draw(&runs);
        let all = |start: &str| -> Vec<String> {
            let found = page.split(start).skip(1);
            found
                .filter_map(|rest| rest.split('"').next())
                .map(str::to_owned)
                .collect()
        };
        let ids: Vec<String> = all(" id=\"");
        let distinct: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(ids.len(), distinct.len(), "an id stands for one place");
        let links = all("href=\"#");
        assert!(links.len() > 8, "{links:?}");
        for link in links {
            assert!(distinct.contains(&link), "{link} leads nowhere");
        }
    }
}

#[test]
fn two_runs_say_what_changed_as_compare_does() {
    let base = with_samples();
    let mut new = base.clone();
    new.id = "new".to_owned();
    new.machine.transparent_hugepages = Some("always".to_owned());
    let slow = "syscall.null{call=getppid}";
    for row in new.measurements.iter_mut().filter(|row| row.name == slow) {
        for value in row
            .samples
            .iter_mut()
            .flatten()
            .flat_map(|round| &mut round.values)
        {
            *value *= 2.0;
        }
    }
    let page = draw(&[&base, &new]);
    let compared = syscost_results::compare::compare(&[&base], &[&new], &[]);
    let (changes, rows) = page
        .split_once("id=\"numbers\"")
        .expect("changes, then numbers and rows");
    for change in Change::ALL {
        let count = compared.count(change);
        let said = format!("<b>{count}</b> {}", crate::compare::verdict(change));
        assert!(changes.contains(&said), "{said}: {changes}");
    }
    for group in &compared.groups {
        assert!(
            changes.contains(&format!(">{}</span>", crate::compare::group_ratio(group))),
            "{group:?}"
        );
    }
    assert!(changes.contains("<th scope=\"row\">all</th>"));
    assert!(changes.contains("Cost of B relative to A"));
    for row in &compared.rows {
        let place = format!("id=\"row-{}\"", row.name);
        let (_, at) = rows.split_once(&place).expect("its row");
        let (own, _) = at.split_once("</tbody>").expect("its end");
        assert!(own.contains(crate::compare::verdict(row.verdict)), "{own}");
    }
    assert!(!changes.contains("No row is known"));
    // What is inconclusive may have changed all the same.
    let mut again = base.clone();
    again.id = "again".to_owned();
    assert!(draw(&[&base, &again]).contains("No row is known to have changed."));
    assert!(!draw(&[&base]).contains("id=\"changes\""));
}

#[test]
fn the_conditions_are_told_once() {
    let mut run = fixture::run();
    run.machine.transparent_hugepages = Some("madvise".to_owned());
    run.machine.governor = Some("performance".to_owned());
    run.machine.turbo = Some(false);
    for (name, state) in [
        ("meltdown", "Not affected"),
        ("retbleed", "Mitigation: IBRS"),
        ("spec_store_bypass", "Vulnerable"),
    ] {
        run.machine
            .mitigations
            .insert(name.to_owned(), state.to_owned());
    }
    let page = draw(&[&run]);
    let (_, machine) = page.split_once("id=\"machine\"").expect("the machine");
    for text in [
        "62 % of probes (CPU 1)",
        "on: retbleed; vulnerable: spec_store_bypass; 1 not needed",
        "madvise",
        "performance, turbo off",
        "3.69 GHz",
        "step 0.770 ns",
        "Linux 6.18.0",
    ] {
        assert!(machine.contains(text), "not found: {text}: {machine}");
    }
    let mut other = run.clone();
    other.machine.governor = None;
    let page = draw(&[&run, &other]);
    let (_, machine) = page.split_once("id=\"machine\"").expect("the machine");
    let (machine, _) = machine.split_once("<details").expect("its main facts");
    assert!(machine.contains("performance") && machine.contains("not known"));
    assert_eq!(
        machine.matches("madvise").count(),
        1,
        "the same is said once"
    );
}

#[test]
fn no_run_and_no_rows_still_make_a_page() {
    assert!(draw(&[]).contains("No run"));
    let mut run = fixture::run();
    run.measurements.clear();
    assert!(draw(&[&run]).contains("<b>0 of 0</b>"));
}
