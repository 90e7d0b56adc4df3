//! The page of hand-made runs.

use base64::Engine;
use insta::assert_snapshot;
use sha2::Digest;
use syscost_results::compare::compare;
use syscost_results::history::{ChangePoint, Point, Series};
use syscost_results::measurement::RoundSamples;
use syscost_results::numbers::numbers;
use syscost_results::{Better, Fact, Run, Status, Unit};

use super::*;
use crate::expect::{has, lacks};
use crate::fixture;

mod comparing;
mod pages;
mod reading;

fn options(runs: &[&Run]) -> PageOptions<'static> {
    let explanation = Explanation {
        summary: "One way into the kernel and back.".to_owned(),
        tags: vec!["lat_syscall".to_owned(), "kernel entry".to_owned()],
        sections: vec![(
            "Measures".to_owned(),
            "The `syscall` instruction.\n\nAnd back.".to_owned(),
        )],
    };
    let comparison = match runs {
        [base, new] => Some(compare(&[base], &[new], &[])),
        _ => None,
    };
    PageOptions {
        comparison,
        explanations: BTreeMap::from([("syscall.null".to_owned(), explanation)]),
        headline: runs.iter().map(|run| numbers(run)).collect(),
        ..PageOptions::default()
    }
}

fn draw(runs: &[&Run]) -> String {
    page(runs, &options(runs))
}

/// The contents of `main`, one element per line.
fn main_of(page: &str) -> String {
    let (_, rest) = page.split_once("<main").expect("a main part");
    let (main, _) = rest.split_once("</main>").expect("its end");
    format!("<main{main}</main>").replace("><", ">\n<")
}

/// The data from which the page's script renders the rows' details.
fn data_of(page: &str) -> serde_json::Value {
    let (_, rest) = page
        .split_once("<script type=\"application/json\" id=\"data\">")
        .expect("the data");
    let (data, _) = rest.split_once("</script>").expect("their end");
    serde_json::from_str(data).expect("JSON")
}

fn with_samples() -> Run {
    let mut run = fixture::run();
    let round = |round| RoundSamples {
        round,
        cpu: 1,
        iterations: 512,
        values: vec![78.0, 79.0, 80.5],
        ..RoundSamples::default()
    };
    for row in &mut run.measurements {
        row.samples = Some((0..3).map(round).collect());
    }
    run
}

/// A run with other numbers, which are found in no other run.
fn scaled(run: &Run, id: &str, factor: f64) -> Run {
    let mut run = run.clone();
    run.id = id.to_owned();
    for row in &mut run.measurements {
        let estimate = &mut row.estimate;
        for value in [
            &mut estimate.median,
            &mut estimate.ci95_low,
            &mut estimate.ci95_high,
        ] {
            *value = value.map(|value| factor * value);
        }
    }
    run
}

#[test]
fn one_run() {
    assert_snapshot!(main_of(&draw(&[&fixture::run()])));
}

#[test]
fn every_row_says_its_number_or_why_there_is_none() {
    let page = draw(&[&with_samples()]);
    for sentence in [
        "What this computer charges",
        "<b>6 of 12</b> <span>rows measured; 1 below resolution, 1 failed, 2 unsupported, 1 skipped</span>",
        "<a href=\"#content\" data-which=\"withheld\"><b class=\"bad\">1</b></a> <span>withheld",
        "the hypervisor took 0.4 % of the time",
        "Measure on a machine of its own, or when the host is quiet.",
        "withheld: getpid system calls per operation: expected 1, observed 0 (seccomp audit): the C library answered from its \
         own memory",
        "unsupported: io_uring_setup: operation not permitted",
        "skipped: the budget of 60 s was spent",
        "<strong>79.13</strong>",
        "&lt; 0.0431",
        "more than a tenth of the samples were disturbed",
        "<p>The <code>syscall</code> instruction.</p><p>And back.</p>",
        "270 samples from 9 processes",
    ] {
        assert!(page.contains(sentence), "not found: {sentence}");
    }
}

#[test]
fn withheld_numbers_never_appear() {
    let mut clean = with_samples();
    let mut hostile = clean.clone();
    let rows = clean.measurements.iter_mut().zip(&mut hostile.measurements);
    for (clean, row) in rows.filter(|(clean, _)| clean.status != Status::Ok) {
        clean.samples = None;
        // What a document must not contain, but a hostile one does.
        row.estimate.median = Some(424.242);
        row.estimate.min = Some(424.242);
        row.estimate.p99 = Some(424.242);
        row.core_cycles = Some(424.242);
        row.details.insert("x_ns".to_owned(), 424.242);
        row.histogram = vec![(424.242, 5)];
        for round in row.samples.iter_mut().flatten() {
            round.values.fill(424.242);
        }
    }
    let other = with_samples();
    for others in [0, 1, 5] {
        let pages = [&clean, &hostile].map(|run| {
            let mut runs = vec![&other; others];
            runs.push(run);
            draw(&runs)
        });
        assert!(
            pages[0] == pages[1],
            "beside {others} runs, a withheld number leaves a trace"
        );
    }
}

#[test]
fn a_hostile_document_stays_text() {
    const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u{0}&";
    let mut run = with_samples();
    run.id = HOSTILE.to_owned();
    run.started = format!("ä{HOSTILE}");
    run.tool.version = HOSTILE.to_owned();
    run.machine.cpu_model = HOSTILE.to_owned();
    run.machine
        .mitigations
        .insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    run.warnings[0].message = HOSTILE.to_owned();
    run.warnings[0].advice = HOSTILE.to_owned();
    for (index, row) in run.measurements.iter_mut().enumerate() {
        row.title = HOSTILE.to_owned();
        row.id = format!("{HOSTILE}.{HOSTILE}{}", index / 4);
        row.name = format!("{}{{a={HOSTILE}{index}}}", row.id);
        row.case
            .insert(HOSTILE.to_owned(), format!("{index}{HOSTILE}"));
        row.reason = Some(HOSTILE.to_owned());
        for evidence in &mut row.evidence {
            evidence.claim.sentence = HOSTILE.to_owned();
            evidence.source = HOSTILE.to_owned();
            evidence.observed = Some(Fact::Text(HOSTILE.to_owned()));
        }
    }
    let hostile = options(&[&run]);
    for runs in [vec![&run], vec![&run, &run], vec![&run; 5]] {
        let page = page(&runs, &hostile);
        lacks(&page, &["<script>alert", "<img", "\"'"]);
        assert_eq!(
            page.matches("<script").count(),
            2,
            "only the page's own script and its data"
        );
        assert_eq!(data_of(&page)["rows"][0]["t"], 0, "the data are whole");
    }
}

#[test]
fn the_policy_allows_the_own_script_and_no_network() {
    let page = draw(&[&fixture::run()]);
    let (_, script) = page.split_once("<script>").expect("a script");
    let (script, _) = script.split_once("</script>").expect("its end");
    let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(script));
    has(&page, &["default-src 'none'", &format!("'sha256-{hash}'")]);
    for address in ["http:", "https:", "//cdn", "url(", "@import"] {
        let rest = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains(address), "{address} in the page");
    }
}

#[test]
fn two_runs_have_a_column_each_and_a_ratio() {
    let base = fixture::run();
    let mut new = scaled(&base, "new", 1.5);
    new.machine.kernel = "Linux 6.19.0".to_owned();
    new.measurements.pop();
    let page = draw(&[&base, &new]);
    assert!(page.contains("<h1>What changed</h1>") && page.contains(">B / A</button>"));
    assert!(page.contains("<b>1.500</b>"), "the ratio");
    assert!(page.contains("<td data-head=\"kernel\">Linux 6.19.0</td>"));
    assert!(page.contains("not in this run"));
}

#[test]
fn the_same_width_is_the_same_uncertainty() {
    let mut run = fixture::run();
    run.measurements.truncate(2);
    // Five percent; and from a tenth below to beyond the axis' end at a fifth above.
    for (row, (median, low, high)) in run
        .measurements
        .iter_mut()
        .zip([(100.0, 95.0, 105.0), (1e6, 0.9e6, 1.3e6)])
    {
        row.status = Status::Ok;
        row.estimate.median = Some(median);
        (row.estimate.ci95_low, row.estimate.ci95_high) = (Some(low), Some(high));
    }
    let page = draw(&[&run]);
    assert!(page.contains("<span>−20 %</span><span>median</span><span>+20 %</span>"));
    has(&page, &["left:37.5%;width:25%", "left:25%;width:75%"]);
    assert_eq!(page.matches("<em class=\"above\">").count(), 1);
    assert!(!page.contains("<em class=\"below\">"));
}

#[test]
fn runs_side_by_side_keep_their_flags() {
    let run = fixture::run();
    let page = draw(&[&run, &run]);
    let count = page.matches("class=\"of-run\"").count();
    assert!(
        count > 0 && count.is_multiple_of(2),
        "{count}, each run's own"
    );
    assert!(page.contains("noisy: more than a tenth of the samples were disturbed"));
    let many = draw(&[&run; 5]);
    assert!(many.contains("noisy: more than a tenth of the samples were disturbed"));
}

#[test]
fn many_runs_are_lines_with_first_last_and_spread() {
    let run = with_samples();
    let runs: Vec<Run> = (0..50)
        .map(|index| {
            let mut run = run.clone();
            run.started = format!("2026-11-21T08:{index:02}:00Z");
            run
        })
        .collect();
    let page = draw(&runs.iter().collect::<Vec<_>>());
    assert!(page.contains("<h1>50 runs</h1>"));
    for word in ["last", "first", "lowest", "highest", "spread"] {
        has(&page, &[&format!("class=\"sort\">{word}</button>")]);
    }
    assert!(page.contains("class=\"sparkline\"") && !page.contains(">B / A</button>"));
    assert!(page.contains("2026-11-21 08:49 UTC"));
}

#[test]
fn a_changed_metric_tells_when_and_how_much() {
    let point = |index: usize| Point {
        run: format!("r{index}"),
        started: format!("2026-11-{:02}T08:00:00Z", index + 1),
        tags: Vec::new(),
        median: if index < 5 { 100.0 } else { 120.0 },
        ci95_low: Some(95.0),
        ci95_high: Some(125.0),
    };
    let history = vec![Series {
        name: "syscall.null{call=getppid}".to_owned(),
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        points: (0..10).map(point).collect(),
        changes: vec![ChangePoint {
            index: 5,
            started: "2026-11-06T08:00:00Z".to_owned(),
            before: 100.0,
            after: 120.0,
            p_value: 0.0004,
        }],
    }];
    let options = PageOptions {
        history,
        ..PageOptions::default()
    };
    let page = page(&[&fixture::run()], &options);
    assert!(page.contains("1 of 1 rows changed their level."));
    assert!(page.contains("100 ns → 120 ns, +20 %, 2026-11-06 (p = 0.0004)"));
}
