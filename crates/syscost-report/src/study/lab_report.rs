//! Studies as a report to hand in: machine, procedure, results, charts, questions.

use std::collections::BTreeSet;

use syscost_results::study::JudgedQuantity;
use syscost_results::{Fact, Run};

use super::figures::Figure;
use super::markdown::cell;
use super::repeated::{QuantityBy, Repeated, began, labels, ratio_rows};
use super::{note, views};
use crate::sentence;
use crate::units;

/// The report in Markdown. `figures` are the charts, by the paths at which they are written; without
/// them the charts are left out.
pub fn markdown(studies: &[Repeated], runs: &[&Run], figures: &[(String, Figure)]) -> String {
    let mut out = format!("# {}\n", title(studies));
    out += &machines(runs);
    for repeated in studies {
        out += &of(repeated, figures);
    }
    out
}

/// What a report is about.
pub(crate) fn title(studies: &[Repeated]) -> String {
    match studies {
        [one] => one.study.title.clone(),
        _ => "Published measurements, repeated".to_owned(),
    }
}

/// The facts of a run that a reader needs to repeat it.
pub(crate) fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let by = ["program compiled by", "program"];
    let evidence = run.measurements.iter().flat_map(|row| &row.evidence);
    // Each study has flags of its own.
    let made: BTreeSet<&str> = evidence
        .filter(|one| by.contains(&one.claim.as_str()))
        .filter_map(|one| match &one.observed {
            Some(Fact::Text(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let made: Vec<&str> = made.into_iter().collect();
    let programs = (!made.is_empty()).then(|| made.join("; "));
    let warnings = run.warnings.iter().map(|one| one.message.as_str());
    let warnings: Vec<&str> = warnings.collect();
    let all = [
        ("machine", Some(sentence::machine(run))),
        ("settings", Some(sentence::settings(run))),
        ("frequency", sentence::frequency(run)),
        ("precision", sentence::precision(run)),
        ("C library", Some(run.machine.libc.clone())),
        ("programs", programs),
        (
            "measured",
            Some(format!("{}, for {:.0} s", began(run), run.duration_s)),
        ),
        (
            "by",
            Some(format!(
                "syscost {}, profile {}, seed {}, run {}",
                run.tool.version, run.config.profile, run.config.seed, run.id
            )),
        ),
        ("warnings", Some(warnings.join("; "))),
    ];
    let known = all
        .into_iter()
        .filter_map(|(name, fact)| Some((name, fact?)));
    known.filter(|(_, fact)| !fact.is_empty()).collect()
}

fn machines(runs: &[&Run]) -> String {
    let heading = if runs.len() == 1 {
        "Machine"
    } else {
        "Machines"
    };
    let mut out = format!("\n## {heading}\n");
    for (run, label) in runs.iter().zip(labels(runs)) {
        out += &format!("\n| | {} |\n|---|---|\n", cell(&label));
        for (name, fact) in facts(run) {
            out += &format!("| {name} | {} |\n", cell(&fact));
        }
    }
    out
}

fn of(repeated: &Repeated, figures: &[(String, Figure)]) -> String {
    let study = &repeated.study;
    let mut out = format!(
        "\n## {}: {}\n\nSource: {}\n\n{}\n",
        study.id, study.title, study.source, study.about
    );
    for machine in &study.machines {
        out += &format!("\n- {}", super::machine(machine));
    }
    if !study.machines.is_empty() {
        out += "\n";
    }
    let quantities = repeated.quantities();
    out += "\n### Procedure\n";
    for one in &quantities {
        let quantity = one.quantity;
        out += &format!("\n- **{}**: {}", quantity.title, quantity.procedure);
    }
    out += "\n\n### Results\n";
    for table in quantities.chunk_by(|a, b| a.quantity.table == b.quantity.table) {
        out += &results(repeated, table);
    }
    out += &ratios(repeated);
    let of_study = figures
        .iter()
        .filter(|(_, figure)| figure.study == study.id);
    let mut charts = of_study.peekable();
    if charts.peek().is_some() {
        out += "\n### Charts\n";
    }
    for (path, figure) in charts {
        out += &format!("\n![{}]({path})\n", figure.title);
        if let Some(note) = &figure.note {
            out += &format!("\n{note}\n");
        }
    }
    out += &super::markdown::remarks(study, "###");
    if !study.questions.is_empty() {
        out += "\n### Questions\n";
    }
    for (index, question) in study.questions.iter().enumerate() {
        out += &format!("\n{}. {question}\n\n   Answer:\n", index + 1);
    }
    out
}

/// The figures of one of the text's tables, and what follows from them.
fn results(repeated: &Repeated, quantities: &[QuantityBy<'_>]) -> String {
    let machines = repeated.published_machines(quantities);
    let mut out = format!("\n#### {}\n\n", quantities[0].quantity.table);
    let here: Vec<String> = match repeated.only() {
        Some(_) => ["as published, here", "undisturbed", "syscost's method"]
            .map(str::to_owned)
            .to_vec(),
        None => repeated.by.iter().map(|(label, _)| label.clone()).collect(),
    };
    let headings = machines.iter().map(|one| format!("{one}, published"));
    let headings: Vec<String> = headings.chain(here).map(|text| cell(&text)).collect();
    out += &format!("| | {} |\n", headings.join(" | "));
    out += &format!("|---{}|\n", "|---".repeat(headings.len()));
    for one in quantities {
        let published = machines
            .iter()
            .map(|machine| super::published_lines(one, machine).join("<br>"));
        let here: Vec<String> = match one.by[..] {
            [(_, judged)] => three(judged),
            _ => one
                .by
                .iter()
                .map(|(_, judged)| {
                    format!(
                        "{}<br>{}",
                        super::here_lines(judged).join("<br>"),
                        super::short(judged)
                    )
                })
                .collect(),
        };
        let cells: Vec<String> = published.chain(here).map(|text| cell(&text)).collect();
        out += &format!(
            "| {} | {} |\n",
            cell(&one.quantity.title),
            cells.join(" | ")
        );
    }
    for one in quantities {
        for (label, judged) in &one.by {
            let whose = match one.by.len() {
                1 => String::new(),
                _ => format!(", {label}"),
            };
            let verdict = &judged.verdict;
            out += &format!(
                "\n- **{}**{whose} ({}): {}",
                one.quantity.title,
                verdict.kind.words(),
                verdict.text
            );
        }
        let (_, first) = one.by[0];
        for figure in &first.published {
            for doubt in &figure.doubts {
                out += &format!("\n  - doubtful, {}: {doubt}", figure.machine);
            }
        }
    }
    out + "\n"
}

/// The views of this machine.
fn three(judged: &JudgedQuantity) -> Vec<String> {
    let cells = views(judged).into_iter().map(|(view, seen)| match seen {
        None => String::new(),
        Some(seen) => match (seen.figure(), seen.reason()) {
            (Some(figure), _) => {
                let cycles = figure.cycles.iter();
                let cycles = cycles.map(|one| format!("<br>{} cycles", units::cycles(*one)));
                format!(
                    "{}{}<br>{}",
                    judged.scale.show(figure.value),
                    cycles.collect::<String>(),
                    note(judged, view, figure)
                )
            }
            (None, reason) => format!("none: {}", reason.unwrap_or_default()),
        },
    });
    cells.collect()
}

fn ratios(repeated: &Repeated) -> String {
    let rows = ratio_rows(repeated);
    if rows.is_empty() {
        return String::new();
    }
    let mut out = "\n#### Ratios\n\n| | By the figures of | |\n|---|---|---|\n".to_owned();
    for row in rows {
        let cells = row.cells.iter();
        let cells: Vec<String> = cells
            .map(|(whose, ratio)| format!("{whose}: {ratio}"))
            .collect();
        out += &format!(
            "| {} | {} | {} |\n",
            cell(row.title),
            cell(&cells.join("<br>")),
            cell(&row.words)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use syscost_results::{Evidence, Verdict};

    use super::*;
    use crate::fixture;

    #[test]
    fn every_way_in_which_programs_were_made_is_named_once() {
        let mut run = fixture::run();
        let made = ["cc 12, -O2", "cc 12, -O0", "cc 12, -O2"];
        let notes = made.map(|how| Evidence {
            claim: "program compiled by".to_owned(),
            expected: Fact::Text("any".to_owned()),
            observed: Some(Fact::Text(how.to_owned())),
            source: "build".to_owned(),
            verdict: Verdict::Confirmed,
            reason: None,
        });
        run.measurements[0].evidence.extend(notes);
        let programs = facts(&run)
            .into_iter()
            .find(|(name, _)| *name == "programs");
        assert_eq!(programs.expect("a fact").1, "cc 12, -O0; cc 12, -O2");
    }
}
