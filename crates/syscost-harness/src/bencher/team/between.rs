//! What the tasks of an operation are to each other, as the kernel has it: processes or threads.
//!
//! The row's name says what they are to be, and the code that starts them reads it there. This reads
//! the name by itself, and what became of them from the kernel.

use std::collections::BTreeSet;

use syscost_sys::Unsupported;
use syscost_sys::counters::TaskId;

use crate::bencher::Bencher;

/// The parameters that say it.
const KEYS: [&str; 2] = ["between", "as"];

const CLAIM: &str = "what its tasks are to each other";

/// Each task's process, by the kernel's account.
pub(in crate::bencher) type Groups = Result<Vec<u32>, Unsupported>;

/// That of these tasks.
pub(in crate::bencher) fn groups_of(tasks: impl IntoIterator<Item = TaskId>) -> Groups {
    tasks.into_iter().map(TaskId::group).collect()
}

impl Bencher<'_> {
    /// Claims that the tasks of each of these teams are what the row's name says, if it says
    /// anything. One that is alone is nothing to anybody: a baseline, or a single copy.
    pub(in crate::bencher) fn claim_between<'g>(
        &mut self,
        teams: impl IntoIterator<Item = &'g Groups>,
    ) {
        // Not by `find`, by which the parameter would count as asked for.
        let params = self.case.to_map();
        let Some(named) = KEYS.iter().find_map(|key| params.get(*key)).cloned() else {
            return;
        };
        for groups in teams {
            match groups {
                Ok(groups) if groups.len() < 2 => {}
                Ok(groups) => {
                    let seen = relation(groups).to_owned();
                    self.claim_equal(CLAIM, named.clone(), seen, "/proc");
                }
                Err(reason) => {
                    let reason = reason.to_string();
                    self.claim_unverified(CLAIM, named.clone(), "unknown", "/proc", &reason);
                }
            }
        }
    }
}

/// What tasks of these processes are to each other.
fn relation(groups: &[u32]) -> &'static str {
    let processes: BTreeSet<&u32> = groups.iter().collect();
    match processes.len() {
        1 => "threads",
        all if all == groups.len() => "processes",
        _ => "some of them threads, others processes",
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::{Evidence, Fact, Verdict};
    use syscost_sys::cpu;
    use syscost_sys::partner::Between;

    use super::*;
    use crate::bencher::tests::real::found_of;
    use crate::bencher::{Crew, Findings, Pass};
    use crate::case::Case;
    use crate::failure::Failure;
    use crate::placement::Placement;

    /// What is found of a case on this CPU.
    fn found(
        case: &Case,
        measure: impl FnOnce(&mut Bencher) -> Result<(), Failure> + Send,
    ) -> Result<Findings, Failure> {
        let cpus = cpu::allowed().unwrap_or_else(|_| vec![0]);
        found_of(case, &cpus, Pass::Timed, &[], measure)
    }

    /// Claims of this text.
    fn claimed(findings: &Findings) -> Vec<&Evidence> {
        let of_claim = findings.evidence.iter().filter(|one| one.claim == CLAIM);
        of_claim.collect()
    }

    /// What a row that names one and starts the other says of it.
    fn verdict(named: &'static str, between: Between) -> Result<Vec<Verdict>, Failure> {
        let case = Case::new([("between", named)]);
        let findings = found(&case, |b| {
            b.together(Placement::Free, |cpus| {
                let mut crew = Crew::new(between)?;
                crew.add(
                    cpus,
                    || Ok(()),
                    |(), stop| {
                        while !stop.is_set() {
                            std::thread::yield_now();
                        }
                        Ok::<_, Failure>(())
                    },
                )?;
                let lead = |turns| {
                    for turn in 0..turns {
                        std::hint::black_box(turn);
                    }
                    Ok(())
                };
                Ok(crew.led_by(lead).map(drop))
            })
        })?;
        Ok(claimed(&findings).iter().map(|one| one.verdict).collect())
    }

    #[test]
    fn tasks_that_are_not_what_the_name_says_are_refuted() {
        if let Err(reason) = TaskId::own().group() {
            return println!("skipped: {reason}");
        }
        for between in Between::ALL {
            for named in ["processes", "threads"] {
                let expected = match named == between.name() {
                    true => Verdict::Confirmed,
                    false => Verdict::Refuted,
                };
                match verdict(named, between) {
                    Ok(verdicts) => assert_eq!(verdicts, [expected], "{named}, {between:?}"),
                    Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
                    Err(failure) => panic!("{failure}"),
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_unverified_and_who_is_alone_is_nothing() {
        let case = Case::new([("as", "threads")]);
        let findings = found(&case, |b| {
            b.iter(|| 1)?;
            b.claim_between(&[Ok(vec![7]), Err(Unsupported::new("no /proc"))]);
            Ok(())
        });
        let findings = findings.expect("measured");
        let [one] = claimed(&findings)[..] else {
            panic!("{:?}", findings.evidence);
        };
        assert_eq!(one.verdict, Verdict::Unverified);
        assert_eq!(one.expected, Fact::from("threads".to_owned()));
        assert_eq!(one.reason.as_deref(), Some("no /proc"));
    }

    #[test]
    fn a_row_whose_name_says_nothing_claims_nothing() {
        let findings = found(&Case::default(), |b| {
            b.iter(|| 1)?;
            b.claim_between(&[Ok(vec![7, 8])]);
            Ok(())
        });
        assert!(claimed(&findings.expect("measured")).is_empty());
    }

    #[test]
    fn some_of_both_are_neither() {
        assert_eq!(relation(&[7, 7, 7]), "threads");
        assert_eq!(relation(&[7, 8, 9]), "processes");
        for mixed in [[7, 7, 8], [7, 8, 8]] {
            assert!(!["threads", "processes"].contains(&relation(&mixed)));
        }
    }
}
