//! Whether the cores do other work as well, in words.

use syscost_results::run::{Noise, Warning};

use super::{Finding, Level, warning};

/// The code of the warning that the measuring core is mostly shared.
pub const SHARED_CORE: &str = "shared_core";

/// Maximum share of time in which a core may do other work without a warning, in percent.
const MAX_SHARED_PERCENT: f64 = 20.0;

/// Minimum share of time in which a core should be ours, in percent: below it, a run is slow and
/// some of its rows imprecise.
const MIN_ALONE_PERCENT: f64 = 20.0;

/// Whether a CPU's core does other work as well, from what the noise probe observed.
pub fn finding(noise: &Noise) -> Finding {
    let Some(alone) = noise.alone_percent else {
        return Finding {
            code: SHARED_CORE,
            level: Level::Note,
            seen: "unknown whether its core is shared: the probe finds no level that its readings agree on".into(),
            advice: "samples cannot be separated by it; repeat the run at different hours and compare",
        };
    };
    let slowdown = noise.seen_slowdown_percent().filter(|_| alone < 100.0);
    super::finding(
        SHARED_CORE,
        (alone < 100.0 - MAX_SHARED_PERCENT).then_some((
            Level::Warning,
            "another program, or another guest on the same core, was running. A run waits for moments when nothing is, which takes \
             longer; `syscost doctor --watch` shows when it is quieter",
        )),
        slowdown.map_or_else(
            || format!("core ours {alone:.1} % of the time"),
            |slowdown| {
                format!(
                    "core ours {alone:.1} % of the time; shared: independent instructions take {slowdown:.0} % longer"
                )
            },
        ),
    )
}

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
    fn a_core_is_warned_of_if_it_is_often_shared() {
        let of = |alone_percent, shared_slowdown_percent| {
            let noise = Noise {
                alone_percent,
                shared_slowdown_percent,
                ..Noise::default()
            };
            let finding = finding(&noise);
            (finding.level, finding.seen)
        };
        let (level, seen) = of(Some(97.0), Some(43.4));
        assert_eq!(level, Level::Good);
        assert_eq!(
            seen,
            "core ours 97.0 % of the time; shared: independent instructions take 43 % longer"
        );
        assert_eq!(of(Some(79.0), Some(43.0)).0, Level::Warning);
        let never = (Level::Good, "core ours 100.0 % of the time".to_owned());
        assert_eq!(of(Some(100.0), None), never);
        assert_eq!(of(None, None).0, Level::Note);
    }

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
