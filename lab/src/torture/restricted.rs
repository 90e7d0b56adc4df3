//! Environments in which something that programs rely on is missing or scarce.

use anyhow::Result;
use fastrand::Rng;

use super::Tally;
use super::sandbox::{Ending, Sandbox};

/// Shell commands to execute before the program is started.
const RESTRICTIONS: [&str; 31] = [
    "true",
    "ulimit -n 6",
    "ulimit -n 12",
    "ulimit -n 32",
    // The program's file takes 40 MB of it.
    "ulimit -v 70000",
    "ulimit -v 300000",
    "ulimit -d 20000",
    "ulimit -s 64",
    "ulimit -f 0",
    "ulimit -f 1",
    "ulimit -l 0",
    "ulimit -t 1",
    "exec <&-",
    "exec 0<&- 3<&-",
    "unset HOME XDG_DATA_HOME TMPDIR",
    "export HOME=/nonexistent XDG_DATA_HOME=/nonexistent/data",
    "export TMPDIR=/nonexistent/tmp",
    "export TMPDIR=/proc",
    "export PATH=",
    "export LANG=xx_YY.ZZ TERM=nothing COLUMNS=1 LINES=0",
    "export SYSCOST_BATCH_FACTOR=x SYSCOST_MARGIN_FACTOR=-1",
    "mkdir -p gone && cd gone && rmdir ../gone",
    "trap '' INT TERM HUP PIPE CHLD ALRM USR1 USR2",
    "umask 777",
    "nice -n 19 true && renice -n 19 $$ >/dev/null",
    "chrt --idle --pid 0 $$",
    "taskset -p 1 $$ >/dev/null",
    "set -- \"$@\" --real-time",
    "exec unshare --user --map-root-user --mount --pid --fork \"$0\" \"$@\"",
    "exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \"$0\" \"$@\"",
    "exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'ulimit -u 1; exec \"$0\" \"$@\"' \"$0\" \"$@\"",
];

/// Restrictions under which nothing can be written, not even an error.
const MUTE: [&str; 2] = ["ulimit -f 0", "ulimit -f 1"];

/// A short run of rows with very different requirements.
pub(super) const RUN: &str = "run --profile quick --budget 1 --no-save --format json \
     syscall.null ipc.round_trip task.fork memory.malloc timing.clock_read";

/// What is wrong with the end of such a run: if nothing can run it must say why, and if something
/// ran there must be a document.
pub(super) fn complaints(ending: &Ending) -> Vec<String> {
    let mut complaints = match ending.out.is_empty() {
        true => ending.complaints(),
        false => ending.complaints_of_run(),
    };
    if ending.out.is_empty() && ending.err.trim().is_empty() {
        complaints.push("neither a document nor a word".to_owned());
    }
    if ending.code() == Some(2) {
        complaints.push(format!("its arguments are wrong: {}", ending.err));
    }
    complaints
}

/// Tries all restrictions.
pub(super) fn all(sandbox: &Sandbox, _: &mut Rng, tally: &mut Tally) -> Result<()> {
    for script in RESTRICTIONS {
        let Some(command) = sandbox.behind(script, RUN)? else {
            tally.not_tried.push(script);
            continue;
        };
        let ending = sandbox.run(command)?;
        let mut complaints = match MUTE.contains(&script) {
            true => ending.complaints(),
            false => complaints(&ending),
        };
        complaints.extend(sandbox.leftovers());
        tally.note(script, complaints);
    }
    Ok(())
}
