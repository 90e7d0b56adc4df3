//! The HTML page: one self-contained file for one run or many, or for a comparison.
//!
//! No network, no third-party code. The page is readable without script, which only sorts, filters
//! and unfolds the rows' evidence (`data.rs`). All text from documents is escaped, and a content
//! security policy forbids everything that the page does not need.

mod benchmarks;
mod change;
mod comparison;
mod conditions;
mod contents;
mod data;
mod details;
mod directories;
mod facts;
mod files;
mod headline;
mod hierarchy;
mod history;
mod lab_report;
mod legend;
mod quantities;
mod rows;
mod skeleton;
mod studies;
mod table;
#[cfg(test)]
mod tests;
mod whose;
mod words;

use std::collections::BTreeMap;

use maud::{Markup, html};
use syscost_results::Run;
use syscost_results::history::Series;
use syscost_results::numbers::Numbers;

pub use comparison::comparison;
pub use lab_report::lab_report;

use crate::sentence;
use crate::study::Repeated;

use change::Changes;
use rows::Rows;

/// Maximum number of runs shown side by side as columns; more are drawn as lines over time.
const MAX_COLUMNS: usize = 4;

/// Maximum number of rows for which all groups are open; in a larger page, a group is laid out when
/// it is opened.
const MAX_OPEN: usize = 200;

/// What a page shows in addition to its runs.
#[derive(Debug, Clone, Default)]
pub struct PageOptions {
    /// The page's title; a general one if not given.
    pub title: Option<String>,
    /// Explanations of benchmarks, by id.
    pub explanations: BTreeMap<String, Explanation>,
    /// The numbers every programmer should know, one list per run in the order of the runs; if
    /// empty, the section is left out.
    pub headline: Vec<Numbers>,
    /// Published experiments, judged by the runs; if empty, the section is left out.
    pub studies: Vec<Repeated>,
    /// Metrics over time; if empty, the section is left out.
    pub history: Vec<Series>,
    /// Whether each row's details include pictures of its samples and, for many runs, of its values
    /// over them; this makes a page several times as large.
    pub samples: bool,
}

/// What a benchmark measures, how to read it, and by which words it is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// One sentence.
    pub summary: String,
    /// Other words people search for; the page's filter looks here too.
    pub tags: Vec<String>,
    /// Headings and their text; blank lines separate paragraphs, backquotes mark code.
    pub sections: Vec<(String, String)>,
}

/// The page of one run, or of several side by side in the order given.
pub fn page(runs: &[&Run], options: &PageOptions) -> String {
    let rows = Rows::new(runs);
    let title = options.title.clone().unwrap_or_else(|| title(runs));
    let groups: Vec<&str> = rows.groups().map(|(group, _)| group).collect();
    let changes = Changes::of(runs);
    let is_short = rows.groups().map(|(_, rows)| rows.len()).sum::<usize>() <= MAX_OPEN;
    let marks = skeleton::Kinds::of_rows(changes.is_some());
    let body = html! {
        (skeleton::header(&title, &html! {
            (facts::subtitle(runs)) @if let Some(changes) = &changes { (changes.summary()) } (conditions::strip(runs))
        }))
        (skeleton::toolbar(&links(&groups, options, changes.is_some()), marks))
        main id="content" {
            noscript { p class="note" {
                "Without script the rows do not unfold their evidence; " code { "syscost show RUN -v" } " prints it."
            } }
            (facts::warnings(runs))
            @if let Some(changes) = &changes { (changes.section()) }
            (contents::list(&rows, runs))
            (headline::section(&options.headline, runs))
            (studies::section(&options.studies, runs))
            (facts::section(runs, changes.as_ref()))
            @for (group, rows) in rows.groups() {
                section class="group" aria-labelledby={ "title-" (group) } { details open[is_short] {
                    summary {
                        h2 id={ "title-" (group) } { (group) }
                        span class="quiet" { (sentence::count(rows.len(), "row")) @if let Some(changes) = &changes { (changes.counts(group)) } }
                    }
                    // Inside, so that a link to it opens the group even without script.
                    div id={ "group-" (group) } {
                    @if group == "memory" { (hierarchy::table(runs)) }
                    (directories::table(group, runs))
                    (table::table(group, &rows, runs, changes.as_ref()))
                    (benchmarks::cards(group, &rows, runs, options))
                    }
                } }
            }
            (history::section(&options.history))
            (legend::legend(runs, options.samples, changes.is_some()))
        }
        (skeleton::footer(runs.last().map_or("", |run| &run.tool.version)))
        (data::script(&rows, runs, changes.as_ref(), options))
    };
    skeleton::document(&title, &body).into_string()
}

/// A page of the same look about something else than runs: what stands beneath its title, the sections' ids with the words of
/// their links, the sections.
pub fn frame(title: &str, below: &Markup, links: &[(&str, &str)], sections: &Markup) -> String {
    let links: Vec<(String, String)> = links
        .iter()
        .map(|(id, words)| ((*id).to_owned(), (*words).to_owned()))
        .collect();
    let body = html! {
        (skeleton::header(title, below))
        (skeleton::toolbar(&links, skeleton::Kinds::None))
        main id="content" { (sections) }
        (skeleton::footer(env!("CARGO_PKG_VERSION")))
    };
    skeleton::document(title, &body).into_string()
}

fn links(groups: &[&str], options: &PageOptions, two: bool) -> Vec<(String, String)> {
    let mut links = Vec::new();
    if two {
        links.push(("changes".to_owned(), "changes".to_owned()));
    }
    if !options.headline.is_empty() {
        links.push(("numbers".to_owned(), "numbers".to_owned()));
    }
    if !options.studies.is_empty() {
        links.push(("studies".to_owned(), "studies".to_owned()));
    }
    links.push(("machine".to_owned(), "machine".to_owned()));
    links.extend(
        groups
            .iter()
            .map(|group| (format!("group-{group}"), (*group).to_owned())),
    );
    if !options.history.is_empty() {
        links.push(("history".to_owned(), "history".to_owned()));
    }
    links
}

fn title(runs: &[&Run]) -> String {
    match runs {
        [] => "No run".to_owned(),
        [_] => "What this computer charges".to_owned(),
        runs if runs.len() <= MAX_COLUMNS => format!("{} runs side by side", runs.len()),
        runs => match whose::machines(runs) {
            1 => format!("{} runs", runs.len()),
            machines => format!("{} runs of {machines} machines", runs.len()),
        },
    }
}

/// The name of a run among several; letters while runs are columns.
fn letter(index: usize) -> char {
    char::from(b'A' + u8::try_from(index.min(25)).unwrap_or(25))
}

/// A dot in the colour of a run's marks, with its letter.
fn key(index: usize) -> Markup {
    html! { span class={ "key s" (index % 6) } { (letter(index)) } }
}
