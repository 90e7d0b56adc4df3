//! The head of a response.

use std::str;

/// What the head of a response ends with.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// Maximum size of a head that can be parsed, in bytes.
pub(super) const MAX_HEAD: usize = 1024;

/// Where the body begins and how long it is, once the whole head has arrived; or what is wrong with the head.
pub(super) fn head_of(bytes: &[u8]) -> Option<Result<(usize, usize), &'static str>> {
    let mut windows = bytes.windows(END_OF_HEAD.len()).take(MAX_HEAD);
    let end = windows.position(|window| window == END_OF_HEAD)?;
    let start = end + END_OF_HEAD.len();
    let Ok(head) = str::from_utf8(&bytes[..end]) else {
        return Some(Err("its header is not UTF-8"));
    };
    if !head.starts_with("HTTP/1.1 200 ") {
        return Some(Err("its status is not 200"));
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    Some(
        length
            .map(|length| (start, length))
            .ok_or("its Content-Length is missing"),
    )
}
