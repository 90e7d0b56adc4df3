//! The operations, and what is claimed of their calls.

use std::borrow::Cow;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use syscost_harness::prelude::*;

use crate::fs::durable::Sync;
use crate::fs::entries::{CREATE, PRIVATE};
use crate::syscall::Bad;

/// How an existing file is opened.
pub(super) const OPEN: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

/// The modes that chmod sets alternately: owner only, or readable by the group as well.
pub(super) const MODES: [Mode; 2] = [PRIVATE, PRIVATE.union(Mode::RGRP)];

const _: () = assert!(
    MODES[0].bits() != MODES[1].bits(),
    "chmod is to change something"
);

/// An operation on a name, by what it does to the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fs) enum Op {
    /// Adds an entry.
    Make(Made),
    /// Removes an entry.
    Remove(Removed),
    /// Leaves the only file, perhaps under another name.
    Keep(Kept),
}

/// What an operation makes.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fs) enum Made {
    #[value("create")]
    File,
    Link,
    Symlink,
    #[value("mkdir")]
    Directory,
}

/// What an operation removes.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fs) enum Removed {
    #[value("unlink")]
    File,
    #[value("rmdir")]
    Directory,
}

impl Removed {
    /// What it removes.
    pub(super) const fn kind(self) -> Made {
        match self {
            Removed::File => Made::File,
            Removed::Directory => Made::Directory,
        }
    }
}

/// What is done with the file that stays.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fs) enum Kept {
    Open,
    Stat,
    Chmod,
    Rename,
}

impl Op {
    pub(super) const ALL: [Op; 10] = [
        Op::Make(Made::File),
        Op::Keep(Kept::Open),
        Op::Keep(Kept::Stat),
        Op::Keep(Kept::Chmod),
        Op::Keep(Kept::Rename),
        Op::Make(Made::Link),
        Op::Make(Made::Symlink),
        Op::Remove(Removed::File),
        Op::Make(Made::Directory),
        Op::Remove(Removed::Directory),
    ];

    /// The operation that people look at first.
    pub(in crate::fs) const CREATE: Op = Op::Make(Made::File);

    const fn name(self) -> &'static str {
        match self {
            Op::Make(made) => made.name(),
            Op::Remove(removed) => removed.name(),
            Op::Keep(kept) => kept.name(),
        }
    }

    /// What may follow it: there is something to sync if it changes its directory.
    pub(super) const fn syncs(self) -> &'static [Sync] {
        match self {
            Op::Make(_) | Op::Remove(_) | Op::Keep(Kept::Rename) => &Sync::ALL,
            Op::Keep(Kept::Open | Kept::Stat | Kept::Chmod) => &[Sync::None],
        }
    }

    /// Its system calls, each made once.
    pub(super) const fn calls(self) -> &'static [Sysno] {
        match self {
            Op::Make(Made::File) | Op::Keep(Kept::Open) => &[Sysno::OPENAT, Sysno::CLOSE],
            Op::Make(Made::Link) => &[Sysno::LINKAT],
            Op::Make(Made::Symlink) => &[Sysno::SYMLINKAT],
            Op::Make(Made::Directory) => &[Sysno::MKDIRAT],
            Op::Remove(_) => &[Sysno::UNLINKAT],
            Op::Keep(Kept::Stat) => &[Sysno::NEWFSTATAT],
            Op::Keep(Kept::Chmod) => &[Sysno::FCHMODAT],
            Op::Keep(Kept::Rename) => &[Sysno::RENAMEAT],
        }
    }

    /// Proof by its calls, and by the arguments of the first one that make it this operation.
    pub(super) fn proof(self) -> Proof {
        let is = |position, name, value| (position, name, ArgumentValue::Always(value));
        let is_new = |position| (position, "name", ArgumentValue::Different);
        let [private, shared] = MODES.map(|mode| u64::from(mode.bits()));
        let expected = match self {
            Op::Make(Made::File) => vec![is_new(1), is(2, "flags", opened(CREATE))],
            Op::Make(Made::Link) => vec![is_new(3), is(4, "flags", 0)],
            Op::Make(Made::Symlink) => vec![is_new(2)],
            Op::Make(Made::Directory) => vec![is_new(1)],
            Op::Remove(Removed::File) => vec![is_new(1), is(2, "flags", 0)],
            Op::Remove(Removed::Directory) => {
                let flag = AtFlags::REMOVEDIR.bits().into();
                vec![is_new(1), is(2, "flags", flag)]
            }
            Op::Keep(Kept::Open) => vec![is(2, "flags", opened(OPEN))],
            Op::Keep(Kept::Stat) => vec![is(3, "flags", 0)],
            Op::Keep(Kept::Chmod) => vec![(2, "mode", ArgumentValue::InTurn(private, shared))],
            // The new name in one call is the old one in the next.
            Op::Keep(Kept::Rename) => vec![
                (1, "old name", ArgumentValue::Apart(1)),
                (3, "new name", ArgumentValue::Apart(1)),
            ],
        };
        let counted = Proof::counted(self.calls().iter().map(|call| calls(*call)));
        let argument =
            |(position, name, given)| Proof::argument(self.calls()[0], (position, name), given);
        expected.into_iter().map(argument).fold(counted, Proof::and)
    }

    /// The failure for one of its errors. Not every file system has links and modes.
    pub(super) fn refused(self, bad: Bad) -> Failure {
        let missing = match self {
            Op::Make(Made::Link) => "hard links",
            Op::Make(Made::Symlink) => "symbolic links",
            Op::Keep(Kept::Chmod) => "modes of files",
            Op::Make(Made::File | Made::Directory)
            | Op::Remove(_)
            | Op::Keep(Kept::Open | Kept::Stat | Kept::Rename) => {
                return Failure::of(self.name(), bad);
            }
        };
        match bad {
            Bad::Refused(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                Failure::Unsupported(format!("this file system has no {missing}: {bad}"))
            }
            Bad::Refused(_) | Bad::Answer => Failure::of(self.name(), bad),
        }
    }
}

impl Value for Op {
    const MEANING: &'static str = "The operation on a name, by what it does to the directory.";

    fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.name())
    }
}

/// Flags of openat as the kernel receives them.
fn opened(flags: OFlags) -> u64 {
    (flags | OFlags::LARGEFILE).bits().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_system_lacks_is_unsupported_and_what_it_refuses_is_not() {
        let refused = |op: Op, errno| op.refused(Bad::Refused(errno));
        let none = refused(Op::Make(Made::Link), Errno::PERM);
        assert!(matches!(none, Failure::Unsupported(_)), "{none:?}");
        for errno in [
            Errno::NOSPC,
            Errno::DQUOT,
            Errno::ROFS,
            Errno::MFILE,
            Errno::IO,
        ] {
            let failure = refused(Op::CREATE, errno);
            assert!(matches!(failure, Failure::Failed(_)), "{failure:?}");
            assert!(failure.to_string().starts_with("create: "), "{failure}");
        }
    }
}
