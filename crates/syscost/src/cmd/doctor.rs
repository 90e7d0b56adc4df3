//! `syscost doctor`: whether this machine is fit to be measured, and what to do where not.

mod meter;
mod watch;

use std::fmt::Write;
use std::time::Duration;

use anstyle::Style;
use anyhow::Result;
use serde::Serialize;
use syscost_harness::clock::RunClock;
use syscost_harness::cores::{Cores, Heard, frequency_is_known, grain_of, known};
use syscost_harness::doctor::{
    Finding, Level, MOST_LOST_PERCENT, ProcessState, core_finding, directory_finding, examine,
};
use syscost_harness::{machine, noise};
use syscost_results::Machine;
use syscost_results::run::{Clock, Noise};
use syscost_store::Store;
use syscost_sys::{audit, cpu};

use crate::cli::{DoctorArguments, Format};
use crate::error::exit;
use crate::terminal::{BOLD, DIM, GREEN, RED, RESET, YELLOW, wrapped};

/// How long the doctor listens for noise.
const PROBE: Duration = Duration::from_secs(1);

/// Everything the doctor found.
#[derive(Debug, Serialize)]
struct Examination {
    machine: Machine,
    clock: Clock,
    noise: Vec<Noise>,
    findings: Vec<Finding>,
}

/// Runs the verb.
pub(crate) fn run(arguments: &DoctorArguments) -> Result<u8> {
    if let Some(time) = arguments.watch {
        return watch::run(time);
    }
    let machine = machine::capture();
    let cpus = cpu::allowed()?;
    let mut clock = RunClock::choose(&cpus);
    let rough = clock.calibrate();
    let mut heard = noise::probe(&cpus, &rough, rough.grain_ticks(), PROBE);
    cores_of(&mut heard, &machine, &rough);
    let noise = heard.into_iter().map(|one| one.noise).collect();
    clock.calibrate();
    let mut findings = examine(&machine, &ProcessState::read());
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
    findings.push(directory_finding());
    let examination = Examination {
        clock: clock.report(),
        findings,
        machine,
        noise,
    };
    match arguments.format {
        Format::Json => super::print_json(&examination)?,
        Format::Table => super::print(&text(&examination)?)?,
    }
    Ok(exit::DONE)
}

/// What looks at the cores show while they are ours, as heard now or by earlier runs.
pub(super) fn cores_of(
    heard: &mut [Heard],
    machine: &Machine,
    clock: &syscost_sys::clock::Clock,
) -> Cores {
    let file = Store::of_user().known_cores();
    let known = known::recall(&file, machine, crate::VERSION, grain_of(heard));
    Cores::find(heard, frequency_is_known(clock), known)
}

/// How a level is marked: its colour and word.
fn mark(level: Level) -> (Style, &'static str) {
    match level {
        Level::Good => (GREEN, "good   "),
        Level::Note => (DIM, "note   "),
        Level::Warning => (YELLOW, "warning"),
        Level::Bad => (RED, "bad    "),
    }
}

/// As wide as a mark and a finding's name, which its words stand behind.
const SEEN: &str = "                               ";

fn text(examination: &Examination) -> Result<String> {
    let Examination {
        machine,
        clock,
        noise,
        findings,
    } = examination;
    let mut out = String::new();
    writeln!(out, "{BOLD}{}{RESET}", machine.cpu_model)?;
    writeln!(
        out,
        "{DIM}{}, {} CPUs ({} may be used), {}, {}{RESET}\n",
        machine.kernel,
        machine.cpus_online,
        cpu::format_list(&cpu::allowed().unwrap_or_default()),
        machine.arch,
        machine.libc
    )?;
    for finding in findings {
        let (style, mark) = mark(finding.level);
        let seen = wrapped(&finding.seen, SEEN);
        let seen = seen.trim_start();
        writeln!(out, "{style}{mark}{RESET}  {:<22}{seen}", finding.code)?;
        if !finding.advice.is_empty() {
            writeln!(
                out,
                "{DIM}{}{RESET}",
                wrapped(finding.advice, "           ")
            )?;
        }
    }
    writeln!(out, "\n{BOLD}Clock{RESET}")?;
    writeln!(
        out,
        "  {} at {:.6} GHz, steps of {:.2} ns, {:.1} ns for a pair of readings",
        clock.source, clock.ghz, clock.step_ns, clock.read_ns
    )?;
    for health in &clock.health {
        let (style, mark) = match health.ok {
            Some(true) => (GREEN, "good"),
            Some(false) => (RED, "bad "),
            None => (DIM, "?   "),
        };
        writeln!(
            out,
            "  {style}{mark}{RESET}  {:<22}{}",
            health.check, health.detail
        )?;
    }
    writeln!(
        out,
        "\n{BOLD}Noise{RESET}  {DIM}in {:.1} s of reading the clock on each CPU{RESET}",
        noise.first().map_or(0.0, |probe| probe.probe_s)
    )?;
    for probe in noise {
        let (style, mark) = mark(match probe.lost_percent > MOST_LOST_PERCENT {
            true => Level::Warning,
            false => Level::Good,
        });
        writeln!(
            out,
            "  {style}{mark}{RESET}  CPU {:<3} lost {:.3} %, {} gaps over 5 µs, the longest {:.0} µs",
            probe.cpu, probe.lost_percent, probe.gaps_over_5us, probe.longest_gap_us
        )?;
    }
    let cores: Vec<Finding> = noise.iter().map(core_finding).collect();
    writeln!(
        out,
        "\n{BOLD}Shared cores{RESET}  {DIM}in the same time{RESET}"
    )?;
    for (probe, finding) in noise.iter().zip(&cores) {
        let (style, mark) = mark(finding.level);
        writeln!(
            out,
            "  {style}{mark}{RESET}  CPU {:<3} {}",
            probe.cpu, finding.seen
        )?;
    }
    let mut advice: Vec<&str> = cores.iter().map(|finding| finding.advice).collect();
    advice.retain(|advice| !advice.is_empty());
    advice.dedup();
    for advice in advice {
        writeln!(out, "{DIM}{}{RESET}", wrapped(advice, "           "))?;
    }
    let of_level = |level| findings.iter().filter(|one| one.level == level).count();
    let failed = clock.health.iter().filter(|one| one.ok == Some(false));
    let noisy = noise
        .iter()
        .filter(|probe| probe.lost_percent > MOST_LOST_PERCENT);
    let shared = cores
        .iter()
        .filter(|finding| finding.level >= Level::Warning);
    let verdict = verdict(
        of_level(Level::Bad) + failed.count(),
        of_level(Level::Warning) + noisy.count() + shared.count(),
    );
    writeln!(out, "\n{verdict}")?;
    Ok(out)
}

/// The last line, from how much was marked bad and how much a warning.
fn verdict(bad: usize, warnings: usize) -> String {
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let warned = count(warnings, "warning");
    match (bad, warnings) {
        (0, 0) => "fit to be measured".to_owned(),
        (0, _) => {
            let reasons = if warnings == 1 {
                "this reason"
            } else {
                "these reasons"
            };
            format!(
                "{warned}: numbers may scatter, or differ from those of a quiet machine, for {reasons}"
            )
        }
        (_, _) => {
            let others = if warnings == 0 {
                String::new()
            } else {
                format!(" and {warned}")
            };
            format!(
                "{}{others}: what is marked bad makes numbers wrong for most purposes; fix that first",
                count(bad, "bad finding")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn the_last_line_follows_from_the_findings() {
        assert_eq!(verdict(0, 0), "fit to be measured");
        assert!(verdict(0, 1).starts_with("1 warning: numbers may scatter"));
        assert!(verdict(0, 5).starts_with("5 warnings: numbers may scatter"));
        assert!(verdict(1, 0).starts_with("1 bad finding: what is marked bad"));
        assert!(verdict(2, 5).starts_with("2 bad findings and 5 warnings: "));
    }
}
