//! Peers of tasks, switches, messages and locks.

use super::read::{
    cyclictest, hackbench_bandwidth, hackbench_message, perf_bench, perf_messaging, stress_ng,
    sysbench_mutex,
};
use super::{CYCLICTEST_WITHOUT_SLACK, Cpus, Peer};

/// The peers, in the order of their rows.
pub(super) const TASKS: &[Peer] = &[
    Peer {
        row: "task.fork{until=reaped}",
        name: "stress-ng --fork",
        command: "stress-ng --fork 1 --fork-ops 1000 --metrics",
        placement: Cpus::One,
        invocations: 4,
        read: stress_ng,
        differs: "One bogo operation is one fork, _exit and wait, and five short calls for process groups beside. stress-ng is a \
                  larger process (some 2.5 MB resident, with shared libraries): fork copies more page tables, and parent \
                  and child take some 64 page faults for each. So its figure is the dearer one.",
        options: &[],
    },
    Peer {
        row: "switch.pipe{between=processes,cpus=same}",
        name: "perf bench sched pipe",
        command: "perf bench sched pipe --loop 50000",
        placement: Cpus::One,
        invocations: 7,
        read: perf_bench,
        differs: PERF_PIPE,
        options: &[],
    },
    Peer {
        row: "switch.pipe{between=processes,cpus=free}",
        name: "perf bench sched pipe",
        command: "perf bench sched pipe --loop 10000",
        placement: Cpus::Two,
        invocations: 3,
        read: perf_bench,
        differs: "perf counts round trips and passes 4 bytes each way. Where the tasks run is the kernel's choice, which \
                  may differ between the two and from run to run.",
        options: &[],
    },
    Peer {
        row: "switch.pipe{between=threads,cpus=same}",
        name: "perf bench sched pipe --threaded",
        command: "perf bench sched pipe --threaded --loop 50000",
        placement: Cpus::One,
        invocations: 7,
        read: perf_bench,
        differs: PERF_PIPE,
        options: &[],
    },
    Peer {
        row: "switch.messaging{via=pipe,between=processes,groups=1}",
        name: "hackbench -p",
        command: "hackbench -g 1 -l 1000 -s 100 -p",
        placement: Cpus::All,
        invocations: 3,
        read: hackbench_message,
        differs: HACKBENCH_MESSAGES,
        options: &[],
    },
    Peer {
        row: "switch.messaging{via=pipe,between=processes,groups=1}",
        name: "perf bench sched messaging --pipe",
        command: "perf bench sched messaging --pipe --group 1 --nr_loops 1000",
        placement: Cpus::All,
        invocations: 3,
        read: perf_messaging::<1000>,
        differs: "The same work; perf's time has the end of its 40 tasks in it and reaps them, which are copies of a larger \
                  process: some 12 ms of 250.",
        options: &[],
    },
    Peer {
        row: "switch.messaging{via=pipe,between=threads,groups=1}",
        name: "hackbench -p -T",
        command: "hackbench -g 1 -l 1000 -s 100 -p -T",
        placement: Cpus::All,
        invocations: 3,
        read: hackbench_message,
        differs: HACKBENCH_MESSAGES,
        options: &[],
    },
    Peer {
        row: "switch.messaging{via=socket,between=processes,groups=1}",
        name: "hackbench",
        command: "hackbench -g 1 -l 1000 -s 100",
        placement: Cpus::All,
        invocations: 3,
        read: hackbench_message,
        differs: HACKBENCH_MESSAGES,
        options: &[],
    },
    Peer {
        row: "switch.messaging{via=socket,between=threads,groups=1}",
        name: "hackbench -T",
        command: "hackbench -g 1 -l 1000 -s 100 -T",
        placement: Cpus::All,
        invocations: 3,
        read: hackbench_message,
        differs: HACKBENCH_MESSAGES,
        options: &[],
    },
    Peer {
        row: "switch.wakeup{via=timer,class=normal,cpu=idle}",
        name: "cyclictest --policy other, slack 1 ns",
        command: CYCLICTEST_WITHOUT_SLACK,
        placement: Cpus::One,
        invocations: 1,
        read: cyclictest,
        differs: "cyclictest wakes up every millisecond, at points in time; its figure is the median of the overshoots. Both \
                  have a timer slack of 1 ns, cyclictest from the shell that starts it. It needs the privilege to set a \
                  real-time class, even to run without one.",
        options: &[],
    },
    Peer {
        row: "ipc.bandwidth{via=pipe,between=processes,cpus=same,size=4K}",
        name: "hackbench -p for one pair",
        command: "hackbench -g 1 -f 1 -s 4096 -l 150000 -p",
        placement: Cpus::One,
        invocations: 3,
        read: hackbench_bandwidth,
        differs: HACKBENCH_BANDWIDTH,
        options: &[],
    },
    Peer {
        row: "ipc.bandwidth{via=pipe,between=processes,cpus=same,size=64K}",
        name: "hackbench -p for one pair",
        command: "hackbench -g 1 -f 1 -s 65536 -l 20000 -p",
        placement: Cpus::One,
        invocations: 3,
        read: hackbench_bandwidth,
        differs: HACKBENCH_BANDWIDTH,
        options: &[],
    },
    Peer {
        row: "ipc.bandwidth{via=unix_stream,between=processes,cpus=same,size=4K}",
        name: "hackbench for one pair",
        command: "hackbench -g 1 -f 1 -s 4096 -l 100000",
        placement: Cpus::One,
        invocations: 3,
        read: hackbench_bandwidth,
        differs: HACKBENCH_BANDWIDTH,
        options: &[],
    },
    Peer {
        row: "ipc.bandwidth{via=unix_stream,between=processes,cpus=same,size=64K}",
        name: "hackbench for one pair",
        command: "hackbench -g 1 -f 1 -s 65536 -l 25000",
        placement: Cpus::One,
        invocations: 3,
        read: hackbench_bandwidth,
        differs: HACKBENCH_BANDWIDTH,
        options: &[],
    },
    Peer {
        row: "sync.mutex{state=free}",
        name: "sysbench mutex",
        command: "sysbench mutex --threads=1 --mutex-num=1 --mutex-locks=5000000 --mutex-loops=0 run",
        placement: Cpus::One,
        invocations: 7,
        read: sysbench_mutex::<5_000_000>,
        differs: "Per lock and unlock of a pthread mutex sysbench also draws a random number and adds one to a counter, a few \
                  nanoseconds of its figure. It has two threads, so the C library takes no short cut for programs of \
                  one.",
        options: &[],
    },
];

const PERF_PIPE: &str = "One of perf's operations is a round trip, two switches (the kernel counts 2.00), with 4 bytes each \
     way. perf's time has the start and the end of the partner in it: one in 50,000 round trips. perf's figure is the \
     median over 7 processes of means, ours that over 6 processes of medians of batches.";

const HACKBENCH_MESSAGES: &str = "Both have 20 senders and 20 receivers, and every sender sends 100 bytes to each receiver in \
     turn. hackbench's time has the end of its 40 tasks in it: 2 to 3 ms of 250.";

const HACKBENCH_BANDWIDTH: &str = "hackbench with one sender and one receiver: it sends messages of this size and receives each \
     whole, and looks at no byte. Its pipe holds 64 KiB, its socket pair what the system gives. Its time has the end of \
     both tasks in it: less than 1 ms of 150.";
