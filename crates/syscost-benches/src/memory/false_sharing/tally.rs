//! What both threads counted, and what it shows of the neighbour.

use syscost_harness::prelude::*;
use syscost_results::Verdict;

/// Minimum share of the additions that the neighbour must make in at least one long batch, in
/// percent. Another task of the machine may keep it from some batches, and one that adds only now
/// and then makes less.
const MIN_SHARE_PERCENT: f64 = 10.0;

/// Minimum share of all additions that the neighbour must make, in percent, atomic and plain: if it
/// is as fast as the measuring thread it makes half. Plain additions depend more on which core gets
/// the line.
const MIN_OF_ALL_PERCENT: [f64; 2] = [25.0, 10.0];

/// Minimum share of its life in which the neighbour must have had its CPU to be undisturbed by other tasks.
const UNDISTURBED: f64 = 0.9;

/// Minimum share of the looks at the other word that must find it changed: few would find changes
/// of a thread that adds many at a time, now and then.
const MIN_CHANGES: f64 = 0.5;

/// Between this fraction of the minimum and the minimum itself the claim is unverified.
const PERHAPS: f64 = 0.4;

/// Maximum number of waits of a thread that spins: those for starting and ending it.
const FEW_WAITS: u64 = 2;

/// What the measuring thread counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) added: u64,
    /// Additions of the other thread at the same time.
    pub(super) meanwhile: u64,
    /// The other thread's largest share of a long batch, in percent.
    pub(super) largest_share: f64,
    /// How often it looked at the other word, and how often that had changed since the last look.
    pub(super) looks: u64,
    pub(super) changes: u64,
}

/// What the other thread counted, and what it found in both words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) added: u64,
    pub(super) found: [u64; 2],
    /// Length of its life in ns, and how long it had a CPU in that time.
    pub(super) lived_ns: u64,
    pub(super) ran_ns: u64,
    /// Number of its voluntary switches.
    pub(super) waits: u64,
}

impl Tally {
    pub(super) fn judge(&self, b: &mut Bencher, neighbour: &Neighbour, is_atomic: bool) {
        let [own, other] = neighbour.found;
        for (who, added, found) in [
            ("measuring", self.added, own),
            ("other", neighbour.added, other),
        ] {
            let what = format!("the word that the {who} thread added to");
            let holds = added == found && added > 0;
            b.claim(&what, added, found, "benchmark", holds);
        }
        let meanwhile = self.meanwhile as f64;
        let share = 100.0 * meanwhile / (meanwhile + self.added as f64).max(1.0);
        b.detail("neighbour_share_percent", share);
        let [atomic, plain] = MIN_OF_ALL_PERCENT;
        let least = if is_atomic { atomic } else { plain };
        // A thread that sleeps is not kept from its CPU by others.
        let ran = match neighbour.waits > FEW_WAITS {
            true => 1.0,
            false => neighbour.ran_ns as f64 / neighbour.lived_ns as f64,
        };
        let claim = "share of the other thread in all additions, in percent";
        claim_steady(b, claim, least, share, ran);
        if !b.is_timed() {
            let changed = self.changes as f64 / self.looks.max(1) as f64;
            let claim = "share of looks at the other's word that found it changed";
            claim_steady(b, claim, MIN_CHANGES, changed, ran);
        }
        let largest = self.largest_share;
        // Where additions are slow a timed batch may be short; batches of the evidence pass are not.
        if largest > 0.0 || !b.is_timed() {
            b.claim_within(
                "largest share of the other thread in a batch, in percent",
                Bound::AtLeast(MIN_SHARE_PERCENT),
                largest,
                "benchmark",
            );
        }
    }
}

/// Claims that a neighbour with this share kept adding, given the part of its life in which it had its CPU.
fn claim_steady(b: &mut Bencher, claim: &str, least: f64, share: f64, ran: f64) {
    let verdict = steady(share, least, ran);
    let reason = "others may have had the CPU of the other thread";
    b.claim_verdict(
        claim,
        format!("at least {least}"),
        share,
        "benchmark",
        verdict,
        (verdict == Verdict::Unverified).then_some(reason),
    );
}

/// Judges whether a neighbour with this share, of all additions or of looks, kept adding. Without
/// its CPU it could not do so all the time; and a share slightly below the minimum may be due to a
/// core that keeps the line longer, or to a host that took the CPU away unnoticed.
fn steady(share: f64, least: f64, ran: f64) -> Verdict {
    if share >= least {
        Verdict::Confirmed
    } else if ran < UNDISTURBED || share >= PERHAPS * least {
        Verdict::Unverified
    } else {
        Verdict::Refuted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_that_pauses_is_none_unless_it_was_kept_from_its_cpu() {
        let [least, _] = MIN_OF_ALL_PERCENT;
        assert_eq!(steady(49.0, least, 1.0), Verdict::Confirmed);
        assert_eq!(steady(49.0, least, 0.5), Verdict::Confirmed);
        assert_eq!(steady(3.0, least, 1.0), Verdict::Refuted);
        assert_eq!(steady(3.0, least, 0.5), Verdict::Unverified);
        assert_eq!(steady(0.5 * least, least, 1.0), Verdict::Unverified);
    }
}
