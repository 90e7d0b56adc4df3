//! Boots a machine, and reads what its steps printed on the serial port.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use glob::glob;
use xtask::workspace;

use super::cpio::Archive;
use super::list::{Machine, Prints, Step};

/// The first process of each machine.
const GUEST: &[u8] = include_bytes!("guest.sh");

/// The exit code of `timeout` when it had to end what it started.
const TIMED_OUT: i32 = 124;

/// The files that machines of one architecture are made of.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) program: PathBuf,
    pub(super) busybox: PathBuf,
    /// Programs of tests.
    pub(super) tests: Vec<PathBuf>,
}

/// What came of a machine.
#[derive(Debug)]
pub(super) struct Booted {
    /// The steps that were begun, in their order.
    pub(super) steps: Vec<Taken>,
    /// All that it printed.
    pub(super) printed: String,
    pub(super) took: Duration,
}

impl Booted {
    /// What came of a machine that printed this.
    pub(super) fn of(printed: String, took: Duration) -> Self {
        Self {
            steps: taken(&printed),
            printed,
            took,
        }
    }
}

/// A step that was begun.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) name: String,
    /// `None` if it did not end.
    pub(super) code: Option<i32>,
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
}

/// Boots this machine with this kernel, and ends it after `limit` at the latest.
pub(super) fn boot(
    machine: &Machine,
    kernel: &Path,
    parts: &Parts,
    steps: &[&Step],
    limit: Duration,
) -> Result<Booted> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let initrd = folder.path().join("initrd");
    let read = |path: &Path| fs::read(path).with_context(|| format!("reading {}", path.display()));
    let script = script(machine, steps, limit);
    let mut archive = Archive::default()
        .folders(&["bin", "dev", "proc", "sys", "run", "tmp", "root", "tests"])
        .file("bin/busybox", &read(&parts.busybox)?)
        .file("bin/syscost", &read(&parts.program)?)
        .file("init", GUEST)
        .file("steps", script.as_bytes());
    if steps.iter().any(|step| step.prints == Some(Prints::Tests)) {
        for (number, test) in parts.tests.iter().enumerate() {
            archive = archive.file(&format!("tests/{number}"), &read(test)?);
        }
        for path in read_by_tests()? {
            let name = path.strip_prefix("/").unwrap_or(&path).to_string_lossy();
            archive = match path.is_dir() {
                true => archive.folders(&[&name]),
                false => archive.file(&name, &read(&path)?),
            };
        }
    }
    fs::write(&initrd, archive.end()).context("writing the root")?;
    let console = folder.path().join("console");
    let begun = Instant::now();
    // It ends qemu also if nobody is left to do it.
    let qemu = Command::new("timeout")
        .args(["--foreground", &limit.as_secs_f64().to_string()])
        .args(machine.arch.qemu())
        .args(["-cpu", &machine.cpu, "-smp", &machine.smp, "-m", "2G"])
        .args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ])
        .args(machine.qemu.split_whitespace())
        .args([OsStr::new("-kernel"), kernel.as_os_str()])
        .args([OsStr::new("-initrd"), initrd.as_os_str()])
        .arg("-append")
        .arg(format!(
            "{} panic=-1 {}",
            machine.arch.command_line(),
            machine.command_line
        ))
        .arg("-serial")
        .arg(format!("file:{}", console.display()))
        .stdin(Stdio::null())
        .output()
        .context("starting timeout")?;
    let took = begun.elapsed();
    if !qemu.status.success() && qemu.status.code() != Some(TIMED_OUT) {
        let said = String::from_utf8_lossy(&qemu.stderr);
        bail!("{}: {}", machine.arch.qemu()[0], said.trim());
    }
    // What the emulator says comes last: why it ended, if not of itself.
    let said = [read(&console)?, qemu.stderr].concat();
    Ok(Booted::of(
        String::from_utf8_lossy(&said).into_owned(),
        took,
    ))
}

/// The files of the workspace that tests read, each after its folder: fixtures, and folders of crates from which
/// they are looked for.
fn read_by_tests() -> Result<Vec<PathBuf>> {
    let root = fs::canonicalize(workspace::root()).context("finding the workspace")?;
    let mut paths: Vec<PathBuf> = root.ancestors().map(Path::to_owned).collect();
    paths.reverse();
    paths.remove(0); // the root
    for pattern in [
        "crates",
        "crates/*",
        "fixtures",
        "fixtures/m*",
        "fixtures/m*/**/*",
    ] {
        paths.extend(glob(&root.join(pattern).display().to_string())?.flatten());
    }
    Ok(paths)
}

/// What the guest's shell does.
fn script(machine: &Machine, steps: &[&Step], limit: Duration) -> String {
    let [budget, row] = [3.0, 10.0].map(|share| (limit.as_secs_f64() / share) as u64);
    let mut script = format!("export BUDGET={budget} LIMIT={row}\n{}\n", machine.before);
    if !machine.beside.is_empty() {
        script += &format!("(\n{}\n) &\n", machine.beside);
    }
    for step in steps {
        script += &format!(
            "step {} '{}'\n",
            step.name,
            step.command.replace('\'', r"'\''")
        );
    }
    script
}

/// The steps of which these lines tell.
fn taken(printed: &str) -> Vec<Taken> {
    let mut steps: Vec<Taken> = Vec::new();
    let mut stream = None;
    let mut packed = [String::new(), String::new()];
    for line in printed.lines().map(str::trim_end) {
        match (line.strip_prefix("@@"), steps.last_mut()) {
            (Some("out"), _) => stream = Some(0),
            (Some("err"), _) => stream = Some(1),
            (Some(mark), step) => {
                stream = None;
                if let Some(name) = mark.strip_prefix("begin ") {
                    packed = Default::default();
                    steps.push(Taken {
                        name: name.to_owned(),
                        ..Taken::default()
                    });
                } else if let (Some(code), Some(step)) = (mark.strip_prefix("end "), step) {
                    let [out, err] = [0, 1].map(|stream| unpacked(&packed[stream]));
                    // A step of which the streams are damaged has not ended.
                    step.code = code.parse().ok().filter(|_| out.is_some() && err.is_some());
                    step.out = out.unwrap_or_default();
                    step.err = err.unwrap_or_default();
                }
            }
            (None, _) => {
                if let Some(stream) = stream {
                    packed[stream].push_str(line);
                }
            }
        }
    }
    steps
}

/// What was packed by gzip and base64.
fn unpacked(text: &str) -> Option<Vec<u8>> {
    let packed = BASE64_STANDARD.decode(text).ok()?;
    let mut bytes = Vec::new();
    GzDecoder::new(&*packed).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "out\n" and nothing, packed.
    const PRINTED: &str = "Linux version 6.1\r
@@begin list\r
@@out\r
H4sIAAAAAAAAA8svLeECAB7HvbsEAAAA\r
@@err\r
H4sIAAAAAAAAAwMAAAAAAAAAAAA=\r
@@end 2\r
@@begin run\r
";

    #[test]
    fn steps_that_ended_have_their_output_and_a_last_one_may_not_have() {
        let taken = taken(PRINTED);
        let list = Taken {
            name: "list".to_owned(),
            code: Some(2),
            out: b"out\n".to_vec(),
            err: Vec::new(),
        };
        let run = Taken {
            name: "run".to_owned(),
            ..Taken::default()
        };
        assert_eq!(taken, [list, run]);
    }

    #[test]
    fn a_step_whose_output_is_damaged_has_not_ended() {
        let damaged = PRINTED.replace("H4sIAAAAAAAAA8sv", "H4sIAAAA[ 12.3] x");
        assert_eq!(taken(&damaged)[0].code, None);
    }
}
