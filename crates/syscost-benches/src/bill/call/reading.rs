//! Reading and writing: files, directories, pipes, devices.
#![allow(unsafe_code)] // getdents64 into a buffer

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;

use rustix::fs::{SeekFrom, seek, tell};
use rustix::io::{Errno, pread, pwrite, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall3;

use super::names::{NAMES, Names};
use super::{Bench, Kind, Returns, file, nothing};
use crate::fs::entries::BUFFER_BYTES;
use crate::syscall::subject::NULL;

/// Bytes of a KiB.
const KIB: usize = 1 << 10;

pub(super) const KINDS: &[Kind] = &[
    Kind::of("read_512", Sysno::READ, |bench| read_next(bench, 512))
        .on("file")
        .returning(Returns::Number(512)),
    Kind::of("read_4K", Sysno::READ, |bench| read_next(bench, 4 * KIB))
        .on("file")
        .returning(Returns::Number(4 << 10)),
    Kind::of("read_first_512", Sysno::READ, |bench| {
        read_first(bench, 512)
    })
    .on(FIRST_OF_ANOTHER)
    .returning(Returns::Number(512)),
    Kind::of("read_first_4K", Sysno::READ, |bench| {
        read_first(bench, 4 * KIB)
    })
    .on(FIRST_OF_ANOTHER)
    .returning(Returns::Number(4 << 10)),
    Kind::of("read_first_64K", Sysno::READ, |bench| {
        read_first(bench, 64 * KIB)
    })
    .on(FIRST_OF_ANOTHER)
    .returning(Returns::Number(64 << 10)),
    Kind::of("read_64K", Sysno::READ, |bench| read_next(bench, 64 * KIB))
        .on("file")
        .returning(Returns::Number(64 << 10)),
    Kind::of("read_1M", Sysno::READ, |bench| read_next(bench, KIB * KIB))
        .on("file")
        .returning(Returns::Number(1 << 20)),
    Kind::of("read_end", Sysno::READ, read_end)
        .on("file")
        .given(&[(2, "bytes", ArgumentValue::Always(4 << 10))])
        .returning(Returns::Number(0)),
    Kind::of("pread_4K", Sysno::PREAD64, pread_next)
        .on("file")
        .returning(Returns::Number(4 << 10)),
    Kind::of("write_new_4K", Sysno::WRITE, |bench| append(bench, 4 * KIB))
        .on("file")
        .returning(Returns::Number(4 << 10)),
    Kind::of("write_new_64K", Sysno::WRITE, |bench| {
        append(bench, 64 * KIB)
    })
    .on("file")
    .returning(Returns::Number(64 << 10)),
    Kind::of("write_again_4K", Sysno::PWRITE64, write_again)
        .on("file")
        .returning(Returns::Number(4 << 10)),
    Kind::of("read_pipe", Sysno::READ, read_pipe)
        .on("pipe")
        .returning(Returns::Number(MESSAGE.len() as u64)),
    Kind::of("write_pipe", Sysno::WRITE, write_pipe)
        .on("pipe")
        .returning(Returns::Number(MESSAGE.len() as u64)),
    Kind::of("write_null", Sysno::WRITE, write_null)
        .on("CharacterDevice /dev/null")
        .returning(Returns::Number(MESSAGE.len() as u64)),
    Kind::of("lseek", Sysno::LSEEK, lseek).on("file"),
    Kind::of("getdents_10", Sysno::GETDENTS64, |bench| {
        getdents(bench, 10, false)
    })
    .on("directory")
    .returning(Returns::Number(listed(10))),
    Kind::of("getdents_1000", Sysno::GETDENTS64, |bench| {
        getdents(bench, 1000, false)
    })
    .on("directory")
    .returning(Returns::Number(listed(1000))),
    Kind::of("getdents_end", Sysno::GETDENTS64, |bench| {
        getdents(bench, 10, true)
    })
    .on("directory")
    .returning(Returns::Number(0)),
];

/// What is written to pipes and devices.
const MESSAGE: [u8; 100] = [b'x'; 100];

/// Bytes of the file that is read: more than fits in caches of the second level.
const LARGE: usize = 32 << 20;

/// Bytes of this number of entries with names of ten letters, and of the two for the directory itself and its
/// parent.
const fn listed(entries: u64) -> u64 {
    32 * entries + 2 * 24
}

/// Offsets in the large file, one after the other.
struct Offsets {
    step: u64,
    next: Cell<u64>,
}

impl Offsets {
    fn of(step: usize) -> Self {
        Self {
            step: step as u64,
            next: Cell::new(0),
        }
    }

    fn next(&self) -> u64 {
        let offset = self.next.get();
        self.next.set((offset + self.step) % LARGE as u64);
        offset
    }
}

fn read_next(mut bench: Bench<'_>, bytes: usize) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let file = file(&space, LARGE)?;
    let (mut buffer, offsets) = (vec![1; bytes], Offsets::of(bytes));
    bench.on(&file).measure(
        || go_to(&file, offsets.next()),
        || read(&file, &mut *buffer),
    )
}

/// Another file each time, which is read from its beginning.
const FIRST_OF_ANOTHER: &str = "file, another one, from its beginning";

/// All of a small file by the first call after it was opened.
fn read_first(mut bench: Bench<'_>, bytes: usize) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::of_content(&space, NAMES.min(LARGE / bytes), &vec![1; bytes])?;
    let open = || names.open_next().tried("open").map(File::from);
    let first = open()?;
    let bench = bench.made_on(&first);
    let after = Rc::clone(&bench.after);
    after.set(FIRST_OF_ANOTHER.trim_start_matches("file"));
    let (mut buffer, is_read) = (vec![1; bytes], Cell::new(false));
    let (file, number) = (RefCell::new(first), Cell::new(0));
    let prepare = || {
        let new = open()?;
        let new_number = new.metadata().tried("fstat")?.ino();
        let is_another = number.replace(new_number) != new_number;
        let last = file.replace(new);
        let is_from_its_beginning = tell(&last).tried("lseek")? == bytes as u64;
        if is_read.replace(false) && !(is_another && is_from_its_beginning) {
            after.set(", the same one, or not from its beginning");
        }
        Ok(())
    };
    bench.measure(prepare, || {
        is_read.set(true);
        read(&*file.borrow(), &mut *buffer)
    })
}

/// Sets the position, which audited copies of this process share.
fn go_to(file: &File, offset: u64) -> Result<(), Failure> {
    seek(file, SeekFrom::Start(offset)).tried("lseek").map(drop)
}

fn read_end(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let file = file(&space, 4 * KIB)?;
    let mut buffer = [1; 4 * KIB];
    bench
        .on(&file)
        .measure(nothing, || read(&file, &mut buffer))
}

fn pread_next(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let file = file(&space, LARGE)?;
    let (mut buffer, offsets) = (vec![1; 4 * KIB], Offsets::of(4 * KIB));
    bench
        .on(&file)
        .measure(nothing, || pread(&file, &mut *buffer, offsets.next()))
}

fn append(mut bench: Bench<'_>, bytes: usize) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let file = file(&space, 0)?;
    let content = vec![1; bytes];
    let end = || {
        seek(&file, SeekFrom::End(0)).tried("lseek")?;
        Ok(())
    };
    bench.on(&file).measure(end, || write(&file, &content))
}

fn write_again(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let file = file(&space, LARGE)?;
    let (content, offsets) = (vec![2; 4 * KIB], Offsets::of(4 * KIB));
    bench
        .on(&file)
        .measure(nothing, || pwrite(&file, &content, offsets.next()))
}

fn read_pipe(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (reader, writer) = pipe()?;
    let mut buffer = [1; 4 * KIB];
    let prepare = || {
        drain(&reader)?;
        write(&writer, &MESSAGE).tried("write").map(drop)
    };
    bench
        .on(&reader)
        .measure(prepare, || read(&reader, &mut buffer))
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).tried("make a pipe")
}

fn write_pipe(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (reader, writer) = pipe()?;
    bench
        .on(&writer)
        .measure(|| drain(&reader), || write(&writer, &MESSAGE))
}

/// Reads all that has arrived.
pub(super) fn drain(reader: impl AsFd) -> Result<(), Failure> {
    let mut buffer = [0; 4 * KIB];
    loop {
        match read(&reader, &mut buffer) {
            Ok(0) | Err(Errno::AGAIN) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(Failure::of("read", error)),
        }
    }
}

fn write_null(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let null = NULL.open()?;
    bench.on(&null).measure(nothing, || write(&null, &MESSAGE))
}

fn lseek(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let file = file(&space, LARGE)?;
    let offsets = Offsets::of(4 * KIB);
    bench
        .on(&file)
        .measure(nothing, || seek(&file, SeekFrom::Start(offsets.next())))
}

/// All entries by one call, or the end after them.
fn getdents(mut bench: Bench<'_>, entries: usize, at_end: bool) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::files(&space, entries)?;
    let directory = &names.directory;
    let mut buffer = vec![1_u8; BUFFER_BYTES];
    let (number, place) = (directory.as_raw_fd() as usize, buffer.as_mut_ptr());
    let get = || {
        let place = place.expose_provenance();
        // SAFETY: the buffer has this size, and outlives the call.
        let got = unsafe { syscall3(Sysno::GETDENTS64, number, place, BUFFER_BYTES) };
        match usize::try_from(got) {
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(Errno::from_raw_os_error(-got as i32)),
        }
    };
    let prepare = || {
        seek(directory, SeekFrom::Start(0)).tried("lseek")?;
        if at_end {
            while get().tried("getdents64")? > 0 {}
        }
        Ok(())
    };
    bench.on(directory).measure(prepare, get)
}
