//! Correct and incorrect responses.

use super::*;

#[test]
fn a_header_says_where_the_body_is_and_how_long() {
    let text = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\nabcde";
    assert_eq!(head_of(text), Some(Ok((38, 5))));
    assert_eq!(head_of(&text[..30]), None, "not all of it is there");
    for (text, what) in [
        (
            &b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..],
            "status",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
            "Content-Length",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\n", "Content-Length"),
        (b"\xFF\r\n\r\n", "UTF-8"),
    ] {
        let found = head_of(text).expect("a whole head").unwrap_err();
        assert!(found.contains(what), "{found}");
    }
}

/// Thirty requests to a partner that answers with a body of this size; this end wants 1000 bytes.
fn exchange(is_kept: bool, body: usize) -> Option<Result<bool, Failure>> {
    let Ok(cpus) = syscost_sys::cpu::allowed() else {
        println!("skipped: no affinity here");
        return None;
    };
    let case = Case::new([(Path::KEY, Path::LOOPBACK)]);
    let path = Route::of(&case, &Targets::default()).unwrap();
    let (far, address, last) = responding(&path, body, is_kept, &cpus).unwrap();
    let exchanged = Client::new(address, is_kept, 1000, Content::Whole, last)
        .and_then(|client| far.led_by(client).perform([30]));
    Some(exchanged.map(|(client, account)| {
        assert!(client.asked >= 30);
        let named = if is_kept { KEPT } else { FRESH };
        client.asked == account.messages
            && client.budget.made() == account.connections
            && kind_of(account.connections, client.asked) == named
            && client.bodies == body as u64 * client.asked
    }))
}

#[test]
fn every_request_is_answered_over_kept_and_fresh_connections() {
    for is_kept in [true, false] {
        if let Some(exchanged) = exchange(is_kept, 1000) {
            assert_eq!(exchanged, Ok(true), "kept: {is_kept}");
        }
    }
}

#[test]
fn connections_that_are_neither_kept_nor_fresh_have_no_name() {
    assert_eq!(kind_of(1, 9), KEPT);
    assert_eq!(kind_of(9, 9), FRESH);
    assert_eq!(kind_of(1, 1), FRESH, "nothing was kept for another request");
    assert_eq!(kind_of(2, 9), "2 for 9 requests");
}

#[test]
fn a_body_of_another_length_is_refuted() {
    for is_kept in [true, false] {
        if let Some(exchanged) = exchange(is_kept, 999) {
            assert!(
                matches!(exchanged, Err(Failure::Refuted(_))),
                "{exchanged:?}"
            );
        }
    }
}
