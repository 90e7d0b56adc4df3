//! The HTML page: one self-contained file for one run or many, or for a comparison.
//!
//! No network, no third-party code. The page is readable without script, which only sorts, filters
//! and unfolds the rows' evidence (`data.rs`). All text from documents is escaped, and a content
//! security policy forbids everything that the page does not need.

mod benchmarks;
mod cells;
mod comparison;
mod data;
mod details;
mod directories;
mod files;
mod headline;
mod hierarchy;
mod history;
mod interval;
mod legend;
mod machine;
mod overview;
mod quantities;
mod rows;
pub(crate) mod runs;
mod skeleton;
mod table;
#[cfg(test)]
mod tests;
mod trust;
mod words;

use std::collections::BTreeMap;

use maud::{Markup, html};
use syscost_results::Run;
use syscost_results::compare::Comparison;
use syscost_results::history::Series;
use syscost_results::numbers::Numbers;
use syscost_results::overview::{Overview, overview};

use crate::bill::Billed;
use crate::commands::readable;
use crate::document::{self, Block};
use crate::sentence;
use crate::summary::Reference;

use comparison::Changes;
use rows::Rows;
use skeleton::Kinds;

/// Maximum number of runs shown side by side as columns; more are drawn as lines over time.
const MAX_COLUMNS: usize = 4;

/// Maximum number of rows for which all groups are open; in a larger page, a group is laid out when
/// it is opened.
const MAX_OPEN: usize = 200;

/// What a page shows in addition to its runs.
#[derive(Default)]
pub struct PageOptions<'a> {
    /// How the runs, which are its sides, compare; it comes before all else.
    pub comparison: Option<Comparison>,
    /// As what its sides were given, e.g. their tags.
    pub sides: Option<[String; 2]>,
    /// Another run whose figures stand beside those of a single run.
    pub reference: Option<Reference<'a>>,
    /// Explanations of benchmarks, by id.
    pub explanations: BTreeMap<String, Explanation>,
    /// The numbers every programmer should know, one list per run in the order of the runs; if
    /// empty, the section is left out.
    pub headline: Vec<Numbers>,
    /// Published experiments, judged by the runs (`study::section`); if empty, the section is left out.
    pub studies: Vec<Block>,
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

/// The page of one run, of several side by side in the order given, or of a comparison of them.
pub fn page<'r>(runs: &[&'r Run], options: &PageOptions<'_>) -> String {
    let rows = Rows::new(runs);
    let changes = options.comparison.as_ref();
    let changes = changes.map(|comparison| Changes::new(comparison, options.sides.as_ref(), runs));
    let changes = changes.as_ref();
    let title = runs::title(runs, changes);
    let groups: Vec<(&str, Vec<&rows::Row<'_>>)> = rows.groups().collect();
    let names: Vec<&str> = groups.iter().map(|(group, _)| *group).collect();
    let is_short = groups.iter().map(|(_, rows)| rows.len()).sum::<usize>() <= MAX_OPEN;
    // Of more compared runs than have columns, the sides alone are told.
    let are_runs_shown = runs.len() <= MAX_COLUMNS || changes.is_none();
    let reference = options.reference.as_ref().filter(|_| runs.len() == 1);
    let of = |run: &&'r Run| overview(run, reference.map(|reference| reference.run));
    let overviews: Vec<Overview<'_>> = runs.iter().map(of).collect();
    let overview = match are_runs_shown {
        true => overview::section(&overviews, runs, reference, changes),
        false => html! {},
    };
    let body = html! {
        (skeleton::header(&title, &html! {
            @if let Some(changes) = changes { (changes.verdicts()) }
            (runs::subtitle(runs, changes))
            @if let [run] = runs { (trust::counts(run)) }
            (trust::warnings(runs))
            @if changes.is_none() { (overview) }
        }))
        (skeleton::toolbar(&links(&names, options), if changes.is_some() { Kinds::OfBoth } else { Kinds::OfRows }))
        main id="content" {
            noscript { p class="note" {
                "Without script the rows do not unfold their evidence; " code { "syscost show RUN -v" } " prints it."
            } }
            @if let Some(changes) = changes { (changes.section()) (overview) }
            @if !options.studies.is_empty() {
                section id="studies" aria-labelledby="title-studies" {
                    h2 id="title-studies" { "Studies: published experiments, repeated" }
                    (document::html(&options.studies))
                }
            }
            @for run in runs {
                @if let Some(bill) = &run.bill {
                    section class="bill" {
                        h2 { "What " (readable(&bill.command)) " asks of the kernel" }
                        (document::html(&Billed::of(run).blocks()))
                    }
                }
            }
            @if are_runs_shown { (headline::section(&options.headline, runs)) }
            @for (group, rows) in &groups {
                section class="group" aria-labelledby={ "title-" (group) } { details open[is_short] {
                    summary {
                        h2 id={ "title-" (group) } { (group) }
                        span class="quiet" { (sentence::count(rows.len(), "row")) @if let Some(changes) = changes { (changes.counts(group)) } }
                    }
                    // Inside, so that a link to it opens the group even without script.
                    div id={ "group-" (group) } {
                        @if are_runs_shown {
                            (benchmarks::cards(group, rows, &overviews, options))
                            (hierarchy::table(rows, runs))
                            (directories::table(rows, runs))
                        }
                        (table::table(group, rows, runs, changes))
                    }
                } }
            }
            (history::section(&options.history))
            (machine::section(runs, changes))
            (legend::legend(runs, options.samples, changes))
        }
        (skeleton::footer(runs.last().map_or("", |run| &run.tool.version)))
        (data::script(&rows, runs, changes, options))
    };
    skeleton::document(&title, &body).into_string()
}

/// A page of the same look about something else than runs: what stands beneath its title, the sections' ids with the words of
/// their links, the sections, the version of syscost that measured.
pub fn frame(
    title: &str,
    below: &Markup,
    links: &[(&str, &str)],
    sections: &Markup,
    version: &str,
) -> String {
    let links: Vec<(String, String)> = links
        .iter()
        .map(|(id, words)| ((*id).to_owned(), (*words).to_owned()))
        .collect();
    let body = html! {
        (skeleton::header(title, below))
        (skeleton::toolbar(&links, skeleton::Kinds::None))
        main id="content" { (sections) }
        (skeleton::footer(version))
    };
    skeleton::document(title, &body).into_string()
}

/// The sections that a page has, by their ids, with the words of their links.
fn links(groups: &[&str], options: &PageOptions<'_>) -> Vec<(String, String)> {
    let named =
        |is_there: bool, id: &str, words: &str| is_there.then(|| (id.to_owned(), words.to_owned()));
    let before = [
        named(options.comparison.is_some(), "changes", "changes"),
        named(!options.studies.is_empty(), "studies", "studies"),
        named(!options.headline.is_empty(), "numbers", "numbers"),
    ];
    let groups = groups
        .iter()
        .map(|group| Some((format!("group-{group}"), (*group).to_owned())));
    let after = [
        named(!options.history.is_empty(), "history", "over time"),
        named(true, "machine", "machine"),
        named(true, "legend", "help"),
    ];
    before
        .into_iter()
        .chain(groups)
        .chain(after)
        .flatten()
        .collect()
}

/// The name of a run among several: A to Z, then AA, AB and so on.
fn letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        before => letter(before - 1) + last.to_string().as_str(),
    }
}

/// A dot in the colour of a run's marks, with its letter.
fn key(index: usize) -> Markup {
    html! { span class={ "key s" (index % 6) } { (letter(index)) } }
}
