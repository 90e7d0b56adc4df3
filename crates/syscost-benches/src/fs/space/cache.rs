//! How much of a file is in the page cache, according to two witnesses.

use std::fs::File;

use syscost_harness::prelude::*;
use syscost_results::Fact;
use syscost_sys::files;

use super::Stamped;
use crate::fs::facts;
use crate::fs::reader::read_through;
use crate::fs::transfer::pages;

/// Maximum number of readings of a file until all of it is in the page cache: a kernel that gives memory back
/// to its host may have taken some.
const MAX_READINGS: u32 = 5;

/// The page cache's content of one file.
pub(in crate::fs) struct Cache {
    file: File,
    pages: u64,
}

/// Pages of a file in the page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::fs) struct Resident {
    mincore: u64,
    /// According to cachestat(2), where the kernel has it and it counts.
    cachestat: Option<u64>,
}

impl Resident {
    /// The larger of both counts: mincore does not count pages that are still being read in.
    pub(in crate::fs) fn pages(self) -> u64 {
        self.mincore.max(self.cachestat.unwrap_or(0))
    }

    /// What both say, as long as they agree.
    pub(in crate::fs) fn fact(self) -> Fact {
        match self.cachestat {
            Some(counted) if counted != self.mincore => {
                format!("{} by mincore, {counted} by cachestat", self.mincore).into()
            }
            Some(_) | None => self.mincore.into(),
        }
    }

    pub(in crate::fs) fn max(self, other: Self) -> Self {
        Self {
            mincore: self.mincore.max(other.mincore),
            cachestat: self.cachestat.max(other.cachestat),
        }
    }
}

impl Cache {
    pub(in crate::fs) fn of(file: File) -> Result<Self, Failure> {
        let length = facts(&file)?.len();
        Ok(Self {
            file,
            pages: pages(length),
        })
    }

    pub(in crate::fs) fn file(&self) -> &File {
        &self.file
    }

    pub(in crate::fs) fn pages(&self) -> u64 {
        self.pages
    }

    pub(in crate::fs) fn resident(&self) -> Result<Resident, Failure> {
        let mincore = files::resident_pages(&self.file)?;
        let counted = files::cachestat(&self.file).map(|cached| cached.pages);
        Ok(Resident {
            mincore,
            cachestat: counted.ok().filter(|pages| *pages > 0 || mincore == 0),
        })
    }

    /// Evicts the file from the cache, if it is written back already, and verifies it with
    /// both witnesses.
    ///
    /// # Errors
    /// Refuted where pages stay.
    pub(in crate::fs) fn empty(&self) -> Result<(), Failure> {
        match files::drop_clean_pages(&self.file)? {
            0 => Ok(()),
            left => Err(Failure::Refuted(format!(
                "{left} pages of the file stayed in the page cache"
            ))),
        }
    }

    /// Reads the file in order, repeatedly if not all of it stayed in the cache.
    pub(in crate::fs) fn fill(&self, written: &Stamped) -> Result<(), Failure> {
        for _ in 0..MAX_READINGS {
            read_through(written, &self.file)?;
            if self.resident()?.mincore == self.pages {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_witnesses_that_disagree_see_no_number() {
        let of = |mincore, cachestat| Resident { mincore, cachestat }.fact();
        assert_eq!(of(3, Some(3)), 3_u64.into());
        assert_eq!(of(3, None), 3_u64.into());
        assert_eq!(of(0, Some(3)), "0 by mincore, 3 by cachestat".into());
    }
}
