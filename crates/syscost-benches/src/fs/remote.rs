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

use syscost_harness::Row;
use syscost_harness::directory::{self, Directory, NFS, NOTHING_REMOTE};
use syscost_harness::prelude::*;
use syscost_results::{Evidence, Verdict};
use syscost_sys::files::{self, Filesystem};

/// The key of the parameter that names the local directory.
const LOCAL: &str = "local";

/// The key of the parameter that names the operation.
const OP: &str = "op";

const FROM_NFS: &str = super::nfs::BENCHMARK.id;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.remote",
    title: "Remote file: latency added over a local file",
    tags: &[
        "network file system",
        "remote file system",
        "nfs",
        "smb",
        "overhead",
    ],
    quantity: Quantity::Level,
    cases: Cases::Here(cases),
    support,
    derive: Some(Derive {
        from: &[FROM_NFS, "fs.read", "fs.write", "fs.sync", "fs.metadata"],
        takes,
        compute,
    }),
    source: include_str!("remote.rs"),
    ..Benchmark::DEFAULT
};

/// A row: the id of its benchmark, and its parameters besides the directory.
#[derive(Debug, Clone, Copy)]
struct Plain {
    id: &'static str,
    parameters: &'static [(&'static str, &'static str)],
}

impl Plain {
    /// Whether this is the row of a directory; rows of `fs.nfs` have none.
    fn is(&self, id: &str, case: &Case, label: &str) -> bool {
        let has = |(key, value): &(&str, &str)| case.find(key) == Some(*value);
        let of_directory = usize::from(self.id != FROM_NFS);
        self.id == id
            && case.len() == self.parameters.len() + of_directory
            && self.parameters.iter().all(has)
            && (of_directory == 0 || case.get(directory::KEY) == label)
    }
}

/// An operation, as it is measured on both sides.
#[derive(Debug, Clone, Copy)]
struct Pair {
    name: &'static str,
    remote: Plain,
    local: Plain,
}

const fn plain(id: &'static str, parameters: &'static [(&'static str, &'static str)]) -> Plain {
    Plain { id, parameters }
}

const fn same(
    name: &'static str,
    id: &'static str,
    parameters: &'static [(&'static str, &'static str)],
) -> Pair {
    let row = plain(id, parameters);
    Pair {
        name,
        remote: row,
        local: row,
    }
}

const WARM_4K: Plain = plain(
    "fs.read",
    &[("access", "random"), ("cache", "warm"), ("size", "4K")],
);
const WARM_1M: Plain = plain(
    "fs.read",
    &[("access", "random"), ("cache", "warm"), ("size", "1M")],
);

/// Operations in mounted directories.
const MOUNTED: [Pair; 7] = [
    same("read_warm_4K", WARM_4K.id, WARM_4K.parameters),
    same(
        "read_cold_4K",
        "fs.read",
        &[("access", "random"), ("cache", "cold"), ("size", "4K")],
    ),
    same(
        "write_buffered_4K",
        "fs.write",
        &[("access", "random"), ("cache", "buffered"), ("size", "4K")],
    ),
    same("fsync_4K", "fs.sync", &[("via", "fsync"), ("size", "4K")]),
    same("open", "fs.metadata", &[("op", "open"), ("sync", "none")]),
    same("stat", "fs.metadata", &[("op", "stat"), ("sync", "none")]),
    same(
        "create",
        "fs.metadata",
        &[("op", "create"), ("sync", "none")],
    ),
];

/// Operations on the server that is measured against without a mount.
const UNMOUNTED: [Pair; 3] = [
    Pair {
        name: "read_4K",
        remote: plain(FROM_NFS, &[("op", "read"), ("size", "4K")]),
        local: WARM_4K,
    },
    Pair {
        name: "read_1M",
        remote: plain(FROM_NFS, &[("op", "read"), ("size", "1M")]),
        local: WARM_1M,
    },
    Pair {
        name: "stat",
        remote: plain(FROM_NFS, &[("op", "getattr")]),
        local: plain("fs.metadata", &[("op", "stat"), ("sync", "none")]),
    },
];

/// The operation of a case.
fn pair_of(case: &Case) -> Option<&'static Pair> {
    let pairs: &[Pair] = match case.get(directory::KEY) == NFS {
        true => &UNMOUNTED,
        false => &MOUNTED,
    };
    // The placeholder for machines without such cases has no operation.
    let name = case.find(OP)?;
    pairs.iter().find(|pair| pair.name == name)
}

fn cases(here: &Here) -> Vec<Case> {
    let (remote, local): (Vec<&Directory>, Vec<&Directory>) = here
        .targets
        .directories
        .iter()
        .partition(|one| is_remote(one));
    let Some(local) = local.first() else {
        return vec![nothing()];
    };
    let case = |remote: &str, pair: &Pair| {
        let parameters = [
            (directory::KEY, remote.to_owned()),
            (LOCAL, local.label.clone()),
            (OP, pair.name.to_owned()),
        ];
        Case::new(parameters)
    };
    let mounted = remote
        .iter()
        .flat_map(|directory| MOUNTED.iter().map(|pair| case(&directory.label, pair)));
    let unmounted = UNMOUNTED
        .iter()
        .filter(|_| here.targets.nfs.is_some())
        .map(|pair| case(NFS, pair));
    let cases: Vec<Case> = unmounted.chain(mounted).collect();
    match cases.is_empty() {
        true => vec![nothing()],
        false => cases,
    }
}

/// The placeholder case where no remote file system was given together with a local one.
fn nothing() -> Case {
    Case::new([(directory::KEY, NOTHING_REMOTE)])
}

fn is_remote(directory: &Directory) -> bool {
    files::filesystem(&directory.path).is_ok_and(|found| found.is_remote())
}

fn support(case: &Case, _: &Here) -> Result<(), Unsupported> {
    match pair_of(case) {
        Some(_) => Ok(()),
        None => Err(Unsupported::new(
            "needs a remote directory and a local one: --nfs nfs://HOST/EXPORT, or --dir for a mount of a network file system and for a local directory",
        )),
    }
}

fn takes(case: &Case, row: &Row) -> bool {
    let Some(pair) = pair_of(case) else {
        return false;
    };
    let (id, other) = (row.benchmark.id, &row.case);
    pair.remote.is(id, other, case.get(directory::KEY)) || pair.local.is(id, other, case.get(LOCAL))
}

fn compute(case: &Case, sources: &[Source<'_>], here: &Here) -> Result<Derived, Failure> {
    let pair = pair_of(case).ok_or_else(|| case.unknown(OP))?;
    let median = |row: &Plain, label: &str| {
        let is = |source: &&Source<'_>| row.is(source.id, source.case, label);
        sources.iter().find(is).map(|source| source.median)
    };
    let remote = median(&pair.remote, case.get(directory::KEY));
    let local = median(&pair.local, case.get(LOCAL));
    let (Some(remote), Some(local)) = (remote, local) else {
        return Err(Failure::Unsupported(
            "one of the two rows that are compared is unsupported".into(),
        ));
    };
    Ok(Derived {
        value: remote - local,
        evidence: vec![are_times(remote, local), of_case(case, here)],
        details: details(remote, local),
        ..Derived::default()
    })
}

/// Both times, and their ratio if there is one.
fn details(remote: f64, local: f64) -> BTreeMap<String, f64> {
    let ratio = Some(remote / local).filter(|ratio| ratio.is_finite());
    [
        ("remote_ns", Some(remote)),
        ("local_ns", Some(local)),
        ("ratio", ratio),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

/// The file systems on the two sides of a case, according to the current mounts.
fn of_case(case: &Case, here: &Here) -> Evidence {
    let found = |label: &str| {
        let directory = here.targets.directory(label).ok()?;
        files::filesystem(&directory.path).ok()
    };
    let remote = match case.get(directory::KEY) {
        // It is accessed by its protocol, without a mount.
        NFS => here.targets.nfs.as_ref().map(|_| Filesystem {
            kind: NFS.to_owned(),
            ..Filesystem::default()
        }),
        label => found(label),
    };
    are_far_and_near(remote, found(case.get(LOCAL)))
}

/// Whether the first of two file systems is on another machine and the second is not.
fn are_far_and_near(remote: Option<Filesystem>, local: Option<Filesystem>) -> Evidence {
    let verdict = match (&remote, &local) {
        (Some(remote), Some(local)) if remote.is_remote() && !local.is_remote() => {
            Verdict::Confirmed
        }
        (Some(_), Some(_)) => Verdict::Refuted,
        (_, _) => Verdict::Unverified,
    };
    let kind = |found: Option<Filesystem>| found.map_or("unknown".to_owned(), |found| found.kind);
    Evidence {
        reason: (verdict == Verdict::Unverified)
            .then(|| "not both of the directories can be looked up".to_owned()),
        ..Evidence::new(
            "file systems of both sides",
            "a remote one and a local one",
            format!("{} and {}", kind(remote), kind(local)),
            "/proc/self/mountinfo",
            verdict,
        )
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
mod tests;
