use serde_json::json;

use super::*;
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
