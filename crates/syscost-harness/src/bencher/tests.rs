//! The bencher on a clock that only the test moves: its arithmetic must be exact.

use std::sync::LazyLock;
use std::time::Duration;

use syscost_results::Verdict;
use syscost_stats::order;
use syscost_sys::clock::{Clock, mock};
use syscost_sys::kernel::Work;

use super::*;
use crate::cores::Cores;
use crate::expect::{Counter, Expect, at_most, either, exactly};
use crate::failure::Failure;
use crate::placement::Placement;
use crate::testbed::Testbed;

mod arguments;
mod claims;
mod disturbances;
mod interference;
mod laps;
pub(in crate::bencher) mod real;
mod sleeping;
mod team;

use team::{HERE, team};

pub(super) const EFFORT: Effort = Effort {
    samples: 10,
    warm_up_ns: 1e3,
    batch_ns: 1e4,
    case_ns: 1e9,
    patience_ns: 0.0,
    singles: 200,
    second_witness: false,
};

/// A machine with one CPU.
static ONE_CPU: LazyLock<Testbed> = LazyLock::new(|| Testbed {
    allowed: vec![0],
    ..Testbed::plain()
});

pub(super) fn situation<'a>(
    case: &'a Case,
    pass: Pass,
    effort: &'a Effort,
    clock: &'a Clock,
    cores: &'a Cores,
) -> Situation<'a> {
    Situation {
        case,
        instead: None,
        pass,
        is_audited: false,
        time_limit: Duration::from_secs(20),
        effort,
        clock,
        clock_cost: ClockCost {
            step_ns: 1.0,
            read_ns: 2.0,
        },
        iterations: None,
        cpu: 0,
        here: &ONE_CPU,
        cores,
        seed: 1,
    }
}

fn plan<'a>(case: &'a Case, declared: &[Expect], clock: &'a Clock, pass: Pass) -> Plan<'a> {
    mock::reset();
    let situation = situation(case, pass, &EFFORT, clock, &crate::cores::UNKNOWN);
    Plan::new(declared, situation)
}

pub(super) fn timed(
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure>,
) -> Result<Findings, Failure> {
    let (case, clock) = (Case::default(), Clock::mock());
    measure(plan(&case, &[], &clock, Pass::Timed))?.finish()
}

#[test]
fn a_batch_gives_back_the_cost_of_one_operation() {
    let spend = || mock::advance_ns(70);
    let findings = timed(|plan| plan.measure(Loop::infallible(spend))).expect("measured");
    assert_eq!(findings.samples.values.len(), 10);
    assert!(
        findings.samples.values.iter().all(|ns| *ns == 70.0),
        "{:?}",
        findings.samples.values
    );
    assert!(findings.samples.iterations as f64 * 70.0 >= EFFORT.batch_ns);
    assert!(findings.samples.raw.is_empty(), "nothing was taken off");
}

#[test]
fn what_probes_leave_cold_is_paid_for_untimed() {
    // An iteration costs 300 ns, and 30 ns more if it is one of the first sixteen after the probes.
    let (mut calls, mut warm) = (Vec::new(), 0);
    let findings = timed(|plan| {
        plan.measure(Loop::batches(1, |iterations| {
            let cold = 16_u64.saturating_sub(warm).min(iterations);
            mock::advance_ns(300 * iterations + 30 * cold);
            calls.push(iterations);
            // The probes follow what is timed.
            warm = if iterations == 64 {
                0
            } else {
                warm + iterations
            };
            Ok(())
        }))
    })
    .expect("measured");
    assert!(findings.samples.values.iter().all(|ns| *ns == 300.0));
    let warm_up = calls.windows(2).filter(|pair| *pair == [16, 64]).count();
    assert_eq!(warm_up, EFFORT.samples as usize, "{calls:?}");
}

#[test]
fn a_few_iterations_have_a_warm_up_of_eight_and_a_long_one_has_none() {
    let calls_of = |iteration_ns: u64| {
        let mut calls = Vec::new();
        let findings = timed(|plan| {
            plan.measure(Loop::batches(1, |iterations| {
                mock::advance_ns(iteration_ns * iterations);
                calls.push(iterations);
                Ok(())
            }))
        });
        (findings.expect("measured").samples.iterations, calls)
    };
    let (iterations, calls) = calls_of(5_000);
    assert_eq!(iterations, 2);
    let warm_up = calls.windows(2).filter(|pair| *pair == [8, 2]).count();
    assert_eq!(warm_up, EFFORT.samples as usize, "{calls:?}");
    // No more operations than that are timed individually, each with the same warm-up.
    let all_calls = |iteration_ns| calls_of(iteration_ns).1.len() as u32;
    let warm_up = all_calls(150_000) - all_calls(250_000);
    assert_eq!(
        warm_up,
        EFFORT.samples + EFFORT.singles,
        "of one iteration each"
    );
}

#[test]
fn a_kernel_costs_what_it_takes_more_than_its_baseline() {
    let kernel = syscost_sys::kernel::dependent_adds(10).expect("10 divides an iteration");
    // Kernels run in real time, which the mock clock does not see: the same one twice costs nothing more.
    let clock = Clock::system();
    let case = Case::default();
    let mut plan = plan(&case, &[], &clock, Pass::Timed);
    let share = plan.event_share("share", 0.5, 0.05, 0.5, "kernel");
    let outcome = plan.measure(Kernel::of(&kernel).minus(&kernel, share));
    let findings = outcome.and_then(Outcome::finish).expect("measured");
    let (net, raw) = (&findings.samples.values, &findings.samples.raw);
    let typical = order::median(net).expect("there are samples");
    assert!(typical.abs() < 0.5 * raw[0], "{net:?} of {raw:?}");
}

/// Work whose iterations of four operations take this many ns.
struct Spends(u64);

impl syscost_sys::kernel::Work for Spends {
    fn operations_per_iteration(&self) -> u64 {
        4
    }

    fn floor_cycles(&self) -> f64 {
        0.0
    }

    fn run(&self, iterations: u64) -> u64 {
        mock::advance_ns(self.0 * iterations);
        iterations
    }

    fn expected(&self, iterations: u64) -> u64 {
        iterations
    }
}

#[test]
fn an_event_costs_what_an_operation_takes_more_by_the_share_of_them_that_have_it() {
    let findings = timed(|mut plan| {
        let share = plan.event_share("share", 0.5, 0.05, 0.5, "kernel");
        plan.measure(Kernel::of(&Spends(400)).minus(&Spends(100), share))
    });
    let samples = findings.expect("measured").samples;
    assert!(
        samples.values.iter().all(|ns| *ns == 150.0),
        "{:?}",
        samples.values
    );
    assert!(
        samples.raw.iter().all(|ns| *ns == 200.0),
        "{:?}",
        samples.raw
    );
}

#[test]
fn the_time_of_an_iteration_is_divided_by_all_of_its_operations() {
    let findings = timed(|plan| plan.measure(Kernel::of(&Spends(400)))).expect("measured");
    let values = findings.samples.values;
    assert!(values.iter().all(|ns| *ns == 100.0), "{values:?}");
}

#[test]
fn a_share_that_the_outcomes_do_not_have_is_refuted() {
    let verdict = |theory| {
        let findings = timed(|mut plan| {
            plan.event_share("share", theory, 0.05, 0.5, "kernel");
            plan.measure(Loop::infallible(|| mock::advance_ns(70)))
        });
        findings.expect("measured").evidence[0].verdict
    };
    assert_eq!(verdict(0.51), Verdict::Confirmed);
    assert_eq!(verdict(1.0), Verdict::Refuted);
}

#[test]
fn a_single_operation_is_net_of_the_timer() {
    let findings = timed(|plan| {
        mock::set_read_cost_ns(25);
        plan.measure(Single::of(
            || {
                mock::advance_ns(1_000);
                Ok(())
            },
            || {
                mock::advance_ns(400);
                Ok(())
            },
        ))
    })
    .expect("measured");
    assert!(
        findings.samples.values.iter().all(|ns| *ns == 400.0),
        "{:?}",
        findings.samples.values
    );
    assert!(
        findings.samples.raw.iter().all(|ns| *ns > 400.0),
        "{:?}",
        findings.samples.raw
    );
}

#[test]
fn observations_are_kept_as_they_come() {
    let mut next = 0.0;
    let findings = timed(|plan| {
        plan.measure(Observed::of(|| {
            next += 1.0;
            Ok(next)
        }))
    })
    .expect("observed");
    assert_eq!(findings.samples.values[..3], [1.0, 2.0, 3.0]);
}

#[test]
fn a_value_that_is_no_number_fails_the_measurement() {
    let failure = timed(|plan| plan.measure(Observed::of(|| Ok(f64::NAN))));
    let failure = failure.expect_err("not a number");
    assert_eq!(failure.to_string(), "sample 0 is NaN, not a number");
}

#[test]
fn the_first_failure_of_an_operation_ends_its_measurement() {
    let mut done = 0;
    let failure = timed(|plan| {
        plan.measure(Loop::each(|| {
            done += 1;
            mock::advance_ns(10);
            if done < 3 { Ok(()) } else { Err("gone") }
        }))
    })
    .expect_err("the third fails");
    assert_eq!(failure, Failure::Failed("operation 3 failed: gone".into()));
}

#[test]
fn work_that_takes_no_time_is_refuted() {
    let failure = timed(|plan| plan.measure(Loop::batches(1, |_| Ok(())))).expect_err("folded");
    assert!(matches!(failure, Failure::Refuted(_)), "{failure}");
}

#[test]
fn a_reported_count_is_judged_per_operation() {
    let (case, clock) = (Case::default(), Clock::mock());
    let expect = [exactly(Counter::Reported("handler runs"), 1.0)];
    for (share, verdict) in [(1.0, Verdict::Confirmed), (0.5, Verdict::Refuted)] {
        let plan = plan(&case, &expect, &clock, Pass::Timed);
        let outcome = plan.measure(Loop::infallible(|| mock::advance_ns(70)));
        let mut outcome = outcome.expect("measured");
        let total = outcome.operations() as f64 * share;
        outcome.report("handler runs", total);
        let evidence = outcome.finish().expect("finished").evidence;
        assert_eq!(evidence[0].verdict, verdict, "{evidence:?}");
        assert_eq!(evidence[0].claim.sentence, "handler runs per operation");
    }
}

#[test]
fn an_expected_report_that_is_missing_is_a_defect() {
    let (case, clock) = (Case::default(), Clock::mock());
    let expect = [exactly(Counter::Reported("handler runs"), 1.0)];
    let plan = plan(&case, &expect, &clock, Pass::Timed);
    let outcome = plan.measure(Loop::infallible(|| mock::advance_ns(70)));
    let findings = outcome.expect("measured").finish();
    assert!(matches!(findings, Err(Failure::Broken(_))));
}

#[test]
fn a_cases_own_expectation_replaces_the_benchmarks() {
    let clock = Clock::mock();
    let mut case = Case::default();
    case.facts.proofs = Some(|_| vec![Proof::counted([at_most(Counter::MinorFaults, 2.0)])]);
    let declared = [at_most(Counter::MinorFaults, 0.0)];
    let plan = plan(&case, &declared, &clock, Pass::Timed);
    assert_eq!(plan.declared, [at_most(Counter::MinorFaults, 2.0)]);
}

#[test]
fn a_plan_narrows_what_a_proof_expects_and_never_widens_it() {
    let counter = Counter::Reported("calls");
    let mut case = Case::default();
    case.facts.proofs = Some(|_| {
        let counted = either(Counter::Reported("calls"), 1.0, 2.0);
        vec![Proof::counted([counted])]
    });
    let clock = Clock::mock();
    let judged = |expected, calls: f64| {
        let mut plan = plan(&case, &[], &clock, Pass::Timed);
        plan.expect(expected);
        let mut outcome = plan.measure(Loop::infallible(|| mock::advance_ns(70)))?;
        outcome.report("calls", calls * outcome.operations() as f64);
        Ok::<_, Failure>(outcome.finish()?.evidence[0].verdict)
    };
    let (one, both) = (exactly(counter, 1.0), either(counter, 1.0, 2.0));
    assert_eq!(judged(both, 2.0), Ok(Verdict::Confirmed));
    assert_eq!(judged(one, 1.0), Ok(Verdict::Confirmed));
    assert_eq!(judged(one, 2.0), Ok(Verdict::Refuted));
    for wider in [exactly(counter, 3.0), at_most(counter, 2.0)] {
        let broken = judged(wider, 1.0);
        assert!(matches!(broken, Err(Failure::Broken(_))), "{broken:?}");
    }
}

#[test]
fn time_that_does_not_double_with_the_work_is_refuted() {
    let (case, clock) = (Case::default(), Clock::mock());
    for (exponent, verdict) in [(1, Verdict::Confirmed), (2, Verdict::Refuted)] {
        let plan = plan(&case, &[], &clock, Pass::Evidence);
        let outcome = plan.measure(Loop::batches(1, |n| {
            mock::advance_ns(50 * n.pow(exponent));
            Ok(())
        }));
        let evidence = outcome
            .expect("counted")
            .finish()
            .expect("finished")
            .evidence;
        let scaling = evidence
            .iter()
            .find(|e| e.source == "clock")
            .expect("scaling is judged");
        assert_eq!(scaling.verdict, verdict, "{scaling:?}");
    }
}

/// Work that moves this many bytes per operation and takes no time.
struct Moving(u64);

impl Work for Moving {
    fn operations_per_iteration(&self) -> u64 {
        1
    }

    fn floor_cycles(&self) -> f64 {
        0.0
    }

    fn bytes_per_operation(&self) -> Option<u64> {
        Some(self.0)
    }

    fn run(&self, iterations: u64) -> u64 {
        mock::advance_ns(70 * iterations);
        iterations
    }

    fn expected(&self, iterations: u64) -> u64 {
        iterations
    }
}

#[test]
fn the_rate_of_a_kernel_is_of_the_bytes_it_moves() {
    let findings = timed(|mut plan| {
        plan.rate(8);
        plan.measure(Kernel::of(&Moving(8)))
    });
    let values = findings.expect("measured").samples.values;
    assert!(
        values.iter().all(|rate| (rate - 8e9 / 70.0).abs() < 1.0),
        "{values:?}"
    );
}

#[test]
fn a_rate_that_would_not_be_one_is_a_defect() {
    let nothing = || Ok(());
    let alone = || Together::of(HERE, |_| Ok(team(|_| Ok(()))));
    fn rated<S: Shape<Output = ()>>(shape: S) -> Result<Findings, Failure> {
        timed(|mut plan| {
            plan.rate(8);
            plan.measure(shape)
        })
    }
    for refused in [
        rated(Kernel::of(&Moving(4))),
        rated(Single::of(nothing, nothing)),
        rated(alone().minus(&[])),
        rated(alone().own_share()),
        rated(Observed::of(|| Ok(1.0))),
        rated(Loop::infallible(|| mock::advance_ns(70))),
    ] {
        assert!(matches!(refused, Err(Failure::Broken(_))), "{refused:?}");
    }
}

#[test]
fn a_rate_of_other_bytes_than_were_moved_is_refuted() {
    for (moved, verdict) in [(8, Verdict::Confirmed), (4, Verdict::Refuted)] {
        let findings = timed(|mut plan| {
            plan.rate(8);
            let mut outcome = plan.measure(Loop::infallible(|| mock::advance_ns(70)))?;
            outcome.claim_moved(outcome.operations() * moved, "both ends");
            Ok(outcome)
        });
        let evidence = findings.expect("measured").evidence;
        assert_eq!(evidence[0].verdict, verdict, "{evidence:?}");
    }
}

#[test]
fn a_part_of_an_operation_is_one_of_those_that_a_witness_counted() {
    static ENTRIES: Witness = Witness::of("entries", "kernel");
    let with = |seen: Option<u64>| {
        timed(|plan| {
            let mut outcome = plan.measure(Loop::infallible(|| mock::advance_ns(70)))?;
            if let Some(count) = seen {
                outcome.observe(&ENTRIES, count);
            }
            outcome.detail_each("per_entry_ns", &ENTRIES)?;
            Ok(outcome)
        })
    };
    let findings = with(Some(10)).expect("measured");
    let detail = findings.details["per_entry_ns"];
    assert_eq!((detail.value, detail.over), (0.1, Over::Times));
    assert!(
        matches!(with(None), Err(Failure::Broken(_))),
        "it saw nothing"
    );
}

#[test]
fn an_observation_is_kept_with_the_time_that_it_took() {
    timed(|plan| {
        let outcome = plan.measure(Observed::of(|| {
            mock::advance_ns(500);
            Ok(3.0)
        }))?;
        assert!(outcome.observed().iter().all(|one| *one == (3.0, 500.0)));
        assert!(!outcome.observed().is_empty());
        Ok(outcome)
    })
    .expect("observed");
}

#[test]
fn contents_are_compared_where_nothing_is_timed() {
    assert!(!Compares::from(Pass::Timed).all());
    assert!(Compares::from(Pass::Evidence).all());
}

#[test]
fn a_preparation_is_neither_timed_nor_more_than_there_is_room_for() {
    let room = std::cell::Cell::new(0);
    let spend = |iterations| {
        assert_eq!(
            room.take(),
            iterations,
            "each batch has its own preparation"
        );
        mock::advance_ns(30 * iterations);
        Ok(())
    };
    let prepare = |iterations| {
        mock::advance_ns(7_000);
        room.set(iterations);
        Ok(())
    };
    let findings = timed(|plan| plan.measure(Loop::batches(1, spend).prepared(64, prepare)));
    let findings = findings.expect("measured");
    assert!(findings.samples.values.iter().all(|ns| *ns == 30.0));
    assert_eq!(
        findings.samples.iterations, 64,
        "a longer batch has no room"
    );
    assert_eq!(findings.histogram, [], "none is timed singly");
    let short = Loop::batches(1, |_| Ok(())).prepared(64, |_| Ok(()));
    let failure = timed(|plan| plan.measure(short)).expect_err("short");
    assert!(matches!(failure, Failure::Unsupported(_)), "{failure}");
    assert!(failure.to_string().contains("at most 64 at once"));
    let failed = || Failure::Failed("no memory".into());
    let unprepared = Loop::batches(1, |_| Ok(())).prepared(64, |_| Err(failed()));
    let failure = timed(|plan| plan.measure(unprepared));
    assert_eq!(failure.expect_err("not prepared"), failed());
}
