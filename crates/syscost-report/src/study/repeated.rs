//! A study, repeated on one machine or on several.

use syscost_results::Run;
use syscost_results::study::{JudgedQuantity, JudgedStudy, Quantity, Study, judge};

use super::words::between;

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
    /// The runs' labels and results, in their order; there is at least one.
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

    /// The quantities in their order; none if there are no runs.
    pub(crate) fn quantities(&self) -> Vec<QuantityBy<'_>> {
        let all = self.study.quantities.iter().enumerate();
        let with_runs = all.map(|(index, quantity)| {
            let by = self.by.iter();
            let by = by.map(|(label, judged)| (label.as_str(), &judged.judged[index]));
            QuantityBy {
                quantity,
                by: by.collect(),
            }
        });
        with_runs.filter(|one| !one.by.is_empty()).collect()
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

/// A ratio that a text draws, in a table's row.
pub(crate) struct RatioRow<'s> {
    pub(crate) title: &'s str,
    /// By the published figures, then by those of each run: whose it is, and the ratio.
    pub(crate) cells: Vec<(String, String)>,
    /// What the text says, in its own words; empty if nothing.
    pub(crate) words: String,
}

/// The ratios of a study, by the text's own figures and by each run's.
pub(crate) fn ratio_rows(repeated: &Repeated) -> Vec<RatioRow<'_>> {
    let is_alone = repeated.only().is_some();
    let lines = super::ratios(&repeated.study, None).into_iter().enumerate();
    let rows = lines.map(|(index, line)| {
        let words = line.words();
        let mut cells = line.published;
        for (label, judged) in &repeated.by {
            let judged = &judged.judged_ratios[index];
            let label = match is_alone {
                true => "as published, here",
                false => label,
            };
            let by_method = Some(&judged.by_method).filter(|one| is_alone && one.ratio().is_some());
            let by_method = by_method.map(|one| ("syscost's rows", one));
            let both = std::iter::once((label, &judged.as_published)).chain(by_method);
            cells.extend(both.map(|(whose, one)| (whose.to_owned(), between(one))));
        }
        RatioRow {
            title: &line.ratio.title,
            cells,
            words,
        }
    });
    rows.collect()
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
