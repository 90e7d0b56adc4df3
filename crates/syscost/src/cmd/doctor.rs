//! `syscost doctor`: checks whether this machine is fit to be measured, and says what to do if not.

mod cores;
mod directory;
mod exporter;
mod meter;
mod text;
mod verdict;
mod watch;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use syscost_harness::clock::RunClock;
use syscost_harness::doctor::{
    Finding, Level, MAX_LOST_PERCENT, ProcessState, examine, failed_checks, without_counter,
};
use syscost_harness::machine;
use syscost_report::units::quantity;
use syscost_results::run::{Clock, Noise};
use syscost_results::{Machine, Unit};
use syscost_sys::{audit, cpu};

use crate::cli::{DoctorArguments, Format};
use crate::error::exit;

use exporter::Exporter;
use verdict::Verdict;

/// Duration of the noise probe.
const PROBE: Duration = Duration::from_secs(1);

/// The time between two sets of metrics, as Prometheus scrapes by default in many a configuration.
const INTERVAL: Duration = Duration::from_secs(15);

/// Code of the findings that are made here.
const NOISE: &str = "noise";

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Examination {
    machine: Machine,
    clock: Clock,
    noise: Vec<Noise>,
    /// Findings about the machine, this process, each CPU and the clock.
    findings: Vec<Found>,
    /// The conclusion from the findings.
    verdict: Verdict,
}

/// A finding, and the CPU that it concerns, if any.
#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    finding: Finding,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u32>,
}

impl From<Finding> for Found {
    fn from(finding: Finding) -> Self {
        Self { finding, cpu: None }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &DoctorArguments) -> Result<u8> {
    if let Some(time) = arguments.watch {
        let file = arguments.openmetrics.as_deref();
        if file.is_none() && arguments.listen.is_none() {
            return watch::run(time);
        }
        let exporter = Exporter {
            file,
            listen: arguments.listen,
            interval: arguments.interval.unwrap_or(INTERVAL),
            time,
        };
        return exporter.run();
    }
    let machine = machine::capture();
    let cpus = cpu::allowed()?;
    let mut clock = RunClock::choose(&cpus);
    let rough = clock.calibrate();
    let (_, heard) = super::serve::hear(&cpus, &machine, &rough, PROBE);
    let noise: Vec<Noise> = heard.into_iter().map(|one| one.noise).collect();
    clock.calibrate();
    let mut findings = examine(&machine, &ProcessState::read());
    findings.extend(clock.fallback.as_deref().map(without_counter));
    let clock = clock.report();
    findings.push(match audit::available() {
        Ok(()) => Finding {
            code: "audit",
            level: Level::Good,
            seen: "system calls can be counted exactly, without privilege".to_owned(),
            advice: "",
        },
        Err(reason) => Finding {
            code: "audit",
            level: Level::Warning,
            seen: format!("system calls cannot be counted: {reason}"),
            advice: "claims about system calls stay unverified here; run outside of the sandbox",
        },
    });
    findings.push(directory::of_default());
    let mut findings: Vec<Found> = findings.into_iter().map(Found::from).collect();
    findings.extend(found(&noise, &clock));
    let examination = Examination {
        verdict: Verdict::of(&findings),
        clock,
        findings,
        machine,
        noise,
    };
    match arguments.format {
        Format::Json => super::print_json(&examination)?,
        Format::Table => super::print(&text::text(&examination, arguments.verbose)?)?,
    }
    Ok(exit::DONE)
}

/// The findings about the time lost on each CPU, shared cores, and failed checks of the clock.
fn found(noise: &[Noise], clock: &Clock) -> Vec<Found> {
    let lost = noise.iter().map(|probe| Found {
        finding: noise_finding(probe),
        cpu: Some(probe.cpu),
    });
    let shared = noise.iter().map(|probe| Found {
        finding: cores::of(probe),
        cpu: Some(probe.cpu),
    });
    let failed = failed_checks(clock).map(Found::from);
    let unheard = noise.is_empty().then(|| {
        Found::from(Finding {
            code: NOISE,
            level: Level::Warning,
            seen: "unknown: no thread could be started to read the clock on a CPU".to_owned(),
            advice: "nothing tells how busy the machine is; a limit on processes or memory is in the way (ulimit -u, -d, -v)",
        })
    });
    unheard
        .into_iter()
        .chain(lost)
        .chain(shared)
        .chain(failed)
        .collect()
}

fn noise_finding(probe: &Noise) -> Finding {
    let (level, advice) = match probe.lost_percent > MAX_LOST_PERCENT {
        true => (
            Level::Warning,
            "other programs, interrupts or the host take time: end other programs, or measure at a quieter time",
        ),
        false => (Level::Good, ""),
    };
    Finding {
        code: NOISE,
        level,
        seen: format!(
            "lost {}, {} gaps over 5 µs, the longest {}",
            quantity(Unit::Percent, probe.lost_percent),
            probe.gaps_over_5us,
            quantity(Unit::Nanoseconds, 1e3 * probe.longest_gap_us)
        ),
        advice,
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::run::Health;

    use super::*;

    pub(super) fn noise(cpu: u32, lost_percent: f64, alone: f64) -> Noise {
        Noise {
            cpu,
            probe_s: 1.0,
            lost_percent,
            alone_percent: Some(alone),
            ..Noise::default()
        }
    }

    pub(super) fn clock(warp: bool) -> Clock {
        Clock {
            source: "tsc".to_owned(),
            ghz: 2.5,
            step_ns: 0.4,
            read_ns: 10.0,
            drift_ppm: None,
            health: vec![Health {
                check: "warp".to_owned(),
                ok: Some(warp),
                detail: "a long account of what was seen between all pairs of CPUs, ".repeat(3),
            }],
        }
    }

    #[test]
    fn the_verdict_is_made_of_the_findings() {
        let found = found(&[noise(0, 0.1, 99.0), noise(3, 40.0, 50.0)], &clock(false));
        let summary: Vec<(&str, Level, Option<u32>)> = found
            .iter()
            .map(|one| (one.finding.code, one.finding.level, one.cpu))
            .collect();
        assert_eq!(
            summary,
            [
                ("noise", Level::Good, Some(0)),
                ("noise", Level::Warning, Some(3)),
                ("shared_core", Level::Good, Some(0)),
                ("shared_core", Level::Warning, Some(3)),
                ("clock", Level::Bad, None),
            ]
        );
        assert_eq!(
            found[1].finding.seen,
            "lost 40.0 %, 0 gaps over 5 µs, the longest 0 ns"
        );
        for one in &found {
            let Finding { level, advice, .. } = &one.finding;
            assert_eq!(advice.is_empty(), *level == Level::Good, "{one:?}");
        }
        let verdict = Verdict::of(&found);
        assert_eq!((verdict.bad, verdict.warnings), (1, 2));
        let written = serde_json::to_value(&found[1]).expect("JSON");
        assert_eq!(
            (&written["code"], &written["cpu"]),
            (&"noise".into(), &3.into())
        );
    }
}
