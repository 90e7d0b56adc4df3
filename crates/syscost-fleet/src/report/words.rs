//! The sentences of the report.

use syscost_report::sentence::{agreeing, count, listed};
use syscost_report::units::quantity;
use syscost_results::Unit;

use super::{ChangedFact, CohortLine, Report, Unlike, UntoldKind};
use crate::cohort::Drifted;
use crate::deviation::MIN_MACHINES;
use crate::facts;
use crate::judge::RATE;
use crate::reasons::Reason;

/// What stands above facts that not all machines of a kind share.
pub(super) const CONFIGURATION: &str =
    "Configuration that differs among machines of one kind, whatever it costs";
/// How many machines are named.
const MAX_NAMED: usize = 4;

/// `kernel: Linux 6.1 on node3, Linux 6.8 on 7 others`.
pub(super) fn configured(one: &Drifted) -> String {
    let value = |value: &Option<String>| match value {
        Some(text) => in_words_of(&one.fact, text),
        None => "none".to_owned(),
    };
    let mut parts: Vec<String> = Vec::new();
    for others in &one.others {
        let names = listed(&others.machines, MAX_NAMED);
        parts.push(format!("{} on {names}", value(&others.value)));
    }
    parts.push(format!("{} on {} others", value(&one.usual), one.machines));
    format!("{}: {}", facts::told(&one.fact), parts.join(", "))
}

/// A fact's value; a size in GiB.
fn in_words_of(fact: &str, value: &str) -> String {
    let bytes = value.parse().ok().filter(|_| fact.ends_with("_bytes"));
    bytes.map_or_else(|| value.to_owned(), |bytes| quantity(Unit::Bytes, bytes))
}

/// The first line.
pub(super) fn verdict(report: &Report) -> String {
    if report.judged == 0 {
        return nothing_judged(report);
    }
    let by = format!(
        "by {} of the fleet's {}",
        count(report.figures, "figure"),
        report.measured
    );
    let (judged, machines) = (report.judged, count(report.machines, "machine"));
    match report.outliers.len() {
        0 if report.cannot_tell() => {
            let why = commonest(report);
            format!("Cannot tell: only {judged} of {machines} could be judged, {by}; {why}.")
        }
        0 => {
            let who = match (report.unlike() == 0, judged == report.machines) {
                (false, true) => format!("In all that was measured, all {machines}"),
                (false, false) => format!("In all that was measured, {judged} of {machines}"),
                (true, true) => format!("All {machines}"),
                (true, false) => format!("{judged} of {machines}"),
            };
            let rest = match report.machines - judged {
                0 => "",
                _ => "; of the others nothing can be said",
            };
            format!("{who} are like the others of their kind, {by}{rest}.")
        }
        outliers => {
            let unlike =
                format!("# of {machines} [is|are] not like the others of [its|their] kind");
            let unlike = agreeing(outliers, &unlike);
            format!(
                "{unlike}, {judged} were judged, {by}; at most {:.0} % of such accusations are chance.",
                100.0 * RATE
            )
        }
    }
}

/// Why no machine was judged: by the commonest reason.
fn nothing_judged(report: &Report) -> String {
    if report.machines == 0 {
        return match report.left_out.len() {
            0 => "Nothing could be judged: there is no document.".to_owned(),
            documents => format!(
                "Nothing could be judged: {} left out, and no other.",
                count(documents, "document")
            ),
        };
    }
    let why = match report.machines < MIN_MACHINES {
        true => format!("it takes {MIN_MACHINES} of one kind to tell which is not like the others"),
        false => commonest(report).to_owned(),
    };
    format!(
        "Nothing could be judged of {}: {why}.",
        count(report.machines, "machine")
    )
}

/// Why machines were not judged: by the commonest reason.
fn commonest(report: &Report) -> &'static str {
    let reasons = [
        (UntoldKind::FewLikeIt, "too few are of one kind"),
        (UntoldKind::CoreNotOurs, "cores were shared with others"),
        (
            UntoldKind::NothingKnown,
            "too few have numbers beyond doubt of the same rows",
        ),
    ];
    let times = |kind| report.untold.iter().filter(|one| one.kind == kind).count();
    let commonest = reasons.iter().max_by_key(|(kind, _)| times(*kind));
    commonest.map_or("", |(_, why)| why)
}

/// What a machine's rows are, in number.
pub(super) fn summary(unlike: &Unlike) -> String {
    let worse = unlike.rows.iter().filter(|row| row.worse).count();
    let better = unlike.rows.len() - worse;
    let parts = [(worse, "worse"), (better, "better")];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts
        .map(|(number, word)| format!("{} {word}", count(*number, "row")))
        .collect();
    let groups = unlike
        .groups
        .iter()
        .map(|group| format!("{} {} of {}", group.group, group.rows, group.of));
    format!(
        "{} ({})",
        parts.join(", "),
        groups.collect::<Vec<_>>().join(", ")
    )
}

/// `+30 % [+28, +32]`.
pub(super) fn change(change: f64, low: f64, high: f64) -> String {
    let percent = |share: f64| match share.abs() {
        small if small < 0.1 => format!("{:+.1}", 100.0 * share),
        large if large < 100.0 => format!("{:+.0}", 100.0 * share),
        huge => format!("{:+.0e}", 100.0 * huge.copysign(share)),
    };
    format!(
        "{} % [{}, {}]",
        percent(change),
        percent(low),
        percent(high)
    )
}

pub(super) fn worse_or_better(is_worse: bool) -> &'static str {
    if is_worse { "worse" } else { "better" }
}

/// `kernel Linux 6.1: 3 of the 3 that differ so, 0 of 397 others`.
pub(super) fn reason(reason: &Reason) -> String {
    let value = reason.value.as_deref().unwrap_or("not recorded");
    let (such, others) = (reason.such, reason.others);
    let of_such = match such {
        1 => "this machine".to_owned(),
        _ => format!("{} of the {such} that differ so", reason.of_such),
    };
    format!(
        "{} {value}: {of_such}, {} of {others} others",
        reason.fact, reason.of_others
    )
}

/// What a cohort has in common, and how many of its machines are unlike the others.
pub(super) fn in_words(cohort: &CohortLine) -> String {
    let facts = cohort
        .facts
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
    let facts: Vec<String> = facts.collect();
    let facts = if facts.is_empty() {
        "all machines".to_owned()
    } else {
        facts.join(", ")
    };
    let told = match cohort.rows {
        0 => "no row that enough of them have".to_owned(),
        rows => format!(
            "{} in {}",
            count(cohort.outliers, "outlier"),
            count(rows, "row")
        ),
    };
    format!("{facts}: {}, {told}", count(cohort.machines, "machine"))
}

/// `kernel was Linux 6.1, is Linux 6.12`.
pub(super) fn fact_changed(fact: &ChangedFact) -> String {
    let [before, now] =
        [&fact.before, &fact.now].map(|value| value.as_deref().unwrap_or("not recorded"));
    format!("{} was {before}, is {now}", fact.fact)
}
