use std::net::UdpSocket;
use std::thread;
use std::time::Instant;

use super::*;
use crate::service::Order;

/// Two connected sockets.
fn pair() -> (UdpSocket, UdpSocket) {
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    (near, far)
}

#[test]
fn an_echo_answers_datagrams_of_its_size_until_an_empty_one() {
    for wait in Wait::ALL {
        for size in [1, 64, 1400] {
            let (near, far) = pair();
            let echo = thread::spawn(move || {
                echo(&far, &mut vec![0; size], wait, &mut |_| false).unwrap()
            });
            let mut answer = [0; 2000];
            near.send(&vec![9; size + 1]).unwrap();
            for number in 1..=10 {
                let datagram = vec![number; size];
                near.send(&datagram).unwrap();
                let came = near.recv(&mut answer).unwrap();
                assert_eq!(&answer[..came], &datagram);
            }
            near.send(&[]).unwrap();
            let account = echo.join().unwrap();
            assert_eq!((account.messages, account.bytes), (10, 10 * size as u64));
            assert_eq!(account.wrong, size as u64 + 1, "the one of another size");
        }
    }
}

#[test]
fn an_echo_ends_when_its_peer_is_gone() {
    let (near, far) = pair();
    near.send(&[1; 8]).unwrap();
    drop(near);
    let mut is_over = |account: &Account| account.messages > 10;
    let account = echo(&far, &mut [0; 8], Wait::Block, &mut is_over).unwrap();
    assert!(account.messages <= 1, "{account:?}");
}

#[test]
fn a_sink_counts_lost_duplicated_and_reordered_datagrams() {
    let (near, far) = pair();
    let (mut datagram, mut sum) = ([0; 100], 0_u64);
    for number in [0, 1, 2, 5, 4, 4, 8] {
        let checksum = stamp(number, &mut datagram, Content::Whole);
        near.send(&datagram).unwrap();
        sum = sum.wrapping_add(checksum);
    }
    // The second 4 is a duplicate.
    sum = sum.wrapping_sub(stamp(4, &mut datagram, Content::Whole));
    near.send(&[]).unwrap();
    let account = sink(&far, &mut [0; 100], Content::Whole, &mut |_| false).unwrap();
    let order = Order {
        expected: 9,
        distinct: 6,
        duplicated: 1,
        reordered: 1,
    };
    assert_eq!(account.order, Some(order));
    assert_eq!(order.lost(), 3);
    assert_eq!((account.messages, account.wrong), (7, 0));
    assert_eq!(account.checksum, sum);
}

#[test]
fn wrong_content_numbers_and_sizes_are_noticed() {
    let (near, far) = pair();
    let mut datagram = [0; 64];
    stamp(0, &mut datagram, Content::Whole);
    datagram[40] ^= 1;
    near.send(&datagram).unwrap();
    near.send(&[0xff; 64]).unwrap();
    near.send(&[0; 65]).unwrap();
    near.send(&[]).unwrap();
    let account = sink(&far, &mut [0; 64], Content::Whole, &mut |_| false).unwrap();
    assert_eq!(account.wrong, 1 + 64 + 65);
    assert_eq!(account.messages, 2);
}

#[test]
fn a_source_keeps_its_rate_and_its_sink_receives_all_of_it() {
    let (near, far) = pair();
    let begun = Instant::now();
    let source = thread::spawn(move || {
        let mut is_over = |account: &Account| account.messages == 100;
        source(
            &far,
            &mut [0; 200],
            Content::Whole,
            Some(2000),
            &mut is_over,
        )
        .unwrap()
    });
    let mut is_over = |account: &Account| account.messages == 100;
    let received = sink(&near, &mut [0; 200], Content::Whole, &mut is_over).unwrap();
    let sent = source.join().unwrap();
    // The last is due after 99 intervals of half a millisecond; it can be later, but not earlier.
    assert!(begun.elapsed().as_micros() >= 49_500);
    assert_eq!(
        (received.bytes, received.checksum),
        (sent.bytes, sent.checksum)
    );
    assert_eq!(received.order.unwrap().lost(), 0);
}
