//! How much of the time the cores were own while a command ran, by probes of another kind than the program's.

use std::fs;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use syscost_sys::cpu;

/// The probes.
const SOURCE: &str = include_str!("own-share.c");

/// How `own-share` runs.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The command
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs the command between the start and the end of a probing process on each CPU.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let (source, program) = (
        folder.path().join("own-share.c"),
        folder.path().join("own-share"),
    );
    fs::write(&source, SOURCE).context("writing the probes' source")?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-o"]).arg(&program).arg(&source);
    if !compiler.status().context("starting cc")?.success() {
        bail!("cc did not compile the probes, which are for x86-64");
    }
    let mut probes: Vec<(u32, Probing)> = Vec::new();
    for cpu in cpu::allowed().context("listing the CPUs")? {
        let mut command = Command::new(&program);
        command.arg(cpu.to_string()).stdout(Stdio::piped());
        let child = command.spawn().context("starting the probes")?;
        probes.push((cpu, Probing(Some(child))));
    }
    let [name, rest @ ..] = arguments.command.as_slice() else {
        bail!("no command");
    };
    let status = Command::new(name).args(rest).status();
    for (cpu, probe) in probes {
        println!("CPU {cpu}: {}", end(probe)?);
    }
    let status = status.with_context(|| format!("starting {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

/// A probing process, ended with this value.
struct Probing(Option<Child>);

impl Drop for Probing {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Ends a probing process: what it says.
fn end(mut probing: Probing) -> Result<String> {
    let Some(probe) = probing.0.take() else {
        bail!("the probes have ended");
    };
    kill_process(Pid::from_child(&probe), Signal::TERM).context("ending the probes")?;
    let output = probe.wait_with_output().context("waiting for the probes")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
