//! A study, and a report of studies to hand in, each laid out once.

use syscost_results::Run;
use syscost_results::study::{Acts, Quantity, Study};
use syscost_studies::{JudgedFigure, JudgedQuantity, Seen, VerdictKind};

use super::brief::{Brief, Here, briefs, without};
use super::facts::{facts, flags, method, what_cycles_are};
use super::repeated::{QuantityBy, Repeated, labels, ratio_rows};
use super::words::{
    ViewOf, cycles, cycles_beside, here_lines, machine, note, notes, remarks, short, value, views,
};
use crate::document::{Block, Cell, Column, Look, Row, Table, Text};
use crate::tone::Tone;

/// What a reader of a report is asked at its end.
const CONCLUSION: &str = "Which of the published conclusions hold on this machine, which do not, \
    and what makes the difference?";

/// How to read the figures of a report.
const READING: [(&str, &str); 3] = [
    (
        "here",
        "the median of what the published procedure printed on this machine, by the results with \
         the core ours if ten or more are, otherwise by all; \u{201c}by syscost\u{201d}: the \
         procedure is not repeated",
    ),
    (
        "syscost's row",
        "its own benchmark of the same quantity: timed in several fresh processes in shuffled \
         order, less its overhead, with what it claims to do counted; `syscost explain ROW` says how",
    ),
    (
        "verdict",
        "whether the published procedure and syscost's row give the same here, and whether the \
         procedure measures what the quantity's name says",
    ),
];

/// What a report is about.
pub(crate) fn title(studies: &[Repeated]) -> String {
    match studies {
        [one] => one.study.title.clone(),
        _ => "Published measurements, repeated".to_owned(),
    }
}

/// A report to hand in: summary, machines, results, questions, conclusion.
pub(crate) fn report(studies: &[Repeated], runs: &[&Run]) -> Vec<Block> {
    let mut all = vec![Block::linked(2, "summary", "Summary")];
    all.extend(summary(studies, runs));
    let machines = if runs.len() == 1 {
        "Machine"
    } else {
        "Machines"
    };
    all.push(Block::linked(2, "machine", machines));
    for (run, label) in runs.iter().zip(labels(runs)) {
        all.push(Block::heading(3, label));
        let facts = facts(studies, run).into_iter();
        all.push(Block::Facts(
            facts
                .map(|(name, fact)| (name.into(), fact.into()))
                .collect(),
        ));
    }
    all.push(Block::linked(2, "studies", "Results"));
    all.extend(studies.iter().flat_map(|one| study(one, runs, 3, false)));
    let asking = studies.iter().filter(|one| !one.study.questions.is_empty());
    for (index, Repeated { study, .. }) in asking.enumerate() {
        if index == 0 {
            all.push(Block::linked(2, "questions", "Questions"));
        }
        if studies.len() > 1 {
            all.push(Block::heading(3, &study.id));
        }
        all.push(Block::Questions(
            study
                .questions
                .iter()
                .map(|one| one.as_str().into())
                .collect(),
        ));
    }
    all.push(Block::linked(2, "conclusion", "Conclusion"));
    all.push(Block::Questions(vec![CONCLUSION.into()]));
    all
}

/// A table of all quantities, a line each, which leads to them; and how to read it.
pub(crate) fn summary(studies: &[Repeated], runs: &[&Run]) -> Vec<Block> {
    let columns: Vec<Column> = match runs {
        [_] => ["verdict", "published", "here", "here / published"]
            .map(Column::left)
            .to_vec(),
        _ => {
            let all = ["published".to_owned()].into_iter().chain(labels(runs));
            all.map(Column::left).collect()
        }
    };
    let mut all = Vec::new();
    for repeated in studies {
        let id = &repeated.study.id;
        if studies.len() > 1 {
            all.push(Block::heading(3, id));
        }
        let lines = briefs(&repeated.quantities());
        all.push(Block::Table(Table {
            class: "study brief stack",
            caption: id.clone(),
            names: "quantity".into(),
            columns: columns.clone(),
            rows: lines.iter().map(|line| brief(id, line)).collect(),
        }));
    }
    let reading = READING.map(|(name, meaning)| (name.into(), meaning.into()));
    let flags = flags(studies, runs).into_iter();
    let flags = flags.map(|one| (Text::of(Look::Flag, one.name), one.meaning.into()));
    all.push(Block::Facts(reading.into_iter().chain(flags).collect()));
    all
}

fn brief(study: &str, line: &Brief<'_>) -> Row {
    let published = Cell::lines([&line.published]);
    let kind = |one: &Here| Text::of(Look::Tag, one.kind.words()).tone(tone(one.kind));
    let cells = match &line.by[..] {
        [one] => vec![
            Cell::lines([kind(one)]),
            published,
            Cell::lines([&one.figure]),
            Cell::lines([&one.ratio]),
        ],
        all => {
            let here = all.iter().map(|one| {
                let times = format!("{} times published", one.ratio);
                let times = if one.ratio.is_empty() {
                    String::new()
                } else {
                    times
                };
                Cell::lines([one.figure.as_str().into(), times.into(), kind(one)])
            });
            [published].into_iter().chain(here).collect()
        }
    };
    Row {
        name: Text::of(
            Look::Link(format!("#{}", place(study, line.id))),
            line.title,
        ),
        cells,
        ..Row::default()
    }
}

/// What a link to a quantity names.
fn place(study: &str, quantity: &str) -> String {
    format!("study-{study}-{quantity}")
}

fn tone(kind: VerdictKind) -> Tone {
    match kind {
        VerdictKind::NotWhatItSays => Tone::Bad,
        VerdictKind::Differs => Tone::Care,
        VerdictKind::Agrees => Tone::Good,
        VerdictKind::CannotTell | VerdictKind::NotCompared => Tone::Plain,
    }
}

/// All studies, a line each, which leads to the page of each.
pub(crate) fn list<'s>(studies: impl Iterator<Item = &'s Study>) -> Block {
    let line = |study: &Study| {
        let machines: Vec<&str> = study.machines.iter().map(|one| one.name.as_str()).collect();
        let name = Text::of(Look::Link(format!("studies/{}.md", study.id)), &study.id);
        let what = format!(
            "{} ({} quantities): {}",
            study.title,
            study.quantities.len(),
            machines.join("; ")
        );
        (name, what.into())
    };
    Block::Facts(studies.map(line).collect())
}

/// A study: as published, or judged by one run or several; with all evidence if `verbose`.
pub(crate) fn study(repeated: &Repeated, runs: &[&Run], level: u8, verbose: bool) -> Vec<Block> {
    let study = &repeated.study;
    let title = format!("{}: {}", study.id, study.title);
    let mut all = vec![
        Block::linked(level, format!("study-{}", study.id), title),
        Block::paragraph(&study.about),
        Block::note(format!("Source: {}", study.source)),
    ];
    if !study.machines.is_empty() {
        let machines = study.machines.iter().map(machine);
        all.push(Block::List(
            machines
                .map(|one| Text::from(one).tone(Tone::Quiet))
                .collect(),
        ));
    }
    if !runs.is_empty() {
        let programs = format!("Its programs: `syscost study {} --source`", study.id);
        all.push(Block::note(programs));
    }
    if let [run] = runs {
        all.extend(what_cycles_are(repeated, run).map(Block::note));
    }
    let quantities = repeated.quantities();
    for table in quantities.chunk_by(|a, b| a.quantity.table == b.quantity.table) {
        all.push(Block::heading(level + 1, &table[0].quantity.table));
        all.extend(self::table(repeated, runs, table, verbose));
    }
    let ratios = ratios(repeated);
    if !ratios.rows.is_empty() {
        all.push(Block::heading(level + 1, "Ratios"));
        all.push(Block::Table(ratios));
    }
    all.extend(super::pictures(repeated).into_iter().map(Block::Figure));
    for (heading, lines) in remarks(study) {
        all.push(Block::heading(level + 1, heading));
        all.push(Block::List(lines.into_iter().map(Text::from).collect()));
    }
    all
}

/// The quantities of one of the text's tables, the machines side by side, and why some have no
/// figure at all.
fn table(
    repeated: &Repeated,
    runs: &[&Run],
    quantities: &[QuantityBy<'_>],
    verbose: bool,
) -> Vec<Block> {
    let machines = repeated.published_machines(quantities);
    let here: Vec<&str> = match repeated.only() {
        Some(_) => ViewOf::ALL.map(ViewOf::label).to_vec(),
        None => repeated
            .by
            .iter()
            .map(|(label, _)| label.as_str())
            .collect(),
    };
    let (mut measured, mut missing): (Vec<&QuantityBy<'_>>, Vec<(String, Vec<&str>)>) =
        Default::default();
    for one in quantities {
        let Some(reason) = without(one) else {
            measured.push(one);
            continue;
        };
        match missing.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, titles)) => titles.push(&one.quantity.title),
            None => missing.push((reason, vec![&one.quantity.title])),
        }
    }
    let mut all = Vec::new();
    if !measured.is_empty() {
        let alike = measured.chunk_by(|a, b| a.quantity.procedure == b.quantity.procedure);
        let rows = alike.flat_map(|alike| {
            alike.iter().enumerate().map(|(index, one)| {
                let procedure = match (index, alike.len() - 1) {
                    (0, 0) => one.quantity.procedure.clone(),
                    (0, 1) => format!("{} Likewise the next.", one.quantity.procedure),
                    (0, more) => format!("{} Likewise the next {more}.", one.quantity.procedure),
                    _ => String::new(),
                };
                Row {
                    id: place(&repeated.study.id, &one.quantity.id),
                    name: one.quantity.title.as_str().into(),
                    cells: cells(one, &machines, runs),
                    notes: said(one, procedure, verbose),
                    ..Row::default()
                }
            })
        });
        all.push(Block::Table(Table {
            class: "study stack",
            caption: quantities[0].quantity.table.clone(),
            names: "quantity".into(),
            columns: machines
                .iter()
                .chain(&here)
                .map(|&heading| Column::left(heading))
                .collect(),
            rows: rows.collect(),
        }));
    }
    for (reason, titles) in missing {
        let titles = titles.join("; ");
        all.push(Block::note(format!(
            "Neither published nor measured here ({reason}): {titles}."
        )));
    }
    if repeated.by.len() > 1 && !measured.is_empty() {
        let verdicts = measured.iter().flat_map(|one| {
            let title = &one.quantity.title;
            let by = one.by.iter();
            by.map(move |(label, judged)| (format!("{title}, {label}").into(), verdict(judged)))
        });
        let facts = Block::Facts(verdicts.collect());
        all.push(Block::Details("the verdicts in full".into(), vec![facts]));
    }
    all
}

/// The published figures of each machine, then those here.
fn cells(one: &QuantityBy<'_>, machines: &[&str], runs: &[&Run]) -> Vec<Vec<Cell>> {
    let published = machines.iter().map(|machine| {
        let figures = one
            .published
            .iter()
            .filter(|figure| figure.machine == *machine);
        figures.map(|figure| self::published(one, figure)).collect()
    });
    let here: Vec<Vec<Cell>> = match (&one.by[..], runs) {
        ([(_, judged)], [run]) => seen(one, judged, run),
        (all, _) => all
            .iter()
            .map(|(_, judged)| vec![in_short(judged)])
            .collect(),
    };
    published.chain(here).collect()
}

fn published(one: &QuantityBy<'_>, figure: &JudgedFigure) -> Cell {
    let scale = one.by.first().map(|(_, judged)| judged.scale);
    let doubts = figure
        .doubts
        .iter()
        .map(|doubt| Text::from(format!("doubtful: {doubt}")).tone(Tone::Care));
    Cell {
        lines: [value(one.quantity.unit, figure, scale), cycles(figure)]
            .map(Text::from)
            .to_vec(),
        notes: [quiet(notes(figure))].into_iter().chain(doubts).collect(),
    }
}

fn quiet(text: impl Into<Text>) -> Text {
    text.into().tone(Tone::Quiet)
}

/// What one run says of a quantity: by the published procedure, with the core ours, by syscost's row.
fn seen(one: &QuantityBy<'_>, judged: &JudgedQuantity, run: &Run) -> Vec<Vec<Cell>> {
    let mut last_reason = "";
    let cells = views(judged).into_iter().map(|(view, seen)| {
        let mut cell = match seen {
            None => return Vec::new(),
            Some(Seen::Missing { reason }) => {
                // What holds for several views is said once.
                let said = if reason == last_reason {
                    "for the same reason"
                } else {
                    reason
                };
                last_reason = reason;
                Cell {
                    lines: vec!["none".into()],
                    notes: vec![quiet(said)],
                }
            }
            Some(Seen::Figure(figure)) => Cell {
                lines: [figure.shown(judged.scale), cycles_beside(judged, figure)]
                    .map(Text::from)
                    .to_vec(),
                notes: vec![quiet(note(judged, view, figure))],
            },
        };
        if view == ViewOf::Ours
            && let Some(row) = method(one, run)
        {
            let named = Text::from(row.factor).with(Look::Code, row.name);
            let flagged =
                |text: Text, flag: &&str| text.with(Look::Plain, " ").with(Look::Flag, *flag);
            cell.notes
                .push(quiet(row.flags.iter().fold(named, flagged)));
        }
        vec![cell]
    });
    cells.collect()
}

/// The figure of one of several machines that is compared, and its verdict in a few words.
fn in_short(judged: &JudgedQuantity) -> Cell {
    let (lines, whose) = here_lines(judged);
    let whose = whose.map(quiet);
    let verdict = Text::from(short(judged)).tone(tone(judged.verdict.kind));
    Cell {
        lines: lines.into_iter().map(Text::from).collect(),
        notes: whose.into_iter().chain([verdict]).collect(),
    }
}

fn verdict(judged: &JudgedQuantity) -> Text {
    let kind = judged.verdict.kind;
    let tag = Text::of(Look::Tag, kind.words()).tone(tone(kind));
    tag.with(Look::Plain, &judged.verdict.text)
}

/// What is to be said of a quantity: the verdict on the only run, the procedure; of a study as
/// published, what repeats it.
fn said(one: &QuantityBy<'_>, procedure: String, verbose: bool) -> Vec<Text> {
    let mut all = Vec::new();
    if let [(_, judged)] = one.by[..] {
        all.push(verdict(judged));
    }
    all.push(quiet(procedure));
    match one.by[..] {
        [] => all.extend(repeated_by(one.quantity)),
        [(_, judged)] if verbose => {
            let as_published = judged
                .evidence
                .iter()
                .map(|one| format!("as published: {one}"));
            let ours = judged
                .ours_evidence
                .iter()
                .map(|one| format!("syscost's row: {one}"));
            all.extend(as_published.chain(ours).map(quiet));
        }
        _ => {}
    }
    all.retain(|note| !note.is_empty());
    all
}

/// The rows that repeat a quantity, and why the two may differ.
fn repeated_by(quantity: &Quantity) -> Vec<Text> {
    let mut rows = Text::default();
    if let Some(name) = &quantity.as_published {
        rows = rows
            .with(Look::Plain, "Repeated by ")
            .with(Look::Code, name);
    }
    if let Some(name) = &quantity.ours {
        let begin = if rows.is_empty() {
            "By syscost's "
        } else {
            "; by syscost's "
        };
        rows = rows.with(Look::Plain, begin).with(Look::Code, name);
    }
    let reasons = quantity.reasons.iter().map(|reason| {
        let acts = match reason.acts {
            Acts::More => "more",
            Acts::Less => "less",
        };
        let text = reason.text.replace("{}", "…").replace(['{', '}'], "`");
        quiet(format!(
            "May give {acts} than syscost's method, if `{}` shows it: {text}.",
            reason.counted
        ))
    });
    [quiet(rows)].into_iter().chain(reasons).collect()
}

/// The ratios that the text draws.
fn ratios(repeated: &Repeated) -> Table {
    let row = |row: super::repeated::RatioRow<'_>| Row {
        name: row.title.into(),
        cells: vec![Cell::lines(row.cells()), Cell::lines([row.words.clone()])],
        ..Row::default()
    };
    let rows = ratio_rows(&repeated.study, &repeated.by);
    Table {
        class: "study stack",
        caption: "Ratios".to_owned(),
        names: "ratio".into(),
        columns: ["by the figures of", "in words"].map(Column::left).to_vec(),
        rows: rows.into_iter().map(row).collect(),
    }
}
