use serde_json::json;

use super::*;
use crate::content::Content;
use crate::service::{Account, Reading, Wait};
use crate::socket::Tcp;
use crate::token::Nonce;

#[test]
fn lines_end_or_are_too_long() {
    assert_eq!(split(b"", 4), Ok(None));
    assert_eq!(split(b"abcd", 4), Ok(None));
    assert_eq!(split(b"abcd\nef", 4), Ok(Some((&b"abcd"[..], &b"ef"[..]))));
    assert_eq!(split(b"\n", 4), Ok(Some((&b""[..], &b""[..]))));
    assert_eq!(split(b"abcde", 4), Err(WireError::TooLong(4)));
    assert_eq!(split(b"abcde\n", 4), Err(WireError::TooLong(4)));
}

#[test]
fn a_hello_is_always_of_the_same_length() {
    let line = encode(&Hello::new(Nonce::generate().unwrap()));
    assert_eq!(line.len(), HELLO_BYTES);
    let spoken: Spoken = decode(line.trim_ascii_end()).unwrap();
    assert_eq!(spoken.syscost, VERSION);
}

#[test]
fn requests_and_replies_are_read_as_they_were_written() {
    let tcp = Tcp {
        nodelay: true,
        congestion: Some("cubic".to_owned()),
    };
    for request in [
        Request::Open(Service::StreamSource(Streams {
            size: 1,
            streams: 2,
            content: Content::Sparse,
            tcp,
        })),
        Request::Open(Service::DatagramEcho {
            size: 9,
            wait: Wait::Spin,
        }),
        Request::Open(Service::Accept {
            close: Close::AfterPeer,
            first_byte: true,
            backlog: 7,
        }),
        Request::Read(Nothing {}),
        Request::Look(Nothing {}),
        Request::Finish(Finish { sent: Some(3) }),
    ] {
        let line = encode(&request);
        assert_eq!(decode(line.trim_ascii_end()), Ok(request));
    }
    for reply in [
        Reply::Opened(Opening {
            port: 80,
            cookie: Cookie([7; 16]),
        }),
        Reply::Reading(Reading::default()),
        Reply::Core(Core {
            cpu: u32::MAX,
            is_exclusive: true,
        }),
        Reply::Account(Box::new(Account {
            checksum: u64::MAX,
            ..Account::default()
        })),
        Reply::Failed("no".to_owned()),
    ] {
        let line = encode(&reply);
        assert!(line.len() < MAX_LINE);
        assert_eq!(decode(line.trim_ascii_end()), Ok(reply));
    }
}

#[test]
fn nothing_else_is_read_and_errors_can_be_printed() {
    let read = |text: &str| decode::<Request>(text.as_bytes());
    for strange in [
        "",
        "{}",
        "null",
        "{\"read\":{}} x",
        "{\"read\":{\"more\":1}}",
        "{\"look\":{\"cpu\":1}}",
        "{\"finish\":{\"sent\":-1}}",
        "{\"finish\":{\"sent\":1e3}}",
        "{\"open\":{\"datagram_echo\":{\"size\":1}}}",
        "{\"open\":{\"datagram_echo\":{\"size\":1,\"wait\":\"block\",\"x\":0}}}",
        "{\"open\":{\"\\u001b[31m\":{}}}",
        "[[[[[[[[",
    ] {
        let error = read(strange).expect_err(strange).to_string();
        assert!(!error.chars().any(char::is_control), "{error:?}");
        assert!(error.len() < 1000, "{error}");
    }
    assert!(decode::<Request>(&[0xff, 0xfe]).is_err());
    let short = json!({ "port": 1, "cookie": "00" }).to_string();
    let error = decode::<Opening>(short.as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("32 hexadecimal digits"),
        "{error}"
    );
}
