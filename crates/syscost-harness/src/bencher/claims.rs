//! What a benchmark says of its own accord: claims it judged itself, and numbers beside the main one.

use syscost_results::{Evidence, Fact, Verdict};
use syscost_sys::memory::Memory;

use super::Bencher;
use crate::failure::Failure;

/// The kernel may split huge pages whenever it likes. So many left make the same memory nearly all.
const MOST: f64 = 0.95;

impl Bencher<'_> {
    /// Adds a claim the benchmark judged itself.
    pub fn claim(
        &mut self,
        claim: &str,
        expected: impl Into<Fact>,
        observed: impl Into<Fact>,
        source: &str,
        holds: bool,
    ) {
        let verdict = match holds {
            true => Verdict::Confirmed,
            false => Verdict::Refuted,
        };
        self.claim_verdict(claim, expected, observed, source, verdict, None);
    }

    /// The same where there is more to say than yes and no. What a busy machine may have caused, as all that is judged from times, is
    /// `Unverified`, with the reason; it refutes only where it is grossly wrong.
    pub fn claim_verdict(
        &mut self,
        claim: &str,
        expected: impl Into<Fact>,
        observed: impl Into<Fact>,
        source: &str,
        verdict: Verdict,
        reason: Option<&str>,
    ) {
        self.findings.evidence.push(Evidence {
            claim: claim.to_owned(),
            expected: expected.into(),
            observed: Some(observed.into()),
            source: source.to_owned(),
            verdict,
            reason: reason.map(str::to_owned),
        });
    }

    /// Adds a claim that could be neither confirmed nor refuted here, and says why.
    pub fn claim_unverified(
        &mut self,
        claim: &str,
        expected: impl Into<Fact>,
        observed: impl Into<Fact>,
        source: &str,
        reason: &str,
    ) {
        let verdict = Verdict::Unverified;
        self.claim_verdict(claim, expected, observed, source, verdict, Some(reason));
    }

    /// Claims that all of this memory is resident, in pages of the size it was asked in.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn claim_resident(&mut self, memory: &Memory) -> Result<(), Failure> {
        let (resident, bytes) = (memory.resident()?, memory.bytes() as f64);
        let (all, as_asked) = (resident.bytes as f64, resident.in_pages_bytes as f64);
        let what = "resident bytes of the memory";
        self.claim(what, bytes, all, "smaps", all == bytes);
        let what = format!("of these in pages of {}", memory.pages().name());
        if as_asked < bytes && as_asked >= MOST * bytes {
            let reason = "the kernel has split some of these pages since";
            self.claim_unverified(&what, bytes, as_asked, "smaps", reason);
        } else {
            self.claim(&what, bytes, as_asked, "smaps", as_asked == bytes);
        }
        Ok(())
    }

    /// Adds a named number beside the main one; the name ends in its unit, e.g. `longest_gap_ns`.
    pub fn detail(&mut self, name: &str, value: f64) {
        self.findings.details.insert(name.to_owned(), value);
    }

    /// Adds one operation timed on its own, in ns, to the row's histogram. One that came out below zero once overhead was
    /// taken off has no place in a histogram of times: it is counted in the detail `singles_below_zero_count` instead.
    pub fn record_single(&mut self, ns: f64) {
        if ns >= 0.0 {
            self.singles.saturating_record((ns * 10.0) as u64);
        } else {
            *self
                .findings
                .details
                .entry("singles_below_zero_count".to_owned())
                .or_default() += 1.0;
        }
    }
}
