//! The list itself: titles, and the rows that provide the numbers.

/// One line of the list: its title and the row that provides its number.
pub(super) struct Wanted {
    pub(super) title: &'static str,
    /// Name of the row; a parameter that a run determines, such as the widest vectors of a machine, is
    /// `*`.
    pub(super) row: &'static str,
    /// A row to use instead in runs without the first, and its title.
    pub(super) stand_in: Option<(&'static str, &'static str)>,
    pub(super) scale: Scale,
    /// Whether the line is left out without a row: not every run has a far end.
    pub(super) is_optional: bool,
}

/// How to convert a row's value to a time.
#[derive(Clone, Copy)]
pub(super) enum Scale {
    /// The value is the time.
    Once,
    /// The value is a time for this many of them: a round trip is two switches.
    Holds(f64),
    /// The value is a rate in B/s: the time for this many bytes.
    Bytes(f64),
}

const MEBIBYTE: f64 = 1_048_576.0;
const TWO_KIBIBYTES: f64 = 2048.0;

const fn wanted(title: &'static str, row: &'static str) -> Wanted {
    Wanted {
        title,
        row,
        stand_in: None,
        scale: Scale::Once,
        is_optional: false,
    }
}

/// The line for runs without a curve from which to read a plateau: a random load within a size.
const fn plateau(
    title: &'static str,
    row: &'static str,
    chase: &'static str,
    within: &'static str,
) -> Wanted {
    Wanted {
        stand_in: Some((chase, within)),
        ..wanted(title, row)
    }
}

/// The time for `bytes` bytes of a row that is a rate.
const fn bytes(title: &'static str, bytes: f64, row: &'static str) -> Wanted {
    Wanted {
        scale: Scale::Bytes(bytes),
        ..wanted(title, row)
    }
}

/// A line that only runs with a far end have.
const fn to_far_end(wanted: Wanted) -> Wanted {
    Wanted {
        is_optional: true,
        ..wanted
    }
}

/// A TCP stream to a process on the same CPU.
const BY_LOOPBACK: &str = "net.tcp.bandwidth{path=loopback,family=ipv4,cpus=same,streams=1,size=64K,direction=send,via=write}";

/// A TCP stream to the far end that a run was given.
const TO_FAR_END: &str =
    "net.tcp.bandwidth{path=remote,family=*,streams=1,size=64K,direction=send,via=write}";

/// The line that is one second on the human scale.
pub(super) const L1: &str = "L1 cache hit";

/// The list, from the cheapest to the dearest on a common machine. Ids without a benchmark are in
/// the catalogue's plan.
pub(super) const LIST: &[Wanted] = &[
    wanted("Addition", "op.integer{op=add,type=i64,shape=latency}"),
    wanted("Function call", "call.integer{arguments=0}"),
    // This size fits every first-level cache.
    plateau(
        L1,
        "memory.cache_latency{level=1}",
        "memory.latency{pages=4K,access=random,size=16K}",
        "Random load within 16 KiB",
    ),
    wanted("Branch mispredicted", "op.branch_miss{branch=conditional}"),
    // Larger than the first-level cache, and within the second-level cache of most processors.
    plateau(
        "L2 cache hit",
        "memory.cache_latency{level=2}",
        "memory.latency{pages=4K,access=random,size=240K}",
        "Random load within 240 KiB",
    ),
    wanted("Atomic addition", "op.atomic{op=fetch_add}"),
    wanted(
        "64-bit division",
        "op.integer{op=divide,type=i64,shape=latency}",
    ),
    wanted("Mutex lock and unlock", "sync.mutex{state=free}"),
    wanted("Clock reading", "timing.clock_read{source=monotonic}"),
    // Larger than most last-level caches, in pages that hardly ever need a page table walk.
    plateau(
        "Main memory reference",
        "memory.cache_latency{level=memory}",
        "memory.latency{pages=2M,access=random,size=128M}",
        "Random load within 128 MiB",
    ),
    wanted("System call", "syscall.null{call=getppid}"),
    wanted(
        "Page fault",
        "memory.page_fault{kind=anonymous_write,state=recycled}",
    ),
    wanted("File opened and closed", "syscall.open_close{of=file}"),
    wanted("Signal caught", "signal.catch{via=tgkill}"),
    Wanted {
        scale: Scale::Holds(2.0),
        ..wanted(
            "Switch between processes",
            "switch.pipe{between=processes,cpus=same}",
        )
    },
    bytes("2 KiB sent over loopback TCP", TWO_KIBIBYTES, BY_LOOPBACK),
    wanted(
        "Round trip over loopback TCP",
        "net.tcp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}",
    ),
    wanted("Thread created and joined", "task.pthread{until=reaped}"),
    bytes(
        "1 MiB read from memory",
        MEBIBYTE,
        "memory.bandwidth{op=read,simd=*,size=512M,threads=1}",
    ),
    bytes(
        "1 MiB sequential read, warm",
        MEBIBYTE,
        "fs.read_bandwidth{dir=*,access=sequential,cache=warm,size=1M}",
    ),
    bytes("1 MiB sent over loopback TCP", MEBIBYTE, BY_LOOPBACK),
    to_far_end(bytes(
        "2 KiB sent to the far end",
        TWO_KIBIBYTES,
        TO_FAR_END,
    )),
    to_far_end(wanted(
        "Round trip to the far end",
        "net.tcp.round_trip{path=remote,family=*,wait=block,size=64}",
    )),
    wanted("Process forked and waited for", "task.fork{until=reaped}"),
    wanted(
        "4 KiB random read, cold",
        "fs.read{dir=*,access=random,cache=cold,size=4K}",
    ),
    to_far_end(bytes("1 MiB sent to the far end", MEBIBYTE, TO_FAR_END)),
    bytes(
        "1 MiB sequential read, cold",
        MEBIBYTE,
        "fs.read_bandwidth{dir=*,access=sequential,cache=cold,size=1M}",
    ),
];
