//! What was counted: plain data, in an order of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::ExitStatus;

use super::errno::errno_name;
use crate::Unsupported;
use crate::raw::Sysno;

/// An enum whose values have a word each.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $value,)* }

        impl $name {
            /// All of them, in their order.
            pub const ALL: &[$name] = &[$($name::$value,)*];

            /// The word for it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$value => $word,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

words! {
    /// What a descriptor is on which a call acts.
    Object {
        /// A regular file, in memory too (memfd).
        File "file",
        /// A directory.
        Directory "directory",
        /// A pipe or FIFO.
        Pipe "pipe",
        /// A TCP socket, of either version of IP.
        Tcp "TCP socket",
        /// A UNIX-domain socket of any type.
        Unix "UNIX socket",
        /// A socket of another family or protocol: UDP, netlink.
        OtherSocket "other socket",
        /// A terminal.
        Terminal "terminal",
        /// Another character device, as /dev/null.
        CharacterDevice "character device",
        /// An eventfd, epoll, timerfd, signalfd, pidfd, inotify or fanotify.
        Event "event",
        /// Anything else: a block device, an io_uring.
        Other "other",
    }
}

words! {
    /// What flags make of a call, where they make it another operation.
    Variant {
        /// Memory of the process's own (mmap).
        Anonymous "anonymous",
        /// A private mapping of a file (mmap).
        PrivateFile "private file",
        /// A mapping that is shared, of a file or of none (mmap).
        Shared "shared",
        /// Opened so that it is created if it is absent, or is a new one without a name (open).
        Create "create",
        /// Opened as a directory (open).
        Directory "directory",
        /// A thread is made (clone).
        Thread "thread",
        /// A process is made (clone).
        Process "process",
        /// A process is made, in the memory and the place of this one until it executes (clone).
        Vfork "vfork",
        /// Waits (futex).
        Wait "wait",
        /// Wakes (futex).
        Wake "wake",
        /// Locks or unlocks, or asks for locks (fcntl).
        Lock "lock",
        /// Duplicates a descriptor (fcntl).
        Duplicate "duplicate",
        /// Reads or sets flags (fcntl).
        Flags "flags",
        /// Gives memory back (madvise: DONTNEED, FREE).
        GiveBack "give back",
        /// The first of a descriptor since this process opened it (read).
        First "first",
    }
}

words! {
    /// What lies where a page fault happened in user mode.
    FaultKind {
        /// Memory of the process's own, but for heap and stack.
        Anonymous "anonymous",
        /// The heap that brk grows.
        Heap "heap",
        /// The stack of the first thread; those of others are anonymous memory.
        Stack "stack",
        /// A private mapping of a file that cannot be written: code and constants.
        File "file",
        /// A private mapping of a file that can be written: it is read, or copied for a write.
        WritableFile "writable file",
        /// A shared mapping.
        Shared "shared",
        /// The kernel's own code and data in user space: its clock (vDSO).
        Vdso "vDSO",
        /// Something else, or nothing of which a record was seen.
        Other "other",
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It returned this error.
    Failed(i32),
    /// A signal broke it off, in a way in which the program sees EINTR, or the kernel makes it again after
    /// the handler has returned: that one is counted, too. Where there is no handler and the kernel goes on
    /// with it at once, it is one call.
    Interrupted,
    /// The task ended in it: exit, exit_group, or whatever it was in when it was killed.
    NeverReturned,
}

/// Writes nothing for a success, the name of an error, or words.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Outcome::Ok => Ok(()),
            Outcome::Failed(errno) => match errno_name(errno) {
                Some(name) => f.write_str(name),
                None => write!(f, "error {errno}"),
            },
            Outcome::Interrupted => f.write_str("interrupted"),
            Outcome::NeverReturned => f.write_str("never returned"),
        }
    }
}

/// A kind of system call: calls that agree in all of this are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// Its number, in the table through which it came.
    pub number: u32,
    /// Whether that is another architecture's (`int 0x80` on x86-64).
    pub is_foreign: bool,
    /// What its flags make of it.
    pub variant: Option<Variant>,
    /// The descriptor on which it acts: of sendfile, splice and copy_file_range, that which is written to.
    pub object: Option<Object>,
    /// The [class](size_class) of the bytes that it moved or mapped, of successful calls that do; of those
    /// that make, replace or end a process, of the memory that it has.
    pub size: Option<u64>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Call {
    /// The call, if it came through this architecture's table and is known.
    pub fn sysno(&self) -> Option<Sysno> {
        (!self.is_foreign)
            .then(|| Sysno::from_number(self.number))
            .flatten()
    }
}

/// Writes `read file 4096`, `openat directory ENOENT`: the size is the upper end of the class.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sysno() {
            Some(call) => write!(f, "{call}")?,
            None if self.is_foreign => write!(f, "number {} of another table", self.number)?,
            None => write!(f, "number {}", self.number)?,
        }
        let parts = [
            self.variant.map(|variant| variant.to_string()),
            self.object.map(|object| object.to_string()),
            self.size.map(|size| size.to_string()),
            (self.outcome != Outcome::Ok).then(|| self.outcome.to_string()),
        ];
        let mut parts = parts.into_iter().flatten();
        parts.try_for_each(|part| write!(f, " {part}"))
    }
}

/// The class of a number of bytes, named by its upper end: 0, 1, 4, 16, 64 and so on by powers of 4. A class
/// holds what is larger than a quarter of its end.
pub fn size_class(bytes: u64) -> u64 {
    let mut end = u64::from(bytes > 0);
    while end < bytes {
        end = end.saturating_mul(4);
    }
    end
}

/// How many calls of a kind there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls.
    pub calls: u64,
    /// Bytes that they moved or mapped together.
    pub bytes: u64,
}

/// The page faults that happened in user mode. Those that the kernel runs into while it works for the
/// program, as when read(2) fills a new page, are not among them; [`Tally::faults_of_tasks`] has both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many there were of each kind.
    pub by_kind: BTreeMap<FaultKind, u64>,
    /// Records that the kernel could not write, of faults and mappings: if there are any, there are more
    /// faults than counted.
    pub lost: u64,
}

impl Faults {
    /// All that were seen.
    pub fn total(&self) -> u64 {
        self.by_kind.values().sum()
    }
}

/// What a program and all that it started asked of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Calls, by kind, that returned or never will.
    pub calls: BTreeMap<Call, Count>,
    /// Calls that were entered, counted where they are.
    pub entered: u64,
    /// Calls that were being made when the trace was ended ([`attach`](super::attach)).
    pub unfinished: u64,
    /// Processes that were started, by fork, clone or vfork.
    pub processes: u64,
    /// Those of them started by vfork, or clone with its flag, as posix_spawn does.
    pub vforks: u64,
    /// Threads that were started.
    pub threads: u64,
    /// Programs that were executed, but for the first.
    pub execs: u64,
    /// Signals that were delivered to a handler or had their default effect; without those ignored, and
    /// without SIGKILL.
    pub signals: u64,
    /// Page faults in user mode, by kind; why they are not known, where perf does not show them.
    pub faults: Result<Faults, Unsupported>,
    /// All faults of the tasks by the kernel's own account, minor and major ones: an upper bound of
    /// the former. A task that was killed may have ended before it could be asked.
    pub faults_of_tasks: u64,
    /// Programs that were executed without the privilege that their file gives (set-user-ID, set-group-ID,
    /// capabilities), since the kernel gives none to what is traced: they did something else than usual.
    pub lost_privilege: BTreeSet<String>,
    /// Names of the processes that were running at the end and were killed: they outlived the first one, or
    /// the caller had enough.
    pub left_running: Vec<String>,
    /// How the first process ended, if it did.
    pub end: Option<ExitStatus>,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            calls: BTreeMap::new(),
            entered: 0,
            unfinished: 0,
            processes: 0,
            vforks: 0,
            threads: 0,
            execs: 0,
            signals: 0,
            faults: Ok(Faults::default()),
            faults_of_tasks: 0,
            lost_privilege: BTreeSet::new(),
            left_running: Vec::new(),
            end: None,
        }
    }
}

impl Tally {
    /// How many calls there were, of all kinds.
    pub fn total(&self) -> u64 {
        self.calls.values().map(|count| count.calls).sum()
    }

    /// Whether the counts add up: each call that was entered was left, ended with its task, or was
    /// being made at the end. The two sides are counted apart, at the entry and at the end of a call.
    pub fn adds_up(&self) -> bool {
        self.entered == self.total() + self.unfinished
    }

    /// How many calls of this number there were, whatever became of them.
    pub fn calls_of(&self, call: Sysno) -> u64 {
        let kinds = self.calls.iter();
        let of_call = kinds.filter(|(kind, _)| {
            !kind.is_foreign && call.number().is_some_and(|number| number == kind.number)
        });
        of_call.map(|(_, count)| count.calls).sum()
    }
}
