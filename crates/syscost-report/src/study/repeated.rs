//! A study, repeated on one machine or on several.

use syscost_results::Run;
use syscost_results::study::{Quantity, Ratio, Study};
use syscost_studies::{
    JudgedFigure, JudgedQuantity, JudgedStudy, figures, judge, published_ratios,
};

use super::words::{between, ratio};

/// A study, judged by each of one or several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeated {
    /// The study.
    pub study: Study,
    /// The runs in their order: what distinguishes each from the others, and the study judged by it.
    pub by: Vec<(String, JudgedStudy)>,
}

/// A quantity, and what each run says of it.
pub(crate) struct QuantityBy<'s> {
    pub(crate) quantity: &'s Quantity,
    pub(crate) published: Vec<JudgedFigure>,
    /// The runs' labels and results, in their order.
    pub(crate) by: Vec<(&'s str, &'s JudgedQuantity)>,
}

impl Repeated {
    /// Judges a study by runs.
    pub fn new(study: &Study, runs: &[&Run]) -> Self {
        let judged = runs.iter().map(|run| judge(study, run));
        Repeated {
            study: study.clone(),
            by: labels(runs).into_iter().zip(judged).collect(),
        }
    }

    /// The study judged by its only run; `None` if there are several.
    pub(crate) fn only(&self) -> Option<&JudgedStudy> {
        match &self.by[..] {
            [(_, judged)] => Some(judged),
            _ => None,
        }
    }

    /// The quantities in their order.
    pub(crate) fn quantities(&self) -> Vec<QuantityBy<'_>> {
        let all = self.study.quantities.iter().enumerate();
        let all = all.map(|(index, quantity)| {
            let by = self.by.iter();
            let by = by.map(|(label, judged)| (label.as_str(), &judged.judged[index]));
            QuantityBy {
                quantity,
                published: figures(&self.study, quantity),
                by: by.collect(),
            }
        });
        all.collect()
    }

    /// Ids of the published machines that have figures of these quantities, in their order.
    pub(crate) fn published_machines(&self, quantities: &[QuantityBy<'_>]) -> Vec<&str> {
        let is_used = |id: &str| {
            let published = quantities.iter().flat_map(|one| &one.quantity.published);
            published.into_iter().any(|figure| figure.machine == id)
        };
        let ids = self.study.machines.iter().map(|one| one.id.as_str());
        ids.filter(|id| is_used(id)).collect()
    }
}

/// A ratio that a text draws.
pub(crate) struct RatioRow<'s> {
    pub(crate) title: &'s str,
    /// By the published figures: the machine, and the ratio.
    pub(crate) published: Vec<(String, String)>,
    /// By the figures of each run: whose they are, and the ratio.
    pub(crate) here: Vec<(&'s str, String)>,
    /// What the text says, in its own words; empty if nothing.
    pub(crate) words: String,
}

impl RatioRow<'_> {
    /// All ratios with whose they are.
    pub(crate) fn cells(&self) -> Vec<String> {
        let published = self.published.iter().map(|(whose, one)| (&**whose, one));
        let here = self.here.iter().map(|(whose, one)| (*whose, one));
        let all = published.chain(here);
        all.map(|(whose, one)| format!("{whose}: {one}")).collect()
    }
}

/// The ratios of a study, by the text's own figures and by those of runs, if there are any.
pub(crate) fn ratio_rows<'s>(
    study: &'s Study,
    by: &'s [(String, JudgedStudy)],
) -> Vec<RatioRow<'s>> {
    let is_alone = by.len() == 1;
    let row = |(index, drawn): (usize, &'s Ratio)| {
        let published = published_ratios(study, drawn).into_iter();
        let here = by.iter().flat_map(|(label, judged)| {
            let judged = &judged.judged_ratios[index];
            let label = if is_alone {
                "as published, here"
            } else {
                label
            };
            let by_method = Some(&judged.by_method).filter(|one| is_alone && one.ratio().is_some());
            let by_method = by_method.map(|one| ("syscost's rows", one));
            let both = [(label, &judged.as_published)].into_iter().chain(by_method);
            both.map(|(whose, one)| (whose, between(one)))
        });
        let words = drawn.words.iter();
        RatioRow {
            title: &drawn.title,
            published: published
                .map(|(machine, one)| (machine, ratio(one)))
                .collect(),
            here: here.collect(),
            words: words
                .map(|words| format!("the text: \u{201c}{words}\u{201d}"))
                .collect(),
        }
    };
    study.ratios.iter().enumerate().map(row).collect()
}

/// As many characters of a time as these are a date, or a time to the minute.
const DAY: &str = "2026-11-26";
const MINUTE: &str = "2026-11-26 10:00";

/// When a run began, to as many characters as these.
fn started(run: &Run, like: &str) -> String {
    let time = run.started.replace('T', " ");
    time.chars().take(like.len()).collect()
}

/// Distinguishes runs: by the host; by its processor, if that differs; else by the date, the time,
/// the run's id. An anonymous run is called by its processor.
pub fn labels(runs: &[&Run]) -> Vec<String> {
    type Naming = fn(&Run) -> String;
    fn host(run: &Run) -> String {
        let machine = &run.machine;
        match machine.hostname.as_str() {
            "" => machine.cpu_model.clone(),
            name => name.to_owned(),
        }
    }
    fn host_and_time(run: &Run, digits: &str) -> String {
        format!("{}, {}", host(run), started(run, digits))
    }
    let ways: [Naming; 4] = [
        host,
        |run| format!("{}, {}", host(run), run.machine.cpu_model),
        |run| host_and_time(run, DAY),
        |run| host_and_time(run, MINUTE),
    ];
    let label = |run: &&Run| {
        let is_unique = |way: &&Naming| {
            let name = way(run);
            runs.iter().filter(|other| way(other) == name).count() == 1
        };
        let way = ways.iter().find(is_unique);
        way.map_or_else(|| format!("{}, {}", host(run), run.id), |way| way(run))
    };
    runs.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn runs_are_labelled_by_what_distinguishes_them() {
        let of = |host: &str, model: &str, started: &str| {
            let mut run = fixture::run();
            run.machine.hostname = host.to_owned();
            run.machine.cpu_model = model.to_owned();
            run.started = started.to_owned();
            run.id = format!("{host}-{started}");
            run
        };
        let (day, next) = ("2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z");
        let runs = [
            of("alpha", "Old CPU", day),
            of("alpha", "Old CPU", next),
            of("beta", "New CPU", day),
            of("gamma", "New CPU", day),
            of("gamma", "Old CPU", day),
            of("", "Nameless CPU", day),
        ];
        let runs: Vec<&Run> = runs.iter().collect();
        assert_eq!(
            labels(&runs),
            [
                "alpha, 2026-11-21",
                "alpha, 2026-11-22",
                "beta",
                "gamma, New CPU",
                "gamma, Old CPU",
                "Nameless CPU",
            ]
        );
        assert_eq!(labels(&runs[..1]), ["alpha"]);
    }
}
