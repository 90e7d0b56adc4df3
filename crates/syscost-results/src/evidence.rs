//! What a benchmark claims, what was counted, and what follows.

use serde::{Deserialize, Serialize};

use crate::bound::{Bound, single_of};
use crate::details::{REPORTED_SIZE, agree};

/// Identifies a claim in all documents, whatever its sentence says: words in lower case, joined by
/// `_`. Unless its program gives another one, a claim is identified by the words of its own
/// sentence, e.g. `getppid_system_calls_per_operation`; so are claims of documents
/// older than ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "String")]
pub struct ClaimId(String);

impl ClaimId {
    /// The id that these words make; an id makes itself.
    pub fn of(words: &str) -> Self {
        let words = words.split(|letter: char| !letter.is_alphanumeric());
        let words: Vec<String> = words
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        Self(words.join("_"))
    }

    /// The id as a document has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ClaimId {
    fn from(text: String) -> Self {
        Self::of(&text)
    }
}

/// How many of the processes that judge a claim must refute it for its row to be withheld.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RefutedBy {
    /// One: only the operation itself can have broken it.
    One,
    /// Most: other programs can break it at times, as what is judged by times, or by counts per
    /// operation, in which a wait or a switch of others' making is counted as well. What is claimed
    /// wrongly is wrong in every process.
    #[default]
    Most,
}

/// A claim or a note: which one, how people read it, and what it takes to refute it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Which claim.
    pub id: ClaimId,
    /// The sentence, e.g. `getppid system calls per operation`.
    pub sentence: String,
    /// How many processes refute it.
    pub refuted_by: RefutedBy,
}

impl Claim {
    /// A claim whose sentence contains what differs between processes or machines; `id` are words
    /// that do not.
    pub fn new(id: &str, sentence: impl Into<String>) -> Self {
        Self {
            id: ClaimId::of(id),
            sentence: sentence.into(),
            refuted_by: RefutedBy::One,
        }
    }

    /// A claim identified by its own words that other programs can break at times: see
    /// [`RefutedBy::Most`].
    pub fn by_most(sentence: impl Into<String>) -> Self {
        Self {
            refuted_by: RefutedBy::Most,
            ..Self::from(sentence)
        }
    }
}

/// A claim that is identified by its own words, and refuted by one process.
impl<S: Into<String>> From<S> for Claim {
    fn from(sentence: S) -> Self {
        let sentence = sentence.into();
        Self::new(&sentence.clone(), sentence)
    }
}

/// A number or a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Fact {
    /// A number.
    Number(f64),
    /// A bound or a sentence, e.g. `at most 0.01`.
    Text(String),
}

impl Fact {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Fact::Number(number) => Some(*number),
            Fact::Text(_) => None,
        }
    }
}

impl From<f64> for Fact {
    fn from(value: f64) -> Self {
        Fact::Number(value)
    }
}

// Exact up to 2^53, which no count reaches.
impl From<u64> for Fact {
    fn from(count: u64) -> Self {
        Fact::Number(count as f64)
    }
}

impl From<usize> for Fact {
    fn from(count: usize) -> Self {
        Fact::Number(count as f64)
    }
}

impl From<u32> for Fact {
    fn from(number: u32) -> Self {
        Fact::Number(number.into())
    }
}

impl From<String> for Fact {
    fn from(value: String) -> Self {
        Fact::Text(value)
    }
}

impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Fact::Text(value.to_owned())
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // Six decimals distinguish 1 from 0.999; more are not worth reading.
            Fact::Number(value) if value.abs() < 1e15 => {
                write!(f, "{}", (value * 1e6).round() / 1e6)
            }
            Fact::Number(value) => write!(f, "{value:e}"),
            Fact::Text(text) => f.write_str(text),
        }
    }
}

/// What a benchmark claimed and what was counted, or a note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Written", into = "Written")]
pub struct Evidence {
    /// What is claimed, or noted.
    pub claim: Claim,
    /// What the claim expects to be counted; `None` for a note.
    pub expected: Option<Fact>,
    /// What was counted; `None` if nothing could be.
    pub observed: Option<Fact>,
    /// Who counted.
    pub source: String,
    /// What follows. A note is true, and proves nothing.
    pub verdict: Verdict,
    /// Why it could not be verified, or how it was refuted.
    pub reason: Option<String>,
}

impl Evidence {
    /// A claim judged by the bound that this must lie in.
    pub fn judged(
        claim: impl Into<Claim>,
        bound: Bound,
        observed: f64,
        source: impl Into<String>,
    ) -> Self {
        let verdict = bound.judge(observed);
        Self::new(claim, bound.fact(), observed, source, verdict)
    }

    /// A claim judged by the bound of a count per operation, given the count of all operations.
    pub fn counted(
        claim: impl Into<Claim>,
        bound: Bound,
        (count, operations): (u64, u64),
        source: impl Into<String>,
    ) -> Self {
        let (verdict, reason) = bound.judge_count(count, operations);
        let observed = count as f64 / operations as f64;
        Self {
            reason,
            ..Self::new(claim, bound.fact(), observed, source, verdict)
        }
    }

    /// A claim whose verdict no bound of a number gives.
    pub fn new(
        claim: impl Into<Claim>,
        expected: impl Into<Fact>,
        observed: impl Into<Fact>,
        source: impl Into<String>,
        verdict: Verdict,
    ) -> Self {
        Self {
            observed: Some(observed.into()),
            verdict,
            ..Self::unobserved(claim, expected, source)
        }
    }

    /// A claim of which nothing could be observed.
    pub fn unobserved(
        claim: impl Into<Claim>,
        expected: impl Into<Fact>,
        source: impl Into<String>,
    ) -> Self {
        Self {
            claim: claim.into(),
            expected: Some(expected.into()),
            observed: None,
            source: source.into(),
            verdict: Verdict::Unverified,
            reason: None,
        }
    }

    /// A note: something worth knowing, e.g. the kernel's name for it, of which nothing is expected.
    pub fn note(
        what: impl Into<Claim>,
        observed: impl Into<Fact>,
        source: impl Into<String>,
    ) -> Self {
        let what = Claim {
            // Nothing can, and documents need not say so.
            refuted_by: RefutedBy::default(),
            ..what.into()
        };
        Self {
            expected: None,
            ..Self::new(what, ANY, observed, source, Verdict::Confirmed)
        }
    }

    /// The same with this reason.
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..self
        }
    }

    /// The same or, where something else may be why, unverified with that reason.
    pub fn unless(self, doubt: Option<impl Into<String>>) -> Self {
        match doubt {
            None => self,
            Some(reason) => Self {
                verdict: Verdict::Unverified,
                ..self.because(reason)
            },
        }
    }

    /// The same, but where it is refuted and something else may have caused that, unverified with
    /// this reason.
    pub fn tolerated<R: Into<String>>(self, reason: impl FnOnce() -> Option<R>) -> Self {
        match self.verdict {
            Verdict::Refuted => self.unless(reason()),
            Verdict::Confirmed | Verdict::Unverified => self,
        }
    }

    /// Whether it is marked as confirmed though what was observed is not what was expected: judged
    /// again, by the same functions, from what documents contain. What is said in words is for
    /// people to judge.
    pub fn contradicts_itself(&self) -> bool {
        let (Verdict::Confirmed, Some(expected)) = (self.verdict, &self.expected) else {
            return false;
        };
        let judged = match (&self.observed, expected, Bound::read(expected)) {
            (None, ..) | (Some(Fact::Text(_)), Fact::Number(_), _) => return true,
            (Some(Fact::Number(_)), _, None) | (Some(Fact::Text(_)), Fact::Text(_), _) => {
                return false;
            }
            (Some(Fact::Number(observed)), Fact::Number(reported), _)
                if self.claim.id == ClaimId::of(REPORTED_SIZE) =>
            {
                Verdict::of(agree(*reported, *observed))
            }
            (Some(Fact::Number(observed)), _, Some(bound)) => {
                let as_single = |operations| bound.judge_count(1, operations);
                let single = single_of(*observed).map(as_single);
                match single.filter(|(_, reason)| self.reason.is_some() && *reason == self.reason) {
                    Some((verdict, _)) => verdict,
                    None => bound.judge(*observed),
                }
            }
        };
        judged != Verdict::Confirmed
    }

    /// Whether it is a note, which claims nothing.
    pub fn is_note(&self) -> bool {
        self.expected.is_none()
    }
}

/// `getppid calls per operation: expected 1, observed 0 (seccomp audit)`. Of a note nothing is
/// expected.
impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.claim.sentence)?;
        if let Some(expected) = &self.expected {
            write!(f, "expected {expected}, ")?;
        }
        match &self.observed {
            Some(observed) => write!(f, "observed {observed}")?,
            None => f.write_str("not observed")?,
        }
        write!(f, " ({})", self.source)?;
        let reason = self.reason.as_ref();
        reason.map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

/// What documents say is expected of a note. It used to be all that told notes from claims.
const ANY: &str = "any";

/// Evidence as documents contain it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Evidence"))]
struct Written {
    /// Which claim it is about, e.g. `getppid_system_calls_per_operation`, the same in all documents.
    /// Absent in documents of before it was kept; it is then made of the words of the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim_id: Option<ClaimId>,
    /// What is claimed, for people, e.g. `getppid system calls per operation`.
    claim: String,
    /// How many of a row's processes must refute it for the number to be withheld. Absent for most
    /// of them, and in older documents.
    #[serde(default, skip_serializing_if = "is_most")]
    refuted_by: RefutedBy,
    /// Absent for a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    /// What the claim expects to be counted; `any` for a note.
    expected: Fact,
    /// What was counted; null if nothing could be.
    observed: Option<Fact>,
    /// Who counted, e.g. `seccomp audit` or `getrusage`.
    source: String,
    /// What follows.
    verdict: Verdict,
    /// Why it could not be verified, or how it was refuted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn is_most(by: &RefutedBy) -> bool {
    *by == RefutedBy::Most
}

/// A kind of evidence that is no claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Something worth knowing, of which nothing is expected: it proves nothing.
    Note,
}

impl From<Written> for Evidence {
    fn from(written: Written) -> Self {
        let is_note = written.kind.is_some() || written.expected == Fact::from(ANY);
        // Older documents have an empty text where nothing was observed.
        let is_nothing = written.verdict == Verdict::Unverified
            && written.observed == Some(Fact::Text(String::new()));
        let id = written.claim_id;
        Self {
            claim: Claim {
                id: id.unwrap_or_else(|| ClaimId::of(&written.claim)),
                sentence: written.claim,
                refuted_by: written.refuted_by,
            },
            expected: (!is_note).then_some(written.expected),
            observed: written.observed.filter(|_| !is_nothing),
            source: written.source,
            verdict: written.verdict,
            reason: written.reason,
        }
    }
}

impl From<Evidence> for Written {
    fn from(evidence: Evidence) -> Self {
        Self {
            claim_id: Some(evidence.claim.id),
            claim: evidence.claim.sentence,
            refuted_by: evidence.claim.refuted_by,
            kind: evidence.expected.is_none().then_some(Kind::Note),
            expected: evidence.expected.unwrap_or_else(|| ANY.into()),
            observed: evidence.observed,
            source: evidence.source,
            verdict: evidence.verdict,
            reason: evidence.reason,
        }
    }
}

/// What a count says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// The count agrees with the claim.
    Confirmed,
    /// The counter could not be had here.
    Unverified,
    /// The count contradicts the claim; the number is withheld.
    Refuted,
}

impl Verdict {
    /// The verdict on a claim that holds or does not.
    pub fn of(holds: bool) -> Self {
        match holds {
            true => Verdict::Confirmed,
            false => Verdict::Refuted,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_made_of_words_and_makes_itself() {
        for (sentence, id) in [
            (
                "getppid system calls per operation",
                "getppid_system_calls_per_operation",
            ),
            (
                "O_DIRECT: share of reads, in %",
                "o_direct_share_of_reads_in",
            ),
            ("single_p90_ns", "single_p90_ns"),
        ] {
            assert_eq!(ClaimId::of(sentence).as_str(), id);
            assert_eq!(ClaimId::of(id).as_str(), id);
        }
    }

    #[test]
    fn evidence_of_older_documents_means_the_same() {
        let written = |expected: &str| {
            json!({
                "claim": "clock source", "expected": expected, "observed": "tsc", "source": "sysfs",
                "verdict": "Confirmed",
            })
        };
        let read = |value| serde_json::from_value::<Evidence>(value).expect("evidence");
        let note = Evidence::note("clock source", "tsc", "sysfs");
        assert_eq!(read(written("any")), note);
        let claim = Claim::by_most("clock source");
        let claim = Evidence::new(claim, "tsc", "tsc", "sysfs", Verdict::Confirmed);
        assert_eq!(read(written("tsc")), claim);
        assert!(note.is_note() && !claim.is_note());
        let nothing = json!({
            "claim": "switches", "expected": 0.0, "observed": "", "source": "/proc",
            "verdict": "Unverified", "reason": "not here",
        });
        let nothing = read(nothing);
        assert_eq!(nothing.observed, None);
        let said = "switches: expected 0, not observed (/proc): not here";
        assert_eq!(nothing.to_string(), said);
    }

    #[test]
    fn who_refutes_a_claim_is_sent_and_older_programs_say_most() {
        let sent = |claim: Claim| {
            let evidence = Evidence::judged(claim, Bound::Exactly(1.0), 2.0, "/proc");
            let value = serde_json::to_value(&evidence).expect("written");
            let read: Evidence = serde_json::from_value(value.clone()).expect("read");
            assert_eq!(read, evidence);
            value.get("refuted_by").cloned()
        };
        let words = "switches per operation";
        assert_eq!(sent(words.into()), Some(json!("one")));
        assert_eq!(sent(Claim::by_most(words)), None);
    }

    #[test]
    fn documents_tell_notes_from_claims_and_keep_ids() {
        let claim = Claim::new("memory in the requested pages", "bytes in pages of 4K");
        let evidence = Evidence::new(claim, 1.0, 1.0, "smaps", Verdict::Confirmed);
        let value = serde_json::to_value(&evidence).expect("written");
        assert_eq!(value["claim_id"], "memory_in_the_requested_pages");
        assert_eq!(value.get("kind"), None);
        assert_eq!(
            serde_json::from_value::<Evidence>(value).expect("read"),
            evidence
        );
        let note = Evidence::note("clock source", "tsc", "sysfs");
        let value = serde_json::to_value(&note).expect("written");
        assert_eq!(
            (&value["kind"], &value["expected"]),
            (&json!("note"), &json!("any"))
        );
        assert_eq!(
            serde_json::from_value::<Evidence>(value).expect("read"),
            note
        );
    }
}
