//! The list itself: titles, and the rows that provide the numbers.

use crate::Role;

/// One line of the list: its title and what the row that provides its number stands for.
pub(super) struct Wanted {
    pub(super) title: &'static str,
    pub(super) role: Role,
    /// Its title where the role's stand-in provides it.
    pub(super) stand_in: Option<&'static str>,
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

/// Bytes of which lines give a time.
const MEBIBYTE: f64 = 1_048_576.0;
const TWO_KIBIBYTES: f64 = 2048.0;

const fn wanted(title: &'static str, role: Role) -> Wanted {
    Wanted {
        title,
        role,
        stand_in: None,
        scale: Scale::Once,
        is_optional: false,
    }
}

/// The line for runs without a curve from which to read a plateau: a random load within a size.
const fn plateau(title: &'static str, role: Role, within: &'static str) -> Wanted {
    Wanted {
        stand_in: Some(within),
        ..wanted(title, role)
    }
}

/// The time for `bytes` bytes of a row that is a rate.
const fn bytes(title: &'static str, bytes: f64, role: Role) -> Wanted {
    Wanted {
        scale: Scale::Bytes(bytes),
        ..wanted(title, role)
    }
}

/// A line that only runs with a far end have.
const fn to_far_end(wanted: Wanted) -> Wanted {
    Wanted {
        is_optional: true,
        ..wanted
    }
}

/// The line that is one second on the human scale.
pub(super) const L1: &str = "L1 cache hit";

/// The list, from the cheapest to the dearest on a common machine.
pub(super) const LIST: &[Wanted] = &[
    wanted("Addition", Role::Addition),
    wanted("Function call", Role::FunctionCall),
    plateau(L1, Role::L1Latency, "Random load within 16 KiB"),
    wanted("Branch mispredicted", Role::BranchMiss),
    plateau(
        "L2 cache hit",
        Role::L2Latency,
        "Random load within 240 KiB",
    ),
    wanted("Atomic addition", Role::AtomicAddition),
    wanted("64-bit division", Role::Division),
    wanted("Mutex lock and unlock", Role::FreeMutex),
    wanted("Clock reading", Role::ClockReading),
    plateau(
        "Main memory reference",
        Role::MemoryLatency,
        "Random load within 128 MiB",
    ),
    wanted("System call", Role::SystemCall),
    wanted("Page fault", Role::PageFault),
    wanted("File opened and closed", Role::OpenClose),
    wanted("Signal caught", Role::Signal),
    Wanted {
        scale: Scale::Holds(2.0),
        ..wanted("Switch between processes", Role::PingPong)
    },
    bytes(
        "2 KiB sent over loopback TCP",
        TWO_KIBIBYTES,
        Role::LoopbackStream,
    ),
    wanted("Round trip over loopback TCP", Role::LoopbackRoundTrip),
    wanted("Thread created and joined", Role::Thread),
    bytes("1 MiB read from memory", MEBIBYTE, Role::ReadBandwidth),
    bytes("1 MiB sequential read, warm", MEBIBYTE, Role::WarmScan),
    bytes(
        "1 MiB sent over loopback TCP",
        MEBIBYTE,
        Role::LoopbackStream,
    ),
    to_far_end(bytes(
        "2 KiB sent to the far end",
        TWO_KIBIBYTES,
        Role::FarEndStream,
    )),
    to_far_end(wanted("Round trip to the far end", Role::FarEndRoundTrip)),
    wanted("Process forked and waited for", Role::Fork),
    wanted("4 KiB random read, cold", Role::ColdRead),
    to_far_end(bytes(
        "1 MiB sent to the far end",
        MEBIBYTE,
        Role::FarEndStream,
    )),
    bytes("1 MiB sequential read, cold", MEBIBYTE, Role::ColdScan),
];
