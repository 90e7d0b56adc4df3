//! Studies as a page to hand in.

use maud::html;
use syscost_results::Run;

use super::skeleton::{self, Kinds};
use super::studies;
use crate::study::{CONCLUSION, Repeated, facts, labels, title};

/// The report of studies that these runs repeat: machines, results, charts, questions.
pub fn lab_report(studies: &[Repeated], runs: &[&Run]) -> String {
    let title = title(studies);
    let link = |name: &str| (name.to_owned(), name.to_owned());
    let mut links = vec![link("summary"), link("machine")];
    let ids = studies.iter().map(|one| &one.study.id);
    links.extend(ids.map(|id| (format!("study-{id}"), id.clone())));
    if studies.iter().any(|one| !one.study.questions.is_empty()) {
        links.push(link("questions"));
    }
    links.push(link("conclusion"));
    let body = html! {
        (skeleton::header(&title, &html! {
            p class="blanks" { span { "Name:" } span { "Date:" } }
            (super::runs::subtitle(runs, None))
        }))
        (skeleton::toolbar(&links, Kinds::None))
        main id="content" {
            section id="summary" aria-labelledby="title-summary" {
                h2 id="title-summary" { "Summary" }
                (studies::summary(studies, runs))
            }
            section id="machine" aria-labelledby="title-machine" {
                h2 id="title-machine" { @if runs.len() == 1 { "Machine" } @else { "Machines" } }
                @for (run, label) in runs.iter().zip(labels(runs)) {
                    h3 { (label) }
                    dl class="card facts" {
                        @for (name, fact) in facts(studies, run) { div { dt { (name) } dd { (fact) } } }
                    }
                }
            }
            section id="studies" aria-labelledby="title-studies" {
                h2 id="title-studies" { "Results" }
                (studies::each(studies, runs))
            }
            (studies::questions(studies))
            section id="conclusion" aria-labelledby="title-conclusion" {
                h2 id="title-conclusion" { "Conclusion" }
                p class="answer" { (CONCLUSION) }
            }
        }
        (skeleton::footer(runs.last().map_or("", |run| &run.tool.version)))
    };
    skeleton::document(&title, &body).into_string()
}
