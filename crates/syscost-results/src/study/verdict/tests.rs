use super::super::view::tests::view;
use super::*;
use crate::{Evidence, Verdict};

const NS: Scale = Scale {
    factor: 1.0,
    symbol: "ns",
};

fn row() -> Measurement {
    let mut row = crate::fixture::row("study.x", vec![vec![5.0]; 6]);
    row.evidence = vec![Evidence {
        claim: "getpid system calls per operation".into(),
        expected: Fact::Number(0.0),
        observed: Some(Fact::Number(0.0)),
        source: "seccomp audit".into(),
        verdict: Verdict::Confirmed,
        reason: None,
    }];
    row.details.insert("tries".into(), 10_000.0);
    row.details.insert("loop_ns".into(), 1500.0);
    row.details.insert("rare".into(), 0.004);
    row
}

fn claim(at_least: f64) -> Claim {
    Claim {
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
        at_least: None,
        at_most: None,
        acts,
        text: text.into(),
    }
}

#[test]
fn a_claim_is_judged_by_what_was_counted() {
    let broken = "No system call happened: 0 of 10000 entered the kernel.".to_owned();
    assert_eq!(
        of_claims(&[claim(1.0)], &row()),
        (Claimed::Broken, Some(broken))
    );
    let held = Some("It enters the kernel.".to_owned());
    assert_eq!(of_claims(&[claim(0.0)], &row()), (Claimed::Holds, held));
    let mut uncounted = row();
    uncounted.evidence.clear();
    let (claimed, said) = of_claims(&[claim(1.0)], &uncounted);
    assert_eq!(claimed, Claimed::NotCounted);
    assert!(said.is_some_and(|said| said.starts_with("Not counted here")));
}

#[test]
fn counts_are_shown_with_a_unit_that_suits_them() {
    let said = filled("{loop_ns} ns, {rare} times, {other}", "", &row());
    assert_eq!(said, "1.50 µs, less than 0.01 times, (not counted)");
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
    let why = |more| why(&reasons, Some(&row), more);
    assert_eq!(why(-70.0).as_deref(), Some("no kernel"));
    assert_eq!(why(2000.0).as_deref(), Some("the loop takes 1.50 µs"));
    assert_eq!(why(4000.0), None, "the loop is less than half of it");
}

fn quantity(claims: Vec<Claim>, reasons: Vec<Reason>) -> Quantity {
    Quantity {
        id: "getpid".to_owned(),
        title: "getpid".to_owned(),
        table: String::new(),
        unit: Unit::Nanoseconds,
        procedure: String::new(),
        program: None,
        command: None,
        prints: None,
        as_published: None,
        ours: None,
        ours_scale: None,
        published: Vec::new(),
        claims,
        reasons,
    }
}

fn judged(quantity: &Quantity, here: f64, ours: f64, disturbed: Option<Disturbed>) -> Sentence {
    let (here, seen) = (view(here, 0.1), Seen::Figure(view(ours, 0.1)));
    let row = row();
    let facts = Facts {
        as_published: Some(Ok(&row)),
        ours: None,
        compared: Some(&here),
        disturbed,
        seen: Some(&seen),
        published: &[],
        scale: NS,
    };
    verdict(quantity, &facts)
}

#[test]
fn a_neighbours_doing_is_not_blamed_on_the_method() {
    let loops = reason("loop_ns", Acts::More, "the loop takes {} ns");
    let quantity = quantity(Vec::new(), vec![loops]);
    let alone = judged(&quantity, 80.0, 40.0, None);
    assert_eq!(
        alone.text,
        "syscost's method gives 40.0 ns; the published way gives 2 times as much: the loop takes 1.50 µs."
    );
    let disturbed = judged(&quantity, 80.0, 40.0, Some(Disturbed::All));
    assert_eq!(
        disturbed.text,
        "A neighbour disturbed every result, so a difference may be its doing. syscost's method \
         gives 40.0 ns; the published way gives 2 times as much."
    );
    let unpinned = judged(&quantity, 30.0, 40.0, Some(Disturbed::Unknown)).text;
    assert!(unpinned.starts_with("Whether neighbours"), "{unpinned}");
    assert!(
        unpinned.ends_with("33 % more; why is not known."),
        "{unpinned}"
    );
}

#[test]
fn what_is_something_else_agrees_with_nothing() {
    let broken = judged(&quantity(vec![claim(1.0)], Vec::new()), 40.2, 40.0, None);
    assert_eq!(broken.kind, Kind::NotWhatItSays);
    assert!(
        broken
            .text
            .ends_with("syscost's method gives 40.0 ns for what the name says.")
    );
    let agrees = judged(&quantity(Vec::new(), Vec::new()), 40.2, 40.0, None);
    assert_eq!(agrees.kind, Kind::Agrees);
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
        "syscost's method, with size=1056K instead of 1M, gives 40.0 ns, which agrees within 2 %."
    );
    for ours in [
        "memory.latency{size=1024K}",
        "call{size=1M,task=two}",
        "call",
    ] {
        assert_eq!(
            method(&rows("study.x{size=1M,task=one}", ours)),
            "syscost's method"
        );
    }
}
