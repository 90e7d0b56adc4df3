//! What lies where in each process, by the kernel's records in the order of their times.

use std::collections::{BTreeMap, HashMap};

use super::records::Record;
use crate::trace::{FaultKind, Faults};

/// What a process has mapped: where each piece begins, where it ends, and what it is. What was unmapped stays
/// until something else lies there: nothing can fault there meanwhile.
#[derive(Clone, Default)]
struct Space {
    pieces: BTreeMap<u64, (u64, FaultKind)>,
    /// Tasks that live in it.
    tasks: u64,
}

impl Space {
    fn map(&mut self, start: u64, end: u64, kind: FaultKind) {
        let overlapped = self.pieces.range(..end).rev();
        let overlapped = overlapped.take_while(|(_, (until, _))| *until > start);
        let overlapped: Vec<_> = overlapped.map(|(from, piece)| (*from, *piece)).collect();
        for (from, (until, old)) in overlapped {
            self.pieces.remove(&from);
            if from < start {
                self.pieces.insert(from, (start, old));
            }
            if until > end {
                self.pieces.insert(end, (until, old));
            }
        }
        self.pieces.insert(start, (end, kind));
    }

    fn at(&self, address: u64) -> Option<FaultKind> {
        let (_, (end, kind)) = self.pieces.range(..=address).next_back()?;
        (*end > address).then_some(*kind)
    }
}

/// What lies where, and the faults that happened there.
#[derive(Default)]
pub(super) struct Mappings {
    spaces: HashMap<u32, Space>,
    /// The process whose faults alone count, if not all do.
    pub(super) only: Option<u32>,
    pub(super) faults: Faults,
}

impl Mappings {
    pub(super) fn take(&mut self, record: &Record) {
        match *record {
            Record::Fault { process, .. } if self.only.is_some_and(|only| only != process) => {}
            Record::Fault { process, address } => {
                let space = self.spaces.get(&process);
                let kind = space.and_then(|space| space.at(address));
                let kind = kind.unwrap_or(FaultKind::Other);
                *self.faults.by_kind.entry(kind).or_default() += 1;
            }
            Record::Mapped {
                process,
                start,
                end,
                kind,
            } => {
                self.space(process).map(start, end, kind);
            }
            Record::Moved {
                process,
                from,
                to,
                length,
            } => {
                let space = self.space(process);
                if let Some(kind) = space.at(from) {
                    space.map(to, to.saturating_add(length), kind);
                }
            }
            Record::Started { process, by } if process == by => self.space(process).tasks += 1,
            Record::Started { process, by } => {
                let copied = self.spaces.get(&by).cloned().unwrap_or_default();
                self.spaces.insert(process, Space { tasks: 1, ..copied });
            }
            Record::Executed { process } => self.space(process).pieces.clear(),
            Record::Ended { process } => {
                let space = self.space(process);
                space.tasks = space.tasks.saturating_sub(1);
                if space.tasks == 0 {
                    self.spaces.remove(&process);
                }
            }
            Record::Lost(records) => self.faults.lost += records,
        }
    }

    fn space(&mut self, process: u32) -> &mut Space {
        let one_task = || Space {
            tasks: 1,
            ..Space::default()
        };
        self.spaces.entry(process).or_insert_with(one_task)
    }
}
