//! The page of a hand-made comparison.

use syscost_results::compare::{
    Change, ComparedIn, Comparison, Difference, Missing, Pair, Refused, Row, Side,
};
use syscost_results::{Better, Unit};

use super::*;

#[test]
fn a_comparison_says_verdicts_and_what_it_refused() {
    let side = |id: &str| Side {
        runs: vec![id.to_owned()],
        started: "2026-11-21T08:00:00Z".to_owned(),
        hostname: "example".to_owned(),
        version: "0.1.0".to_owned(),
    };
    let compared = Comparison {
        base: side("base-run"),
        new: side("new-run"),
        facts: vec![Difference {
            fact: "machine.kernel".to_owned(),
            base: Some("Linux 6.18.0".to_owned()),
            new: None,
            meaning: Some("another kernel".to_owned()),
        }],
        rows: vec![Row {
            name: "syscall.null{call=<b>}".to_owned(),
            id: "syscall.null".to_owned(),
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            compared_in: ComparedIn::Time,
            core_share: None,
            base: 80.0,
            new: 100.0,
            ratio: 1.25,
            ci95_low: Some(1.2),
            ci95_high: Some(1.3),
            error: Some(0.01),
            freedom: Some(10),
            knows_runs: false,
            margin: 0.02,
            same_within: 0.02,
            p_value: Some(0.0002),
            verdict: Change::Worse,
            detectable: Some(0.05),
            notes: vec!["interference may be part of the difference".to_owned()],
            disturbed: false,
            cycles: None,
            p99: Some(Pair {
                base: 100.0,
                new: 150.0,
            }),
        }],
        refused: vec![Refused {
            name: "op.x".to_owned(),
            reason: "its definition changed".to_owned(),
            lost: true,
        }],
        missing: vec![Missing {
            name: "op.y".to_owned(),
            reason: "withheld on the new side".to_owned(),
            lost: true,
            to_noise: false,
        }],
        groups: Vec::new(),
        in_cycles: false,
        unmeasured: 0,
        paired: true,
        spread: vec!["further-run".to_owned()],
        power: None,
    };
    let page = comparison(&compared);
    for text in [
        "1 worse",
        "0 better",
        "Linux 6.18.0",
        "not known",
        "syscall.null{call=&lt;b&gt;}",
        "1.200 to 1.300",
        "&lt; 0.001",
        "its definition changed",
        "withheld on the new side",
        "another kernel",
        "interference may be part",
        "p99 100 ns -&gt; 150 ns (1.50x)",
        "measured in turn",
        ">B / A</button>",
        "1 further run shows how far runs differ",
    ] {
        assert!(page.contains(text), "not found: {text}");
    }
}
