//! Studies as a report to hand in: summary, machine, procedures, results, charts, questions,
//! conclusion.

use syscost_results::Run;
use syscost_results::study::{JudgedQuantity, VerdictKind, View};

use super::brief::{Brief, Here, alike, briefs, without};
use super::charts::Figure;
use super::facts::{facts, flags, method, what_cycles_are};
use super::markdown::cell;
use super::repeated::{QuantityBy, Repeated, labels, ratio_rows};
use crate::sentence::{self, Mark};

/// A line to fill in.
const BLANK: &str = "______________________";

/// The report in Markdown. `figures` are the charts, by the paths at which they are written; without
/// them the charts are left out.
pub fn markdown(studies: &[Repeated], runs: &[&Run], figures: &[(String, Figure)]) -> String {
    let mut out = format!("# {}\n\nName: {BLANK}\n\nDate: {BLANK}\n", title(studies));
    out += &summary(studies, runs);
    out += &machines(studies, runs);
    for repeated in studies {
        out += &of(repeated, runs, figures);
    }
    out + &format!("\n## Conclusion\n\n{CONCLUSION}\n\nAnswer:\n")
}

/// What a reader of a report is asked at its end.
pub(crate) const CONCLUSION: &str = "Which of the published conclusions hold on this machine, which \
    do not, and what makes the difference?";

/// What a report is about.
pub(crate) fn title(studies: &[Repeated]) -> String {
    match studies {
        [one] => one.study.title.clone(),
        _ => "Published measurements, repeated".to_owned(),
    }
}

/// How to read the figures of a report.
pub(crate) const READING: [(&str, &str); 3] = [
    (
        "here",
        "the median of what the published procedure printed on this machine, by the \
         results with the core ours if ten or more are, otherwise by all; \u{201c}by syscost\u{201d}: the procedure is not repeated",
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

/// A table of all quantities, a line each.
fn summary(studies: &[Repeated], runs: &[&Run]) -> String {
    let mut out = "\n## Summary\n".to_owned();
    for repeated in studies {
        if studies.len() > 1 {
            out += &format!("\n### {}\n", repeated.study.id);
        }
        let (lines, missing) = briefs(&repeated.quantities());
        let heads: Vec<String> = headings(runs).iter().map(|text| cell(text)).collect();
        let columns = "---|".repeat(heads.len());
        out += &format!("\n| {} |\n|{columns}\n", heads.join(" | "));
        for line in &lines {
            out += &brief(line);
        }
        for (reason, titles) in missing {
            let titles = titles.join("; ");
            out += &format!("\nNeither published nor measured here ({reason}): {titles}.\n");
        }
    }
    out += "\n";
    for (name, meaning) in READING {
        out += &format!("- *{name}*: {meaning}\n");
    }
    for (name, meaning) in flags(studies, runs) {
        out += &format!("- flag *{name}*: {meaning}\n");
    }
    out + "\nVerdicts are told in full where methods differ or a name is wrong; `syscost study report` \
           tells all.\n"
}

/// The headings of a summary: the verdict of a single run comes first.
pub(crate) fn headings(runs: &[&Run]) -> Vec<String> {
    let fixed: &[&str] = match runs {
        [_] => &[
            "quantity",
            "verdict",
            "published",
            "here",
            "here / published",
        ],
        _ => &["quantity", "published"],
    };
    let mut all: Vec<String> = fixed.iter().map(|&text| text.to_owned()).collect();
    if runs.len() > 1 {
        all.extend(labels(runs));
    }
    all
}

fn brief(line: &Brief<'_>) -> String {
    let (title, published) = (line.title.to_owned(), line.published.clone());
    let cells: Vec<String> = match &line.by[..] {
        [one] => {
            let verdict = one.kind.words().to_owned();
            let [figure, ratio] = [&one.figure, &one.ratio].map(String::clone);
            vec![title, verdict, published, figure, ratio]
        }
        all => {
            let fixed = [title, published].into_iter();
            fixed.chain(all.iter().map(Here::in_short)).collect()
        }
    };
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn machines(studies: &[Repeated], runs: &[&Run]) -> String {
    let heading = if runs.len() == 1 {
        "Machine"
    } else {
        "Machines"
    };
    let mut out = format!("\n## {heading}\n");
    for (run, label) in runs.iter().zip(labels(runs)) {
        out += &format!("\n| | {} |\n|---|---|\n", cell(&label));
        for (name, fact) in facts(studies, run) {
            out += &format!("| {name} | {} |\n", cell(&fact));
        }
    }
    out
}

fn of(repeated: &Repeated, runs: &[&Run], figures: &[(String, Figure)]) -> String {
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
    out += &format!(
        "\n`syscost study show {0} --source` prints the programs, and `syscost study show {0}` where \
         the text prints its figures, where it misleads, and what cannot be repeated here.\n",
        study.id
    );
    let quantities = repeated.quantities();
    out += &procedures(&quantities);
    out += "\n### Results\n";
    if let [run] = runs {
        out +=
            &what_cycles_are(repeated, run).map_or_else(String::new, |text| format!("\n{text}\n"));
    }
    for table in quantities.chunk_by(|a, b| a.quantity.table == b.quantity.table) {
        out += &results(repeated, runs, table);
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
        // The picture says itself what its marks mean.
        out += &format!("\n![{}]({path})\n", figure.title);
    }
    if !study.questions.is_empty() {
        out += "\n### Questions\n";
    }
    for (index, question) in study.questions.iter().enumerate() {
        out += &format!("\n{}. {question}\n\n   Answer:\n", index + 1);
    }
    out
}

/// What was measured; a procedure that several quantities share is said once.
fn procedures(quantities: &[QuantityBy<'_>]) -> String {
    let mut out = "\n### What was measured\n".to_owned();
    let measured = quantities.iter().filter(|one| without(one).is_none());
    let measured: Vec<&QuantityBy<'_>> = measured.collect();
    let shared = measured.chunk_by(|one, other| one.quantity.procedure == other.quantity.procedure);
    for chunk in shared {
        let title = |one: &&QuantityBy<'_>| format!("**{}**", one.quantity.title);
        let titles: Vec<String> = match chunk {
            [first, _, .., last] => vec![title(first), "to".to_owned(), title(last)],
            few => few.iter().map(title).collect(),
        };
        out += &format!("\n- {}: {}", titles.join(" "), chunk[0].quantity.procedure);
    }
    out + "\n"
}

/// The headings of what one run gives.
const RESULTS: [&str; 2] = [
    "here (interval; results that count, of all)",
    "syscost's row (95 % interval; name, flags)",
];

/// The figures of one of the text's tables, and what follows from them.
fn results(repeated: &Repeated, runs: &[&Run], quantities: &[QuantityBy<'_>]) -> String {
    let machines = repeated.published_machines(quantities);
    let mut out = format!("\n#### {}\n", quantities[0].quantity.table);
    let here: Vec<String> = match runs {
        [_] => RESULTS.map(str::to_owned).to_vec(),
        _ => repeated.by.iter().map(|(label, _)| label.clone()).collect(),
    };
    let headings = machines.iter().map(|one| format!("{one}, published"));
    let headings: Vec<String> = headings.chain(here).map(|text| cell(&text)).collect();
    let measured = quantities.iter().filter(|one| without(one).is_none());
    let measured: Vec<&QuantityBy<'_>> = measured.collect();
    if !measured.is_empty() {
        out += &format!("\n| | {} |\n", headings.join(" | "));
        out += &format!("|---{}|\n", "|---".repeat(headings.len()));
    }
    for one in measured {
        let published = machines
            .iter()
            .map(|machine| super::published_lines(one, machine).join("<br>"));
        let here: Vec<String> = match (runs, &one.by[..]) {
            ([run], [(_, judged)]) => {
                vec![of_procedure(judged), of_method(one, run)]
            }
            (_, all) => all.iter().map(|(_, judged)| in_short(judged)).collect(),
        };
        let cells: Vec<String> = published.chain(here).map(|text| cell(&text)).collect();
        let title = cell(&one.quantity.title);
        out += &format!("| {title} | {} |\n", cells.join(" | "));
    }
    out + &verdicts(repeated, quantities)
}

/// What follows from the figures of a table, where that is more than the table says; what holds of
/// several quantities is said once.
fn verdicts(repeated: &Repeated, quantities: &[QuantityBy<'_>]) -> String {
    let mut out = String::new();
    for (run, (label, _)) in repeated.by.iter().enumerate() {
        let whose = match repeated.by.len() {
            1 => String::new(),
            _ => format!(", {label}"),
        };
        let told = quantities.iter().filter(|one| is_told(one.by[run].1));
        for one in alike(told, run) {
            let titles = one.same.join("; ");
            let kind = one.kind.words();
            out += &format!("\n- **{titles}**{whose} ({kind}): {}", one.text);
            if !one.likewise.is_empty() {
                let titles = one.likewise.join("; ");
                out += &format!(" Likewise, with the figures above: **{titles}**.");
            }
        }
    }
    out + "\n"
}

/// Whether there is more to say of a verdict than its kind: not that methods agree or may agree, nor
/// that there is no figure.
fn is_told(judged: &JudgedQuantity) -> bool {
    match judged.verdict.kind {
        VerdictKind::Differs | VerdictKind::NotWhatItSays => true,
        VerdictKind::NotCompared => judged.compared().is_some(),
        VerdictKind::Agrees | VerdictKind::CannotTell => false,
    }
}

/// A figure of one of several machines, and its verdict in a few words.
fn in_short(judged: &JudgedQuantity) -> String {
    let figure = super::here_lines(judged).join("<br>");
    format!("{figure}<br>{}", super::short(judged))
}

fn in_cycles(judged: &JudgedQuantity, figure: &View) -> String {
    match super::cycles_beside(judged, figure) {
        empty if empty.is_empty() => empty,
        cycles => format!("<br>{cycles}"),
    }
}

/// What the published procedure printed here: the figure that is compared.
fn of_procedure(judged: &JudgedQuantity) -> String {
    let all = judged.as_published.as_ref();
    let Some(figure) = judged.compared() else {
        let reason = all.and_then(|seen| seen.reason());
        return reason.map_or_else(String::new, |reason| format!("none: {reason}"));
    };
    let all = all.and_then(|seen| seen.figure());
    let of = all.filter(|all| all.from != figure.from);
    let of = of.map_or_else(String::new, |all| format!(" of {}", all.from));
    let value = figure.shown(judged.scale);
    let range = range(judged, figure).map_or_else(String::new, |range| format!("{range}; "));
    let cycles = in_cycles(judged, figure);
    format!("{value}{cycles}<br>{range}{}{of}", figure.from)
}

/// By its longer side, unless it is wide.
fn interval(judged: &JudgedQuantity, figure: &View) -> Option<String> {
    let (low, high) = figure.low.zip(figure.high)?;
    let half = (high - figure.value).max(figure.value - low) / figure.value;
    match low > 0.0 && high <= 2.0 * low {
        true => Some(format!("±{}", sentence::share(100.0 * half))),
        false => range(judged, figure),
    }
}

fn range(judged: &JudgedQuantity, figure: &View) -> Option<String> {
    let (low, high) = figure
        .low
        .zip(figure.high)
        .filter(|(low, high)| low < high)?;
    let [low, high] = [low, high].map(|end| figure.end(end, judged.scale));
    Some(format!("{low} to {high}"))
}

/// syscost's figure, its row and what is to be known of it.
fn of_method(one: &QuantityBy<'_>, run: &Run) -> String {
    let (_, judged) = one.by[0];
    let Some(figure) = judged.by_method() else {
        let reason = judged.ours.as_ref().and_then(|seen| seen.reason());
        return reason.map_or_else(String::new, |reason| format!("none: {reason}"));
    };
    let value = figure.shown(judged.scale);
    let interval = interval(judged, figure).map(|interval| format!("<br>{interval}"));
    let interval = interval.unwrap_or_default();
    let mark = match Mark::of(&judged.ours_evidence) {
        Mark::Confirmed => "",
        Mark::Unverified => "<br>a claim of it is not confirmed",
        Mark::Refuted => "<br>a claim of it is refuted",
    };
    let row = method(one, run).map(|row| {
        let flags = row.flags.iter().map(|flag| format!(" *{flag}*"));
        let flags: String = flags.collect();
        format!("<br>{}`{}`{flags}", row.factor, row.name)
    });
    let row = row.unwrap_or_default();
    format!("{value}{}{interval}{mark}{row}", in_cycles(judged, figure))
}

fn ratios(repeated: &Repeated) -> String {
    let rows = ratio_rows(&repeated.study, &repeated.by);
    if rows.is_empty() {
        return String::new();
    }
    let mut out = "\n#### Ratios\n\n| | By the figures of | |\n|---|---|---|\n".to_owned();
    for row in rows {
        let cells = [row.title, &row.cells().join("<br>"), &row.words].map(cell);
        out += &format!("| {} |\n", cells.join(" | "));
    }
    out
}
