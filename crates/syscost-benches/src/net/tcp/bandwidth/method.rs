//! How a sender hands its bytes to the kernel.

use syscost_harness::prelude::*;

/// A way to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Method {
    /// sendto(2): the kernel copies.
    Write,
    /// sendto(2) with MSG_ZEROCOPY: the kernel refers to the memory until it reports completion.
    ZeroCopy,
    /// sendfile(2) from a file in memory: the kernel refers to the page cache.
    SendFile,
    /// splice(2) from a file in memory into a pipe, and from there into the socket.
    Splice,
}

/// Calls of the receiver for each message of the sender: a message may come in parts.
const RECEIVES: Expect = within(Counter::Syscall(Sysno::RECVFROM), 0.95, 4.0);

impl Method {
    /// The key of the parameter that names it.
    pub(in crate::net) const KEY: &str = "method";

    /// All of them.
    pub(super) const ALL: [Method; 4] = [
        Method::Write,
        Method::ZeroCopy,
        Method::SendFile,
        Method::Splice,
    ];

    /// The name in cases.
    pub(in crate::net) const fn name(self) -> &'static str {
        match self {
            Method::Write => "write",
            Method::ZeroCopy => "zerocopy",
            Method::SendFile => "sendfile",
            Method::Splice => "splice",
        }
    }

    /// The one that a case names.
    pub(super) fn of(case: &Case) -> Result<Method, Failure> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == case.get(Self::KEY))
            .ok_or_else(|| Failure::Broken("has an unknown method of sending".into()))
    }

    /// System calls per message: those of the sender, if this machine sends, and of the receiver,
    /// if this machine receives.
    pub(super) fn calls(self, sends: bool, receives: bool) -> Vec<Expect> {
        let sender = match self {
            Method::Write => vec![together(Sysno::SENDTO, 1.0)],
            // Completions are taken some at a time, and waited for at the end.
            Method::ZeroCopy => vec![
                together(Sysno::SENDTO, 1.0),
                within(Counter::Syscall(Sysno::RECVMSG), 0.02, 2.0),
                at_most(Counter::Syscall(Sysno::CLOCK_NANOSLEEP), 2.0),
            ],
            Method::SendFile => vec![together(Sysno::SENDFILE, 1.0)],
            // What does not fit into the socket at once stays in the pipe for another call.
            Method::Splice => vec![within(Counter::Syscall(Sysno::SPLICE), 1.9, 4.0)],
        };
        let receiver = [RECEIVES].into_iter().filter(|_| receives);
        let others = [at_most(Counter::OtherSyscalls, 0.05)];
        let sender = sender.into_iter().filter(|_| sends);
        sender.chain(receiver).chain(others).collect()
    }
}
