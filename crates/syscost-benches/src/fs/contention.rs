//! Processes that read the same device at the same time.
//!
//! ## Measures
//! How many reads of 4 KiB all processes make per second together. Each reads at random positions
//! with O_DIRECT, one read after the other, so that the page cache serves none of them and as many
//! reads wait for the device as there are processes. `file=own`: each reads its own file.
//! `file=shared`: all read one file. They are released at a barrier and read until they are
//! stopped; reads are counted over windows of time in which all of them read.
//! ## Does not measure
//! What one process achieves by keeping several reads in flight: `fs.read_uring`. Reads that the
//! page cache serves: `fs.read`.
//! ## Interpretation
//! More processes achieve more until the device is saturated: from then on the rate stays, and each
//! process gets a smaller share. `least_share_percent` and `largest_share_percent` are the shares
//! of the slowest and of the fastest process (100: an equal share), `fairness_ratio` is Jain's
//! index: 1 where all get the same, 1/n where one gets everything. `latency_median_ns` and
//! `latency_p99_ns` are of the reads of all processes. There may be many more processes than CPUs:
//! they sleep while the device works. `guest_cold` says that this is a virtual machine, whose host
//! may serve reads from a cache of its own. `fs.contention_law` has the law that the rates follow.
//! ## Source
//! fio with `--numjobs`; Jain, Chiu, Hawe, A Quantitative Measure of Fairness (1984).

mod readers;

use std::collections::BTreeSet;
use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_sys::files;

use self::readers::{Account, BLOCK, Latency, Readers};
use super::labels;
use super::space::{Space, Stamped, Storage, all_fetched, detail_guest, see_fetched};
use crate::implied::{Implied, Shares};
use crate::witness::files::{DIRECTORY, see_alike};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Parallel random reads, direct I/O",
    tags: "concurrent reads, i/o contention, disk contention, o_direct, iops, numjobs, fairness, \
        fio",
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    setup: Setup::Expensive { seconds: 0.06 },
    roles: roles!(_ => Role::Readers),
    ignores_interference: true,
    ..Benchmark::of::<Contention>()
};

/// Numbers of processes.
const COUNTS: [usize; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 50];

/// Additional numbers of processes, which help to distinguish similar laws.
const CAREFUL: [usize; 5] = [3, 6, 12, 24, 40];

/// Size of a file of one process, and of one for all of them, in bytes.
const OWN_BYTES: u64 = 1 << 19;
const SHARED_BYTES: u64 = 16 << 20;

/// Minimum share of the windows' time in which all processes must be reading.
const MIN_OVERLAP: f64 = 0.999;

/// Minimum share of the bytes read that the device must have delivered; some reads are in flight
/// when it is checked.
const MIN_DELIVERED: f64 = 0.95;
/// The same share for few reads: blocks of half the size would give a half.
const MIN_DELIVERED_OF_FEW: f64 = 0.6;

/// Maximum share of reads at or next to the place of the one before: with random access it is about
/// one in forty.
const MAX_NEAR: f64 = 0.25;

#[derive(Params, Clone)]
pub(super) struct Contention {
    /// The directory's label.
    pub(super) dir: String,
    pub(super) file: Whose,
    /// How many processes read at once.
    pub(super) processes: usize,
}

/// Whether each process reads a file of its own.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Own,
    Shared,
}

impl Measured for Contention {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Contention {
            dir: labels(here),
            file: Whose::ALL,
            processes: COUNTS
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.file, self.processes) {
            (Whose::Own | Whose::Shared, count) if CAREFUL.contains(&count) => Profile::Careful,
            (Whose::Own, 1 | 8) => Profile::Standard,
            (Whose::Own | Whose::Shared, _) => Profile::Full,
        }
    }

    fn proofs(&self) -> ContentionProofs<Proof> {
        let (files, bytes) = match self.file {
            Whose::Shared => (1, SHARED_BYTES),
            Whose::Own => (self.processes, OWN_BYTES),
        };
        ContentionProofs {
            dir: DIRECTORY.expects(&*self.dir),
            file: FILES.expects(files).and(FILE_BYTES.expects(bytes)),
            processes: PROCESSES.expects(self.processes).and(all_fetched()),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        space.has_storage()?;
        let seed = plan.random().u64(..);
        let files: Vec<Stamped> = match self.file {
            Whose::Own => (0..self.processes)
                .map(|number| space.file(&format!("own{number}"), OWN_BYTES, seed ^ number as u64))
                .collect::<Result<_, _>>()?,
            Whose::Shared => vec![space.file("shared", SHARED_BYTES, seed)?],
        };
        let cached = files
            .iter()
            .map(Stamped::open)
            .collect::<Result<Vec<_>, _>>()?;
        cached.iter().try_for_each(files::drop_cache)?;
        let mut readers = Readers::start(&mut plan, self.processes, &files)?;
        let storage = Storage::watch(&cached[0]);
        let mut implied = Implied::default();
        let window = || {
            let (begun, before) = (Instant::now(), readers.windows.all_reads());
            let rate = readers.window()?;
            let reads = readers.windows.all_reads() - before;
            // In a window without reads there are no latencies.
            if reads > 0 {
                implied.note(reads as f64 * 1e9 / rate, begun);
            }
            Ok(rate)
        };
        let mut outcome = match plan.measure(Observed::of(window)) {
            Ok(outcome) => outcome,
            Err(failure) => return Err(readers.explain(failure)),
        };
        let delivered = storage.delivered();
        implied.claim(&mut outcome, Shares::WHOLE);
        let windows = readers.windows.clone();
        let accounts = readers.dismiss()?;
        if windows.all_reads() == 0 {
            return Err(Failure::Failed("no read ended in any window".into()));
        }
        claim_window(&mut outcome, &windows, &accounts);
        see_label(&mut outcome, &accounts);
        claim_reads(&mut outcome, &accounts, storage.has_device());
        let left = cached.iter().map(files::resident_pages);
        let left: u64 = left.sum::<Result<_, _>>()?;
        let what = "pages of the files in the page cache afterwards";
        outcome.claim_equal(what, 0, left, "mincore");
        claim_delivered(&mut outcome, &storage.source(), delivered, &windows);
        describe(&mut outcome, &windows, &accounts);
        detail_guest(&mut outcome);
        Ok(outcome)
    }
}

/// Claims that the device delivered what was read in the windows.
fn claim_delivered(
    b: &mut Bencher,
    source: &str,
    delivered: Result<u64, Unsupported>,
    windows: &Windows,
) {
    let claim = "bytes that the device delivered, of those read in the windows";
    let read = (windows.all_reads() * BLOCK as u64) as f64;
    let in_flight = (windows.reads.len() * BLOCK) as f64 / read.max(1.0);
    let least = (MIN_DELIVERED - in_flight).max(MIN_DELIVERED_OF_FEW);
    let share = delivered.map(|delivered| delivered as f64 / read.max(1.0));
    let open = "before and after the windows it reads as well, and for others";
    b.claim_at_least(claim, least, share, source, open);
}

/// Reads of each process in all windows, and the beginning of the first and the end of the last one,
/// in ticks.
#[derive(Debug, Clone, Default)]
struct Windows {
    began: u64,
    ended: u64,
    reads: Vec<u64>,
}

impl Windows {
    fn all_reads(&self) -> u64 {
        self.reads.iter().sum()
    }

    /// The share of the windows' time in which all of these processes were reading, according to
    /// their own time stamps.
    fn overlap(&self, accounts: &[Account]) -> f64 {
        let own = accounts.iter();
        let (began, ended) = own.fold((self.began, self.ended), |(began, ended), account| {
            (began.max(account.began), ended.min(account.ended))
        });
        let length = self.ended.saturating_sub(self.began).max(1);
        ended.saturating_sub(began) as f64 / length as f64
    }
}

/// Claims that all processes were reading in the windows, by the time stamps that they took
/// themselves, and that none of them counts more reads than it made.
fn claim_window(b: &mut Bencher, windows: &Windows, accounts: &[Account]) {
    b.claim_within(
        "share of the windows in which all processes read",
        Bound::Within(MIN_OVERLAP, 1.0),
        windows.overlap(accounts),
        "clock of each process",
    );
    let pairs = windows.reads.iter().zip(accounts);
    let counted = pairs.filter(|(counted, account)| **counted <= account.reads);
    b.claim_equal(
        "processes with no more reads in the windows than in all",
        accounts.len(),
        counted.count(),
        "each process",
    );
    let idle = windows.reads.iter().filter(|reads| **reads == 0).count();
    let what = "processes without a read in the windows";
    let evidence = Evidence::judged(what, Bound::Exactly(0.0), idle as f64, "each process");
    b.add_evidence(evidence.tolerated(|| Some("the device kept them waiting")));
}

/// How many processes read, and how many files.
static PROCESSES: Witness = Witness::of("different processes that read", "getpid");
static FILES: Witness = Witness::of("different files that they read", FSTAT);

/// How long each of these is: a single process has one file of its own, and one for all, too.
static FILE_BYTES: Witness = Witness::of("bytes of each of these files", FSTAT);

const FSTAT: &str = "fstat of each process";

/// Reports how many processes and files there are, by what each process sees of itself and of its
/// file.
fn see_label(b: &mut Bencher, accounts: &[Account]) {
    let processes: BTreeSet<u32> = accounts.iter().map(|account| account.process).collect();
    let files: BTreeSet<(u64, u64)> = accounts.iter().map(|account| account.file).collect();
    b.observe(&PROCESSES, processes.len());
    b.observe(&FILES, files.len());
    see_alike(b, &FILE_BYTES, accounts.iter().map(|account| account.bytes));
}

/// Claims that every read bypassed the page cache, and was at a random place.
fn claim_reads(b: &mut Bencher, accounts: &[Account], is_on_device: bool) {
    let sum = |of: fn(&Account) -> u64| accounts.iter().map(of).sum::<u64>();
    let direct = accounts.iter().filter(|account| account.is_direct).count();
    let what = "processes whose file the kernel has open with O_DIRECT";
    b.claim_equal(what, accounts.len(), direct, "fcntl F_GETFL");
    let reads = sum(|account| account.reads);
    let fetched: Option<u64> = accounts.iter().map(|account| account.fetched).sum();
    see_fetched(b, fetched, reads * BLOCK as u64, is_on_device);
    let what = "share of reads at the last one's place or next to it";
    let share = sum(|account| account.near) as f64 / reads.max(1) as f64;
    b.claim_within(what, Bound::AtMost(MAX_NEAR), share, "each process");
    let checked = sum(|account| account.checked);
    if checked > 0 {
        let what = format!("reads of other content than was written, of {checked}");
        b.claim_equal(&what, 0, sum(|account| account.wrong), "position stamps");
    }
}

fn describe(b: &mut Bencher, windows: &Windows, accounts: &[Account]) {
    let reads: Vec<f64> = windows.reads.iter().map(|reads| *reads as f64).collect();
    let (all, count) = (reads.iter().sum::<f64>(), reads.len() as f64);
    let squares: f64 = reads.iter().map(|reads| reads * reads).sum();
    if all > 0.0 {
        b.detail("fairness_ratio", all * all / (count * squares));
        let percent = |reads: f64| 100.0 * reads * count / all;
        let least = reads.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = reads.iter().copied().fold(0.0, f64::max);
        b.detail_over(Over::Min, "least_share_percent", percent(least));
        b.detail_over(Over::Max, "largest_share_percent", percent(largest));
    }
    let mut latency = Latency::default();
    accounts
        .iter()
        .for_each(|account| latency.add(&account.latency));
    for (name, share) in [("latency_median_ns", 0.5), ("latency_p99_ns", 0.99)] {
        if let Some(ns) = latency.quantile(share) {
            b.detail(name, ns);
        }
    }
}

#[cfg(test)]
mod tests;
