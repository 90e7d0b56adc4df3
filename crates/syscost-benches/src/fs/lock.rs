//! Locking a file in the measured directory.
//!
//! ## Measures
//! Taking an exclusive lock of a whole file and releasing it, without contention: two system
//! calls. `via=fcntl` is F_SETLKW, whose lock belongs to the process; `via=ofd` is F_OFD_SETLKW,
//! whose lock belongs to the open file; `via=flock` is the call of that name.
//! ## Does not measure
//! Waiting for a lock that another holds: `sync.file_lock{state=contended}`.
//! ## Interpretation
//! On a local file system the kernel manages locks itself: the row is then that of
//! `sync.file_lock{state=free}`, whose file is in the folder for temporary files. A network file
//! system asks its server, twice.
//! ## Source
//! lmbench `lat_fcntl`.

use std::os::fd::OwnedFd;

use syscost_harness::prelude::*;

use super::labels;
use super::space::Space;
use super::waits::MAX_SLEEPS;
use crate::sync::{self, Via};
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File lock in the measured directory",
    tags: "flock, fcntl, record lock, open file description lock, lat_fcntl",
    ..Benchmark::of::<Lock>()
};

#[derive(Params, Clone)]
struct Lock {
    /// The directory's label.
    dir: String,
    via: Via,
}

impl Measured for Lock {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Lock {
            dir: labels(here),
            via: Via::ALL
        })
    }

    fn proofs(&self) -> LockProofs<Proof> {
        LockProofs {
            dir: DIRECTORY.expects(&*self.dir),
            via: sync::proof_of_free_lock(self.via),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        if space.filesystem().is_remote() {
            plan.expect(MAX_SLEEPS);
        }
        let folder = space.folder();
        let files = [folder.create("lock")?, folder.open_to_write("lock", 0)?];
        sync::measure_free_lock(plan, self.via, &files.map(OwnedFd::from))
    }
}
