//! Renders what the doctor found as text.

use std::fmt::{self, Write};

use anstyle::Style;
use syscost_harness::doctor::{CLOCK, Level, SHARED_CORE};
use syscost_report::sentence::{agreeing, count};
use syscost_results::run::Health;
use syscost_sys::cpu;

use super::{Examination, Found, NOISE};
use crate::terminal::{BOLD, DIM, GREEN, RED, RESET, YELLOW, wrapped};

/// Indent of a finding's text: the width of its mark and name.
const INDENT_OF_FINDING: &str = "                               ";
/// Indent of the text of a clock check.
const INDENT_OF_CHECK: &str = "                              ";
/// Indent of the text of a CPU.
const INDENT_OF_CPU: &str = "                   ";
/// Indent of advice.
const INDENT_OF_ADVICE: &str = "           ";

/// `CPU 0`, `CPUs 0-3`.
fn named(cpus: &[u32]) -> String {
    let word = agreeing(cpus.len(), "CPU[s]");
    format!("{word} {}", cpu::format_list(cpus))
}

/// Renders the examination in lines no wider than the terminal: what is not good, and the rest only if `all`
/// of it is wanted.
pub(super) fn text(examination: &Examination, all: bool) -> Result<String, fmt::Error> {
    let Examination {
        machine,
        clock,
        noise,
        findings,
        verdict,
    } = examination;
    let mut out = String::new();
    writeln!(out, "{BOLD}{}{RESET}", wrapped(&machine.cpu_model, ""))?;
    let facts = format!(
        "{}, {} ({} may be used), {}, {}",
        machine.kernel,
        count(machine.cpus_online as usize, "CPU"),
        named(&cpu::allowed().unwrap_or_default()),
        machine.arch,
        machine.libc
    );
    writeln!(out, "{DIM}{}{RESET}\n", wrapped(&facts, ""))?;
    let is_general = |one: &&Found| one.cpu.is_none() && one.finding.code != CLOCK;
    let is_shown = |found: &&Found| all || found.finding.level > Level::Good;
    for Found { finding, .. } in findings.iter().filter(is_general).filter(is_shown) {
        let (style, mark) = mark(finding.level);
        let seen = wrapped(&finding.seen, INDENT_OF_FINDING);
        let seen = seen.trim_start();
        writeln!(out, "{style}{mark}{RESET}  {:<22}{seen}", finding.code)?;
        advise(&mut out, finding.advice)?;
    }
    let is_fine = |health: &&Health| health.ok == Some(true);
    let good = findings.len()
        - findings
            .iter()
            .filter(|one| one.finding.level > Level::Good)
            .count()
        + clock.health.iter().filter(is_fine).count();
    if !all && good > 0 {
        writeln!(
            out,
            "{DIM}{} more are good: -v shows them{RESET}",
            count(good, "check")
        )?;
    }
    writeln!(out, "\n{BOLD}Clock{RESET}")?;
    let facts = format!(
        "{} at {:.6} GHz, steps of {:.2} ns, {:.1} ns for a pair of readings",
        clock.source, clock.ghz, clock.step_ns, clock.read_ns
    );
    writeln!(out, "{}", wrapped(&facts, "  "))?;
    for health in clock.health.iter().filter(|health| all || !is_fine(health)) {
        let (style, mark) = match health.ok {
            Some(true) => (GREEN, "good"),
            Some(false) => (RED, "bad "),
            None => (DIM, "?   "),
        };
        let detail = wrapped(&health.detail, INDENT_OF_CHECK);
        let detail = detail.trim_start();
        writeln!(out, "  {style}{mark}{RESET}  {:<22}{detail}", health.check)?;
    }
    let findings: Vec<&Found> = findings.iter().filter(is_shown).collect();
    let probe_s = noise.first().map_or(0.0, |probe| probe.probe_s);
    let looked = format!("in {probe_s:.1} s of reading the clock on each CPU");
    for (code, title) in [(NOISE, "Noise"), (SHARED_CORE, "Shared cores")] {
        if findings.iter().any(|one| one.finding.code == code) {
            writeln!(out, "\n{BOLD}{title}{RESET}  {DIM}{looked}{RESET}")?;
            of_cpus(&mut out, &findings, code)?;
        }
    }
    writeln!(out, "\n{}", wrapped(&verdict.text, ""))?;
    Ok(out)
}

/// Writes the findings with this code, a line for each CPU, then each piece of advice once.
fn of_cpus(out: &mut String, findings: &[&Found], code: &str) -> fmt::Result {
    let mut advice: Vec<&str> = Vec::new();
    for Found { finding, cpu } in findings.iter().filter(|one| one.finding.code == code) {
        let (style, mark) = mark(finding.level);
        let cpu = cpu.map_or_else(String::new, |cpu| cpu.to_string());
        let seen = wrapped(&finding.seen, INDENT_OF_CPU);
        let seen = seen.trim_start();
        writeln!(out, "  {style}{mark}{RESET}  CPU {cpu:<3} {seen}")?;
        if !advice.contains(&finding.advice) {
            advice.push(finding.advice);
        }
    }
    advice.into_iter().try_for_each(|one| advise(out, one))
}

fn advise(out: &mut String, advice: &str) -> fmt::Result {
    match advice {
        "" => Ok(()),
        advice => writeln!(out, "{DIM}{}{RESET}", wrapped(advice, INDENT_OF_ADVICE)),
    }
}

/// The colour and word that mark a level.
fn mark(level: Level) -> (Style, &'static str) {
    match level {
        Level::Good => (GREEN, "good   "),
        Level::Note => (DIM, "note   "),
        Level::Warning => (YELLOW, "warning"),
        Level::Bad => (RED, "bad    "),
    }
}

#[cfg(test)]
mod tests {
    use syscost_results::Machine;

    use super::super::tests::{clock, noise};
    use super::super::{Verdict, found};
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal_and_advice_is_given_once() {
        let noise = vec![
            noise(0, 40.0, 50.0),
            noise(1, 40.0, 50.0),
            noise(2, 0.1, 99.0),
        ];
        let clock = clock(false);
        let findings = found(&noise, &clock);
        let examination = Examination {
            machine: Machine {
                cpu_model: "A processor".to_owned(),
                kernel: format!("Linux 6.18{}", " and what it was built with".repeat(9)),
                ..Machine::default()
            },
            verdict: Verdict::of(&findings),
            clock,
            noise,
            findings,
        };
        let brief = text(&examination, false).expect("text");
        let brief = anstream::adapter::strip_str(&brief).to_string();
        assert!(brief.contains("more are good: -v shows them"), "{brief}");
        assert!(
            brief
                .lines()
                .all(|line| !line.trim_start().starts_with("good")),
            "{brief}"
        );
        let text = text(&examination, true).expect("text");
        let text = anstream::adapter::strip_str(&text).to_string();
        let width = crate::terminal::width().max(80);
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{line}");
        }
        let count = |what: &str| text.matches(what).count();
        assert_eq!(count("warning  CPU 1   lost 40.0 %"), 1, "{text}");
        assert_eq!(count("warning  CPU 1   core ours 30.0 %"), 1, "{text}");
        assert_eq!(count("end other programs"), 1, "{text}");
        assert_eq!(count("another guest"), 1, "{text}");
        // The clock's own section says so.
        assert_eq!(count("the clock failed"), 0, "{text}");
        assert_eq!(count("bad   warp"), 1, "{text}");
        assert!(text.contains("1 bad finding and 4 warnings: "), "{text}");
    }
}
