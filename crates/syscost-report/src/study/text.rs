//! A study in a terminal.

use syscost_results::study::{
    JudgedFigure, JudgedQuantity, JudgedStudy, Quantity, Seen, Study, VerdictKind, figures,
};

use super::side_by_side::side_by_side;
use super::{Drawn, Repeated, ratio_rows};
use crate::TableOptions;
use crate::chart::{self, Labels, TextOptions};
use crate::grid::{Behind, Cell, Grid, Name, right};
use crate::page::Page;
use crate::paint::{self, width};

/// Width of a view's name, in columns.
const LABEL: usize = 28;
/// Width of a figure in its unit, and of one in cycles.
const FIGURE: usize = 13;
const CYCLES: usize = 18;
/// The distance of columns.
const GAP: usize = 3;
/// Columns between a figure and the note after it.
const NOTE: usize = 3;
/// Indent of a note below a figure.
const BENEATH: usize = 8;

/// All studies, one line each.
pub fn list<'s>(studies: impl Iterator<Item = &'s Study>, options: &TableOptions) -> String {
    let studies: Vec<&Study> = studies.collect();
    let widest = studies.iter().map(|study| width(&study.id)).max();
    let widest = widest.unwrap_or(0);
    let mut page = Page::new(options);
    for study in studies {
        let id = page
            .paint
            .text(paint::HEADING, &format!("{:widest$}", study.id));
        page.hanging(
            &format!("{id}  "),
            widest + 2,
            anstyle::Style::new(),
            &study.title,
        );
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
    render(study, None, options)
}

/// A study, judged by a run; or by several, side by side.
pub fn text(repeated: &Repeated, options: &TableOptions) -> String {
    match repeated.only() {
        Some(_) => render(&repeated.study, Some(repeated), options),
        None => side_by_side(repeated, options),
    }
}

impl Page {
    /// Published figures side by side, a column for each machine, if there are several and the page
    /// is wide enough; tells whether it is.
    fn across(
        &mut self,
        figures: &[JudgedFigure],
        value: impl Fn(&JudgedFigure) -> String,
    ) -> bool {
        let mut grid = Grid::new(vec![right("").after(GAP); figures.len()]);
        let texts: [&dyn Fn(&JudgedFigure) -> String; 3] =
            [&|figure| figure.machine.clone(), &value, &super::cycles];
        for (name, text) in ["published", "", ""].into_iter().zip(texts) {
            let cells: Vec<String> = figures.iter().map(text).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                let cells = cells.into_iter().map(Cell::from).collect();
                grid.line(Name::whole(name, 4), cells, Behind::Nothing);
            }
        }
        let is_across = figures.len() > 1 && grid.spare(self.columns).is_some();
        if is_across {
            self.grid(&grid);
        }
        is_across
    }

    /// A label, a figure in its unit and in cycles, and a note, which goes after them if there is
    /// room, else below.
    fn figure(&mut self, label: &str, figure: &str, cycles: &str, note: &str) {
        let label = paint::cut_end(label, LABEL);
        let pad = |text: &str, columns: usize| " ".repeat(columns.saturating_sub(width(text)));
        let line = format!(
            "    {label}{}{}{figure}{}{cycles}",
            pad(&label, LABEL),
            pad(figure, FIGURE),
            pad(cycles, CYCLES),
        );
        let used = width(&line) + NOTE;
        if used + width(note) <= self.columns {
            let note = self.paint.text(paint::DIM, note);
            self.line(&format!("{line}{:NOTE$}{note}", ""));
            return;
        }
        if width(line.trim_end()) <= self.columns {
            self.line(&line);
        } else {
            self.line(&format!("    {label}"));
            self.paragraph(
                BENEATH,
                anstyle::Style::new(),
                &format!("{figure} {cycles}"),
            );
        }
        self.paragraph(BENEATH, paint::DIM, note);
    }
}

/// What a study is, and the machines of its text.
pub(super) fn heading(page: &mut Page, study: &Study) {
    let heading = format!("{}: {}", study.id, study.title);
    page.paragraph(0, paint::HEADING, &heading);
    page.dim(&format!("Source: {}", study.source));
    page.paragraph(0, anstyle::Style::new(), &study.about);
    for machine in &study.machines {
        let text = super::machine(machine);
        page.paragraph(2, paint::DIM, &text);
    }
}

fn render(study: &Study, run: Option<&Repeated>, options: &TableOptions) -> String {
    let mut page = Page::new(options);
    heading(&mut page, study);
    let judged = run.and_then(Repeated::only);
    if let Some(judged) = judged {
        let rate = judged.counter.map(super::counter);
        for text in rate.iter().map(String::as_str).chain([super::CORE_OURS]) {
            page.paragraph(2, paint::DIM, text);
        }
    }
    let mut table = "";
    for (index, quantity) in study.quantities.iter().enumerate() {
        if quantity.table != table {
            table = &quantity.table;
            page.heading(table);
        }
        let judged = judged.map(|judged| &judged.judged[index]);
        of(&mut page, study, quantity, judged, options);
    }
    ratios(&mut page, study, run.map_or(&[], |run| &run.by));
    if let Some(repeated) = run {
        charts(&mut page, repeated);
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
    self::quantity(page, quantity);
    let alone = figures(study, quantity);
    let scale = judged.map(|judged| judged.scale);
    let value = |figure: &JudgedFigure| super::value(quantity.unit, figure, scale);
    let is_across = page.across(&alone, value);
    if is_across && judged.is_some() && !options.verbose {
        let mut places: Vec<&str> = alone.iter().map(|figure| figure.place.as_str()).collect();
        places.dedup();
        page.paragraph(BENEATH, paint::DIM, &places.join("; "));
    }
    for figure in &alone {
        let notes = super::notes(figure);
        if !is_across {
            let label = format!("published, {}", figure.machine);
            page.figure(&label, &value(figure), &super::cycles(figure), &notes);
        } else if judged.is_none() || options.verbose {
            page.paragraph(BENEATH, paint::DIM, &format!("{}: {notes}", figure.machine));
        }
        if !is_across && !figure.doubts.is_empty() {
            let doubts = figure.doubts.join("; ");
            page.paragraph(BENEATH, paint::CARE, &format!("doubtful: {doubts}"));
        }
    }
    let doubts = alone.iter().flat_map(|figure| {
        let of_it = |doubt| format!("{}: {doubt}", figure.machine);
        figure.doubts.iter().map(of_it)
    });
    let doubts: Vec<String> = doubts.collect();
    if is_across && !doubts.is_empty() {
        page.paragraph(
            BENEATH,
            paint::CARE,
            &format!("doubtful, {}", doubts.join("; ")),
        );
    }
    let Some(judged) = judged else {
        return;
    };
    let mut last_reason = "";
    for (view, seen) in super::views(judged) {
        let label = view.label();
        match seen {
            None => {}
            // What holds for several views is said once.
            Some(Seen::Missing { reason }) if reason == last_reason => {
                page.figure(label, "-", "", "for the same reason");
            }
            Some(Seen::Missing { reason }) => {
                page.figure(label, "-", "", reason);
                last_reason = reason;
            }
            Some(Seen::Figure(figure)) => {
                page.figure(
                    label,
                    &figure.shown(judged.scale),
                    &super::cycles_here(judged, figure),
                    &super::note(judged, view, figure),
                );
            }
        }
    }
    if let Some(row) = super::row(judged) {
        page.paragraph(BENEATH, paint::DIM, &row);
    }
    let kind = judged.verdict.kind;
    let text = format!("{}: {}", kind.words(), judged.verdict.text);
    page.paragraph(
        4,
        style(kind),
        &text.replace(" %", &crate::wrap::together(" %")),
    );
    if options.verbose {
        let all = [
            ("as published", &judged.evidence),
            ("syscost's row", &judged.ours_evidence),
        ];
        for (whose, evidence) in all {
            for one in evidence {
                let text = format!("{whose}: {one}");
                page.paragraph(6, paint::DIM, &text);
            }
        }
    }
}

pub(super) fn ratios(page: &mut Page, study: &Study, by: &[(String, JudgedStudy)]) {
    let rows = ratio_rows(study, by);
    if !rows.is_empty() {
        page.heading("Ratios");
    }
    for row in rows {
        page.paragraph(2, paint::HEADING, row.title);
        let published = row.published.iter();
        let mut parts: Vec<String> = match by {
            [_, _, ..] => published
                .map(|(whose, one)| format!("{whose} {one}"))
                .collect(),
            _ => {
                let all: Vec<String> = published
                    .map(|(whose, one)| format!("{one} ({whose})"))
                    .collect();
                let is_any = !all.is_empty();
                is_any
                    .then(|| format!("published {}", all.join(", ")))
                    .into_iter()
                    .collect()
            }
        };
        parts.extend(row.here.iter().map(|(whose, one)| format!("{whose} {one}")));
        parts.extend(Some(row.words).filter(|words| !words.is_empty()));
        page.paragraph(4, anstyle::Style::new(), &parts.join("; "));
    }
}

pub(super) fn charts(page: &mut Page, repeated: &Repeated) {
    let options = TextOptions {
        width: page.columns,
        color: page.paint.color,
    };
    for picture in super::pictures(repeated) {
        let labels = Labels::titled(picture.title.clone());
        let drawn = match &picture.drawn {
            Drawn::Chart(chart) => chart::text(chart, picture.unit, &labels, options),
            Drawn::Groups(groups) => {
                Some(chart::text_groups(groups, picture.unit, &labels, options))
            }
            Drawn::Histogram(bins) => {
                Some(chart::text_histogram(bins, picture.unit, &labels, options))
            }
        };
        for line in drawn.iter().flat_map(|drawn| ["", drawn.trim_end()]) {
            page.line(line);
        }
        if let Some(note) = &picture.note {
            page.dim(note);
        }
    }
}

/// Where the text misleads, and what cannot be repeated.
pub(super) fn closing(page: &mut Page, study: &Study) {
    for (heading, lines) in super::remarks(study) {
        page.heading(heading);
        for line in lines {
            page.paragraph(2, anstyle::Style::new(), &format!("- {line}"));
        }
    }
}

pub(super) fn style(kind: VerdictKind) -> anstyle::Style {
    match kind {
        VerdictKind::NotWhatItSays => paint::BAD,
        VerdictKind::Differs => paint::CARE,
        VerdictKind::Agrees => paint::GOOD,
        VerdictKind::CannotTell | VerdictKind::NotCompared => anstyle::Style::new(),
    }
}

pub(super) fn quantity(page: &mut Page, quantity: &Quantity) {
    page.line("");
    page.paragraph(2, paint::HEADING, &quantity.title);
    page.paragraph(4, paint::DIM, &quantity.procedure);
}
