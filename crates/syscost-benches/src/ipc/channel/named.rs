//! What the kernel must show of a mechanism by its name: the expectations of a mechanism on its own
//! calls would hold under any name.

use syscost_harness::prelude::*;

use super::{Channel, Mark, Via, gate};
use crate::descriptor;

impl Via {
    /// Its property.
    fn mark(self) -> Mark {
        self.mechanism().mark
    }
}

/// Expects what the row's name says of an operation of this many messages, each in at most this
/// many parts, independently of the mechanism's own expectations; nothing of a negative control's. Both sides fall asleep `least`
/// times.
pub(in crate::ipc) fn expect<C: Channel>(
    plan: &mut Plan,
    via: Option<Via>,
    messages: f64,
    parts: f64,
    least: f64,
) -> Result<(), Failure> {
    let futex = Counter::Syscall(gate::CALL);
    match via.map(Via::mark) {
        None | Some(Mark::Descriptors(_)) => {}
        Some(Mark::Calls(calls)) => {
            for call in calls {
                plan.expect(together(*call, messages));
            }
        }
        Some(Mark::Memory { sleeps }) => {
            // Unexpected calls are refuted anyway.
            if C::calls(1.0, 1.0).iter().any(|one| one.counter != futex) {
                let what = "moves messages by system calls, contrary to its name";
                return Err(Failure::Broken(what.into()));
            }
            if sleeps != C::SLEEPS {
                let what = "does not wait as its name says: by sleeping, or by spinning";
                return Err(Failure::Broken(what.into()));
            }
            if sleeps {
                // A task that wakes the other just before it sleeps saves both calls.
                plan.expect(within(futex, least / 4.0, 4.2 * messages * parts));
            } else {
                plan.expect(within(futex, 0.0, 0.1));
                plan.expect(at_most(Counter::VoluntarySwitches, 0.05));
            }
        }
    }
    Ok(())
}

/// Claims that the descriptors of one end are what the row's name says.
pub(in crate::ipc) fn claim<C: Channel>(b: &mut Bencher, via: Option<Via>, end: &C) {
    if let Some(Mark::Descriptors(kind)) = via.map(Via::mark) {
        descriptor::claim_kind(b, "what messages go through", kind, end.descriptors());
    }
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::super::*;
    use super::{claim, expect};
    use crate::testing::findings_by;

    const CLAIM: &str = "what messages go through";

    /// The verdict on a mechanism under this name; `None` if nothing is claimed.
    fn verdict<C: Channel>(via: Via) -> Option<Verdict> {
        let found = findings_by(&Case::default(), Pass::Timed, &[], |plan| {
            let (own, _theirs) = C::open(8)?;
            let mut outcome = plan.measure(Loop::infallible(|| 1))?;
            claim(&mut outcome, Some(via), &own);
            Ok(outcome)
        });
        let evidence = found.unwrap().evidence;
        let mut claims = evidence.iter().filter(|one| one.claim.sentence == CLAIM);
        claims.next().map(|one| one.verdict)
    }

    /// Whether its descriptors tell it from others.
    fn has_descriptors(via: &Via) -> bool {
        matches!(via.mark(), Mark::Descriptors(_))
    }

    fn is_taken_for_itself_only<C: Channel>(own: Via) {
        if !has_descriptors(&own) {
            return;
        }
        for label in Via::ALL.into_iter().filter(has_descriptors) {
            let expected = match label == own {
                true => Verdict::Confirmed,
                false => Verdict::Refuted,
            };
            match verdict::<C>(label) {
                Some(Verdict::Unverified) => {
                    println!("skipped: the kernel does not say what {own:?} is")
                }
                seen => assert_eq!(seen, Some(expected), "{own:?} as {label:?}"),
            }
        }
        assert_eq!(verdict::<C>(Via::SharedSpin), None);
    }

    #[test]
    fn each_way_is_taken_for_what_it_is_and_for_no_other() {
        with_each!(is_taken_for_itself_only);
    }

    #[test]
    fn what_the_name_says_is_expected_of_another_way_as_well() {
        let expected = |via| {
            let mut result = Ok(());
            // The expectation of calls that it does not make is refuted, or it fails immediately.
            let found = findings_by(&Case::default(), Pass::Evidence, &[], |mut plan| {
                result = expect::<ByStream<pipe::Pipe>>(&mut plan, Some(via), 1.0, 1.0, 0.0);
                plan.measure(Loop::infallible(|| 1))
            });
            (result, found)
        };
        let (result, found) = expected(Via::PosixQueue);
        assert_eq!(result, Ok(()));
        let evidence = found.unwrap().evidence;
        let sends = evidence
            .iter()
            .find(|one| one.claim.sentence.starts_with("mq_timedsend"));
        assert_ne!(sends.map(|one| one.verdict), Some(Verdict::Confirmed));
        assert!(sends.is_some());
        let (result, _) = expected(Via::SharedFutex);
        assert!(matches!(result, Err(Failure::Broken(_))), "{result:?}");
    }

    #[test]
    fn a_way_in_memory_expects_no_other_calls() {
        let found = findings_by(&Case::default(), Pass::Timed, &[], |mut plan| {
            expect::<ring::Ring<ring::Spin>>(&mut plan, Some(Via::SharedSpin), 1.0, 1.0, 0.0)?;
            plan.measure(Loop::infallible(|| 1))
        });
        assert!(found.is_ok());
    }

    #[test]
    fn a_way_that_waits_otherwise_than_its_name_says_is_refused() {
        fn refused<C: Channel>(via: Via) -> bool {
            let found = findings_by(&Case::default(), Pass::Timed, &[], |mut plan| {
                expect::<C>(&mut plan, Some(via), 1.0, 1.0, 0.0)?;
                plan.measure(Loop::infallible(|| 1))
            });
            matches!(found, Err(Failure::Broken(_)))
        }
        assert!(refused::<ring::Ring<ring::Spin>>(Via::SharedFutex));
        assert!(refused::<ring::Ring<ring::Sleep>>(Via::SharedSpin));
        assert!(!refused::<ring::Ring<ring::Spin>>(Via::SharedSpin));
        assert!(!refused::<ring::Ring<ring::Sleep>>(Via::SharedFutex));
    }
}
