//! What a run warns of cores that do other work as well.

use syscost_results::run::{Noise, Warning};

use super::warning;

/// The code of the warning that the measuring core is mostly shared.
pub const SHARED_CORE: &str = "shared_core";

/// Minimum share of time in which a core should be ours, in percent: below it, a run is slow and
/// some of its rows imprecise.
const MIN_ALONE_PERCENT: f64 = 20.0;

/// Warnings about measuring cores that are hardly ever ours alone.
pub(super) fn warnings(noise: &[Noise]) -> Vec<Warning> {
    let is_rare = |alone: &f64| *alone < MIN_ALONE_PERCENT;
    let used = noise.iter().filter(|probe| probe.used);
    let rare = used.filter_map(|one| Some((one.cpu, one.alone_percent.filter(is_rare)?)));
    rare.map(|(cpu, alone)| {
        warning(
            SHARED_CORE,
            format!(
                "the core of CPU {cpu} was ours only {alone:.1} % of the time: another program, or another guest on the same core, was running"
            ),
            "undisturbed moments are rare: expect the run to take its whole budget, and some rows to stay imprecise or to be flagged \
             `shared`. A larger --budget helps; a quieter hour helps more",
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_warned_of_a_core_that_is_hardly_ever_ours() {
        let noise = |cpu, used, alone| Noise {
            cpu,
            used,
            alone_percent: Some(alone),
            ..Noise::default()
        };
        let warned = |noise: &[Noise]| {
            let codes = warnings(noise).into_iter().map(|one| one.code);
            codes.collect::<Vec<_>>()
        };
        assert_eq!(
            warned(&[noise(0, false, 2.0), noise(1, true, 19.0)]),
            [SHARED_CORE]
        );
        assert!(warned(&[noise(0, false, 2.0), noise(1, true, 62.0)]).is_empty());
    }
}
