//! Shared: a file that is read, from the page cache, from storage, or past the cache.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::rc::Rc;

use rustix::io::{Errno, pread};
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Alignment, Buffer};

use super::space::{ALIGNMENT, Cache, Resident, Space, Stamped, claim_flag};

/// Where reads find a file.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// All of its pages are in the page cache.
    Warm,
    /// None of them is.
    Cold,
    /// None of them is, and it is read by O_DIRECT, bypassing the page cache.
    Direct,
}

/// A file that is never changed, and the folder that it is in.
struct Kept {
    space: Space,
    file: Stamped,
}

thread_local! {
    /// The files with the labels of their directories: the rows of one worker share them, as a device should
    /// not be written to more often than needed. They are removed when the worker ends, by it or by
    /// the process that waits for it.
    static ALL: RefCell<Vec<(String, Rc<Kept>)>> = const { RefCell::new(Vec::new()) };
}

/// The file of this many bytes in the directory of this label.
fn kept(b: &mut Bencher, dir: &str, bytes: u64) -> Result<Rc<Kept>, Failure> {
    let known = ALL.with_borrow(|all| {
        let fits = |(of, kept): &&(String, Rc<Kept>)| of == dir && kept.file.bytes() == bytes;
        all.iter().find(fits).map(|(_, kept)| Rc::clone(kept))
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let seed = b.random().u64(..);
    let space = Space::in_directory(b, dir)?;
    let file = space.file("content", bytes, seed)?;
    let kept = Rc::new(Kept { space, file });
    ALL.with_borrow_mut(|all| all.push((dir.to_owned(), Rc::clone(&kept))));
    Ok(kept)
}

/// A file in the state in which it is read.
pub(super) struct Source {
    kept: Rc<Kept>,
    state: State,
    /// Its pages in the page cache, and a descriptor through that.
    cache: Cache,
    /// The descriptor for direct I/O, if it is read so.
    direct: Option<File>,
    /// The largest number of its pages in the cache before cold reads.
    left: Cell<Resident>,
    /// Whether the cache is checked each time. Emptying it includes a check; where reads are timed another
    /// check would only reduce their number.
    looks: bool,
}

impl Source {
    /// The file of this many bytes in the directory of this label, to be read `size` bytes at a time, at
    /// multiples of them. A warm one is brought into the page cache in the usual way, by reading it in order.
    ///
    /// # Errors
    /// Unsupported where it has to be in storage and exists only in memory, or its file system refuses such
    /// direct reads.
    pub(super) fn open(
        b: &mut Bencher,
        dir: &str,
        bytes: u64,
        state: State,
        size: Bytes,
    ) -> Result<Self, Failure> {
        let kept = kept(b, dir, bytes)?;
        let has_storage = kept.space.has_storage();
        if state != State::Warm {
            has_storage.clone()?;
        }
        let direct = match state {
            State::Warm | State::Cold => None,
            State::Direct => {
                let file = kept.file.open_direct()?;
                allowed_direct(&file, size.0)?;
                Some(file)
            }
        };
        let cache = Cache::of(&kept.space, kept.file.open()?)?;
        if has_storage.is_ok() {
            cache.empty()?;
        }
        if state == State::Warm {
            cache.fill(b, &kept.file)?;
        }
        Ok(Self {
            left: Cell::new(cache.resident()?),
            kept,
            state,
            cache,
            direct,
            looks: !b.is_timed(),
        })
    }

    /// What was written.
    pub(super) fn written(&self) -> &Stamped {
        &self.kept.file
    }

    /// The descriptor to read from.
    pub(super) fn file(&self) -> &File {
        self.direct.as_ref().unwrap_or(self.cache.file())
    }

    /// Its pages in the page cache.
    pub(super) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Brings it into its state again, before a read.
    ///
    /// # Errors
    /// Refuted where pages stay in the cache.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        match self.state {
            State::Warm | State::Direct => {}
            State::Cold => {
                self.cache.empty()?;
                if self.looks {
                    self.left.set(self.left.get().max(self.cache.resident()?));
                }
            }
        }
        Ok(())
    }

    /// Claims that nothing of it was in the page cache before each cold read, as `read` calls one, or that all
    /// reads were direct. To be called after them.
    pub(super) fn claim(&self, b: &mut Bencher, read: &str) -> Result<(), Failure> {
        match self.state {
            State::Warm => Ok(()),
            State::Cold => {
                let claim = format!("pages of the file in the page cache before {read}");
                self.cache.claim_seen(b, &claim, 0, self.left.get());
                Ok(())
            }
            State::Direct => self.claim_direct(b),
        }
    }

    /// Claims that its descriptor is open for direct I/O, and that reads left nothing in the page cache.
    fn claim_direct(&self, b: &mut Bencher) -> Result<(), Failure> {
        let file = self.file();
        claim_flag(b, file)?;
        let left = "pages that direct reads left in the page cache";
        self.cache.claim(b, left, 0)?;
        let (claim, source) = ("alignment of direct I/O, in bytes", "statx STATX_DIOALIGN");
        let least = Bound::AtLeast(1.0);
        match files::direct_alignment(file) {
            Ok(Some(alignment)) => b.claim_within(claim, least, alignment.offset as f64, source),
            Ok(None) => {
                let reason = "the kernel does not say that this file system has direct I/O";
                b.claim_unobserved(claim, least.fact(), source, reason);
            }
            Err(reason) => b.claim_unobserved(claim, least.fact(), source, reason),
        }
        Ok(())
    }
}

/// Checks that direct I/O of this many bytes, at multiples of them, is possible with a file that
/// is open for it and is several times as long. Returns the required alignment, where the kernel
/// reports it; where it does not, one read is tried, which may leave pages in the page cache.
///
/// # Errors
/// Unsupported where it is not possible.
pub(super) fn allowed_direct(file: &File, size: u64) -> Result<Option<Alignment>, Failure> {
    let alignment = files::direct_alignment(file).ok().flatten();
    let refused = match alignment {
        Some(alignment) => {
            let least = alignment.offset as u64;
            let refused = !size.is_multiple_of(least);
            refused.then(|| format!("direct I/O takes multiples of {least} bytes here"))
        }
        None => try_direct(file, size)?,
    };
    match refused {
        Some(reason) => Err(Failure::Unsupported(reason)),
        None => Ok(alignment),
    }
}

/// Reads the second block of this size. Returns the error, if it is about the size or the alignment.
fn try_direct(file: &File, size: u64) -> Result<Option<String>, Failure> {
    let mut buffer = Buffer::new(size as usize, ALIGNMENT);
    match pread(file, &mut buffer[..], size) {
        Ok(_) => Ok(None),
        Err(cause @ Errno::INVAL) => Ok(Some(format!(
            "direct I/O takes no {size} bytes at multiples of them here: {cause}"
        ))),
        Err(cause) => Err(Failure::of(
            &format!("pread of {size} bytes, directly"),
            cause,
        )),
    }
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_harness::directory::DEFAULT;
    use syscost_results::Verdict;

    use super::*;
    use crate::fs::access::{Access, Blocks};
    use crate::fs::reader::Reader;
    use crate::fs::space::tests::on_disk;
    use crate::testing::{claims, found_of};

    #[test]
    fn a_direct_read_through_the_cache_is_refuted() {
        let expect = [calls(Sysno::PREAD64)];
        let findings = found_of(&Case::default(), Pass::Evidence, &expect, |b| {
            let (size, all) = (Bytes::kib(4), 8 << 20);
            let mut source = Source::open(b, DEFAULT, all, State::Cold, size)?;
            source.state = State::Direct;
            let access = Access::Random;
            let mut reader = Reader::of(b, &source, Blocks { access, size, all });
            b.expect(at_most(Counter::VoluntarySwitches, 2.0));
            b.single(|| Ok(()), || reader.read())?;
            source.claim(b, "a read")
        });
        let Some(findings) = findings else { return };
        let refuted = claims(&findings, Verdict::Refuted);
        let left = "pages that direct reads left in the page cache";
        for claim in ["O_DIRECT of the open file", left] {
            assert!(refuted.contains(&claim), "{refuted:?}");
        }
    }

    #[test]
    fn a_read_decides_where_the_kernel_does_not_say() {
        let Some(space) = on_disk() else {
            return println!("skipped: no disk");
        };
        let written = space.file("tried", 1 << 20, 1).expect("a file");
        let Ok(file) = written.open_direct() else {
            return println!("skipped: no direct I/O here");
        };
        assert_eq!(try_direct(&file, 64 << 10), Ok(None));
        allowed_direct(&file, 64 << 10).expect("a multiple of any block");
        // No device has blocks this short; a file system that reads through its cache accepts them.
        if let Ok(Some(_)) = files::direct_alignment(&file) {
            let tried = try_direct(&file, 100).expect("it is refused for its size");
            assert!(tried.is_some_and(|reason| reason.contains("100 bytes")));
            let refused = allowed_direct(&file, 100);
            assert!(
                matches!(refused, Err(Failure::Unsupported(_))),
                "{refused:?}"
            );
        }
    }
}
