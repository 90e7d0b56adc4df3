//! How a sender hands its bytes to the kernel.

use syscost_harness::prelude::*;

/// How the data is sent.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Method {
    /// sendto(2): the kernel copies.
    Write,
    /// sendto(2) with MSG_ZEROCOPY: the kernel refers to the memory until it reports completion.
    #[value("zerocopy")]
    ZeroCopy,
    /// sendfile(2) from a file in memory: the kernel refers to the page cache.
    #[value("sendfile")]
    SendFile,
    /// splice(2) from a file in memory into a pipe, and from there into the socket.
    Splice,
}

/// Calls of the receiver for each message of the sender: a message may arrive in parts.
const RECEIVES: Expect = within(Counter::Syscall(Sysno::RECVFROM), 0.95, 4.0);

/// Short sleeps while waiting for something.
const SLEEPS: Counter = Counter::Syscall(Sysno::CLOCK_NANOSLEEP);

/// Checks for completions of zero-copy sends, and their minimum number per message.
const LOOKS: Counter = Counter::Syscall(Sysno::RECVMSG);
const MIN_LOOKS: f64 = 0.02;

impl Method {
    /// System calls per message: those of the sender, if this machine sends, and of the receiver,
    /// if this machine receives.
    pub(super) fn calls(self, sends: bool, receives: bool) -> Vec<Expect> {
        let is_here = sends && receives;
        let mut calls = match sends {
            true => self.calls_of_sender(is_here),
            false => Vec::new(),
        };
        if is_here {
            calls.extend([RECEIVES, at_most(Counter::OtherSyscalls, 0.05)]);
        } else {
            // The exchange with another machine comes in parts as the network delivers them, and the
            // audited messages are few. It is not known how many sleeps pass until the last one has been
            // acknowledged, nor how many calls it takes to receive its answers and to send the excess.
            calls.push(at_most(Counter::OtherSyscalls, 0.5));
            calls.extend([SLEEPS, RECEIVES.counter].map(|counter| at_least(counter, 0.0)));
        }
        calls
    }

    /// The calls of the sender; `is_here` says whether the receiver is on this machine as well.
    fn calls_of_sender(self, is_here: bool) -> Vec<Expect> {
        let sendto = together(Sysno::SENDTO, 1.0);
        match self {
            Method::Write => vec![sendto],
            // Completions are taken several at a time; the wait for the last is not counted.
            Method::ZeroCopy if is_here => {
                vec![sendto, within(LOOKS, MIN_LOOKS, 2.0), at_most(SLEEPS, 2.0)]
            }
            Method::ZeroCopy => vec![sendto, at_least(LOOKS, MIN_LOOKS)],
            Method::SendFile => vec![together(Sysno::SENDFILE, 1.0)],
            // What does not fit into the socket immediately stays in the pipe for another call.
            Method::Splice => vec![within(Counter::Syscall(Sysno::SPLICE), 1.9, 4.0)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_may_keep_this_one_waiting() {
        for method in Method::ALL {
            let calls = method.calls(true, false);
            let sleeps: Vec<_> = calls.iter().filter(|one| one.counter == SLEEPS).collect();
            assert_eq!(sleeps, [&at_least(SLEEPS, 0.0)], "{method:?}");
            let looks = calls.iter().find(|one| one.counter == LOOKS).copied();
            let expected = (method == Method::ZeroCopy).then(|| at_least(LOOKS, MIN_LOOKS));
            assert_eq!(looks, expected, "{method:?}");
            let is_bound = |one: &&Expect| one.counter == Counter::OtherSyscalls;
            let others =
                |sends, receives| method.calls(sends, receives).iter().find(is_bound).copied();
            assert_eq!(
                others(true, true),
                Some(at_most(Counter::OtherSyscalls, 0.05))
            );
            assert_eq!(
                others(false, true),
                Some(at_most(Counter::OtherSyscalls, 0.5))
            );
        }
    }
}
