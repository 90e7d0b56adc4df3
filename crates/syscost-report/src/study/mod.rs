//! A published experiment compared with runs.
//!
//! - [`Repeated`]: a study, judged by one run or several.
//! - [`text()`], [`published`]: a study in a terminal. [`list()`]: all studies.
//! - [`markdown`]: studies as a report to hand in, as [`lab_report`] is.
//! - [`page`], [`index`]: the published side alone, for docs/studies/.

mod brief;
mod charts;
mod csv;
mod facts;
mod lab_report;
mod layout;
mod repeated;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use syscost_results::Run;
use syscost_results::study::Study;

use crate::TableOptions;
use crate::document::{self, Block, terminal};

pub(crate) use charts::pictures;
pub(crate) use layout::{report, study, summary, title};
pub(crate) use repeated::QuantityBy;
pub(crate) use words::{ViewOf, cycles, notes, value, views};

pub use charts::{Figure, figures};
pub use csv::csv;
pub use lab_report::lab_report;
pub use repeated::{Repeated, labels};

/// All studies in a terminal.
pub fn list<'s>(studies: impl Iterator<Item = &'s Study>, options: &TableOptions) -> String {
    terminal(&[layout::list(studies)], options)
}

/// What was published, in a terminal, without a run.
pub fn published(study: &Study, options: &TableOptions) -> String {
    text(&Repeated::new(study, &[]), &[], options)
}

/// A study in a terminal, as these runs judge it.
pub fn text(repeated: &Repeated, runs: &[&Run], options: &TableOptions) -> String {
    terminal(&study(repeated, runs, 1, options.verbose), options)
}

/// All studies that runs repeat, as a section of their page.
pub fn section(studies: &[Repeated], runs: &[&Run]) -> Vec<Block> {
    let each = studies.iter().flat_map(|one| study(one, runs, 3, false));
    summary(studies, runs).into_iter().chain(each).collect()
}

/// A report to hand in, in Markdown, with charts of this folder; without one they are left out.
pub fn markdown(studies: &[Repeated], runs: &[&Run], figures: Option<&str>) -> String {
    const BLANK: &str = "______________________";
    let title = title(studies);
    let report = document::markdown(&report(studies, runs), figures);
    format!("# {title}\n\nName: {BLANK}\n\nDate: {BLANK}\n\n{report}")
}

/// The list of all studies in Markdown, which leads to their pages.
pub fn index<'s>(studies: impl Iterator<Item = &'s Study>) -> String {
    document::markdown(&[layout::list(studies)], None)
}

/// The page of one study in Markdown: what was published.
pub fn page(study: &Study) -> String {
    const GENERATED: &str =
        "<!-- Written by `cargo xtask gen` from the study's data. Do not edit. -->";
    let blocks = layout::study(&Repeated::new(study, &[]), &[], 1, false);
    format!("{GENERATED}\n\n{}", document::markdown(&blocks, None))
}
