//! Querying a file's attributes by name.
//!
//! ## Measures
//! newfstatat, the system call of stat(2): walking the path and filling in the answer. `file` is
//! this program's own executable, named within its directory (one component); `device` is /dev/null
//! (two components); `root` is `/` (none).
//! ## Does not measure
//! Reading directories or inodes from a device: the names are in the kernel's cache after the first call.
//! ## Interpretation
//! Each component of a path costs a lookup. For `file` the file system is asked: an overlay also
//! asks the one below it.
//! ## Source
//! lmbench `lat_syscall stat`; libMicro `stat_tmp`.

use rustix::fs::{AtFlags, FileType, statat};
use syscost_harness::prelude::*;

use super::subject::{self, Named};
use super::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "stat by path",
    tags: "path lookup, path walk, file attributes, newfstatat, lat_syscall",
    expect: &[calls(Sysno::NEWFSTATAT)],
    ..Benchmark::of::<Stat>()
};

#[derive(Params, Clone)]
struct Stat {
    of: Named,
}

impl Measured for Stat {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Stat { of: Named::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.of {
            Named::File => Profile::Quick,
            Named::Device => Profile::Full,
            Named::Root => Profile::Standard,
        }
    }

    fn proofs(&self) -> StatProofs<Proof> {
        StatProofs {
            of: self.of.proof(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let own = subject::own_executable()?;
        let (directory, name) = own.place(self.of)?;
        subject::show_path(&mut plan, Sysno::NEWFSTATAT, (directory, name));
        let kind = match self.of {
            Named::File => FileType::RegularFile,
            Named::Device => FileType::CharacterDevice,
            Named::Root => FileType::Directory,
        };
        statat(directory, name, AtFlags::empty())
            .map_err(|cause| Failure::of(&format!("stat of {}", name.to_string_lossy()), cause))?;
        plan.measure(Loop::each(|| -> Result<(), Bad> {
            let stat = statat(directory, name, AtFlags::empty())?;
            must(FileType::from_raw_mode(stat.st_mode) == kind)
        }))
    }
}
