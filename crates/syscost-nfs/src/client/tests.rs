//! Tests with a server that answers READDIR as required.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use super::*;

/// The bit of a record mark for the last fragment of a message.
const LAST: u32 = 1 << 31;

/// A page of a directory: names with their cookies, and whether it is the last page.
type Page = (Vec<(&'static str, u64)>, bool);

/// The reply to the READDIR with this xid.
fn reply(xid: u32, (entries, is_last): &Page) -> Vec<u8> {
    let mut message = Vec::new();
    let mut word = |value: u32| message.extend(value.to_be_bytes());
    // Xid, a reply, accepted, without a verifier, done; NFS3_OK, no attributes, cookieverf.
    [xid, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        .into_iter()
        .for_each(&mut word);
    for (number, (name, cookie)) in entries.iter().enumerate() {
        [1, 0, number as u32, name.len() as u32]
            .into_iter()
            .for_each(&mut word);
        let mut padded = name.as_bytes().to_vec();
        padded.resize(name.len().next_multiple_of(4), 0);
        for four in padded.chunks(4) {
            word(u32::from_be_bytes(four.try_into().expect("four")));
        }
        [(cookie >> 32) as u32, *cookie as u32]
            .into_iter()
            .for_each(&mut word);
    }
    [0, u32::from(*is_last)].into_iter().for_each(&mut word);
    let mut record = (LAST | message.len() as u32).to_be_bytes().to_vec();
    record.extend(message);
    record
}

/// Reads a directory whose pages `page` returns by number; returns the result, and how many pages
/// were requested.
fn read(page: impl Fn(usize) -> Page + Send + 'static) -> (Result<Vec<String>, NfsError>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = listener.local_addr().expect("an address");
    let near = TcpStream::connect(server).expect("a connection");
    let (mut far, _) = listener.accept().expect("the other end");
    let served = thread::spawn(move || {
        let mut asked = 0;
        let mut mark = [0; 4];
        while far.read_exact(&mut mark).is_ok() {
            let mut call = vec![0; (u32::from_be_bytes(mark) & !LAST) as usize];
            far.read_exact(&mut call).expect("a whole call");
            let xid = u32::from_be_bytes(*call.first_chunk().expect("its number"));
            far.write_all(&reply(xid, &page(asked)))
                .expect("it is taken");
            asked += 1;
        }
        asked
    });
    let (wire, watch) = Wire::over(near).expect("a wire");
    let handle = Handle {
        data: Opaque::owned(vec![1; 8]),
    };
    let mut client = Client {
        nfs: Nfs3Client::new(wire),
        watch,
        server,
        root: handle.clone(),
    };
    let names = client.names(&handle);
    drop(client);
    (names, served.join().expect("it served"))
}

#[test]
fn a_directory_is_read_page_by_page() {
    let (names, asked) = read(|number| match number {
        0 => (vec![(".", 1), ("..", 2), ("first", 3)], false),
        _ => (vec![("second", 4)], true),
    });
    assert_eq!(names.expect("it is whole"), ["first", "second"]);
    assert_eq!(asked, 2);
}

#[test]
fn a_page_that_repeats_for_ever_is_an_error() {
    let (names, asked) = read(|_| (vec![(".", 1)], false));
    assert!(matches!(names, Err(NfsError::Stranger { .. })), "{names:?}");
    assert_eq!(asked, 2);
}

#[test]
fn entries_for_the_directory_itself_are_counted_too() {
    const EACH: u64 = 100;
    let (names, asked) = read(|number| {
        let first = number as u64 * EACH;
        (
            (first..first + EACH).map(|at| (".", at + 1)).collect(),
            false,
        )
    });
    assert_eq!(names.expect("what there was"), [""; 0]);
    assert_eq!(asked, MAX_ENTRIES / EACH as usize);
}
