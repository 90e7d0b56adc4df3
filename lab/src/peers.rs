//! Other tools that measure the same work, all from Debian.

mod fs;
mod memory;
mod net;
mod read;
mod tasks;

use self::fs::FS;
use self::memory::MEMORY;
use self::net::NET;
use self::read::{cyclictest, perf_bench};
use self::tasks::TASKS;

/// Another tool, and our row that measures the same work.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Name of our row; its unit is that of both figures.
    pub(crate) row: &'static str,
    /// Its name in the table; the first word is the program.
    pub(crate) name: &'static str,
    /// Its shell command.
    pub(crate) command: &'static str,
    /// Where both run.
    pub(crate) placement: Cpus,
    /// Number of invocations whose median is one figure: many short ones, so that an interruption
    /// spoils only one.
    pub(crate) invocations: usize,
    /// Reads the figure from its output, standard output first: nanoseconds per operation, or bytes
    /// per second if our row has that unit.
    pub(crate) read: fn(&str) -> Option<f64>,
    /// How the work differs, and how that affects the ratio.
    pub(crate) differs: &'static str,
    /// Options for our run to match the peer.
    pub(crate) options: &'static [&'static str],
}

impl Peer {
    /// The program that must be installed.
    pub(crate) fn program(&self) -> &'static str {
        self.name
            .split_once(' ')
            .map_or(self.name, |(program, _)| program)
    }

    /// The Debian package that has it; empty for this program itself.
    pub(crate) fn package(&self) -> &'static str {
        match self.program() {
            OWN_PROGRAM => "",
            "cyclictest" | "hackbench" => "rt-tests",
            "likwid-bench" => "likwid",
            "perf" => "linux-perf",
            "ping" => "iputils-ping",
            named_alike => named_alike,
        }
    }
}

/// The CPUs a peer and our row may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cpus {
    /// All tasks on one CPU.
    One,
    /// Two CPUs, among which the kernel places the tasks freely.
    Two,
    /// All CPUs.
    All,
}

/// The environment variable with the path of this program, which is itself a peer for benchmarks
/// that are published as rules.
pub(crate) const OWN: &str = "LAB";

/// The name of this program as a peer.
pub(crate) const OWN_PROGRAM: &str = "lab";

/// Every peer, in the order of our rows.
pub(crate) fn peers() -> Vec<&'static Peer> {
    [CALLS, TASKS, NET, FS, MEMORY]
        .into_iter()
        .flatten()
        .collect()
}

/// Peers of calls and clocks.
const CALLS: &[Peer] = &[
    Peer {
        row: "syscall.null{call=getppid}",
        name: "perf bench syscall basic",
        command: PERF_GETPPID,
        placement: Cpus::One,
        invocations: 15,
        read: perf_bench,
        differs: "perf calls getppid through the C library and chooses the call anew in every turn of its loop; ours is \
                  the bare instruction. perf's figure is the median over 15 processes of the mean over 20,000 calls, ours \
                  that over 6 processes of medians of short batches.",
        options: &[],
    },
    Peer {
        row: "syscall.null{call=getppid,via=libc}",
        name: "perf bench syscall basic",
        command: PERF_GETPPID,
        placement: Cpus::One,
        invocations: 15,
        read: perf_bench,
        differs: "Both call the C library's getppid; perf chooses the call anew in every turn of its loop. perf's figure \
                  is the median over 15 processes of the mean over 20,000 calls, ours that over 6 processes of medians \
                  of short batches.",
        options: &[],
    },
    Peer {
        row: "timing.sleep{via=clock_nanosleep,delay=1ms,slack=default}",
        name: "cyclictest --policy other",
        command: CYCLICTEST,
        placement: Cpus::One,
        invocations: 1,
        read: cyclictest,
        differs: "cyclictest sleeps until a point in time, ours for a time: making the call is in our figure and not in \
                  cyclictest's. Both are medians of overshoots, with the timer slack that programs get. cyclictest needs \
                  the privilege to set a real-time class, even to run without one.",
        options: &[],
    },
    Peer {
        row: "timing.sleep{via=clock_nanosleep,delay=1ms,slack=1ns}",
        name: "cyclictest --policy other, slack 1 ns",
        command: CYCLICTEST_WITHOUT_SLACK,
        placement: Cpus::One,
        invocations: 1,
        read: cyclictest,
        differs: "cyclictest sleeps until a point in time, ours for a time: making the call is in our figure and not in \
                  cyclictest's. Both are medians of overshoots, with a timer slack of 1 ns; cyclictest has it from the \
                  shell that starts it. It needs the privilege to set a real-time class, even to run without one.",
        options: &[],
    },
];

const PERF_GETPPID: &str = "perf bench syscall basic --loop 20000";

const CYCLICTEST: &str = "cyclictest --quiet --default-system --policy=other --threads=1 --interval=1000 --loops=500 \
     --nsecs --histogram=500000";

/// Setting a real-time class and leaving it again resets a task's timer slack to its default, which
/// is inherited: cyclictest must be a child.
const CYCLICTEST_WITHOUT_SLACK: &str = "echo 1 >/proc/$$/timerslack_ns && cyclictest --quiet --default-system \
     --policy=other --threads=1 --interval=1000 --loops=500 --nsecs --histogram=500000; exit $?";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use syscost_benches::CATALOGUE;
    use syscost_harness::Catalogue;
    use syscost_results::row_name;

    use super::*;

    #[test]
    fn every_peer_has_a_row_of_ours() {
        let rows: Vec<String> =
            Catalogue::rows(CATALOGUE.benchmarks(), &syscost_harness::Here::plain())
                .iter()
                .map(|row| row.name())
                .collect();
        for peer in peers() {
            // Some machines lack two CPUs, or these vectors.
            let may_lack = peer.placement == Cpus::Two || peer.row.contains("simd=");
            let is_there = rows.iter().any(|row| row == peer.row);
            // Benchmarks that are not written yet have no rows.
            let id = row_name::id(peer.row);
            let is_to_come = id.starts_with("net.")
                && !rows.iter().any(|row| row.starts_with(&format!("{id}{{")));
            if is_to_come {
                println!("skipped: this build has no {id}");
                continue;
            }
            assert!(is_there || may_lack, "{}", peer.row);
        }
    }

    #[test]
    fn every_peer_is_whole_and_listed_once() {
        let mut keys = HashSet::new();
        for peer in peers() {
            let key = (peer.row, peer.name);
            assert!(keys.insert(key), "{key:?}");
            let is_own = peer.program() == OWN_PROGRAM;
            let program = if is_own { OWN } else { peer.program() };
            assert!(peer.command.contains(program), "{key:?}");
            assert!(peer.invocations > 0 && !peer.differs.is_empty(), "{key:?}");
        }
    }
}
