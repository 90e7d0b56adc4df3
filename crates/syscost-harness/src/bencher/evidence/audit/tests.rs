//! What is counted of a team, and how what refutes it is named.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use syscost_sys::or_skip;

use syscost_results::{ClaimId, Evidence};
use syscost_sys::clock::{Clock, mock};
use syscost_sys::partner::{Between, Shared};
use syscost_sys::{audit, cpu};

use super::*;
use crate::bencher::tests::real::found_of;
use crate::bencher::tests::{EFFORT, situation};
use crate::bencher::{Loop, Outcome, Situation, TaskGroup, Together};
use crate::case::Case;
use crate::cores::UNKNOWN;
use crate::expect::{calls, together};
use crate::placement::Placement;

/// Asks for the parent's process id.
fn call(times: u64) {
    for _ in 0..times {
        let _ = rustix::process::getppid();
    }
}

/// What is said of a team's calls that are not its only expected one, `sched_yield`, where each
/// iteration makes this many others and `make` does some more; `None` where nothing can be audited.
fn others_of(
    per_iteration: u64,
    make: impl Fn() -> Result<(), Failure> + Send + Sync,
) -> Option<Evidence> {
    if let Err(reason) = audit::available() {
        println!("skipped: {reason}");
        return None;
    }
    let team = |_: &[u32]| {
        make()?;
        let iterations = move |iterations| {
            for _ in 0..iterations {
                rustix::thread::sched_yield();
                call(per_iteration);
            }
            Ok(())
        };
        let workers = TaskGroup::<()>::new(Between::Processes)?;
        Ok(workers.driven_by(iterations).map(drop))
    };
    let team = Together::of(Placement::Free, team);
    let cpus = cpu::allowed().expect("some");
    let expect = [together(Sysno::SCHED_YIELD, 1.0)];
    let found = found_of(&Case::default(), &cpus, Pass::Evidence, &expect, |plan| {
        plan.measure(team)
    });
    let mut evidence = found.expect("counted").evidence.into_iter();
    evidence.find(|one| one.claim.sentence == Counter::OtherSyscalls.claim())
}

#[test]
fn a_set_up_that_makes_more_calls_the_second_time_refutes_nothing() {
    let made = Shared::new(AtomicU64::new(0)).expect("shared");
    let found = others_of(0, || {
        call(100 * made.fetch_add(1, Relaxed));
        Ok(())
    });
    let Some(others) = found else { return };
    assert_eq!(others.verdict, Verdict::Confirmed, "{others:?}");
    assert!(made.load(Relaxed) > 1, "made more than once");
}

#[test]
fn calls_that_refute_are_named_and_counted() {
    let Some(others) = others_of(1, || Ok(())) else {
        return;
    };
    assert_eq!(others.verdict, Verdict::Refuted);
    assert_eq!(
        others.reason.as_deref(),
        Some("getppid 64 in 64 operations")
    );
}

#[test]
fn an_audit_that_takes_too_long_leaves_the_calls_unknown() {
    let limit = Duration::from_millis(20);
    let sleep = || {
        std::thread::sleep(Duration::from_secs(1000));
        Ok(())
    };
    let error = audited(limit, &[], &mut { sleep }).expect("no failure of the operation");
    let reason = unknown(&error.expect_err("it takes longer")).expect("no fault of the operation");
    assert!(
        reason.contains("--time-limit") || audit::available().is_err(),
        "{reason}"
    );
    let died = AuditError::Died(syscost_sys::audit::Death::Code(1));
    assert_eq!(unknown(&died), None);
}

#[test]
fn the_most_frequent_calls_are_named_first() {
    let calls = [("close", 3), ("futex", 70)].map(|(name, count)| (name.to_owned(), count));
    let expect = crate::expect::at_most(Counter::OtherSyscalls, 0.05);
    let judged = |seen| {
        naming(
            &BTreeMap::from(calls.clone()),
            64,
            expect.judge(seen, AUDIT),
        )
    };
    let reason = judged(1.1).reason;
    assert_eq!(
        reason.as_deref(),
        Some("futex 70, close 3 in 64 operations")
    );
    assert_eq!(judged(0.0).reason, None);
}

/// What is said of the calls of what is timed, which declares one to `getppid` and makes as many as
/// `times` says; and its samples.
fn timed(is_audited: bool, times: u64) -> (Option<Evidence>, Vec<f64>) {
    let (case, clock) = (Case::default(), Clock::mock());
    mock::reset();
    let situation = Situation {
        is_audited,
        ..situation(&case, Pass::Timed, &EFFORT, &clock, &UNKNOWN)
    };
    let plan = Plan::new(&[calls(Sysno::GETPPID)], situation);
    let outcome = plan.measure(Loop::infallible(|| {
        call(times);
        mock::advance_ns(70);
    }));
    let found = outcome.and_then(Outcome::finish).expect("measured");
    let mut evidence = found.evidence.into_iter();
    let audited = evidence.find(|one| one.source == AUDIT);
    (audited, found.samples.values)
}

#[test]
fn what_makes_other_calls_where_it_is_timed_alone_is_refuted() {
    or_skip!(audit::available());
    assert_eq!(timed(false, 0).0, None, "where it is not asked for");
    for (times, expected) in [
        (1, Verdict::Confirmed),
        (0, Verdict::Refuted),
        (2, Verdict::Refuted),
    ] {
        let (evidence, samples) = timed(true, times);
        let evidence = evidence.expect("audited");
        assert_eq!(evidence.verdict, expected, "{evidence:?}");
        assert_eq!(evidence.claim.id, ClaimId::of(OF_TIMED));
        assert!(samples.iter().all(|ns| *ns == 70.0), "{samples:?}");
    }
}
