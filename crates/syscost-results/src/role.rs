//! What rows stand for when a report tells of the machine as a whole: a report asks for these
//! instead of knowing benchmarks, which declare their own.

use syscost_params::Value;

use crate::{Measurement, Run, Status, directory, row_name};

/// What a row stands for. A run may have several rows of a role where the machine or the user
/// decides which there are: directories, pairs of CPUs, sets of vector instructions.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reading the monotonic clock.
    ClockReading,
    /// Dependent additions of 64 bits.
    Addition,
    /// Dependent divisions of 64 bits.
    Division,
    /// An atomic addition.
    AtomicAddition,
    /// A call of a function without arguments.
    FunctionCall,
    /// A mispredicted conditional branch.
    BranchMiss,
    /// A mutex that nobody else wants.
    FreeMutex,

    /// The cheapest system call.
    SystemCall,
    /// A file that is opened and closed.
    OpenClose,
    /// A signal that a thread sends itself and catches.
    Signal,
    /// The first write to a page of anonymous memory.
    PageFault,
    /// A process that is forked and ends.
    Fork,
    /// A process that is forked, executes another program and ends.
    Exec,
    /// A thread that is created and joined.
    Thread,

    /// Two processes on one CPU that wake each other through pipes.
    PingPong,
    /// The same on two CPUs of one last-level cache.
    PingPongAcross,
    /// A sleeper that is woken on an idle CPU.
    Wakeup,
    /// A message of 64 B through a Unix socket and back.
    SocketRoundTrip,
    /// A pipe that messages of 64 KiB go through.
    PipeBandwidth,

    /// Any point of the latency by the amount of memory, in whatever order it is visited.
    Load,
    /// A point of that curve in random order.
    RandomLoad,
    /// Random order within 16 KiB, which every first-level cache holds.
    LoadIn16K,
    /// Random order within 240 KiB: larger than the first-level cache, and within the second-level
    /// cache of most processors.
    LoadIn240K,
    /// Random order within 6 MiB in huge pages: beyond the second cache, and within the last of
    /// most processors.
    LoadIn6M,
    /// Random order within 128 MiB: larger than most last-level caches, in pages that hardly ever
    /// need a page table walk.
    LoadIn128M,
    /// One load from each of 4096 pages.
    LoadPerPage,
    /// A cache line that two CPUs hand to each other.
    CoreToCore,
    /// What one thread reads from memory, with the widest vectors that a row has.
    ReadBandwidth,

    /// The size that was found of the nearest cache.
    L1Size,
    /// That of the second.
    L2Size,
    /// That of the third.
    L3Size,
    /// That of the fourth.
    L4Size,
    /// The latency of the nearest cache.
    L1Latency,
    /// That of the second.
    L2Latency,
    /// That of the third.
    L3Latency,
    /// That of the fourth.
    L4Latency,
    /// That of memory, where it was found by the same curve.
    MemoryLatency,
    /// The most that one thread moves in the nearest cache.
    L1Bandwidth,
    /// In the second.
    L2Bandwidth,
    /// In the third.
    L3Bandwidth,
    /// In memory.
    MemoryBandwidth,
    /// The memory that the nearest TLB covers.
    L1TlbReach,
    /// That of the second.
    L2TlbReach,
    /// What a miss of the nearest TLB costs.
    L1TlbMiss,
    /// Of the second.
    L2TlbMiss,

    /// A message of 64 B over loopback TCP and back, on one CPU.
    LoopbackRoundTrip,
    /// One TCP stream by loopback, on one CPU.
    LoopbackStream,
    /// A message of 64 B to the far end and back.
    FarEndRoundTrip,
    /// One TCP stream to the far end.
    FarEndStream,

    /// A random read of 4 KiB that the page cache does not hold.
    ColdRead,
    /// A sequential read of 1 MiB from the page cache.
    WarmScan,
    /// A sequential read of 1 MiB from the device.
    ColdScan,
    /// The fsync of 4 KiB.
    Fsync,
    /// The page cache's size, with the rates at which files are re-read as details.
    PageCache,
    /// Concurrent readers of the files of one directory.
    Readers,
    /// The law fitted to the rates of such readers.
    ReadersLaw,
    /// An operation of the NFS server that the run was given.
    NfsServer,

    /// What other programs and the host take of a CPU.
    Noise,
    /// What others take of the core that a CPU belongs to.
    SharedCore,
    /// The frequency that the host grants a core.
    CoreFrequency,
}

impl Role {
    /// What others take and what the host grants in an hour: no property of machine or program, so
    /// never compared. The facts of the runs report them
    /// ([`Comparison::facts`](crate::compare::Comparison::facts)).
    pub const OF_THE_HOUR: [Role; 3] = [Role::Noise, Role::SharedCore, Role::CoreFrequency];

    /// The sizes of the caches, the nearest first.
    pub const SIZES: [Role; 4] = [Role::L1Size, Role::L2Size, Role::L3Size, Role::L4Size];

    /// What is asked for in runs without this: a plateau is read from a curve, and short runs only
    /// measure one point of it.
    pub fn stand_in(self) -> Option<Role> {
        match self {
            Role::L1Latency => Some(Role::LoadIn16K),
            Role::L2Latency => Some(Role::LoadIn240K),
            Role::L3Latency => Some(Role::LoadIn6M),
            Role::MemoryLatency => Some(Role::LoadIn128M),
            _ => None,
        }
    }
}

/// The row of a run that tells this, and what it stands for: the role or its stand-in. A row that
/// was refuted or failed takes precedence over a stand-in.
pub(crate) fn find(run: &Run, role: Role) -> Option<(&Measurement, Role)> {
    let rows = |role: Role| run.measurements.iter().filter(move |row| row.is(role));
    let first = first_of(rows(role));
    if first.is_some_and(is_final) {
        return first.map(|row| (row, role));
    }
    let is_tried = |row: &Measurement| row.status != Status::Skipped;
    let other = role
        .stand_in()
        .and_then(|other| Some((first_of(rows(other))?, other)));
    let other = other.filter(|(row, _)| is_tried(row) || !first.is_some_and(is_tried));
    other.or(first.map(|row| (row, role)))
}

/// Whether no other row may replace this one: it has a number, or it was refuted or failed.
fn is_final(row: &Measurement) -> bool {
    matches!(row.status, Status::Ok | Status::Withheld | Status::Failed)
}

/// Of the rows that stand for the same, in the run's order, the one to show.
///
/// For directories and pairs of CPUs, which titles name, it is the first row with a number. For
/// others (the widest vectors come first) it is the first that is final: otherwise a narrower one
/// would silently replace one that was refuted.
fn first_of<'r>(rows: impl Iterator<Item = &'r Measurement> + Clone) -> Option<&'r Measurement> {
    let find = |is_wanted: fn(&Measurement) -> bool| rows.clone().find(|row| is_wanted(row));
    find(|row| row.status == Status::Ok && is_in_title(row))
        .or_else(|| find(is_final))
        .or_else(|| find(|row| row.status != Status::Skipped))
        .or_else(|| find(|_| true))
}

/// Whether the title says which of several rows it is.
fn is_in_title(row: &Measurement) -> bool {
    let mut parameters = row_name::parameters(&row.name);
    parameters.any(|(key, _)| [directory::KEY, "from"].contains(&key))
}

/// The titles of a line, each with what its row stands for then.
pub(crate) fn titles(
    role: Role,
    title: &'static str,
    instead: Option<&'static str>,
) -> impl Iterator<Item = (Role, &'static str)> {
    std::iter::once((role, title)).chain(role.stand_in().zip(instead))
}
