//! Whether the cores do other work as well, in words.

use syscost_harness::doctor::{Finding, Level, SHARED_CORE};
use syscost_results::run::Noise;

/// Maximum share of time in which a core may do other work without a warning, in percent.
const MAX_SHARED_PERCENT: f64 = 20.0;

/// Whether a CPU's core does other work as well, from what the noise probe observed.
pub(super) fn of(noise: &Noise) -> Finding {
    let Some(ours) = noise.ours_percent() else {
        return Finding {
            code: SHARED_CORE,
            level: Level::Note,
            seen: "unknown whether its core is shared: the probe finds no level that its readings agree on".into(),
            advice: "samples cannot be separated by it; repeat the run at different hours and compare",
        };
    };
    let (level, advice) = match ours < 100.0 - MAX_SHARED_PERCENT {
        true => (
            Level::Warning,
            "another program, or another guest on the same core, was running. A run waits for moments when nothing is, which takes \
             longer; `syscost doctor --watch` shows when it is quieter",
        ),
        false => (Level::Good, ""),
    };
    let mut seen = format!("core ours {ours:.1} % of the time");
    if let Some(slowdown) = noise
        .seen_slowdown_percent()
        .filter(|_| noise.alone_percent < Some(100.0))
    {
        seen += &format!("; shared: independent instructions take {slowdown:.0} % longer");
    }
    Finding {
        code: SHARED_CORE,
        level,
        seen,
        advice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_warned_of_if_it_is_often_shared() {
        let found = |alone_percent, shared_slowdown_percent| {
            let noise = Noise {
                alone_percent,
                shared_slowdown_percent,
                ..Noise::default()
            };
            let finding = of(&noise);
            (finding.level, finding.seen)
        };
        let (level, seen) = found(Some(97.0), Some(43.4));
        assert_eq!(level, Level::Good);
        assert_eq!(
            seen,
            "core ours 97.0 % of the time; shared: independent instructions take 43 % longer"
        );
        assert_eq!(found(Some(79.0), Some(43.0)).0, Level::Warning);
        let never = (Level::Good, "core ours 100.0 % of the time".to_owned());
        assert_eq!(found(Some(100.0), None), never);
        assert_eq!(found(None, None).0, Level::Note);
    }
}
