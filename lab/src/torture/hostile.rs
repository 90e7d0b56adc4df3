//! Surroundings that others prepare: runs beside this one, signals inherited from a parent, a directory whose owner swaps
//! what is made in it, servers and pipes that deliver late or never, foreign files among the runs.

use std::fs::{self, Permissions};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::{self, sleep};
use std::time::Duration;

use anyhow::{Context, Result};
use fastrand::Rng;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::geteuid;
use syscost_results::{Evidence, Measurement, Status, Verdict, document};

use super::Tally;
use super::sandbox::{Ending, Sandbox};

/// The user that attacks: nobody.
const NOBODY: u32 = 65_534;

/// Rows that write files in the directory that they are given, for some seconds.
const FILES: &str = "run fs.write fs.read fs.copy fs.sync fs.metadata \
     --profile quick --budget 4 --format json";

/// A short run of rows that wait for signals and children.
const SIGNALS: &str = "run signal.catch signal.mask task.fork syscall.umask \
     --profile quick --no-save --format json";

/// Eight runs at once: they share a scratch directory and the CPUs, and no row may fail or be withheld
/// because of that.
pub(super) fn eight(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    let start = |_| {
        sandbox.start(sandbox.command(
            "run --profile quick --budget 2 --no-save --format json \
             syscall.umask syscall.open_close memory.page_fault sync.file_lock ipc.unix_connect",
        ))
    };
    let runs: Vec<_> = (0..8).map(start).collect::<Result<_>>()?;
    for run in runs {
        let ending = run.end()?;
        let mut complaints = ending.complaints_of_run();
        // That others take the CPU refutes nothing.
        let wrong = rows(&ending, &[Status::Failed, Status::Withheld]).into_iter();
        complaints.extend(wrong.map(|(name, reason)| format!("{name}: {reason}")));
        tally.note("one of eight", complaints);
    }
    Ok(())
}

/// The rows of a run that have one of these statuses, with their reasons; none of an unreadable
/// document, which has already been complained about.
fn rows(ending: &Ending, statuses: &[Status]) -> Vec<(String, String)> {
    let rows = document::read(&ending.out).map_or_else(|_| Vec::new(), |run| run.measurements);
    let found = rows
        .into_iter()
        .filter(|row| statuses.contains(&row.status));
    let reason = |row: &Measurement| match (&row.reason, row.evidence.iter().find(is_refuted)) {
        (Some(reason), _) => reason.clone(),
        (None, Some(refuted)) => format!("refuted: {}", refuted.claim.sentence),
        (None, None) => String::new(),
    };
    found.map(|row| (row.name.clone(), reason(&row))).collect()
}

fn is_refuted(evidence: &&Evidence) -> bool {
    evidence.verdict == Verdict::Refuted
}

/// A run begun by a parent that ignores the end of its children, or blocks all signals.
pub(super) fn signals(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    for script in [
        "exec env --ignore-signal=CHLD \"$0\" \"$@\"",
        "exec env --block-signal \"$0\" \"$@\"",
        "exec env --ignore-signal=PIPE --block-signal=ALRM,SEGV,CHLD \"$0\" \"$@\"",
    ] {
        let Some(command) = sandbox.behind(script, SIGNALS)? else {
            tally.not_tried.push(script);
            continue;
        };
        let ending = sandbox.run(command)?;
        let mut complaints = ending.complaints_of_run();
        complaints.extend(without_figures(&ending));
        tally.note(script, complaints);
    }
    Ok(())
}

/// Rows that failed or whose numbers were withheld, one sentence each.
fn without_figures(ending: &Ending) -> impl Iterator<Item = String> {
    let rows = rows(ending, &[Status::Failed, Status::Withheld]).into_iter();
    rows.map(|(name, reason)| format!("{name} has no number: {reason}"))
}

/// A process that is ended when dropped.
struct Attacker(Child);

impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Root measures in a directory whose owner renames what is made in it, and puts a link to a
/// directory of his own in its place.
pub(super) fn swaps(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    const SWAP: &str = "n=0; while :; do for tree in syscost-*; do n=$((n+1)); \
        [ -d \"$tree\" ] && [ ! -L \"$tree\" ] && mv -T \"$tree\" aside$n 2>/dev/null && \
        ln -s bait \"$tree\"; done; done";
    if !geteuid().is_root() {
        tally.not_tried.push("be root, whom others attack");
        return Ok(());
    }
    let folder = tempfile::tempdir().context("making a folder")?;
    let open = Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open).context("opening a folder")?;
    let own = folder.path().join("theirs");
    let bait = own.join("bait");
    fs::create_dir_all(&bait).context("making a folder")?;
    let victim = sandbox.file("victim");
    fs::write(&victim, "nobody else's").context("writing a file")?;
    let names = "written_over content source target file entry00001".split(' ');
    for name in names.clone() {
        symlink(&victim, bait.join(name)).context("laying a bait")?;
    }
    for path in [&own, &bait] {
        chown(path, Some(NOBODY), Some(NOBODY)).context("giving a folder away")?;
    }
    let id = NOBODY.to_string();
    let attacker = Command::new("setpriv")
        .args(["--reuid", &id, "--regid", &id, "--clear-groups"])
        .args(["sh", "-c", SWAP])
        .current_dir(&own)
        .spawn();
    let Ok(attacker) = attacker.map(Attacker) else {
        tally.not_tried.push("start another user's process");
        return Ok(());
    };
    let directory = own.display().to_string();
    let arguments = format!("{FILES} --no-save --dir {directory}");
    // Every row may fail, and the directory may be refused.
    let ending = sandbox.run(sandbox.command(&arguments))?;
    drop(attacker);
    let mut complaints = ending.complaints();
    if fs::read(&victim).context("reading a file")? != b"nobody else's" {
        complaints.push("a file outside the directory was written over".to_owned());
    }
    let in_bait = fs::read_dir(&bait).context("reading a folder")?.count();
    let baits = names.count();
    if in_bait != baits {
        let more = in_bait.abs_diff(baits);
        complaints.push(format!(
            "{more} files were made or removed where a link leads"
        ));
    }
    // What is his to rename is his to lose: the next sweep finds no name for it.
    tally.note("a directory of somebody who swaps trees", complaints);
    Ok(())
}

/// A server that announces a long answer and sends it byte by byte, until its client has gone.
fn dripping() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("listening")?;
    let address = listener.local_addr().context("listening")?;
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut sent = client.write_all(&[0x80, 0x10, 0, 0]);
                while sent.is_ok() {
                    sleep(Duration::from_millis(500));
                    sent = client.write_all(&[0]);
                }
            });
        }
    });
    Ok(address)
}

/// Servers and token files that deliver late or never: the program ends by itself.
pub(super) fn late(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    let export = format!("nfs://{}/e", dripping()?);
    let fifo = sandbox.file("fifo");
    if !fifo.exists() {
        mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).context("making a FIFO")?;
    }
    let fifo = fifo.display().to_string();
    let run = "run --no-save --budget 2 syscall.null";
    for (what, command) in [
        (
            "a dripping NFS server",
            format!("{run} fs.nfs --nfs {export}"),
        ),
        (
            "a token in a FIFO without a writer",
            format!("{run} --peer 127.0.0.1:9 --token-file {fifo}"),
        ),
        (
            "a server's token in a FIFO without a writer",
            format!("serve --listen 127.0.0.1:0 --token-file {fifo}"),
        ),
    ] {
        let ending = sandbox.run(sandbox.command(&command))?;
        let mut complaints = ending.complaints();
        if ending.err.trim().is_empty() {
            complaints.push("it ended without a word".to_owned());
        }
        tally.note(what, complaints);
    }
    Ok(())
}

/// Files among the runs that no run is in: the latest run is found all the same.
pub(super) fn foreign_files(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    let runs = sandbox.file("syscost/runs");
    // The first second listens to the cores.
    let run = sandbox.command("run --profile quick --budget 4 syscall.null");
    let mut complaints = sandbox.run(run)?.complaints();
    let document = fs::read_dir(&runs).into_iter().flatten().flatten().next();
    let whole = document.map(|document| fs::read(document.path()).unwrap_or_default());
    let whole = whole.unwrap_or_default();
    let cut = rng.usize(..whole.len().max(1));
    let foreign: [(&str, &[u8]); 4] = [
        (
            "zzz-fio.json",
            br#"{"fio version": "fio-3.36", "jobs": []}"#,
        ),
        ("99990101T000000Z-1.json", &whole[..cut]),
        ("latest (conflicted copy).json", &whole),
        ("zzzz.json", &[0xff; 100]),
    ];
    for (name, content) in foreign {
        fs::write(runs.join(name), content).context("writing a file")?;
    }
    for command in ["show", "history"] {
        let ending = sandbox.run(sandbox.command(command))?;
        complaints.extend(ending.complaints());
        if ending.code() != Some(0) {
            complaints.push(format!(
                "{command}: exit code {:?}: {}",
                ending.code(),
                ending.err
            ));
        }
    }
    for (name, _) in foreign {
        let _ = fs::remove_file(runs.join(name));
    }
    tally.note("foreign files among the runs", complaints);
    Ok(())
}

/// Kills a run that writes files, at any time, also while it removes them: `clean` removes the rest.
pub(super) fn killed_clean_ups(sandbox: &Sandbox, rng: &mut Rng, tally: &mut Tally) -> Result<()> {
    let directory = sandbox.file("measured");
    fs::create_dir_all(&directory).context("making a folder")?;
    let path = directory.display().to_string();
    let run = format!("run fs.metadata --profile quick --budget 3 --no-save --dir {path}");
    let mut run = sandbox.start(sandbox.command(&run))?;
    sleep(Duration::from_millis(rng.u64(..3_500)));
    run.kill()?;
    let mut complaints = sandbox.processes_left();
    for journal in sandbox.journals() {
        let _ = fs::remove_file(&journal);
    }
    let ending = sandbox.run(sandbox.command(&format!("clean {path}")))?;
    complaints.extend(ending.complaints());
    if ending.code() != Some(0) {
        complaints.push(String::from_utf8_lossy(&ending.out).into_owned());
    }
    complaints.extend(left_in(&directory));
    complaints.extend(sandbox.leftovers());
    tally.note("killed while it wrote or removed files", complaints);
    Ok(())
}

/// What is left in a directory, one sentence each.
fn left_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let left = entries.map(|entry| format!("{} is left", entry.path().display()));
    left.collect()
}
