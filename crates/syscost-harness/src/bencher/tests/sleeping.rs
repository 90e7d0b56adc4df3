//! What sleeps: its samples follow each other like the operations of a program that does nothing
//! else.

use std::cell::RefCell;
use std::time::Duration;
use syscost_sys::or_skip;

use syscost_sys::cpu;
use syscost_sys::partner::Between;

use super::super::sampling::PARTNERS_UNSEEN;
use super::interference::{on_core, shared_samples};
use super::real::{found_of, team_of};
use super::*;
use crate::expect::within;

/// When each operation of a pass began and ended, on a core that is never ours.
fn operations(is_warmed_up: bool) -> Vec<(u64, u64)> {
    let clock = Clock::mock();
    let times = RefCell::new(Vec::new());
    let sleep = || {
        let began = clock.stop().ticks;
        mock::advance_ns(50_000);
        times.borrow_mut().push((began, clock.stop().ticks));
        Ok(())
    };
    on_core(0.5, Pass::Timed, |mut plan| {
        if is_warmed_up {
            plan.warm_up(sleep)?;
        }
        plan.measure(Observed::of(|| sleep().map(|()| 1.0)))
    });
    times.into_inner()
}

/// The longest pause between two operations, in ns.
fn longest_pause(operations: &[(u64, u64)]) -> u64 {
    let pauses = operations.windows(2).map(|two| two[1].0 - two[0].1);
    pauses.max().expect("several operations")
}

#[test]
fn what_sleeps_has_no_wait_for_the_core_between_its_operations() {
    let asleep = operations(true);
    // Only the probes of its own core, of some readings each. A wait would last a millisecond.
    assert!(longest_pause(&asleep) < 1_000, "{asleep:?}");
    let before = asleep.len() - operations(false).len();
    // 2 ms of 50 us each; the samples that follow may be a few more or fewer.
    assert!((30..=50).contains(&before), "{before}");
}

/// The findings of round trips with a partner on another CPU of which at least this many switches
/// are expected; `None` where there is no other CPU.
fn round_trips(switches: f64) -> Option<Findings> {
    let cpus = cpu::allowed().unwrap_or_default();
    let placement = Placement::among(&cpus).into_iter().find(|placement| {
        let here = placement.cpus(cpus[0], &cpus);
        *placement != Placement::Free && here.is_ok_and(|others| others != [cpus[0]])
    })?;
    let declared = [within(Counter::Switches, switches, 4.2)];
    let findings = found_of(&Case::default(), &cpus, Pass::Timed, &declared, |plan| {
        plan.measure(Together::of(placement, |cpus| {
            let sleep = || std::thread::sleep(Duration::from_millis(1));
            team_of((Between::Threads, 1), cpus, sleep, || {
                std::hint::black_box(());
            })
        }))
    });
    Some(findings.expect("measured"))
}

#[test]
fn the_core_of_a_partner_that_sleeps_is_not_looked_at() {
    let sleeping = or_skip!(round_trips(1.0).ok_or("there is no other CPU"));
    assert_eq!(sleeping.details[PARTNERS_UNSEEN].value, 1.0);
    let spinning = round_trips(0.0).expect("as before");
    assert_eq!(spinning.details.get(PARTNERS_UNSEEN), None);
}

#[test]
fn every_sample_of_what_sleeps_counts_whatever_its_core_does() {
    for limit in [2.0, 0.5] {
        let findings = on_core(limit, Pass::Timed, |mut plan| {
            plan.warm_up(|| Ok(()))?;
            plan.measure(Observed::of(|| {
                mock::advance_ns(50_000);
                Ok(1.0)
            }))
        });
        assert_eq!(shared_samples(&findings), 0);
        assert_eq!(
            findings.samples.alone_percent, None,
            "as if it was not looked at"
        );
    }
}
