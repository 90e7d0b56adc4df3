//! What a benchmark claims, what was counted, and what follows.

use serde::{Deserialize, Serialize};

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

    /// Whether it is about a count per operation: the ids of these end so.
    pub fn is_per_operation(&self) -> bool {
        self.0.ends_with("_per_operation")
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

/// A claim or a note: which one, and how people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Which claim.
    pub id: ClaimId,
    /// The sentence, e.g. `getppid system calls per operation`.
    pub sentence: String,
}

impl Claim {
    /// A claim whose sentence contains what differs between processes or machines; `id` are words
    /// that do not.
    pub fn new(id: &str, sentence: impl Into<String>) -> Self {
        Self {
            id: ClaimId::of(id),
            sentence: sentence.into(),
        }
    }
}

/// A claim that is identified by its own words.
impl<S: Into<String>> From<S> for Claim {
    fn from(sentence: S) -> Self {
        let sentence = sentence.into();
        Self {
            id: ClaimId::of(&sentence),
            sentence,
        }
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
            Fact::Number(value) => write!(f, "{}", (value * 1e6).round() / 1e6),
            Fact::Text(text) => f.write_str(text),
        }
    }
}

/// What a benchmark claimed and what was counted, or a note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Written", into = "Written")]
pub struct Evidence {
    /// Which claim it is about.
    pub claim_id: ClaimId,
    /// What is claimed, for people.
    pub claim: String,
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
    /// A claim that was judged.
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
        let Claim { id, sentence } = claim.into();
        Self {
            claim_id: id,
            claim: sentence,
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

    /// Whether it is a note, which claims nothing.
    pub fn is_note(&self) -> bool {
        self.expected.is_none()
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
        Self {
            claim_id: written
                .claim_id
                .unwrap_or_else(|| ClaimId::of(&written.claim)),
            claim: written.claim,
            expected: (!is_note).then_some(written.expected),
            observed: written.observed,
            source: written.source,
            verdict: written.verdict,
            reason: written.reason,
        }
    }
}

impl From<Evidence> for Written {
    fn from(evidence: Evidence) -> Self {
        Self {
            claim_id: Some(evidence.claim_id),
            claim: evidence.claim,
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
        let claim = Evidence::new("clock source", "tsc", "tsc", "sysfs", Verdict::Confirmed);
        assert_eq!(read(written("tsc")), claim);
        assert!(note.is_note() && !claim.is_note());
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
