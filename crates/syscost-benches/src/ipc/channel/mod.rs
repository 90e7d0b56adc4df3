//! Mechanisms by which two tasks communicate, each in its own file.

#[cfg(test)]
pub(super) mod broken;
mod by_packet;
mod by_stream;
mod eventfd;
mod fifo;
pub(crate) mod gate;
pub(super) mod named;
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

use super::message::Message;
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

    /// How often a side may wait for each part of a message.
    const WAITS: f64 = 1.0;

    /// Both ends of a new channel for messages of this many bytes: the measuring task's and the partner's.
    fn open(bytes: usize) -> Result<(Self, Self), Failure>;

    /// The calls that this many messages take in both tasks, if each message is split into at most
    /// this many parts.
    fn calls(messages: f64, parts: f64) -> Vec<Expect>;

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

/// The mechanism that carries the messages.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Pipe,
    UnixStream,
    SharedFutex,
    SharedSpin,
    ProcessVmReadv,
    Fifo,
    #[value("socketpair")]
    SocketPair,
    UnixDatagram,
    UnixSeqpacket,
    PosixQueue,
    SysvQueue,
    #[value("eventfd")]
    EventFd,
    Signal,
}

/// Something to do with a mechanism.
pub(super) trait Job {
    /// Does it with this mechanism.
    fn run<C: Channel>(self, b: &mut Bencher) -> Result<(), Failure>;
}

/// Does the job with this mechanism.
pub(super) fn with(via: Via, b: &mut Bencher, job: impl Job) -> Result<(), Failure> {
    match via {
        Via::Pipe => job.run::<ByStream<pipe::Pipe>>(b),
        Via::Fifo => job.run::<ByStream<fifo::Fifo>>(b),
        Via::UnixStream => job.run::<ByStream<unix_stream::UnixStream>>(b),
        Via::SocketPair => job.run::<ByStream<socketpair::SocketPair>>(b),
        Via::UnixDatagram => job.run::<ByPacket<unix_datagram::UnixDatagram>>(b),
        Via::UnixSeqpacket => job.run::<ByPacket<unix_seqpacket::UnixSeqpacket>>(b),
        Via::EventFd => job.run::<eventfd::EventFd>(b),
        Via::PosixQueue => job.run::<posix_queue::PosixQueue>(b),
        Via::SysvQueue => job.run::<sysv_queue::SysvQueue>(b),
        Via::SharedFutex => job.run::<ring::Ring<ring::Sleep>>(b),
        Via::SharedSpin => job.run::<ring::Ring<ring::Spin>>(b),
        Via::ProcessVmReadv => job.run::<process_vm_readv::VmRead>(b),
        Via::Signal => job.run::<signal::Signals>(b),
    }
}

/// Tries the mechanism once, so that restrictions of this machine are reported before anything depends on it.
pub(super) fn allowed<C: Channel>(bytes: usize) -> Result<(), Failure> {
    C::probe()?;
    C::open(bytes).map(drop)
}

impl Via {
    /// Whether messages of this size fit.
    pub(super) fn carries(self, size: Bytes) -> Result<(), Unsupported> {
        let limit = match self {
            Via::PosixQueue => posix_queue::LARGEST,
            Via::SysvQueue => sysv_queue::LARGEST,
            Via::Pipe
            | Via::UnixStream
            | Via::SharedFutex
            | Via::SharedSpin
            | Via::ProcessVmReadv
            | Via::Fifo
            | Via::SocketPair
            | Via::UnixDatagram
            | Via::UnixSeqpacket
            | Via::EventFd
            | Via::Signal => return Ok(()),
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
    use super::*;
    use syscost_sys::partner::{Between, Partner};

    /// Transfers fifty messages there and back.
    fn carries<C: Channel>(sizes: &[usize]) {
        let cpus = syscost_sys::cpu::allowed().unwrap_or_default();
        for &bytes in sizes {
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
                message.write(number, true);
                assert_eq!(own.send(&message).unwrap(), bytes);
                assert_eq!(own.receive(&mut answer).unwrap(), bytes);
                assert_eq!(answer.bytes(), message.bytes(), "message {number}");
            }
            partner.join().unwrap();
        }
    }

    // Not signals: they would go to any thread of the program that runs the tests.
    #[test]
    fn every_way_carries_every_byte() {
        let sizes = [1, 64, 5000, 65536];
        carries::<ByStream<pipe::Pipe>>(&sizes);
        carries::<ByStream<fifo::Fifo>>(&sizes);
        carries::<ByStream<unix_stream::UnixStream>>(&sizes);
        carries::<ByStream<socketpair::SocketPair>>(&sizes);
        carries::<ByPacket<unix_datagram::UnixDatagram>>(&sizes);
        carries::<ByPacket<unix_seqpacket::UnixSeqpacket>>(&sizes);
        carries::<ring::Ring<ring::Sleep>>(&[1, 64, 5000, 65536, 1 << 20]);
        carries::<ring::Ring<ring::Spin>>(&[1, 64, 5000]);
        carries::<process_vm_readv::VmRead>(&sizes);
        carries::<posix_queue::PosixQueue>(&[1, 64, 4096]);
        carries::<sysv_queue::SysvQueue>(&[1, 64, 4096]);
        carries::<eventfd::EventFd>(&[8]);
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
