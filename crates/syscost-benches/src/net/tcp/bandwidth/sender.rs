//! The sending end of a stream, and how it hands its bytes to the kernel.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::Content;
use syscost_net::service::{Account, ServiceError, stream};
use syscost_sys::audit::uncounted;
use syscost_sys::process;
use syscost_sys::zero_copy::{self, FileMemory};

use crate::net::workers::{IsOver, Tally, ZeroCopies};

/// Bytes of the memory that a stream is sent from without copying. The kernel refers to what was
/// sent until it has been received, so this is more than the buffers of two sockets hold.
const MEMORY: usize = 16 << 20;

/// Messages between two checks for completions.
const CHECK_EVERY: u64 = 16;

/// Between two looks for the last completions.
const PAUSE: Duration = Duration::from_micros(100);

/// Reads how many bytes of the stream the receiver is known to have.
pub(super) type Consumed = Box<dyn FnMut() -> u64 + Send>;

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
            let parts = "as many as the network makes parts of the exchange";
            calls.extend([SLEEPS, RECEIVES.counter].map(|counter| at_least(counter, 0.0, parts)));
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
            Method::ZeroCopy => vec![
                sendto,
                at_least(
                    LOOKS,
                    MIN_LOOKS,
                    "each waits for what the network has acknowledged",
                ),
            ],
            Method::SendFile => vec![together(Sysno::SENDFILE, 1.0)],
            // What does not fit into the socket immediately stays in the pipe for another call.
            Method::Splice => vec![within(Counter::Syscall(Sysno::SPLICE), 1.9, 4.0)],
        }
    }
}

/// A sender of messages of one size.
pub(super) struct Sender {
    socket: TcpStream,
    size: usize,
    content: Content,
    /// What the kernel refers to; without it, it copies a buffer.
    memory: Option<Memory>,
}

/// Memory that a sender sends from without copying it.
struct Memory {
    method: Method,
    file: FileMemory,
    pipe: (io::PipeReader, io::PipeWriter),
    consumed: Consumed,
    consumed_bytes: u64,
}

impl Sender {
    /// `consumed` reads how much of the stream may be overwritten.
    pub(super) fn new(
        socket: TcpStream,
        method: Method,
        size: usize,
        content: Content,
        consumed: Consumed,
    ) -> Result<Self, Failure> {
        if size == 0 || !MEMORY.is_multiple_of(size) {
            return Err(Failure::Broken(
                "sends messages whose size is not a power of two".into(),
            ));
        }
        if method == Method::ZeroCopy {
            zero_copy::allow(&socket).map_err(Unsupported::from)?;
        }
        let memory = match method {
            Method::Write => None,
            Method::ZeroCopy | Method::SendFile | Method::Splice => Some(Memory {
                method,
                file: FileMemory::new(MEMORY)?,
                pipe: io::pipe().tried("make a pipe")?,
                consumed,
                consumed_bytes: 0,
            }),
        };
        Ok(Self {
            socket,
            size,
            content,
            memory,
        })
    }

    /// Sends until `is_over`, and then ends the stream.
    pub(super) fn send(&mut self, is_over: IsOver<'_>) -> Result<Tally, ServiceError> {
        let (socket, size, content) = (&self.socket, self.size, self.content);
        let tally = match &mut self.memory {
            None => stream::source(socket, &mut vec![0; size], content, is_over)?.into(),
            Some(memory) => memory.send(socket, size, content, is_over)?,
        };
        let ended = socket.shutdown(Shutdown::Write);
        ended.map_err(failed("shutdown", tally.messages))?;
        Ok(tally)
    }
}

impl ZeroCopies {
    /// Takes all completions that are queued.
    fn take(&mut self, socket: &TcpStream) -> io::Result<()> {
        while let Some(done) = zero_copy::completed(socket)? {
            self.completed += done.count();
            self.copied += if done.copied { done.count() } else { 0 };
        }
        Ok(())
    }

    /// Waits for the last completions.
    fn await_all(&mut self, socket: &TcpStream) -> io::Result<()> {
        let begun = Instant::now();
        self.take(socket)?;
        while self.completed < self.sends && begun.elapsed() < process::patience() {
            thread::sleep(PAUSE);
            self.take(socket)?;
        }
        Ok(())
    }
}

impl Memory {
    fn send(
        &mut self,
        socket: &TcpStream,
        size: usize,
        content: Content,
        is_over: IsOver<'_>,
    ) -> Result<Tally, ServiceError> {
        let (mut account, mut notices) = (Account::default(), ZeroCopies::default());
        loop {
            if !self.has_room_for(size as u64, &account, is_over) {
                break;
            }
            let at = (account.bytes % MEMORY as u64) as usize;
            let part = &mut self.file.contents()[at..at + size];
            let checksum = content.stamp(account.bytes, part);
            let messages = account.messages;
            let failed = |operation| failed(operation, messages);
            match self.method {
                Method::Write => unreachable!("sends from a buffer"),
                Method::ZeroCopy => {
                    let sent = self.without_copy(socket, at, size, &mut notices);
                    sent.map_err(failed("sendto"))?;
                }
                Method::SendFile => {
                    whole(size, |done| {
                        self.file.send_file(socket, at + done, size - done)
                    })
                    .map_err(failed("sendfile"))?;
                }
                Method::Splice => {
                    self.through_pipe(socket, at, size)
                        .map_err(failed("splice"))?;
                }
            }
            account.messages += 1;
            account.bytes += size as u64;
            account.checksum = account.checksum.wrapping_add(checksum);
            if notices.sends > 0 && account.messages.is_multiple_of(CHECK_EVERY) {
                notices.take(socket).map_err(failed("recvmsg"))?;
            }
            if is_over(&account) {
                break;
            }
        }
        // How long that takes depends on when the receiver gets its CPU.
        uncounted(|| notices.await_all(socket)).map_err(failed("recvmsg", account.messages))?;
        Ok(Tally::of(account, notices))
    }

    /// Waits until the memory of the next message may be overwritten; false if `is_over` comes first.
    #[inline]
    fn has_room_for(&mut self, size: u64, account: &Account, is_over: IsOver<'_>) -> bool {
        // One extra message: the count may include the few bytes of a cookie.
        while account.bytes + 2 * size > self.consumed_bytes + MEMORY as u64 {
            let before = self.consumed_bytes;
            self.consumed_bytes = (self.consumed)();
            if self.consumed_bytes == before {
                if is_over(account) {
                    return false;
                }
                thread::sleep(PAUSE);
            }
        }
        true
    }

    fn without_copy(
        &mut self,
        socket: &TcpStream,
        at: usize,
        size: usize,
        notices: &mut ZeroCopies,
    ) -> io::Result<()> {
        whole(size, |done| {
            let rest = &self.file.contents()[at + done..at + size];
            match zero_copy::send(socket, rest) {
                Ok(sent) => {
                    notices.sends += 1;
                    Ok(sent)
                }
                Err(error) if zero_copy::is_full(&error) => {
                    notices.take(socket)?;
                    thread::yield_now();
                    Err(io::ErrorKind::Interrupted.into())
                }
                Err(error) => Err(error),
            }
        })
    }

    fn through_pipe(&mut self, socket: &TcpStream, at: usize, size: usize) -> io::Result<()> {
        let (out, into) = &self.pipe;
        let mut waiting = 0;
        let file = &self.file;
        whole(size, |done| {
            if waiting == 0 {
                waiting = file.splice_into(into, at + done, size - done)?;
            }
            let moved = zero_copy::splice_from(out, socket, waiting)?;
            waiting -= moved;
            Ok(moved)
        })
    }
}

fn failed(operation: &'static str, messages: u64) -> impl Fn(io::Error) -> ServiceError {
    move |cause| ServiceError {
        operation,
        messages,
        cause,
    }
}

/// Calls `part` with the number of bytes done so far until all are done; an interrupted call has
/// moved nothing.
#[inline]
fn whole(size: usize, mut part: impl FnMut(usize) -> io::Result<usize>) -> io::Result<()> {
    let mut done = 0;
    while done < size {
        match part(done) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(moved) => done += moved,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    use super::*;
    use crate::net::far_end::{Family, listen};
    use syscost_net::socket::{self, Tcp};

    /// Sends this many messages by a method, and what the receiver found; `None` where it cannot be
    /// done here.
    fn transfer(method: Method, size: usize, messages: u64) -> Option<(Tally, Account)> {
        let (listener, address) = match listen(Family::Ipv4.loopback(), 1, &Tcp::nodelay()) {
            Ok(listening) => listening,
            Err(reason) => {
                println!("skipped: {reason}");
                return None;
            }
        };
        let near = socket::connect(address, &Tcp::nodelay(), Duration::from_secs(2)).unwrap();
        let far = listener.accept().unwrap().0;
        let received = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&received);
        let consumed = Box::new(move || counted.load(SeqCst));
        let mut sender = match Sender::new(near, method, size, Content::Whole, consumed) {
            Ok(sender) => sender,
            Err(reason) => {
                println!("skipped: {reason}");
                return None;
            }
        };
        let sink = thread::spawn(move || {
            let mut note = |account: &Account| {
                received.store(account.bytes, SeqCst);
                false
            };
            stream::sink(&far, &mut vec![0; size], Content::Whole, &mut note).unwrap()
        });
        let sent = sender
            .send(&mut |account| account.messages == messages)
            .unwrap();
        Some((sent, sink.join().unwrap()))
    }

    #[test]
    fn every_method_sends_what_it_says_also_beyond_its_memory() {
        for method in Method::ALL {
            // More than once around the memory.
            for (size, messages) in [(65536, 300), (4096, 10)] {
                let Some((sent, got)) = transfer(method, size, messages) else {
                    continue;
                };
                assert_eq!(sent.messages, messages, "{method:?}");
                assert_eq!(
                    (sent.bytes, got.bytes),
                    (messages * size as u64, sent.bytes)
                );
                assert_eq!((got.wrong, got.checksum), (0, sent.checksum), "{method:?}");
                let copies = sent.zero_copies;
                assert_eq!(copies.completed, copies.sends, "{method:?}");
                assert_eq!(copies.sends >= messages, method == Method::ZeroCopy);
            }
        }
    }

    #[test]
    fn what_does_not_fit_into_its_memory_is_a_defect() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let sender = Sender::new(
            near,
            Method::SendFile,
            1000,
            Content::Sparse,
            Box::new(|| 0),
        );
        assert!(matches!(sender.err(), Some(Failure::Broken(_))));
    }
}
