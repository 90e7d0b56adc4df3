//! A quantity in one line: published, here, their ratio, the kind of the verdict; and what verdicts
//! have in common, so that it is said once.

use syscost_studies::{JudgedFigure, JudgedQuantity, Seen, VerdictKind};

use super::repeated::QuantityBy;
use super::words::{ratio, shown};

/// A quantity in the table at the top of a report.
pub(crate) struct Brief<'s> {
    pub(crate) id: &'s str,
    pub(crate) title: &'s str,
    /// The published figure, or the least and the largest; empty if there is none.
    pub(crate) published: String,
    /// By each run.
    pub(crate) by: Vec<Here>,
}

/// What a run says of a quantity.
pub(crate) struct Here {
    pub(crate) figure: String,
    /// By the published figure, or by each of several machines': the least and the largest; empty
    /// where there is none.
    pub(crate) ratio: String,
    pub(crate) kind: VerdictKind,
}

/// The quantities that have a figure, published or here, in a line each.
pub(crate) fn briefs<'s>(quantities: &[QuantityBy<'s>]) -> Vec<Brief<'s>> {
    let shown = quantities.iter().filter(|one| without(one).is_none());
    shown.map(brief).collect()
}

/// Why a quantity has no figure here, if none is published either.
pub(crate) fn without(one: &QuantityBy<'_>) -> Option<String> {
    let (_, first) = one.by.first()?;
    let has_figure = |(_, judged): &(&str, &JudgedQuantity)| shown(judged).0.is_some();
    if !one.published.is_empty() || one.by.iter().any(has_figure) {
        return None;
    }
    let seen = [&first.as_published, &first.ours].into_iter().flatten();
    let reason = seen.filter_map(Seen::reason).next();
    Some(
        reason
            .unwrap_or("neither published nor repeated")
            .to_owned(),
    )
}

fn brief<'s>(one: &QuantityBy<'s>) -> Brief<'s> {
    let (_, first) = one.by[0];
    let by = one.by.iter().map(|(_, judged)| here(judged));
    Brief {
        id: &one.quantity.id,
        title: &one.quantity.title,
        published: published(one, first),
        by: by.collect(),
    }
}

/// The only one, or the least and the largest of several.
fn ends<T: Clone>(mut all: Vec<(f64, T)>) -> Vec<T> {
    all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    match &all[..] {
        [] => Vec::new(),
        [first, .., last] if first.0 < last.0 => vec![first.1.clone(), last.1.clone()],
        [first, ..] => vec![first.1.clone()],
    }
}

fn published(one: &QuantityBy<'_>, judged: &JudgedQuantity) -> String {
    let unit = one.quantity.unit;
    let text = |figure: &JudgedFigure| match super::value(unit, figure, Some(judged.scale)) {
        empty if empty.is_empty() => super::cycles(figure),
        value => value,
    };
    let all = || judged.published.iter();
    let numbers = all().filter_map(|figure| Some((figure.value?, text(figure))));
    let mut numbers: Vec<(f64, String)> = numbers.collect();
    if numbers.is_empty() {
        let cycles = all().filter_map(|figure| Some((figure.cycles?, text(figure))));
        numbers = cycles.collect();
    }
    match numbers.is_empty() {
        true => all().map(text).next().unwrap_or_default(),
        false => ends(numbers).join(" to "),
    }
}

fn here(judged: &JudgedQuantity) -> Here {
    let (view, whose) = shown(judged);
    let whose = whose.map_or_else(String::new, |whose| format!(" {whose}"));
    let figure = view.map_or_else(
        || "none".to_owned(),
        |view| view.shown(judged.scale) + &whose,
    );
    let ratio = view.filter(|view| !view.may_be_nothing()).map(|view| {
        let by = judged.published.iter().filter_map(|figure| {
            let by_value = figure.value.map(|value| view.value / value);
            let by_cycles = || Some(view.cycles? / figure.cycles?);
            by_value.or_else(by_cycles)
        });
        let all: Vec<(f64, String)> = by.map(|one| (one, ratio(one))).collect();
        ends(all).join(" to ")
    });
    Here {
        figure,
        ratio: ratio.unwrap_or_default(),
        kind: judged.verdict.kind,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{hand_made, run};
    use super::*;
    use crate::TableOptions;
    use crate::expect::has;
    use crate::study::{Repeated, text};

    #[test]
    fn a_quantity_with_neither_figure_is_named_with_the_reason_and_has_no_line() {
        let mut study = hand_made();
        let mut remote = study.quantities[0].clone();
        remote.published.clear();
        for (id, row) in [
            ("near", "net.x{path=remote}"),
            ("far", "net.y{path=remote}"),
        ] {
            remote.id = id.to_owned();
            remote.title = id.to_owned();
            remote.as_published = None;
            remote.ours = Some(row.to_owned());
            study.quantities.push(remote.clone());
        }
        let repeated = Repeated::new(&study, &[&run()]);
        let quantities = repeated.quantities();
        let ids: Vec<&str> = briefs(&quantities).iter().map(|line| line.id).collect();
        assert_eq!(ids, ["getpid", "law", "switch"]);
        let text = text(&repeated, &[&run()], &TableOptions::default());
        let words: Vec<&str> = text.split_whitespace().collect();
        has(
            &words.join(" "),
            &[
                "Neither published nor measured here",
                "--peer",
                "): near; far.",
            ],
        );
    }

    #[test]
    fn a_line_has_the_ratio_to_what_is_published() {
        let repeated = Repeated::new(&hand_made(), &[&run()]);
        let lines = briefs(&repeated.quantities());
        let texts = lines.iter().map(|line| {
            let here = &line.by[0];
            (
                line.published.as_str(),
                here.figure.as_str(),
                here.ratio.as_str(),
            )
        });
        let texts: Vec<_> = texts.collect();
        assert_eq!(texts[0].0, "25.00 ns");
        assert_eq!(texts[0].2, "0.124");
        assert_eq!(texts[1].0, "linear");
        assert_eq!(texts[1].2, "", "no ratio to words");
        assert!(texts[1].1.ends_with("by syscost"), "{texts:?}");
        assert_eq!(texts[2].1, "none");
    }
}
