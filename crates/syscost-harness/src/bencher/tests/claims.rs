//! Claims that a benchmark judges itself.

use syscost_results::{Evidence, Fact};

use super::*;
use crate::expect::Bound;

/// The evidence of one claim.
fn judged(claim: impl FnOnce(&mut Bencher)) -> Evidence {
    let (case, clock) = (Case::default(), Clock::mock());
    let mut plan = plan(&case, &[], &clock, Pass::Timed);
    claim(&mut plan);
    plan.findings.evidence.pop().expect("judged")
}

#[test]
fn only_what_is_equal_is_confirmed_as_such() {
    for (observed, verdict) in [(3, Verdict::Confirmed), (4, Verdict::Refuted)] {
        let evidence = judged(|b| b.claim_equal("pages", 3_usize, observed, "pagemap"));
        let expected = Evidence::new("pages", 3.0, observed as f64, "pagemap", verdict);
        assert_eq!(evidence, expected);
    }
    let named = |name: &'static str| judged(|b| b.claim_equal("pages", "small", name, "smaps"));
    assert_eq!(named("small").verdict, Verdict::Confirmed);
    assert_eq!(named("huge").verdict, Verdict::Refuted);
    assert_eq!(named("huge").observed, Some(Fact::Text("huge".into())));
    // Numbers of this size are displayed alike, and compared exactly all the same.
    let most = judged(|b| b.claim_equal("sum", u64::MAX, u64::MAX - 1, "kernel"));
    assert_eq!(most.verdict, Verdict::Refuted);
}

#[test]
fn only_what_is_within_its_bound_is_confirmed_as_such() {
    let bound = Bound::Within(0.9, 1.0);
    let within = |share| judged(|b| b.claim_within("share", bound, share, "walk"));
    for (share, verdict) in [
        (0.9, Verdict::Confirmed),
        (0.89, Verdict::Refuted),
        (1.01, Verdict::Refuted),
        (f64::NAN, Verdict::Refuted),
    ] {
        assert_eq!(within(share).verdict, verdict, "{share}");
    }
    let expected = Evidence::new("share", "0.9 to 1", 0.89, "walk", Verdict::Refuted);
    assert_eq!(within(0.89), expected);
}

#[test]
fn what_may_be_more_says_why() {
    let why = "others raise it, too";
    let risen =
        |seen: Result<f64, &str>| judged(|b| b.claim_at_least("packets", 3.0, seen, "/proc", why));
    for (seen, verdict, reason) in [
        (Ok(7.0), Verdict::Confirmed, Some(why)),
        (Ok(2.0), Verdict::Refuted, None),
        (Err("not counted"), Verdict::Unverified, Some("not counted")),
    ] {
        let evidence = risen(seen);
        assert_eq!(evidence.expected, Some(Fact::Text("at least 3".into())));
        assert_eq!(
            (evidence.verdict, evidence.reason.as_deref()),
            (verdict, reason)
        );
    }
}

#[test]
fn a_missing_single_operation_is_noticed() {
    let (case, clock) = (Case::default(), Clock::mock());
    let mut plan = plan(&case, &[], &clock, Pass::Timed);
    for ns in [70.0, 0.0, -3.0] {
        plan.record_single(ns);
    }
    assert_eq!(plan.singles(), 3);
}
