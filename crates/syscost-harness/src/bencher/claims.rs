//! What a benchmark itself contributes: claims that it judged, and numbers beside the main one.

use std::fmt::Display;

use syscost_results::{Claim, Evidence, Fact, Verdict};
use syscost_sys::memory::Memory;

use super::Bencher;
use crate::expect::Bound;
use crate::failure::Failure;
use crate::proof::{Awaited, Witness};

/// Minimum share still in huge pages for the claim to be unverified rather than refuted: the kernel
/// may split some at any time. No test fails with a quarter of it.
const MIN_UNSPLIT: f64 = 0.95;

impl Bencher<'_> {
    /// Reports what a witness saw, which the proofs of the row that is named await.
    pub fn observe(&mut self, witness: &'static Witness, value: impl Into<Fact>) {
        self.observe_unless(witness, value, None);
    }

    /// As [`Bencher::observe`]; what would refute does not if `doubt` tells what else may have caused
    /// it.
    pub fn observe_unless(
        &mut self,
        witness: &'static Witness,
        value: impl Into<Fact>,
        doubt: Option<&str>,
    ) {
        let value = value.into();
        self.enter_observation(witness, value.number(), |awaited| {
            awaited.judge(value.clone()).tolerated(|| doubt)
        });
    }

    /// Says why a witness could not look here.
    pub fn unobserved(&mut self, witness: &'static Witness, reason: impl Display) {
        self.enter_observation(witness, None, |awaited| {
            awaited.unobserved(reason.to_string())
        });
    }

    fn enter_observation(
        &mut self,
        witness: &'static Witness,
        number: Option<f64>,
        judge: impl Fn(&Awaited) -> Evidence,
    ) {
        let awaited = self.proofs.iter().flat_map(|proof| &proof.awaited);
        // One look may prove several parameters.
        let mut seen: Vec<Evidence> = Vec::new();
        for evidence in awaited.filter(|one| one.is_of(witness)).map(judge) {
            if !seen.contains(&evidence) {
                seen.push(evidence);
            }
        }
        self.findings.evidence.append(&mut seen);
        self.observations.push((witness, number));
    }

    /// Adds what no witness tells.
    ///
    /// # Errors
    /// When a witness did not look.
    pub(super) fn judge_proofs(&mut self) -> Result<(), Failure> {
        for (proof, (key, value)) in self.given.case.with_parameters(&self.proofs) {
            self.findings.evidence.extend(proof.lacking(key, value));
            let due = |one: &&Awaited| one.witness.looks_in(self.given.pass);
            let missed =
                |one: &&Awaited| !self.observations.iter().any(|(seen, _)| one.is_of(seen));
            if let Some(missed) = proof.awaited.iter().filter(due).find(missed) {
                let phrase = missed.witness.sentence();
                let what = format!("proves {key} by {phrase}, which is not seen");
                return Err(Failure::Broken(what));
            }
        }
        Ok(())
    }

    /// Adds a claim that the benchmark judged itself.
    pub fn claim(
        &mut self,
        claim: impl Into<Claim>,
        expected: impl Into<Fact>,
        observed: impl Into<Fact>,
        source: &str,
        holds: bool,
    ) {
        self.claim_verdict(claim, expected, observed, source, Verdict::of(holds), None);
    }

    /// Adds a claim that two values are equal. For counts and names: measured quantities are never
    /// exactly equal.
    pub fn claim_equal<T: PartialEq + Into<Fact>>(
        &mut self,
        claim: impl Into<Claim>,
        expected: T,
        observed: T,
        source: &str,
    ) {
        let holds = expected == observed;
        self.claim(claim, expected, observed, source, holds);
    }

    /// Adds a claim that a number is within a bound, of which [`Bencher::claim_at_least`] is the open
    /// one.
    pub fn claim_within(
        &mut self,
        claim: impl Into<Claim>,
        bound: Bound,
        observed: f64,
        source: &str,
    ) {
        let is_open = matches!(bound, Bound::AtLeast(_));
        debug_assert!(!is_open, "claim_at_least says why no more are too many");
        self.add_evidence(Evidence::judged(claim, bound, observed, source));
    }

    /// Adds a claim that a number, which may not be known here, is at least this; `open` says why no
    /// more are too many.
    pub fn claim_at_least(
        &mut self,
        claim: impl Into<Claim>,
        least: f64,
        observed: Result<f64, impl Display>,
        source: &str,
        open: &str,
    ) {
        let bound = Bound::AtLeast(least);
        match observed {
            Ok(observed) => {
                let evidence = Evidence::judged(claim, bound, observed, source);
                self.add_evidence(match evidence.verdict {
                    Verdict::Confirmed => evidence.because(open),
                    _ => evidence,
                });
            }
            Err(reason) => self.claim_unobserved(claim, bound.fact(), source, reason),
        }
    }

    /// As [`Bencher::claim_within`], of a number that may not be known here: then the error says
    /// why.
    pub fn claim_known(
        &mut self,
        claim: impl Into<Claim>,
        bound: Bound,
        observed: Result<f64, impl Display>,
        source: &str,
    ) {
        match observed {
            Ok(observed) => self.claim_within(claim, bound, observed, source),
            Err(reason) => self.claim_unobserved(claim, bound.fact(), source, reason),
        }
    }

    /// As [`Bencher::claim`] with a choice of verdict. What a busy machine may have caused, as
    /// anything that is judged from times, is `Unverified`, with the reason; it refutes only where
    /// it is grossly wrong.
    pub fn claim_verdict(
        &mut self,
        claim: impl Into<Claim>,
        expected: impl Into<Fact>,
        observed: impl Into<Fact>,
        source: &str,
        verdict: Verdict,
        reason: Option<&str>,
    ) {
        self.add_evidence(Evidence {
            reason: reason.map(str::to_owned),
            ..Evidence::new(claim, expected, observed, source, verdict)
        });
    }

    /// Adds a note to the evidence, e.g. the kernel's name for something. It proves nothing: a row
    /// that has no other evidence claims nothing.
    pub fn note(&mut self, what: impl Into<Claim>, observed: impl Into<Fact>, source: &str) {
        self.add_evidence(Evidence::note(what, observed, source));
    }

    /// Adds evidence that was judged elsewhere.
    pub fn add_evidence(&mut self, evidence: Evidence) {
        self.findings.evidence.push(evidence);
    }

    /// Adds a claim about which nothing could be observed here, and says why.
    pub fn claim_unobserved(
        &mut self,
        claim: impl Into<Claim>,
        expected: impl Into<Fact>,
        source: &str,
        reason: impl Display,
    ) {
        let reason = reason.to_string();
        self.add_evidence(Evidence::unobserved(claim, expected, source).because(reason));
    }

    /// Adds a claim that what was observed could neither confirm nor refute here, and says why.
    pub fn claim_unverified(
        &mut self,
        claim: impl Into<Claim>,
        expected: impl Into<Fact>,
        observed: impl Into<Fact>,
        source: &str,
        reason: &str,
    ) {
        let verdict = Verdict::Unverified;
        self.claim_verdict(claim, expected, observed, source, verdict, Some(reason));
    }

    /// Claims that all of this memory is resident, in pages of the requested size.
    ///
    /// # Errors
    /// When the kernel does not report it.
    pub fn claim_resident(&mut self, memory: &Memory) -> Result<(), Failure> {
        let (resident, bytes) = (memory.resident()?, memory.bytes());
        let what = "resident bytes of the memory";
        self.claim_equal(what, bytes, resident.bytes, "smaps");
        let what = format!("of these in pages of {}", memory.pages().name());
        let as_asked = resident.in_pages_bytes;
        if as_asked < bytes && as_asked as f64 >= MIN_UNSPLIT * bytes as f64 {
            let reason = "the kernel has split some of these pages since";
            self.claim_unverified(&what, bytes, as_asked, "smaps", reason);
        } else {
            self.claim_equal(&what, bytes, as_asked, "smaps");
        }
        Ok(())
    }

    /// Sets the bound up to which values, in the benchmark's unit, look like zero: such a row reads
    /// *below resolution*, and this is its bound.
    pub fn resolution(&mut self, least: f64) {
        self.findings.resolution = Some(least);
    }

    /// Sets the bounds between which the value lies, as far as the method can resolve it: the row's
    /// interval includes both.
    pub fn limits(&mut self, low: f64, high: f64) {
        self.findings.limits = Some((low, high));
    }

    /// Notes that the values are the largest that were tried, that the quantity itself is larger,
    /// and why nothing larger was tried. If most rounds say so, the row reads *larger than* that.
    pub fn larger(&mut self, reason: impl Into<String>) {
        self.findings.larger = Some(reason.into());
    }
}
