use rustix::fs::{AtFlags, unlinkat};
use syscost_harness::bencher::Pass;
use syscost_results::Verdict;

use super::*;
use crate::fs::entries::create;
use crate::fs::space::tests::{is_of_others, on_disk};
use crate::testing::{claims, findings_by};

/// Creates an empty file, but leaves some out.
struct Creates {
    left_out: fn(usize) -> bool,
}

impl Operation for Creates {
    fn effect(&self) -> Effect {
        Effect::Adds
    }

    fn perform(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        match entries::number(name).is_some_and(self.left_out) {
            true => Ok(()),
            false => create(directory, name),
        }
    }

    fn take_back(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        Ok(unlinkat(directory, name, AtFlags::empty())?)
    }
}

fn measured(left_out: fn(usize) -> bool, pass: Pass) -> Option<Result<Vec<String>, Failure>> {
    let (space, none) = (on_disk()?, Case::default());
    let expect = [calls(Sysno::OPENAT), calls(Sysno::CLOSE)];
    let found = findings_by(&none, pass, &expect, |plan| {
        measure(plan, &space, Creates { left_out }, Sync::None)
    });
    Some(found.map(|findings| {
        let refuted = claims(&findings, Verdict::Refuted).into_iter();
        let refuted = refuted.filter(|claim| !is_of_others(claim));
        refuted.map(str::to_owned).collect()
    }))
}

#[test]
fn operations_that_are_left_out_are_refuted() {
    for pass in [Pass::Timed, Pass::Evidence] {
        let Some(honest) = measured(|_| false, pass) else {
            return println!("skipped: the build lies in memory");
        };
        assert_eq!(honest.unwrap(), Vec::<String>::new());
        let lying = measured(|number| number == 0, pass).unwrap();
        assert!(matches!(lying, Err(Failure::Refuted(_))), "{lying:?}");
    }
}

#[test]
fn what_was_not_made_by_the_operations_is_noticed() {
    let Some(space) = on_disk() else {
        return println!("skipped: the build lies in memory");
    };
    let creates = Creates {
        left_out: |_| false,
    };
    let pool = Pool::new(&space, creates, 4).unwrap();
    pool.perform(2).unwrap();
    pool.renew().unwrap();
    create(pool.directory(), &pool.names[3]).unwrap();
    assert!(matches!(pool.renew(), Err(Failure::Refuted(_))));
    pool.bring_back().unwrap();
    create(pool.directory(), c"foreign").unwrap();
    assert!(pool.renew().is_err());
}

/// Creates an empty file and syncs something, or nothing.
struct Syncs {
    synced: Option<OwnedFd>,
}

impl Operation for Syncs {
    fn effect(&self) -> Effect {
        Effect::Adds
    }

    fn expect(&self, plan: &mut Plan, directory: &OwnedFd) {
        Sync::Fsync.expect_synced(plan, ArgumentValue::Always, directory);
    }

    fn perform(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        create(directory, name)?;
        match &self.synced {
            Some(other) => Ok(Sync::Fsync.wait(other)?),
            None => Ok(()),
        }
    }

    fn take_back(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        Ok(unlinkat(directory, name, AtFlags::empty())?)
    }
}

#[test]
fn an_fsync_of_something_else_or_of_nothing_is_refuted() {
    for is_synced in [false, true] {
        let Some(space) = on_disk() else {
            return println!("skipped: the build lies in memory");
        };
        let other = entries::open_directory(space.folder()).unwrap();
        let synced = is_synced.then_some(other);
        let (none, expect) = (Case::default(), [calls(Sysno::FSYNC)]);
        let found = findings_by(&none, Pass::Evidence, &expect, |plan| {
            measure(plan, &space, Syncs { synced }, Sync::Fsync)
        });
        let found = found.expect("it can be measured here");
        let refuted = claims(&found, Verdict::Refuted);
        let claim = match is_synced {
            true => "share of fsync calls whose descriptor is",
            false => "fsync system calls per operation",
        };
        let is_refuted = refuted.iter().any(|one| one.starts_with(claim));
        let could_not_look = claims(&found, Verdict::Unverified);
        let could_not_look = could_not_look.iter().any(|one| one.starts_with(claim));
        assert!(is_refuted || could_not_look, "{refuted:?}");
    }
}
