//! Operations of several tasks, of which only the measuring one is there.

use super::*;

/// Several tasks of which only the measuring one is there.
pub(super) fn team<'t>(turns: impl FnMut(u64) -> Result<(), Failure> + 't) -> Team<'t> {
    Team::new(Vec::new(), turns, || Ok(()))
}

/// Where the mock's processor is. The tests' threads go there and back.
pub(super) const HERE: Placement = Placement::At(syscost_sys::topology::Relation::SameCpu);

#[test]
fn a_team_costs_what_it_takes_more_than_its_baselines() {
    if syscost_sys::cpu::pin(0).is_err() {
        println!("skipped: processor 0 is not ours");
        return;
    }
    let findings = timed(|b| {
        b.operations_per_turn(4);
        let baseline = |detail, per_turn, ns: u64| Baseline {
            name: "less",
            detail,
            expect: &[],
            per_turn,
            make: match ns {
                20 => &|_| {
                    Ok(team(|n| {
                        mock::advance_ns(20 * n);
                        Ok(())
                    }))
                },
                _ => &|_| {
                    Ok(team(|n| {
                        mock::advance_ns(30 * n);
                        Ok(())
                    }))
                },
            },
        };
        b.together_difference(
            HERE,
            |_| {
                Ok(team(|n| {
                    mock::advance_ns(400 * n);
                    Ok(())
                }))
            },
            &[baseline("less_ns", 1, 20), baseline("least_ns", 2, 30)],
        )
    })
    .expect("measured");
    // 400 ns for four operations, less 20 for one, less 30 for two.
    assert!(
        findings.values.iter().all(|ns| *ns == 65.0),
        "{:?}",
        findings.values
    );
    assert!(
        findings.raw.iter().all(|ns| *ns == 100.0),
        "{:?}",
        findings.raw
    );
    assert_eq!(findings.details["less_ns"], 20.0);
    assert_eq!(findings.details["least_ns"], 15.0);
    assert_eq!(findings.cycle_floor, None, "a difference may be nothing");
    assert_eq!(findings.iterations % 4, 0);
}

#[test]
fn what_a_benchmark_reports_is_not_diluted_by_its_baselines() {
    if syscost_sys::cpu::pin(0).is_err() {
        println!("skipped: processor 0 is not ours");
        return;
    }
    for pass in [Pass::Timed, Pass::Evidence] {
        let (case, clock) = (Case::default(), Clock::mock());
        let expect = [exactly(Counter::Reported("turns"), 1.0)];
        let mut bencher = bencher(&case, &expect, &clock, pass);
        let baseline = Baseline {
            name: "less",
            detail: "less_ns",
            expect: &[],
            per_turn: 1,
            make: &|_| {
                Ok(team(|n| {
                    mock::advance_ns(100 * n);
                    Ok(())
                }))
            },
        };
        let turns = std::cell::Cell::new(0);
        let make = |_: &[u32]| {
            // The first is made before any that counts.
            turns.set(turns.get() - 1);
            Ok(team(|n| {
                turns.set(turns.get() + n as i64);
                mock::advance_ns(400 * n);
                Ok(())
            }))
        };
        bencher
            .together_difference(HERE, make, &[baseline])
            .expect("measured");
        assert_eq!(bencher.operations() as i64, turns.get(), "{pass:?}");
    }
}

#[test]
fn a_baseline_that_is_no_such_work_is_refuted_under_its_name() {
    if syscost_sys::cpu::pin(0).is_err() {
        println!("skipped: processor 0 is not ours");
        return;
    }
    let (case, clock) = (Case::default(), Clock::mock());
    let mut bencher = bencher(&case, &[], &clock, Pass::Evidence);
    let growing = |n: u64| {
        mock::advance_ns(50 * n * n);
        Ok(())
    };
    let baseline = Baseline {
        name: "the same work",
        detail: "same_work_ns",
        expect: &[],
        per_turn: 1,
        make: &|_| Ok(team(growing)),
    };
    let work = |_: &[u32]| {
        Ok(team(|n| {
            mock::advance_ns(500 * n);
            Ok(())
        }))
    };
    bencher
        .together_difference(HERE, work, &[baseline])
        .expect("counted");
    let evidence = bencher.finish().expect("finished").evidence;
    let refuted: Vec<&str> = evidence
        .iter()
        .filter(|one| one.verdict == Verdict::Refuted)
        .map(|one| one.claim.as_str())
        .collect();
    assert_eq!(
        refuted,
        ["the same work: time of 2n operations over time of n"]
    );
}
