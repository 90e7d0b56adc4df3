use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::{Claim, Evidence};

use super::*;
use crate::benchmark::Benchmark;
use crate::case::Case;
use crate::derive::Derive;

/// A row without any results.
fn row() -> RowState {
    let benchmark: &'static Benchmark = &Benchmark::DEFAULT;
    let case = Case::default();
    RowState::new(Row { benchmark, case }, 0.02)
}

/// A process on an undisturbed core, or on a shared one.
fn process(is_exclusive: bool) -> Result<Findings, Failure> {
    let tag = |sample| Disturbance {
        sample,
        cause: Cause::SharedCore,
    };
    Ok(Findings {
        samples: RoundSamples {
            iterations: 1,
            values: vec![1.0; 5],
            alone_percent: Some(0.0),
            disturbed: (0..5).map(tag).filter(|_| !is_exclusive).collect(),
            ..RoundSamples::default()
        },
        took_ns: 4e6,
        ..Findings::default()
    })
}

fn take(row: &mut RowState, round: u32, result: Result<Findings, Failure>) {
    let numbered = |mut findings: Findings| {
        findings.samples.round = round;
        findings
    };
    row.take(Pass::Timed, result.map(numbered));
}

#[test]
fn a_row_is_deferred_no_more_often_than_it_was_measured() {
    let mut row = row();
    assert!(!row.may_defer(), "nothing is known of it");
    take(&mut row, 0, process(true));
    assert!(row.may_defer());
    take(&mut row, 1, Err(Failure::Deferred));
    assert!(row.failure.is_none() && row.is_active());
    assert!(!row.may_defer());
    take(&mut row, 2, process(false));
    assert!(row.may_defer());
    assert_eq!(row.counting(), (1, 3));
}

#[test]
fn a_row_none_of_whose_rounds_counts_is_measured_all_the_same() {
    let mut row = row();
    for round in 0..3 {
        assert_eq!(row.may_defer(), round > 0);
        take(&mut row, round, process(false));
    }
    assert!(!row.may_defer());
    take(&mut row, 3, process(true));
    assert!(row.may_defer());
}

#[test]
fn what_a_row_likely_takes_is_less_if_it_may_be_deferred() {
    let mut row = row();
    take(&mut row, 0, process(true));
    assert_eq!(row.likely_takes(), row.takes);
    take(&mut row, 1, Err(Failure::Deferred));
    assert_eq!(row.likely_takes().work_s, 0.5 * row.takes.work_s);
}

#[test]
fn a_row_says_larger_than_if_most_of_its_rounds_do() {
    let evidence = Evidence::new("a", 1.0, 1.0, "b", Verdict::Confirmed);
    let of = |larger: &[bool]| {
        let mut row = row();
        let proof = Findings {
            evidence: vec![evidence.clone()],
            limits: Some((1.0, 1000.0)),
            ..Findings::default()
        };
        row.take(Pass::Evidence, Ok(proof));
        for (round, is_larger) in (0..).zip(larger) {
            let findings = Findings {
                samples: RoundSamples {
                    iterations: 1,
                    values: vec![256.0 + f64::from(round); 5],
                    ..RoundSamples::default()
                },
                limits: Some((240.0 - f64::from(round), 300.0)),
                larger: is_larger.then(|| "time ended".to_owned()),
                ..Findings::default()
            };
            take(&mut row, round, Ok(findings));
        }
        row.measurement(true, "", &Frequencies::default(), None)
    };
    let above = of(&[true, true, false]);
    assert_eq!(above.status, Status::AboveRange);
    assert_eq!(above.reason.as_deref(), Some("time ended"));
    let Estimate {
        median,
        ci95_low,
        ci95_high,
        rounds,
        ..
    } = above.estimate;
    assert_eq!(
        (median, ci95_low, ci95_high, rounds),
        (None, Some(256.0), None, 3)
    );
    let found = of(&[true, false, false]);
    assert_eq!(
        (found.status, found.estimate.median),
        (Status::Ok, Some(257.0))
    );
    let ends = (found.estimate.ci95_low, found.estimate.ci95_high);
    assert_eq!(
        ends,
        (Some(238.0), Some(300.0)),
        "the limits of all rounds, not of the evidence pass"
    );
}

#[test]
fn a_computed_row_has_its_limits_from_the_whole_run() {
    static COMPUTED: Benchmark = Benchmark {
        id: "some.size",
        derive: Some(Derive {
            from: &[],
            takes: |_, _| false,
            compute: |_, _, _| Err(Failure::Failed("it is not asked".to_owned())),
        }),
        ..Benchmark::DEFAULT
    };
    let case = Case::default();
    let benchmark = &COMPUTED;
    let mut row = RowState::new(Row { benchmark, case }, 0.02);
    let proof = Findings {
        limits: Some((240.0, 300.0)),
        ..Findings::default()
    };
    row.take(Pass::Evidence, Ok(proof));
    take(&mut row, 0, process(true));
    assert_eq!(row.limits(), Some((240.0, 300.0)));
}

#[test]
fn a_row_that_only_notes_facts_claims_nothing() {
    let mut row = row();
    take(&mut row, 0, process(true));
    let note = Evidence::note("its name", "a name", "the kernel");
    let claim = Evidence::new("its name", "a", "a", "the kernel", Verdict::Confirmed);
    let why = |evidence: &[Evidence]| {
        let (_, reason) = row.status(&Estimate::default(), false, evidence, "");
        reason.unwrap_or_default()
    };
    let defect = "claims nothing that could be wrong";
    assert!(why(&[]).contains(defect));
    assert!(why(std::slice::from_ref(&note)).contains(defect));
    assert!(!why(&[note, claim]).contains(defect));
}

#[test]
fn what_others_may_have_broken_is_counted_again_and_withheld_only_if_most_say_so() {
    use Verdict::{Confirmed, Refuted};
    let counted = |verdict| {
        Ok(Findings {
            evidence: vec![Evidence::new(
                Claim::by_most("switches of all its tasks per operation"),
                2.0,
                2.4,
                "/proc",
                verdict,
            )],
            ..Findings::default()
        })
    };
    let after = |verdicts: &[Verdict]| {
        let mut row = row();
        for (round, verdict) in (0..).zip(verdicts) {
            assert_eq!(row.is_doubtful(), round > 0, "{verdicts:?}, {round}");
            row.take(Pass::Evidence, counted(*verdict));
            take(&mut row, round, process(true));
        }
        let measured = row.measurement(true, "", &Frequencies::default(), None);
        (row.is_doubtful(), measured.status)
    };
    assert_eq!(after(&[Confirmed]), (false, Status::Ok));
    assert_eq!(after(&[Refuted, Confirmed, Confirmed]), (false, Status::Ok));
    let lie = [Refuted, Refuted, Refuted];
    assert_eq!(after(&lie), (false, Status::Withheld));
    assert_eq!(
        after(&[Refuted]),
        (true, Status::Withheld),
        "no time for more"
    );
}
