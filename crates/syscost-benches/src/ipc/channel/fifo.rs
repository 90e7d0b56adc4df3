//! Two fifos, which have a name until both ends are open.

use std::os::fd::OwnedFd;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use syscost_harness::prelude::*;
use syscost_sys::scratch;

use super::by_stream::{PLAIN, Stream};
use super::mechanism::Mechanism;
use super::{Ends, crossed};

/// It differs little from a pipe.
pub(super) const MECHANISM: Mechanism = Mechanism {
    descriptors: "fifo",
    ..PLAIN.similar()
};

pub(super) struct Fifo;

impl Stream for Fifo {
    fn open() -> Result<Ends<OwnedFd>, Failure> {
        crossed(|| {
            let file = scratch::file("fifo").map_err(|error| Failure::of("name a fifo", error))?;
            let failed = |error| Failure::of("make a fifo", error);
            mknodat(CWD, file.path(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                .map_err(failed)?;
            let end = |flags| open(file.path(), flags | OFlags::CLOEXEC, Mode::empty());
            // Opening either end alone would wait for the other; opening both does not block.
            let both = end(OFlags::RDWR).map_err(failed)?;
            let ends = (
                end(OFlags::RDONLY).map_err(failed)?,
                end(OFlags::WRONLY).map_err(failed)?,
            );
            drop(both);
            Ok(ends)
        })
    }
}
