//! One page fault of a program, with the caches as its own work left them.
//!
//! ## Measures
//! The first touch of one page, timed individually, after `displaced` bytes of the user's own data were read.
//! `anonymous`: a write to fresh memory. `stack`: the same below the end of the first thread's stack, which
//! grows. `file`: a read of a mapped file in the page cache, with what the kernel maps around it.
//! `file_write`: a write to a private mapping of such a file, which copies the page.
//! ## Does not measure
//! Faults that read from a device, huge pages.
//! ## Interpretation
//! A file's fault usually maps sixteen pages, so that a program has fewer of them than it touches pages.
//! ## Source
//! The weights of faults in bills of common programs.
#![allow(unsafe_code)] // pages of mappings

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hint::black_box;
use std::ops::Range;
use std::ptr;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};
use syscost_harness::prelude::*;

use super::{call, displaced};
use crate::memory::space::area::Area;
use crate::memory::space::pagemap;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A page fault of a program",
    tags: "bill, cold cache, minor fault",
    expect: &[exactly(Counter::MinorFaults, 1.0)],
    ..Benchmark::of::<Fault>()
};

/// The page and what is done with it.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Anonymous,
    Stack,
    File,
    FileWrite,
}

#[derive(Params, Clone)]
struct Fault {
    kind: Kind,
    /// Bytes of other data that are read before each fault.
    displaced: Bytes,
}

static PAGE: Witness = Witness::of("the page before and after each fault", "pagemap, maps");

impl Measured for Fault {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Fault {
            kind: Kind::ALL,
            displaced: displaced::SIZES
        })
    }

    fn proofs(&self) -> FaultProofs<Proof> {
        FaultProofs {
            kind: PAGE.expects(match self.kind {
                Kind::Anonymous => "absent, then its own, of memory",
                Kind::Stack => "absent, then its own, of [stack]",
                Kind::File => "absent, then the file's, of a file",
                Kind::FileWrite => "absent, then its own, of a file",
            }),
            displaced: displaced::proof(self.displaced),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let page = page_size();
        match self.kind {
            Kind::Anonymous => {
                let area = Area::reserve(COUNT * page, Pages::Small)?;
                let touched = Touched::upwards(area.page(0), 1, true);
                touched.measure(plan, self.displaced, || area.forget())
            }
            Kind::File => {
                let space = call::space(&mut plan)?;
                let mapping = Mapping::of(&call::file(&space, COUNT * AROUND * page)?)?;
                let touched = Touched::upwards(mapping.start, AROUND, false);
                touched.measure(plan, self.displaced, || mapping.forget())
            }
            Kind::FileWrite => {
                let space = call::space(&mut plan)?;
                let mapping = Mapping::of(&call::file(&space, COUNT * page)?)?;
                let touched = Touched::upwards(mapping.start, 1, true);
                touched.measure(plan, self.displaced, || mapping.forget())
            }
            Kind::Stack => {
                let mut begun = false;
                let touched = Touched {
                    start: below_stack(COUNT * page)?,
                    step: -(page as isize),
                    count: COUNT,
                    writes: true,
                };
                touched.measure(plan, self.displaced, || {
                    match std::mem::replace(&mut begun, true) {
                        false => Ok(()),
                        true => Err(Failure::of("grow the stack", "it has grown enough")),
                    }
                })
            }
        }
    }
}

/// Pages that are touched before they are given back.
const COUNT: usize = 256;

/// Pages that a fault maps at most: two of the pieces in which the page cache keeps the file, which lie
/// around the sixteen pages that it maps by default.
const AROUND: usize = 32;

/// Pages that are touched one after the other.
struct Touched {
    start: *mut u8,
    /// Bytes from one to the next.
    step: isize,
    count: usize,
    writes: bool,
}

impl Touched {
    /// Each this number of pages above the last.
    fn upwards(start: *mut u8, pages: usize, writes: bool) -> Self {
        Self {
            start,
            step: (pages * page_size()) as isize,
            count: COUNT,
            writes,
        }
    }

    /// Measures touches. `renew` makes all pages as they were.
    fn measure<'p>(
        self,
        plan: Plan<'p>,
        displaced: Bytes,
        mut renew: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Outcome<'p>, Failure> {
        let next = Cell::new(self.count);
        let page = || self.start.wrapping_offset(self.step * next.get() as isize);
        let (before, touched) = (Cell::new(""), Cell::new(false));
        let mut seen = BTreeSet::new();
        let prepare = || {
            if touched.replace(false) {
                let (before, after) = (before.get(), state(page())?);
                seen.insert(format!("{before}, then {after}, of {}", mapped(page())?));
                next.set(next.get() + 1);
            }
            if next.get() == self.count {
                renew()?;
                next.set(0);
            }
            before.set(state(page())?);
            Ok(())
        };
        let touch = || {
            touched.set(true);
            match self.writes {
                // SAFETY: a page of a mapping that may be written, or of the stack, which grows.
                true => unsafe { page().write_volatile(1) },
                // SAFETY: a page of a mapping.
                false => drop(black_box(unsafe { page().read_volatile() })),
            }
            Ok(())
        };
        let mut outcome = displaced::measure(plan, displaced, prepare, touch)?;
        outcome.observe(&PAGE, Vec::from_iter(seen).join("; "));
        Ok(outcome)
    }
}

/// Whose a page is.
fn state(page: *const u8) -> Result<&'static str, Failure> {
    let seen = pagemap::look(page, page_size())?;
    Ok(match (seen.present, seen.of_file, seen.exclusive) {
        (0, ..) => "absent",
        (_, 1.., _) => "the file's",
        (.., 0) => "shared",
        _ => "its own",
    })
}

/// What is mapped at an address, in words.
fn mapped(at: *const u8) -> Result<String, Failure> {
    let maps = maps()?;
    let found = mappings(&maps).find(|(addresses, _)| addresses.contains(&at.addr()));
    let words = found.map_or("nothing", |(_, name)| match name {
        "" => "memory",
        name if name.starts_with('/') => "a file",
        name => name,
    });
    Ok(words.to_owned())
}

/// The page below the first thread's stack, which may grow by this number of bytes.
fn below_stack(bytes: usize) -> Result<*mut u8, Failure> {
    let maps = maps()?;
    let found = mappings(&maps).find(|(_, name)| *name == "[stack]");
    let (stack, _) = found.ok_or_else(|| Unsupported::new("/proc/self/maps names no stack"))?;
    let limit = getrlimit(Resource::Stack).current;
    match limit.is_some_and(|limit| limit < (stack.len() + bytes) as u64) {
        true => Err(Unsupported::new("the stack may not grow so far (`ulimit -s`)").into()),
        false => Ok(ptr::with_exposed_provenance_mut(stack.start - page_size())),
    }
}

fn maps() -> Result<String, Failure> {
    fs::read_to_string("/proc/self/maps").tried("read /proc/self/maps")
}

/// Where each mapping is, and its name.
fn mappings(maps: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    maps.lines().filter_map(|line| {
        let (addresses, rest) = line.split_once(' ')?;
        let (from, to) = addresses.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        // Rights, offset, device and inode come before the name.
        let name = rest.splitn(5, ' ').nth(4).unwrap_or_default();
        Some((address(from)?..address(to)?, name.trim_start()))
    })
}

/// A private mapping of a whole file.
struct Mapping {
    start: *mut u8,
    bytes: usize,
}

impl Mapping {
    fn of(file: &File) -> Result<Self, Failure> {
        let bytes = file.metadata().tried("fstat")?.len() as usize;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let start = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::PRIVATE, file, 0) };
        let start = start.tried("mmap")?.cast();
        Ok(Self { start, bytes })
    }

    /// Has no page mapped any more.
    fn forget(&self) -> Result<(), Failure> {
        // SAFETY: the whole mapping, of which nothing is needed.
        unsafe { madvise(self.start.cast(), self.bytes, Advice::LinuxDontNeed) }.tried("madvise")
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing refers to it.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}
