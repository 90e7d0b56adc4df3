//! What is to be known of each call: the one table.

use super::tally::Variant;
use crate::raw::Sysno;

/// The arguments of a call.
pub(crate) type Arguments = [u64; 6];

/// The argument that is the descriptor on which a call acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Nothing,
    Argument(usize),
    /// The first, if the flags in this argument say that the path is empty.
    FirstIfPathIsEmpty(usize),
}

/// Where the number of bytes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bytes {
    None,
    /// In the result.
    Moved,
    /// In this argument.
    Asked(usize),
    /// By so much the end of the heap has grown.
    Growth,
    /// So much memory of the process was resident when it made the call, which copies or gives back what it
    /// has of that.
    Resident,
}

/// What is to be known of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    call: Sysno,
    pub(crate) on: On,
    pub(crate) bytes: Bytes,
    variant: fn(&Arguments) -> Option<Variant>,
}

impl Shape {
    const fn of(call: Sysno) -> Shape {
        Shape {
            call,
            on: On::Nothing,
            bytes: Bytes::None,
            variant: |_| None,
        }
    }

    /// A call that acts on the descriptor in this argument.
    const fn on(call: Sysno, argument: usize) -> Shape {
        Shape {
            on: On::Argument(argument),
            ..Shape::of(call)
        }
    }

    const fn bytes(self, bytes: Bytes) -> Shape {
        Shape { bytes, ..self }
    }

    const fn variant(self, variant: fn(&Arguments) -> Option<Variant>) -> Shape {
        Shape { variant, ..self }
    }

    /// The call's variant. Of clone3, the first argument is to be the flags, as of clone.
    pub(crate) fn variant_of(&self, arguments: &Arguments) -> Option<Variant> {
        (self.variant)(arguments)
    }

    /// The descriptor on which the call acts, as the program names it.
    pub(crate) fn descriptor(&self, arguments: &Arguments) -> Option<u32> {
        let argument = match self.on {
            On::Nothing => return None,
            On::Argument(argument) => argument,
            On::FirstIfPathIsEmpty(flags) => {
                let is_empty = has(arguments[flags], libc::AT_EMPTY_PATH);
                is_empty.then_some(0)?
            }
        };
        let is_unused = self.variant_of(arguments) == Some(Variant::Anonymous);
        let number = arguments[argument] as i32;
        u32::try_from(number).ok().filter(|_| !is_unused)
    }
}

/// The shapes by number.
pub(crate) fn by_number() -> Vec<Option<&'static Shape>> {
    let mut shapes = Vec::new();
    for shape in TABLE {
        if let Some(number) = shape.call.number() {
            let number = number as usize;
            if shapes.len() <= number {
                shapes.resize(number + 1, None);
            }
            shapes[number] = Some(shape);
        }
    }
    shapes
}

const fn moves(call: Sysno, descriptor: usize) -> Shape {
    Shape::on(call, descriptor).bytes(Bytes::Moved)
}

const fn asks(call: Sysno, length: usize) -> Shape {
    Shape::of(call).bytes(Bytes::Asked(length))
}

const fn resident(call: Sysno) -> Shape {
    Shape::of(call).bytes(Bytes::Resident)
}

const fn at(call: Sysno, flags: usize) -> Shape {
    Shape {
        on: On::FirstIfPathIsEmpty(flags),
        ..Shape::of(call)
    }
}

const fn acts(call: Sysno) -> Shape {
    Shape::on(call, 0)
}

#[rustfmt::skip] // a line each, or a few that are alike
const TABLE: &[Shape] = &[
    moves(Sysno::READ, 0), moves(Sysno::PREAD64, 0), moves(Sysno::READV, 0), moves(Sysno::PREADV, 0),
    moves(Sysno::PREADV2, 0),
    moves(Sysno::WRITE, 0), moves(Sysno::PWRITE64, 0), moves(Sysno::WRITEV, 0), moves(Sysno::PWRITEV, 0),
    moves(Sysno::PWRITEV2, 0),
    moves(Sysno::SENDTO, 0), moves(Sysno::SENDMSG, 0), moves(Sysno::RECVFROM, 0), moves(Sysno::RECVMSG, 0),
    moves(Sysno::SENDFILE, 0), moves(Sysno::COPY_FILE_RANGE, 2), moves(Sysno::SPLICE, 2),
    moves(Sysno::TEE, 1), moves(Sysno::VMSPLICE, 0),
    moves(Sysno::GETDENTS64, 0), moves(Sysno::GETDENTS, 0),
    Shape::of(Sysno::GETRANDOM).bytes(Bytes::Moved),
    Shape::on(Sysno::MMAP, 4).bytes(Bytes::Asked(1)).variant(mapped),
    asks(Sysno::MUNMAP, 1), asks(Sysno::MPROTECT, 1), asks(Sysno::MREMAP, 2), asks(Sysno::MSYNC, 1),
    asks(Sysno::MADVISE, 1).variant(advised),
    Shape::of(Sysno::BRK).bytes(Bytes::Growth),
    Shape::of(Sysno::OPEN).variant(|arguments| opened(arguments[1])),
    Shape::of(Sysno::OPENAT).variant(|arguments| opened(arguments[2])),
    resident(Sysno::CLONE).variant(cloned), resident(Sysno::CLONE3).variant(cloned),
    resident(Sysno::FORK).variant(|_| Some(Variant::Process)),
    resident(Sysno::VFORK).variant(|_| Some(Variant::Vfork)),
    resident(Sysno::EXECVE), resident(Sysno::EXIT_GROUP),
    Shape::of(Sysno::FUTEX).variant(futex),
    acts(Sysno::FCNTL).variant(controlled),
    at(Sysno::NEWFSTATAT, 3), at(Sysno::STATX, 2), at(Sysno::EXECVEAT, 4),
    acts(Sysno::CLOSE), acts(Sysno::FSTAT), acts(Sysno::FSTATFS), acts(Sysno::LSEEK), acts(Sysno::IOCTL),
    acts(Sysno::FLOCK),
    acts(Sysno::DUP), acts(Sysno::DUP2), acts(Sysno::DUP3), acts(Sysno::FCHDIR),
    acts(Sysno::FSYNC), acts(Sysno::FDATASYNC), acts(Sysno::SYNCFS), acts(Sysno::SYNC_FILE_RANGE),
    acts(Sysno::FTRUNCATE), acts(Sysno::FALLOCATE), acts(Sysno::FADVISE64), acts(Sysno::READAHEAD),
    acts(Sysno::FCHMOD), acts(Sysno::FCHOWN),
    acts(Sysno::FGETXATTR), acts(Sysno::FSETXATTR), acts(Sysno::FLISTXATTR), acts(Sysno::FREMOVEXATTR),
    acts(Sysno::CONNECT), acts(Sysno::ACCEPT), acts(Sysno::ACCEPT4), acts(Sysno::BIND), acts(Sysno::LISTEN),
    acts(Sysno::SHUTDOWN),
    acts(Sysno::GETSOCKOPT), acts(Sysno::SETSOCKOPT), acts(Sysno::GETSOCKNAME), acts(Sysno::GETPEERNAME),
    acts(Sysno::SENDMMSG), acts(Sysno::RECVMMSG),
    acts(Sysno::EPOLL_CTL), acts(Sysno::EPOLL_WAIT), acts(Sysno::EPOLL_PWAIT), acts(Sysno::EPOLL_PWAIT2),
    acts(Sysno::TIMERFD_SETTIME), acts(Sysno::TIMERFD_GETTIME), acts(Sysno::INOTIFY_ADD_WATCH),
    acts(Sysno::INOTIFY_RM_WATCH),
];

fn mapped(arguments: &Arguments) -> Option<Variant> {
    Some(match arguments[3] {
        flags if has(flags, libc::MAP_SHARED) => Variant::Shared,
        flags if has(flags, libc::MAP_ANONYMOUS) => Variant::Anonymous,
        _ => Variant::PrivateFile,
    })
}

fn opened(flags: u64) -> Option<Variant> {
    // O_TMPFILE includes O_DIRECTORY.
    let is_new = has(flags, libc::O_CREAT) || has(flags, libc::O_TMPFILE);
    let is_directory = has(flags, libc::O_DIRECTORY).then_some(Variant::Directory);
    is_new.then_some(Variant::Create).or(is_directory)
}

fn cloned(arguments: &Arguments) -> Option<Variant> {
    Some(match arguments[0] {
        flags if has(flags, libc::CLONE_THREAD) => Variant::Thread,
        flags if has(flags, libc::CLONE_VFORK) => Variant::Vfork,
        _ => Variant::Process,
    })
}

fn futex(arguments: &Arguments) -> Option<Variant> {
    let command = arguments[1] as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    match command {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => Some(Variant::Wait),
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => Some(Variant::Wake),
        _ => None,
    }
}

fn controlled(arguments: &Arguments) -> Option<Variant> {
    match arguments[1] as i32 {
        libc::F_GETLK | libc::F_SETLK | libc::F_SETLKW => Some(Variant::Lock),
        libc::F_OFD_GETLK | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => Some(Variant::Lock),
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => Some(Variant::Duplicate),
        libc::F_GETFD | libc::F_SETFD | libc::F_GETFL | libc::F_SETFL => Some(Variant::Flags),
        _ => None,
    }
}

fn advised(arguments: &Arguments) -> Option<Variant> {
    let is_given_back = [libc::MADV_DONTNEED, libc::MADV_FREE].contains(&(arguments[2] as i32));
    is_given_back.then_some(Variant::GiveBack)
}

/// Whether all bits of a flag are set.
fn has(flags: u64, flag: i32) -> bool {
    let flag = u64::from(flag.cast_unsigned());
    flags & flag == flag
}
