//! Traffic that checks a link's own delay, rate and loss. Sockets are created at an end of the link
//! and used from anywhere.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_tcp_congestion;

use super::{Link, Side};
use crate::tool::Failure;

/// How long to wait for an answer before the test gives up.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));
/// Length of the messages of a round trip.
const MESSAGE: [u8; 32] = [7; 32];

/// A datagram socket at this end.
pub(super) fn udp(link: &Link, side: Side, address: IpAddr) -> UdpSocket {
    let bound = link.end(side).within(|| UdpSocket::bind((address, 0)));
    let socket = bound.expect("the address is ours");
    socket.set_read_timeout(PATIENCE).expect("a timeout");
    socket
}

/// A connection: its near end, then its far end.
pub(super) fn tcp(link: &Link, far: IpAddr) -> [TcpStream; 2] {
    let bound = link.end(Side::Far).within(|| TcpListener::bind((far, 0)));
    let listener = bound.expect("the address is ours");
    let address = listener.local_addr().expect("an address");
    let connected = link
        .end(Side::Near)
        .within(|| TcpStream::connect_timeout(&address, PATIENCE.expect("some")));
    let near = connected.expect("the far end listens");
    let (far, _) = listener.accept().expect("a connection");
    for stream in [&near, &far] {
        stream.set_nodelay(true).expect("no delay");
        stream.set_read_timeout(PATIENCE).expect("a timeout");
        stream.set_write_timeout(PATIENCE).expect("a timeout");
    }
    [near, far]
}

/// Round trips of datagrams, in milliseconds.
pub(super) fn udp_round_trips(link: &Link, near: IpAddr, far: IpAddr, count: usize) -> Vec<f64> {
    let sockets = [udp(link, Side::Near, near), udp(link, Side::Far, far)];
    let to: SocketAddr = sockets[1].local_addr().expect("an address");
    let [near, far] = &sockets;
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut message = MESSAGE;
            for _ in 0..count {
                let (length, from) = far.recv_from(&mut message).expect("a datagram");
                far.send_to(&message[..length], from).expect("it is sent");
            }
        });
        let mut message = MESSAGE;
        round_trips(count, || {
            near.send_to(&MESSAGE, to).expect("it is sent");
            near.recv(&mut message).expect("an answer");
        })
    })
}

/// Round trips over one connection, in milliseconds.
pub(super) fn tcp_round_trips(link: &Link, far: IpAddr, count: usize) -> Vec<f64> {
    let [mut near, mut far] = tcp(link, far);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut message = MESSAGE;
            for _ in 0..count {
                far.read_exact(&mut message).expect("a message");
                far.write_all(&message).expect("it is sent");
            }
        });
        let mut message = MESSAGE;
        round_trips(count, || {
            near.write_all(&MESSAGE).expect("it is sent");
            near.read_exact(&mut message).expect("an answer");
        })
    })
}

fn round_trips(count: usize, mut once: impl FnMut()) -> Vec<f64> {
    let timed = || {
        let start = Instant::now();
        once();
        1e3 * start.elapsed().as_secs_f64()
    };
    std::iter::repeat_with(timed).take(count).collect()
}

/// Megabits of payload per second that arrive at the far end in each of some one-second windows,
/// after a warm-up window, while the near end sends as fast as possible with this congestion
/// control.
///
/// # Errors
/// If the kernel lacks the congestion control.
pub(super) fn tcp_megabits(
    link: &Link,
    far: IpAddr,
    congestion: &str,
    windows: usize,
) -> Result<Vec<f64>, Failure> {
    let [mut near, mut far] = tcp(link, far);
    set_tcp_congestion(&near, congestion)
        .map_err(|errno| Failure::of_call(congestion, errno.into()))?;
    let megabits = thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let chunk = vec![7; 65_536];
            // Until the receiver closes.
            while near.write_all(&chunk).is_ok() {}
        });
        let mut chunk = vec![0; 65_536];
        let mut window = || {
            let (start, mut bytes) = (Instant::now(), 0);
            while start.elapsed() < Duration::from_secs(1) {
                bytes += far.read(&mut chunk).expect("data");
            }
            bytes as f64 * 8.0 / 1e6 / start.elapsed().as_secs_f64()
        };
        window();
        let megabits = std::iter::repeat_with(window).take(windows).collect();
        drop(far);
        sender.join().expect("the sender ends");
        megabits
    });
    Ok(megabits)
}

/// How many of `count` datagrams arrive at the far end.
pub(super) fn udp_arrivals(link: &Link, near: IpAddr, far: IpAddr, count: usize) -> usize {
    /// Datagrams that fit into any receive buffer, so that none is lost there.
    const BURST: usize = 50;
    let [near, far] = [udp(link, Side::Near, near), udp(link, Side::Far, far)];
    let to = far.local_addr().expect("an address");
    let brief = Some(Duration::from_millis(20));
    far.set_read_timeout(brief).expect("a timeout");
    let mut arrived = 0;
    for _ in 0..count.div_ceil(BURST) {
        for _ in 0..BURST {
            near.send_to(&MESSAGE, to).expect("it is sent");
        }
        arrived += arrivals(&far);
    }
    arrived
}

/// The number of datagrams that arrive before a silence.
fn arrivals(far: &UdpSocket) -> usize {
    let mut message = MESSAGE;
    let mut count = 0;
    loop {
        match far.recv(&mut message) {
            Ok(_) => count += 1,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return count;
            }
            Err(error) => panic!("receiving: {error}"),
        }
    }
}
