//! Known figures of a benchmark's rows: in the latest run, on the reference machines, and as
//! published.

use syscost_harness::Here;
use syscost_harness::session::Profile;
use syscost_harness::{Catalogue, Entry, Row};
use syscost_report::units::{Figures, quantity};
use syscost_report::wrap::together;
use syscost_results::beside::{figure_of, is_of_one_machine};
use syscost_results::study::{Quantity, Study, figures, means};
use syscost_results::{Measurement, Run, Status};
use syscost_store::LATEST;

use crate::cmd::study::published;
use crate::terminal::{BOLD, DIM, RESET, wrapped};
use crate::{kept, references};

/// Maximum number of rows of one benchmark; those of shorter profiles come first.
const MAX_ROWS: usize = 8;

/// Renders the section; empty if no figure is known.
pub(super) fn text(benchmark: &'static Entry) -> String {
    let is_of_it = |row: &Measurement| row.id == benchmark.id && row.status == Status::Ok;
    let has_it = |run: &Run| run.measurements.iter().any(is_of_it);
    // Without a run that has it, only other machines' figures are shown.
    let latest = kept::having(LATEST, has_it).ok();
    let latest = latest.map(|(loaded, _)| loaded.run).filter(has_it);
    let references: Vec<_> = references::shipped().collect();
    let studies = published();
    let mut rows = Catalogue::rows(std::iter::once(benchmark), &Here::plain());
    rows.sort_by_key(|row| Profile::first_with(benchmark, &row.case));
    let lines = rows.iter().map(|row| {
        let name = row.name();
        let mut known: Vec<String> = Vec::new();
        let is_today = |row: &Measurement| row.revision == benchmark.revision;
        known.extend(
            latest
                .as_ref()
                .and_then(|run| latest_of(run, &name, is_today)),
        );
        known.extend(references.iter().filter_map(|reference| {
            let reference = reference.as_beside();
            let found = find(reference.run, &name)
                .filter(|row| is_today(row) && !is_of_one_machine(row))?;
            let value = figure_of(found, found.unit)?;
            let value = quantity(found.unit, value);
            Some(together(&format!("{} {value}", reference.name)))
        }));
        known.extend(as_published(&studies, row));
        (name, known)
    });
    let lines: Vec<(String, Vec<String>)> = lines
        .filter(|(_, known)| !known.is_empty())
        .take(MAX_ROWS)
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}Known figures{RESET}\n");
    for (name, known) in lines {
        let known = format!("{DIM}{}{RESET}", known.join("; "));
        out += &format!("{}\n{}\n", wrapped(&name, "  "), wrapped(&known, "    "));
    }
    out
}

fn find<'r>(run: &'r Run, name: &str) -> Option<&'r Measurement> {
    run.measurements.iter().find(|row| row.name == name)
}

/// The latest run's figure, with its machine: a kept run may be of another one.
fn latest_of(run: &Run, name: &str, is_today: impl Fn(&Measurement) -> bool) -> Option<String> {
    let row = find(run, name).filter(|row| row.status == Status::Ok && is_today(row))?;
    let figures = Figures::of(row)?;
    let day = run.started.get(..10).unwrap_or(&run.started);
    let machine = match run.machine.hostname.as_str() {
        "" => &run.machine.cpu_model,
        name => name,
    };
    let figures = format!("{} {}", figures.with_half_width(), figures.unit);
    Some(format!(
        "latest run ({machine}, {day}) {}",
        together(&figures)
    ))
}

/// Published figures of the same quantity, without those that are doubtful or whose name claims
/// more than was measured.
fn as_published(studies: &[Study], row: &Row) -> Vec<String> {
    let name = row.name();
    let is_same = |quantity: &&Quantity| {
        let ours = quantity.ours.as_deref();
        ours.is_some_and(|ours| means(ours, &name))
            && quantity.ours_scale.is_none()
            && quantity.claims.is_empty()
    };
    let mut found = Vec::new();
    for study in studies {
        for one in study.quantities.iter().filter(is_same) {
            for figure in figures(study, one) {
                if let (Some(value), true) = (figure.value, figure.doubts.is_empty()) {
                    let value = together(&quantity(one.unit, value));
                    found.push(format!("{} on {} {value}", study.id, figure.machine));
                }
            }
        }
    }
    found
}
