//! What tells a mechanism from others, and which rows it has: each mechanism's file says so of its own.

use syscost_harness::prelude::*;

/// A mechanism, beside what it does.
#[derive(Debug)]
pub(crate) struct Mechanism {
    /// What its descriptors refer to, in the words of
    /// [`kind_of`](crate::witness::descriptors::kind_of).
    pub(in crate::ipc) descriptors: &'static str,
    /// The calls of an operation in both tasks.
    pub(in crate::ipc) calls: fn(&Operation) -> Vec<Expect>,
    /// The call that sends a message, if its third argument is the message's length.
    pub(in crate::ipc) sends_by: Option<Sysno>,
    /// How often a side may wait for each part of a message.
    pub(in crate::ipc) waits: f64,
    /// Whether a waiting task gives up the CPU.
    pub(in crate::ipc) sleeps: bool,
    /// The setting of the kernel that limits the size of a message, if there is one.
    pub(super) limit: Option<&'static str>,
    pub(in crate::ipc) round_trips: Rows,
    pub(in crate::ipc) bandwidths: Rows,
}

/// What both tasks do in an operation.
#[derive(Debug, Clone, Copy)]
pub(in crate::ipc) struct Operation {
    /// Messages, whoever sends them.
    pub(in crate::ipc) messages: f64,
    /// Maximum number of parts into which each may be split.
    pub(in crate::ipc) parts: f64,
    /// How often they fall asleep at least.
    pub(in crate::ipc) sleeps: f64,
}

impl Operation {
    /// One of each of these calls for a message.
    pub(super) fn each(&self, calls: [Sysno; 2]) -> Vec<Expect> {
        calls.map(|call| together(call, self.messages)).to_vec()
    }
}

impl Mechanism {
    /// One without descriptors, whose messages no call sends, and which has no rows.
    pub(super) const PLAIN: Self = Self {
        descriptors: "nothing",
        calls: |_| Vec::new(),
        sends_by: None,
        waits: 1.0,
        sleeps: true,
        limit: None,
        round_trips: Rows::ROUND_TRIPS,
        bandwidths: Rows::BANDWIDTHS,
    };

    /// A queue of the kernel that allows messages up to this setting.
    pub(super) const fn queue(limit: &'static str) -> Self {
        // What queues carry without privilege.
        const SIZES: &[Bytes] = &[LINE, Bytes::kib(1), Bytes::kib(4), Bytes::kib(16)];
        Self {
            limit: Some(limit),
            round_trips: Rows {
                same: SIZES,
                other: &[LINE],
                ..Rows::ROUND_TRIPS
            },
            bandwidths: Rows {
                same: SIZES,
                usual: Bytes::kib(16),
                ..Rows::BANDWIDTHS
            },
            ..Self::PLAIN
        }
    }

    /// One that carries a word of 64 bits.
    pub(super) const fn word() -> Self {
        const WORD: Bytes = Bytes(8);
        Self {
            round_trips: Rows {
                same: &[WORD],
                other: &[WORD],
                usual: WORD,
                ..Rows::ROUND_TRIPS
            },
            ..Self::PLAIN
        }
    }

    /// This one with few rows, as it differs little from another.
    pub(super) const fn similar(self) -> Self {
        Self {
            round_trips: Rows {
                same: &[LINE, LARGE],
                other: &[LINE],
                profile: Profile::Full,
                ..Rows::ROUND_TRIPS
            },
            bandwidths: Rows {
                same: &[LARGE],
                profile: Profile::Full,
                ..Rows::BANDWIDTHS
            },
            ..self
        }
    }
}

/// The sizes of messages that are measured, by where the two tasks are, and which of them people look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    /// Between processes on the same CPU.
    pub(in crate::ipc) same: &'static [Bytes],
    /// Between processes on it and on the nearest other one.
    pub(in crate::ipc) other: &'static [Bytes],
    /// Between processes on CPUs further away.
    pub(in crate::ipc) far: &'static [Bytes],
    /// Between processes that the scheduler places.
    pub(in crate::ipc) free: &'static [Bytes],
    /// Between threads on the same CPU.
    pub(in crate::ipc) threads: &'static [Bytes],
    /// The size that people look at.
    pub(in crate::ipc) usual: Bytes,
    /// The shortest profile that measures it, between processes where people look first.
    pub(in crate::ipc) profile: Profile,
    /// Whether people look at it on two CPUs as well.
    pub(in crate::ipc) is_read_apart: bool,
}

impl Rows {
    /// No rows, and the usual sizes of each: 64 bytes there and back.
    pub(super) const ROUND_TRIPS: Rows = Rows {
        same: &[],
        other: &[],
        far: &[],
        free: &[],
        threads: &[],
        usual: LINE,
        profile: Profile::Standard,
        is_read_apart: false,
    };

    /// No rows, and as usual 64 KiB in one direction.
    pub(super) const BANDWIDTHS: Rows = Rows {
        usual: LARGE,
        is_read_apart: true,
        ..Rows::ROUND_TRIPS
    };

    pub(super) const ALL_ROUND_TRIPS: Rows = Rows {
        same: ALL,
        other: SOME,
        far: &[LINE],
        free: &[LINE],
        threads: &[LINE],
        ..Rows::ROUND_TRIPS
    };

    pub(super) const LONG_BANDWIDTHS: Rows = Rows {
        same: &[
            LINE,
            Bytes::kib(1),
            Bytes::kib(4),
            Bytes::kib(16),
            LARGE,
            Bytes::mib(1),
        ],
        other: &[LINE, Bytes::kib(4), LARGE, Bytes::mib(1)],
        ..Rows::BANDWIDTHS
    };

    /// The sizes by where the tasks are, of these placements, the nearest first.
    pub(in crate::ipc) fn by_place(
        &self,
        placements: &[Placement],
    ) -> Vec<(Between, Placement, &'static [Bytes])> {
        let pinned: Vec<Placement> = placements
            .iter()
            .copied()
            .filter(|placement| *placement != Placement::Free)
            .collect();
        let processes = pinned.iter().enumerate().map(|(distance, placement)| {
            let sizes = match distance {
                0 => self.same,
                1 => self.other,
                _ => self.far,
            };
            (Between::Processes, *placement, sizes)
        });
        let free = placements.contains(&Placement::Free);
        let free = free.then_some((Between::Processes, Placement::Free, self.free));
        let threads = pinned
            .first()
            .map(|same| (Between::Threads, *same, self.threads));
        processes.chain(free).chain(threads).collect()
    }

    /// The shortest profile that measures this row; `is_first` says whether people look at its tasks first.
    pub(in crate::ipc) fn profile_of(
        &self,
        size: Bytes,
        between: Between,
        cpus: Placement,
        is_first: bool,
    ) -> Profile {
        let is_pinned = between == Between::Processes && cpus != Placement::Free;
        let is_read =
            is_pinned && size == self.usual && (cpus == Placement::SAME || self.is_read_apart);
        match (is_read, self.profile) {
            (false, _) => Profile::Full,
            (true, Profile::Quick) if !is_first => Profile::Standard,
            (true, profile) => profile,
        }
    }
}

/// A line of most caches.
pub(super) const LINE: Bytes = Bytes(64);
pub(super) const LARGE: Bytes = Bytes::kib(64);

pub(super) const SOME: &[Bytes] = &[LINE, Bytes::kib(4), Bytes::kib(16), LARGE];
pub(super) const ALL: &[Bytes] = &[
    Bytes(1),
    LINE,
    Bytes::kib(1),
    Bytes::kib(4),
    Bytes::kib(16),
    LARGE,
];
