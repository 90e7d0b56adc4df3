//! What a row's name says of the mechanism for its messages, read here independently. The measured
//! mechanism is chosen by the same name elsewhere, and the expectations of a mechanism on its own
//! calls would hold under any name.

use syscost_harness::prelude::*;

use super::{Channel, gate};
use crate::descriptor;

/// The property that distinguishes a mechanism from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// What its descriptors refer to, in the words of [`descriptor::kind_of`].
    Descriptors(&'static str),
    /// A message takes one of each of these calls.
    Calls(&'static [Sysno]),
    /// No call transfers messages; whether a waiting task sleeps.
    Memory { sleeps: bool },
}

/// The property of the mechanism that a case names; `None` if it names none, as a liar's.
fn mark(case: &Case) -> Result<Option<Mark>, Failure> {
    let Some(name) = case.find("via") else {
        return Ok(None);
    };
    Ok(Some(match name {
        "pipe" => Mark::Descriptors("pipe"),
        "fifo" => Mark::Descriptors("fifo"),
        "unix_stream" => Mark::Descriptors("unix stream socket with a path"),
        "socketpair" => Mark::Descriptors("unix stream socket without a path"),
        "unix_datagram" => Mark::Descriptors("unix datagram socket with a path"),
        "unix_seqpacket" => Mark::Descriptors("unix seqpacket socket with a path"),
        "eventfd" => Mark::Descriptors("eventfd"),
        "posix_queue" => Mark::Calls(&[Sysno::MQ_TIMEDSEND, Sysno::MQ_TIMEDRECEIVE]),
        "sysv_queue" => Mark::Calls(&[Sysno::MSGSND, Sysno::MSGRCV]),
        "process_vm_readv" => Mark::Calls(&[Sysno::PROCESS_VM_READV]),
        "signal" => Mark::Calls(&[Sysno::RT_SIGQUEUEINFO, Sysno::RT_SIGTIMEDWAIT]),
        "shared_futex" => Mark::Memory { sleeps: true },
        "shared_spin" => Mark::Memory { sleeps: false },
        _ => return Err(case.unknown("via")),
    }))
}

/// Expects what the row's name says of an operation of this many messages, each in at most this
/// many parts, independently of the mechanism's own expectations. Both sides fall asleep `least`
/// times.
pub(in crate::ipc) fn expect<C: Channel>(
    b: &mut Bencher,
    messages: f64,
    parts: f64,
    least: f64,
) -> Result<(), Failure> {
    let futex = Counter::Syscall(gate::CALL);
    match mark(b.case())? {
        None | Some(Mark::Descriptors(_)) => {}
        Some(Mark::Calls(calls)) => {
            for call in calls {
                b.expect(together(*call, messages));
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
                b.expect(within(futex, least / 4.0, 4.2 * messages * parts));
            } else {
                b.expect(within(futex, 0.0, 0.1));
                b.expect(at_most(Counter::VoluntarySwitches, 0.05));
            }
        }
    }
    Ok(())
}

/// Claims that the descriptors of one end are what the row's name says.
pub(in crate::ipc) fn claim<C: Channel>(b: &mut Bencher, end: &C) -> Result<(), Failure> {
    match mark(b.case())? {
        Some(Mark::Descriptors(kind)) => {
            descriptor::claim_kind(b, "what messages go through", kind, end.descriptors());
        }
        Some(Mark::Calls(_) | Mark::Memory { .. }) | None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::super::{ByPacket, ByStream, fifo, pipe, ring, socketpair};
    use super::super::{eventfd, unix_datagram, unix_seqpacket, unix_stream};
    use super::*;
    use crate::testing::findings_of;

    const CLAIM: &str = "what messages go through";

    /// The verdict on a mechanism under this name; `None` if nothing is claimed.
    fn verdict<C: Channel>(name: &'static str) -> Option<Verdict> {
        let found = findings_of(&Case::new([("via", name)]), Pass::Timed, &[], |b| {
            let (own, _theirs) = C::open(8)?;
            b.iter(|| 1)?;
            claim(b, &own)
        });
        let evidence = found.unwrap().evidence;
        let mut claims = evidence.iter().filter(|one| one.claim == CLAIM);
        claims.next().map(|one| one.verdict)
    }

    #[test]
    fn each_way_is_taken_for_what_it_is_and_for_no_other() {
        type Verdicts = fn(&'static str) -> Option<Verdict>;
        let ways: [(&str, Verdicts); 7] = [
            ("pipe", verdict::<ByStream<pipe::Pipe>>),
            ("fifo", verdict::<ByStream<fifo::Fifo>>),
            ("unix_stream", verdict::<ByStream<unix_stream::UnixStream>>),
            ("socketpair", verdict::<ByStream<socketpair::SocketPair>>),
            (
                "unix_datagram",
                verdict::<ByPacket<unix_datagram::UnixDatagram>>,
            ),
            (
                "unix_seqpacket",
                verdict::<ByPacket<unix_seqpacket::UnixSeqpacket>>,
            ),
            ("eventfd", verdict::<eventfd::EventFd>),
        ];
        for (name, verdict) in ways {
            for (label, _) in ways {
                let expected = match label == name {
                    true => Verdict::Confirmed,
                    false => Verdict::Refuted,
                };
                match verdict(label) {
                    Some(Verdict::Unverified) => {
                        println!("skipped: the kernel does not say what {name} is")
                    }
                    seen => assert_eq!(seen, Some(expected), "{name} as {label}"),
                }
            }
            assert_eq!(verdict("shared_spin"), None);
        }
    }

    #[test]
    fn what_the_name_says_is_expected_of_another_way_as_well() {
        let expected = |name: &'static str| {
            let mut result = Ok(());
            // The expectation of calls that it does not make is refuted, or it fails immediately.
            let found = findings_of(&Case::new([("via", name)]), Pass::Evidence, &[], |b| {
                result = expect::<ByStream<pipe::Pipe>>(b, 1.0, 1.0, 0.0);
                b.iter(|| 1)
            });
            (result, found)
        };
        let (result, found) = expected("posix_queue");
        assert_eq!(result, Ok(()));
        let evidence = found.unwrap().evidence;
        let sends = evidence
            .iter()
            .find(|one| one.claim.starts_with("mq_timedsend"));
        assert_ne!(sends.map(|one| one.verdict), Some(Verdict::Confirmed));
        assert!(sends.is_some());
        let (result, _) = expected("shared_futex");
        assert!(matches!(result, Err(Failure::Broken(_))), "{result:?}");
    }

    #[test]
    fn a_way_in_memory_expects_no_other_calls() {
        let found = findings_of(
            &Case::new([("via", "shared_spin")]),
            Pass::Timed,
            &[],
            |b| {
                expect::<ring::Ring<ring::Spin>>(b, 1.0, 1.0, 0.0)?;
                b.iter(|| 1)
            },
        );
        assert!(found.is_ok());
        let unknown = findings_of(&Case::new([("via", "pigeon")]), Pass::Timed, &[], |b| {
            expect::<ring::Ring<ring::Spin>>(b, 1.0, 1.0, 0.0)
        });
        assert!(matches!(unknown, Err(Failure::Broken(_))));
    }

    #[test]
    fn a_way_that_waits_otherwise_than_its_name_says_is_refused() {
        fn refused<C: Channel>(name: &'static str) -> bool {
            let found = findings_of(&Case::new([("via", name)]), Pass::Timed, &[], |b| {
                expect::<C>(b, 1.0, 1.0, 0.0)?;
                b.iter(|| 1)
            });
            matches!(found, Err(Failure::Broken(_)))
        }
        assert!(refused::<ring::Ring<ring::Spin>>("shared_futex"));
        assert!(refused::<ring::Ring<ring::Sleep>>("shared_spin"));
        assert!(!refused::<ring::Ring<ring::Spin>>("shared_spin"));
        assert!(!refused::<ring::Ring<ring::Sleep>>("shared_futex"));
    }
}
