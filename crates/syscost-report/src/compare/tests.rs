//! A hand-made comparison in human-readable form.

mod notices;

use insta::assert_snapshot;
use syscost_results::compare::{
    Change, ComparedIn, Comparison, Difference, Group, Missing, Power, Refused, Row, Side,
};
use syscost_results::{Better, Unit};

use super::{markdown, parts, summary, table};
use crate::TableOptions;
use crate::expect::{fits, has};

fn row(name: &str, base: f64, new: f64, reach: f64, verdict: Change) -> Row {
    let ratio = new / base;
    Row {
        name: name.to_owned(),
        id: name.split('{').next().unwrap_or_default().to_owned(),
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        compared_in: ComparedIn::Time,
        core_share: None,
        base,
        new,
        ratio,
        ci95_low: Some(ratio / reach),
        ci95_high: Some(ratio * reach),
        error: Some(reach.ln() / 2.0),
        freedom: Some(10),
        knows_runs: true,
        margin: 0.02,
        same_within: 0.02,
        p_value: Some(0.001),
        verdict,
        detectable: Some(2.0 * reach - 1.98),
        notes: Vec::new(),
        disturbed: false,
        company: None,
        cycles: None,
        p99: None,
    }
}

fn side(runs: &[&str], version: &str) -> Side {
    Side {
        runs: runs.iter().map(|&run| run.to_owned()).collect(),
        started: "2026-11-21T08:00:00.5Z".to_owned(),
        hostname: "lab".to_owned(),
        version: version.to_owned(),
    }
}

fn fact(fact: &str, base: Option<&str>, new: Option<&str>, meaning: Option<&str>) -> Difference {
    Difference {
        fact: fact.to_owned(),
        base: base.map(str::to_owned),
        new: new.map(str::to_owned),
        meaning: meaning.map(str::to_owned),
        explains: false,
    }
}

fn group(name: &str, ratio: f64, interval: Option<(f64, f64)>, counts: [usize; 4]) -> Group {
    let [worse, better, inconclusive, same] = counts;
    Group {
        verdict: None,
        p_value: None,
        name: name.to_owned(),
        rows: counts.iter().sum(),
        left_out: 0,
        benchmarks: counts.iter().sum(),
        ratio: Some(ratio),
        ci95_low: interval.map(|(low, _)| low),
        ci95_high: interval.map(|(_, high)| high),
        worse,
        better,
        inconclusive,
        same,
    }
}

pub(crate) fn comparison() -> Comparison {
    Comparison {
        causes: Vec::new(),
        base: side(&["20261121T080000Z-1"], "0.1.0"),
        new: side(&["20261121T090000Z-2", "20261121T091000Z-3"], "0.2.0"),
        facts: vec![
            fact(
                "core_ghz",
                Some("3.60"),
                Some("3.00"),
                Some("costs that are only computing change by +20.0 % with it"),
            ),
            fact(
                "machine.mitigations.retbleed",
                None,
                Some("Mitigation: IBRS"),
                None,
            ),
        ],
        groups: vec![
            group("call", 1.001, None, [0, 0, 0, 1]),
            group("syscall", 1.302, Some((1.1, 1.541)), [2, 1, 1, 0]),
            group("", 1.2, Some((1.05, 1.371)), [2, 1, 1, 1]),
        ],
        rows: vec![
            Row {
                notes: vec!["the core ran at 3.00 GHz instead of 3.60 GHz".to_owned()],
                ..row(
                    "syscall.null{call=getppid}",
                    79.13,
                    142.4,
                    1.05,
                    Change::Worse,
                )
            },
            Row {
                unit: Unit::Gigahertz,
                better: Better::Higher,
                ..row(
                    "timing.core_frequency{op=add}",
                    3.6,
                    3.0,
                    1.001,
                    Change::Worse,
                )
            },
            row(
                "syscall.poll{descriptors=500,of=tcp,ready=last}",
                12_345.0,
                11_610.0,
                1.01,
                Change::Better,
            ),
            Row {
                ci95_low: None,
                ci95_high: None,
                p_value: None,
                detectable: None,
                margin: 0.084,
                same_within: 0.1,
                ..row("signal.catch", 1034.0, 1100.0, 1.0, Change::Inconclusive)
            },
            row(
                "call.integer{arguments=0}",
                0.8132,
                0.814,
                1.005,
                Change::Same,
            ),
        ],
        refused: vec![Refused {
            name: "syscall.lseek".to_owned(),
            reason: "its definition changed: revision 1 on the base side, 2 on the new side"
                .to_owned(),
            lost: true,
        }],
        in_cycles: false,
        unmeasured: 0,
        paired: false,
        missing: vec![Missing {
            name: "syscall.null{call=getpid,via=libc}".to_owned(),
            reason: "withheld on the new side".to_owned(),
            lost: true,
            to_noise: false,
        }],
        spread: vec!["20261120T080000Z-9".to_owned()],
        power: Some(Power {
            half: Some(0.012),
            nine_of_ten: Some(0.0412),
        }),
    }
}

fn draw(width: usize, verbose: bool) -> String {
    table(
        &comparison(),
        &TableOptions::of_width(width).verbose(verbose),
    )
}

#[test]
fn brief_at_100_columns() {
    assert_snapshot!(draw(100, false));
}

#[test]
fn brief_at_80_columns() {
    assert_snapshot!(draw(80, false));
}

#[test]
fn verbose_at_100_columns() {
    assert_snapshot!(draw(100, true));
}

#[test]
fn markdown_brief_and_whole() {
    assert_snapshot!("markdown_brief", markdown(&comparison(), false));
    assert_snapshot!("markdown_verbose", markdown(&comparison(), true));
}

#[test]
fn json_keeps_the_names_others_rely_on() {
    assert_snapshot!(serde_json::to_string_pretty(&comparison().rows[0]).expect("JSON"));
}

fn change(row: &Row) -> String {
    match parts(row) {
        (words, Some(interval)) => format!("{words}, CI {interval}"),
        (words, None) => format!("{words}, no CI"),
    }
}

#[test]
fn changes_are_stated_above_one() {
    let mut slower = row("x.y", 100.0, 180.0, 1.0556, Change::Worse);
    assert_eq!(change(&slower), "1.80x slower, CI 1.71 to 1.90");
    let faster = row("x.y", 180.0, 100.0, 1.0556, Change::Better);
    assert_eq!(change(&faster), "1.80x faster, CI 1.71 to 1.90");
    let little = row("x.y", 100.0, 105.2, 1.002, Change::Worse);
    assert_eq!(change(&little), "1.052x slower, CI 1.050 to 1.054");
    let much = row("x.y", 100.0, 2500.0, 1.1, Change::Worse);
    assert_eq!(change(&much), "25.0x slower, CI 22.7 to 27.5");
    for new in [100.0, 100.01, 99.99] {
        let same = row("x.y", 100.0, new, 1.002, Change::Same);
        assert!(change(&same).starts_with("1.000x, CI "), "{new}");
    }
    slower.unit = Unit::BytesPerSecond;
    slower.better = Better::Higher;
    assert_eq!(change(&slower), "1.80x higher, CI 1.71 to 1.90");
    slower.ci95_low = None;
    assert_eq!(change(&slower), "1.80x higher, no CI");
}

#[test]
fn a_summary_of_one_row_is_of_one() {
    let mut comparison = comparison();
    comparison.rows.truncate(1);
    assert_eq!(
        summary(&comparison),
        "1 of 3 rows compared: 1 worse, 0 better, 0 inconclusive, 0 the same"
    );
}

#[test]
fn a_document_cannot_break_the_table() {
    let mut comparison = comparison();
    comparison.rows[0].name = "evil`|<b>\n\u{1b}[2J".to_owned();
    comparison.facts[0].new = Some("a|b\n<script>".to_owned());
    let text = table(&comparison, &TableOptions::default());
    assert!(!text.contains('\u{1b}'), "{text}");
    let markdown = markdown(&comparison, true);
    assert!(
        !markdown.contains('\u{1b}') && !markdown.contains("<script>"),
        "{markdown}"
    );
    has(&markdown, &["a\\|b &lt;script&gt;", "`evil'\\|<b>  [2J`"]);
}

#[test]
fn rows_left_out_of_a_mean_have_a_column_where_there_are_any() {
    let mut comparison = comparison();
    let draw = |comparison: &Comparison| {
        let text = table(comparison, &TableOptions::of_width(80));
        [text, markdown(comparison, false)]
    };
    for text in draw(&comparison) {
        assert!(!text.to_lowercase().contains("left out"), "{text}");
    }
    comparison.groups[1].left_out = 2;
    let [text, markdown] = draw(&comparison);
    let syscall = text.lines().find(|line| line.starts_with("  syscall "));
    assert!(
        syscall.is_some_and(|line| line.ends_with("     0         2")),
        "{text}"
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("Rows left out of the mean have no interval"),
        "{text}"
    );
    fits(&text, 80);
    assert!(
        markdown.contains("| same | left out |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"),
        "{markdown}"
    );
    assert!(markdown.contains("| 2 | 1 | 1 | 0 | 2 |"), "{markdown}");
}

#[test]
fn a_name_too_long_for_a_line_is_whole_and_broken_after_parameters() {
    let long = "net.tcp.bandwidth{path=loopback,family=ipv4,cpus=same,streams=1,size=64K,direction=send,via=write}";
    let mut comparison = comparison();
    comparison.rows[0].name = long.to_owned();
    comparison.refused[0].name = long.to_owned();
    let text = table(&comparison, &TableOptions::of_width(80));
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.trim().trim_start_matches("- "))
        .collect();
    fits(&text, 80);
    let begin = "net.tcp.bandwidth{path=loopback,family=ipv4,cpus=same,streams=1,size=64K,";
    let begins = lines.iter().enumerate().filter(|(_, line)| **line == begin);
    let after: Vec<&str> = begins.map(|(at, _)| lines[at + 1]).collect();
    assert_eq!(after.len(), 2, "{text}");
    assert!(
        after
            .iter()
            .all(|line| line.starts_with("direction=send,via=write}")),
        "{text}"
    );
}

#[test]
fn nothing_compared_says_so() {
    let mut nothing = comparison();
    nothing.rows.clear();
    nothing.groups.clear();
    nothing.facts.clear();
    let text = table(&nothing, &TableOptions::default());
    assert!(text.contains("0 of 2 rows compared: 0 worse, 0 better, 0 inconclusive, 0 the same"));
    assert!(!text.contains("differs"));
}
