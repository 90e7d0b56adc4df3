//! A study in a terminal.

use syscost_results::Unit;
use syscost_results::study::{JudgedQuantity, JudgedStudy, Kind, Quantity, Seen, Study, View};
use textwrap::wrap;

use crate::TableOptions;
use crate::paint::{self, Paint, width};
use crate::units;

/// Columns of the name of a view.
const LABEL: usize = 28;
/// Columns of a figure in its unit, and in cycles.
const FIGURE: usize = 13;
const CYCLES: usize = 18;

/// The studies there are, a line each.
pub fn list<'s>(studies: impl Iterator<Item = &'s Study>, options: &TableOptions) -> String {
    let paint = painter(options);
    let studies: Vec<&Study> = studies.collect();
    let widest = studies.iter().map(|study| width(&study.id)).max();
    let widest = widest.unwrap_or(0);
    let mut page = Page {
        out: String::new(),
        columns: options.width.max(60),
        paint,
    };
    for study in studies {
        let id = paint.text(paint::HEADING, &format!("{:widest$}", study.id));
        page.line(&format!("{id}  {}", study.title));
        let machines: Vec<&str> = study.machines.iter().map(|one| one.name.as_str()).collect();
        let what = format!(
            "{} quantities; {}",
            study.quantities.len(),
            machines.join("; ")
        );
        page.paragraph(widest + 2, paint::DIM, &what);
    }
    page.out
}

/// What was published, without a run.
pub fn published(study: &Study, options: &TableOptions) -> String {
    let run = None::<&JudgedStudy>;
    render(study, run, options)
}

/// A study, judged by a run.
pub fn text(judged: &JudgedStudy, options: &TableOptions) -> String {
    render(&judged.study, Some(judged), options)
}

fn painter(options: &TableOptions) -> Paint {
    Paint {
        color: options.color,
    }
}

/// Lines of a page of this width.
struct Page {
    out: String,
    columns: usize,
    paint: Paint,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A paragraph, its further lines as far in as its first.
    fn paragraph(&mut self, indent: usize, style: anstyle::Style, text: &str) {
        for line in wrap(text, self.columns.saturating_sub(indent)) {
            let line = format!("{:indent$}{}", "", self.paint.text(style, &line));
            self.line(&line);
        }
    }

    /// A label, a figure in its unit and in cycles, and a note.
    fn figure(&mut self, label: &str, figure: &str, cycles: &str, note: &str) {
        let label = paint::cut_end(label, LABEL);
        let pad = |text: &str, columns: usize| " ".repeat(columns.saturating_sub(width(text)));
        let line = format!(
            "    {label}{}{}{figure}{}{cycles}   {}",
            pad(&label, LABEL),
            pad(figure, FIGURE),
            pad(cycles, CYCLES),
            self.paint.text(paint::DIM, note)
        );
        self.line(&line);
    }
}

fn render(study: &Study, judged: Option<&JudgedStudy>, options: &TableOptions) -> String {
    let mut page = Page {
        out: String::new(),
        columns: options.width.max(60),
        paint: painter(options),
    };
    let heading = format!("{}: {}", study.id, study.title);
    page.paragraph(0, paint::HEADING, &heading);
    page.paragraph(0, paint::DIM, &format!("Source: {}", study.source));
    page.paragraph(0, anstyle::Style::new(), &study.about);
    for machine in &study.machines {
        let clock = machine
            .clock_ghz
            .map_or_else(|| "no clock stated".to_owned(), |ghz| format!("{ghz} GHz"));
        let note = machine.note.iter().map(|note| format!("; {note}"));
        let text = format!(
            "{}: {}, {clock}{}",
            machine.id,
            machine.name,
            note.collect::<String>()
        );
        page.paragraph(2, paint::DIM, &text);
    }
    let mut table = "";
    for (index, quantity) in study.quantities.iter().enumerate() {
        if quantity.table != table {
            table = &quantity.table;
            page.line("");
            page.paragraph(0, paint::HEADING, table);
        }
        let judged = judged.map(|judged| &judged.judged[index]);
        of(&mut page, study, quantity, judged, options);
    }
    closing(&mut page, study);
    page.out
}

fn of(
    page: &mut Page,
    study: &Study,
    quantity: &Quantity,
    judged: Option<&JudgedQuantity>,
    options: &TableOptions,
) {
    page.line("");
    page.paragraph(2, paint::HEADING, &quantity.title);
    if judged.is_none() || options.verbose {
        page.paragraph(4, paint::DIM, &quantity.procedure);
    }
    let alone = syscost_results::study::figures(study, quantity);
    for figure in &alone {
        let label = format!("published, {}", figure.machine);
        let mut notes = vec![figure.place.clone()];
        notes.extend(super::conversion(figure));
        page.figure(
            &label,
            &super::value(quantity.unit, figure),
            &super::cycles(figure),
            &notes.join("; "),
        );
        for doubt in &figure.doubts {
            page.paragraph(8, paint::CARE, &format!("doubtful: {doubt}"));
        }
    }
    let Some(judged) = judged else {
        return;
    };
    let views = [
        ("as published, here", &judged.as_published),
        ("the same, undisturbed", &judged.undisturbed),
        ("syscost's method, here", &judged.ours),
    ];
    for (index, (label, seen)) in views.into_iter().enumerate() {
        match seen {
            None => {}
            Some(Seen::Missing { reason }) => page.figure(label, "-", "", reason),
            Some(Seen::Figure(view)) => {
                let cycles = view.cycles.map_or_else(String::new, |cycles| {
                    format!("{} cycles", units::cycles(cycles))
                });
                let note = match index {
                    0 | 1 => spread(quantity.unit, view),
                    _ => interval(quantity.unit, view),
                };
                page.figure(
                    label,
                    &units::quantity(quantity.unit, view.value),
                    &cycles,
                    &note,
                );
            }
        }
    }
    let (sign, style) = match judged.verdict.kind {
        Kind::NotWhatItSays => ("not what it says", paint::BAD),
        Kind::Differs => ("differs", paint::CARE),
        Kind::Agrees => ("agrees", paint::GOOD),
        Kind::NotCompared => ("not compared", paint::DIM),
    };
    let text = format!("{sign}: {}", judged.verdict.text);
    page.paragraph(4, style, text.trim_end_matches(": "));
    if options.verbose {
        for evidence in &judged.evidence {
            page.paragraph(6, paint::DIM, &crate::sentence::evidence(evidence));
        }
    }
}

/// From the least to the most that the procedure printed.
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

fn closing(page: &mut Page, study: &Study) {
    if !study.doubts.is_empty() {
        page.line("");
        page.paragraph(0, paint::HEADING, "Where the published text misleads");
    }
    for doubt in &study.doubts {
        let shown = match doubt.shown_by.is_empty() {
            true => String::new(),
            false => format!(" (see: {})", doubt.shown_by.join(", ")),
        };
        page.paragraph(
            2,
            anstyle::Style::new(),
            &format!("- {}{shown}", doubt.text),
        );
    }
    if !study.not_here.is_empty() {
        page.line("");
        page.paragraph(0, paint::HEADING, "What cannot be repeated here");
    }
    for one in &study.not_here {
        let instead = one.instead.iter().map(|text| format!("; instead, {text}"));
        let text = format!("- {}: {}{}", one.what, one.why, instead.collect::<String>());
        page.paragraph(2, anstyle::Style::new(), &text);
    }
}
