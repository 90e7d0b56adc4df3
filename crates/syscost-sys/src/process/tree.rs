//! A process and all it started.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use std::time::Duration;

use crate::{SystemError, os};

/// The processes that `pid` started, and those that they started, ascending; without `pid` itself.
/// Those that have ended but were not waited for are among them. Empty where there is no /proc.
pub fn descendants(pid: u32) -> Vec<u32> {
    let mut found = BTreeSet::new();
    let mut todo = vec![pid];
    // One scan of /proc serves them all where the kernel has no `children` file
    // (CONFIG_PROC_CHILDREN).
    let mut scanned = None;
    while let Some(parent) = todo.pop() {
        let children = children_files(parent).unwrap_or_else(|| {
            let tree = scanned.get_or_insert_with(scan);
            tree.get(&parent).cloned().unwrap_or_default()
        });
        todo.extend(children.into_iter().filter(|&child| found.insert(child)));
    }
    found.into_iter().collect()
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

/// All processes by their parent, from /proc/PID/stat.
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
        if let Some((_, parent)) = stat(pid) {
            tree.entry(parent).or_default().push(pid);
        }
    }
    tree
}

/// State and parent of a process.
fn stat(pid: u32) -> Option<(char, u32)> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name may hold spaces and parentheses; the last parenthesis ends it.
fn parse_stat(text: &str) -> Option<(char, u32)> {
    let mut fields = text.rsplit_once(") ")?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Kills `pid` and all it started, and returns once none of them runs any more (or one second has
/// passed). Those that are this process's children remain to be waited for. Returns the processes
/// that were killed.
///
/// An orphan is found only if the caller is a subreaper
/// ([`become_subreaper`](super::become_subreaper)) or `pid` was still alive; so `kill_tree` is to
/// be called before `pid` is waited for.
///
/// # Errors
/// When the system does not allow to kill one of them; the others are killed all the same.
pub fn kill_tree(pid: u32) -> Result<Vec<u32>, SystemError> {
    let mut killed = BTreeSet::new();
    let mut refused = Ok(());
    // Stopped first, the root cannot start more while its descendants are being found; what a
    // descendant starts meanwhile is found by the next pass.
    let _ = os::stop_process(pid);
    for _ in 0..1000 {
        let mut alive: Vec<u32> = descendants(pid);
        alive.push(pid);
        alive.retain(|&pid| stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X')));
        if alive.is_empty() {
            break;
        }
        // The deepest first, the root last: while it lives its tree can be walked.
        let descendants_alive = alive.len() > 1;
        for &target in alive
            .iter()
            .filter(|&&target| target != pid || !descendants_alive)
        {
            match os::kill_process(target) {
                Ok(()) => {
                    killed.insert(target);
                }
                Err(cause) => {
                    refused = Err(SystemError::new("kill", format!("process {target}"), cause))
                }
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    refused.map(|()| killed.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn state_and_parent_are_read_behind_the_name() {
        assert_eq!(parse_stat("42 (a) b (c) S 7 42 42 0 -1"), Some(('S', 7)));
        assert_eq!(parse_stat("42 (a"), None);
    }

    #[test]
    fn a_shell_and_its_children_end_together() {
        // Two levels: the shell, and two sleepers that it waits for.
        let mut shell = match Command::new("sh")
            .args(["-c", "sleep 1000 & sleep 1000 & echo ready; wait"])
            .stdout(Stdio::piped())
            .spawn()
        {
            Ok(shell) => shell,
            Err(reason) => {
                println!("skipped: no shell: {reason}");
                return;
            }
        };
        let mut ready = [0; 5];
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut ready).unwrap();
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
                stat(pid).is_none_or(|(state, _)| state == 'Z'),
                "{pid} still runs"
            );
        }
    }
}
