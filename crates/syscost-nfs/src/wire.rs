//! The connection: blocking calls in place of the asynchronous ones that nfs3_client expects.

use std::future::Future;
use std::io;
use std::net::TcpStream;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use nfs3_client::io::{AsyncRead, AsyncWrite};
use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_linger, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// Time limit for the server to answer, and to accept what it is sent.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum length of a reply, in bytes: a READ of 1 MiB and its header. A server could announce
/// 2 GiB.
const MAX_REPLY: u32 = (1 << 20) + 4096;

/// Length of the mark before each record, in bytes: the record's length, and whether it is the last
/// fragment (RFC 5531, section 11).
const MARK: usize = 4;

/// The bit of a mark for the last fragment of a message.
const LAST: u32 = 1 << 31;

/// The type of a message, which follows its xid.
const CALL: u32 = 0;
const REPLY: u32 = 1;

/// A procedure, by the numbers of its program and of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Procedure {
    /// The program, e.g. 100003 for NFS.
    pub program: u32,
    /// The procedure, e.g. 6 for READ.
    pub number: u32,
}

/// What passed over a connection, according to its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of calls sent.
    pub calls: u64,
    /// Number of replies received.
    pub replies: u64,
    /// Number of replies with the xid of the call before them.
    pub matched: u64,
    /// Bytes sent, including record marks.
    pub sent: u64,
    /// Bytes received, including record marks.
    pub received: u64,
    /// The procedure of the last call.
    pub procedure: Option<Procedure>,
    /// Number of consecutive calls of that procedure, up to the last.
    pub in_a_row: u64,
    /// The xid of the last call.
    xid: u32,
}

impl Traffic {
    /// Counts a record that is about to be sent.
    fn call(&mut self, record: &[u8]) -> io::Result<()> {
        let word = |at| word(record, at).ok_or_else(|| invalid("a call that is too short"));
        if word(0)? != LAST | (record.len() - MARK) as u32 || word(8)? != CALL {
            return Err(invalid("a call that is not one whole record"));
        }
        self.xid = word(4)?;
        let procedure = Procedure {
            program: word(16)?,
            number: word(24)?,
        };
        self.in_a_row = match self.procedure.replace(procedure) == Some(procedure) {
            true => self.in_a_row + 1,
            false => 1,
        };
        self.calls += 1;
        self.sent += record.len() as u64;
        Ok(())
    }

    /// Counts the message of a record that was received.
    fn reply(&mut self, message: &[u8]) {
        self.replies += 1;
        self.received += (MARK + message.len()) as u64;
        let is_of_call = word(message, 0) == Some(self.xid) && word(message, 4) == Some(REPLY);
        self.matched += u64::from(is_of_call);
    }
}

/// Reads the word of four bytes at this index.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// A connected socket that sends a record and receives the reply to it.
///
/// nfs3_client's own loops are avoided: at the end of a stream they never end, and they allocate
/// whatever length a server announces.
#[derive(Debug)]
pub(super) struct Wire {
    socket: Arc<TcpStream>,
    traffic: Arc<Mutex<Traffic>>,
    /// Whether the next bytes are a record mark.
    at_mark: bool,
    /// When the answer to the last call was first seen to come in pieces.
    dripping: Option<Instant>,
}

/// What a client keeps of its wire, which nfs3_client owns.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    pub(super) socket: Arc<TcpStream>,
    traffic: Arc<Mutex<Traffic>>,
}

impl Watch {
    pub(super) fn traffic(&self) -> Traffic {
        *locked(&self.traffic)
    }
}

fn locked(traffic: &Mutex<Traffic>) -> MutexGuard<'_, Traffic> {
    traffic.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    /// A wire over this connection, which is reset when it is closed, so that nothing stays in
    /// TIME_WAIT.
    pub(super) fn over(socket: TcpStream) -> io::Result<(Self, Watch)> {
        set_socket_linger(&socket, Some(Duration::ZERO))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
        let watch = Watch {
            socket: Arc::new(socket),
            traffic: Arc::default(),
        };
        let wire = Self {
            socket: Arc::clone(&watch.socket),
            traffic: Arc::clone(&watch.traffic),
            at_mark: true,
            dripping: None,
        };
        Ok((wire, watch))
    }

    /// Receives all of these bytes. The socket's time limit is for one call, which ends with what
    /// has arrived until then; how long an answer may take in all is only looked at once that has
    /// happened, so that usual answers cost no reading of a clock.
    fn receive(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &mut bytes[done..];
            let (_, count) = retry_on_intr(|| recv(&*self.socket, &mut *rest, RecvFlags::WAITALL))?;
            if count == 0 {
                let what = "it closed the connection";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
            }
            done += count;
            if done < bytes.len() {
                let since = self.dripping.get_or_insert_with(Instant::now);
                if since.elapsed() >= PATIENCE {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
        }
        Ok(())
    }

    fn receive_part(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.receive(bytes)?;
        if self.at_mark {
            let mark = word(bytes, 0).ok_or_else(|| invalid("no mark of a record"))?;
            if mark & !LAST > MAX_REPLY {
                let what = format!(
                    "its answer is not an RPC reply: it would be {} bytes long",
                    mark & !LAST
                );
                return Err(invalid(&what));
            }
            // An empty record has no bytes to receive.
            if mark & !LAST == 0 {
                return Err(invalid("an empty reply"));
            }
        } else {
            locked(&self.traffic).reply(bytes);
        }
        self.at_mark = !self.at_mark;
        Ok(())
    }

    fn send(&mut self, record: &[u8]) -> io::Result<()> {
        locked(&self.traffic).call(record)?;
        self.at_mark = true;
        self.dripping = None;
        let mut done = 0;
        while done < record.len() {
            let rest = &record[done..];
            done += retry_on_intr(|| send(&*self.socket, rest, SendFlags::NOSIGNAL))?;
        }
        Ok(())
    }
}

impl AsyncRead for Wire {
    async fn async_read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.async_read_exact(bytes).await?;
        Ok(bytes.len())
    }

    async fn async_read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.receive_part(bytes)
    }
}

impl AsyncWrite for Wire {
    async fn async_write(&mut self, record: &[u8]) -> io::Result<usize> {
        self.async_write_all(record).await?;
        Ok(record.len())
    }

    async fn async_write_all(&mut self, record: &[u8]) -> io::Result<()> {
        self.send(record)
    }
}

/// Returns the output of a future over a [`Wire`]. All its waiting is done in blocking calls, so it is
/// ready when first polled.
pub(super) fn at_once<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing over a blocking stream is pending"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use nfs3_client::{Nfs3Client, RpcError};

    /// Makes a NULL call whose reply is what `answer` makes of its xid.
    fn null(
        answer: impl FnOnce([u8; 4]) -> Vec<u8> + Send + 'static,
    ) -> (Result<(), RpcError>, Traffic) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let server = thread::spawn(move || {
            let mut call = [0; 44];
            far.read_exact(&mut call).unwrap();
            let xid = *call[MARK..].first_chunk().unwrap();
            far.write_all(&answer(xid)).unwrap();
        });
        let (wire, watch) = Wire::over(near).unwrap();
        let result = at_once(Nfs3Client::new(wire).null());
        server.join().unwrap();
        (result, watch.traffic())
    }

    /// A reply that accepts the call with this xid.
    fn accepted(xid: [u8; 4]) -> Vec<u8> {
        let mut record = vec![0x80, 0, 0, 24];
        record.extend(xid);
        record.extend([0, 0, 0, 1]);
        record.extend([0; 16]);
        record
    }

    #[test]
    fn a_call_and_its_reply_are_seen_in_the_bytes() {
        let (result, traffic) = null(accepted);
        assert!(result.is_ok(), "{result:?}");
        let null = Procedure {
            program: 100_003,
            number: 0,
        };
        assert_eq!((traffic.calls, traffic.replies, traffic.matched), (1, 1, 1));
        assert_eq!((traffic.sent, traffic.received), (44, 28));
        assert_eq!((traffic.procedure, traffic.in_a_row), (Some(null), 1));
    }

    #[test]
    fn a_reply_to_another_call_is_an_error_and_does_not_match() {
        let (result, traffic) = null(|xid| accepted(xid.map(|byte| !byte)));
        assert!(matches!(result, Err(RpcError::UnexpectedXid)), "{result:?}");
        assert_eq!((traffic.replies, traffic.matched), (1, 0));
    }

    #[test]
    fn the_end_of_the_stream_and_bad_lengths_are_errors() {
        let (result, _) = null(|_| vec![0x80, 0]);
        let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
        assert!(matches!(&result, Err(RpcError::Io(error)) if is_end(error)));
        for mark in [[0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0]] {
            let (result, _) = null(move |_| mark.to_vec());
            let is_bad = |error: &io::Error| error.kind() == io::ErrorKind::InvalidData;
            assert!(matches!(&result, Err(RpcError::Io(error)) if is_bad(error)));
        }
    }

    #[test]
    fn an_answer_that_comes_byte_by_byte_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let server = thread::spawn(move || {
            // 1 MiB, a byte at a time; until the other end has given up.
            let mut written = far.write_all(&[0x80, 0x10, 0, 0]);
            while written.is_ok() {
                thread::sleep(Duration::from_millis(200));
                written = far.write_all(&[0]);
            }
        });
        let (wire, watch) = Wire::over(near).unwrap();
        let result = at_once(Nfs3Client::new(wire).null());
        let is_late = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
        assert!(
            matches!(&result, Err(RpcError::Io(error)) if is_late(error)),
            "{result:?}"
        );
        drop(watch);
        server.join().unwrap();
    }

    #[test]
    fn calls_in_a_row_are_those_of_one_procedure() {
        let call = |number: u8| {
            let mut record = vec![0x80, 0, 0, 40];
            record.resize(44, 0);
            record[27] = number;
            record
        };
        let mut traffic = Traffic::default();
        for (number, in_a_row) in [(1, 1), (1, 2), (6, 1), (6, 2), (6, 3), (1, 1)] {
            traffic.call(&call(number)).unwrap();
            assert_eq!(traffic.in_a_row, in_a_row);
        }
        let is_one = traffic.call(&call(1)[..20]);
        assert!(is_one.is_err(), "a part of a record");
    }
}
