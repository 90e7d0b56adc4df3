//! What was published and what was measured, as comma-separated values.

use syscost_results::Run;
use syscost_studies::{Seen, View};

use super::repeated::{QuantityBy, Repeated};
use super::{ViewOf, notes, value, views};
use crate::export::{ExportError, guarded};

/// Names of the columns.
const COLUMNS: [&str; 15] = [
    "study", "quantity", "title", "source", "machine", "run", "value", "unit", "low", "high",
    "cycles", "results", "words", "place", "missing",
];

/// The fields of a line whose value differs by its source.
#[derive(Default)]
struct Line {
    source: &'static str,
    machine: String,
    run: String,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    cycles: Option<f64>,
    results: Option<u64>,
    words: String,
    place: String,
    missing: String,
}

/// A line for each quantity and source (RFC 4180, UTF-8): what was `published` of a machine; what the
/// same procedure gives in a run, `as published` and `undisturbed`; what syscost's `method` gives. A
/// missing number is an empty field, and `missing` says why; low and high are the ends of what
/// each is compared by: the middle half of many results, the range of few, the interval of syscost's row.
///
/// # Errors
/// [`ExportError::Writer`] if the writer fails, which is not expected.
pub fn csv(studies: &[Repeated], runs: &[&Run]) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for study in studies {
        for one in study.quantities() {
            for line in lines(&one, runs) {
                let number = |value: Option<f64>| value.map_or_else(String::new, |n| n.to_string());
                let of = one.quantity;
                writer.write_record([
                    guarded(study.study.id.clone()),
                    guarded(of.id.clone()),
                    guarded(of.title.clone()),
                    line.source.to_owned(),
                    guarded(line.machine),
                    guarded(line.run),
                    number(line.value),
                    of.unit.symbol().to_owned(),
                    number(line.low),
                    number(line.high),
                    number(line.cycles),
                    line.results.map_or_else(String::new, |n| n.to_string()),
                    guarded(line.words),
                    guarded(line.place),
                    guarded(line.missing),
                ])?;
            }
        }
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))?;
    // Every field was a string, so nothing is lost.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn lines(one: &QuantityBy<'_>, runs: &[&Run]) -> Vec<Line> {
    let (_, first) = one.by[0];
    let published = first.published.iter().map(|figure| Line {
        source: "published",
        machine: figure.machine.clone(),
        value: figure.value,
        cycles: figure.cycles,
        words: match (figure.value, figure.cycles) {
            (None, None) => value(one.quantity.unit, figure, None),
            (Some(_) | None, Some(_) | None) => String::new(),
        },
        place: notes(figure),
        ..Line::default()
    });
    let here = one.by.iter().zip(runs).flat_map(|((label, judged), run)| {
        let rows = [
            &one.quantity.as_published,
            &one.quantity.as_published,
            &one.quantity.ours,
        ];
        let seen = views(judged).into_iter().zip(rows);
        let seen = seen.filter_map(|((view, seen), row)| Some((view, seen?, row)));
        seen.map(|(view, seen, row)| {
            let figure = seen.figure();
            let of = |field: fn(&View) -> Option<f64>| figure.and_then(field);
            Line {
                source: match view {
                    ViewOf::AsPublished => "as published",
                    ViewOf::Undisturbed => "undisturbed",
                    ViewOf::Ours => "method",
                },
                machine: (*label).to_owned(),
                run: run.id.clone(),
                value: of(|view| Some(view.value)),
                low: of(|view| view.low),
                high: of(|view| view.high),
                cycles: of(|view| view.cycles),
                results: figure.map(|view| view.from),
                words: String::new(),
                place: row.clone().unwrap_or_default(),
                missing: Seen::reason(seen).unwrap_or_default().to_owned(),
            }
        })
        .collect::<Vec<Line>>()
    });
    published.chain(here).collect()
}
