//! Claims about processes that read, judged from reports made by hand and by real processes.

use syscost_harness::bencher::Pass;
use syscost_results::Verdict;

use super::*;
use crate::testing::{claims, judged};

fn account(began: u64, ended: u64) -> Account {
    Account {
        process: 1,
        file: (1, 1),
        bytes: 1 << 20,
        near: 1,
        began,
        ended,
        reads: 10,
        fetched: Some(10 * BLOCK as u64),
        is_direct: true,
        checked: 10,
        wrong: 0,
        latency: Latency::default(),
    }
}

fn windows() -> Windows {
    Windows {
        began: 1000,
        ended: 2000,
        reads: vec![5, 5],
    }
}

fn refuted(windows: &Windows, accounts: &[Account]) -> Vec<String> {
    let found = judged(Pass::Timed, |b| {
        claim_window(b, windows, accounts);
        claim_reads(b, accounts, true);
        describe(b, windows, accounts);
    });
    claims(&found, Verdict::Refuted)
}

#[test]
fn processes_that_do_not_read_throughout_are_refuted() {
    let (early, throughout) = (account(900, 1500), account(900, 2100));
    for (other, overlap) in [(1000, 1.0), (1200, 0.8), (2000, 0.0)] {
        let accounts = [throughout, account(other, 2100)];
        assert!((windows().overlap(&accounts) - overlap).abs() < 1e-9);
        let is_refuted = overlap < MIN_OVERLAP;
        assert_eq!(
            refuted(&windows(), &accounts).len(),
            usize::from(is_refuted)
        );
    }
    let found = refuted(&windows(), &[early, account(1500, 2100)]);
    assert_eq!(found, ["share of the windows in which all processes read"]);
}

#[test]
fn reads_that_are_cached_buffered_wrong_or_made_up_are_refuted() {
    let good = account(900, 2100);
    type Lie = fn(&mut Account);
    let lies: [(Lie, &str); 4] = [
        (|account| account.is_direct = false, "O_DIRECT"),
        (|account| account.wrong = 1, "other content"),
        (|account| account.near = 9, "next to it"),
        (|account| account.reads = 4, "no more reads"),
    ];
    for (lie, what) in lies {
        let mut bad = good;
        lie(&mut bad);
        let found = refuted(&windows(), &[good, bad]);
        assert!(
            found.len() == 1 && found[0].contains(what),
            "{what}: {found:?}"
        );
    }
}

#[test]
fn shares_show_how_fair_it_was() {
    let unfair = Windows {
        reads: vec![9, 1],
        ..windows()
    };
    let found = judged(Pass::Timed, |b| {
        describe(b, &unfair, &[account(900, 2100); 2])
    });
    assert!((found.details["fairness_ratio"].value - 100.0 / 164.0).abs() < 1e-9);
    assert_eq!(found.details["least_share_percent"].value, 20.0);
    assert_eq!(found.details["largest_share_percent"].value, 180.0);
}
