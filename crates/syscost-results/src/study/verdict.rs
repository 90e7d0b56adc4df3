//! The verdict on one quantity: at most four sentences, made from what was counted.

use serde::Serialize;

use super::comparison::{Relation, given, may_be_nothing, with_method, with_published};
use super::figure::JudgedFigure;
use super::printed::{Scale, number};
use super::view::{Seen, View};
use super::{Acts, Claim, Quantity, Reason};
use crate::row_name::{parameters, size};
use crate::{Fact, Measurement, Unit};

/// The kind of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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

impl Kind {
    /// In words; empty where there is nothing to say.
    pub fn words(self) -> &'static str {
        match self {
            Kind::NotWhatItSays => "not what it says",
            Kind::Agrees => "methods agree",
            Kind::CannotTell => "methods cannot be told apart",
            Kind::Differs => "methods differ",
            Kind::NotCompared => "methods not compared",
        }
    }
}

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sentence {
    /// The kind of the verdict.
    pub kind: Kind,
    /// Whole sentences: whether neighbours had a part in it, what was measured, how that relates to
    /// the published figures, and to syscost's method, and why.
    pub text: String,
}

/// What a quantity is judged by.
pub(super) struct Facts<'r> {
    /// The row of the published procedure, or why it has no number.
    pub(super) as_published: Option<Result<&'r Measurement, String>>,
    /// The row of syscost's method.
    pub(super) ours: Option<Result<&'r Measurement, String>>,
    /// The published procedure's figure that is compared: of undisturbed results, if there are any.
    pub(super) compared: Option<&'r View>,
    /// Why there are no undisturbed results; `None` if there are.
    pub(super) disturbed: Option<Disturbed>,
    /// syscost's figure, or why there is none.
    pub(super) seen: Option<&'r Seen>,
    /// What was published.
    pub(super) published: &'r [JudgedFigure],
    /// The scale of the quantity's figures.
    pub(super) scale: Scale,
}

/// Why no result is known to be undisturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disturbed {
    /// Neighbours had a part in each.
    All,
    /// Where it ran, or what it measures, leaves that open.
    Unknown,
}

impl<'r> Facts<'r> {
    /// The row, if it is named and has a number.
    pub(super) fn found(row: &Option<Result<&'r Measurement, String>>) -> Option<&'r Measurement> {
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
    let evidence = row.evidence.iter().find(|one| one.claim == name);
    let observed = evidence.and_then(|one| one.observed.clone());
    observed.or_else(|| row.details.get(name).map(|value| Fact::Number(*value)))
}

fn count_of(row: &Measurement, name: &str) -> Option<f64> {
    match counted(row, name)? {
        Fact::Number(value) => Some(value),
        Fact::Text(_) => None,
    }
}

/// Below this a count is as good as none.
const FEW: f64 = 0.01;

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
            Some(Fact::Number(few)) if few != 0.0 && few.abs() < FEW => {
                format!("less than {FEW}")
            }
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

/// What was really measured: of the first claim that is broken, else of the first that was not
/// counted, else of the first.
fn of_claims(claims: &[Claim], row: &Measurement) -> (Claimed, Option<String>) {
    let judged = claims.iter().map(|claim| {
        let held = match count_of(row, &claim.counted) {
            None => Claimed::NotCounted,
            Some(count) if is_within(count, claim.at_least, claim.at_most) => Claimed::Holds,
            Some(_) => Claimed::Broken,
        };
        (held, claim)
    });
    let judged: Vec<(Claimed, &Claim)> = judged.collect();
    for wanted in [Claimed::Broken, Claimed::NotCounted] {
        if let Some((_, claim)) = judged.iter().find(|(held, _)| *held == wanted) {
            let text = match wanted {
                Claimed::Broken => filled(&claim.broken, &claim.counted, row),
                _ => format!("Not counted here: {}.", claim.counted),
            };
            return (wanted, Some(text));
        }
    }
    let holds = claims
        .iter()
        .find_map(|claim| Some(filled(claim.holds.as_ref()?, &claim.counted, row)));
    (Claimed::Holds, holds)
}

/// The reasons' first whose count shows it, for a procedure that gives this much more than syscost's
/// method.
fn why(reasons: &[Reason], row: Option<&Measurement>, more: f64) -> Option<String> {
    let row = row?;
    let acts = if more > 0.0 { Acts::More } else { Acts::Less };
    let shown = |reason: &&Reason| {
        let is_amount = reason.at_least.is_none() && reason.at_most.is_none();
        let count = count_of(row, &reason.counted);
        reason.acts == acts
            && count.is_some_and(|count| match is_amount {
                true => count >= more.abs() / 2.0,
                false => is_within(count, reason.at_least, reason.at_most),
            })
    };
    let reason = reasons.iter().find(shown)?;
    Some(filled(&reason.text, &reason.counted, row))
}

/// Syscost's method, with the amounts in which its row differs from that of the published procedure: the
/// nearest size that it has, for example.
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
        [] => "syscost's method".to_owned(),
        unlike => format!("syscost's method, {},", unlike.join(", ")),
    }
}

/// The verdict on a quantity.
pub(super) fn verdict(quantity: &Quantity, facts: &Facts<'_>) -> Sentence {
    let row = facts.claimed();
    let method = method(quantity);
    let ours = facts.seen.and_then(Seen::figure);
    let mut sentences: Vec<String> = Vec::new();
    sentences.extend(match (facts.compared, facts.disturbed) {
        (Some(_), Some(Disturbed::All)) => {
            Some("A neighbour disturbed every result, so a difference may be its doing.".to_owned())
        }
        (Some(_), Some(Disturbed::Unknown)) => {
            Some("Whether neighbours disturbed it is not known.".to_owned())
        }
        (Some(_), None) | (None, _) => None,
    });
    let (claimed, measured) = match row {
        Some(row) => of_claims(&quantity.claims, row),
        None => (Claimed::Holds, None),
    };
    sentences.extend(measured);
    let beside = match (facts.compared, &facts.as_published, ours) {
        (Some(here), ..) => {
            let of = (quantity.unit, facts.scale);
            with_published("The same procedure gives", here, facts.published, of)
        }
        (None, Some(Err(reason)), _) => {
            Some(format!("No figure of the published procedure: {reason}."))
        }
        (None, None, Some(ours)) => {
            let of = (quantity.unit, facts.scale);
            with_published("syscost's method gives", ours, facts.published, of)
        }
        (None, _, _) => None,
    };
    let is_beside = beside.is_some();
    sentences.extend(beside);
    let mut kind = Kind::NotCompared;
    match (facts.compared, facts.seen) {
        (Some(here), Some(Seen::Figure(ours))) => {
            let (relation, text) = with_method(here, (&method, ours), facts.scale);
            let more = here.value - ours.value;
            let reason = match facts.disturbed {
                Some(Disturbed::All) => None,
                Some(Disturbed::Unknown) | None => why(&quantity.reasons, row, more),
            };
            kind = match relation {
                Relation::Agrees(_) => Kind::Agrees,
                Relation::CannotTell => Kind::CannotTell,
                Relation::Differs(_) => Kind::Differs,
                Relation::NoRatio => Kind::NotCompared,
            };
            let text = match (relation, reason, facts.disturbed) {
                // Figures of two different things agree only by chance.
                (Relation::Agrees(_) | Relation::CannotTell, ..) if claimed == Claimed::Broken => {
                    format!(
                        "{} for what the name says",
                        given(&method, ours, facts.scale)
                    )
                }
                // The sentence before has said that there is no ratio.
                (Relation::NoRatio, ..) if is_beside && may_be_nothing(here) => {
                    given(&method, ours, facts.scale)
                }
                (Relation::Differs(_), Some(reason), _) => {
                    format!("{text}: {}", reason.trim_end_matches('.'))
                }
                (Relation::Differs(_), None, Some(Disturbed::All)) => text,
                (Relation::Differs(_), None, _) => format!("{text}; why is not known"),
                (Relation::Agrees(_) | Relation::CannotTell | Relation::NoRatio, ..) => text,
            };
            sentences.push(begun(&text));
        }
        (_, Some(Seen::Missing { reason })) => {
            sentences.push(format!("No figure of syscost's method: {reason}."));
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
        Claimed::Broken => Kind::NotWhatItSays,
        // It is not known what it is that agrees.
        Claimed::NotCounted if kind == Kind::Agrees => Kind::NotCompared,
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
