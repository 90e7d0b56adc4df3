//! `syscost list`: lists every benchmark, and why one cannot run here.

use std::fmt::Write;

use anyhow::Result;
use serde::Serialize;
use syscost_harness::Testbed;
use syscost_harness::session::Profile;
use syscost_harness::{Case, Entry};
use syscost_report::sentence;
use syscost_results::Unit;

use crate::cli::{Format, ListArguments};
use crate::error::exit;
use crate::selection::{self, Selected};
use crate::terminal::{BOLD, DIM, RESET, YELLOW, wrapped_item};

/// One benchmark of the list.
#[derive(Debug, Serialize)]
struct Listed {
    id: &'static str,
    title: &'static str,
    tags: Vec<&'static str>,
    group: &'static str,
    unit: Unit,
    /// Names of all rows.
    cases: Vec<String>,
    /// Names of the selected rows.
    selected: Vec<String>,
    /// `yes`, `partly` or `no`.
    support: &'static str,
    reason: Option<String>,
    /// Number of rows that only full and careful runs measure, unless they are named.
    full: usize,
    /// Number of rows that only careful runs measure, unless they are named.
    careful: usize,
    #[serde(skip)]
    shown: Shown,
}

/// What the line says about the selected rows.
#[derive(Debug)]
struct Shown {
    full: usize,
    careful: usize,
    refused: usize,
    first_refusal: Option<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &ListArguments) -> Result<u8> {
    let here = Testbed::plain();
    let selected = selection::benchmarks(&arguments.selectors, &here)?;
    let entries: Vec<Listed> = selected.iter().map(|one| entry(one, &here)).collect();
    match arguments.format {
        Format::Json => super::print_json(&entries)?,
        Format::Table => super::print(&text(&entries)?)?,
    }
    Ok(exit::DONE)
}

fn entry(selected: &Selected, here: &Testbed) -> Listed {
    let benchmark = selected.benchmark;
    let cases = (benchmark.cases)(here);
    let refused = refusals(benchmark, &cases, here);
    let refused_here = refusals(benchmark, &selected.cases, here);
    Listed {
        id: benchmark.id,
        title: benchmark.title,
        tags: benchmark.tags().collect(),
        group: benchmark.group(),
        unit: benchmark.unit,
        support: match refused.len() {
            0 => "yes",
            count if count == cases.len() => "no",
            _ => "partly",
        },
        reason: (!refused.is_empty()).then(|| refused.join("; ")),
        full: count_of(Profile::Full, benchmark, &cases),
        careful: count_of(Profile::Careful, benchmark, &cases),
        cases: names(benchmark, &cases),
        selected: names(benchmark, &selected.cases),
        shown: Shown {
            full: count_of(Profile::Full, benchmark, &selected.cases),
            careful: count_of(Profile::Careful, benchmark, &selected.cases),
            refused: refused_here.len(),
            first_refusal: refused_here.into_iter().next(),
        },
    }
}

/// Reasons why this machine cannot measure some of these cases.
fn refusals(benchmark: &Entry, cases: &[Case], here: &Testbed) -> Vec<String> {
    let refusals = cases.iter().filter_map(|case| {
        let reason = (benchmark.support)(case, here).err()?;
        Some(match case.is_empty() {
            true => reason.to_string(),
            false => format!("{}: {reason}", case.suffix()),
        })
    });
    refusals.collect()
}

/// The number of cases that this profile is the first to measure.
fn count_of(profile: Profile, benchmark: &Entry, cases: &[Case]) -> usize {
    let first = cases
        .iter()
        .map(|case| Profile::first_with(benchmark, case));
    first.filter(|first| *first == profile).count()
}

fn names(benchmark: &Entry, cases: &[Case]) -> Vec<String> {
    let names = cases
        .iter()
        .map(|case| format!("{}{}", benchmark.id, case.suffix()));
    names.collect()
}

/// The number of selected rows: `9 rows`, `2 of 9 rows`.
fn rows(entry: &Listed) -> String {
    let all = entry.cases.len();
    match (entry.selected.len(), all) {
        (_, 1) => "1 row ".to_owned(),
        (some, _) if some == all => format!("{all} rows"),
        (some, _) => format!("{some} of {all} rows"),
    }
}

fn text(entries: &[Listed]) -> Result<String> {
    let widest = entries
        .iter()
        .map(|entry| entry.id.len())
        .max()
        .unwrap_or(0);
    let longest = entries.iter().map(|entry| rows(entry).len()).max();
    let longest = longest.unwrap_or(0);
    // Aligned with the titles.
    let indent = " ".repeat(widest + longest + 4);
    let mut out = String::new();
    for entry in entries {
        let head = format!(
            "{BOLD}{:widest$}{RESET}  {DIM}{:>longest$}{RESET}  ",
            entry.id,
            rows(entry)
        );
        let mut text = entry.title.to_owned();
        let shown = &entry.shown;
        let some = [(shown.full, "full"), (shown.careful, "careful")];
        let some = some.iter().filter(|(count, _)| *count > 0);
        let some: Vec<String> = some
            .map(|(count, profile)| format!("{count} in {profile} runs only"))
            .collect();
        if !some.is_empty() {
            write!(text, "  {DIM}({}){RESET}", some.join(", "))?;
        }
        if let Some(reason) = &shown.first_refusal {
            write!(text, "  {YELLOW}unsupported here: {reason}{RESET}")?;
            let more = shown.refused - 1;
            if more > 0 {
                write!(
                    text,
                    " {DIM}(and {}){RESET}",
                    sentence::count(more, "more row")
                )?;
            }
        }
        writeln!(out, "{}", wrapped_item(&text, &head, &indent))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_of_the_rows_are_selected() {
        let listed = |selector: &str| {
            let selected = selection::benchmarks(&[selector.to_owned()], &Testbed::plain())
                .expect("there are");
            let entries: Vec<Listed> = selected
                .iter()
                .map(|one| entry(one, &Testbed::plain()))
                .collect();
            let all = entries[0].cases.len();
            (text(&entries).expect("text"), all)
        };
        let (one, all) = listed("syscall.null{call=getuid}");
        assert!(one.contains(&format!("1 of {all} rows")), "{one}");
        let (whole, all) = listed("syscall.null");
        assert!(whole.contains(&format!("{all} rows")), "{whole}");
        assert!(!whole.contains(&format!("of {all} rows")), "{whole}");
        let (one, _) = listed("memory.line_size");
        assert!(one.contains("1 row "), "{one}");
    }
}
