//! One operation on a file of a mounted NFS export that requires a request to its server.
//!
//! ## Measures
//! The kernel's NFS client, bypassing its caches, in a directory of `--dir` that is on an NFS mount.
//! `op=getattr`: statx(2) with AT_STATX_FORCE_SYNC, which requests the file's
//! attributes from the server (GETATTR). `op=read`: pread(2) of this many bytes
//! (`size`) with O_DIRECT, which requests them (READ): once, or as often as `rsize` of the mount
//! makes necessary. The blocks of a file of 1 MiB are read one after another, cyclically. The value
//! is the median of batches; each operation is also timed individually.
//! ## Does not measure
//! What the client's caches save: `fs.read` and `fs.metadata` in the same directory. The server's
//! disk: what has just been written is in its memory.
//! ## Interpretation
//! The same calls without the kernel's client, from a program, are `fs.nfs{op=getattr}` and
//! `fs.nfs{op=read}`, if the server is given by `--nfs` as well. The evidence names the version of
//! NFS, the server and the negotiated options, and counts the calls: /proc/self/mountstats has them for
//! all programs that use the mount. A call that was sent twice (`retransmits_count`) waited for a
//! late server.
//! ## Source
//! nfsstat(8), mountstats(8).

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, StatxFlags, statx};
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Buffer, Filesystem, NfsMount, OperationCounts, mount_option};

use super::nfs::{self, SIZES};
use super::space::{ALIGNMENT, Space, Stamped, claim_flag};
use super::{filesystem, labels};
use crate::witness::files::{DIRECTORY, MOVED};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "NFS mount operation",
    tags: "network file system, nfs client, getattr, nfsstat",
    ignores_interference: true,
    ..Benchmark::of::<FsNfsMount>()
};

/// The operation on a file.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Getattr,
    Read,
}

impl Op {
    /// The name of its request in the protocol.
    const fn in_protocol(self) -> &'static str {
        match self {
            Self::Getattr => "GETATTR",
            Self::Read => "READ",
        }
    }
}

#[derive(Params, Clone)]
struct FsNfsMount {
    /// The directory's label.
    dir: String,
    op: Op,
    /// Bytes of a read.
    size: Option<Bytes>,
}

impl Measured for FsNfsMount {
    const DEPENDS_ON_MACHINE: bool = true;

    /// The rows in those directories that are on NFS; if there are none, those in the first
    /// directory, so that the benchmark is listed with the reason.
    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let mut mounted: Vec<String> = labels(here)
            .filter(|dir| is_mounted(here, dir).is_ok())
            .collect();
        if mounted.is_empty() {
            mounted.extend(labels(here).next());
        }
        let sizes = |op| match op {
            Op::Getattr => vec![None],
            Op::Read => SIZES.map(Some).to_vec(),
        };
        rows!(FsNfsMount {
            dir: mounted,
            op: Op::ALL,
            size: sizes(op)
        })
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        is_mounted(here, &self.dir)
    }

    fn proofs(&self) -> FsNfsMountProofs<Proof> {
        let length = |size: Bytes| {
            let given = ArgumentValue::Always(size.0);
            let length = Proof::argument(Sysno::PREAD64, Argument::at(2, "length"), given);
            MOVED.expects(size.0).and(length)
        };
        FsNfsMountProofs {
            dir: DIRECTORY.expects(&*self.dir),
            op: Proof::counted([match self.op {
                Op::Getattr => together(Sysno::STATX, 1.0),
                Op::Read => together(Sysno::PREAD64, 1.0),
            }]),
            size: self.size.map(length).unwrap_or_default(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        let (op, bytes) = (self.op, self.size.map_or(0, Bytes::get));
        let (seed, is_whole, clock) = (plan.random().u64(..), !plan.is_timed(), *plan.clock());
        let written = space.file("nfs", FILE_BYTES, seed)?;
        let mount = NfsMount::at(&space.filesystem().mount_point)?;
        let most = mount_option(&mount.options, "rsize").and_then(|text| text.parse().ok());
        let calls = requests(bytes, most.unwrap_or(FILE_BYTES as usize));
        // It sleeps until the reply arrives; the kernel threads that handle it may take its CPU as
        // well.
        plan.expect(at_most(Counter::Switches, 4.3 * calls as f64));
        if op == Op::Read {
            plan.expect(at_most(Counter::MinorFaults, 0.01));
        }
        let (mut outcome, caller) = plan
            .measure(Together::of(Placement::SAME, |_| {
                let laps = Laps::new(clock);
                let caller = Caller::open((op, bytes), &space, (&written, seed), is_whole, laps)?;
                Ok(Team::new(Vec::new(), caller))
            }))?
            .split();
        claim_mount(&mut outcome, space.filesystem(), &mount);
        caller.claim(&mut outcome, calls)?;
        Ok(outcome)
    }
}

/// The number of calls that take this many bytes, if the server returns at most `most` in each.
fn requests(bytes: usize, most: usize) -> u64 {
    bytes.div_ceil(most.max(1)).max(1) as u64
}

fn is_mounted(here: &Testbed, label: &str) -> Result<(), Unsupported> {
    match filesystem(here, label) {
        Some(found) if found.is_nfs() => Ok(()),
        Some(other) => Err(Unsupported::new(format!(
            "dir={label} is not on an NFS mount (it is on {}): mount an export and give it as --dir",
            other.kind
        ))),
        None => Err(Unsupported::new(
            "no directory on an NFS mount was given: --dir",
        )),
    }
}

const MOUNTSTATS: &str = "/proc/self/mountstats";

/// Size of the file, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// Options that are negotiated when a file system is mounted.
const AGREED: [&str; 4] = ["vers", "proto", "sec", "rsize"];

/// Maximum share of additional calls that other programs may have made.
const MAX_OTHERS: f64 = 0.05;

/// Claims what is mounted, from where and how, according to both of the kernel's lists.
fn claim_mount(b: &mut Bencher, filesystem: &Filesystem, mount: &NfsMount) {
    let what = format!("server of the mount ({})", mount.server());
    b.claim_equal(&what, &*filesystem.source, &*mount.source, MOUNTSTATS);
    let of = |options: &str| {
        let known = AGREED.iter().filter_map(|key| {
            let value = mount_option(options, key)?;
            Some(format!("{key}={value}"))
        });
        known.collect::<Vec<_>>().join(",")
    };
    let what = format!("options of NFS {}", mount.version());
    let (expected, observed) = (of(&filesystem.options), of(&mount.options));
    b.claim_equal(&what, expected, observed, MOUNTSTATS);
}

/// The measuring side.
struct Caller<'s> {
    op: Op,
    file: File,
    seed: u64,
    buffer: Buffer,
    is_whole: bool,
    offset: u64,
    laps: Laps,
    filesystem: &'s Filesystem,
    before: OperationCounts,
    after: OperationCounts,
    iterations: u64,
    /// Reads whose content was compared.
    checked: u64,
    /// Pages of the file in the page cache at the end.
    cached: u64,
}

impl<'s> Caller<'s> {
    fn open(
        (op, bytes): (Op, usize),
        space: &'s Space,
        (written, seed): (&Stamped, u64),
        is_whole: bool,
        laps: Laps,
    ) -> Result<Self, Failure> {
        files::drop_cache(&written.open()?)?;
        let mut caller = Self {
            op,
            // NFS does not report an alignment (statx), and requires none.
            file: written.open_direct()?,
            seed,
            buffer: Buffer::new(bytes, ALIGNMENT),
            is_whole,
            offset: 0,
            laps,
            filesystem: space.filesystem(),
            before: OperationCounts::default(),
            after: OperationCounts::default(),
            iterations: 0,
            checked: 0,
            cached: 0,
        };
        caller.before = caller.counted()?;
        Ok(caller)
    }

    fn counted(&self) -> Result<OperationCounts, Failure> {
        let mount = NfsMount::at(&self.filesystem.mount_point)?;
        Ok(mount.operation(self.op.in_protocol()))
    }

    #[inline(always)]
    fn iterate(&mut self) -> Result<(), Failure> {
        self.iterations += 1;
        match self.op {
            Op::Getattr => {
                let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
                let facts =
                    statx(&self.file, c"", flags, StatxFlags::BASIC_STATS).tried("statx")?;
                if facts.stx_size != FILE_BYTES {
                    let found = facts.stx_size;
                    let what = format!("statx reports {found} bytes, not {FILE_BYTES}");
                    return Err(Failure::Refuted(what));
                }
            }
            Op::Read => {
                let (offset, bytes) = (self.offset, self.buffer.len());
                self.file
                    .read_exact_at(&mut self.buffer, offset)
                    .tried("pread")?;
                nfs::check(&self.buffer, offset, self.seed, self.is_whole)?;
                self.checked += 1;
                self.offset = (offset + bytes as u64) % FILE_BYTES;
            }
        }
        Ok(())
    }

    /// Claims that the server received as many requests as operations were made.
    fn claim(&self, b: &mut Bencher, calls: u64) -> Result<(), Failure> {
        let counted = self.after - self.before;
        let made = counted.calls;
        let expected = self.iterations * calls;
        let asked = format!(
            "{} operations that the server was asked for",
            self.op.in_protocol()
        );
        let by_others =
            (expected as f64..=(1.0 + MAX_OTHERS) * expected as f64).contains(&(made as f64));
        let reason = "other programs use the mount as well";
        let holds = Verdict::of(made == expected);
        let evidence = Evidence::new(asked, expected as f64, made as f64, MOUNTSTATS, holds);
        b.add_evidence(evidence.tolerated(|| by_others.then_some(reason)));
        if self.op == Op::Read {
            let received = counted.received_bytes;
            let least = (self.iterations * self.buffer.len() as u64) as f64;
            let what = "bytes received for them";
            let received = Ok::<_, String>(received as f64);
            let open = "other programs use the mount as well";
            b.claim_at_least(what, least, received, MOUNTSTATS, open);
            let what = match self.is_whole {
                true => "reads whose every byte is as written",
                false => "reads whose ends are as written",
            };
            let source = "position stamps";
            b.claim_equal(what, self.iterations as f64, self.checked as f64, source);
            b.observe(&MOVED, self.buffer.len());
            claim_flag(b, &self.file)?;
            let what = "pages of the file in the page cache afterwards";
            b.claim_equal(what, 0.0, self.cached as f64, "mincore");
        }
        let retransmits = counted.transmissions.saturating_sub(made);
        b.detail("retransmits_count", retransmits as f64);
        Ok(())
    }
}

impl Driver for Caller<'_> {
    const MAX_ITERATIONS: u64 = Laps::MAX_ITERATIONS;

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.laps.begin();
        for _ in 0..iterations {
            self.iterate()?;
            self.laps.note();
        }
        Ok(())
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        Some(&mut self.laps)
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.after = self.counted()?;
        self.cached = files::resident_pages(&self.file)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_as_many_calls_as_the_mount_makes_necessary() {
        assert_eq!(requests(4096, 131_072), 1);
        assert_eq!(requests(1 << 20, 131_072), 8);
        assert_eq!(requests((1 << 20) + 1, 1 << 20), 2);
        assert_eq!(requests(0, 131_072), 1, "attributes");
    }
}
