//! A debugger or tracer that stops the measured process.

use syscost_results::{ClaimId, Evidence, Verdict};
use syscost_sys::process;

const CLAIM: &str = "tracers of the process";
const SOURCE: &str = "/proc";

/// What a process that is traced, at the end of a case, says about its number: what it measured may
/// be the tracer's work. `None` where nothing traces it.
pub(super) fn evidence() -> Option<Evidence> {
    let is_traced = process::is_traced().is_ok_and(|traced| traced);
    let reason = "a debugger or strace was attached, whose stops count as the row's";
    is_traced.then(|| Evidence::new(CLAIM, 0.0, 1.0, SOURCE, Verdict::Unverified).because(reason))
}

/// Whether this is what [`evidence`] says.
pub(crate) fn is_of_tracer(evidence: &Evidence) -> bool {
    evidence.claim.id == ClaimId::of(CLAIM) && evidence.source == SOURCE
}
