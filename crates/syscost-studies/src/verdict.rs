//! The verdict on one quantity: at most three sentences, made from what was counted.

use serde::Serialize;

use super::comparison::{Relation, given, with_method, with_published};
use super::disturbed::Disturbed;
use super::figure::JudgedFigure;
use super::scale::{Scale, number, share as percent};
use super::view::{Seen, View};
use syscost_results::row_name::{parameters, size};
use syscost_results::study::{Acts, NameClaim, Quantity, Reason};
use syscost_results::{ClaimId, Fact, Measurement, Unit};

/// The kind of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// A count contradicts the claim of the quantity's name.
    NotWhatItSays,
    /// The published procedure and syscost's method agree.
    Agrees,
    /// They may agree, and may not.
    CannotTell,
    /// They differ.
    Differs,
    /// There are no two figures to compare.
    NotCompared,
}

impl VerdictKind {
    /// In words; empty where there is nothing to say.
    pub fn words(self) -> &'static str {
        match self {
            VerdictKind::NotWhatItSays => "not what it says",
            VerdictKind::Agrees => "methods agree",
            VerdictKind::CannotTell => "methods cannot be told apart",
            VerdictKind::Differs => "methods differ",
            VerdictKind::NotCompared => "methods not compared",
        }
    }
}

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sentence {
    /// The kind of the verdict.
    pub kind: VerdictKind,
    /// At most three sentences: what was measured, how that relates to the published figures, and to
    /// syscost's row, and why.
    pub text: String,
}

/// What a quantity is judged by.
pub(crate) struct Facts<'r> {
    /// The row of the published procedure, or why it has no number.
    pub(crate) as_published: Option<Result<&'r Measurement, String>>,
    /// The row of syscost's method.
    pub(crate) ours: Option<Result<&'r Measurement, String>>,
    /// The published procedure's figure that is compared: of undisturbed results, if there are enough.
    pub(crate) compared: Option<&'r View>,
    /// What disturbed the others, if it is not.
    pub(crate) disturbed: Option<Disturbed>,
    /// syscost's figure, or why there is none.
    pub(crate) seen: Option<&'r Seen>,
    pub(crate) published: &'r [JudgedFigure],
    /// The scale of the quantity's figures, and of those in cycles.
    pub(crate) scale: Scale,
    pub(crate) cycles: Scale,
}

impl<'r> Facts<'r> {
    /// The row, if it is named and has a number.
    pub(crate) fn found(row: &Option<Result<&'r Measurement, String>>) -> Option<&'r Measurement> {
        row.as_ref()?.as_ref().ok().copied()
    }

    /// The row that a quantity's claims are about: that of the published procedure, or of syscost's
    /// method if the procedure is not repeated.
    fn claimed(&self) -> Option<&'r Measurement> {
        match &self.as_published {
            Some(_) => Self::found(&self.as_published),
            None => Self::found(&self.ours),
        }
    }
}

/// What was counted for a row: a claim's observation, or a detail.
fn counted(row: &Measurement, name: &str) -> Option<Fact> {
    let id = ClaimId::of(name);
    let evidence = row.evidence.iter().find(|one| one.claim.id == id);
    let observed = evidence.and_then(|one| one.observed.clone());
    observed.or_else(|| row.details.get(name).map(|value| Fact::Number(*value)))
}

/// The name of something that was not counted, with the reason if there is one.
fn uncounted(row: &Measurement, name: &str) -> String {
    let id = ClaimId::of(name);
    let evidence = row.evidence.iter().find(|one| one.claim.id == id);
    match evidence.and_then(|one| one.reason.as_deref()) {
        Some(reason) => format!("{name} ({reason})"),
        None => name.to_owned(),
    }
}

fn count_of(row: &Measurement, name: &str) -> Option<f64> {
    match counted(row, name)? {
        Fact::Number(value) => Some(value),
        Fact::Text(_) => None,
    }
}

/// Below this number a count is as good as none.
const FEW: f64 = 0.01;

/// The end of the name of a share.
const SHARE: &str = "_percent";

/// All of something, in percent.
const ALL: f64 = 100.0;

/// A sentence with `{}` replaced by the count of this name, and `{other}` by another one; a time
/// followed by its unit gets one that suits it.
fn filled(sentence: &str, name: &str, row: &Measurement) -> String {
    const IN_NS: &str = " ns";
    let mut filled = String::new();
    let mut rest = sentence;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((other, behind)) = behind.split_once('}') else {
            break;
        };
        filled += before;
        rest = behind;
        let name = if other.is_empty() { name } else { other };
        filled += &match counted(row, name) {
            None => "(not counted)".to_owned(),
            Some(Fact::Text(text)) => text,
            Some(Fact::Number(ns)) if name.ends_with("_ns") && rest.starts_with(IN_NS) => {
                rest = &rest[IN_NS.len()..];
                Scale::reached(Unit::Nanoseconds, ns).show(ns)
            }
            // What is more than all is no part of it.
            Some(Fact::Number(share)) if name.ends_with(SHARE) => match share > ALL {
                true => format!("more than {ALL}"),
                false => percent(share),
            },
            Some(Fact::Number(few)) if few != 0.0 && few.abs() < FEW => "almost no".to_owned(),
            Some(Fact::Number(count)) => number(count),
        };
    }
    filled + rest
}

fn is_within(count: f64, min: Option<f64>, max: Option<f64>) -> bool {
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}

/// What the counts say about the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claimed {
    Holds,
    Broken,
    NotCounted,
}

/// What was really measured: of the first claim that is broken, which is told as well, else of the
/// first that was not counted, else of the first.
fn of_claims<'q>(
    claims: &'q [NameClaim],
    row: &Measurement,
) -> (Claimed, Option<&'q NameClaim>, Option<String>) {
    let judged = claims.iter().map(|claim| {
        let held = match count_of(row, &claim.counted) {
            None => Claimed::NotCounted,
            Some(count) if is_within(count, claim.at_least, claim.at_most) => Claimed::Holds,
            Some(_) => Claimed::Broken,
        };
        (held, claim)
    });
    let judged: Vec<(Claimed, &NameClaim)> = judged.collect();
    let first = |wanted| {
        let mut judged = judged.iter();
        judged
            .find(|(held, _)| *held == wanted)
            .map(|(_, claim)| *claim)
    };
    if let Some(claim) = first(Claimed::Broken) {
        let text = filled(&claim.broken, &claim.counted, row);
        return (Claimed::Broken, Some(claim), Some(text));
    }
    if let Some(claim) = first(Claimed::NotCounted) {
        let text = format!("Not counted here: {}.", uncounted(row, &claim.counted));
        return (Claimed::NotCounted, None, Some(text));
    }
    let holds = claims
        .iter()
        .find_map(|claim| Some(filled(claim.holds.as_ref()?, &claim.counted, row)));
    (Claimed::Holds, None, holds)
}

/// Whether a reason that acts by this much explains a difference: it is at least half of it, and at
/// most twice as much.
fn explains(amount: f64, difference: f64) -> bool {
    (difference / 2.0..=2.0 * difference).contains(&amount)
}

/// Whether a reason explains why the published procedure gives this, and that much more than syscost's
/// method.
fn is_shown(reason: &Reason, row: &Measurement, here: f64, more: f64) -> bool {
    let acts = if more > 0.0 { Acts::More } else { Acts::Less };
    let difference = more.abs();
    if reason.acts != acts {
        return false;
    }
    if let Some(words) = &reason.says {
        return match counted(row, &reason.counted) {
            Some(Fact::Text(text)) => text.contains(words.as_str()),
            Some(Fact::Number(_)) | None => false,
        };
    }
    let Some(count) = count_of(row, &reason.counted) else {
        return false;
    };
    let amount = match reason.counted.ends_with(SHARE) {
        true => count / ALL * here,
        false => count,
    };
    let is_amount = reason.at_least.is_none() && reason.at_most.is_none();
    match (is_amount, reason.up_to) {
        (true, _) => explains(amount, difference),
        (false, true) => is_within(count, reason.at_least, reason.at_most) && amount >= difference,
        (false, false) => is_within(count, reason.at_least, reason.at_most),
    }
}

/// The detail with what nine of ten single operations took at most.
const NINE_OF_TEN: &str = "single_p90_ns";

/// That a few long operations make a mean what it is, if they do: it is above what nine of ten took,
/// by enough to explain the difference.
fn tail(row: &Measurement, here: f64, more: f64) -> Option<String> {
    let most = count_of(row, NINE_OF_TEN)?;
    let is_tail = more > 0.0 && explains(here - most, more);
    is_tail.then(|| {
        let most = Scale::reached(Unit::Nanoseconds, most).show(most);
        format!("nine of ten took at most {most}, so the mean is that of a few long ones")
    })
}

/// The first reason that explains it: one of the study, or one that the row's own facts tell.
fn why(reasons: &[Reason], row: Option<&Measurement>, here: f64, more: f64) -> Option<String> {
    let row = row?;
    let shown = reasons
        .iter()
        .find(|reason| is_shown(reason, row, here, more));
    let shown = shown.map(|reason| filled(&reason.text, &reason.counted, row));
    shown.or_else(|| tail(row, here, more))
}

/// Syscost's row, with the amounts in which it differs from that of the published procedure: the nearest size
/// that there is, for example.
fn method(quantity: &Quantity) -> String {
    let rows = quantity.ours.as_ref().zip(quantity.as_published.as_ref());
    let unlike: Vec<String> = rows.map_or_else(Vec::new, |(ours, published)| {
        let other = |key| {
            let mut all = parameters(published);
            Some(all.find(|(other, _)| *other == key)?.1)
        };
        let both = parameters(ours).filter_map(|(key, value)| Some((key, value, other(key)?)));
        both.filter(|(_, one, two)| size(one).zip(size(two)).is_some_and(|(a, b)| a != b))
            .map(|(key, value, other)| format!("with {key}={value} instead of {other}"))
            .collect()
    });
    match &unlike[..] {
        [] => "syscost's row".to_owned(),
        unlike => format!("syscost's row {}", unlike.join(", ")),
    }
}

pub(crate) fn verdict(quantity: &Quantity, facts: &Facts<'_>) -> Sentence {
    let row = facts.claimed();
    let method = method(quantity);
    let ours = facts.seen.and_then(Seen::figure);
    let mut sentences: Vec<String> = Vec::new();
    let (claimed, broken, measured) = match row {
        Some(row) => of_claims(&quantity.claims, row),
        None => (Claimed::Holds, None, None),
    };
    sentences.extend(measured);
    let of = (quantity.unit, facts.scale, facts.cycles);
    let beside = match (facts.compared, &facts.as_published, ours) {
        (Some(here), ..) => with_published("The same procedure gives", here, facts.published, of),
        (None, Some(Err(reason)), _) => {
            Some(format!("No figure of the published procedure: {reason}."))
        }
        (None, None, Some(ours)) => {
            with_published("syscost's row gives", ours, facts.published, of)
        }
        (None, _, _) => None,
    };
    let is_beside = beside.is_some();
    sentences.extend(beside);
    let mut kind = VerdictKind::NotCompared;
    match (facts.compared, facts.seen) {
        (Some(here), Some(Seen::Figure(ours))) => {
            let (relation, text) = with_method(here, (&method, ours), facts.scale);
            let named = match quantity.ours_is_named {
                true => " for what the name says",
                false => "",
            };
            kind = match relation {
                Relation::Agrees(_) => VerdictKind::Agrees,
                Relation::CannotTell(_) => VerdictKind::CannotTell,
                Relation::Differs(_) => VerdictKind::Differs,
                Relation::NoRatio | Relation::TooFew => VerdictKind::NotCompared,
            };
            let text = match relation {
                // Figures of two different things agree only by chance.
                Relation::Agrees(_) | Relation::CannotTell(_) if broken.is_some() => {
                    given(&method, ours, facts.scale) + named
                }
                // The sentence before has said that there is no ratio.
                Relation::NoRatio if is_beside && here.may_be_nothing() => {
                    given(&method, ours, facts.scale)
                }
                Relation::Differs(_) => {
                    let more = here.value - ours.value;
                    let reasons = quantity.reasons.iter();
                    // A broken claim has said what it is instead.
                    let is_new = |reason: &&Reason| {
                        broken.is_none_or(|claim| claim.counted != reason.counted)
                    };
                    let reasons: Vec<Reason> = reasons.filter(is_new).cloned().collect();
                    let reason = why(&reasons, row, here.value, more);
                    match (reason, &facts.disturbed) {
                        (_, Some(disturbed)) if disturbed.is_every_result() => {
                            format!("{text}, but {disturbed}")
                        }
                        (Some(reason), _) => format!("{text}: {}", reason.trim_end_matches('.')),
                        (None, _) if broken.is_some() => text,
                        (None, Some(disturbed)) => {
                            format!("{text}; why is not known, and {disturbed}")
                        }
                        (None, None) => format!("{text}; why is not known"),
                    }
                }
                Relation::Agrees(_)
                | Relation::CannotTell(_)
                | Relation::NoRatio
                | Relation::TooFew => text,
            };
            sentences.push(begun(&text));
        }
        (_, Some(Seen::Missing { reason })) => {
            sentences.push(format!("No figure of syscost's row: {reason}."));
        }
        (Some(_), None) => {}
        (None, _) if facts.published.is_empty() && facts.as_published.is_none() => {
            sentences.push("No figure is published.".to_owned());
        }
        (None, _) if facts.as_published.is_none() => {
            sentences.push("The published procedure is not repeated here.".to_owned());
        }
        (None, _) => {}
    }
    kind = match claimed {
        Claimed::Broken => VerdictKind::NotWhatItSays,
        // It is not known what it is that agrees.
        Claimed::NotCounted if kind == VerdictKind::Agrees => VerdictKind::NotCompared,
        Claimed::NotCounted | Claimed::Holds => kind,
    };
    Sentence {
        kind,
        text: sentences.join(" "),
    }
}

/// The text as a sentence; the name of syscost begins one in small letters.
fn begun(text: &str) -> String {
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}."),
        None => format!("{text}."),
    }
}

#[cfg(test)]
mod tests;
