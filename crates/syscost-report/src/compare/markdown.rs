//! A comparison for a pull request: GitHub-flavoured Markdown.

use syscost_results::compare::{Change, Comparison, Row};

use super::{change, clean, margin, side, summary, value, verdict};
use crate::units::quantity;

/// The comparison as Markdown that ends in a newline: what changed, and every row if `verbose`.
pub fn markdown(comparison: &Comparison, verbose: bool) -> String {
    let mut out = format!("**{}**\n", summary(comparison));
    out.push_str(&format!("\n- base: {}\n", cell(&side(&comparison.base))));
    out.push_str(&format!("- new: {}\n", cell(&side(&comparison.new))));
    if !comparison.facts.is_empty() {
        out.push_str("\n| Differs | Base | New | Meaning |\n|---|---|---|---|\n");
        for fact in &comparison.facts {
            let meaning = fact.meaning.as_deref().unwrap_or_default();
            let cells = [&*fact.fact, value(&fact.base), value(&fact.new), meaning];
            push_row(&mut out, &cells);
        }
    }
    let shown: Vec<&Row> = comparison
        .rows
        .iter()
        .filter(|row| verbose || matches!(row.verdict, Change::Worse | Change::Better))
        .collect();
    if !shown.is_empty() {
        out.push_str(
            "\n| Row | Base | New | Change | Margin | Verdict |\n|---|--:|--:|---|--:|---|\n",
        );
        for row in shown {
            let name = format!("`{}`", row.name.replace('`', "'"));
            let mut sentence = change(row);
            for note in &row.notes {
                sentence.push_str(&format!("; {note}"));
            }
            let (base, new) = (quantity(row.unit, row.base), quantity(row.unit, row.new));
            push_row(
                &mut out,
                &[
                    &name,
                    &base,
                    &new,
                    &sentence,
                    &margin(row),
                    verdict(row.verdict),
                ],
            );
        }
    }
    let shown = match verbose {
        true => usize::MAX,
        false => comparison.refused.len(),
    };
    let uncompared: Vec<(&str, &str)> = comparison.uncompared().take(shown).collect();
    if !uncompared.is_empty() {
        out.push_str("\n| Not compared | Reason |\n|---|---|\n");
        for (name, reason) in uncompared {
            push_row(
                &mut out,
                &[&format!("`{}`", name.replace('`', "'")), reason],
            );
        }
    }
    if !verbose && !comparison.missing.is_empty() {
        out.push_str(&format!(
            "\nRows with a number on one side only: {}.\n",
            comparison.missing.len()
        ));
    }
    out
}

fn push_row(out: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Text that neither ends a cell nor is taken for markup.
fn cell(text: &str) -> String {
    clean(text).replace('|', "\\|").replace('<', "&lt;")
}
