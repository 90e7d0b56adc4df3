//! A process and all it started.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::counters::parse_schedstat;
use crate::{SystemError, Unsupported, os};

/// Whether /proc is mounted and shows this process: a /proc of another pid namespace shows other
/// processes by the same numbers.
pub fn sees_itself() -> bool {
    proc_shows() == ProcShows::Us
}

/// Whose processes /proc shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProcShows {
    /// This process, by its number.
    Us,
    /// Others: it is of another pid namespace.
    Others,
    /// None: it is not mounted.
    #[default]
    Nothing,
}

/// Whose processes /proc shows.
pub fn proc_shows() -> ProcShows {
    match fs::read_link("/proc/self") {
        Ok(shown) if shown.to_str() == Some(&std::process::id().to_string()) => ProcShows::Us,
        Ok(_) => ProcShows::Others,
        Err(_) if Path::new("/proc/version").exists() => ProcShows::Others,
        Err(_) => ProcShows::Nothing,
    }
}

/// The folder of a process in /proc.
///
/// # Errors
/// Where /proc does not show this process: that number is then another process's.
pub fn proc_of(pid: u32) -> Result<String, Unsupported> {
    match sees_itself() {
        true => Ok(format!("/proc/{pid}")),
        false => Err(Unsupported::new(
            "/proc is of another pid namespace, or not mounted: process numbers mean others there",
        )),
    }
}

/// The processes that `pid` started, and those that they started, ascending; without `pid` itself.
/// Those that have ended but were not waited for are among them. Empty where /proc does not show this
/// process.
pub fn descendants(pid: u32) -> Vec<u32> {
    let mut found = BTreeSet::new();
    if !sees_itself() {
        return Vec::new();
    }
    let mut todo = vec![pid];
    let mut children = Children::default();
    while let Some(parent) = todo.pop() {
        let of_it = children.of(parent).into_iter();
        todo.extend(of_it.filter(|&child| found.insert(child)));
    }
    found.into_iter().collect()
}

/// Finds the children of processes. One scan of /proc serves them all where the kernel has no `children` file
/// (CONFIG_PROC_CHILDREN).
#[derive(Default)]
struct Children {
    scanned: Option<BTreeMap<u32, Vec<u32>>>,
}

impl Children {
    fn of(&mut self, pid: u32) -> Vec<u32> {
        children_files(pid).unwrap_or_else(|| {
            let tree = self.scanned.get_or_insert_with(scan);
            tree.get(&pid).cloned().unwrap_or_default()
        })
    }
}

/// /proc/PID/task/TID/children of each thread; `None` when the kernel has no such file.
fn children_files(pid: u32) -> Option<Vec<u32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut children = Vec::new();
    for thread in threads.flatten() {
        let Ok(text) = fs::read_to_string(thread.path().join("children")) else {
            // A thread that has just ended has no children left; a missing file means a kernel
            // without it.
            if thread.path().exists() {
                return None;
            }
            continue;
        };
        children.extend(
            text.split_ascii_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    Some(children)
}

fn scan() -> BTreeMap<u32, Vec<u32>> {
    let mut tree: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if let Some(stat) = stat(pid) {
            tree.entry(stat.parent).or_default().push(pid);
        }
    }
    tree
}

/// What /proc says of a process (proc_pid_stat(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    state: char,
    parent: u32,
    group: u32,
    /// How many of its threads have not ended.
    threads: u32,
    /// Start time, in ticks since boot: together with the id it identifies a process permanently.
    started: u64,
    /// The signal that ended it, if any. Also `None` where the kernel does not reveal it to this process.
    ended_by: Option<i32>,
}

impl Stat {
    /// Whether the process runs, or may run again.
    fn is_alive(self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    /// The signal that ended it, once its parent can wait for it: not while threads of it are still
    /// ending, for which a parent that has killed it waits as well.
    fn killed_by(self) -> Option<i32> {
        self.ended_by
            .filter(|_| !self.is_alive() && self.threads <= 1)
    }
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The process that started this one, or adopted it; `None` for one whose parent /proc does not
/// show.
pub(super) fn parent_of(pid: u32) -> Option<u32> {
    Some(stat(pid)?.parent).filter(|parent| *parent != 0)
}

/// Parses the file. The name may hold spaces and parentheses; the last parenthesis ends it.
fn parse_stat(text: &str) -> Option<Stat> {
    let mut fields = text.rsplit_once(") ")?.1.split_ascii_whitespace();
    Some(Stat {
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        threads: fields.nth(14)?.parse().ok()?,
        started: fields.nth(1)?.parse().ok()?,
        ended_by: fields
            .nth(29)
            .and_then(|status| status.parse::<i32>().ok())
            .map(|status| status & 0x7f)
            .filter(|signal| *signal != 0),
    })
}

/// The name of the program that a process executes, cut to 15 bytes; `None` where /proc does not show it.
pub fn name_of(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Whether the first thread of `pid` sleeps until something wakes it: it neither runs nor waits for
/// a CPU, nor has it been stopped.
pub fn is_asleep(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.state == 'S')
}

/// The children of `pid` that a signal ended and that were not waited for, ascending, each with the signal.
pub fn killed_children(pid: u32) -> Vec<(u32, i32)> {
    if !sees_itself() {
        return Vec::new();
    }
    let children = Children::default().of(pid).into_iter();
    let killed = children.filter_map(|child| Some((child, stat(child)?.killed_by()?)));
    let mut killed: Vec<(u32, i32)> = killed.collect();
    killed.sort_unstable();
    killed
}

/// The longest time that a thread of `pid`, or of a process that it started, has been ready to run
/// and waited for a CPU; 0 where the kernel does not report it.
pub fn waited_for_cpu(pid: u32) -> Duration {
    let tree = [pid].into_iter().chain(descendants(pid));
    let threads = tree.flat_map(|process| fs::read_dir(format!("/proc/{process}/task")));
    let threads = threads.flatten().flatten().map(|thread| thread.path());
    let texts = threads.filter_map(|thread| fs::read_to_string(thread.join("schedstat")).ok());
    let waits = texts.filter_map(|text| Some(parse_schedstat(&text)?.run_delay_ns));
    Duration::from_nanos(waits.max().unwrap_or(0))
}

/// How processes that a certain process started are recognised: by their group, unless they left it, and by
/// the environment that they were given.
#[derive(Debug, Clone)]
pub struct Owner {
    /// The process group.
    pub group: u32,
    /// A variable of the environment, as `NAME=value`.
    pub variable: String,
}

impl Owner {
    /// The calling process's children that are the owner's, ascending, including orphans adopted by a
    /// [subreaper](super::become_subreaper), but no others. A process that neither stayed in the
    /// group nor kept the environment is not found.
    pub fn children(&self) -> Vec<u32> {
        if !sees_itself() {
            return Vec::new();
        }
        let mut children = Children::default().of(std::process::id());
        children.retain(|pid| self.owns(*pid));
        children.sort_unstable();
        children
    }

    fn owns(&self, pid: u32) -> bool {
        let is_of_group = stat(pid).is_some_and(|stat| stat.group == self.group);
        is_of_group || has_variable(pid, &self.variable)
    }
}

/// Whether process `pid` was started with this `NAME=value` in its environment; false if that cannot be read.
pub fn has_variable(pid: u32, variable: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|one| one == variable.as_bytes())
}

/// Kills `pid` and all it started, and returns once none of them runs any more (or one second has
/// passed). Those that are this process's children remain to be waited for. Returns the processes
/// that were killed.
///
/// An orphan is found only if the caller is a subreaper
/// ([`become_subreaper`](super::become_subreaper)) or `pid` was still alive; so `kill_tree` is to
/// be called before `pid` is waited for. `pid` must be a child of the calling process: only then
/// can its id not be reused. Where /proc does not show this process, only `pid` and its process
/// group are found.
///
/// # Errors
/// When the system does not permit killing one of them; the others are killed all the same.
pub fn kill_tree(pid: u32) -> Result<Vec<u32>, SystemError> {
    let refusal = |pid, cause| SystemError::new("kill", format!("process {pid}"), cause);
    if !sees_itself() {
        let _ = os::kill_group(pid);
        os::kill_process(pid).map_err(|cause| refusal(pid, cause))?;
        return Ok(vec![pid]);
    }
    let mut killed = BTreeSet::new();
    let mut refused = Ok(());
    // Stopped first, the root cannot start more while its descendants are being found; what a
    // descendant starts meanwhile is found by the next pass.
    let _ = os::stop_process(pid);
    for _ in 0..1000 {
        let found = descendants(pid).into_iter().chain([pid]);
        let alive: Vec<(u32, Stat)> = found
            .filter_map(|pid| Some((pid, stat(pid).filter(|stat| stat.is_alive())?)))
            .collect();
        if alive.is_empty() {
            break;
        }
        // The deepest first, the root last: while it lives its tree can be walked.
        let descendants_alive = alive.len() > 1;
        for &(target, then) in alive
            .iter()
            .filter(|(target, _)| *target != pid || !descendants_alive)
        {
            // Its parent may have waited for it since, so that another process may have its id by now.
            let is_still = || stat(target).is_some_and(|now| now.started == then.started);
            match os::kill_found(target, is_still) {
                Ok(()) => {
                    killed.insert(target);
                }
                Err(cause) => refused = Err(refusal(target, cause)),
            }
        }
        super::pause(Duration::from_millis(1));
    }
    refused.map(|()| killed.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::thread;

    #[test]
    fn state_and_parent_are_read_behind_the_name() {
        let numbers = format!(
            "0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 9876{} 9",
            " 0".repeat(29)
        );
        let expected = Stat {
            state: 'S',
            parent: 7,
            group: 41,
            threads: 3,
            started: 9876,
            ended_by: Some(9),
        };
        let read = parse_stat(&format!("42 (a) b (c) S 7 41 40 {numbers}"));
        assert_eq!(read, Some(expected));
        let ended = |threads| Stat {
            state: 'Z',
            threads,
            ..expected
        };
        assert_eq!(ended(1).killed_by(), Some(9));
        assert_eq!(
            ended(2).killed_by(),
            None,
            "its other thread is still ending"
        );
        assert_eq!(parse_stat("42 (a"), None);
    }

    #[test]
    fn what_a_process_waits_for_a_cpu_is_seen() {
        or_skip!(
            crate::counters::SchedStat::open(),
            "the kernel does not report how long tasks wait"
        );
        let cpu = crate::cpu::allowed().unwrap()[0];
        let spin = || {
            let spin = || {
                let _ = crate::cpu::pin(cpu);
                loop {
                    std::hint::spin_loop();
                }
            };
            os::fork(&mut || spin()).unwrap()
        };
        let spinning = [spin(), spin()];
        // Each has the CPU at most half of the time.
        while waited_for_cpu(spinning[0]) < Duration::from_millis(20) {
            thread::sleep(Duration::from_millis(1));
        }
        for pid in spinning {
            os::kill_process(pid).unwrap();
            os::wait_for(pid).unwrap();
        }
    }

    #[test]
    fn a_killed_child_is_reported_with_its_signal_until_it_is_waited_for() {
        let start = |program: &str| Command::new(program).arg("1000").spawn();
        let (mut killed, mut ended) = (or_skip!(start("sleep")), or_skip!(start("true")));
        killed.kill().unwrap();
        let own = std::process::id();
        let killed_by = |pid: u32| killed_children(own).into_iter().find(|(id, _)| *id == pid);
        wait_until_ended(&killed);
        assert_eq!(killed_by(killed.id()), Some((killed.id(), 9)));
        wait_until_ended(&ended);
        assert_eq!(killed_by(ended.id()), None, "no signal ended it");
        killed.wait().unwrap();
        ended.wait().unwrap();
        assert_eq!(killed_by(killed.id()), None);
    }

    /// Returns once all threads of the child have ended (in an emulator it has more than one); its
    /// status remains to be taken.
    fn wait_until_ended(child: &Child) {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(child)), options).unwrap();
    }

    /// Returns once the child is in a process group. A system without vfork (an emulator) lets its
    /// parent go on before that.
    fn wait_until_in_group(child: &Child, group: u32) {
        loop {
            let stat = stat(child.id()).unwrap();
            if stat.group == group {
                return;
            }
            assert!(stat.is_alive(), "it has ended outside of the group");
            thread::yield_now();
        }
    }

    /// Returns once the child has said "ready".
    fn wait_until_ready(child: &mut Child) {
        let mut ready = [0; 5];
        let output = child.stdout.as_mut().unwrap();
        std::io::Read::read_exact(output, &mut ready).unwrap();
    }

    #[test]
    fn children_are_their_owners_by_group_or_environment_and_no_others() {
        // A shell that has written its output has its group and its environment: where the system
        // has no vfork (in an emulator), a child exists before it has either.
        let start = |environment: &str, group: Option<i32>| {
            let mut command = Command::new("sh");
            command.args(["-c", "echo ready; read end"]);
            command.env("SYSCOST_TEST_OWNER", environment);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            if let Some(group) = group {
                std::os::unix::process::CommandExt::process_group(&mut command, group);
            }
            command.spawn()
        };
        let children = [
            start("this", None),
            start("another", Some(0)),
            start("another", None),
        ];
        let mut children = or_skip!(
            children.into_iter().collect::<Result<Vec<_>, _>>(),
            "no shell"
        );
        for child in &mut children {
            wait_until_ready(child);
        }
        let owner = Owner {
            group: children[1].id(),
            variable: "SYSCOST_TEST_OWNER=this".to_owned(),
        };
        let mut expected = vec![children[0].id(), children[1].id()];
        expected.sort_unstable();
        let found = owner.children();
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_killed_group_has_ended_once_it_was_reaped() {
        let start = |group: u32| {
            let mut command = Command::new("sleep");
            std::os::unix::process::CommandExt::process_group(&mut command, group as i32);
            command.arg("1000").spawn()
        };
        let mut leader = or_skip!(start(0), "no sleep");
        wait_until_in_group(&leader, leader.id());
        let others: Vec<Child> = (0..20).map(|_| start(leader.id()).unwrap()).collect();
        for other in &others {
            wait_until_in_group(other, leader.id());
        }
        os::kill_group(leader.id()).unwrap();
        leader.wait().unwrap();
        super::super::reap_group(leader.id());
        for other in others {
            assert_eq!(stat(other.id()), None, "it has ended, and nobody waits");
        }
    }

    #[test]
    fn a_shell_and_its_children_end_together() {
        // Two levels: the shell, and two sleepers that it waits for.
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & sleep 1000 & echo ready; wait"]);
        let mut shell = or_skip!(command.stdout(Stdio::piped()).spawn(), "no shell");
        wait_until_ready(&mut shell);
        let mut tree = descendants(shell.id());
        assert_eq!(tree.len(), 2, "{tree:?}");
        assert_eq!(
            scan().get(&shell.id()).map(|children| children.len()),
            Some(2)
        );

        tree.push(shell.id());
        tree.sort_unstable();
        assert_eq!(kill_tree(shell.id()).unwrap(), tree);
        assert!(!shell.wait().unwrap().success());
        for pid in tree {
            assert!(
                stat(pid).is_none_or(|stat| !stat.is_alive()),
                "{pid} still runs"
            );
        }
    }
}
