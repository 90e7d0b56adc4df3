//! Calls on names.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, accessat, getxattr, mkdirat, openat, readlinkat_raw,
    renameat, statat, symlinkat, unlinkat,
};
use rustix::io::{Errno, write};
use rustix::process::fchdir;
use syscost_harness::prelude::*;

use super::{Bench, Kind, Returns, nothing};
use crate::fs::entries::{self, CREATE, DIRECTORY, PRIVATE};
use crate::fs::inodes;
use crate::fs::space::Space;
use crate::syscall::Bad;

/// Another name in each call, by its address.
const OTHER_NAME: (usize, &str, ArgumentValue) = (1, "name", ArgumentValue::Different);
const MISSING: Returns = Returns::Error(&[Errno::NOENT]);

/// How an existing file is opened.
const OPEN: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

pub(super) const KINDS: &[Kind] = &[
    Kind::of("stat", Sysno::NEWFSTATAT, stat).given(&[OTHER_NAME]),
    Kind::of("stat_missing", Sysno::NEWFSTATAT, stat_missing)
        .given(&[OTHER_NAME])
        .returning(MISSING),
    Kind::of("access", Sysno::FACCESSAT, access).given(&[OTHER_NAME]),
    Kind::of("readlink", Sysno::READLINKAT, readlink)
        .given(&[OTHER_NAME])
        .returning(Returns::Number(TARGET.count_bytes() as u64)),
    Kind::of("getxattr", Sysno::GETXATTR, attribute)
        .given(&[(0, "name", ArgumentValue::Different)])
        .returning(Returns::Error(&[Errno::NODATA, Errno::OPNOTSUPP])),
    Kind::of("open", Sysno::OPENAT, open).given(&[OTHER_NAME, (2, "flags", flags(OPEN))]),
    Kind::of("open_missing", Sysno::OPENAT, open_missing)
        .given(&[OTHER_NAME])
        .returning(MISSING),
    Kind::of("open_directory", Sysno::OPENAT, open_directory)
        .given(&[OTHER_NAME, (2, "flags", flags(DIRECTORY))]),
    Kind::of("create", Sysno::OPENAT, create).given(&[(2, "flags", flags(CREATE))]),
    Kind::of("mkdir", Sysno::MKDIRAT, mkdir),
    Kind::of("unlink", Sysno::UNLINKAT, unlink).given(&[(2, "flags", ArgumentValue::Always(0))]),
    Kind::of("rmdir", Sysno::UNLINKAT, rmdir).given(&[(
        2,
        "flags",
        ArgumentValue::Always(AtFlags::REMOVEDIR.bits() as u64),
    )]),
    Kind::of("rename", Sysno::RENAMEAT, rename),
];

const fn flags(flags: OFlags) -> ArgumentValue {
    ArgumentValue::Always(flags.union(OFlags::LARGEFILE).bits() as u64)
}

/// The target of links.
const TARGET: &CStr = c"target";

/// Names that are used in turn.
pub(super) const NAMES: usize = 1000;

/// As many directories, which take longer to make.
const DIRECTORIES: usize = 100;

/// Names in a directory, each of which is of one that exists, or is missing.
pub(super) struct Names {
    pub(super) directory: OwnedFd,
    names: Vec<CString>,
    next: Cell<usize>,
}

impl Names {
    /// This number of names in a new directory; this is done with each.
    fn make(
        space: &Space,
        count: usize,
        each: impl Fn(&OwnedFd, &CStr) -> Result<(), Bad>,
    ) -> Result<Self, Failure> {
        let parent = entries::open_directory(space.folder())?;
        let directory = entries::make_directory(&parent, c"names")?;
        let names: Vec<CString> = (0..count).map(entries::name).collect();
        for name in &names {
            each(&directory, name).tried("make an entry")?;
        }
        Ok(Self {
            directory,
            names,
            next: Cell::new(0),
        })
    }

    /// This number of files that hold this.
    pub(super) fn of_content(space: &Space, count: usize, content: &[u8]) -> Result<Self, Failure> {
        space.room_for((count * content.len()) as u64)?;
        Self::make(space, count, |directory, name| {
            let file = openat(directory, name, CREATE, PRIVATE)?;
            let written = write(&file, content)?;
            entries::close(file)?;
            (written == content.len()).then_some(()).ok_or(Bad::Answer)
        })
    }

    /// This number of empty files.
    pub(super) fn files(space: &Space, count: usize) -> Result<Self, Failure> {
        Self::make(space, count, entries::create)
    }

    /// None of them exists, which is known of each.
    fn missing(space: &Space) -> Result<Self, Failure> {
        Self::make(space, NAMES, |directory, name| {
            match statat(directory, name, AtFlags::empty()) {
                Err(Errno::NOENT) => Ok(()),
                Err(error) => Err(error.into()),
                Ok(_) => Err(Bad::Answer),
            }
        })
    }

    /// Opens the next one.
    pub(super) fn open_next(&self) -> Result<OwnedFd, Errno> {
        openat(&self.directory, self.next(), OPEN, Mode::empty())
    }

    fn next(&self) -> &CStr {
        let number = self.next.get();
        self.next.set((number + 1) % self.names.len());
        &self.names[number]
    }
}

fn stat(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::files(&space, NAMES)?;
    stat_of(bench, &names)
}

fn stat_missing(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    stat_of(bench, &Names::missing(&space)?)
}

fn stat_of<'p>(bench: Bench<'p>, names: &Names) -> Result<Outcome<'p>, Failure> {
    bench.measure(nothing, || {
        statat(&names.directory, names.next(), AtFlags::empty()).map(drop)
    })
}

fn access(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::files(&space, NAMES)?;
    bench.measure(nothing, || {
        accessat(
            &names.directory,
            names.next(),
            Access::READ_OK,
            AtFlags::empty(),
        )
    })
}

fn readlink(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::make(&space, NAMES, |directory, name| {
        Ok(symlinkat(TARGET, directory, name)?)
    })?;
    let mut target = [1_u8; 256];
    bench.measure(nothing, || {
        readlinkat_raw(&names.directory, names.next(), &mut target)
    })
}

/// Of names whose status was just asked for, as all do that list attributes. There is no form of it relative to
/// a directory: the working directory is changed.
fn attribute(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::files(&space, NAMES)?;
    let before = openat(CWD, c".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let before = before.tried("open the working directory")?;
    fchdir(&names.directory).tried("fchdir")?;
    let mut value = [1_u8; 256];
    let name = Cell::new(names.next());
    let look = || {
        name.set(names.next());
        let status = statat(CWD, name.get(), AtFlags::empty());
        status.tried("stat").map(drop)
    };
    let outcome = bench.measure(look, || getxattr(name.get(), c"user.syscost", &mut value));
    fchdir(&before).tried("fchdir")?;
    outcome
}

fn open(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    open_of(bench, &Names::files(&space, NAMES)?, OPEN)
}

fn open_missing(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    open_of(bench, &Names::missing(&space)?, OPEN)
}

fn open_directory(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::make(&space, DIRECTORIES, |directory, name| {
        Ok(mkdirat(directory, name, Mode::RWXU)?)
    })?;
    open_of(bench, &names, DIRECTORY)
}

fn open_of<'p>(bench: Bench<'p>, names: &Names, flags: OFlags) -> Result<Outcome<'p>, Failure> {
    let opened = Cell::new(None);
    let close = || {
        drop(opened.take());
        Ok(())
    };
    bench.measure(close, || {
        let made = openat(&names.directory, names.next(), flags, Mode::empty())?;
        opened.set(Some(made));
        Ok(())
    })
}

/// New names, each used once, also by the audited copies of this process.
struct Fresh {
    directory: OwnedFd,
    name: RefCell<CString>,
    made: Cell<u64>,
}

impl Fresh {
    /// In a directory before whose new inodes no removed ones have to be passed over.
    fn within(space: &Space) -> Result<Self, Failure> {
        let parent = entries::open_directory(space.folder())?;
        Ok(Self {
            directory: inodes::make_first(space, &parent)?,
            name: RefCell::default(),
            made: Cell::new(0),
        })
    }

    fn renew(&self) -> Result<(), Failure> {
        let number = self.made.get();
        self.made.set(number + 1);
        *self.name.borrow_mut() = Self::name(number)?;
        Ok(())
    }

    fn name(number: u64) -> Result<CString, Failure> {
        CString::new(format!("{}-{number}", std::process::id())).tried("make a name")
    }

    /// Claims that the file system searched for no inode.
    fn claim(&self, outcome: &mut Outcome, space: &Space) -> Result<(), Failure> {
        // The timer alone was timed after a preparation, too.
        let is_there = |name: &CString| statat(&self.directory, &**name, AtFlags::empty()).is_ok();
        let names = (0..self.made.get()).rev().map(Self::name);
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let newest: Vec<CString> = names.into_iter().filter(is_there).take(1).collect();
        inodes::claim_no_search(outcome, space, &self.directory, &newest, None);
        Ok(())
    }
}

fn create(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let fresh = Fresh::within(&space)?;
    let opened = Cell::new(None);
    let prepare = || {
        drop(opened.take());
        fresh.renew()
    };
    let mut outcome = bench.measure(prepare, || {
        let name = fresh.name.borrow();
        opened.set(Some(openat(&fresh.directory, &**name, CREATE, PRIVATE)?));
        Ok(())
    })?;
    fresh.claim(&mut outcome, &space)?;
    Ok(outcome)
}

fn mkdir(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let fresh = Fresh::within(&space)?;
    let mut outcome = bench.measure(
        || fresh.renew(),
        || mkdirat(&fresh.directory, &**fresh.name.borrow(), Mode::RWXU),
    )?;
    fresh.claim(&mut outcome, &space)?;
    Ok(outcome)
}

fn unlink(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let fresh = Fresh::within(&space)?;
    let page = vec![1; 4 << 10];
    let prepare = || {
        fresh.renew()?;
        openat(&fresh.directory, &**fresh.name.borrow(), CREATE, PRIVATE)
            .and_then(|file| write(file, &page))
            .tried("make a file")?;
        Ok(())
    };
    bench.measure(prepare, || {
        unlinkat(&fresh.directory, &**fresh.name.borrow(), AtFlags::empty())
    })
}

fn rmdir(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let fresh = Fresh::within(&space)?;
    let prepare = || {
        fresh.renew()?;
        mkdirat(&fresh.directory, &**fresh.name.borrow(), Mode::RWXU).tried("make a directory")
    };
    bench.measure(prepare, || {
        unlinkat(&fresh.directory, &**fresh.name.borrow(), AtFlags::REMOVEDIR)
    })
}

fn rename(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let fresh = Fresh::within(&space)?;
    let old = RefCell::new(CString::default());
    let prepare = || {
        fresh.renew()?;
        entries::create(&fresh.directory, &fresh.name.borrow()).tried("make a file")?;
        old.replace(fresh.name.borrow().clone());
        fresh.renew()
    };
    bench.measure(prepare, || {
        let (old, new) = (old.borrow(), fresh.name.borrow());
        renameat(&fresh.directory, &**old, &fresh.directory, &**new)
    })
}
