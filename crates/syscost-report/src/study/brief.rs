//! A quantity in one line: published, here, their ratio, the kind of the verdict; and what verdicts
//! have in common, so that it is said once.

use syscost_results::study::{JudgedFigure, JudgedQuantity, Seen, VerdictKind};

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

impl Here {
    /// In one cell, for one of several runs.
    pub(crate) fn in_short(&self) -> String {
        let ratio = match self.ratio.is_empty() {
            true => String::new(),
            false => format!(", {} times published", self.ratio),
        };
        format!("{}{ratio}, {}", self.figure, self.kind.words())
    }
}

/// Quantities in one line each; and those that have neither a published figure nor one here, by the
/// reason.
pub(crate) fn briefs<'s>(
    quantities: &[QuantityBy<'s>],
) -> (Vec<Brief<'s>>, Vec<(String, Vec<&'s str>)>) {
    let (mut briefs, mut missing): (_, Vec<(String, Vec<&str>)>) = (Vec::new(), Vec::new());
    for one in quantities {
        match without(one) {
            None => briefs.push(brief(one)),
            Some(reason) => match missing.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, titles)) => titles.push(&one.quantity.title),
                None => missing.push((reason, vec![&one.quantity.title])),
            },
        }
    }
    (briefs, missing)
}

/// Why a quantity has no figure here, if none is published either.
pub(crate) fn without(one: &QuantityBy<'_>) -> Option<String> {
    let (_, first) = one.by[0];
    let has_figure = |(_, judged): &(&str, &JudgedQuantity)| shown(judged).0.is_some();
    if !first.published.is_empty() || one.by.iter().any(has_figure) {
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

/// Verdicts that say the same.
pub(crate) struct Alike<'s> {
    pub(crate) kind: VerdictKind,
    pub(crate) text: &'s str,
    /// The quantities of which exactly this is said; the first is one of them.
    pub(crate) same: Vec<&'s str>,
    /// Those of which it is said with figures of their own.
    pub(crate) likewise: Vec<&'s str>,
}

/// The verdicts of a run, by its place, each said once.
pub(crate) fn alike<'q, 's: 'q>(
    quantities: impl Iterator<Item = &'q QuantityBy<'s>>,
    run: usize,
) -> Vec<Alike<'s>> {
    let mut all: Vec<Alike<'_>> = Vec::new();
    for one in quantities {
        let (_, judged) = one.by[run];
        let (kind, text) = (judged.verdict.kind, judged.verdict.text.as_str());
        let title = one.quantity.title.as_str();
        let like = |other: &&mut Alike<'_>| {
            other.kind == kind && without_figures(other.text) == without_figures(text)
        };
        match all.iter_mut().find(like) {
            Some(other) if other.text == text => other.same.push(title),
            Some(other) => other.likewise.push(title),
            None => all.push(Alike {
                kind,
                text,
                same: vec![title],
                likewise: Vec::new(),
            }),
        }
    }
    all
}

/// A text's words without its figures and their units.
fn without_figures(text: &str) -> Vec<&str> {
    const UNITS: [&str; 11] = [
        "ns", "µs", "ms", "s", "%", "KiB", "MiB", "GiB", "GB/s", "cycles", "ticks",
    ];
    let words = text.split_whitespace();
    let words = words.filter(|word| !word.contains(|char: char| char.is_ascii_digit()));
    let is_unit = |word: &&str| UNITS.contains(&word.trim_end_matches([',', '.', ';', ':']));
    words.filter(|word| !is_unit(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{hand_made, run};
    use super::*;
    use crate::study::Repeated;

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
        let (lines, missing) = briefs(&repeated.quantities());
        let ids: Vec<&str> = lines.iter().map(|line| line.id).collect();
        assert_eq!(ids, ["getpid", "law", "switch"]);
        let [(reason, titles)] = &missing[..] else {
            panic!("one reason: {missing:?}");
        };
        assert!(
            reason.contains("--peer") && titles[..] == ["near", "far"],
            "{missing:?}"
        );
    }

    #[test]
    fn a_line_has_the_ratio_to_what_is_published() {
        let repeated = Repeated::new(&hand_made(), &[&run()]);
        let (lines, _) = briefs(&repeated.quantities());
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

    #[test]
    fn verdicts_that_differ_in_their_figures_alone_are_said_once() {
        let mut study = hand_made();
        study.quantities.truncate(1);
        for id in ["second", "third"] {
            let mut other = study.quantities[0].clone();
            other.id = id.to_owned();
            other.title = id.to_owned();
            study.quantities.push(other);
        }
        let mut repeated = Repeated::new(&study, &[&run()]);
        let judged = &mut repeated.by[0].1.judged;
        for (one, text) in
            judged
                .iter_mut()
                .zip(["It is 2 ns less.", "It is 3.5 µs less.", "More."])
        {
            one.verdict.text = text.to_owned();
        }
        let quantities = repeated.quantities();
        let all = alike(quantities.iter(), 0);
        assert_eq!(all.len(), 2);
        assert_eq!(
            (&all[0].same[..], &all[0].likewise[..]),
            (&["getpid()"][..], &["second"][..])
        );
    }
}
