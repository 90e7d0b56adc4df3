//! Mechanisms by which two tasks communicate, each in its own file.

#[cfg(test)]
pub(super) mod broken;
mod eventfd;
pub(crate) mod gate;
mod mechanism;
mod packets;
mod posix_queue;
mod process_vm_readv;
mod ring;
mod signal;
pub(crate) mod streams;
mod sysv_queue;

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use syscost_harness::prelude::*;

pub(super) use mechanism::Operation;
pub(crate) use mechanism::{Mechanism, Rows};

use super::message::Message;
use super::traffic::{Tasks, Traffic};
use crate::syscall::Bad;

/// The measuring task's end of a channel and the partner's.
pub(crate) type Ends<T> = (T, T);

/// Opens both ends of a new channel for messages of this many bytes.
pub(crate) type Open<C> = fn(usize) -> Result<Ends<C>, Failure>;

/// One task's end of a channel.
///
/// The partner's end is closed with the partner, so that a waiting task learns that the other has
/// ended, if the kernel reports it.
pub(crate) trait Channel: Sized + Send + 'static {
    /// Whether a waiting task gives up the CPU.
    const SLEEPS: bool = true;

    /// Whether this machine permits it, where only a trial shows that.
    fn probe() -> Result<(), Failure> {
        Ok(())
    }

    /// The descriptors that this end's messages go through, if any: read and write calls do not
    /// show what they read and write.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// Informs the measuring task's end who the partner is.
    fn meet(&mut self, _partner: TaskId) {}

    /// Called in the partner with its end.
    fn begin(&mut self) {}

    /// Waits until the last message sent may be changed.
    #[inline(always)]
    fn settle(&mut self) -> Result<(), Bad> {
        Ok(())
    }

    /// Sends a message, and returns how many of its bytes were sent.
    fn send(&mut self, message: &Message) -> Result<usize, Bad>;

    /// Waits for a message, and returns how many bytes arrived; fewer if the other end is gone.
    fn receive(&mut self, message: &mut Message) -> Result<usize, Bad>;

    /// Lets the other end know that no message will come, in case it waits and the kernel does not
    /// report that.
    fn wake_waiters(&mut self) {}
}

/// Declares the mechanisms.
macro_rules! mechanisms {
    ($($(#[$name:meta])? $via:ident: $open:expr, $mechanism:expr;)*) => {
        /// The mechanism that carries the messages.
        #[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Via {
            $($(#[$name])? $via,)*
        }

        impl Via {
            /// What tells it from others, and which rows it has.
            pub(super) fn mechanism(self) -> &'static Mechanism {
                match self {
                    $(Via::$via => &$mechanism,)*
                }
            }
        }

        /// Measures such traffic over this mechanism.
        pub(super) fn measure<'a, T: Traffic>(
            via: Via,
            plan: Plan<'a>,
            tasks: Tasks,
        ) -> Result<Outcome<'a>, Failure> {
            match via {
                $(Via::$via => T::measure(plan, tasks, $open),)*
            }
        }

        /// Does something with each.
        #[cfg(test)]
        macro_rules! with_each {
            ($do:ident) => { $($do(Via::$via, $open);)* };
        }
    };
}

// In the report's order. Adding one takes its functions and a line here.
mechanisms! {
    Pipe: streams::pipes, streams::PIPE;
    UnixStream: streams::sockets, streams::UNIX;
    SharedFutex: ring::open::<false>, ring::SLEEPING;
    ProcessVmReadv: process_vm_readv::open, process_vm_readv::MECHANISM;
    SharedSpin: ring::open::<true>, ring::POLLING;
    Fifo: streams::fifos, streams::FIFO;
    #[value("socketpair")]
    SocketPair: streams::pair, streams::SOCKETPAIR;
    UnixDatagram: packets::datagrams, packets::DATAGRAMS;
    UnixSeqpacket: packets::seqpackets, packets::SEQPACKETS;
    PosixQueue: posix_queue::open, posix_queue::MECHANISM;
    SysvQueue: sysv_queue::open, sysv_queue::MECHANISM;
    #[value("eventfd")]
    EventFd: eventfd::open, eventfd::MECHANISM;
    Signal: signal::open, signal::MECHANISM;
}

/// Tries the mechanism once, so that restrictions of this machine are reported before anything depends on it.
pub(super) fn allowed<C: Channel>(open: Open<C>, bytes: usize) -> Result<(), Failure> {
    C::probe()?;
    open(bytes).map(drop)
}

impl Via {
    pub(super) fn carries(self, size: Bytes) -> Result<(), Unsupported> {
        let Some(limit) = self.mechanism().limit else {
            return Ok(());
        };
        let largest = number_in(limit)?;
        match size.0 {
            bytes if bytes <= largest => Ok(()),
            bytes => Err(Unsupported::new(format!(
                "a message of {bytes} bytes is larger than {limit} allows, {largest}"
            ))),
        }
    }
}

/// Reads a setting of the kernel.
fn number_in(path: &str) -> Result<u64, Unsupported> {
    let text =
        fs::read_to_string(path).map_err(|error| Unsupported::new(format!("{path}: {error}")))?;
    let number = text.trim().parse();
    number.map_err(|_| Unsupported::new(format!("{path} holds no number")))
}

/// Both ends of a channel of two of a kind, one for each direction: `make` returns what is read and
/// what is written, of which `end` makes an end.
fn crossed<T, C>(
    make: impl Fn() -> Result<(T, T), Failure>,
    end: impl Fn(T, T) -> C,
) -> Result<Ends<C>, Failure> {
    let (at_partner, from_own) = make()?;
    let (at_own, from_partner) = make()?;
    Ok((end(at_own, from_own), end(at_partner, from_partner)))
}

/// One that is both read and written.
fn twice(one: OwnedFd) -> Result<(OwnedFd, OwnedFd), Failure> {
    let again = one
        .as_fd()
        .try_clone_to_owned()
        .tried("duplicate a descriptor")?;
    Ok((again, one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipc::round_trip::tests::exchange;

    /// Transfers messages of each of its sizes there and back.
    fn carries<C: Channel>(via: Via, open: Open<C>) {
        // They would go to any thread of the program that runs the tests.
        if via == Via::Signal {
            return;
        }
        let cpus = syscost_sys::cpu::allowed().unwrap_or_default();
        let Mechanism {
            round_trips,
            bandwidths,
            ..
        } = via.mechanism();
        let sizes = [round_trips, bandwidths].map(|rows| [rows.same, rows.other].concat());
        // Sizes that are no multiples of anything, too.
        let odd = match round_trips.same {
            [] | [_] => &[][..],
            _ => &[Bytes(1), Bytes(5000)],
        };
        let mut sizes = [&sizes.concat()[..], odd].concat();
        sizes.retain(|size| via.carries(*size).is_ok());
        assert!(!sizes.is_empty(), "{via:?} has no rows");
        for size in sizes.into_iter().map(Bytes::get) {
            match allowed(open, size) {
                Ok(()) => {
                    let tasks = Tasks::small(Between::Processes, size);
                    let ends = open(size).unwrap();
                    assert_eq!(exchange(tasks, ends, &cpus), Ok(true), "{via:?}");
                }
                Err(Failure::Unsupported(why)) => println!("skipped: {why}"),
                Err(failure) => panic!("{failure}"),
            }
        }
    }

    #[test]
    #[ignore = "machine suite"]
    fn every_way_carries_every_byte() {
        with_each!(carries);
    }

    #[test]
    fn a_message_larger_than_a_queue_allows_is_unsupported() {
        let size = Bytes(999_999_999_999);
        assert!(Via::Pipe.carries(size).is_ok());
        for via in [Via::PosixQueue, Via::SysvQueue] {
            assert!(via.carries(size).is_err(), "{via:?}");
        }
    }
}
