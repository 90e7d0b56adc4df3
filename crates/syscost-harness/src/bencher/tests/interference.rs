//! Sampling on a core that is always ours, and on one that never is: on the mock clock either burst
//! of a probe takes one reading, so that the ratio is 1.

use std::collections::BTreeSet;

use super::*;

/// How long a case may wait for an undisturbed core, in ns.
const PATIENCE_NS: f64 = 1e6;

/// Findings of a pass where probes up to this ratio count as undisturbed.
pub(super) fn on_core(
    limit: f64,
    pass: Pass,
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure>,
) -> Findings {
    mock::reset();
    mock::set_read_cost_ns(20);
    let effort = Effort {
        patience_ns: PATIENCE_NS,
        ..EFFORT
    };
    let mut cores = Cores::with_limit(0, limit);
    cores.knows_frequency = true;
    let (case, clock) = (Case::default(), Clock::mock());
    let situation = situation(&case, pass, &effort, &clock, &cores);
    let outcome = measure(Plan::new(&[], situation)).expect("measured");
    let mut findings = outcome.finish().expect("finished");
    let core = cores.alone(0);
    findings.samples.own_limit = core.map(|core| core.limit);
    findings
}

/// An operation of 70 ns.
fn plain(plan: Plan) -> Result<Outcome, Failure> {
    plan.measure(Loop::infallible(|| mock::advance_ns(70)))
}

/// How many samples are tagged as shared; others are disturbed by tests that run at the same time.
pub(super) fn shared_samples(findings: &Findings) -> usize {
    let samples = &findings.samples;
    (0..samples.values.len())
        .filter(|sample| samples.is_shared(*sample))
        .count()
}

/// How many samples there are besides those that other tests running at the same time disturbed.
fn undisturbed_samples(findings: &Findings) -> usize {
    let disturbed: BTreeSet<u32> = findings
        .samples
        .disturbed
        .iter()
        .map(|one| one.sample)
        .collect();
    findings.samples.values.len() - disturbed.len()
}

#[test]
fn on_a_core_of_our_own_samples_that_agree_end_a_process_early() {
    let findings = on_core(2.0, Pass::Timed, plain);
    assert_eq!(shared_samples(&findings), 0);
    assert_eq!(undisturbed_samples(&findings), 5, "five agree");
    let alone = findings.samples.alone_percent.expect("looked");
    assert!(alone > 90.0, "{alone}");
}

#[test]
fn samples_that_differ_are_taken_as_often_as_wanted() {
    let mut random = fastrand::Rng::with_seed(3);
    let findings = on_core(2.0, Pass::Timed, |plan| {
        plan.measure(Loop::batches(1, |n| {
            mock::advance_ns(random.u64(70..90) * n);
            Ok(())
        }))
    });
    assert_eq!(undisturbed_samples(&findings), 10);
}

#[test]
fn on_a_core_that_is_never_ours_every_sample_is_tagged_and_waiting_ends() {
    let findings = on_core(0.5, Pass::Timed, plain);
    // That many show that it will hardly be ours.
    assert_eq!(findings.samples.values.len(), 8);
    assert_eq!(shared_samples(&findings), 8);
    assert_eq!(findings.samples.alone_percent, Some(0.0));
    let waited = findings.waited_ns;
    assert!(
        (PATIENCE_NS..1.1 * PATIENCE_NS).contains(&waited),
        "{waited}"
    );
}

/// Costs of the clock's reads after an operation that leaves the core slow: the one that ends its
/// batch, and those of the three probes that follow.
const AFTER_EFFECT: [u64; 19] = [
    20, 20, 20, 20, 20, 60, 20, 20, 20, 20, 20, 60, 20, 20, 20, 20, 20, 60, 20,
];

#[test]
fn an_operation_that_slows_the_look_after_it_goes_by_the_one_before() {
    let mut longest = 0;
    let findings = on_core(2.0, Pass::Timed, |plan| {
        plan.measure(Loop::batches(1, |n| {
            mock::advance_ns(70 * n);
            longest = longest.max(n);
            // Not after the few iterations of the warm-up.
            if 2 * n > longest {
                mock::script_reads(AFTER_EFFECT);
            }
            Ok(())
        }))
    });
    assert_eq!(findings.details["gate_alone"].value, 1.0);
    assert_eq!(shared_samples(&findings), 0);
}

#[test]
fn every_way_to_measure_looks_at_the_core() {
    type Way = fn(Plan) -> Result<Outcome, Failure>;
    let ways: [(&str, Way); 3] = [
        ("single", |plan| {
            plan.measure(Single::of(
                || Ok(()),
                || {
                    mock::advance_ns(500);
                    Ok(())
                },
            ))
        }),
        ("observe", |plan| {
            plan.measure(Observed::of(|| {
                mock::advance_ns(100);
                Ok(7.0)
            }))
        }),
        ("together", |plan| {
            plan.measure(Together::of(HERE, |_| {
                Ok(team(|n| {
                    mock::advance_ns(100 * n);
                    Ok(())
                }))
            }))
        }),
    ];
    for (name, way) in ways {
        let shared = on_core(0.5, Pass::Timed, way);
        assert_eq!(
            shared_samples(&shared),
            shared.samples.values.len(),
            "{name}"
        );
        let own = on_core(2.0, Pass::Timed, way);
        assert!(
            shared_samples(&own) == 0 && own.samples.alone_percent > Some(50.0),
            "{name}"
        );
        assert!(
            knows_each_frequency(&own),
            "{name}: {:?}",
            own.samples.sample_ghz
        );
    }
}

/// Whether each sample has the frequency of its core.
fn knows_each_frequency(findings: &Findings) -> bool {
    let known = findings.samples.sample_ghz.iter().filter(|ghz| **ghz > 0.0);
    known.count() == findings.samples.values.len() && findings.samples.core_ghz.is_some()
}

#[test]
fn what_does_not_depend_on_the_frequency_is_looked_at_and_has_none() {
    let observed = |disregards: bool| {
        on_core(2.0, Pass::Timed, |mut plan| {
            if disregards {
                plan.disregard_frequency();
            }
            plan.measure(Observed::of(|| {
                mock::advance_ns(100);
                Ok(7.0)
            }))
        })
    };
    assert!(knows_each_frequency(&observed(false)));
    let without = observed(true);
    assert_eq!(
        (&without.samples.sample_ghz[..], without.samples.core_ghz),
        (&[][..], None)
    );
    assert!(
        without.samples.alone_percent > Some(50.0),
        "its core is looked at"
    );
}

#[test]
fn a_benchmark_about_interference_takes_samples_as_they_come() {
    let findings = on_core(0.5, Pass::Timed, |mut plan| {
        plan.ignore_interference();
        plain(plan)
    });
    assert_eq!(shared_samples(&findings), 0);
    assert_eq!(findings.samples.alone_percent, None);
}

#[test]
fn only_what_was_timed_on_a_core_of_our_own_refutes() {
    let verdict = |limit, fixed_ns: u64, ns: u64| {
        let findings = on_core(limit, Pass::Evidence, |plan| {
            plan.measure(Loop::batches(1, |n| {
                mock::advance_ns(fixed_ns + ns * n);
                Ok(())
            }))
        });
        let claim = Counter::TimeScaling.claim();
        let mut evidence = findings.evidence.into_iter();
        let scaling = evidence.find(|evidence| evidence.claim.sentence == claim);
        scaling.expect("scaling is judged")
    };
    assert_eq!(verdict(2.0, 500_000, 150_000).verdict, Verdict::Refuted);
    let disturbed = verdict(0.5, 500_000, 150_000);
    assert_eq!(disturbed.verdict, Verdict::Unverified);
    assert!(
        disturbed
            .reason
            .is_some_and(|reason| reason.contains("core was shared"))
    );
    // Work that takes the same time once or twice is not done, even on a shared core.
    assert_eq!(verdict(0.5, 600_000, 0).verdict, Verdict::Refuted);
}
