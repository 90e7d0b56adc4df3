//! Texts about a study's figures, shared by the terminal and the page.

use syscost_results::study::{Study, StudyMachine};
use syscost_results::{Evidence, Unit, Verdict};
use syscost_studies::{
    Between, Converted, JudgedFigure, JudgedQuantity, Scale, Seen, VerdictKind, View,
};

use crate::sentence::{Mark, count};
use crate::units;

/// The three views of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewOf {
    AsPublished,
    Undisturbed,
    Ours,
}

impl ViewOf {
    pub(crate) const ALL: [ViewOf; 3] = [ViewOf::AsPublished, ViewOf::Undisturbed, ViewOf::Ours];

    pub(crate) fn label(self) -> &'static str {
        match self {
            ViewOf::AsPublished => "as published, here",
            ViewOf::Undisturbed => "the same, core ours",
            ViewOf::Ours => "syscost's row",
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

/// Where a text misleads and what cannot be repeated of it: headings with lines beneath.
pub(crate) fn remarks(study: &Study) -> Vec<(&'static str, Vec<String>)> {
    let doubts = study
        .doubts
        .iter()
        .map(|doubt| match doubt.shown_by.is_empty() {
            true => doubt.text.clone(),
            false => format!("{} (see: {})", doubt.text, doubt.shown_by.join(", ")),
        });
    let not_here = study.not_here.iter().map(|one| {
        let instead = one.instead.iter().map(|text| format!("; instead, {text}"));
        format!("{}: {}{}", one.what, one.why, instead.collect::<String>())
    });
    let mut all = vec![
        ("Where the published text misleads", doubts.collect()),
        ("What cannot be repeated here", not_here.collect()),
    ];
    all.retain(|(_, lines): &(_, Vec<String>)| !lines.is_empty());
    all
}

/// A figure as printed, with its unit; one that was converted, at this scale or at its own; or the
/// words of a figure that is not a number.
pub(crate) fn value(unit: Unit, figure: &JudgedFigure, scale: Option<Scale>) -> String {
    match (&figure.value_printed, figure.value, &figure.words) {
        (Some(printed), ..) => printed.clone(),
        (None, Some(value), _) => {
            scale.map_or_else(|| units::quantity(unit, value), |scale| scale.show(value))
        }
        (None, None, Some(words)) if figure.cycles.is_none() => in_unit(unit, words),
        (None, None, _) => String::new(),
    }
}

/// Words that end with a number get the unit: `2 to 3 ns`; others stand alone.
fn in_unit(unit: Unit, words: &str) -> String {
    match words.ends_with(|last: char| last.is_ascii_digit()) {
        true => format!("{words} {}", unit.symbol()),
        false => words.to_owned(),
    }
}

pub(crate) fn cycles(figure: &JudgedFigure) -> String {
    let converted = || {
        let cycles = units::cycles(figure.cycles?);
        Some(format!("{cycles} cycles"))
    };
    let printed = figure.cycles_printed.clone();
    printed.or_else(converted).unwrap_or_default()
}

/// Where a published figure is printed, its single results, and which part of it was converted.
pub(crate) fn notes(figure: &JudgedFigure) -> String {
    let mut notes = vec![figure.place.clone()];
    if !figure.runs.is_empty() {
        let runs: Vec<String> = figure.runs.iter().map(ToString::to_string).collect();
        notes.push(format!("runs {}", runs.join(", ")));
    }
    notes.extend(figure.converted.map(|converted| {
        let what = match converted {
            Converted::Value => "time",
            Converted::Cycles => "cycles",
        };
        format!("{what} by the stated clock")
    }));
    notes.join("; ")
}

/// A figure of this machine in cycles, or in the ticks that its study takes for cycles, where the
/// text prints cycles; empty if unknown.
pub(crate) fn cycles_beside(judged: &JudgedQuantity, figure: &View) -> String {
    let mut published = judged.published.iter();
    let are_printed = published.any(|figure| figure.cycles_printed.is_some());
    let cycles = figure.in_cycles().filter(|_| are_printed);
    cycles.map_or_else(String::new, |one| one.shown(Scale::cycles(judged.cycles)))
}

/// A ratio, with three digits.
pub(super) fn ratio(ratio: f64) -> String {
    Scale::NONE.show(ratio)
}

/// A ratio of two figures here, or why there is none.
pub(crate) fn between(between: &Between) -> String {
    match between {
        Between::Ratio { ratio, least } => Scale::NONE.show_to(*ratio, *least),
        Between::Missing { reason } => format!("none: {reason}"),
    }
}

/// The one figure here that stands for a quantity: the same procedure's that is compared; syscost's, said to be
/// so, where the procedure is not repeated.
pub(super) fn shown(judged: &JudgedQuantity) -> (Option<&View>, Option<&'static str>) {
    match judged.as_published {
        Some(_) => (judged.compared(), None),
        None => (judged.by_method(), Some("by syscost")),
    }
}

/// That figure in its unit and in cycles, and whose it is if not the procedure's.
pub(crate) fn here_lines(judged: &JudgedQuantity) -> (Vec<String>, Option<&'static str>) {
    let (figure, whose) = shown(judged);
    let lines = figure.map_or_else(
        || vec!["none".to_owned()],
        |figure| vec![figure.shown(judged.scale), cycles_beside(judged, figure)],
    );
    (lines, figure.and(whose))
}

/// The verdict on one of several machines, in a few words.
pub(crate) fn short(judged: &JudgedQuantity) -> String {
    let words = judged.verdict.kind.words();
    match (judged.verdict.kind, judged.by_ours()) {
        (VerdictKind::Differs | VerdictKind::NotWhatItSays, Some(times)) => {
            format!("{words}, {} times syscost's", between(&times))
        }
        (VerdictKind::NotCompared, _) => {
            let seen = [&judged.as_published, &judged.ours].into_iter().flatten();
            let reason = seen.filter_map(Seen::reason).next();
            reason.map_or_else(|| words.to_owned(), |reason| format!("{words}: {reason}"))
        }
        (
            VerdictKind::Agrees
            | VerdictKind::CannotTell
            | VerdictKind::Differs
            | VerdictKind::NotWhatItSays,
            Some(_) | None,
        ) => words.to_owned(),
    }
}

/// The basis of a figure of this machine: its spread or interval, and the counts that confirm it.
pub(crate) fn note(judged: &JudgedQuantity, view: ViewOf, figure: &View) -> String {
    let scale = judged.scale;
    match view {
        ViewOf::AsPublished => {
            let deviation = judged.trials_stddev.map_or_else(String::new, |deviation| {
                format!(
                    ", standard deviation of its trials {}",
                    scale.show(deviation)
                )
            });
            spread(scale, figure) + &deviation
        }
        ViewOf::Undisturbed => match judged.compares_undisturbed() {
            true => spread(scale, figure),
            false => spread(scale, figure) + ": too few to compare",
        },
        ViewOf::Ours => {
            let evidence = confirmed(&judged.ours_evidence);
            format!("{}, {evidence}", interval(scale, figure))
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

/// What the procedure printed: the middle half of many results, the range of few, in which steps.
fn spread(scale: Scale, view: &View) -> String {
    let (Some(low), Some(high)) = (view.low, view.high) else {
        return "one result".to_owned();
    };
    let ends = [low, high].map(|end| view.end(end, scale));
    let ends = match ends[0] == ends[1] {
        true => ends[0].clone(),
        false => ends.join(" to "),
    };
    let steps = match view.step > 0.0 {
        true => format!(", in steps of {}", scale.show_to(view.step, view.step)),
        false => String::new(),
    };
    match view.is_middle_half() {
        true => format!("half of {} results {ends}{steps}", view.from),
        false => format!("{} results, {ends}{steps}", view.from),
    }
}

/// The interval of syscost's figure.
fn interval(scale: Scale, view: &View) -> String {
    let processes = count(view.from as usize, "process");
    match (view.low, view.high) {
        (Some(low), Some(high)) if low > 0.0 && high <= 2.0 * low => {
            let half = (high - view.value).max(view.value - low);
            format!("±{:.1} %, {processes}", 100.0 * half / view.value)
        }
        (Some(low), Some(high)) => {
            let ends = [low, high].map(|end| view.end(end, scale));
            format!("{}, {processes}", ends.join(" to "))
        }
        _ => format!("{processes}: too few for an interval"),
    }
}
