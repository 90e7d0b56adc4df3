//! A file that grows, and is read repeatedly.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_sys::files::{self, stamp};

use crate::fs::space::{Space, Storage};

/// Bytes per read or write.
const PART: usize = 1 << 20;

/// Bytes after which the file is written back, since dirty pages cannot be evicted.
const WRITE_BACK: u64 = 16 << 20;

/// Maximum number of readings of a file that is not kept.
const MAX_READINGS: u32 = 3;

/// The share of a file that must have been fetched before it counts as not kept: a few pages
/// may always be missing.
const FETCHED: f64 = 0.01;

/// Why a file cannot grow any further.
pub(super) enum Halt {
    /// The time is up.
    Time,
    /// The file system has no more space.
    Room(String),
    /// Something failed.
    Failed(Failure),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Halt::Failed(failure)
    }
}

/// The result of re-reading one size.
#[derive(Debug)]
pub(super) struct Reread {
    pub(super) bytes: u64,
    /// Rate, in bytes per second.
    pub(super) rate: f64,
    /// Bytes that reads returned, and how many of them were fetched from storage.
    pub(super) returned: u64,
    pub(super) fetched: u64,
    /// Bytes that the device delivered, to any program, and the source of that.
    pub(super) delivered: Result<u64, Unsupported>,
    pub(super) source: String,
    /// Pages in the page cache afterwards, according to both witnesses.
    pub(super) resident: u64,
    pub(super) cached: Option<u64>,
}

impl Reread {
    /// Whether all of it came from the page cache.
    pub(super) fn is_kept(&self) -> bool {
        (self.fetched as f64) < FETCHED * self.bytes as f64
    }
}

/// Name of the file.
const NAME: &str = "grown";

/// A file that grows.
pub(super) struct Grown<'s> {
    space: &'s Space,
    file: File,
    seed: u64,
    bytes: u64,
    is_checked: bool,
    /// The time until which it may grow and be read.
    pub(super) deadline: Instant,
    buffer: Vec<u8>,
    /// Rate at which it was written and written back, in bytes per second.
    pub(super) write_rate: f64,
}

impl<'s> Grown<'s> {
    /// An empty file. What is read is compared with what was written if `is_checked`.
    pub(super) fn new(space: &'s Space, seed: u64, is_checked: bool) -> Result<Self, Failure> {
        let file = space.folder().create(NAME)?;
        Ok(Self {
            space,
            file,
            seed,
            bytes: 0,
            is_checked,
            deadline: Instant::now(),
            buffer: vec![0; PART],
            write_rate: 0.0,
        })
    }

    /// Makes the file this long and reads it again after the cache has seen all of it. If it
    /// was not kept it is read some more times: a kernel that gives memory back to its host takes
    /// some of it now and then, but not each time.
    pub(super) fn reread(&mut self, bytes: u64) -> Result<Reread, Halt> {
        if bytes > self.bytes {
            self.grow(bytes)?;
        } else {
            self.cut(bytes)?;
            self.read()?;
        }
        let first = self.read_again()?;
        for _ in 1..MAX_READINGS {
            if first.is_kept() {
                break;
            }
            match self.read_again() {
                Ok(again) if again.is_kept() => return Ok(again),
                Ok(_) => {}
                Err(Halt::Time) => break,
                Err(halt) => return Err(halt),
            }
        }
        Ok(first)
    }

    /// Reads the file from its beginning to its end, and determines the cost.
    fn read_again(&mut self) -> Result<Reread, Halt> {
        let storage = Storage::watch(&self.file);
        let begun = Instant::now();
        let read = self.read()?;
        let passed = begun.elapsed().as_secs_f64();
        let counted = storage.io().map_err(Failure::from)?;
        let reread = Reread {
            bytes: self.bytes,
            rate: read as f64 / passed,
            returned: counted.rchar,
            fetched: counted.read_bytes,
            delivered: storage.delivered(),
            source: storage.source(),
            resident: files::resident_pages(&self.file).map_err(Failure::from)?,
            cached: files::cachestat(&self.file).ok().map(|cached| cached.pages),
        };
        // What was fetched so far may be enough to see that not all was kept.
        match read < self.bytes && reread.is_kept() {
            true => Err(Halt::Time),
            false => Ok(reread),
        }
    }

    /// Shortens the file: the rest would take memory, and be read ahead.
    fn cut(&mut self, bytes: u64) -> Result<(), Failure> {
        self.bytes = bytes;
        self.file
            .set_len(bytes)
            .map_err(|cause| Failure::of("ftruncate", cause))
    }

    /// Extends the file to this many bytes and writes them back to its device.
    fn grow(&mut self, bytes: u64) -> Result<(), Halt> {
        self.space
            .room_for(bytes - self.bytes)
            .map_err(|failure| Halt::Room(failure.to_string()))?;
        let tried = format!("write {NAME}");
        let failed = |cause| Failure::of(&tried, cause);
        let (begun, from) = (Instant::now(), self.bytes);
        while self.bytes < bytes {
            if Instant::now() > self.deadline {
                return Err(Halt::Time);
            }
            let part = PART.min((bytes - self.bytes) as usize);
            stamp::fill(&mut self.buffer[..part], self.bytes, self.seed);
            self.file
                .write_all_at(&self.buffer[..part], self.bytes)
                .map_err(failed)?;
            self.bytes += part as u64;
            if self.bytes.is_multiple_of(WRITE_BACK) || self.bytes == bytes {
                self.file.sync_data().map_err(failed)?;
            }
        }
        self.write_rate = (bytes - from) as f64 / begun.elapsed().as_secs_f64();
        Ok(())
    }

    /// Reads the file in order, as far as time permits; returns how
    /// many bytes.
    fn read(&mut self) -> Result<u64, Failure> {
        for offset in (0..self.bytes).step_by(PART) {
            if Instant::now() > self.deadline {
                return Ok(offset);
            }
            let part = PART.min((self.bytes - offset) as usize);
            self.file
                .read_exact_at(&mut self.buffer[..part], offset)
                .map_err(|cause| Failure::of("pread", cause))?;
            if self.is_checked {
                stamp::check(&self.buffer[..part], offset, self.seed)?;
            }
        }
        Ok(self.bytes)
    }
}
