use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

use syscost_harness::bencher::Pass;
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
    End,
    /// Nothing within the time limit.
    Nothing,
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

/// What happens to the last message of a script whose earlier messages succeed.
fn last<const N: usize>(
    delivery: Delivery,
    script: [&[Arrival]; N],
) -> (Result<bool, Failure>, Tally) {
    let mut caller = caller(delivery, script);
    caller.run(N as u64 - 1).unwrap();
    (caller.iterate(), caller.tally)
}

#[test]
fn answers_are_counted_with_the_sum_of_their_nonces_and_losses_without() {
    for lost in [false, true] {
        let second: &[Arrival] = if lost { &[] } else { &[Echo(1)] };
        let mut caller = caller(Lossy, [&[Echo(0)], second, &[Echo(2)]]);
        caller.run(3).unwrap();
        let nonce = |bytes: &Vec<u8>| u64::from_le_bytes(*bytes.first_chunk().unwrap());
        let nonces: Vec<u64> = caller.link.sent.iter().map(nonce).collect();
        let sum = nonces
            .iter()
            .fold(0, |sum: u64, nonce| sum.wrapping_add(*nonce));
        let lost = u64::from(lost);
        let expected = Tally {
            sent: 3,
            sent_sum: sum,
            answered: 3 - lost,
            answered_sum: sum.wrapping_sub(lost.wrapping_mul(nonces[1])),
            lost,
            ..Tally::default()
        };
        assert_eq!(caller.tally, expected);
    }
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
    let (result, tally) = last(Lossy, script);
    assert_eq!(result, Ok(false));
    assert_eq!(
        (tally.answered, tally.lost),
        (2, 2),
        "0 and 3 were not answered in time"
    );
    assert_eq!((tally.late, tally.duplicated), (1, 3));
}

#[test]
fn what_is_no_answer_says_which_message_waits() {
    for delivery in [Lossless, Lossy] {
        for (arrivals, is_refuted, words) in [
            (&[Unknown][..], true, "neither message 2 nor an earlier one"),
            (&[Changed(1)], true, "neither message 2 nor an earlier one"),
            (&[Short(1)], true, "message 2 has 15 bytes, not 16"),
            // The size is checked before the nonce: part of an earlier answer is not an earlier answer.
            (&[Short(0)], true, "message 2 has 15 bytes, not 16"),
            (&[End], false, "closed before it answered message 2"),
            (&[Reset], false, "receive the answer to message 2"),
        ] {
            let failure = last(delivery, [&[Echo(0)], arrivals]).0.unwrap_err();
            assert_eq!(
                matches!(failure, Failure::Refuted(_)),
                is_refuted,
                "{arrivals:?}"
            );
            assert!(
                failure.to_string().contains(words),
                "{arrivals:?}: {failure}"
            );
        }
    }
    // Nothing comes twice where nothing can be lost.
    let twice = last(Lossless, [&[Echo(0)], &[Echo(0), Echo(1)]]).0;
    assert!(matches!(twice, Err(Failure::Refuted(_))), "{twice:?}");
}

#[test]
fn where_times_are_taken_only_the_nonce_is_compared() {
    let mut caller = caller(Lossless, [&[Changed(0)]]);
    caller.exchange.whole = Pass::Timed.into();
    assert_eq!(caller.iterate(), Ok(true));
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
    assert!(matches!(next(&[Echo(0)]), Err(Failure::Refuted(_))));
    assert_eq!(caller.tally.late, 1);
}

const MESSAGES: &str = "messages received by the far end";
const BYTES: &str = "bytes received by the far end";
const SUM: &str = "checksum of the bytes received by the far end";
const WRONG: &str = "bytes at the far end in messages of another size";
const UNANSWERED: &str = "messages not answered in time";
const LATE: &str = "answers that came late";
const TWICE: &str = "answers that came twice";

/// The claims that are refuted, and those that are unverified, next to the account of a far end that
/// received this many messages, and this many bytes of another size; and the number of details.
fn claims(
    caller: &Caller<Scripted>,
    messages: u64,
    wrong: u64,
) -> (Vec<String>, Vec<String>, usize) {
    let account = Account {
        messages,
        bytes: messages * SIZE as u64,
        checksum: caller.tally.sent_sum,
        wrong,
        ..Account::default()
    };
    let found = testing::judged(Pass::Timed, |b| caller.claim(b, &account));
    // The interface has carried nothing.
    let of = |verdict| {
        let mut all = testing::claims(&found, verdict);
        all.retain(|claim| !claim.contains("interface"));
        all
    };
    let details = ["lost_count", "late_count", "duplicated_count"];
    let details = details.map(|name| found.details.get(name).is_some_and(|one| one.value == 1.0));
    let details = details.into_iter().filter(|is_one| *is_one).count();
    (of(Verdict::Refuted), of(Verdict::Unverified), details)
}

#[test]
fn the_far_end_s_account_is_compared_and_losses_are_results_where_a_path_may_lose() {
    let none = Vec::<String>::new();
    let mut sound = caller(Lossless, [&[Echo(0)], &[Echo(1)]]);
    sound.run(2).unwrap();
    assert_eq!(claims(&sound, 2, 0), (none.clone(), none.clone(), 0));
    assert_eq!(claims(&sound, 2, 1).0, [WRONG]);
    assert_eq!(claims(&sound, 3, 0).0, [MESSAGES, BYTES]);
    let mut lossy = caller(Lossy, [&[], &[Echo(0), Echo(0), Echo(1)]]);
    lossy.run(2).unwrap();
    // One message was lost on its way back, or on its way there.
    for messages in [1, 2] {
        let (refuted, unverified, details) = claims(&lossy, messages, 0);
        assert_eq!(refuted, none, "{messages}");
        assert_eq!(unverified, [UNANSWERED, LATE, TWICE, SUM]);
        assert_eq!(details, 3);
    }
    assert_eq!(claims(&lossy, 0, 0).0, [MESSAGES, BYTES]);
    let mut lost = caller(Lossless, [&[Nothing]]);
    lost.run(1).unwrap();
    assert_eq!(claims(&lost, 1, 0).0, [UNANSWERED]);
}
