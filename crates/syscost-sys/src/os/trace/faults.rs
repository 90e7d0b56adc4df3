//! Faults by kind: the records of all CPUs in one order.

use std::fs;
use std::sync::mpsc::Receiver;

use rustix::event::PollFlags;
use rustix::time::{ClockId, clock_gettime};

use super::mappings::Mappings;
use super::records::{Record, kind, parse, rings_of};
use crate::Unsupported;
use crate::os::ring::Ring;
use crate::trace::Faults;

/// How old a record is when no older one is expected any more, in ns: no CPU takes as long to write one.
const SETTLED_NS: u64 = 100_000_000;

/// A mapping that a task has moved, of which perf says nothing.
#[derive(Debug)]
pub(super) struct Moved {
    at_ns: u64,
    record: Record,
}

impl Moved {
    /// A task has left mremap; it is stopped, so that it has not used the new place.
    pub(super) fn now(process: u32, from: u64, to: u64, length: u64) -> Moved {
        Moved {
            at_ns: now_ns(),
            record: Record::Moved {
                process,
                from,
                to,
                length,
            },
        }
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    1_000_000_000 * now.tv_sec as u64 + now.tv_nsec as u64
}

/// Collects a program's records until it ends.
pub(super) struct Collector {
    rings: Vec<Ring>,
    /// Whether each ring may still be written to.
    are_open: Vec<bool>,
    moves: Receiver<Moved>,
    /// Those that are not settled, with their times.
    recent: Vec<(u64, Record)>,
    mappings: Mappings,
}

impl Collector {
    /// Of a child that is to execute a program.
    pub(super) fn of_child(
        child: u32,
        cpus: &[u32],
        moves: Receiver<Moved>,
    ) -> Result<Collector, Unsupported> {
        Ok(Self::of(rings_of(&[child], cpus, true)?, moves))
    }

    /// Of all threads of a process, and what they start from now on; or without the processes they start.
    pub(super) fn of_running(
        process: u32,
        cpus: &[u32],
        follows_children: bool,
        moves: Receiver<Moved>,
    ) -> Result<Collector, Unsupported> {
        let entries = fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten()
            .flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let tasks: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
        let mut collector = Self::of(rings_of(&tasks, cpus, false)?, moves);
        collector.mappings.only = (!follows_children).then_some(process);
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let others = tasks.iter().skip(1).map(|_| Record::Started {
            process,
            by: process,
        });
        let mapped = maps.lines().filter_map(|line| mapped(process, line));
        // Before all records.
        mapped
            .chain(others)
            .for_each(|record| collector.mappings.take(&record));
        Ok(collector)
    }

    fn of(rings: Vec<Ring>, moves: Receiver<Moved>) -> Collector {
        Collector {
            are_open: vec![true; rings.len()],
            rings,
            moves,
            recent: Vec::new(),
            mappings: Mappings::default(),
        }
    }

    /// What becomes readable when there is much to collect.
    pub(super) fn full(&self) -> impl Iterator<Item = &Ring> {
        let rings = self.rings.iter().zip(&self.are_open);
        rings.filter(|(_, is_open)| **is_open).map(|(ring, _)| ring)
    }

    /// Of what [`full`](Self::full) gave: leaves out those that nobody can write to any more.
    pub(super) fn forget_closed(&mut self, happened: &[PollFlags]) {
        let open = self.are_open.iter_mut().filter(|is_open| **is_open);
        for (is_open, happened) in open.zip(happened) {
            *is_open = !happened.intersects(PollFlags::HUP | PollFlags::ERR);
        }
    }

    /// Takes what there is, and settles what is old enough.
    pub(super) fn collect(&mut self) {
        let settled = now_ns().saturating_sub(SETTLED_NS);
        self.collect_until(settled);
    }

    fn collect_until(&mut self, settled_ns: u64) {
        let recent = &mut self.recent;
        for ring in &mut self.rings {
            ring.take(|bytes| recent.extend(parse(bytes)));
        }
        recent.extend(
            self.moves
                .try_iter()
                .map(|moved| (moved.at_ns, moved.record)),
        );
        recent.sort_by_key(|(time, _)| *time);
        let settled = recent.partition_point(|(time, _)| *time < settled_ns);
        for (_, record) in recent.drain(..settled) {
            self.mappings.take(&record);
        }
    }

    /// All faults, after the last one.
    pub(super) fn finish(mut self) -> Faults {
        self.collect_until(u64::MAX);
        self.mappings.faults
    }
}

/// A line of /proc/PID/maps: `start-end rw-p offset device inode name`.
fn mapped(process: u32, line: &str) -> Option<Record> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let access = words.next()?;
    let name = words.nth(3).unwrap_or_default();
    let has = |letter, flag| if access.contains(letter) { flag } else { 0 };
    let address = |digits| u64::from_str_radix(digits, 16).ok();
    Some(Record::Mapped {
        process,
        start: address(start)?,
        end: address(end)?,
        kind: kind(
            name.as_bytes(),
            has('w', libc::PROT_WRITE),
            has('s', libc::MAP_SHARED),
        ),
    })
}
