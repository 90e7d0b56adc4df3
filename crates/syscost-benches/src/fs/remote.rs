//! How much more a file on another machine costs than one on this machine.
//!
//! ## Measures
//! Nothing by itself: it is a row of a remote directory minus the same row of a local one, the first
//! local one of `--dir`. `dir` is the remote one: a mount of a network file system (NFS, SMB, Ceph,
//! 9P, SSHFS) also given by `--dir`, whose rows of `fs.read`, `fs.write`, `fs.sync` and
//! `fs.metadata` that `op` names are used; or `nfs`, the server that `--nfs` names, whose
//! READ (`fs.nfs`) is compared with a read from the local page cache, and GETATTR with stat: neither
//! end waits for a disk then.
//! ## Does not measure
//! The network alone: `fs.nfs{op=icmp}`.
//! ## Interpretation
//! What is cached costs the same on both sides, so the difference is near zero; it may be negative
//! where the server's disk is faster than the local one. `ratio` is the remote time divided by the local one.
//! The difference is computed separately for every round.
//! ## Source
//! The rows it is computed from.

use std::collections::BTreeMap;

use syscost_harness::directory::{NFS, NOTHING_REMOTE};
use syscost_harness::prelude::*;
use syscost_sys::files::Filesystem;

use super::blocks::Access;
use super::metadata::{self, Kept};
use super::nfs::{self, Call as NfsCall, Step};
use super::sync::{self, Call};
use super::transfer::State;
use super::write::{self, Target};
use super::{filesystem, labels, read};

const OF_SERVER: &str = id!(fs::nfs);
const READ: &str = id!(fs::read);
const WRITE: &str = id!(fs::write);
const SYNC: &str = id!(fs::sync);
const METADATA: &str = id!(fs::metadata);
use super::waits::Sync;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Remote file: latency added over a local file",
    tags: "network file system, remote file system, nfs, smb, overhead",
    quantity: Quantity::Level,
    ..Benchmark::computed::<FsRemote>()
};

/// The operation, as it is measured on both sides.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    #[value("read_4K")]
    Read4K,
    #[value("read_1M")]
    Read1M,
    #[value("read_warm_4K")]
    ReadWarm4K,
    #[value("read_cold_4K")]
    ReadCold4K,
    #[value("write_buffered_4K")]
    WriteBuffered4K,
    #[value("fsync_4K")]
    Fsync4K,
    Open,
    Stat,
    Create,
}

impl Op {
    /// Operations on the server that is measured against without a mount.
    const UNMOUNTED: [Op; 3] = [Op::Read4K, Op::Read1M, Op::Stat];

    /// Operations in mounted directories.
    const MOUNTED: [Op; 7] = [
        Op::ReadWarm4K,
        Op::ReadCold4K,
        Op::WriteBuffered4K,
        Op::Fsync4K,
        Op::Open,
        Op::Stat,
        Op::Create,
    ];

    /// Where a row measures the operation: the label of a directory, or [`NFS`]; `None` if it
    /// measures another one.
    fn place(self, case: &Case) -> Option<&str> {
        const SMALL: Bytes = Bytes::kib(4);
        const LARGE: Bytes = Bytes::mib(1);
        let (place, is_it) = if let Some(&nfs::Nfs { op, size }) = case.row() {
            let is = [
                (Op::Read4K, Step::Call(NfsCall::Read), Some(SMALL)),
                (Op::Read1M, Step::Call(NfsCall::Read), Some(LARGE)),
                (Op::Stat, Step::Call(NfsCall::Getattr), None),
            ];
            (NFS, is.contains(&(self, op, size)))
        } else if let Some(row) = case.row::<read::FsRead>() {
            let is = [
                (Op::Read4K, State::Warm, SMALL),
                (Op::Read1M, State::Warm, LARGE),
                (Op::ReadWarm4K, State::Warm, SMALL),
                (Op::ReadCold4K, State::Cold, SMALL),
            ];
            let is_it = is.contains(&(self, row.cache, row.size));
            (&*row.dir, is_it && row.access == Access::Random)
        } else if let Some(row) = case.row::<write::FsWrite>() {
            let is = (Op::WriteBuffered4K, Access::Random, Target::Buffered, SMALL);
            (&*row.dir, is == (self, row.access, row.cache, row.size))
        } else if let Some(sync::FsSync { dir, via, size }) = case.row() {
            let is = (Op::Fsync4K, Call::Fsync, SMALL);
            (&**dir, is == (self, *via, *size))
        } else {
            let metadata::Metadata { dir, op, sync } = case.row()?;
            let is = [
                (Op::Open, metadata::Op::Keep(Kept::Open), Sync::None),
                (Op::Stat, metadata::Op::Keep(Kept::Stat), Sync::None),
                (Op::Create, metadata::Op::CREATE, Sync::None),
            ];
            (&**dir, is.contains(&(self, *op, *sync)))
        };
        is_it.then_some(place)
    }
}

#[derive(Params, Clone)]
struct FsRemote {
    /// The remote directory's label.
    dir: String,
    /// The label of the local directory that it is compared with.
    ///
    /// Only the placeholder, where no remote file system was given together with a local one, has
    /// neither this nor an operation.
    local: Option<String>,
    op: Option<Op>,
}

impl Computed for FsRemote {
    const FROM: &'static [&'static str] = &[OF_SERVER, READ, WRITE, SYNC, METADATA];
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let is_remote =
            |label: &String| filesystem(here, label).is_some_and(|found| found.is_remote());
        let (remote, local): (Vec<String>, Vec<String>) = labels(here).partition(is_remote);
        let server = here.targets.nfs.iter().map(|_| NFS.to_owned());
        let rows = rows!(FsRemote {
            local: local.iter().take(1).cloned().map(Some),
            dir: server.clone().chain(remote.clone()),
            op: match dir == NFS {
                true => Op::UNMOUNTED.map(Some).to_vec(),
                false => Op::MOUNTED.map(Some).to_vec(),
            }
        });
        match rows.is_empty() {
            true => rows!(FsRemote {
                dir: [NOTHING_REMOTE.to_owned()],
                local: [None],
                op: [None]
            }),
            false => rows,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.sides().map(drop)
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        self.sides().is_ok_and(|(op, remote, local)| {
            let place = op.place(&other.case);
            place.is_some_and(|at| [remote, local].contains(&at))
        })
    }

    fn compute(&self, sources: &[Source<'_>], here: &Testbed) -> Result<ComputedValue, Failure> {
        let (op, remote, local) = self.sides()?;
        let median = |label: &str| {
            let is = |source: &&Source<'_>| op.place(source.case) == Some(label);
            sources.iter().find(is).map(|source| source.median)
        };
        let (Some(far), Some(near)) = (median(remote), median(local)) else {
            return Err(Failure::Unsupported(
                "one of the two rows that are compared is unsupported".into(),
            ));
        };
        Ok(ComputedValue {
            value: far - near,
            evidence: vec![
                are_times(far, near),
                are_far_and_near(side(remote, here), side(local, here)),
            ],
            details: details(far, near),
            ..ComputedValue::default()
        })
    }
}

impl FsRemote {
    /// What it compares: an operation, in the remote directory and the local one of these labels.
    fn sides(&self) -> Result<(Op, &str, &str), Unsupported> {
        match (&self.local, self.op) {
            (Some(local), Some(op)) => Ok((op, &self.dir, local)),
            (None, _) | (_, None) => Err(Unsupported::new(
                "needs a remote directory and a local one: --nfs nfs://HOST/EXPORT, or --dir for a mount of a network file system and for a local directory",
            )),
        }
    }
}

fn details(remote: f64, local: f64) -> BTreeMap<String, f64> {
    let all = [
        ("remote_ns", remote),
        ("local_ns", local),
        ("ratio", remote / local),
    ];
    let known = all.into_iter().filter(|(_, value)| value.is_finite());
    known
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The file system on the side of this label; that of a server, which is accessed by its protocol.
fn side(label: &str, here: &Testbed) -> Option<Filesystem> {
    match label {
        NFS => here.targets.nfs.as_ref().map(|_| Filesystem {
            kind: NFS.to_owned(),
            ..Filesystem::default()
        }),
        label => filesystem(here, label),
    }
}

/// Whether the first of two file systems is on another machine and the second is not.
fn are_far_and_near(remote: Option<Filesystem>, local: Option<Filesystem>) -> Evidence {
    let (claim, expected) = ("file systems of both sides", "a remote one and a local one");
    let source = "/proc/self/mountinfo";
    match remote.zip(local) {
        Some((remote, local)) => {
            let seen = format!("{} and {}", remote.kind, local.kind);
            let verdict = Verdict::of(remote.is_remote() && !local.is_remote());
            Evidence::new(claim, expected, seen, source, verdict)
        }
        None => Evidence::unobserved(claim, expected, source)
            .because("not both of the directories can be looked up"),
    }
}

/// Whether both are times that can be compared.
fn are_times(remote: f64, local: f64) -> Evidence {
    let are = remote > 0.0 && local > 0.0;
    Evidence::new(
        "times of both operations, in ns",
        "above 0",
        format!("{remote:.0} and {local:.0}"),
        "the rows it is computed from",
        Verdict::of(are),
    )
}

#[cfg(test)]
mod tests {
    use syscost_harness::directory::Directory;

    use super::*;

    fn case(remote: &str, op: Op) -> Case<FsRemote> {
        let rows = rows!(FsRemote {
            dir: [remote.to_owned()],
            local: [Some("ssd".to_owned())],
            op: [Some(op)]
        });
        rows[0].clone()
    }

    fn read(dir: &str, cache: State) -> Case {
        use read::FsRead;
        let rows = rows!(FsRead {
            dir: [dir.to_owned()],
            access: [Access::Random],
            cache: [cache],
            size: [Bytes::kib(4)]
        });
        rows[0].clone().erased()
    }

    fn source<'c>(id: &'static str, case: &'c Case, median: f64) -> Source<'c> {
        Source { id, case, median }
    }

    fn computed(case: &Case<FsRemote>, sources: &[Source<'_>]) -> Result<ComputedValue, Failure> {
        case.row.compute(sources, &Testbed::plain())
    }

    #[test]
    fn a_mount_is_compared_with_the_same_row_of_the_local_directory() {
        let case = case("far", Op::ReadCold4K);
        let (remote, local) = (read("far", State::Cold), read("ssd", State::Cold));
        let rows = [source(READ, &local, 100.0), source(READ, &remote, 350.0)];
        let value = computed(&case, &rows).unwrap();
        assert_eq!(value.value, 250.0);
        assert_eq!(value.details["ratio"], 3.5);
        assert_eq!(value.evidence[0].verdict, Verdict::Confirmed);
        let alone = computed(&case, &rows[..1]);
        assert!(matches!(alone, Err(Failure::Unsupported(_))), "{alone:?}");
        // Times in other units, or none.
        let nothing = [source(READ, &local, 0.0), rows[1]];
        let refuted = computed(&case, &nothing).unwrap();
        assert_eq!(refuted.evidence[0].verdict, Verdict::Refuted);
        assert!(!refuted.details.contains_key("ratio"), "there is none");
    }

    #[test]
    fn the_server_without_a_mount_is_compared_with_the_page_cache() {
        use nfs::Nfs as Server;
        let remote = rows!(Server {
            op: [Step::Call(NfsCall::Read)],
            size: [Some(Bytes::kib(4))]
        });
        let remote = remote[0].clone().erased();
        let warm = read("ssd", State::Warm);
        let rows = [source(OF_SERVER, &remote, 90e3), source(READ, &warm, 400.0)];
        let value = computed(&case(NFS, Op::Read4K), &rows).unwrap();
        assert_eq!(value.value, 89_600.0);
    }

    #[test]
    fn both_sides_are_where_the_row_says() {
        let of = |kind: &str| {
            Some(Filesystem {
                kind: kind.to_owned(),
                ..Filesystem::default()
            })
        };
        let verdict = |remote, local| are_far_and_near(remote, local).verdict;
        for remote in ["nfs4", "cifs", "ceph", "9p", "fuse.sshfs"] {
            assert_eq!(verdict(of(remote), of("ext4")), Verdict::Confirmed);
            assert_eq!(verdict(of("nfs4"), of(remote)), Verdict::Refuted);
        }
        assert_eq!(verdict(of("ext4"), of("xfs")), Verdict::Refuted);
        let unknown = are_far_and_near(of("nfs4"), None);
        assert_eq!(unknown.verdict, Verdict::Unverified);
        assert_eq!(unknown.observed, None);
        assert!(unknown.reason.is_some());
    }

    #[test]
    fn only_rows_of_the_operation_take_part_each_in_its_directory() {
        use metadata::Metadata as Named;
        let rows = rows!(Named {
            dir: ["ssd".to_owned()],
            op: [metadata::Op::CREATE],
            sync: Sync::ALL
        });
        let metadata: Vec<Case> = rows.into_iter().map(Case::erased).collect();
        let ssd = Some("ssd");
        assert_eq!(Op::Create.place(&metadata[0]), ssd);
        assert_eq!(Op::Create.place(&metadata[1]), None, "fsync");
        assert_eq!(Op::Stat.place(&metadata[0]), None);
        let cold = read("ssd", State::Cold);
        assert_eq!(Op::ReadCold4K.place(&cold), ssd);
        assert_eq!(Op::ReadWarm4K.place(&cold), None);
    }

    #[test]
    fn a_server_is_compared_with_the_first_local_directory() {
        let mut here = Testbed::plain();
        here.targets.nfs = Some("nfs://192.0.2.1/export".parse().unwrap());
        here.targets.directories = vec![Directory {
            label: "here".to_owned(),
            path: "/proc".into(),
        }];
        let rows = FsRemote::rows(&here);
        let names: Vec<String> = rows.iter().map(Case::suffix).collect();
        let named = |op| format!("{{dir=nfs,local=here,op={op}}}");
        assert_eq!(names, ["read_4K", "read_1M", "stat"].map(named));
    }

    #[test]
    fn where_nothing_is_remote_the_row_says_what_is_missing() {
        let nothing = FsRemote::rows(&Testbed::plain()).remove(0);
        let reason = nothing.row.sides().map(drop).unwrap_err().to_string();
        let says = ["--nfs", "--dir"].map(|option| reason.contains(option));
        assert_eq!(says, [true; 2], "{reason}");
    }
}
