use rustix::fs::{AtFlags, unlinkat};
use syscost_harness::bencher::Pass;
use syscost_results::Verdict;

use super::*;
use crate::fs::entries::create;
use crate::fs::space::tests::{is_of_others, on_disk};
use crate::testing::{claims, findings_by};
use syscost_sys::or_skip;

/// Creates an empty file, but leaves some out, and syncs something else.
struct Creates {
    left_out: fn(usize) -> bool,
    synced: Option<OwnedFd>,
}

impl Operation for Creates {
    fn effect(&self) -> Effect {
        Effect::Adds
    }

    fn add(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        if let Some(other) = &self.synced {
            Sync::Fsync.wait(other)?;
        }
        match entries::number(name).is_some_and(self.left_out) {
            true => Ok(()),
            false => create(directory, name),
        }
    }

    fn remove(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        Ok(unlinkat(directory, name, AtFlags::empty())?)
    }

    fn makes_inodes(&self) -> bool {
        false
    }
}

fn measured(left_out: fn(usize) -> bool, pass: Pass) -> Option<Result<Vec<String>, Failure>> {
    let (space, none) = (on_disk()?, Case::default());
    let creates = Creates {
        left_out,
        synced: None,
    };
    let expect = [calls(Sysno::OPENAT), calls(Sysno::CLOSE)];
    let found = findings_by(&none, pass, &expect, |plan| {
        measure(plan, &space, creates, Sync::None)
    });
    Some(found.map(|findings| {
        let mut refuted = claims(&findings, Verdict::Refuted);
        refuted.retain(|claim| !is_of_others(claim));
        refuted
    }))
}

#[test]
fn operations_that_are_left_out_are_refuted() {
    for pass in [Pass::Timed, Pass::Evidence] {
        let honest = or_skip!(measured(|_| false, pass).ok_or("the build lies in memory"));
        assert_eq!(honest.unwrap(), Vec::<String>::new());
        let lying = measured(|number| number == 0, pass).unwrap();
        assert!(matches!(lying, Err(Failure::Refuted(_))), "{lying:?}");
    }
}

#[test]
fn what_was_not_made_by_the_operations_is_noticed() {
    let space = or_skip!(on_disk().ok_or("the build lies in memory"));
    let creates = Creates {
        left_out: |_| false,
        synced: None,
    };
    let pool = Pool::new(&space, creates, Sync::None, 4).unwrap();
    pool.perform(2).unwrap();
    pool.renew().unwrap();
    create(&pool.directory, &pool.names[3]).unwrap();
    assert!(matches!(pool.renew(), Err(Failure::Refuted(_))));
    pool.bring_back().unwrap();
    create(&pool.directory, c"foreign").unwrap();
    assert!(pool.renew().is_err());
}

#[test]
fn an_fsync_of_something_else_is_refuted() {
    let space = or_skip!(on_disk().ok_or("the build lies in memory"));
    let creates = Creates {
        left_out: |_| false,
        synced: Some(entries::open_directory(space.folder()).unwrap()),
    };
    let (none, expect) = (Case::default(), [calls(Sysno::FSYNC)]);
    let found = findings_by(&none, Pass::Evidence, &expect, |plan| {
        measure(plan, &space, creates, Sync::Fsync)
    });
    let found = found.expect("it can be measured here");
    for claim in [
        "share of fsync calls whose descriptor is",
        "fsync system calls per operation",
    ] {
        let is_about = |claims: Vec<String>| claims.iter().any(|one| one.starts_with(claim));
        let is_refuted = is_about(claims(&found, Verdict::Refuted));
        let could_not_look = is_about(claims(&found, Verdict::Unverified));
        assert!(is_refuted || could_not_look, "{claim}");
    }
}
