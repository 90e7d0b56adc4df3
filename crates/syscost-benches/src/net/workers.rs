//! Shared: tasks that send or receive until they are stopped, and what each has moved so far.

use std::ops::{Deref, Range};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use syscost_harness::prelude::*;
pub(crate) use syscost_net::service::IsOver;
use syscost_net::service::{Account, ServiceError};
use syscost_sys::counters::TaskStat;

use crate::witness::messages::Moved;

/// Minimum and maximum length of a window in which what is moved is counted: several time slices of tasks
/// that share a CPU, and some datagrams at a moderate rate.
pub(super) const MIN_WINDOW: Duration = Duration::from_millis(5);
pub(super) const MAX_WINDOW: Duration = Duration::from_millis(25);

/// When a worker ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// When a stop is requested.
    Stopped,
    /// After this many messages.
    Messages(u64),
    /// When the other end ends.
    OtherEnd,
}

/// Zero-copy sends, how many of them the kernel has completed, and how many it copied after all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ZeroCopies {
    pub(super) sends: u64,
    pub(super) completed: u64,
    pub(super) copied: u64,
}

/// The final account of a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    account: Account,
    pub(super) zero_copies: ZeroCopies,
}

impl From<Account> for Tally {
    fn from(account: Account) -> Self {
        Self::of(account, ZeroCopies::default())
    }
}

impl Deref for Tally {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.account
    }
}

impl Tally {
    pub(super) fn of(account: Account, zero_copies: ZeroCopies) -> Self {
        Self {
            account,
            zero_copies,
        }
    }

    pub(super) fn moved(&self) -> Moved {
        Moved {
            messages: self.messages,
            bytes: self.bytes,
            sum: Some(self.checksum),
        }
    }

    /// The sum of all these; the order of datagrams is that of the only receiver.
    pub(super) fn sum(all: &[Tally]) -> Tally {
        all.iter().fold(Tally::default(), |mut sum, one| {
            sum.account.add(one.account);
            sum.zero_copies.sends += one.zero_copies.sends;
            sum.zero_copies.completed += one.zero_copies.completed;
            sum.zero_copies.copied += one.zero_copies.copied;
            sum
        })
    }
}

/// What a worker has moved so far. On separate cache lines, since it is written all the time.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Meter {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Meter {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(super) fn messages(&self) -> u64 {
        self.messages.load(Relaxed)
    }

    #[inline]
    fn note(&self, account: &Account) {
        // Only its worker writes it.
        self.messages.store(account.messages, Relaxed);
        self.bytes.store(account.bytes, Relaxed);
    }
}

/// Processes at work, each on an end of a connection.
pub(super) struct Workers {
    workers: TaskGroup<Tally>,
    live: Vec<Live>,
}

struct Live {
    meter: Shared<Meter>,
    stat: TaskStat,
}

impl Workers {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self {
            workers: TaskGroup::new(Between::Processes)?,
            live: Vec::new(),
        })
    }

    /// A meter for a worker yet to be added.
    pub(super) fn meter() -> Result<Shared<Meter>, Failure> {
        Ok(Shared::new(Meter::default())?)
    }

    /// Starts a worker on these CPUs, at this end. `work` asks after each message whether it is
    /// over.
    pub(super) fn add<S: Send + 'static>(
        &mut self,
        cpus: &[u32],
        until: Until,
        meter: Shared<Meter>,
        end: S,
        work: impl FnOnce(&mut S, IsOver<'_>) -> Result<Tally, ServiceError> + Send + 'static,
    ) -> Result<(), Failure> {
        let live = meter.clone();
        let serve = move |end: &mut S, stop: &Stop| {
            let mut is_over = |account: &Account| {
                live.note(account);
                match until {
                    Until::Stopped => stop.is_set(),
                    Until::Messages(messages) => account.messages >= messages,
                    Until::OtherEnd => false,
                }
            };
            work(end, &mut is_over).map_err(Failure::from)
        };
        self.workers.add(cpus, move || Ok(end), serve)?;
        let task = self.workers.tasks().last().expect("one was added");
        self.live.push(Live {
            meter,
            stat: TaskStat::of(task)?,
        });
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.live.len()
    }

    /// Fails if a worker has failed or ended.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.workers.stop().check()
    }

    /// Bytes that each of these has moved so far.
    pub(super) fn bytes(&self, which: Range<usize>) -> impl Iterator<Item = u64> {
        self.live[which].iter().map(|live| live.meter.bytes())
    }

    /// Messages that these have moved so far, all together.
    pub(super) fn messages(&self, which: Range<usize>) -> u64 {
        let of = |live: &Live| live.meter.messages();
        self.live[which].iter().map(of).sum()
    }

    /// CPU time that these have used so far, all together, in ns; `None` where the kernel does not
    /// report it.
    pub(super) fn cpu_ns(&self, which: Range<usize>) -> Option<u64> {
        let of = |live: &Live| live.stat.read().ok()?.run_ns;
        self.live[which].iter().map(of).sum()
    }

    pub(super) fn tasks(&self, which: Range<usize>) -> Vec<TaskId> {
        self.workers
            .tasks()
            .skip(which.start)
            .take(which.len())
            .collect()
    }

    /// Stops all workers, waits until each has ended, and returns their tallies in the order in
    /// which they were added.
    pub(super) fn dismiss(self) -> Result<Vec<Tally>, Failure> {
        self.workers.dismiss()
    }
}

/// Another handle to the same socket.
pub(super) fn again<S: AsFd + From<OwnedFd>>(socket: &S) -> Result<S, Failure> {
    let copy = socket.as_fd().try_clone_to_owned();
    copy.map(S::from).tried("duplicate a socket")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts until it is over.
    fn count(step: &mut u64, is_over: IsOver<'_>) -> Result<Tally, ServiceError> {
        let mut account = Account::default();
        loop {
            account.messages += 1;
            account.bytes += *step;
            if is_over(&account) {
                return Ok(account.into());
            }
        }
    }

    #[test]
    fn what_workers_move_is_seen_meanwhile_and_in_the_end() {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        let mut workers = Workers::new().unwrap();
        for step in [3, 5] {
            let meter = Workers::meter().unwrap();
            let added = workers.add(&cpus, Until::Stopped, meter, step, count);
            added.unwrap();
        }
        while workers.bytes(0..2).any(|bytes| bytes == 0) {
            std::thread::yield_now();
        }
        assert_eq!((workers.count(), workers.check()), (2, Ok(())));
        assert!(workers.messages(0..1) > 0);
        let seen: Vec<u64> = workers.bytes(0..2).collect();
        let tallies = workers.dismiss().unwrap();
        assert!(tallies[0].bytes >= seen[0] && tallies[1].bytes >= seen[1]);
        let all = Tally::sum(&tallies);
        assert_eq!(all.bytes, 3 * tallies[0].messages + 5 * tallies[1].messages);
    }

    #[test]
    fn a_worker_may_end_by_itself() {
        let cpus = syscost_sys::cpu::allowed().unwrap();
        let mut workers = Workers::new().unwrap();
        let meter = Workers::meter().unwrap();
        let added = workers.add(&cpus, Until::Messages(7), meter.clone(), 2, count);
        added.unwrap();
        let tallies = workers.dismiss().unwrap();
        assert_eq!((tallies[0].messages, tallies[0].bytes), (7, 14));
        assert_eq!((meter.messages(), meter.bytes()), (7, 14));
    }
}
