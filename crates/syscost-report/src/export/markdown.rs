//! Markdown: tables to paste into a wiki, an issue or a pull request.

use std::fmt::Write;

use syscost_results::{Measurement, Run};

use super::on_one_line;
use crate::flags;
use crate::sentence::{self, Mark};
use crate::view::{Column, RowView};

const HEADINGS: &str = "\
| Row | Median | ± 95 % | Best | Cycles | Undisturbed | In company | Evidence | Notes |
|:--|--:|--:|--:|--:|--:|--:|:--|:--|
";

/// A section for each run with a table for each group (GitHub's tables). Statuses, flags and
/// evidence are in words.
pub fn to_markdown(runs: &[&Run]) -> String {
    let sections: Vec<String> = runs.iter().map(|run| section(run)).collect();
    sections.join("\n")
}

fn section(run: &Run) -> String {
    let mut text = format!(
        "## Run {}\n\n{}. {}. Begun {}, {} profile, syscost {}.\n",
        escaped(&run.id),
        escaped(&sentence::machine(run)),
        escaped(&sentence::summary(run)),
        escaped(&run.started),
        escaped(&run.config.profile),
        escaped(&run.tool.version),
    );
    for directory in &run.directories {
        let _ = write!(text, "\n{}\n", escaped(&sentence::directory(directory)));
    }
    for warning in &run.warnings {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n> **Warning:** {}: {}\n",
            escaped(&warning.message),
            escaped(&warning.advice)
        );
    }
    for rows in run.measurements.chunk_by(|a, b| a.group() == b.group()) {
        let _ = write!(text, "\n### {}\n\n{HEADINGS}", escaped(rows[0].group()));
        for row in rows {
            text += &line(row);
        }
    }
    text
}

fn line(row: &Measurement) -> String {
    let view = RowView::of(row);
    let unit = view.cell(Column::Unit).text;
    let with_unit = |column| match view.cell(column).text.as_str() {
        "" => String::new(),
        figure => format!("{figure} {unit}").trim_end().to_owned(),
    };
    let median = match view.figures {
        Some(_) => with_unit(Column::Median),
        None => format!("*{}*", row.status.words()),
    };
    let [half_width, best] = [Column::HalfWidth, Column::Best].map(with_unit);
    let cycles = view.cell(Column::Cycles).text;
    let [undisturbed, company] =
        [Column::Undisturbed, Column::Company].map(|column| view.cell(column).text);
    format!(
        "| {} | {} | {half_width} | {best} | {cycles} | {undisturbed} | {company} | {} | {} |\n",
        name(&row.name),
        // Only a bound contains a character special to HTML.
        median.replace('<', "&lt;").replace('>', "&gt;"),
        evidence(row),
        escaped(&notes(row)),
    )
}

fn evidence(row: &Measurement) -> &'static str {
    match Mark::of(&row.evidence) {
        Mark::Refuted => "refuted",
        _ if !row.status.has_figures() => "",
        Mark::Confirmed => "confirmed",
        Mark::Unverified => "not fully verified",
    }
}

/// Why there is no number, and the flags in words.
fn notes(row: &Measurement) -> String {
    let mut notes: Vec<String> = sentence::reason(row).into_iter().collect();
    let meanings = row.flags.iter().map(|flag| flags::words(*flag).meaning);
    notes.extend(meanings.map(str::to_owned));
    notes.join("; ")
}

/// A row's name as code, if that needs no escaping.
fn name(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._{}=,-+/: ".contains(letter);
    if !name.is_empty() && name.chars().all(is_plain) {
        format!("`{name}`")
    } else {
        escaped(name)
    }
}

/// Text escaped so that Markdown renders it unchanged, within its cell.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in on_one_line(text).chars() {
        match letter {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => {
                safe.push('\\');
                safe.push(letter);
            }
            letter => safe.push(letter),
        }
    }
    safe
}
