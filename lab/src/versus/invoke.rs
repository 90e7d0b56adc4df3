//! One invocation of a peer, and of ours, on the CPUs that both may use.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use syscost_harness::session::Profile;
use syscost_results::Unit;
use syscost_results::estimate::half_width_ratio;
use syscost_results::stats::order;
use syscost_sys::cpu;

use super::peers::{Cpus, OWN, OWN_PROGRAM, Peer};
use crate::program::{Program, measured};

/// Time limit for an invocation of a peer, in seconds.
const MAX_SECONDS: &str = "60";
/// Exit code of timeout(1) when it ended its command.
const TIMED_OUT: i32 = 124;
/// Maximum number of lines of a peer's output in an error.
const MAX_LINES: usize = 6;

/// The CPUs of a placement; empty means all that this process may use.
///
/// # Errors
/// If there are not as many CPUs.
pub(super) fn cpus(placement: Cpus, cpu: u32, allowed: &[u32]) -> Result<Vec<u32>> {
    Ok(match placement {
        Cpus::One => vec![cpu],
        Cpus::Two => {
            let other = allowed.iter().rev().find(|&&other| other != cpu);
            vec![
                *other.context("it needs two CPUs, and this process may use one")?,
                cpu,
            ]
        }
        Cpus::All => Vec::new(),
    })
}

/// The result of one run of ours.
pub(super) struct Ours {
    /// The median.
    pub(super) median: f64,
    /// Half of the interval's width, as a share of the median.
    pub(super) half_width: Option<f64>,
    /// The unit of both.
    pub(super) unit: Unit,
}

/// Runs our row.
pub(super) fn ours(program: &Program, peer: &Peer, cpus: &[u32]) -> Result<Ours> {
    let mut options = vec!["--no-samples"];
    options.extend(peer.set.options.iter().map(String::as_str));
    let list = cpu::format_list(cpus);
    let run = match cpus {
        [] | [_] => {
            if !cpus.is_empty() {
                options.extend(["--cpus", &list]);
            }
            program.run(Profile::Quick, &options, &[&peer.row])
        }
        _ => program.run_within(cpus, Profile::Quick, &options, &[&peer.row]),
    }?;
    let row = measured(&run, &peer.row)?;
    let median = row.estimate.median;
    Ok(Ours {
        median: median.with_context(|| format!("{} has no median", row.name))?,
        half_width: half_width_ratio(&row.estimate),
        unit: row.unit,
    })
}

/// Runs the peer and returns its figure, in the unit of our row.
pub(super) fn theirs(peer: &Peer, cpus: &[u32]) -> Result<f64> {
    let figures: Vec<f64> = (0..peer.set.invocations)
        .map(|_| invocation(peer, cpus))
        .collect::<Result<_>>()?;
    order::median(&figures).with_context(|| format!("{} is never invoked", peer.name))
}

/// The figure of one invocation of the peer.
fn invocation(peer: &Peer, cpus: &[u32]) -> Result<f64> {
    let list = cpu::format_list(cpus);
    let mut words = vec!["timeout", "--kill-after=5", MAX_SECONDS];
    if !cpus.is_empty() {
        words.extend(["taskset", "-c", &list]);
    }
    words.extend(["sh", "-c", &peer.command]);
    let command = &peer.command;
    let output = Command::new(words[0])
        .args(&words[1..])
        .env("LC_ALL", "C")
        .env(OWN, env::current_exe()?)
        // What a peer leaves behind must not be left in the project.
        .current_dir(env::temp_dir())
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {command}"))?;
    let printed = [&output.stdout[..], b"\n", &output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    if output.status.code() == Some(TIMED_OUT) {
        bail!("`{command}` did not end within {MAX_SECONDS} s");
    }
    if !output.status.success() {
        bail!(
            "`{command}` ended with {}: {}",
            output.status,
            beginning(&printed)
        );
    }
    let figure = peer.set.figure.read(command, &printed);
    figure
        .filter(|figure| *figure > 0.0 && figure.is_finite())
        .with_context(|| {
            format!(
                "`{command}` printed no figure that could be read: {}",
                beginning(&printed)
            )
        })
}

/// The first non-empty lines of a text, joined into one.
fn beginning(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(MAX_LINES)
        .collect();
    match lines.is_empty() {
        true => "it printed nothing".to_owned(),
        false => lines.join("; "),
    }
}

/// Whether a program is on the search path, or is our own.
pub(super) fn is_installed(program: &str) -> bool {
    program == OWN_PROGRAM
        || env::var_os("PATH").is_some_and(|path| {
            env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file())
        })
}

/// The version of a Debian package; empty if unknown.
pub(super) fn version(package: &str) -> String {
    Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Version}", package])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versus::peers::tests::peer;

    /// A peer that runs this command and is not pinned to a CPU.
    fn shell(command: &str) -> Peer {
        peer("a.b", "sh", Cpus::All, command)
    }

    #[test]
    fn a_program_that_does_not_exist_is_missing() {
        assert!(is_installed("ls"));
        assert!(!is_installed("no-program-is-called-this"));
    }

    #[test]
    fn figures_are_read_from_either_stream() {
        assert_eq!(theirs(&shell("echo 41.5"), &[]).unwrap(), 41.5);
        assert_eq!(theirs(&shell("echo so; echo 41.5 >&2"), &[]).unwrap(), 41.5);
    }

    #[test]
    fn a_peer_that_fails_or_tells_no_cost_says_why() {
        let error = |command| theirs(&shell(command), &[]).unwrap_err().to_string();
        let ended = error("echo 7; echo no privilege >&2; exit 3");
        assert!(
            ended.ends_with("ended with exit status: 3: 7; no privilege"),
            "{ended}"
        );
        let silent = error("exit 0");
        assert!(silent.ends_with("it printed nothing"), "{silent}");
        let zero = error("echo 0");
        assert!(zero.contains("no figure that could be read"), "{zero}");
    }

    #[test]
    fn two_cpus_are_the_chosen_one_and_another() {
        assert_eq!(cpus(Cpus::One, 2, &[0, 1, 2]).unwrap(), [2]);
        assert_eq!(cpus(Cpus::Two, 2, &[0, 1, 2]).unwrap(), [1, 2]);
        assert_eq!(cpus(Cpus::Two, 0, &[0, 3]).unwrap(), [3, 0]);
        assert!(cpus(Cpus::All, 0, &[0, 3]).unwrap().is_empty());
        let error = cpus(Cpus::Two, 4, &[4]).unwrap_err().to_string();
        assert!(error.contains("two CPUs"), "{error}");
    }
}
