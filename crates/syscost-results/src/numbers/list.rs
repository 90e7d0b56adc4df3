//! The list itself: titles, and the rows that provide the numbers.

use super::{ANY, RowPattern};

/// One line of the list: its title and the row that provides its number.
pub(super) struct Wanted {
    pub(super) title: &'static str,
    pub(super) id: &'static str,
    /// The case's required parameters.
    pub(super) case: &'static [(&'static str, &'static str)],
    /// A row to use instead in runs without the first, and its title.
    pub(super) stand_in: Option<(RowPattern, &'static str)>,
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

const fn wanted(
    title: &'static str,
    id: &'static str,
    case: &'static [(&'static str, &'static str)],
) -> Wanted {
    Wanted {
        title,
        id,
        case,
        stand_in: None,
        scale: Scale::Once,
        is_optional: false,
    }
}

const fn mebibyte(
    title: &'static str,
    id: &'static str,
    case: &'static [(&'static str, &'static str)],
) -> Wanted {
    Wanted {
        scale: Scale::Bytes(MEBIBYTE),
        ..wanted(title, id, case)
    }
}

/// The time for `bytes` bytes of a TCP stream to a process on the same CPU.
const fn by_loopback(title: &'static str, bytes: f64) -> Wanted {
    Wanted {
        scale: Scale::Bytes(bytes),
        ..wanted(
            title,
            "net.tcp.bandwidth",
            &[
                ("path", "loopback"),
                ("family", "ipv4"),
                ("cpus", "same"),
                ("streams", "1"),
                ("size", "64K"),
                ("direction", "send"),
                ("via", "write"),
            ],
        )
    }
}

/// The time for `bytes` bytes of a TCP stream to the far end that a run was given.
const fn to_far_end(title: &'static str, bytes: f64) -> Wanted {
    Wanted {
        scale: Scale::Bytes(bytes),
        is_optional: true,
        ..wanted(
            title,
            "net.tcp.bandwidth",
            &[
                ("path", "remote"),
                ("family", ANY),
                ("streams", "1"),
                ("size", "64K"),
                ("direction", "send"),
                ("via", "write"),
            ],
        )
    }
}

/// The line that is one second on the human scale.
pub(super) const L1: &str = "L1 cache hit";

/// The list, from the cheapest to the dearest on a common machine. Ids without a benchmark are in
/// the catalogue's plan.
pub(super) const LIST: &[Wanted] = &[
    wanted(
        "Addition",
        "op.integer",
        &[("op", "add"), ("type", "i64"), ("shape", "latency")],
    ),
    wanted("Function call", "call.integer", &[("arguments", "0")]),
    Wanted {
        // A short run has no curve from which to read a plateau, but this size fits every
        // first-level cache.
        stand_in: Some((
            (
                "memory.latency",
                &[("pages", "4K"), ("access", "random"), ("size", "16K")],
            ),
            "Random load within 16 KiB",
        )),
        ..wanted(L1, "memory.cache_latency", &[("level", "1")])
    },
    wanted(
        "Branch mispredicted",
        "op.branch_miss",
        &[("branch", "conditional")],
    ),
    Wanted {
        // Larger than the first-level cache, and within the second-level cache of most processors.
        stand_in: Some((
            (
                "memory.latency",
                &[("pages", "4K"), ("access", "random"), ("size", "240K")],
            ),
            "Random load within 240 KiB",
        )),
        ..wanted("L2 cache hit", "memory.cache_latency", &[("level", "2")])
    },
    wanted("Atomic addition", "op.atomic", &[("op", "fetch_add")]),
    wanted(
        "64-bit division",
        "op.integer",
        &[("op", "divide"), ("type", "i64"), ("shape", "latency")],
    ),
    wanted("Mutex lock and unlock", "sync.mutex", &[("state", "free")]),
    wanted(
        "Clock reading",
        "timing.clock_read",
        &[("source", "monotonic")],
    ),
    Wanted {
        // Larger than most last-level caches, in pages that hardly ever need a page table walk.
        stand_in: Some((
            (
                "memory.latency",
                &[("pages", "2M"), ("access", "random"), ("size", "128M")],
            ),
            "Random load within 128 MiB",
        )),
        ..wanted(
            "Main memory reference",
            "memory.cache_latency",
            &[("level", "memory")],
        )
    },
    wanted("System call", "syscall.null", &[("call", "getppid")]),
    wanted(
        "Page fault",
        "memory.page_fault",
        &[("kind", "anonymous_write"), ("state", "recycled")],
    ),
    wanted(
        "File opened and closed",
        "syscall.open_close",
        &[("of", "file")],
    ),
    wanted("Signal caught", "signal.catch", &[("via", "tgkill")]),
    Wanted {
        scale: Scale::Holds(2.0),
        ..wanted(
            "Switch between processes",
            "switch.pipe",
            &[("between", "processes"), ("cpus", "same")],
        )
    },
    by_loopback("2 KiB sent over loopback TCP", TWO_KIBIBYTES),
    wanted(
        "Round trip over loopback TCP",
        "net.tcp.round_trip",
        &[
            ("path", "loopback"),
            ("family", "ipv4"),
            ("cpus", "same"),
            ("wait", "block"),
            ("size", "64"),
        ],
    ),
    wanted(
        "Thread created and joined",
        "task.pthread",
        &[("until", "reaped")],
    ),
    mebibyte(
        "1 MiB read from memory",
        "memory.bandwidth",
        &[
            ("op", "read"),
            ("simd", ANY),
            ("size", "512M"),
            ("threads", "1"),
        ],
    ),
    mebibyte(
        "1 MiB sequential read, warm",
        "fs.read_bandwidth",
        &[
            ("dir", ANY),
            ("access", "sequential"),
            ("cache", "warm"),
            ("size", "1M"),
        ],
    ),
    by_loopback("1 MiB sent over loopback TCP", MEBIBYTE),
    to_far_end("2 KiB sent to the far end", TWO_KIBIBYTES),
    Wanted {
        is_optional: true,
        ..wanted(
            "Round trip to the far end",
            "net.tcp.round_trip",
            &[
                ("path", "remote"),
                ("family", ANY),
                ("wait", "block"),
                ("size", "64"),
            ],
        )
    },
    wanted(
        "Process forked and waited for",
        "task.fork",
        &[("until", "reaped")],
    ),
    wanted(
        "4 KiB random read, cold",
        "fs.read",
        &[
            ("dir", ANY),
            ("access", "random"),
            ("cache", "cold"),
            ("size", "4K"),
        ],
    ),
    to_far_end("1 MiB sent to the far end", MEBIBYTE),
    mebibyte(
        "1 MiB sequential read, cold",
        "fs.read_bandwidth",
        &[
            ("dir", ANY),
            ("access", "sequential"),
            ("cache", "cold"),
            ("size", "1M"),
        ],
    ),
];
