//! The lines of the summary, and the rows that provide their numbers.

use super::{Aside, Wanted};

/// The blocks, each with its title, the contents of its additional column, and its lines.
pub(super) const BLOCKS: &[(&str, Aside, &[Wanted])] = &[
    ("Kernel", Aside::P99, KERNEL),
    ("Scheduling and IPC", Aside::P99, SCHEDULING),
    ("Memory hierarchy", Aside::Cycles, MEMORY),
    ("CPU", Aside::Cycles, CPU),
    ("Network and files", Aside::P99, NETWORK_AND_FILES),
];

const fn line(title: &'static str, row: &'static str) -> Wanted {
    Wanted {
        title,
        row,
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
const fn plateau(
    title: &'static str,
    row: &'static str,
    chase: &'static str,
    size: &'static str,
) -> Wanted {
    Wanted {
        instead: Some((chase, size)),
        ..line(title, row)
    }
}

const KERNEL: &[Wanted] = &[
    line("Clock reading", "timing.clock_read{source=monotonic}"),
    essential(line("Null system call", "syscall.null{call=getppid}")),
    line("Signal, caught", "signal.catch{via=tgkill}"),
    essential(line(
        "Minor page fault",
        "memory.page_fault{kind=anonymous_write,state=recycled}",
    )),
    essential(line("fork, exec, exit, wait", "task.exec{via=fork}")),
    essential(line(
        "Thread, created and joined",
        "task.pthread{until=reaped}",
    )),
];

const SCHEDULING: &[Wanted] = &[
    essential(Wanted {
        part: Some(("switch_ns", "each context switch")),
        ..line(
            "Pipe ping-pong, 2 switches",
            "switch.pipe{between=processes,cpus=same}",
        )
    }),
    line(
        "Pipe ping-pong, two CPUs",
        "switch.pipe{between=processes,cpus=same_cache}",
    ),
    line(
        "Wakeup latency, idle CPU",
        "switch.wakeup{via=futex,class=normal,cpu=idle,cpus=same_cache}",
    ),
    line(
        "Unix socket round trip, 64 B",
        "ipc.round_trip{via=unix_stream,between=processes,cpus=same,size=64}",
    ),
    line(
        "Pipe bandwidth, 64 KiB",
        "ipc.bandwidth{via=pipe,between=processes,cpus=same,size=64K}",
    ),
];

const MEMORY: &[Wanted] = &[
    essential(plateau(
        "L1 load-to-use latency",
        "memory.cache_latency{level=1}",
        "memory.latency{pages=4K,access=random,size=16K}",
        "Load-to-use latency, 16 KiB",
    )),
    essential(plateau(
        "L2 load-to-use latency",
        "memory.cache_latency{level=2}",
        "memory.latency{pages=4K,access=random,size=240K}",
        "Load-to-use latency, 240 KiB",
    )),
    essential(plateau(
        "L3 load-to-use latency",
        "memory.cache_latency{level=3}",
        "memory.latency{pages=2M,access=random,size=6M}",
        "Load-to-use latency, 6 MiB",
    )),
    essential(plateau(
        "Memory latency",
        "memory.cache_latency{level=memory}",
        "memory.latency{pages=2M,access=random,size=128M}",
        "Load-to-use latency, 128 MiB",
    )),
    line(
        "One load per page, 4096 pages",
        "memory.tlb{pages=4K,count=4096}",
    ),
    line(
        "Core-to-core",
        "memory.core_to_core{via=exchange,from=*,to=*}",
    ),
    essential(line(
        "Memory read bandwidth",
        "memory.bandwidth{op=read,simd=*,size=512M,threads=1}",
    )),
];

const CPU: &[Wanted] = &[
    line("Function call", "call.integer{arguments=0}"),
    line(
        "64-bit division",
        "op.integer{op=divide,type=i64,shape=latency}",
    ),
    line("Branch misprediction", "op.branch_miss{branch=conditional}"),
    line("Atomic fetch-and-add", "op.atomic{op=fetch_add}"),
];

const NETWORK_AND_FILES: &[Wanted] = &[
    essential(line(
        "TCP round trip, loopback, 64 B",
        "net.tcp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}",
    )),
    line(
        "Random read, 4 KiB, cold",
        "fs.read{dir=*,access=random,cache=cold,size=4K}",
    ),
    essential(line("fsync, 4 KiB", "fs.sync{dir=*,via=fsync,size=4K}")),
];
