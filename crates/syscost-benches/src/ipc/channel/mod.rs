//! Mechanisms by which two tasks communicate, each in its own file.

#[cfg(test)]
pub(super) mod broken;
mod by_packet;
mod by_stream;
mod eventfd;
mod fifo;
pub(crate) mod gate;
mod mechanism;
pub(crate) mod pipe;
mod posix_queue;
mod process_vm_readv;
mod ring;
mod signal;
mod socketpair;
mod sysv_queue;
mod unix_datagram;
mod unix_seqpacket;
mod unix_stream;

use std::fs;
use std::os::fd::BorrowedFd;

use syscost_harness::prelude::*;
use syscost_sys::counters::TaskId;

pub(crate) use by_packet::ByPacket;
pub(crate) use by_stream::ByStream;
pub(super) use mechanism::Operation;
pub(crate) use mechanism::{Mechanism, Rows};

use super::message::Message;
use super::traffic::{Tasks, Traffic};
use crate::syscall::Bad;

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

    /// Both ends of a new channel for messages of this many bytes: the measuring task's and the partner's.
    fn open(bytes: usize) -> Result<(Self, Self), Failure>;

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
    ($($(#[$name:meta])? $via:ident: $channel:ty, $mechanism:expr;)*) => {
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
                $(Via::$via => T::measure::<$channel>(plan, tasks),)*
            }
        }

        /// Does something with the channel of each.
        #[cfg(test)]
        macro_rules! with_each {
            ($do:ident) => { $($do::<$channel>(Via::$via);)* };
        }
    };
}

// In the report's order. Adding one takes its file, `mod` above and a line here.
mechanisms! {
    Pipe: ByStream<pipe::Pipe>, pipe::MECHANISM;
    UnixStream: ByStream<unix_stream::UnixStream>, unix_stream::MECHANISM;
    SharedFutex: ring::Ring<ring::Sleep>, ring::SLEEPING;
    ProcessVmReadv: process_vm_readv::VmRead, process_vm_readv::MECHANISM;
    SharedSpin: ring::Ring<ring::Spin>, ring::POLLING;
    Fifo: ByStream<fifo::Fifo>, fifo::MECHANISM;
    #[value("socketpair")]
    SocketPair: ByStream<socketpair::SocketPair>, socketpair::MECHANISM;
    UnixDatagram: ByPacket<unix_datagram::UnixDatagram>, unix_datagram::MECHANISM;
    UnixSeqpacket: ByPacket<unix_seqpacket::UnixSeqpacket>, unix_seqpacket::MECHANISM;
    PosixQueue: posix_queue::PosixQueue, posix_queue::MECHANISM;
    SysvQueue: sysv_queue::SysvQueue, sysv_queue::MECHANISM;
    #[value("eventfd")]
    EventFd: eventfd::EventFd, eventfd::MECHANISM;
    Signal: signal::Signals, signal::MECHANISM;
}

/// Tries the mechanism once, so that restrictions of this machine are reported before anything depends on it.
pub(super) fn allowed<C: Channel>(bytes: usize) -> Result<(), Failure> {
    C::probe()?;
    C::open(bytes).map(drop)
}

impl Via {
    /// Whether messages of this size fit.
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

/// Two of a kind, one for each direction: the ends are (what it reads from, what it writes to).
fn crossed<T>(mut make: impl FnMut() -> Result<(T, T), Failure>) -> Result<Ends<T>, Failure> {
    let (at_partner, from_own) = make()?;
    let (at_own, from_partner) = make()?;
    Ok(((at_own, from_own), (at_partner, from_partner)))
}

/// What the measuring task reads from and writes to, and the same for the partner.
type Ends<T> = ((T, T), (T, T));

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;

    use super::*;
    use syscost_sys::partner::{Between, Partner};

    /// Transfers fifty messages of each of its sizes there and back.
    fn carries<C: Channel>(via: Via) {
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
        for bytes in sizes.into_iter().map(|size| size.0 as usize) {
            match allowed::<C>(bytes) {
                Ok(()) => {}
                Err(Failure::Unsupported(why)) => {
                    println!("skipped: {why}");
                    continue;
                }
                Err(failure) => panic!("{failure}"),
            }
            let (mut own, mut theirs) = C::open(bytes).unwrap();
            let partner = Partner::start(Between::Processes, &cpus, move || -> Result<(), Bad> {
                theirs.begin();
                let mut message = Message::new(bytes);
                for _ in 0..50 {
                    theirs.receive(&mut message)?;
                    theirs.send(&message)?;
                }
                theirs.settle()
            });
            let partner = partner.unwrap();
            own.meet(partner.task());
            let (mut message, mut answer) = (Message::new(bytes), Message::new(bytes));
            for number in 1..=50 {
                own.settle().unwrap();
                message.write(number, Pass::Evidence.into());
                assert_eq!(own.send(&message).unwrap(), bytes);
                assert_eq!(own.receive(&mut answer).unwrap(), bytes);
                assert_eq!(answer.bytes(), message.bytes(), "message {number}");
            }
            partner.join().unwrap();
        }
    }

    #[test]
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
