//! Copies that work, and copies that do not do what their row says.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use syscost_sys::or_skip;

use syscost_params::{Copies, Params};
use syscost_sys::cpu;
use syscost_sys::partner::Shared;
use syscost_sys::raw::Sysno;

use super::*;
use crate::bencher::Loop;
use crate::bencher::tests::real::{found_of, two_cpus, verdict_of};
use crate::bencher::{Findings, Observed, Outcome, Plan};
use crate::case::Case;
use crate::expect::{Expect, at_most, calls};
use crate::rows;

/// What a measurement of copies on the first of these CPUs finds, in a separate thread, which is
/// pinned as a worker is.
fn found(
    cpus: &[u32],
    pass: Pass,
    declared: &[Expect],
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure> + Send,
) -> Result<Findings, Failure> {
    found_of(&Case::default(), cpus, pass, declared, measure)
}

fn spin() -> Result<(), String> {
    for iteration in 0..100 {
        std::hint::black_box(iteration);
    }
    Ok(())
}

#[test]
fn all_copies_work_and_every_operation_is_counted() {
    let cpus = or_skip!(two_cpus());
    for between in Between::ALL {
        let done = Shared::new([const { AtomicU64::new(0) }; 2]).unwrap();
        let theirs = done.clone();
        let mut operations = 0;
        let findings = found(&cpus, Pass::Timed, &[], |plan| {
            let outcome = plan.measure(Copied::of(between, 2, 3, move |number| {
                let done = theirs.clone();
                Ok(move || {
                    done[number].fetch_add(3, Relaxed);
                    spin()
                })
            }))?;
            operations = outcome.operations();
            Ok(outcome)
        })
        .unwrap();
        assert_eq!(findings.copies, Some(2));
        assert!(
            findings.samples.values.len() >= 5
                && findings.samples.values.iter().all(|rate| *rate > 0.0)
        );
        let each = [0, 1].map(|number| done[number].load(Relaxed));
        assert!(each[0] > 0 && each[1] > 0, "{each:?}");
        assert_eq!(each[0] + each[1], operations);
        assert_eq!(
            verdict_of(&findings, "CPUs of its copies"),
            Verdict::Confirmed
        );
        let shares =
            ["least_share_percent", "largest_share_percent"].map(|d| findings.details[d].value);
        assert!((shares[0] + shares[1] - 200.0).abs() < 1e-6, "{shares:?}");
    }
}

#[derive(Params, Clone)]
#[expect(dead_code)] // only its role is read
struct Row {
    r#as: Between,
}

#[derive(Params, Clone)]
#[expect(dead_code)] // only its role is read
struct Counted {
    copies: Copies,
}

#[test]
fn more_or_fewer_copies_than_the_name_says_are_refuted() {
    let cpus = or_skip!(two_cpus());
    let named = |count| {
        let mut rows = rows!(Counted {
            copies: [Copies(count)]
        });
        rows.remove(0).erased()
    };
    for (name, started) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let findings = found_of(&named(name), &cpus, Pass::Timed, &[], |plan| {
            plan.measure(Copied::of(Between::Threads, started as usize, 1, |_| {
                Ok(spin)
            }))
        });
        let findings = findings.expect("measured");
        for claim in ["CPUs of its copies", "number of its tasks"] {
            let seen = verdict_of(&findings, claim);
            assert_eq!(seen, Verdict::of(name == started), "{claim}: {started}");
        }
        // One that is no copy of another is one all the same.
        let alone = found_of(&named(name), &cpus, Pass::Timed, &[], |plan| {
            plan.measure(Loop::infallible(|| 1))
        });
        let seen = verdict_of(&alone.expect("measured"), "number of its tasks");
        assert_eq!(seen, Verdict::of(name == 1));
    }
}

#[test]
fn copies_that_are_not_what_the_name_says_are_refuted() {
    let cpus = or_skip!(two_cpus());
    let named = rows!(Row {
        r#as: [Between::Processes]
    })
    .remove(0)
    .erased();
    for (between, verdict) in [
        (Between::Processes, Verdict::Confirmed),
        (Between::Threads, Verdict::Refuted),
    ] {
        for pass in [Pass::Timed, Pass::Evidence] {
            let findings = found_of(&named, &cpus, pass, &[], |plan| {
                plan.measure(Copied::of(between, 2, 1, |_| Ok(spin)))
            });
            let seen = verdict_of(
                &findings.expect("measured"),
                "what its tasks are to each other",
            );
            assert_eq!(seen, verdict, "{between:?}");
        }
    }
}

#[test]
fn a_copy_that_fails_fails_the_measurement() {
    let cpus = or_skip!(two_cpus());
    for between in Between::ALL {
        for pass in [Pass::Timed, Pass::Evidence] {
            let result = found(&cpus, pass, &[], |plan| {
                plan.measure(Copied::of(between, 2, 1, |number| {
                    let left = Cell::new(20_u32);
                    Ok(move || {
                        left.set(left.get().saturating_sub(1));
                        match (number, left.get()) {
                            (1, 0) => Err("no luck".to_owned()),
                            _ => spin(),
                        }
                    })
                }))
            });
            let Err(Failure::Failed(reason)) = result else {
                panic!("{result:?}");
            };
            assert!(reason.ends_with("no luck"), "{reason}");
        }
    }
}

#[test]
fn a_copy_that_cannot_begin_or_panics_fails_the_measurement() {
    let cpus = or_skip!(two_cpus());
    type Op = fn() -> Result<(), String>;
    let run = |make: fn(usize) -> Result<Op, Failure>| {
        let result = found(&cpus, Pass::Timed, &[], |plan| {
            plan.measure(Copied::of(Between::Processes, 2, 1, make))
        });
        result.expect_err("one of two copies works").to_string()
    };
    let reason = run(|number| match number {
        0 => Ok(spin),
        _ => Err(Failure::Failed("nothing to open".to_owned())),
    });
    assert!(reason.contains("nothing to open"), "{reason}");
    let reason = run(|number| match number {
        0 => Ok(spin),
        _ => Ok(|| panic!("on purpose")),
    });
    assert!(reason.contains("panicked"), "{reason}");
}

#[test]
fn more_copies_than_cpus_are_unsupported() {
    let cpus = or_skip!(two_cpus());
    let result = found(&cpus, Pass::Timed, &[], |plan| {
        plan.measure(Copied::of(Between::Threads, 3, 1, |_| Ok(spin)))
    });
    assert!(matches!(result, Err(Failure::Unsupported(_))), "{result:?}");
}

#[test]
fn a_copy_on_another_cpu_than_its_row_says_is_refuted() {
    let cpus = or_skip!(two_cpus());
    let first = cpus[0];
    let findings = found(&cpus, Pass::Evidence, &[], |plan| {
        plan.measure(Copied::of(Between::Processes, 2, 1, move |_| {
            // The lie: every copy goes where the first one is.
            cpu::pin(first)?;
            Ok(spin)
        }))
    })
    .unwrap();
    assert_eq!(
        verdict_of(&findings, "CPUs of its copies"),
        Verdict::Refuted
    );
}

#[test]
fn copies_that_make_other_calls_than_they_claim_are_refuted() {
    let cpus = or_skip!(two_cpus());
    or_skip!(syscost_sys::audit::available(), "no audit here");
    let claim = "getppid system calls per operation";
    let declared = [calls(Sysno::GETPPID)];
    let lie = found(&cpus, Pass::Evidence, &declared, |plan| {
        plan.measure(Copied::of(Between::Threads, 2, 1, |_| Ok(spin)))
    })
    .unwrap();
    assert_eq!(verdict_of(&lie, claim), Verdict::Refuted);
    let truth = found(&cpus, Pass::Evidence, &declared, |plan| {
        plan.measure(Copied::of(Between::Threads, 2, 1, |_| {
            Ok(|| {
                std::hint::black_box(std::os::unix::process::parent_id());
                spin()
            })
        }))
    })
    .unwrap();
    assert_eq!(verdict_of(&truth, claim), Verdict::Confirmed);
}

#[test]
fn copies_that_touch_fresh_memory_or_sleep_are_refuted() {
    let cpus = or_skip!(two_cpus());
    let sleeps = found(&cpus, Pass::Evidence, &[], |plan| {
        plan.measure(Copied::of(Between::Processes, 2, 1, |_| {
            Ok(|| {
                std::thread::sleep(std::time::Duration::from_micros(10));
                spin()
            })
        }))
    })
    .unwrap();
    let claim = "voluntary switches per operation";
    assert_eq!(verdict_of(&sleeps, claim), Verdict::Refuted);
    let faults = found(&cpus, Pass::Evidence, &[], |plan| {
        plan.measure(Copied::of(Between::Processes, 2, 1, |_| {
            Ok(|| {
                // Above malloc's maximum threshold: mapped, touched and freed each time. In many
                // places, since a single fault is harmless in an operation that the host makes
                // long.
                let mut fresh = vec![0_u8; 64 << 20];
                let places = fresh.iter_mut().step_by(1 << 20);
                places.for_each(|place| *place = 1);
                std::hint::black_box(fresh);
                spin()
            })
        }))
    })
    .unwrap();
    let claim = "minor page faults per operation";
    assert_eq!(verdict_of(&faults, claim), Verdict::Refuted);
}

fn interval(began: u64, ended: u64) -> CopyInterval {
    CopyInterval {
        began,
        ended,
        operations: 10,
        warm_up: 0,
        cpu: 0,
        slowdown: 0.0,
    }
}

#[test]
fn of_several_copies_the_worst_is_reported() {
    let claim = |observed: f64| at_most(Counter::MinorFaults, 0.01).judge(observed, "/proc");
    let other = at_most(Counter::MajorFaults, 0.0).judge(0.0, "/proc");
    let all = vec![claim(0.002), claim(0.009), other.clone(), claim(0.001)];
    assert_eq!(worst(all), [claim(0.009), other]);
    let refuted = vec![claim(0.5), claim(0.001), claim(7.0)];
    assert_eq!(worst(refuted), [claim(7.0)]);
}

#[test]
fn only_the_time_in_which_all_worked_is_overlap() {
    let together = [interval(0, 100), interval(2, 102)];
    assert_eq!((span(&together), overlap(&together)), (102, 98.0 / 102.0));
    let in_turn = [interval(0, 100), interval(100, 200)];
    assert_eq!((span(&in_turn), overlap(&in_turn)), (200, 0.0));
    assert_eq!(overlap(&[interval(0, 10), interval(50, 60)]), 0.0);
}

#[test]
fn copies_one_after_the_other_are_refuted_and_copies_kept_apart_unverified() {
    let Ok(cpus) = cpu::allowed() else { return };
    let verdict = |pass: Pass, second_begins: [u64; 3]| {
        let findings = found(&cpus, pass, &[], |mut plan| {
            let window = |begins: u64| vec![interval(0, 100), interval(begins, 100 + begins)];
            plan.claim_overlap(&second_begins.map(window));
            plan.measure(Observed::of(|| Ok(1.0)))
        });
        findings.unwrap().evidence[0].verdict
    };
    assert_eq!(verdict(Pass::Evidence, [1, 1, 1]), Verdict::Confirmed);
    assert_eq!(verdict(Pass::Evidence, [1, 100, 100]), Verdict::Confirmed);
    assert_eq!(verdict(Pass::Evidence, [20, 100, 100]), Verdict::Unverified);
    // Of 130 ticks, 70 together, and of 140, 60.
    assert_eq!(verdict(Pass::Evidence, [30, 30, 30]), Verdict::Unverified);
    assert_eq!(verdict(Pass::Evidence, [40, 40, 40]), Verdict::Refuted);
    assert_eq!(verdict(Pass::Evidence, [100, 100, 100]), Verdict::Refuted);
    assert_eq!(verdict(Pass::Timed, [1, 1, 100]), Verdict::Confirmed);
    assert_eq!(verdict(Pass::Timed, [1, 100, 100]), Verdict::Unverified);
}

#[test]
fn ragged_ends_are_no_contention() {
    // The second begins and ends a tenth later: each does ten iterations in a hundred ticks.
    let both = [interval(0, 100), interval(10, 110)];
    assert!((iterations_per_tick(&both) - 0.2).abs() < 1e-12);
    assert!((iterations_per_tick(&both[..1]) - 0.1).abs() < 1e-12);
}
