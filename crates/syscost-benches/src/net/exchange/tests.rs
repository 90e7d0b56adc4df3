use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

use syscost_harness::bencher::{Findings, Pass};
use syscost_results::Verdict;

use super::*;
use crate::testing;

const SIZE: usize = 16;

/// What a receiving call returns.
#[derive(Debug, Clone, Copy)]
enum Arrival {
    /// The message with this number, counted from 0.
    Message(usize),
    /// That message with another last byte.
    Changed(usize),
    /// That message without its last byte.
    Short(usize),
    /// A message that was never sent.
    Unknown,
    /// The end of the stream.
    End,
    /// Nothing within the time limit.
    Nothing,
    /// An error of the call.
    Reset,
}

use Arrival::{Changed, End, Message as Echo, Nothing, Reset, Short, Unknown};

/// A link in memory whose arrivals follow a script: for each message sent, what arrives after it.
struct Scripted {
    script: VecDeque<Vec<Arrival>>,
    arrivals: VecDeque<Arrival>,
    sent: Vec<Vec<u8>>,
}

impl Link for Scripted {
    fn send(&mut self, message: &mut Message) -> Result<(), Errno> {
        self.sent.push(message.bytes().to_vec());
        self.arrivals
            .extend(self.script.pop_front().unwrap_or_default());
        Ok(())
    }

    fn receive(&mut self, answer: &mut Message) -> Result<Option<usize>, Errno> {
        let arrival = self.arrivals.pop_front().unwrap_or(Nothing);
        let bytes = answer.bytes_mut();
        match arrival {
            Echo(number) | Changed(number) | Short(number) => {
                bytes.copy_from_slice(&self.sent[number]);
            }
            Unknown => bytes.fill(0),
            End | Nothing | Reset => {}
        }
        match arrival {
            Echo(_) | Unknown => Ok(Some(SIZE)),
            Changed(_) => {
                bytes[SIZE - 1] ^= 1;
                Ok(Some(SIZE))
            }
            Short(_) => Ok(Some(SIZE - 1)),
            End => Ok(Some(0)),
            Nothing => Ok(None),
            Reset => Err(Errno::CONNRESET),
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        Ok(())
    }
}

/// Whether a path may lose messages.
#[derive(Clone, Copy, PartialEq)]
enum Delivery {
    Lossless,
    Lossy,
}

use Delivery::{Lossless, Lossy};

fn caller<const N: usize>(delivery: Delivery, script: [&[Arrival]; N]) -> Caller<Scripted> {
    let exchange = Exchange {
        size: SIZE,
        whole: Pass::Evidence.into(),
        is_lossless: delivery == Lossless,
        clock: Clock::system(),
        seed: 7,
    };
    let link = Scripted {
        script: script.map(<[Arrival]>::to_vec).into(),
        arrivals: VecDeque::new(),
        sent: Vec::new(),
    };
    let own = IpAddr::from(Ipv4Addr::LOCALHOST);
    exchange.over(link, InterfaceCounters::begin(own, own))
}

/// The failure caused by the last message of a script whose earlier messages succeed.
fn failure<const N: usize>(delivery: Delivery, script: [&[Arrival]; N]) -> Failure {
    let mut caller = caller(delivery, script);
    caller.run(N as u64 - 1).unwrap();
    caller.iterate().unwrap_err()
}

fn is_refuted(failure: &Failure, words: &str) -> bool {
    matches!(failure, Failure::Refuted(text) if text.contains(words))
}

#[test]
fn answers_are_counted_with_the_sum_of_their_nonces() {
    for delivery in [Lossless, Lossy] {
        let mut caller = caller(delivery, [&[Echo(0)], &[Echo(1)], &[Echo(2)]]);
        caller.run(3).unwrap();
        let nonces = caller.link.sent.iter().map(|bytes| {
            let nonce = bytes[..8].try_into().unwrap();
            u64::from_le_bytes(nonce)
        });
        let sum = nonces.fold(0, u64::wrapping_add);
        let expected = Tally {
            sent: 3,
            sent_sum: sum,
            answered: 3,
            answered_sum: sum,
            ..Tally::default()
        };
        assert_eq!(caller.tally, expected);
    }
}

#[test]
fn a_message_without_an_answer_is_lost_and_its_nonce_is_in_one_sum_only() {
    let mut caller = caller(Lossy, [&[Echo(0)], &[], &[Echo(2)]]);
    assert_eq!(
        [(); 3].map(|()| caller.iterate()),
        [Ok(true), Ok(false), Ok(true)]
    );
    let Tally {
        sent,
        answered,
        lost,
        ..
    } = caller.tally;
    assert_eq!((sent, answered, lost), (3, 2, 1));
    assert_ne!(caller.tally.sent_sum, caller.tally.answered_sum);
}

#[test]
fn late_and_repeated_answers_are_distinguished_and_answer_no_other_message() {
    let script: [&[Arrival]; 4] = [
        &[Nothing],
        // The answer to the previous message, late.
        &[Echo(0), Echo(1)],
        // Now both have been answered already.
        &[Echo(0), Echo(1), Echo(2)],
        &[Echo(2)],
    ];
    let mut caller = caller(Lossy, script);
    caller.run(4).unwrap();
    let Tally {
        answered,
        lost,
        late,
        duplicated,
        ..
    } = caller.tally;
    assert_eq!(
        (answered, lost),
        (2, 2),
        "0 and 3 were not answered in time"
    );
    assert_eq!((late, duplicated), (1, 3));
}

#[test]
fn nothing_comes_late_or_twice_where_nothing_can_be_lost() {
    let failure = failure(Lossless, [&[Echo(0)], &[Echo(0), Echo(1)]]);
    assert!(is_refuted(&failure, "neither message 2"), "{failure}");
}

#[test]
fn strangers_parts_and_changed_bytes_are_refuted() {
    for delivery in [Lossless, Lossy] {
        for (arrival, words) in [
            (Unknown, "neither message 2 nor an earlier one"),
            (Changed(1), "neither message 2 nor an earlier one"),
            (Short(1), "message 2 has 15 bytes, not 16"),
            // The size is checked before the nonce: part of an earlier answer is not an earlier answer.
            (Short(0), "message 2 has 15 bytes, not 16"),
        ] {
            let failure = failure(delivery, [&[Echo(0)], &[arrival]]);
            assert!(is_refuted(&failure, words), "{arrival:?}: {failure}");
        }
    }
}

#[test]
fn where_times_are_taken_only_the_nonce_is_compared() {
    let mut caller = caller(Lossless, [&[Changed(0)]]);
    caller.whole = Pass::Timed.into();
    assert_eq!(caller.iterate(), Ok(true));
}

#[test]
fn an_end_and_an_error_fail_and_say_which_message_waits() {
    for (arrival, words) in [
        (End, "closed before it answered message 2"),
        (Reset, "receive the answer to message 2"),
    ] {
        let failure = failure(Lossy, [&[Echo(0)], &[arrival]]);
        assert!(!matches!(failure, Failure::Refuted(_)), "{failure}");
        assert!(failure.to_string().contains(words), "{failure}");
    }
}

#[test]
fn only_the_last_messages_are_remembered() {
    let mut caller = caller(Lossy, [&[]]);
    assert_eq!(caller.iterate(), Ok(false));
    let mut next = |arrivals: &[Arrival]| {
        caller.link.script.push_back(arrivals.to_vec());
        caller.iterate()
    };
    for number in 1..REMEMBERED {
        assert_eq!(next(&[Echo(number)]), Ok(true));
    }
    assert_eq!(next(&[Echo(0), Echo(REMEMBERED)]), Ok(true), "late");
    let failure = next(&[Echo(0)]).unwrap_err();
    assert!(is_refuted(&failure, "nor an earlier one"), "{failure}");
    assert_eq!(caller.tally.late, 1);
}

const MESSAGES: &str = "messages received by the far end";
const BYTES: &str = "bytes received by the far end";
const SUM: &str = "checksum of the bytes received by the far end";
const WRONG: &str = "bytes at the far end in messages of another size";
const UNANSWERED: &str = "messages not answered in time";
const LATE: &str = "answers that came late";
const TWICE: &str = "answers that came twice";

/// The account of a far end that received everything that was sent.
fn account(caller: &Caller<Scripted>) -> Account {
    Account {
        messages: caller.tally.sent,
        bytes: caller.tally.sent * SIZE as u64,
        checksum: caller.tally.sent_sum,
        ..Account::default()
    }
}

/// What a caller claims next to such an account.
fn findings(caller: &Caller<Scripted>, account: &Account) -> Findings {
    let found = testing::found_by(&Case::default(), Pass::Timed, &[], |plan| {
        let mut outcome = plan.measure(Observed::of(|| Ok(1.0)))?;
        caller.claim(&mut outcome, account);
        Ok(outcome)
    });
    found.expect("supported")
}

/// The claims with this verdict, except those about the interface, which has carried nothing.
fn claims(findings: &Findings, verdict: Verdict) -> Vec<&str> {
    let mut claims = testing::claims(findings, verdict);
    claims.retain(|claim| !claim.contains("interface"));
    claims
}

#[test]
fn the_far_end_s_counts_and_sums_are_compared() {
    let mut caller = caller(Lossless, [&[Echo(0)], &[Echo(1)]]);
    caller.run(2).unwrap();
    let right = account(&caller);
    let of = |account: &Account, verdict| {
        let found = findings(&caller, account);
        claims(&found, verdict)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&right, Verdict::Refuted), [""; 0]);
    assert_eq!(of(&right, Verdict::Unverified), [""; 0]);
    let messages = Account {
        messages: 3,
        ..right.clone()
    };
    let bytes = Account {
        bytes: 31,
        ..right.clone()
    };
    let checksum = Account {
        checksum: !right.checksum,
        ..right.clone()
    };
    let wrong = Account { wrong: 1, ..right };
    for (account, claim) in [
        (messages, MESSAGES),
        (bytes, BYTES),
        (checksum, SUM),
        (wrong, WRONG),
    ] {
        assert_eq!(of(&account, Verdict::Refuted), [claim]);
    }
}

#[test]
fn losses_are_results_on_a_path_that_may_lose() {
    let mut caller = caller(Lossy, [&[], &[Echo(0), Echo(0), Echo(1)]]);
    caller.run(2).unwrap();
    // One message was lost on its way back, or on its way there.
    for messages in [1, 2] {
        let account = Account {
            messages,
            bytes: messages * SIZE as u64,
            ..account(&caller)
        };
        let found = findings(&caller, &account);
        assert_eq!(claims(&found, Verdict::Refuted), [""; 0], "{messages}");
        assert_eq!(
            claims(&found, Verdict::Unverified),
            [UNANSWERED, LATE, TWICE, SUM]
        );
        let details = ["lost_count", "late_count", "duplicated_count"];
        assert_eq!(details.map(|name| found.details[name].value), [1.0; 3]);
    }
    let none = Account {
        messages: 0,
        ..account(&caller)
    };
    assert_eq!(
        claims(&findings(&caller, &none), Verdict::Refuted),
        [MESSAGES]
    );
}

#[test]
fn a_loss_refutes_where_nothing_can_be_lost() {
    let mut caller = caller(Lossless, [&[Nothing]]);
    caller.run(1).unwrap();
    let found = findings(&caller, &account(&caller));
    assert_eq!(claims(&found, Verdict::Refuted), [UNANSWERED]);
}
