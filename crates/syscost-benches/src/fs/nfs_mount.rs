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

mod caller;

use syscost_harness::directory;
use syscost_harness::prelude::*;
use syscost_sys::files;

use super::{SIZE, in_each_directory};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.nfs_mount",
    title: "NFS mount operation",
    tags: &["network file system", "nfs client", "getattr", "nfsstat"],
    cases: Cases::Here(cases),
    disregards_neighbours: |_| true,
    support,
    run: caller::measure,
    source: include_str!("nfs_mount.rs"),
    ..Benchmark::DEFAULT
};

/// The key of the parameter that names the operation.
const OP: &str = "op";
const GETATTR: &str = "getattr";
const READ: &str = "read";

/// The cases in those directories that are on NFS; if there are none, one case in the first
/// directory, so that the benchmark is listed with the reason.
fn cases(here: &Here) -> Vec<Case> {
    let reads = ["4K", "64K", "1M"].map(|size| Case::new([(OP, READ), (SIZE, size)]));
    let further: Vec<Case> = [Case::new([(OP, GETATTR)])]
        .into_iter()
        .chain(reads)
        .collect();
    let all = in_each_directory(here, &further);
    let (mounted, others): (Vec<Case>, Vec<Case>) = all
        .into_iter()
        .partition(|case| support(case, here).is_ok());
    match mounted.is_empty() {
        true => others.into_iter().take(further.len()).collect(),
        false => mounted,
    }
}

fn support(case: &Case, here: &Here) -> Result<(), Unsupported> {
    let directory = here
        .targets
        .directory(case.get(directory::KEY))
        .map_err(|reason| Unsupported::new(reason.to_string()))?;
    match files::filesystem(&directory.path) {
        Ok(found) if found.is_nfs() => Ok(()),
        Ok(other) => Err(Unsupported::new(format!(
            "dir={} is not on an NFS mount (it is on {}): mount an export and give it as --dir",
            case.get(directory::KEY),
            other.kind
        ))),
        Err(_) => Err(Unsupported::new(
            "no directory on an NFS mount was given: --dir",
        )),
    }
}
