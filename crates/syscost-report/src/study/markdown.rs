//! The published side of a study, as pages of docs/studies/, from the same data as all other views
//! of it.

use syscost_results::study::{Acts, JudgedFigure, Quantity, Study};

/// Header of generated pages.
const GENERATED: &str = "<!-- Written by `cargo xtask gen` from the study's data. Do not edit. -->";

/// The table of all studies, for the page that links to theirs.
pub fn index<'s>(studies: impl Iterator<Item = &'s Study>) -> String {
    let mut out = "| Study | About | Machines | Quantities |\n|---|---|---|---|\n".to_owned();
    for study in studies {
        let machines: Vec<&str> = study.machines.iter().map(|one| one.name.as_str()).collect();
        out += &format!(
            "| [{0}](studies/{0}.md) | {1} | {2} | {3} |\n",
            study.id,
            cell(&study.title),
            cell(&machines.join("; ")),
            study.quantities.len()
        );
    }
    out
}

/// The page of one study.
pub fn page(study: &Study) -> String {
    let mut out = format!(
        "{GENERATED}\n\n# {}: {}\n\nSource: {}\n\n{}\n",
        study.id, study.title, study.source, study.about
    );
    if !study.machines.is_empty() {
        out += "\n## Machines\n\n| | Machine | Clock |\n|---|---|---|\n";
    }
    for machine in &study.machines {
        let clock = machine.clock_ghz.map(|ghz| format!("{ghz} GHz"));
        let note = machine.note.iter().map(|note| format!("; {note}"));
        out += &format!(
            "| {} | {}{} | {} |\n",
            machine.id,
            cell(&machine.name),
            cell(&note.collect::<String>()),
            clock.unwrap_or_else(|| "not stated".to_owned())
        );
    }
    let mut table = "";
    for quantity in &study.quantities {
        if quantity.table != table {
            table = &quantity.table;
            out += &format!("\n## {table}\n");
        }
        out += &of(study, quantity);
    }
    out += &closing(study);
    out
}

fn of(study: &Study, quantity: &Quantity) -> String {
    let mut out = format!("\n### {}\n\n{}\n", quantity.title, quantity.procedure);
    let figures = syscost_results::study::figures(study, quantity);
    if !figures.is_empty() {
        out += "\n| Machine | Published | Cycles | Where | Doubtful |\n|---|---|---|---|---|\n";
    }
    for figure in &figures {
        out += &line(quantity, figure);
    }
    let rows = [
        ("Repeated by", &quantity.as_published),
        ("syscost's method", &quantity.ours),
    ];
    let rows: Vec<String> = rows
        .into_iter()
        .filter_map(|(label, row)| Some(format!("{label}: `{}`.", row.as_ref()?)))
        .collect();
    if !rows.is_empty() {
        out += &format!("\n{}\n", rows.join(" "));
    }
    for reason in &quantity.reasons {
        let acts = match reason.acts {
            Acts::More => "more",
            Acts::Less => "less",
        };
        let text = reason.text.replace("{}", "…").replace(['{', '}'], "`");
        out += &format!(
            "\nMay give {acts} than syscost's method, if `{}` shows it: {text}.\n",
            reason.counted
        );
    }
    out
}

fn line(quantity: &Quantity, figure: &JudgedFigure) -> String {
    format!(
        "| {} | {} | {} | {} | {} |\n",
        figure.machine,
        super::value(quantity.unit, figure, None),
        super::cycles(figure),
        cell(&super::notes(figure)),
        cell(&figure.doubts.join("; "))
    )
}

fn closing(study: &Study) -> String {
    let mut out = String::new();
    let ratios = super::ratio_rows(study, &[]);
    if !ratios.is_empty() {
        out += "\n## Ratios\n\n| | By the published figures | |\n|---|---|---|\n";
    }
    for row in ratios {
        let (title, words) = (cell(row.title), cell(&row.words));
        out += &format!("| {title} | {} | {words} |\n", row.cells().join("; "));
    }
    for (heading, lines) in super::remarks(study) {
        out += &format!("\n## {heading}\n\n- {}\n", lines.join("\n- "));
    }
    out
}

pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
