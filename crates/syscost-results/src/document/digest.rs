//! The figures of a run without what proves them: all that a judgement over ten thousand machines needs, read some ten times as
//! fast as a whole run.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{DocumentError, ErrorPlace, TAKE_ANOTHER_COPY, check, check_text, cleaned, diagnose};
use crate::measurement::first_revision;
use crate::renamed::rename;
use crate::run::{Config, Noise, Tool, Warning};
use crate::{
    Better, Estimate, Flag, Machine, Measurement, Run, SCHEMA_VERSION, Status, Unit, Verdict,
};

/// A run, each row with its figures and what became of its evidence.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Digest {
    /// Version of the document's shape.
    pub schema_version: u32,
    /// The program that measured.
    pub tool: Tool,
    /// Id of the run.
    pub id: String,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, in seconds.
    pub duration_s: f64,
    /// Whether every row got its minimum number of rounds.
    pub complete: bool,
    /// The measured machine.
    pub machine: Machine,
    /// The core's frequency at which costs are given, in GHz.
    pub core_ghz: Option<f64>,
    /// What the machine did to a program that only reads the clock, per probed CPU.
    pub noise: Vec<Noise>,
    /// How the run was asked for.
    pub config: Config,
    /// What a reader should know before believing the numbers.
    pub warnings: Vec<Warning>,
    /// The rows, in the document's order.
    #[serde(rename = "measurements")]
    pub rows: Vec<DigestRow>,
}

/// A row of a [`Digest`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DigestRow {
    /// Id and case; unique in a run.
    pub name: String,
    /// Only rows of equal revisions measure the same.
    #[serde(default = "first_revision")]
    pub revision: u32,
    /// The unit of the estimate.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether there is a number.
    pub status: Status,
    /// Why there is no number, or what to know about it.
    pub reason: Option<String>,
    /// The numbers, in `unit`.
    pub estimate: Estimate,
    /// The median in core cycles.
    pub core_cycles: Option<f64>,
    /// What a careful reader should know about the samples.
    pub flags: Vec<Flag>,
    /// The worst verdict on what the row claims; without a claim nothing is confirmed.
    #[serde(deserialize_with = "worst", rename = "evidence")]
    pub verdict: Verdict,
}

/// The verdict of one claim; what else it holds is skipped.
#[derive(Deserialize)]
struct OfClaim {
    verdict: Verdict,
}

fn worst<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Verdict, D::Error> {
    let claims = Vec::<OfClaim>::deserialize(from)?;
    Ok(worst_of(claims.iter().map(|claim| claim.verdict)))
}

fn worst_of(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.max().unwrap_or(Verdict::Unverified)
}

impl DigestRow {
    /// Whether its number can be held against others': measured, confirmed, and from enough processes whose core was not
    /// shared.
    pub fn is_beyond_doubt(&self) -> bool {
        let is_doubtful = |flag: &Flag| {
            matches!(
                flag,
                Flag::Disturbed | Flag::TooFewRounds | Flag::LowTrust | Flag::Noisy
            )
        };
        self.status == Status::Ok
            && self.verdict == Verdict::Confirmed
            && !self.flags.iter().any(is_doubtful)
    }
}

impl From<&Measurement> for DigestRow {
    fn from(row: &Measurement) -> Self {
        DigestRow {
            name: row.name.clone(),
            revision: row.revision,
            unit: row.unit,
            better: row.better,
            status: row.status,
            reason: row.reason.clone(),
            estimate: row.estimate.clone(),
            core_cycles: row.core_cycles,
            flags: row.flags.clone(),
            verdict: worst_of(row.evidence.iter().map(|claim| claim.verdict)),
        }
    }
}

impl From<&Run> for Digest {
    fn from(run: &Run) -> Self {
        Digest {
            schema_version: run.schema_version,
            tool: run.tool.clone(),
            id: run.id.clone(),
            started: run.started.clone(),
            duration_s: run.duration_s,
            complete: run.complete,
            machine: run.machine.clone(),
            core_ghz: run.core_ghz,
            noise: run.noise.clone(),
            config: run.config.clone(),
            warnings: run.warnings.clone(),
            rows: run.measurements.iter().map(DigestRow::from).collect(),
        }
    }
}

/// Reads the digest of a run in a document. What a claim expected and what was observed is not compared again, nor are figures
/// computed again from samples, as [`read`](super::read) does.
///
/// # Errors
/// As [`read`](super::read), of what is looked at.
pub fn read_digest(bytes: &[u8]) -> Result<Digest, DocumentError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    check_text(bytes)?;
    match serde_json::from_slice::<Digest>(&cleaned(bytes)) {
        Ok(mut digest) if (1..=SCHEMA_VERSION).contains(&digest.schema_version) => {
            for row in &mut digest.rows {
                rename(&mut row.name);
            }
            check_digest(&digest)?;
            Ok(digest)
        }
        Ok(_) => Err(diagnose(bytes, None)),
        Err(error) => Err(diagnose(bytes, Some(&error))),
    }
}

fn check_digest(digest: &Digest) -> Result<(), DocumentError> {
    check::check_noise(&digest.noise)?;
    let mut names = BTreeSet::new();
    for (index, row) in digest.rows.iter().enumerate() {
        let twice = !names.insert(&*row.name);
        let refuted = row.verdict == Verdict::Refuted && row.status.has_figures();
        let problem = match (twice, refuted) {
            (true, _) => Err("occurs twice".to_owned()),
            (_, true) => Err("has a number that its evidence refutes".to_owned()),
            _ => check::check_order(&row.estimate),
        };
        if let Err(problem) = problem {
            let path = format!("measurements[{index}]");
            let place = ErrorPlace::Field { path, at: None };
            let problem = format!("`{}`: {problem}", row.name);
            return Err(DocumentError::new(place, problem, TAKE_ANOTHER_COPY));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::read;
    use super::*;
    use crate::fixture::run_of;

    /// The document of a run whose only row has one claim, with this verdict.
    fn document(run: &Run, verdict: &str) -> Vec<u8> {
        let mut document = serde_json::to_value(run).expect("JSON");
        document["measurements"][0]["evidence"] = json!([{
            "claim_id": "calls", "claim": "calls per operation", "expected": 1.0, "observed": 1.0, "source": "audit",
            "verdict": verdict
        }]);
        serde_json::to_vec(&document).expect("JSON")
    }

    #[test]
    fn a_digest_is_that_of_the_run() {
        let run = run_of(&[vec![100.0], vec![101.0], vec![102.0]]);
        let bytes = serde_json::to_vec(&run).expect("JSON");
        let digest = read_digest(&bytes).expect("a digest");
        assert_eq!(digest, Digest::from(&run));
        assert!(!digest.rows[0].is_beyond_doubt(), "nothing is claimed");
        let confirmed = document(&run, "Confirmed");
        let digest = read_digest(&confirmed).expect("a digest");
        assert_eq!(digest, Digest::from(&read(&confirmed).expect("a run")));
        assert!(digest.rows[0].is_beyond_doubt());
    }

    #[test]
    fn a_number_beside_its_refutation_is_refused() {
        let refuted = document(&run_of(&[vec![100.0]]), "Refuted");
        let error = read_digest(&refuted).expect_err("it contradicts itself");
        assert!(
            error.to_string().contains("its evidence refutes"),
            "{error}"
        );
    }
}
