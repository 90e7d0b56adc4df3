//! The verdict on one quantity, in sentences made from what was counted.

use serde::Serialize;

use super::comparison::{comparison, not_compared};
use super::view::Seen;
use super::{Claim, Quantity};
use crate::{Fact, Measurement};

/// The kind of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A count contradicts the claim of the quantity's name.
    NotWhatItSays,
    /// Both figures agree.
    Agrees,
    /// The figures differ.
    Differs,
    /// There are no two figures to compare.
    NotCompared,
}

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sentence {
    /// The kind of the verdict.
    pub kind: Kind,
    /// Whole sentences, the most important first.
    pub text: String,
}

/// The rows of one quantity, or why they have no number.
pub(super) struct Rows<'r> {
    pub(super) as_published: Option<Result<&'r Measurement, String>>,
    pub(super) ours: Option<Result<&'r Measurement, String>>,
}

impl<'r> Rows<'r> {
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
fn counted(row: &Measurement, name: &str) -> Option<String> {
    let evidence = row.evidence.iter().find(|one| one.claim == name);
    let observed = evidence.and_then(|one| one.observed.clone());
    let detail = || row.details.get(name).map(|value| Fact::Number(*value));
    Some(match observed.or_else(detail)? {
        Fact::Number(value) => number(value),
        Fact::Text(text) => text,
    })
}

fn count_of(row: &Measurement, name: &str) -> Option<f64> {
    let evidence = row.evidence.iter().find(|one| one.claim == name);
    match evidence.and_then(|one| one.observed.as_ref()) {
        Some(Fact::Number(value)) => Some(*value),
        Some(Fact::Text(_)) => None,
        None => row.details.get(name).copied(),
    }
}

/// A number with three significant digits, or with all digits before the point.
pub(super) fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = 2 - (value.abs().max(1e-9).log10().floor() as i32).min(2);
    format!("{value:.*}", digits.max(0) as usize)
}

/// Placeholder for a count that a sentence needs but that is missing.
const NOT_COUNTED: &str = "(not counted)";

/// A sentence with `{}` replaced by a count, and `{name}` by the row's count of that name; and
/// whether all of them are known.
fn filled(sentence: &str, count: &str, row: Option<&Measurement>) -> (String, bool) {
    let (mut filled, mut knows_all) = (String::new(), true);
    let mut rest = sentence;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, behind)) = behind.split_once('}') else {
            break;
        };
        filled += before;
        match name {
            "" => filled += count,
            name => {
                let known = row.and_then(|row| counted(row, name));
                knows_all &= known.is_some();
                filled += known.as_deref().unwrap_or(NOT_COUNTED);
            }
        }
        rest = behind;
    }
    (filled + rest, knows_all)
}

/// Whether any claim is broken, whether all were counted, and the claims' sentences, the broken
/// ones first.
fn of_claims(claims: &[Claim], row: &Measurement) -> (bool, bool, Vec<String>) {
    let (mut broken, mut held) = (Vec::new(), Vec::new());
    let mut are_counted = true;
    for claim in claims {
        let shown = counted(row, &claim.counted);
        let Some((count, shown)) = count_of(row, &claim.counted).zip(shown) else {
            held.push(format!("Not counted here: {}.", claim.counted));
            are_counted = false;
            continue;
        };
        let holds = claim.at_least.is_none_or(|min| count >= min)
            && claim.at_most.is_none_or(|max| count <= max);
        match (holds, &claim.holds) {
            (false, _) => broken.push(filled(&claim.broken, &shown, Some(row)).0),
            (true, Some(sentence)) => held.push(filled(sentence, &shown, Some(row)).0),
            (true, None) => {}
        }
    }
    let is_broken = !broken.is_empty();
    broken.extend(held);
    (is_broken, are_counted, broken)
}

/// The text as a separate sentence, beginning with a capital.
fn begun(text: String) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text,
    }
}

/// The verdict on a quantity, from its rows and the figures seen in them.
pub(super) fn verdict(
    quantity: &Quantity,
    rows: &Rows<'_>,
    published: Option<&Seen>,
    ours: Option<&Seen>,
) -> Sentence {
    let row = rows.claimed();
    let (is_broken, are_counted, mut sentences) = match row {
        Some(row) => of_claims(&quantity.claims, row),
        None => (false, true, Vec::new()),
    };
    let why = || {
        let why = quantity.why.as_deref()?;
        let (why, knows_all) = filled(why, "", row);
        // An explanation that contains counts says nothing without them.
        knows_all.then_some(why)
    };
    let mut kind = Kind::NotCompared;
    match (published, ours) {
        (Some(Seen::Figure(published)), Some(Seen::Figure(ours))) if ours.value > 0.0 => {
            let (agree, text) = comparison(published, ours, quantity.unit);
            kind = if agree { Kind::Agrees } else { Kind::Differs };
            match why().filter(|_| !agree) {
                Some(why) => sentences.push(format!("{text}: {why}")),
                // Figures of two different things agree only by chance.
                None if agree && is_broken => {}
                None if agree && !are_counted => {
                    let unknown = "Both figures agree, but whether they are of what the name says is not known.";
                    sentences.push(unknown.to_owned());
                }
                None => sentences.push(format!("{text}.")),
            }
        }
        // There are no multiples of zero, and the study's explanation is for a difference.
        (Some(Seen::Figure(_)), Some(Seen::Figure(_))) => {
            sentences.extend(not_compared(published, ours, quantity.unit));
        }
        (Some(Seen::Missing { .. }) | None, _) | (_, Some(Seen::Missing { .. }) | None) => {
            sentences.extend(not_compared(published, ours, quantity.unit));
            sentences.extend(why().map(begun));
        }
    }
    if is_broken {
        kind = Kind::NotWhatItSays;
    } else if !are_counted && kind == Kind::Agrees {
        // It is not known what it is that agrees.
        kind = Kind::NotCompared;
    }
    Sentence {
        kind,
        text: sentences.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::view;
    use super::*;
    use crate::{Evidence, Unit, Verdict};

    fn row() -> Measurement {
        let mut row = crate::fixture::row("study.x", vec![vec![5.0]; 6]);
        row.evidence = vec![Evidence {
            claim: "getpid system calls per operation".into(),
            expected: Fact::Number(0.0),
            observed: Some(Fact::Number(0.0)),
            source: "seccomp audit".into(),
            verdict: Verdict::Confirmed,
            reason: None,
        }];
        row.details.insert("tries".into(), 10_000.0);
        row
    }

    fn claim(at_least: f64) -> Claim {
        Claim {
            counted: "getpid system calls per operation".into(),
            at_least: Some(at_least),
            at_most: None,
            holds: Some("It enters the kernel.".into()),
            broken: "No system call happened: {} of {tries} entered the kernel.".into(),
        }
    }

    #[test]
    fn a_claim_is_judged_by_what_was_counted() {
        let (is_broken, _, sentences) = of_claims(&[claim(1.0)], &row());
        assert!(is_broken);
        assert_eq!(
            sentences,
            ["No system call happened: 0 of 10000 entered the kernel."]
        );
        let (is_broken, _, sentences) = of_claims(&[claim(0.0)], &row());
        assert!(!is_broken);
        assert_eq!(sentences, ["It enters the kernel."]);
    }

    #[test]
    fn an_uncounted_claim_breaks_nothing_and_is_reported() {
        let mut row = row();
        row.evidence.clear();
        let (is_broken, _, sentences) = of_claims(&[claim(1.0)], &row);
        assert!(!is_broken);
        assert!(sentences[0].starts_with("Not counted here"));
    }

    #[test]
    fn a_reason_made_of_counts_is_not_given_without_them() {
        let (text, knows_all) = filled("of {tries} {nothing}", "", Some(&row()));
        assert_eq!(
            (text.as_str(), knows_all),
            ("of 10000 (not counted)", false)
        );
        assert!(filled("of {tries}", "", Some(&row())).1);
    }

    #[test]
    fn a_reason_that_follows_nothing_begins_a_sentence() {
        assert_eq!(
            begun("the kernel answers.".to_owned()),
            "The kernel answers."
        );
        assert_eq!(begun(String::new()), "");
    }

    #[test]
    fn a_figure_that_is_no_cost_is_compared_with_nothing_and_the_studys_reason_is_not_its() {
        let quantity = Quantity {
            id: "getpid".to_owned(),
            title: "getpid".to_owned(),
            table: String::new(),
            unit: Unit::Nanoseconds,
            procedure: String::new(),
            as_published: None,
            ours: None,
            ours_scale: None,
            published: Vec::new(),
            claims: Vec::new(),
            why: Some("the loop is counted, too.".to_owned()),
        };
        let of = |value: f64| {
            let seen = Some(Seen::Figure(view(value, 0.1)));
            let published = Some(Seen::Figure(view(10.0, 0.1)));
            let rows = Rows {
                as_published: None,
                ours: None,
            };
            verdict(&quantity, &rows, published.as_ref(), seen.as_ref())
        };
        let text = "syscost's figure is -1 ns, so there is no ratio.";
        assert_eq!(of(-1.0).text, text);
        assert_eq!(of(-1.0).kind, Kind::NotCompared);
        assert!(of(5.0).text.ends_with("figure: the loop is counted, too."));
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 2.71428, 27.1428, 271.428, 2714.28, 0.00271].map(number);
        assert_eq!(shown, ["0", "2.71", "27.1", "271", "2714", "0.00271"]);
    }
}
