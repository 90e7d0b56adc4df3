//! A comparison for a pull request: GitHub-flavoured Markdown.

use syscost_results::compare::{Change, Comparison, Difference, Row};

use super::{
    IN_TURN, are_few_settled, are_rows_left_out, causes, change, clean, code, group_interval,
    group_ratio, groups_note, is_noticed, margin, medians, notices, own_notes, power, side, sides,
    single_runs, spread, summary, tail, together, too_few, value, verdict, why_missing,
};
use crate::sentence;

/// The comparison as Markdown that ends in a newline: what changed, and every row if `verbose`.
pub fn markdown(comparison: &Comparison, verbose: bool) -> String {
    let mut out = format!("**{}**\n", summary(comparison));
    for line in causes(comparison).iter().chain(&together(comparison)) {
        out.push_str(&format!("\n**{}**\n", cell(&sentence::capital(line))));
    }
    let [base, new] = sides(comparison);
    out.push_str(&format!("\n- {base}: {}\n", cell(&side(&comparison.base))));
    out.push_str(&format!("- {new}: {}\n", cell(&side(&comparison.new))));
    let in_turn = comparison.paired.then(|| IN_TURN.to_owned());
    for line in in_turn
        .into_iter()
        .chain(spread(comparison))
        .chain(single_runs(comparison))
    {
        out.push_str(&format!("- {}\n", cell(&line)));
    }
    let [base, new] = [base, new].map(sentence::capital);
    push_rows(&mut out, comparison, [&base, &new], verbose);
    out.extend(power(comparison).map(|power| format!("\nIt {power}.\n")));
    if are_few_settled(comparison) {
        out.push_str(&format!("\n{}.\n", sentence::capital(too_few(comparison))));
    }
    let facts: Vec<&Difference> = comparison
        .facts
        .iter()
        .filter(|fact| !is_noticed(fact))
        .collect();
    if !facts.is_empty() {
        out.push_str(&format!(
            "\n| Differs | {base} | {new} | Meaning |\n|---|---|---|---|\n"
        ));
        for fact in facts {
            let meaning = fact.meaning.as_deref().unwrap_or_default();
            let cells = [&*fact.fact, value(&fact.base), value(&fact.new), meaning];
            push_row(&mut out, &cells);
        }
    }
    push_groups(&mut out, comparison);
    for (index, line) in notices(comparison).iter().enumerate() {
        let begin = if index == 0 { "\n" } else { "" };
        out.push_str(&format!("{begin}- {}\n", cell(line)));
    }
    let shown = match verbose {
        true => usize::MAX,
        false => comparison.refused.len(),
    };
    let uncompared: Vec<(&str, &str)> = comparison.uncompared().take(shown).collect();
    if !uncompared.is_empty() {
        out.push_str("\n| Not compared | Reason |\n|---|---|\n");
        for (name, reason) in uncompared {
            push_row(&mut out, &[&code(name), reason]);
        }
    }
    if !verbose && !comparison.missing.is_empty() {
        out.push_str(&format!(
            "\n{} {}.\n",
            sentence::count(comparison.missing.len(), "row"),
            why_missing(comparison)
        ));
    }
    out
}

fn push_rows(out: &mut String, comparison: &Comparison, [base, new]: [&str; 2], verbose: bool) {
    let own_notes = own_notes(comparison);
    let shown: Vec<&Row> = comparison
        .rows
        .iter()
        .filter(|row| verbose || matches!(row.verdict, Change::Worse | Change::Better))
        .collect();
    if !shown.is_empty() {
        out.push_str(&format!(
            "\n| Row | {base} | {new} | Change | Margin | Verdict |\n|---|--:|--:|---|--:|---|\n"
        ));
    }
    for row in shown {
        let name = code(&row.name);
        let mut sentence = change(row);
        let own = own_notes(row).into_iter().map(str::to_owned);
        for note in own.chain(tail(row)) {
            sentence.push_str(&format!("; {note}"));
        }
        let [base, new] = medians(row);
        let verdict = verdict(row.verdict);
        push_row(out, &[&name, &base, &new, &sentence, &margin(row), verdict]);
    }
}

fn push_groups(out: &mut String, comparison: &Comparison) {
    if comparison.groups.is_empty() {
        return;
    }
    let has_left_out = are_rows_left_out(&comparison.groups);
    let (head, line) = match has_left_out {
        true => (" Left out |", "--:|"),
        false => ("", ""),
    };
    out.push_str(&format!(
        "\n| Group | Cost | 95 % | Worse | Better | Inconclusive | Same |{head}\n|---|--:|--:|--:|--:|--:|--:|{line}\n"
    ));
    for group in &comparison.groups {
        let name = if group.name.is_empty() {
            "all"
        } else {
            &group.name
        };
        let ratio = group_ratio(group);
        let interval = group_interval(group).unwrap_or_else(|| "none".to_owned());
        let counts = [group.worse, group.better, group.inconclusive, group.same];
        let left_out = has_left_out.then_some(group.left_out);
        let counts = counts.into_iter().chain(left_out);
        let counts: Vec<String> = counts.map(|count| count.to_string()).collect();
        let mut cells: Vec<&str> = vec![name, &ratio, &interval];
        cells.extend(counts.iter().map(String::as_str));
        push_row(out, &cells);
    }
    out.push_str(&format!(
        "\n{}.\n",
        groups_note(comparison, sides(comparison))
    ));
}

/// Appends a row of a table.
pub(super) fn push_row(out: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Text that neither ends a table cell nor is interpreted as markup.
fn cell(text: &str) -> String {
    clean(text).replace('|', "\\|").replace('<', "&lt;")
}
