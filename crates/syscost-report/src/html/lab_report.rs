//! Studies as a page to hand in.

use maud::html;
use syscost_results::Run;

use super::skeleton::{self, Kinds};
use super::studies;
use crate::study::{Repeated, facts, labels, title};

/// The report of studies that these runs repeat: machines, results, charts, questions.
pub fn lab_report(studies: &[Repeated], runs: &[&Run]) -> String {
    let title = title(studies);
    let mut links = vec![("machine".to_owned(), "machine".to_owned())];
    let ids = studies.iter().map(|one| &one.study.id);
    links.extend(ids.map(|id| (format!("study-{id}"), id.clone())));
    if studies.iter().any(|one| !one.study.questions.is_empty()) {
        links.push(("questions".to_owned(), "questions".to_owned()));
    }
    let body = html! {
        (skeleton::header(&title, &super::facts::subtitle(runs)))
        (skeleton::toolbar(&links, Kinds::None))
        main id="content" {
            section id="machine" aria-labelledby="title-machine" {
                h2 id="title-machine" { @if runs.len() == 1 { "Machine" } @else { "Machines" } }
                @for (run, label) in runs.iter().zip(labels(runs)) {
                    h3 { (label) }
                    dl class="card facts" {
                        @for (name, fact) in facts(run) { div { dt { (name) } dd { (fact) } } }
                    }
                }
            }
            (studies::section(studies, runs))
            (studies::questions(studies))
        }
        (skeleton::footer(runs.last().map_or("", |run| &run.tool.version)))
    };
    skeleton::document(&title, &body).into_string()
}
