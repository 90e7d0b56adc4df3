use super::super::view::tests::view;
use super::*;
use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::{Evidence, Verdict};

const NS: Scale = Scale {
    factor: 1.0,
    symbol: "ns",
};

fn row() -> Measurement {
    let mut row = syscost_results::fixture::row("study.x", vec![vec![5.0]; 6]);
    row.evidence = vec![Evidence::new(
        "getpid system calls per operation",
        0.0,
        0.0,
        "seccomp audit",
        Verdict::Confirmed,
    )];
    row.details.insert("tries".into(), 10_000.0);
    row.details.insert("loop_ns".into(), 1500.0);
    row.details.insert("rare".into(), 0.004);
    row
}

fn claim(at_least: f64) -> NameClaim {
    NameClaim {
        counted: "getpid system calls per operation".into(),
        at_least: Some(at_least),
        at_most: None,
        holds: Some("It enters the kernel.".into()),
        broken: "No system call happened: {} of {tries} entered the kernel.".into(),
    }
}

fn reason(counted: &str, acts: Acts, text: &str) -> Reason {
    Reason {
        counted: counted.into(),
        says: None,
        at_least: None,
        at_most: None,
        up_to: false,
        acts,
        text: text.into(),
    }
}

#[test]
fn a_claim_is_judged_by_what_was_counted() {
    let judged = |least: f64, row: &Measurement| {
        let claims = [claim(least)];
        let (claimed, broken, said) = of_claims(&claims, row);
        (claimed, broken.is_some(), said)
    };
    let broken = "No system call happened: 0 of 10000 entered the kernel.".to_owned();
    assert_eq!(judged(1.0, &row()), (Claimed::Broken, true, Some(broken)));
    let held = Some("It enters the kernel.".to_owned());
    assert_eq!(judged(0.0, &row()), (Claimed::Holds, false, held));
    let mut uncounted = row();
    uncounted.evidence.clear();
    let (claimed, _, said) = judged(1.0, &uncounted);
    assert_eq!(claimed, Claimed::NotCounted);
    assert!(said.is_some_and(|said| said.starts_with("Not counted here")));
}

#[test]
fn counts_are_shown_with_a_unit_that_suits_them() {
    let said = filled("{loop_ns} ns, {rare} switches, {other}", "", &row());
    assert_eq!(said, "1.50 µs, almost no switches, (not counted)");
}

#[test]
fn a_share_of_more_than_all_is_no_part() {
    let mut row = row();
    row.details.insert("loop_percent".into(), 158.0);
    let claims = [NameClaim {
        counted: "loop_percent".into(),
        at_least: None,
        at_most: Some(10.0),
        holds: None,
        broken: "The loop is {} % of it.".into(),
    }];
    let said = |claims: &[NameClaim], row: &Measurement| of_claims(claims, row).2;
    let more = said(&claims, &row);
    assert_eq!(more.as_deref(), Some("The loop is more than 100 % of it."));
    row.details.insert("loop_percent".into(), 82.0);
    let part = said(&claims, &row);
    assert_eq!(part.as_deref(), Some("The loop is 82 % of it."));
}

#[test]
fn a_reason_is_given_only_where_its_count_shows_it_and_only_in_its_direction() {
    let reasons = [
        Reason {
            at_most: Some(0.5),
            ..reason("getpid system calls per operation", Acts::Less, "no kernel")
        },
        reason("loop_ns", Acts::More, "the loop takes {} ns"),
    ];
    let row = row();
    let why = |more| why(&reasons, Some(&row), 8000.0, more);
    assert_eq!(why(-70.0).as_deref(), Some("no kernel"));
    assert_eq!(why(2000.0).as_deref(), Some("the loop takes 1.50 µs"));
    assert_eq!(why(4000.0), None, "the loop is less than half of it");
    assert_eq!(why(230.0), None, "the loop is far more than that");
}

#[test]
fn a_reason_that_acts_by_at_most_so_much_explains_no_more() {
    let mut row = row();
    row.details.insert("clock_step_percent".into(), 9.0);
    let step = [Reason {
        at_least: Some(5.0),
        up_to: true,
        ..reason("clock_step_percent", Acts::Less, "a step of the clock")
    }];
    let why = |more| why(&step, Some(&row), 100.0, more);
    assert!(why(-8.0).is_some());
    assert_eq!(why(-20.0), None);
}

#[test]
fn what_a_compiler_was_told_is_a_reason() {
    let mut row = row();
    row.evidence.push(Evidence::note(
        "program compiled by",
        "cc 12, -O0 -static",
        "build",
    ));
    let compiled = |flag: &str| Reason {
        says: Some(flag.into()),
        ..reason("program compiled by", Acts::More, "not optimised")
    };
    let why = |flag| why(&[compiled(flag)], Some(&row), 3.0, 2.0);
    assert_eq!(why("-O0").as_deref(), Some("not optimised"));
    assert_eq!(why("-O3"), None);
}

#[test]
fn a_mean_far_above_what_nine_of_ten_took_is_that_of_a_few() {
    let mut row = row();
    row.details.insert("single_p90_ns".into(), 422.0);
    let why = |here, ours: f64| why(&[], Some(&row), here, here - ours);
    assert_eq!(
        why(486.0, 367.0).as_deref(),
        Some("nine of ten took at most 422 ns, so the mean is that of a few long ones")
    );
    assert_eq!(why(425.0, 367.0), None, "3 ns of 58 are not the reason");
    assert_eq!(why(486.0, 600.0), None, "it makes no figure smaller");
}

fn quantity(claims: Vec<NameClaim>, reasons: Vec<Reason>) -> Quantity {
    Quantity {
        id: "getpid".to_owned(),
        title: "getpid".to_owned(),
        claims,
        reasons,
        ..Quantity::default()
    }
}

fn judged(quantity: &Quantity, here: f64, ours: f64, disturbed: Option<Disturbed>) -> Sentence {
    beside(quantity, &[], (here, ours), disturbed)
}

fn beside(
    quantity: &Quantity,
    published: &[JudgedFigure],
    (here, ours): (f64, f64),
    disturbed: Option<Disturbed>,
) -> Sentence {
    let (here, seen) = (view(here, 0.1), Seen::Figure(view(ours, 0.1)));
    let row = row();
    let facts = Facts {
        as_published: Some(Ok(&row)),
        ours: None,
        compared: Some(&here),
        disturbed,
        seen: Some(&seen),
        published,
        scale: NS,
        cycles: Scale::cycles(syscost_results::study::Cycles::Core),
    };
    verdict(quantity, &facts)
}

/// Of this many results the first ones have these causes, a sample each.
fn disturbed(of: usize, causes: &[Cause]) -> Option<Disturbed> {
    let mut row = syscost_results::fixture::row("study.x", vec![vec![1.0; of]]);
    let round = row.samples.as_mut().expect("one round");
    let tags = (0..).zip(causes);
    round[0].disturbed = tags
        .map(|(sample, cause)| Disturbance {
            sample,
            cause: *cause,
        })
        .collect();
    Some(Disturbed::of(&row))
}

#[test]
fn what_others_do_is_not_blamed_on_the_method_but_on_each_cause() {
    let loops = reason("loop_ns", Acts::More, "the loop takes {} ns");
    let quantity = quantity(Vec::new(), vec![loops]);
    let alone = judged(&quantity, 3000.0, 1000.0, None);
    assert_eq!(
        alone.text,
        "syscost's row gives 1000 ns; the published way gives 3.00 times as much: the loop takes 1.50 µs."
    );
    let all = disturbed(2, &[Cause::SharedCore, Cause::Preempted]);
    let all = judged(&quantity, 3000.0, 1000.0, all);
    assert_eq!(
        (all.kind, all.text.as_str()),
        (
            VerdictKind::Differs,
            "syscost's row gives 1000 ns; the published way gives 3.00 times as much, but \
             every result was disturbed (preemption 1, SMT interference 1)."
        )
    );
    let mut causes = [Cause::RunDelay; 18];
    causes[..3].fill(Cause::SharedCore);
    let most = judged(&quantity, 30.0, 40.0, disturbed(25, &causes)).text;
    assert!(
        most.ends_with(
            "33 % more; why is not known, and 18 of 25 results were disturbed \
             (waiting for a CPU 15, SMT interference 3)."
        ),
        "{most}"
    );
    let unknown = judged(&quantity, 30.0, 40.0, None).text;
    assert!(
        unknown.ends_with("33 % more; why is not known."),
        "{unknown}"
    );
}

#[test]
fn what_is_something_else_agrees_with_nothing() {
    let mut quantity = quantity(vec![claim(1.0)], Vec::new());
    let broken = judged(&quantity, 40.2, 40.0, None);
    assert_eq!(broken.kind, VerdictKind::NotWhatItSays);
    // That syscost's row is what the name says is not to be assumed.
    assert!(broken.text.ends_with("syscost's row gives 40.0 ns."));
    quantity.ours_is_named = true;
    let named = judged(&quantity, 40.2, 40.0, None).text;
    assert!(named.ends_with("gives 40.0 ns for what the name says."));
    quantity.claims.clear();
    assert_eq!(
        judged(&quantity, 40.2, 40.0, None).kind,
        VerdictKind::Agrees
    );
}

#[test]
fn what_a_broken_claim_has_said_is_not_said_again() {
    let again = Reason {
        at_most: Some(0.5),
        ..reason("getpid system calls per operation", Acts::Less, "no kernel")
    };
    let quantity = quantity(vec![claim(1.0)], vec![again]);
    let text = judged(&quantity, 4.0, 40.0, None).text;
    assert!(
        text.ends_with("gives 40.0 ns, 10.0 times as much."),
        "{text}"
    );
}

#[test]
fn a_verdict_is_three_short_sentences_at_most() {
    let loops = Reason {
        at_most: Some(0.5),
        ..reason(
            "rare",
            Acts::More,
            "the loop takes {loop_ns} ns, and is timed as well",
        )
    };
    let mut quantity = quantity(vec![claim(0.0)], vec![loops]);
    quantity.title = "A long title".repeat(9);
    let published = ["old", "new", "newer", "same"].map(|machine| JudgedFigure {
        machine: machine.to_owned(),
        value: Some(if machine == "same" { 3010.0 } else { 40.0 }),
        ..JudgedFigure::default()
    });
    let text = beside(
        &quantity,
        &published,
        (3000.0, 1000.0),
        disturbed(25, &[Cause::Preempted; 18]),
    )
    .text;
    assert_eq!(text.matches(". ").count() + 1, 3, "{text}");
    let words = text.split_whitespace().count();
    assert!(words <= 60, "{words}: {text}");
}

#[test]
fn a_row_of_another_size_is_named_as_such() {
    let rows = |published: &str, ours: &str| Quantity {
        as_published: Some(published.to_owned()),
        ours: Some(ours.to_owned()),
        ..quantity(Vec::new(), Vec::new())
    };
    let unlike = rows("study.x{size=1M}", "memory.latency{pages=4K,size=1056K}");
    assert_eq!(
        judged(&unlike, 40.2, 40.0, None).text,
        "syscost's row with size=1056K instead of 1M gives 40.0 ns, 1 % apart, known to ±1 %."
    );
    for ours in [
        "memory.latency{size=1024K}",
        "call{size=1M,task=two}",
        "call",
    ] {
        assert_eq!(
            method(&rows("study.x{size=1M,task=one}", ours)),
            "syscost's row"
        );
    }
}
