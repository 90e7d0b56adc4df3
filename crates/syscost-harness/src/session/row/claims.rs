//! A row's claims, as its processes judged them.

use syscost_results::{Evidence, RefutedBy, Verdict};

/// How many processes judge a claim that one refutes and others may have caused.
const ENOUGH: u32 = 3;

/// A claim: its worst verdict so far, and how many processes came to it.
struct Claim {
    worst: Evidence,
    judged: u32,
    refuted: u32,
}

/// The claims of a row, one per claim and source.
#[derive(Default)]
pub(super) struct Claims(Vec<Claim>);

impl Claims {
    /// Adds what a process found: of verdicts on the same claim, the worst is kept.
    pub(super) fn add(&mut self, evidence: Evidence) {
        let same = |known: &&mut Claim| {
            known.worst.claim.id == evidence.claim.id && known.worst.source == evidence.source
        };
        let refuted = u32::from(evidence.verdict == Verdict::Refuted);
        match self.0.iter_mut().find(same) {
            Some(known) => {
                known.judged += 1;
                known.refuted += refuted;
                if evidence.verdict >= known.worst.verdict {
                    known.worst = evidence;
                }
            }
            None => self.0.push(Claim {
                worst: evidence,
                judged: 1,
                refuted,
            }),
        }
    }

    /// Whether a claim is refuted that most processes must refute, and too few have judged it.
    pub(super) fn are_doubtful(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|claim| claim.refuted > 0 && claim.judged < ENOUGH && claim.is_refuted_by_most())
    }

    pub(super) fn evidence(&self) -> Vec<Evidence> {
        self.0.iter().map(Claim::evidence).collect()
    }
}

impl Claim {
    fn is_refuted_by_most(&self) -> bool {
        self.worst.claim.refuted_by == RefutedBy::Most
    }

    /// The worst verdict; but where most processes must refute it, no refutation of fewer, nor of a
    /// single one that there was no time to count again.
    fn evidence(&self) -> Evidence {
        let (judged, refuted) = (self.judged, self.refuted);
        self.worst.clone().tolerated(|| {
            let reason = self.worst.reason.as_ref();
            let why = reason.map_or_else(String::new, |reason| format!("{reason}, "));
            match self.is_refuted_by_most() {
                true if judged == 1 => Some(format!("{why}in the only process that counted")),
                true if 2 * refuted <= judged => Some(format!(
                    "{why}in {refuted} of {judged} processes, and not in the others"
                )),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(refuted_by: RefutedBy, verdicts: &[Verdict]) -> Claims {
        let mut claims = Claims::default();
        for verdict in verdicts {
            let claim = syscost_results::Claim {
                refuted_by,
                ..syscost_results::Claim::from("other system calls per operation")
            };
            claims.add(Evidence::new(claim, 1.0, 2.0, "clock", *verdict));
        }
        claims
    }

    const YES: Verdict = Verdict::Confirmed;
    const NO: Verdict = Verdict::Refuted;

    fn verdict(claims: &Claims) -> Verdict {
        claims.evidence()[0].verdict
    }

    #[test]
    fn a_count_that_most_processes_do_not_refute_is_unverified() {
        let claims = claims(RefutedBy::Most, &[NO, YES, YES]);
        assert_eq!(verdict(&claims), Verdict::Unverified);
        let reason = claims.evidence()[0].reason.clone();
        let expected = "in 1 of 3 processes, and not in the others";
        assert_eq!(reason.as_deref(), Some(expected));
        assert!(!claims.are_doubtful());
    }

    #[test]
    fn a_count_of_which_there_was_no_second_is_unverified() {
        let claims = claims(RefutedBy::Most, &[NO]);
        assert_eq!(verdict(&claims), Verdict::Unverified);
        let reason = claims.evidence()[0].reason.clone();
        assert_eq!(reason.as_deref(), Some("in the only process that counted"));
    }

    #[test]
    fn a_count_that_most_processes_refute_is_refuted() {
        for verdicts in [&[NO, NO][..], &[NO, YES, NO], &[NO, NO, NO]] {
            assert_eq!(verdict(&claims(RefutedBy::Most, verdicts)), NO);
        }
        let often = claims(RefutedBy::Most, &[NO, YES, NO, NO, YES, NO]);
        assert_eq!(verdict(&often), NO);
        let once = claims(RefutedBy::Most, &[YES, YES, NO, YES, YES, YES]);
        assert_eq!(verdict(&once), Verdict::Unverified);
    }

    #[test]
    fn a_refuted_count_is_counted_again_until_three_have_judged_it() {
        assert!(claims(RefutedBy::Most, &[NO]).are_doubtful());
        assert!(claims(RefutedBy::Most, &[NO, YES]).are_doubtful());
        assert!(!claims(RefutedBy::Most, &[NO, YES, YES]).are_doubtful());
        assert!(!claims(RefutedBy::Most, &[YES]).are_doubtful());
    }

    #[test]
    fn what_nobody_else_can_have_broken_is_refuted_by_one_process() {
        // Whatever its words and who counted.
        let claims = claims(RefutedBy::One, &[YES, NO, YES, YES]);
        assert_eq!(verdict(&claims), NO);
        assert!(!claims.are_doubtful());
    }
}
