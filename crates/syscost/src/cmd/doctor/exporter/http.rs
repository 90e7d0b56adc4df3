//! The smallest web server that Prometheus can scrape: one request of one client at a time, one
//! path, no state.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A client has this long, from its connection to the last byte: the next one waits meanwhile.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum length of a request, in bytes.
const MAX_REQUEST: usize = 4096;

/// Answers one request with the metrics.
///
/// # Errors
/// When the client is too slow, or has gone.
pub(super) fn answer(client: &mut TcpStream, metrics: &str) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let request = request(client, deadline)?;
    let (status, body) = match request.as_deref().map(path_of) {
        Some(Ok("/metrics")) => ("200 OK", metrics),
        Some(Ok(_)) => ("404 Not Found", "the metrics are at /metrics\n"),
        Some(Err(refusal)) => (refusal, ""),
        None => ("431 Request Header Fields Too Large", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), body.as_bytes()].concat();
    let mut left = &answer[..];
    while !left.is_empty() {
        client.set_write_timeout(Some(until(deadline)?))?;
        left = &left[client.write(left)?..];
    }
    Ok(())
}

/// Reads a request up to the end of its head; `None` if that is too far away.
fn request(client: &mut TcpStream, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; MAX_REQUEST];
    let mut length = 0;
    while length < MAX_REQUEST {
        client.set_read_timeout(Some(until(deadline)?))?;
        match client.read(&mut bytes[length..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => length += read,
        }
        if bytes[..length].windows(4).any(|end| end == b"\r\n\r\n") {
            bytes.truncate(length);
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// The path that is asked for, without a query, or the status of the refusal.
fn path_of(request: &[u8]) -> Result<&str, &'static str> {
    let line = request.split(|byte| *byte == b'\r').next();
    let line = line.and_then(|line| std::str::from_utf8(line).ok());
    let words: Vec<&str> = line.unwrap_or_default().split(' ').collect();
    match words[..] {
        ["GET", target, version] if version.starts_with("HTTP/1.") => {
            // As proxies ask.
            let path = target.strip_prefix("http://");
            let path = path.map_or(target, |rest| &rest[rest.find('/').unwrap_or(rest.len())..]);
            Ok(path.split('?').next().unwrap_or(path))
        }
        [_, _, version] if version.starts_with("HTTP/1.") => Err("405 Method Not Allowed"),
        _ => Err("400 Bad Request"),
    }
}

fn until(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// What a client gets that sends these bytes.
    fn answer_to(request: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = thread::spawn(move || {
            let mut server = TcpStream::connect(address).expect("connected");
            server.write_all(request).expect("sent");
            let mut answer = Vec::new();
            // A server that has not read everything resets the connection.
            let _ = server.read_to_end(&mut answer);
            String::from_utf8(answer).expect("text")
        });
        let (mut accepted, _) = listener.accept().expect("a client");
        let _ = answer(&mut accepted, "syscost_x 1.0\n");
        drop(accepted);
        client.join().expect("it ended")
    }

    #[test]
    fn only_the_metrics_can_be_got() {
        let text = answer_to(b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("\r\nContent-Length: 14\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\nsyscost_x 1.0\n"), "{text}");
        let text = answer_to(b"GET http://a:9946/metrics HTTP/1.1\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        for (request, status) in [
            (&b"GET http://a HTTP/1.1\r\n\r\n"[..], "404"),
            (b"GET / HTTP/1.1\r\n\r\n", "404"),
            (b"GET /metrics/../etc/passwd HTTP/1.1\r\n\r\n", "404"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (b"GET /metrics\r\n\r\n", "400"),
            (b"\xff\xfe\r\n\r\n", "400"),
            (&[b'a'; MAX_REQUEST], "431"),
        ] {
            let text = answer_to(request);
            assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
            assert!(!text.contains("syscost_x"), "{text}");
        }
    }

    #[test]
    fn a_client_that_says_nothing_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let _silent = TcpStream::connect(address).expect("connected");
        let (mut accepted, _) = listener.accept().expect("a client");
        assert!(answer(&mut accepted, "").is_err());
    }
}
