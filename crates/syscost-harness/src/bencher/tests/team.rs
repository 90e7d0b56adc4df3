//! Operations of several tasks: their arithmetic, their places, and their ends.

use std::io::{Read, Write, pipe};
use std::thread::yield_now;
use std::time::{Duration, Instant};
use syscost_sys::{Unsupported, cpu, or_skip};

use syscost_params::Params;
use syscost_results::measurement::Cause;
use syscost_sys::counters::{SchedStat, TaskId, TaskReading};
use syscost_sys::partner::{Between, Partner};

use super::real::{beside_busy_loops, found_of, team_of, two_cpus, verdict_of};
use super::*;
use crate::bencher::evidence::COUNTED_TOGETHER;
use crate::expect::within;
use crate::rows;

/// A team that consists only of the measuring task.
pub(super) fn team<'t>(iterations: impl FnMut(u64) -> Result<(), Failure> + 't) -> Team<'t> {
    Team::new(Vec::new(), iterations).map(drop)
}

/// The same, whose iterations take this many ns.
pub(super) fn lasting<'t>(ns: u64) -> Result<Team<'t>, Failure> {
    Ok(team(move |iterations| {
        mock::advance_ns(ns * iterations);
        Ok(())
    }))
}

/// As [`lasting`], with this many operations in an iteration, which it counts.
fn counting<'t>(per_iteration: u64, ns: u64) -> Result<Team<'t, u64>, Failure> {
    let done = std::rc::Rc::new(std::cell::Cell::new(0));
    let counted = std::rc::Rc::clone(&done);
    let team = team(move |iterations| {
        done.set(done.get() + iterations * per_iteration);
        mock::advance_ns(ns * iterations);
        Ok(())
    });
    Ok(team.map(move |()| counted.get()))
}

/// The placement of the mock's processor, the first, where the tests' threads run.
pub(super) const HERE: Placement = Placement::At(syscost_sys::topology::Relation::SameCpu);

#[test]
fn a_team_costs_what_it_takes_more_than_its_baselines() {
    or_skip!(cpu::pin(0), "processor 0 is not ours");
    let findings = timed(|plan| {
        let baseline = |detail, per_iteration, ns: u64| Baseline {
            name: "less",
            detail,
            expect: &[],
            per_iteration,
            make: match ns {
                20 => &|_| counting(1, 20),
                _ => &|_| counting(2, 30),
            },
        };
        let whole = Together::of(HERE, |_| lasting(400));
        let whole = whole.per_iteration(4);
        plan.measure(whole.minus(&[baseline("less_ns", 1, 20), baseline("least_ns", 2, 30)]))
    })
    .expect("measured");
    // 400 ns for four operations, less 20 for one, less 30 for two.
    assert!(
        findings.samples.values.iter().all(|ns| *ns == 65.0),
        "{:?}",
        findings.samples.values
    );
    assert!(
        findings.samples.raw.iter().all(|ns| *ns == 100.0),
        "{:?}",
        findings.samples.raw
    );
    assert_eq!(findings.details["less_ns"].value, 20.0);
    assert_eq!(findings.details["least_ns"].value, 15.0);
    assert_eq!(findings.cycle_floor, None, "a difference may be nothing");
    assert_eq!(findings.samples.iterations % 4, 0);
}

#[test]
fn what_a_benchmark_reports_is_not_diluted_by_its_baselines() {
    or_skip!(cpu::pin(0), "processor 0 is not ours");
    for pass in [Pass::Timed, Pass::Evidence] {
        let (case, clock) = (Case::default(), Clock::mock());
        let expect = [exactly(Counter::Reported("turns"), 1.0)];
        let plan = plan(&case, &expect, &clock, pass);
        let baseline = Baseline {
            name: "less",
            detail: "less_ns",
            expect: &[],
            per_iteration: 1,
            make: &|_| counting(1, 100),
        };
        let iterations = std::cell::Cell::new(0);
        let make = |_: &[u32]| {
            Ok(team(|n| {
                iterations.set(iterations.get() + n as i64);
                mock::advance_ns(400 * n);
                Ok(())
            }))
        };
        let outcome = plan.measure(Together::of(HERE, make).minus(&[baseline]));
        let outcome = outcome.expect("measured");
        assert_eq!(outcome.operations() as i64, iterations.get(), "{pass:?}");
        assert_eq!(outcome.subtracted(), ["less"], "{pass:?}");
    }
}

#[test]
fn a_baseline_divided_by_another_number_than_its_operations_is_refuted() {
    or_skip!(cpu::pin(0), "processor 0 is not ours");
    for (pass, told) in [Pass::Timed, Pass::Evidence].into_iter().zip([2, 4]) {
        let (case, clock) = (Case::default(), Clock::mock());
        let baseline = Baseline {
            name: "less",
            detail: "less_ns",
            expect: &[],
            per_iteration: told,
            make: &|_| counting(1, 100),
        };
        let plan = plan(&case, &[], &clock, pass);
        let outcome = plan.measure(Together::of(HERE, |_| lasting(400)).minus(&[baseline]));
        let evidence = outcome
            .expect("measured")
            .finish()
            .expect("finished")
            .evidence;
        let sentence = "less: operations by its own count";
        let claim = evidence.iter().find(|one| one.claim.sentence == sentence);
        assert_eq!(
            claim.expect("claimed").verdict,
            Verdict::Refuted,
            "{pass:?}"
        );
    }
}

#[test]
fn a_baseline_that_is_no_such_work_is_refuted_under_its_name() {
    or_skip!(cpu::pin(0), "processor 0 is not ours");
    // Other tests fork, after which this process copies the pages it writes to: faults, and waits for the
    // other fork, that this operation does not cause. They do not occur each time.
    let mut refuted = refuted_of_growing();
    for _ in 0..8 {
        if refuted.len() == 1 {
            break;
        }
        refuted = refuted_of_growing();
    }
    assert_eq!(
        refuted,
        ["the same work: time of 2n operations over time of n"]
    );
}

/// The refuted claims of a baseline whose time grows faster than its work.
fn refuted_of_growing() -> Vec<String> {
    let (case, clock) = (Case::default(), Clock::mock());
    let plan = plan(&case, &[], &clock, Pass::Evidence);
    // Where faults are counted, in a hundred iterations or more, a few of them are harmless
    // compared with so much time.
    let growing = |n: u64| {
        mock::advance_ns(50 * n * n);
        let begun = Instant::now();
        while n >= COUNTED_TOGETHER && begun.elapsed() < Duration::from_micros(25) * n as u32 {
            std::hint::spin_loop();
        }
        Ok(())
    };
    let baseline = Baseline {
        name: "the same work",
        detail: "same_work_ns",
        expect: &[],
        per_iteration: 1,
        make: &|_| {
            let done = std::rc::Rc::new(std::cell::Cell::new(0));
            let counted = std::rc::Rc::clone(&done);
            let team = team(move |n| {
                done.set(done.get() + n);
                growing(n)
            });
            Ok(team.map(move |()| counted.get()))
        },
    };
    let work = |_: &[u32]| lasting(500);
    let outcome = plan.measure(Together::of(HERE, work).minus(&[baseline]));
    let findings = outcome.expect("counted").finish();
    let evidence = findings.expect("finished").evidence;
    // Not if another test wants this CPU, which may make any two times differ.
    let is_refuted = |one: &syscost_results::Evidence| {
        let reason = one.reason.as_deref().unwrap_or_default();
        one.verdict == Verdict::Refuted || reason.starts_with("another program wants this CPU")
    };
    let refuted = evidence.into_iter().filter(is_refuted);
    refuted.map(|one| one.claim.sentence).collect()
}

/// What is found on the first of these CPUs, in a separate thread, which is pinned as a worker is.
fn on(
    cpus: &[u32],
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure> + Send,
) -> Result<Findings, Failure> {
    let found = || {
        cpu::pin(cpus[0]).expect("the CPU is allowed");
        let (case, clock) = (Case::default(), Clock::mock());
        let here = Testbed {
            allowed: cpus.to_vec(),
            ..Testbed::plain()
        };
        let mut plan = plan(&case, &[], &clock, Pass::Timed);
        (plan.cpu, plan.given.cpu, plan.given.here) = (cpus[0], cpus[0], &here);
        measure(plan)?.finish()
    };
    std::thread::scope(|scope| scope.spawn(found).join().expect("no panic"))
}

#[test]
fn what_a_partner_says_of_its_failure_is_reported() {
    let allowed = or_skip!(cpu::allowed(), "no affinity here");
    let failure = on(&allowed[..1], |plan| {
        plan.measure(Together::of(HERE, |cpus| {
            let (mut inbox, mut outbox) = pipe().expect("a pipe");
            let partner = Partner::start(Between::Processes, cpus, move || {
                let two = inbox.read_exact(&mut [0; 2]);
                two.map_err(|error| error.to_string())?;
                Err::<(), _>("the third is too much".to_owned())
            })?;
            let iterations = move |n| {
                mock::advance_ns(100 * n);
                let sent = outbox.write_all(&vec![0; n as usize]);
                sent.map_err(|error| Failure::of("send", error))
            };
            Ok(Team::new(vec![partner], iterations).map(drop))
        }))
    });
    let words = "a partner failed: the third is too much";
    assert_eq!(failure, Err(Failure::Failed(words.into())));
}

#[test]
fn a_partner_that_is_gone_is_no_missing_feature() {
    let allowed = or_skip!(cpu::allowed(), "no affinity here");
    for (end, words) in [
        (Err("no luck"), "a partner failed: no luck"),
        (Ok(()), "a partner ended early"),
    ] {
        let failure = on(&allowed[..1], |plan| {
            plan.measure(Together::of(HERE, |cpus| {
                let partner = Partner::start(Between::Threads, cpus, move || end)?;
                let TaskId { process, thread } = partner.task();
                let file = format!("/proc/{process}/task/{thread}/stat");
                let gone = move |_| {
                    while std::path::Path::new(&file).exists() {
                        std::thread::yield_now();
                    }
                    Ok(())
                };
                Ok(Team::new(vec![partner], gone).map(drop))
            }))
        });
        match failure {
            Err(Failure::Failed(why)) => assert!(why.starts_with(words), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_comes_back_is_of_the_team_that_was_measured() {
    struct Counting {
        iterations: u64,
        has_ended: bool,
    }
    impl Driver for Counting {
        fn run(&mut self, iterations: u64) -> Result<(), Failure> {
            mock::advance_ns(100 * iterations);
            self.iterations += iterations;
            Ok(())
        }

        fn end(&mut self) -> Result<(), Failure> {
            self.has_ended = true;
            Ok(())
        }
    }
    or_skip!(cpu::pin(0), "processor 0 is not ours");
    for pass in [Pass::Timed, Pass::Evidence] {
        let (case, clock) = (Case::default(), Clock::mock());
        let plan = plan(&case, &[], &clock, pass);
        let make = |_: &[u32]| {
            let driver = Counting {
                iterations: 0,
                has_ended: false,
            };
            Ok(Team::new(Vec::new(), driver))
        };
        let outcome = plan.measure(Together::of(HERE, make));
        let (outcome, driver) = outcome.expect("measured").split();
        assert_eq!(driver.iterations, outcome.operations(), "{pass:?}");
        assert!(driver.has_ended);
    }
}

#[test]
fn tasks_that_share_a_cpu_are_not_distinct() {
    let two = &or_skip!(two_cpus());
    for (partners, verdict) in [(1, Verdict::Confirmed), (2, Verdict::Refuted)] {
        let findings = on(two, |plan| {
            plan.measure(Together::of(Placement::Distinct, |cpus| {
                let turn = || mock::advance_ns(100);
                team_of((Between::Threads, partners), &cpus[..1], yield_now, turn)
            }))
        });
        let seen = verdict_of(&findings.expect("measured"), "CPUs of its tasks");
        assert_eq!(seen, verdict);
    }
}

/// Wherever it was seen: it need not have been moved so far.
#[test]
fn a_partner_that_may_leave_its_cpu_is_refuted() {
    let two = &or_skip!(two_cpus());
    for (may_use, verdict) in [(1, Verdict::Confirmed), (2, Verdict::Refuted)] {
        let findings = on(two, |plan| {
            let cpus = two[..may_use].to_vec();
            plan.measure(Together::of(HERE, move |_| {
                let turn = || mock::advance_ns(100);
                team_of((Between::Threads, 1), &cpus, yield_now, turn)
            }))
        });
        let findings = findings.expect("measured");
        assert_eq!(verdict_of(&findings, "CPUs of its tasks"), verdict);
    }
}

#[derive(Params, Clone)]
#[expect(dead_code)] // only what it says of its tasks is read
struct Placed {
    cpus: Placement,
}

#[test]
fn tasks_that_are_put_elsewhere_than_the_name_says_are_refuted() {
    let two = &or_skip!(two_cpus());
    for named in Placement::among(two) {
        let case = rows!(Placed { cpus: [named] }).remove(0).erased();
        for cpus in Placement::among(two) {
            let findings = found_of(&case, two, Pass::Timed, &[], |plan| {
                plan.measure(Together::of(cpus, |cpus| {
                    team_of((Between::Threads, 1), cpus, yield_now, yield_now)
                }))
            });
            let evidence = findings.expect("measured").evidence.into_iter();
            let places = evidence.filter(|one| one.claim.sentence.starts_with("CPUs "));
            let verdicts: Vec<Verdict> = places.map(|one| one.verdict).collect();
            let expected = [Verdict::of(cpus == named)];
            assert_eq!(verdicts, expected, "{cpus:?} for {named:?}");
        }
    }
}

#[test]
fn every_placement_that_may_be_seen_is_reported() {
    let two = &or_skip!(two_cpus());
    let findings = on(two, |plan| {
        plan.measure(Together::of(Placement::Free, |_| lasting(100)))
    })
    .expect("measured");
    for placement in Placement::among(two) {
        let detail = format!("placed_{}_percent", placement.name());
        let is_detailed = findings.details.contains_key(&detail);
        assert_eq!(is_detailed, placement != Placement::Free, "{detail}");
    }
    let verdict = real::verdict_of(&findings, "looks at the CPUs of its tasks");
    assert_eq!(verdict, Verdict::Unverified);
}

/// The causes for which samples of a team are tagged whose partner shares another CPU with a busy
/// loop, or whose tasks share two CPUs with two; the partner spins, or also sleeps now and then.
/// An error where that cannot be seen.
fn tags_beside_a_busy_loop(
    is_free: bool,
    expect: Expect,
    spins: bool,
) -> Result<Vec<(u32, Cause)>, Unsupported> {
    let two = &two_cpus()?;
    SchedStat::open()?;
    let (placement, busy) = match is_free {
        true => (Placement::Free, &two[..]),
        false => (Placement::Pair(two[0], two[1]), &two[1..]),
    };
    let spin = std::hint::spin_loop;
    let spin_and_sleep = || {
        let begun = Instant::now();
        while begun.elapsed() <= Duration::from_millis(1) {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(50));
    };
    let turn: fn() = if spins { spin } else { spin_and_sleep };
    let own = || std::thread::sleep(Duration::from_millis(4));
    let findings = beside_busy_loops(busy, || {
        found_of(&Case::default(), two, Pass::Timed, &[expect], |plan| {
            plan.measure(Together::of(placement, |cpus| {
                team_of((Between::Threads, 1), cpus, turn, own)
            }))
        })
    });
    let findings = findings.expect("measured");
    assert!(findings.details["others_percent"].value > 5.0);
    // Clean samples count, where each wait is known.
    let share = findings.explained.get(&Cause::RunDelay);
    assert!(spins && !is_free || *share.expect("told") > 0.05);
    let tags = findings.samples.disturbed.iter();
    Ok(tags.map(|tag| (tag.sample, tag.cause)).collect())
}

#[test]
fn a_team_whose_partner_shares_its_cpu_has_no_undisturbed_sample() {
    let spinning = at_most(Counter::Switches, 0.01);
    let sleeping = within(Counter::Switches, 1.0, 100.0);
    for (is_free, expect, spins) in [
        (false, spinning, true),
        (false, sleeping, false),
        (true, spinning, true),
        (true, sleeping, false),
    ] {
        let tags = or_skip!(tags_beside_a_busy_loop(is_free, expect, spins));
        // Of tasks that never sleep on CPUs of their own each wait is known.
        let cause = match spins && !is_free {
            true => Cause::RunDelay,
            false => Cause::Preempted,
        };
        let is_tagged = |sample: &u32| tags.contains(&(*sample, cause));
        let tagged = (0..5).filter(is_tagged).count();
        assert!(
            tagged >= if spins && !is_free { 1 } else { 5 },
            "{is_free} {spins}: {tags:?}"
        );
    }
}

#[test]
fn a_team_that_hardly_waits_for_its_cpus_has_them_to_itself() {
    let share = |delay_ns| {
        let delay_ns = Some(delay_ns);
        let used = TaskReading {
            delay_ns,
            ..TaskReading::default()
        };
        let cpus = cpu::allowed().expect("some");
        background::share_of_separate(&cpus[..1], &used, 100.0)
    };
    assert_eq!(share(2), Some(0.02));
    // What was counted is the most; a look at the CPU may show less.
    assert!(share(40).is_none_or(|share| share <= 0.4));
    assert!(
        share(140).is_none_or(|share| share <= 1.0),
        "of several tasks"
    );
}

#[test]
fn a_partner_whose_cpu_others_want_may_make_any_two_times_differ() {
    let (two, case) = (&or_skip!(two_cpus()), Case::default());
    or_skip!(SchedStat::open());
    let placement = Placement::Pair(two[0], two[1]);
    let findings = beside_busy_loops(&two[1..], || {
        found_of(&case, two, Pass::Evidence, &[], |plan| {
            plan.measure(Together::of(placement, |_| {
                // Twice the work takes four times as long.
                Ok(team(|n| {
                    let (begun, takes) = (Instant::now(), Duration::from_nanos(5 * n * n));
                    while begun.elapsed() < takes {
                        std::hint::spin_loop();
                    }
                    Ok(())
                }))
            }))
        })
    });
    let claim = Counter::TimeScaling.claim();
    let scaling = verdict_of(&findings.expect("counted"), &claim);
    // The others may by chance also make one time twice the other.
    assert_ne!(scaling, Verdict::Refuted);
}

/// Every second of its batches is disturbed.
struct Alternating(u64);

impl Driver for Alternating {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        mock::advance_ns(100 * iterations);
        Ok(())
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.0 += 1;
        Ok(())
    }

    fn was_disturbed(&self) -> bool {
        self.0.is_multiple_of(2)
    }
}

#[test]
fn a_batch_that_its_tasks_call_disturbed_is_no_undisturbed_sample() {
    or_skip!(cpu::pin(0), "processor 0 is not ours");
    let make = |_: &[u32]| Ok(Team::new(Vec::new(), Alternating(0)).map(drop));
    let findings = timed(|mut plan| {
        plan.ignore_interference();
        plan.measure(Together::of(HERE, make))
    });
    let samples = findings.expect("measured").samples;
    // Others that run here meanwhile may disturb all of them.
    let is_tagged = |sample| samples.disturbed.iter().any(|tag| tag.sample == sample);
    assert!((0..4).filter(|sample| is_tagged(*sample)).count() >= 2);
}
