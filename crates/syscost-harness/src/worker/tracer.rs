//! A debugger or tracer that stops the measured process.

use syscost_results::{Evidence, Fact, Verdict};
use syscost_sys::process;

const CLAIM: &str = "tracers of the process";
const SOURCE: &str = "/proc";

/// What a process that is traced, at the end of a case, says about its number: what it measured may
/// be the tracer's work. `None` where nothing traces it.
pub(super) fn evidence() -> Option<Evidence> {
    process::is_traced()
        .is_ok_and(|traced| traced)
        .then(|| Evidence {
            claim: CLAIM.to_owned(),
            expected: Fact::Number(0.0),
            observed: Some(Fact::Number(1.0)),
            source: SOURCE.to_owned(),
            verdict: Verdict::Unverified,
            reason: Some(
                "a debugger or strace was attached, whose stops count as the row's".to_owned(),
            ),
        })
}

/// Whether this is what [`evidence`] says.
pub(crate) fn is_of_tracer(evidence: &Evidence) -> bool {
    evidence.claim == CLAIM && evidence.source == SOURCE
}
