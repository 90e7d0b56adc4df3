//! The lines of the summary, and the rows that provide their numbers.

use super::{Aside, Wanted};
use crate::Role;
use crate::details::SWITCH;

/// The blocks, each with its title, the contents of its additional column, and its lines.
pub(super) const BLOCKS: &[(&str, Aside, &[Wanted])] = &[
    ("Kernel", Aside::P99, KERNEL),
    ("Scheduling and IPC", Aside::P99, SCHEDULING),
    ("Memory hierarchy", Aside::Cycles, MEMORY),
    ("CPU", Aside::Cycles, CPU),
    ("Network and files", Aside::P99, NETWORK_AND_FILES),
];

const fn line(title: &'static str, role: Role) -> Wanted {
    Wanted {
        title,
        role,
        instead: None,
        part: None,
        is_of_overview: false,
    }
}

/// A line that is one of the dozen that say what a machine is.
const fn essential(wanted: Wanted) -> Wanted {
    Wanted {
        is_of_overview: true,
        ..wanted
    }
}

/// The line for runs without a curve from which to read a plateau: pointer chasing over a size,
/// without claiming which cache holds it.
const fn plateau(title: &'static str, role: Role, size: &'static str) -> Wanted {
    Wanted {
        instead: Some(size),
        ..line(title, role)
    }
}

const KERNEL: &[Wanted] = &[
    line("Clock reading", Role::ClockReading),
    essential(line("Null system call", Role::SystemCall)),
    line("Signal, caught", Role::Signal),
    essential(line("Minor page fault", Role::PageFault)),
    essential(line("fork, exec, exit, wait", Role::Exec)),
    essential(line("Thread, created and joined", Role::Thread)),
];

const SCHEDULING: &[Wanted] = &[
    essential(Wanted {
        part: Some((SWITCH, "each context switch")),
        ..line("Pipe ping-pong, 2 switches", Role::PingPong)
    }),
    line("Pipe ping-pong, two CPUs", Role::PingPongAcross),
    line("Wakeup latency, idle CPU", Role::Wakeup),
    line("Unix socket round trip, 64 B", Role::SocketRoundTrip),
    line("Pipe bandwidth, 64 KiB", Role::PipeBandwidth),
];

const MEMORY: &[Wanted] = &[
    essential(plateau(
        "L1 load-to-use latency",
        Role::L1Latency,
        "Load-to-use latency, 16 KiB",
    )),
    essential(plateau(
        "L2 load-to-use latency",
        Role::L2Latency,
        "Load-to-use latency, 240 KiB",
    )),
    essential(plateau(
        "L3 load-to-use latency",
        Role::L3Latency,
        "Load-to-use latency, 6 MiB",
    )),
    essential(plateau(
        "Memory latency",
        Role::MemoryLatency,
        "Load-to-use latency, 128 MiB",
    )),
    line("One load per page, 4096 pages", Role::LoadPerPage),
    line("Core-to-core", Role::CoreToCore),
    essential(line("Memory read bandwidth", Role::ReadBandwidth)),
];

const CPU: &[Wanted] = &[
    line("Function call", Role::FunctionCall),
    line("64-bit division", Role::Division),
    line("Branch misprediction", Role::BranchMiss),
    line("Atomic fetch-and-add", Role::AtomicAddition),
];

const NETWORK_AND_FILES: &[Wanted] = &[
    essential(line(
        "TCP round trip, loopback, 64 B",
        Role::LoopbackRoundTrip,
    )),
    line("Random read, 4 KiB, cold", Role::ColdRead),
    essential(line("fsync, 4 KiB", Role::Fsync)),
];
