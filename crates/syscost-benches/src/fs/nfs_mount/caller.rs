//! Operations one after another, and what the kernel counted meanwhile.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, StatxFlags, statx};
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Buffer, Filesystem, NfsMount, Operation, mount_option, stamp};

use super::{GETATTR, OP, READ, SIZE};
use crate::fs::space::{ALIGNMENT, Space, Stamped, claim_flag};
use crate::net::setting::positive;

const MOUNTSTATS: &str = "/proc/self/mountstats";

/// Size of the file, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// Options that are negotiated when a file system is mounted.
const AGREED: [&str; 4] = ["vers", "proto", "sec", "rsize"];

/// Maximum share of additional calls that other programs may have made.
const MAX_OTHERS: f64 = 0.05;

/// The request that an operation sends to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Getattr,
    Read { bytes: usize },
}

impl Op {
    fn of(case: &Case) -> Result<Self, Failure> {
        match case.get(OP) {
            GETATTR => Ok(Op::Getattr),
            READ => Ok(Op::Read {
                bytes: positive(case, SIZE)?,
            }),
            _ => Err(case.unknown(OP)),
        }
    }

    /// Its name in the protocol.
    const fn name(self) -> &'static str {
        match self {
            Op::Getattr => "GETATTR",
            Op::Read { .. } => "READ",
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Op::Getattr => 0,
            Op::Read { bytes } => bytes,
        }
    }

    /// The number of calls that it takes if the server returns at most this many bytes in each.
    fn calls(self, read_bytes: usize) -> u64 {
        self.bytes().div_ceil(read_bytes.max(1)).max(1) as u64
    }
}

pub(super) fn measure(b: &mut Bencher) -> Result<(), Failure> {
    let op = Op::of(b.case())?;
    let space = Space::of(b)?;
    let (seed, is_whole, clock) = (b.random().u64(..), !b.is_timed(), *b.clock());
    let written = space.file("nfs", FILE_BYTES, seed)?;
    let mount = NfsMount::at(&space.filesystem().mount_point)?;
    let read_bytes = mount_option(&mount.options, "rsize").and_then(|text| text.parse().ok());
    let calls = op.calls(read_bytes.unwrap_or(FILE_BYTES as usize));
    expect(b, op, calls);
    let caller = b.together(Placement::SAME, |_| {
        let caller = Caller::open(op, &space, &written, is_whole, Laps::new(clock))?;
        Ok(Team::new(Vec::new(), caller))
    })?;
    claim_mount(b, space.filesystem(), &mount);
    caller.claim(b, calls)
}

fn expect(b: &mut Bencher, op: Op, calls: u64) {
    let length = Argument {
        position: 2,
        name: "length",
    };
    match op {
        Op::Getattr => b.expect(together(Sysno::STATX, 1.0)),
        Op::Read { .. } => {
            b.expect(together(Sysno::PREAD64, 1.0));
            // The size in the row's name, not the one derived from it.
            let named = b.case().number(SIZE);
            b.expect_argument(Sysno::PREAD64, length, Given::Always(named));
        }
    }
    // A lap reads the clock, which is a system call on some machines.
    b.expect(at_most(Counter::Syscall(Sysno::CLOCK_GETTIME), 1.05));
    // It sleeps until the reply arrives; the kernel threads that handle it may take its CPU as well.
    b.expect(at_most(Counter::Switches, 4.3 * calls as f64));
    if let Op::Read { .. } = op {
        b.expect(at_most(Counter::MinorFaults, 0.01));
    }
}

/// Claims what is mounted, from where and how, according to both of the kernel's lists.
fn claim_mount(b: &mut Bencher, filesystem: &Filesystem, mount: &NfsMount) {
    let what = format!("server of the mount ({})", mount.server());
    b.claim_equal(
        &what,
        filesystem.source.clone(),
        mount.source.clone(),
        MOUNTSTATS,
    );
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
    written: &'s Stamped,
    buffer: Buffer,
    is_whole: bool,
    offset: u64,
    laps: Laps,
    filesystem: &'s Filesystem,
    before: Operation,
    after: Operation,
    turns: u64,
    /// Reads whose content was compared.
    checked: u64,
    /// Pages of the file in the page cache at the end.
    cached: u64,
}

impl<'s> Caller<'s> {
    fn open(
        op: Op,
        space: &'s Space,
        written: &'s Stamped,
        is_whole: bool,
        laps: Laps,
    ) -> Result<Self, Failure> {
        files::drop_cache(&written.open()?)?;
        let mut caller = Self {
            op,
            // NFS does not report an alignment (statx), and requires none.
            file: written.open_direct()?,
            written,
            buffer: Buffer::new(op.bytes(), ALIGNMENT),
            is_whole,
            offset: 0,
            laps,
            filesystem: space.filesystem(),
            before: Operation::default(),
            after: Operation::default(),
            turns: 0,
            checked: 0,
            cached: 0,
        };
        caller.before = caller.counted()?;
        Ok(caller)
    }

    /// The kernel's counts of this operation so far.
    fn counted(&self) -> Result<Operation, Failure> {
        let mount = NfsMount::at(&self.filesystem.mount_point)?;
        Ok(mount.operation(self.op.name()))
    }

    #[inline(always)]
    fn turn(&mut self) -> Result<(), Failure> {
        self.turns += 1;
        match self.op {
            Op::Getattr => {
                let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
                let facts = statx(&self.file, c"", flags, StatxFlags::BASIC_STATS)
                    .map_err(|errno| Failure::of("statx", errno))?;
                match facts.stx_size == FILE_BYTES {
                    true => Ok(()),
                    false => Err(Failure::Refuted(format!(
                        "statx reports {} bytes, not {FILE_BYTES}",
                        facts.stx_size
                    ))),
                }
            }
            Op::Read { bytes } => {
                let offset = self.offset;
                self.file
                    .read_exact_at(&mut self.buffer, offset)
                    .map_err(|cause| Failure::of("pread", cause))?;
                let ends = match self.is_whole {
                    true => bytes,
                    false => stamp::BYTES,
                };
                self.written.check(&self.buffer[..ends], offset)?;
                let last = bytes - ends;
                self.written
                    .check(&self.buffer[last..], offset + last as u64)?;
                self.checked += 1;
                self.offset = (offset + bytes as u64) % FILE_BYTES;
                Ok(())
            }
        }
    }

    /// Claims that the server received as many requests as operations were made.
    fn claim(&self, b: &mut Bencher, calls: u64) -> Result<(), Failure> {
        let counted = self.after.since(self.before);
        let made = counted.calls;
        let expected = self.turns * calls;
        let what = format!(
            "{} operations that the server was asked for",
            self.op.name()
        );
        let others = (1.0 + MAX_OTHERS) * expected as f64;
        match made > expected && made as f64 <= others {
            true => b.claim_unverified(
                &what,
                expected as f64,
                made as f64,
                MOUNTSTATS,
                "other programs use the mount as well",
            ),
            false => b.claim_equal(&what, expected as f64, made as f64, MOUNTSTATS),
        }
        if let Op::Read { bytes } = self.op {
            let received = counted.received_bytes;
            let least = (self.turns * bytes as u64) as f64;
            let what = "bytes received for them";
            b.claim_within(what, Bound::AtLeast(least), received as f64, MOUNTSTATS);
            let what = match self.is_whole {
                true => "reads whose every byte is as written",
                false => "reads whose ends are as written",
            };
            let source = "position stamps";
            b.claim_equal(what, self.turns as f64, self.checked as f64, source);
            claim_flag(b, &self.file)?;
            let what = "pages of the file in the page cache afterwards";
            b.claim_equal(what, 0.0, self.cached as f64, "mincore");
        }
        let retransmits = counted.transmissions.saturating_sub(made);
        b.detail("retransmits_count", retransmits as f64);
        Ok(())
    }
}

impl Lead for Caller<'_> {
    const MAX_TURNS: u64 = Laps::MAX_TURNS;

    fn turns(&mut self, turns: u64) -> Result<(), Failure> {
        self.laps.begin();
        for _ in 0..turns {
            self.turn()?;
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
        let read = |bytes| Op::Read { bytes };
        assert_eq!(read(4096).calls(131_072), 1);
        assert_eq!(read(1 << 20).calls(131_072), 8);
        assert_eq!(read((1 << 20) + 1).calls(1 << 20), 2);
        assert_eq!(Op::Getattr.calls(131_072), 1);
    }

    #[test]
    fn a_case_names_its_operation() {
        let getattr = Case::new([(OP, GETATTR)]);
        assert_eq!(Op::of(&getattr), Ok(Op::Getattr));
        let read = Case::new([(OP, READ), (SIZE, "64K")]);
        assert_eq!(Op::of(&read), Ok(Op::Read { bytes: 64 << 10 }));
        for wrong in [Case::new([(OP, "write")]), Case::new([(OP, READ)])] {
            assert!(
                matches!(Op::of(&wrong), Err(Failure::Broken(_))),
                "{wrong:?}"
            );
        }
    }
}
