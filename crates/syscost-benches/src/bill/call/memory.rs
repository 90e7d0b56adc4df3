//! Mappings, of 128 KiB each, and the heap.
#![allow(unsafe_code)] // mappings

use std::cell::Cell;
use std::ffi::c_void;
use std::fs::File;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap,
};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall1;

use super::{Bench, Kind, Returns, file, nothing};

pub(super) const KINDS: &[Kind] = &[
    Kind::of("mmap_anonymous", Sysno::MMAP, |bench| map(bench, false))
        .given(&[WHOLE, (3, "flags", flags(ANONYMOUS))]),
    Kind::of("mmap_file", Sysno::MMAP, |bench| map(bench, true))
        .given(&[WHOLE, (3, "flags", flags(MapFlags::PRIVATE))]),
    Kind::of("munmap", Sysno::MUNMAP, unmap).given(&[WHOLE]),
    Kind::of("mprotect", Sysno::MPROTECT, protect).given(&[
        (1, "length", ArgumentValue::Always(LENGTH as u64 / 2)),
        (
            2,
            "access",
            ArgumentValue::Always(MprotectFlags::READ.bits() as u64),
        ),
    ]),
    Kind::of("madvise", Sysno::MADVISE, forget).given(&[
        WHOLE,
        (
            2,
            "advice",
            ArgumentValue::Always(libc::MADV_DONTNEED as u64),
        ),
    ]),
    Kind::of("brk", Sysno::BRK, grow)
        .given(&[(0, "end", ArgumentValue::Apart(GROWN as u64))])
        .returning(Returns::Number(GROWN as u64)),
];

/// Bytes of a mapping.
const LENGTH: usize = 128 << 10;

/// The length that proves that a call is on a whole mapping, in bytes.
const WHOLE: (usize, &str, ArgumentValue) = (1, "length", ArgumentValue::Always(LENGTH as u64));

/// Bytes by which the C library has the heap grow.
const GROWN: usize = 132 << 10;

const ANONYMOUS: MapFlags = MapFlags::PRIVATE.union(MapFlags::from_bits_retain(0x20));

const fn flags(flags: MapFlags) -> ArgumentValue {
    ArgumentValue::Always(flags.bits() as u64)
}

/// A mapping that is removed when dropped.
struct Mapping(*mut c_void);

impl Mapping {
    fn anonymous() -> Result<Self, Errno> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        unsafe { mmap_anonymous(ptr::null_mut(), LENGTH, access, MapFlags::PRIVATE) }.map(Self)
    }

    fn of(file: &File) -> Result<Self, Errno> {
        // SAFETY: as above.
        unsafe {
            mmap(
                ptr::null_mut(),
                LENGTH,
                ProtFlags::READ,
                MapFlags::PRIVATE,
                file,
                0,
            )
        }
        .map(Self)
    }

    /// Touches each page.
    fn write(&self) {
        for offset in (0..LENGTH).step_by(page_size()) {
            // SAFETY: within a mapping that may be written.
            unsafe { self.0.cast::<u8>().add(offset).write_volatile(1) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing refers to it.
        let _ = unsafe { munmap(self.0, LENGTH) };
    }
}

fn map(mut bench: Bench<'_>, of_file: bool) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let file = file(&space, LENGTH)?;
    let mapped = Cell::new(None);
    let unmap = || {
        drop(mapped.take());
        Ok(())
    };
    bench.measure(unmap, || {
        mapped.set(Some(match of_file {
            true => Mapping::of(&file)?,
            false => Mapping::anonymous()?,
        }));
        Ok(())
    })
}

fn touched() -> Result<Mapping, Failure> {
    let mapping = Mapping::anonymous().tried("mmap")?;
    mapping.write();
    Ok(mapping)
}

fn unmap(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let mapped = Cell::new(ptr::null_mut());
    let prepare = || {
        let mapping = touched()?;
        mapped.set(mapping.0);
        std::mem::forget(mapping);
        Ok(())
    };
    bench.measure(prepare, || {
        // SAFETY: a whole mapping, to which nothing refers.
        unsafe { munmap(mapped.get(), LENGTH) }
    })
}

/// The middle of a mapping becomes one of its own.
fn protect(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let mapped = Cell::new(None);
    let middle = Cell::new(ptr::null_mut());
    let prepare = || {
        drop(mapped.take());
        let mapping = touched()?;
        middle.set(mapping.0.wrapping_byte_add(LENGTH / 4));
        mapped.set(Some(mapping));
        Ok(())
    };
    bench.measure(prepare, || {
        // SAFETY: within the mapping, to which nothing refers.
        unsafe { mprotect(middle.get(), LENGTH / 2, MprotectFlags::READ) }
    })
}

fn forget(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let mapping = touched()?;
    let prepare = || {
        mapping.write();
        Ok(())
    };
    bench.measure(prepare, || {
        // SAFETY: the whole mapping, whose content is not needed.
        unsafe { madvise(mapping.0, LENGTH, Advice::LinuxDontNeed) }
    })
}

/// Never shrinks the heap again: it is the C library's, which may have used what lies above meanwhile.
fn grow(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let end = Cell::new(0);
    let prepare = || {
        // SAFETY: 0 is not a possible end, so nothing moves.
        end.set(unsafe { syscall1(Sysno::BRK, 0) }.cast_unsigned());
        nothing()
    };
    bench.measure(prepare, || {
        // SAFETY: the heap only gets larger.
        let answer = unsafe { syscall1(Sysno::BRK, end.get() + GROWN) }.cast_unsigned();
        Ok(answer.wrapping_sub(end.get()))
    })
}
