//! What the two ends of a transfer have counted.

use syscost_harness::prelude::*;

use crate::ipc::message::{Message, ODD};

const BOTH: &str = "both ends";

static SIZE: Witness = Witness::of("bytes of a message that arrived", BOTH);

/// Third argument of the calls that send.
pub(crate) const LENGTH: Argument = Argument::at(2, "length");

/// What one end has sent or received.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// A sum of the content, if it was looked at.
    pub(crate) sum: Option<u64>,
}

impl Moved {
    /// Counts a message of which this many bytes were moved, and if it is `whole` adds a checksum
    /// of its content.
    #[inline(always)]
    pub(crate) fn add(&mut self, moved: usize, message: &Message, whole: Compares) {
        self.messages += 1;
        self.bytes += moved as u64;
        if whole.all() {
            let sum = self.sum.unwrap_or_default();
            self.sum = Some(sum.wrapping_mul(ODD) ^ message.sum());
        }
    }
}

/// What a path may do to messages.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Strays {
    /// Maximum number of messages that are missing.
    pub(crate) missing: u64,
    /// Maximum number that came again.
    pub(crate) repeated: u64,
}

impl Strays {
    /// What must arrive, at least something, if this was given, of which a message is so much.
    fn bound(&self, gave: u64, each: u64) -> Bound {
        let least = gave.saturating_sub(self.missing * each).max(1);
        let most = gave + self.repeated * each;
        match self.missing + self.repeated {
            0 => Bound::Exactly(least as f64),
            _ => Bound::Within(least as f64, most as f64),
        }
    }
}

/// Proof that the messages of a stream have this size, the last of which may be incomplete.
pub(crate) fn about(size: Bytes) -> Proof {
    SIZE.within(Bound::Within(0.999 * size.0 as f64, size.0 as f64))
}

/// Proof that messages have this size, as a whole and in the call that sends each, if one does.
pub(crate) fn size(size: Bytes, sends_by: Option<Sysno>) -> Proof {
    let given = sends_by.map(|call| {
        let length = ArgumentValue::Always(size.0);
        Proof::argument(call, LENGTH, length)
    });
    SIZE.expects(size.0).and(given.unwrap_or_default())
}

pub(crate) fn see_size(b: &mut Bencher, got: &Moved) {
    match got.messages {
        0 => b.unobserved(&SIZE, "no message arrived"),
        messages => b.observe(&SIZE, got.bytes as f64 / messages as f64),
    }
}

/// Claims that what one end gave is what the other one got: as many messages, as many bytes, and
/// with the same sum. `what` says which: `that came back`.
pub(crate) fn claim_same(b: &mut Bencher, what: &str, gave: &Moved, got: &Moved, strays: Strays) {
    let bound = strays.bound(gave.messages, 1);
    b.claim_within(format!("messages {what}"), bound, got.messages as f64, BOTH);
    claim_same_content(b, what, gave, got, strays);
}

/// As [`claim_same`], of a stream, whose messages may arrive in parts.
pub(crate) fn claim_same_content(
    b: &mut Bencher,
    what: &str,
    gave: &Moved,
    got: &Moved,
    strays: Strays,
) {
    let bound = strays.bound(gave.bytes, gave.bytes / gave.messages.max(1));
    b.claim_within(format!("bytes {what}"), bound, got.bytes as f64, BOTH);
    let hex = |sum: u64| format!("{sum:016x}");
    let Some(gave) = gave.sum.map(hex) else {
        return;
    };
    let got = got.sum.map_or_else(|| "unknown".to_owned(), hex);
    let claim = format!("checksum of the bytes {what}");
    match strays.missing + strays.repeated {
        0 => b.claim_equal(claim, gave, got, BOTH),
        _ => {
            let reason = "messages were lost or duplicated";
            b.claim_unverified(claim, gave, got, BOTH, reason);
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::{claims, judged};

    /// The claims that are refuted where one end gave two messages of 64 bytes.
    fn refuted(messages: u64, bytes: u64, sum: u64, strays: Strays) -> Vec<String> {
        let moved = |messages, bytes, sum| Moved {
            messages,
            bytes,
            sum: Some(sum),
        };
        let (gave, got) = (moved(2, 128, 7), moved(messages, bytes, sum));
        let found = judged(Pass::Timed, |b| claim_same(b, "here", &gave, &got, strays));
        let all = claims(&found, Verdict::Refuted).into_iter();
        all.filter_map(|claim| Some(claim.strip_suffix(" here")?.to_owned()))
            .collect()
    }

    #[test]
    fn what_is_lost_cut_or_changed_is_refuted() {
        let none = Strays::default();
        let lossy = Strays {
            missing: 1,
            repeated: 1,
        };
        for (messages, bytes, sum, strays, claims) in [
            (2, 128, 7, none, &[][..]),
            (1, 64, 7, none, &["messages", "bytes"]),
            (2, 127, 7, none, &["bytes"]),
            (2, 128, 8, none, &["checksum of the bytes"]),
            (1, 64, 8, lossy, &[]),
            (3, 192, 8, lossy, &[]),
            (4, 256, 7, lossy, &["messages", "bytes"]),
        ] {
            let refuted = refuted(messages, bytes, sum, strays);
            assert_eq!(refuted, claims, "{messages} messages of {bytes} bytes");
        }
    }
}
