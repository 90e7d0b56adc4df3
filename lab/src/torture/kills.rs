//! Kills processes at any time and place.

use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use syscost_sys::process;

use super::Tally;
use super::sandbox::Sandbox;

/// A bit of everything: a system call, partners, children, files, memory.
const RUN: &str = "run --profile quick --budget 3 --format json \
     syscall.null ipc.round_trip task.fork memory.page_fault switch.ring";

/// Kills the coordinator with a signal that cannot be caught; what it left is resumed.
pub(super) fn of_the_coordinator(
    sandbox: &Sandbox,
    rng: &mut Rng,
    tally: &mut Tally,
) -> Result<()> {
    let mut run = sandbox.start(sandbox.command(RUN))?;
    sleep(Duration::from_millis(rng.u64(0..3500)));
    run.kill()?;
    let mut complaints = sandbox.processes_left();
    // Before the first worker has ended there is nothing to resume.
    let next = match sandbox.journals().first() {
        Some(journal) => resume(sandbox, &journal.to_string_lossy()),
        None => sandbox.command(RUN),
    };
    complaints.extend(sandbox.run(next)?.complaints_of_run());
    for journal in sandbox.journals() {
        let _ = std::fs::remove_file(&journal);
    }
    // The next run removes the files of one that was killed.
    complaints.extend(sandbox.leftovers());
    tally.note("kill -9", complaints);
    Ok(())
}

/// The program, resuming a journal.
pub(super) fn resume(sandbox: &Sandbox, journal: &str) -> Command {
    sandbox.command(&format!("run --resume {journal} --format json"))
}

/// Kills workers and their partners: each costs at most one row.
pub(super) fn of_workers(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    let mut run = sandbox.start(sandbox.command(&format!("{RUN} --no-save")))?;
    for _ in 0..5 {
        sleep(Duration::from_millis(rng.u64(50..500)));
        kill_one(&mut run.child, rng)?;
    }
    let mut complaints = run.end()?.complaints_of_run();
    complaints.extend(sandbox.leftovers());
    tally.note("workers killed", complaints);
    Ok(())
}

/// Kills one of the processes of a run, if it is running and has any.
fn kill_one(run: &mut Child, rng: &mut Rng) -> Result<()> {
    // A process that has not been waited for keeps its id, so these are certainly its own children.
    if run.try_wait().context("looking at a run")?.is_none()
        && let Some(victim) = rng.choice(process::descendants(run.id()))
        && let Some(victim) = Pid::from_raw(victim.cast_signed())
    {
        // It may have ended by itself.
        let _ = kill_process(victim, Signal::KILL);
    }
    Ok(())
}

/// Ends the coordinator with signals that ask it to end, once or twice: what is done is saved.
pub(super) fn polite(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    let mut signals = vec![Signal::INT, Signal::TERM, Signal::HUP];
    // They ignore what this process does.
    signals.retain(|signal| !process::ignores(signal.as_raw()));
    let signal = signals[rng.usize(..signals.len())];
    let is_twice = rng.bool();
    let mut run = sandbox.start(sandbox.command(RUN))?;
    sleep(Duration::from_millis(rng.u64(300..3000)));
    for _ in 0..1 + u32::from(is_twice) {
        if run.child.try_wait().context("looking at a run")?.is_none() {
            kill_process(Pid::from_child(&run.child), signal).context("ending a run")?;
        }
        sleep(Duration::from_millis(rng.u64(0..100)));
    }
    let ending = run.end()?;
    let mut complaints = match is_twice {
        // The second one ends it, whatever it is doing.
        true => ending.complaints(),
        false => ending.complaints_of_run(),
    };
    let has_begun = ending.err.contains("measuring");
    if has_begun && ending.out.is_empty() && sandbox.journals().is_empty() {
        complaints.push("nothing was kept, neither the run nor its journal".to_owned());
    }
    if is_twice {
        // It had no time to remove its files; the next run does.
        complaints.extend(sandbox.processes_left());
        complaints.extend(sandbox.run(sandbox.command(RUN))?.complaints_of_run());
    }
    complaints.extend(sandbox.leftovers());
    for journal in sandbox.journals() {
        let _ = std::fs::remove_file(&journal);
    }
    tally.note("ended politely", complaints);
    Ok(())
}
