//! Texts about a study's figures, shared by the terminal and the page.

use syscost_results::study::{Doubt, JudgedFigure, JudgedQuantity, Seen, StudyMachine, View};
use syscost_results::{Evidence, Unit, Verdict};

use crate::sentence::Mark;
use crate::units;

/// The three views of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewOf {
    AsPublished,
    Undisturbed,
    Ours,
}

impl ViewOf {
    pub(crate) fn label(self) -> &'static str {
        match self {
            ViewOf::AsPublished => "as published, here",
            ViewOf::Undisturbed => "the same, undisturbed",
            ViewOf::Ours => "syscost's method, here",
        }
    }
}

/// The views of a quantity on this machine, in their order.
pub(crate) fn views(judged: &JudgedQuantity) -> [(ViewOf, Option<&Seen>); 3] {
    [
        (ViewOf::AsPublished, judged.as_published.as_ref()),
        (ViewOf::Undisturbed, judged.undisturbed.as_ref()),
        (ViewOf::Ours, judged.ours.as_ref()),
    ]
}

/// A machine of published figures in one line: the name its figures use, what it is, its stated
/// clock.
pub(crate) fn machine(machine: &StudyMachine) -> String {
    let clock = machine
        .clock_ghz
        .map_or_else(|| "no clock stated".to_owned(), |ghz| format!("{ghz} GHz"));
    let note = machine.note.iter().map(|note| format!("; {note}"));
    let note: String = note.collect();
    format!("{}: {}, {clock}{note}", machine.id, machine.name)
}

/// What a cycle means here, for a study that uses the time-stamp counter.
pub(crate) fn counter(ghz: f64) -> String {
    format!("cycles here: ticks of the time-stamp counter, {ghz:.3} GHz")
}

/// A doubt and the quantities whose rows show it.
pub(crate) fn doubt(doubt: &Doubt) -> String {
    match doubt.shown_by.is_empty() {
        true => doubt.text.clone(),
        false => format!("{} (see: {})", doubt.text, doubt.shown_by.join(", ")),
    }
}

/// Where a published figure is printed, its single results, and which part of it was converted.
pub(crate) fn notes(figure: &JudgedFigure) -> String {
    let mut notes = vec![figure.place.clone()];
    if !figure.runs.is_empty() {
        let runs: Vec<String> = figure.runs.iter().map(f64::to_string).collect();
        notes.push(format!("runs {}", runs.join(", ")));
    }
    notes.extend(super::conversion(figure));
    notes.join("; ")
}

/// The basis of a figure of this machine: its spread or interval, and the counts that confirm it.
pub(crate) fn note(unit: Unit, judged: &JudgedQuantity, view: ViewOf, figure: &View) -> String {
    match view {
        ViewOf::AsPublished => {
            let deviation = judged.trials_stddev.map_or_else(String::new, |deviation| {
                let deviation = units::quantity(unit, deviation);
                format!(", standard deviation of its trials {deviation}")
            });
            spread(unit, figure) + &deviation
        }
        ViewOf::Undisturbed => spread(unit, figure),
        ViewOf::Ours => {
            let evidence = confirmed(&judged.ours_evidence);
            format!("{}, {evidence}", interval(unit, figure))
        }
    }
}

/// How many of the claims were counted and confirmed: `✓ 4 of 4 claims`.
fn confirmed(evidence: &[Evidence]) -> String {
    let confirmed = evidence
        .iter()
        .filter(|one| one.verdict == Verdict::Confirmed);
    format!(
        "{} {} of {} claims",
        Mark::of(evidence).sign(),
        confirmed.count(),
        evidence.len()
    )
}

/// The range of what the procedure printed.
fn spread(unit: Unit, view: &View) -> String {
    match (view.low, view.high) {
        (Some(low), Some(high)) if view.from > 1 => format!(
            "{} to {}, {} results",
            units::quantity(unit, low),
            units::quantity(unit, high),
            view.from
        ),
        _ => "one result".to_owned(),
    }
}

/// The interval of syscost's figure.
fn interval(unit: Unit, view: &View) -> String {
    match (view.low, view.high) {
        (Some(low), Some(high)) if low > 0.0 && high <= 2.0 * low => {
            let half = (high - view.value).max(view.value - low);
            format!(
                "±{:.1} %, {} processes",
                100.0 * half / view.value,
                view.from
            )
        }
        (Some(low), Some(high)) => {
            let [low, high] = [low, high].map(|end| units::quantity(unit, end));
            format!("{low} to {high}, {} processes", view.from)
        }
        _ => format!("{} processes: too few for an interval", view.from),
    }
}
