//! The page of a hand-made comparison.

use syscost_results::compare::Pair;

use super::*;
use crate::compare::tests;

#[test]
fn a_comparison_says_verdicts_and_what_it_refused() {
    let mut compared = tests::comparison();
    compared.rows.truncate(1);
    compared.facts[1].meaning = Some("another kernel".to_owned());
    compared.paired = true;
    let row = &mut compared.rows[0];
    row.name = "syscall.null{call=<b>}".to_owned();
    row.p_value = Some(0.0002);
    row.notes = vec!["interference may be part of the difference".to_owned()];
    row.p99 = Some(Pair {
        base: 100.0,
        new: 150.0,
    });
    let page = comparison(&compared);
    for text in [
        "1 worse",
        "0 better",
        "Mitigation: IBRS",
        "not known",
        "syscall.null{call=&lt;b&gt;}",
        "1.714 to 1.890",
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
