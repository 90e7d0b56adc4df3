//! A row's claims, as its processes judged them.

use syscost_results::{Evidence, Verdict};

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
            known.worst.claim_id == evidence.claim_id && known.worst.source == evidence.source
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

    /// Whether a claim is refuted that others may have broken, and too few processes have judged it.
    pub(super) fn are_doubtful(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|claim| {
            claim.refuted > 0 && claim.judged < ENOUGH && claim.may_be_background_tasks()
        })
    }

    /// What is known of each.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        self.0.iter().map(Claim::evidence).collect()
    }
}

impl Claim {
    /// Whether what other programs do can break it at times: it is judged by times, or by counts
    /// per operation, in which a wait or a switch of others' making is counted as well. What is
    /// claimed wrongly is wrong in every process.
    fn may_be_background_tasks(&self) -> bool {
        self.worst.source == "clock" || self.worst.claim_id.is_per_operation()
    }

    fn evidence(&self) -> Evidence {
        let mut evidence = self.worst.clone();
        let Self {
            judged, refuted, ..
        } = self;
        if *refuted > 0 && 2 * refuted <= *judged && self.may_be_background_tasks() {
            evidence.verdict = Verdict::Unverified;
            let which = format!("in {refuted} of {judged} processes, and not in the others");
            evidence.reason = Some(match evidence.reason {
                Some(reason) => format!("{reason}, {which}"),
                None => which,
            });
        }
        evidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(claim: &str, source: &str, verdicts: &[Verdict]) -> Claims {
        let mut claims = Claims::default();
        for verdict in verdicts {
            claims.add(Evidence::new(claim, 1.0, 2.0, source, *verdict));
        }
        claims
    }

    const YES: Verdict = Verdict::Confirmed;
    const NO: Verdict = Verdict::Refuted;
    const COUNT: &str = "other system calls per operation";

    fn verdict(claims: &Claims) -> Verdict {
        claims.evidence()[0].verdict
    }

    #[test]
    fn a_count_that_most_processes_do_not_refute_is_unverified() {
        let claims = claims(COUNT, "seccomp audit", &[NO, YES, YES]);
        assert_eq!(verdict(&claims), Verdict::Unverified);
        let reason = claims.evidence()[0].reason.clone();
        let expected = "in 1 of 3 processes, and not in the others";
        assert_eq!(reason.as_deref(), Some(expected));
        assert!(!claims.are_doubtful());
    }

    #[test]
    fn a_count_that_most_processes_refute_is_refuted() {
        for verdicts in [&[NO][..], &[NO, NO], &[NO, YES, NO], &[NO, NO, NO]] {
            assert_eq!(verdict(&claims(COUNT, "/proc", verdicts)), NO);
        }
        let of_times = "time of alternating over constant directions";
        let often = claims(of_times, "clock", &[NO, YES, NO, NO, YES, NO]);
        assert_eq!(verdict(&often), NO);
        let once = claims(of_times, "clock", &[YES, YES, NO, YES, YES, YES]);
        assert_eq!(verdict(&once), Verdict::Unverified);
    }

    #[test]
    fn a_refuted_count_is_counted_again_until_three_have_judged_it() {
        assert!(claims(COUNT, "/proc", &[NO]).are_doubtful());
        assert!(claims(COUNT, "/proc", &[NO, YES]).are_doubtful());
        assert!(!claims(COUNT, "/proc", &[NO, YES, YES]).are_doubtful());
        assert!(!claims(COUNT, "/proc", &[YES]).are_doubtful());
    }

    #[test]
    fn what_nobody_else_can_have_broken_is_refuted_by_one_process() {
        let claims = claims("bytes that came back", "both sides", &[YES, NO, YES, YES]);
        assert_eq!(verdict(&claims), NO);
        assert!(!claims.are_doubtful());
    }
}
