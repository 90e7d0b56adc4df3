//! The order of warnings.

use syscost_results::run::Warning;

use super::{PERF_EVENTS, SHARED_CORE};

/// Warnings that numbers are wrong.
const WRONG: [&str; 7] = [
    "tracer",
    PERF_EVENTS,
    "build",
    "clock",
    "clock_fallback",
    "clocksource",
    "cgroup_quota",
];

/// Warnings of what was seen to disturb this run.
const DISTURBED: [&str; 5] = ["noise", SHARED_CORE, "steal", "cpu_pressure", "load"];

/// Warnings that hold for the machine at all times, and are in its description already.
const KNOWN: [&str; 1] = ["hypervisor"];

/// Orders warnings by importance; equally important ones keep their order.
pub(crate) fn worst_first(warnings: &mut [Warning]) {
    let rank = |warning: &Warning| {
        let is_in = |codes: &[&str]| codes.contains(&warning.code.as_str());
        match () {
            () if is_in(&WRONG) => 0,
            () if is_in(&DISTURBED) => 1,
            () if is_in(&KNOWN) => 3,
            () => 2,
        }
    };
    warnings.sort_by_key(rank);
}

#[cfg(test)]
mod tests {
    use super::super::warning;
    use super::*;

    #[test]
    fn what_makes_numbers_wrong_comes_first_and_what_is_known_last() {
        let codes = ["hypervisor", "far_end", "load", "noise", "clock"];
        let mut warnings = codes.map(|code| warning(code, String::new(), ""));
        worst_first(&mut warnings);
        let sorted = warnings.map(|warning| warning.code);
        assert_eq!(sorted, ["clock", "load", "noise", "far_end", "hypervisor"]);
    }
}
