//! The arguments of an operation's calls, as the audit records them.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use syscost_sys::or_skip;

use syscost_sys::raw::Sysno;

use super::*;
use crate::arguments::{Argument, ArgumentValue};
use crate::expect::calls;

const OFFSET: Argument = Argument::at(1, "offset");

/// The verdict on seeks that are said to have offset 4096, each batch after a seek elsewhere.
fn verdict_on(offset: u64) -> Verdict {
    let (case, clock) = (Case::default(), Clock::mock());
    let mut plan = plan(&case, &[calls(Sysno::LSEEK)], &clock, Pass::Evidence);
    plan.expect_argument(Sysno::LSEEK, OFFSET, ArgumentValue::Always(4096));
    let file = File::open("/dev/zero").expect("opened");
    let seek = |offset| -> Result<(), Failure> {
        let sought = (&file).seek(SeekFrom::Start(offset));
        sought.map_err(|cause| Failure::of("seek", cause))?;
        mock::advance_ns(70);
        Ok(())
    };
    let seeks = |iterations| (0..iterations).try_for_each(|_| seek(offset));
    let outcome = plan.measure(Loop::batches(1, seeks).prepared(1 << 20, |_| seek(7)));
    let findings = outcome.expect("counted").finish();
    let evidence = findings.expect("finished").evidence;
    let about_offsets = |claim: &str| claim == "share of lseek calls whose offset is 4096";
    let judged = evidence
        .iter()
        .find(|one| about_offsets(&one.claim.sentence));
    judged.expect("offsets are judged").verdict
}

#[test]
fn calls_that_are_given_something_else_are_refuted() {
    if let Err(reason) = syscost_sys::audit::available() {
        assert_eq!(verdict_on(4096), Verdict::Unverified);
        return println!("skipped: {reason}");
    }
    assert_eq!(verdict_on(4096), Verdict::Confirmed);
    assert_eq!(verdict_on(2048), Verdict::Refuted);
}

#[test]
fn what_prepares_single_operations_must_not_make_their_calls() {
    or_skip!(syscost_sys::audit::available());
    let verdict = |is_anticipated: bool| {
        let (case, clock) = (Case::default(), Clock::mock());
        let mut plan = plan(&case, &[calls(Sysno::LSEEK)], &clock, Pass::Evidence);
        plan.expect_argument(Sysno::LSEEK, OFFSET, ArgumentValue::Always(4096));
        let file = File::open("/dev/zero").expect("opened");
        let seek = || {
            let sought = (&file).seek(SeekFrom::Start(4096));
            sought.map(drop).map_err(|cause| Failure::of("seek", cause))
        };
        let prepare = || if is_anticipated { seek() } else { Ok(()) };
        let outcome = plan.measure(Single::of(prepare, seek));
        let findings = outcome.expect("counted").finish();
        let evidence = findings.expect("finished").evidence;
        let judged = evidence
            .iter()
            .find(|one| one.claim.sentence.contains("offset"));
        judged.expect("offsets are judged").verdict
    };
    assert_eq!(verdict(false), Verdict::Confirmed);
    assert_eq!(verdict(true), Verdict::Refuted);
}
