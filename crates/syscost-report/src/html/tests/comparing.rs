//! The page of a hand-made comparison, of one run with two.

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
    let of = |id: &String| Run {
        id: id.clone(),
        ..Run::default()
    };
    let [base, new] = [&compared.base, &compared.new].map(|side| of(&side.runs[0]));
    let further = of(&compared.new.runs[1]);
    let options = PageOptions {
        comparison: Some(compared),
        ..PageOptions::default()
    };
    let page = page(&[&base, &new, &further], &options);
    for text in [
        "<b>1</b> worse",
        "<b>0</b> better",
        "Mitigation: IBRS",
        "not known",
        "syscall.null{call=&lt;b&gt;}",
        "1.714 to 1.890",
        "its definition changed",
        "withheld on the new side",
        "another kernel",
        "interference may be part",
        "Measured in turn",
        "<td data-head=\"side\">A</td>",
        "<td data-head=\"side\">B</td>",
        ">B / A</th>",
        "1 further run shows how far runs differ",
    ] {
        assert!(page.contains(text), "not found: {text}");
    }
}
