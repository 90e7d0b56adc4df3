//! Shared: of which rows of this group the price of a program's call is made.

use rustix::param::page_size;
use syscost_harness::prelude::Value;
use syscost_results::bill::{NEVER_RETURNED, PAGE_FAULT, PricedBy, Use};
use syscost_sys::raw::Sysno;

use super::{fault, task};

/// A use with the rows that price it: the null call, as a lower bound, where none is of the like; none if
/// there is no such call.
pub fn priced(one: Use) -> Use {
    match price_of(&one) {
        Some((rows, is_lower_bound)) => Use {
            priced_by: rows.into_iter().map(by).collect(),
            is_lower_bound,
            ..one
        },
        None => one,
    }
}

/// A row in a price: the call, or the kind of fault or task, and how often; below 0 where it is taken away.
fn by((of, times): (&'static str, f64)) -> PricedBy {
    let row = match () {
        () if fault::Kind::read(of).is_some() => "bill.fault",
        () if task::Kind::read(of).is_some() => "bill.task",
        () => "bill.call",
    };
    PricedBy {
        row: row.to_owned(),
        of: of.to_owned(),
        times,
        is_of_files: is_of_files(of),
    }
}

/// Whether a price is that of a file system, and of what is in it.
fn is_of_files(row: &str) -> bool {
    const OF_FILES: &[&str] = &[
        "stat",
        "open",
        "create",
        "read_",
        "pread",
        "write_new",
        "write_again",
        "getdents",
        "readlink",
        "getxattr",
        "unlink",
        "mkdir",
        "rmdir",
        "rename",
        "chmod",
        "chown",
        "access",
        "mmap_file",
        "fcntl_lock",
        "close_file",
        "file",
    ];
    let is_named = OF_FILES.iter().any(|start| row.starts_with(start));
    is_named && !["read_tcp", "read_pipe"].contains(&row)
}

/// How a price is made of rows.
enum Made {
    Of(&'static str),
    /// Of something that does less.
    Above(&'static str),
    /// The first without the second.
    Difference(&'static str, &'static str),
    /// Of a program in the place of one whose memory is given back.
    Execution,
    /// Interpolated between rows that move the given numbers of bytes.
    Sized(&'static [(u64, &'static str)]),
    /// Of a row that costs the same up to the given number of bytes.
    UpTo(u64, &'static str),
}

use Made::{Above, Difference, Execution, Of, Sized, UpTo};

/// Bytes up to which a message costs what one of a hundred does.
const SHORT: u64 = 4 << 10;

/// Bytes up to which a mapping costs what one of 128 KiB does.
const MAPPED: u64 = 256 << 10;

/// The rows of ends of processes, and how many pages these have.
const EXITS: ((f64, &str), (f64, &str)) = ((100.0, "exit_100"), (10_000.0, "exit_10000"));

/// Calls that do as little as the null call.
const TRIVIAL: &[&str] = &[
    "alarm",
    "arch_prctl",
    "clock_getres",
    "clock_gettime",
    "getegid",
    "geteuid",
    "getgid",
    "getitimer",
    "getpgid",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getresgid",
    "getresuid",
    "getrlimit",
    "getsid",
    "gettid",
    "gettimeofday",
    "getuid",
    "prlimit64",
    "rseq",
    "sched_yield",
    "set_robust_list",
    "set_tid_address",
    "sigaltstack",
    "time",
    "umask",
];

/// The rows of whose prices that of a use is made, each how often, and whether it costs more than these.
fn price_of(one: &Use) -> Option<(Vec<(&'static str, f64)>, bool)> {
    if one.name != PAGE_FAULT && Sysno::from_name(&one.name).is_none() {
        return None;
    }
    let family = family(&one.name);
    let made = match one.failed.as_deref() {
        None | Some(NEVER_RETURNED) => done(family, one),
        Some(error) => failed(family, error),
    };
    let bytes = one.mean_bytes();
    Some(match made {
        Of(row) => (vec![(row, 1.0)], false),
        Above(row) => (vec![(row, 1.0)], true),
        Difference(row, without) => (vec![(row, 1.0), (without, -1.0)], true),
        Execution => {
            let pages = bytes.unwrap_or(0) as f64 / page_size() as f64;
            let (few, many) = EXITS;
            let share = pages / (many.0 - few.0);
            let given_back = [(many.1, share), (few.1, -share)];
            let mut rows = vec![("vfork_exec", 1.0), ("vfork", -1.0)];
            rows.extend(given_back.iter().filter(|_| pages > 0.0));
            (rows, true)
        }
        UpTo(most, row) => (vec![(row, 1.0)], bytes.is_some_and(|bytes| bytes > most)),
        Sized(rows) => match bytes {
            Some(bytes) => (between(rows, bytes), false),
            None => (vec![(rows[0].1, 1.0)], true),
        },
    })
}

/// Calls that do the same have one name.
fn family(call: &str) -> &str {
    match call {
        "lstat" | "newfstatat" | "statx" => "stat",
        "openat" | "openat2" | "creat" => "open",
        "faccessat" | "faccessat2" => "access",
        "readlinkat" => "readlink",
        "lgetxattr" | "fgetxattr" | "listxattr" | "llistxattr" | "flistxattr" => "getxattr",
        "unlinkat" => "unlink",
        "mkdirat" => "mkdir",
        "renameat" | "renameat2" => "rename",
        "fchmod" | "fchmodat" | "fchmodat2" => "chmod",
        "fchown" | "fchownat" | "lchown" => "chown",
        "readv" | "preadv" | "preadv2" => "read",
        "writev" => "write",
        "pwritev" | "pwritev2" => "pwrite64",
        "getdents" => "getdents64",
        "recv" | "recvmsg" | "recvmmsg" => "recvfrom",
        "send" | "sendmsg" | "sendmmsg" => "sendto",
        "accept4" => "accept",
        "ppoll" | "select" | "pselect6" => "poll",
        "epoll_pwait" | "epoll_pwait2" => "epoll_wait",
        "dup2" | "dup3" => "dup",
        "pipe2" => "pipe",
        "fork" | "clone3" => "clone",
        "execveat" => "execve",
        "waitid" => "wait4",
        call => call,
    }
}

/// The price of a call that failed: it went as far as its error lets it.
fn failed(family: &str, error: &str) -> Made {
    match (family, error) {
        ("open", "ENOENT") => Of("open_missing"),
        ("stat" | "access", "ENOENT") => Of("stat_missing"),
        ("readlink", "EINVAL") => Of("readlink"),
        ("getxattr", "ENODATA" | "EOPNOTSUPP") => Of("getxattr"),
        ("ioctl", "ENOTTY") => Of("ioctl_no_terminal"),
        (
            "open" | "stat" | "access" | "readlink" | "getxattr" | "unlink" | "mkdir" | "rename"
            | "chmod" | "chown" | "rmdir" | "chdir" | "execve" | "link" | "linkat" | "symlink"
            | "symlinkat" | "statfs" | "utimensat",
            _,
        ) => Above("stat_missing"),
        _ => Above("null"),
    }
}

/// The price of a call that did what it is for.
fn done(family: &str, one: &Use) -> Made {
    let on = one.on.as_deref().unwrap_or("file");
    match (family, one.variant.as_deref()) {
        (PAGE_FAULT, Some("stack")) => Of("stack"),
        (PAGE_FAULT, Some("file" | "vDSO")) => Of("file"),
        (PAGE_FAULT, Some("writable file")) => Of("file_write"),
        (PAGE_FAULT, _) => Of("anonymous"),
        // Of a descriptor, not of a name.
        ("stat", None) if one.on.is_some() => Of("fstat"),
        ("fstat", _) => Of("fstat"),
        ("stat", _) => Of("stat"),
        ("open", Some("create")) => Of("create"),
        ("open", Some("directory")) => Of("open_directory"),
        ("open", _) => Of("open"),
        ("unlink", Some("directory")) | ("rmdir", _) => Of("rmdir"),
        ("mmap", Some("private file")) => Of("mmap_file"),
        ("mmap", _) => Of("mmap_anonymous"),
        ("munmap", _) => UpTo(MAPPED, "munmap"),
        ("madvise", _) => UpTo(MAPPED, "madvise"),
        ("mprotect", _) => Of("mprotect"),
        ("mremap" | "pkey_mprotect", _) => Above("mprotect"),
        ("clone", Some("thread")) => Of("thread"),
        ("clone", Some("vfork")) | ("vfork", _) => Of("vfork"),
        ("clone", _) => Sized(&[(0, "fork"), (30 << 20, "fork_30M")]),
        ("execve", _) => Execution,
        ("exit", _) => Difference("thread_join", "thread"),
        ("exit_group", _) => Sized(&[(100 << 12, "exit_100"), (10_000 << 12, "exit_10000")]),
        ("wait4", _) => Of("wait"),
        ("futex", Some("wait")) => Above("futex_wake"),
        ("futex", _) => Of("futex_wake"),
        ("fcntl", Some("lock")) => Of("fcntl_lock"),
        ("fcntl", Some("duplicate")) | ("dup", _) => Of("dup"),
        ("fcntl", _) => Of("fcntl_flags"),
        ("flock", _) => Above("fcntl_lock"),
        ("ioctl", _) => Above("ioctl_pipe"),
        ("close", _) => match on {
            "pipe" => Of("close_pipe"),
            "TCP socket" => Of("close_tcp"),
            "UNIX socket" | "other socket" => Of("close_unix"),
            _ => Of("close_file"),
        },
        ("read", Some("first")) if one.mean_bytes() > Some(0) => Sized(&[
            (512, "read_first_512"),
            (4 << 10, "read_first_4K"),
            (64 << 10, "read_first_64K"),
            (1 << 20, "read_1M"),
        ]),
        ("read", _) => read(on, one.mean_bytes()),
        ("recvfrom", _) => match on {
            "TCP socket" => UpTo(SHORT, "read_tcp"),
            _ => UpTo(SHORT, "recv_unix"),
        },
        ("write" | "pwrite64" | "sendto", _) => write(family, on),
        ("pread64", _) => Sized(&[
            (4 << 10, "pread_4K"),
            (64 << 10, "read_64K"),
            (1 << 20, "read_1M"),
        ]),
        ("getdents64", _) => Sized(&[
            (0, "getdents_end"),
            (368, "getdents_10"),
            (32_048, "getdents_1000"),
        ]),
        ("sendfile" | "copy_file_range" | "splice", _) => Above("read_4K"),
        ("statfs", _) => Above("stat"),
        ("fstatfs" | "fadvise64", _) => Above("fstat"),
        ("utimensat" | "ftruncate" | "fallocate", _) => Above("chmod"),
        ("link" | "linkat" | "symlink" | "symlinkat" | "mknod" | "mknodat", _) => Above("rename"),
        ("getsockopt" | "getsockname" | "getpeername" | "bind" | "listen" | "shutdown", _) => {
            Above("setsockopt")
        }
        ("socketpair", _) => Above("socket"),
        ("epoll_create1" | "eventfd2" | "timerfd_create" | "memfd_create" | "signalfd4", _) => {
            Above("dup")
        }
        _ => plain(family),
    }
}

fn read(on: &str, bytes: Option<u64>) -> Made {
    match on {
        "TCP socket" => UpTo(SHORT, "read_tcp"),
        "UNIX socket" | "other socket" => UpTo(SHORT, "recv_unix"),
        "pipe" | "event" => UpTo(SHORT, "read_pipe"),
        "terminal" => Above("read_pipe"),
        "character device" => Above("read_end"),
        _ if bytes == Some(0) => Of("read_end"),
        _ => Sized(&[
            (512, "read_512"),
            (4 << 10, "read_4K"),
            (64 << 10, "read_64K"),
            (1 << 20, "read_1M"),
        ]),
    }
}

/// A short write to a file begins a new page only now and then.
fn write(family: &str, on: &str) -> Made {
    match (on, family) {
        ("TCP socket", _) => UpTo(SHORT, "write_tcp"),
        ("UNIX socket" | "other socket", _) | ("file", "sendto") => UpTo(SHORT, "send_unix"),
        ("pipe" | "event", _) => UpTo(SHORT, "write_pipe"),
        ("terminal", _) => Above("write_pipe"),
        ("character device", _) => Of("write_null"),
        (_, "pwrite64") => UpTo(4 << 10, "write_again_4K"),
        _ => Sized(&[
            (0, "write_again_4K"),
            (4 << 10, "write_new_4K"),
            (64 << 10, "write_new_64K"),
        ]),
    }
}

/// Calls that are called as their rows are, or that nothing prices.
fn plain(family: &str) -> Made {
    const SAME: &[&str] = &[
        "access",
        "readlink",
        "getxattr",
        "unlink",
        "mkdir",
        "rename",
        "chmod",
        "chown",
        "lseek",
        "brk",
        "socket",
        "connect",
        "accept",
        "setsockopt",
        "poll",
        "epoll_wait",
        "epoll_ctl",
        "pipe",
        "getcwd",
        "uname",
    ];
    let same = SAME.iter().find(|row| **row == family);
    match (same, family) {
        (Some(row), _) => Of(row),
        (None, "rt_sigaction") => Of("sigaction"),
        (None, "rt_sigprocmask") => Of("sigmask"),
        (None, _) if TRIVIAL.contains(&family) => Of("null"),
        (None, _) => Above("null"),
    }
}

/// The rows on either side of this size, by how near they are; a multiple of the largest beyond it.
fn between(rows: &[(u64, &'static str)], bytes: u64) -> Vec<(&'static str, f64)> {
    let Some(above) = rows.iter().position(|(size, _)| *size >= bytes) else {
        let last = rows.last().into_iter();
        return last
            .map(|(size, row)| (*row, bytes as f64 / *size as f64))
            .collect();
    };
    let (size, row) = rows[above];
    if above == 0 || size == bytes {
        return vec![(row, 1.0)];
    }
    let (smaller, less) = rows[above - 1];
    let share = (bytes - smaller) as f64 / (size - smaller) as f64;
    vec![(less, 1.0 - share), (row, share)]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use syscost_harness::{Catalogue, Row, Testbed};

    use super::*;
    use crate::CATALOGUE;

    const EXACT: bool = false;
    const LOWER_BOUND: bool = true;

    fn of(name: &str, variant: &str, on: &str, failed: &str) -> Use {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Use {
            name: name.to_owned(),
            variant: given(variant),
            on: given(on),
            failed: given(failed),
            counts: vec![1],
            ..Use::default()
        }
    }

    /// The same use, moving this number of bytes.
    fn moving(bytes: u64, one: Use) -> Use {
        Use {
            size: Some(bytes),
            bytes: vec![bytes],
            ..one
        }
    }

    #[test]
    fn a_use_has_the_price_of_its_like() {
        for (call, variant, on, failed, row, is_lower_bound) in [
            ("statx", "", "", "", "stat", EXACT),
            ("newfstatat", "", "file", "", "fstat", EXACT),
            ("lstat", "", "", "ENOENT", "stat_missing", EXACT),
            ("lstat", "", "", "EACCES", "stat_missing", LOWER_BOUND),
            ("openat", "create", "", "", "create", EXACT),
            ("open", "", "", "ENOENT", "open_missing", EXACT),
            ("close", "", "TCP socket", "", "close_tcp", EXACT),
            ("write", "", "terminal", "", "write_pipe", LOWER_BOUND),
            ("sendto", "", "TCP socket", "", "write_tcp", EXACT),
            ("clone3", "thread", "", "", "thread", EXACT),
            ("vfork", "", "", "", "vfork", EXACT),
            ("fcntl", "duplicate", "", "", "dup", EXACT),
            ("ioctl", "", "", "ENOTTY", "ioctl_no_terminal", EXACT),
            (
                "exit_group",
                "",
                "",
                NEVER_RETURNED,
                "exit_100",
                LOWER_BOUND,
            ),
            ("futex", "wait", "", "", "futex_wake", LOWER_BOUND),
            ("set_robust_list", "", "", "", "null", EXACT),
            // Nothing prices these.
            ("bpf", "", "", "", "null", LOWER_BOUND),
            ("bpf", "", "", "EPERM", "null", LOWER_BOUND),
        ] {
            let one = of(call, variant, on, failed);
            let priced = (vec![(row, 1.0)], is_lower_bound);
            assert_eq!(price_of(&one), Some(priced), "{one:?}");
        }
        assert_eq!(price_of(&of("no_such_call", "", "", "")), None);
    }

    #[test]
    fn a_size_between_two_rows_is_a_mixture_of_both() {
        let sized = |call, bytes| {
            price_of(&moving(bytes, of(call, "", "", "")))
                .expect("a price")
                .0
        };
        assert_eq!(sized("read", 0), [("read_end", 1.0)]);
        assert_eq!(sized("read", 1), [("read_512", 1.0)]);
        assert_eq!(sized("read", 4096), [("read_4K", 1.0)]);
        let between = [("read_4K", 0.8), ("read_64K", 0.2)];
        assert_eq!(sized("read", 16 << 10), between);
        assert_eq!(sized("read", 3 << 20), [("read_1M", 3.0)]);
        let short = [("write_again_4K", 0.75), ("write_new_4K", 0.25)];
        assert_eq!(sized("write", 1024), short);
        // What executing costs is what vfork costs more with it.
        let executed = [("vfork_exec", 1.0), ("vfork", -1.0)];
        assert_eq!(sized("execve", 0), executed);
    }

    #[test]
    fn every_row_of_the_group_is_used() {
        let variants = [
            "",
            "create",
            "directory",
            "file",
            "private file",
            "writable file",
            "anonymous",
            "stack",
            "thread",
            "vfork",
            "lock",
            "first",
        ];
        let ons = ["", "pipe", "TCP socket", "UNIX socket", "character device"];
        let ends = ["", "ENOENT", "ENOTTY", "ENODATA"];
        let sizes = [0, 400, 30 << 10, 600 << 10, 60 << 20];
        let mut used = BTreeSet::new();
        let calls = Sysno::ALL.iter().map(|call| call.name());
        for call in calls.chain([PAGE_FAULT]) {
            for variant in variants {
                for (on, error) in ons.iter().flat_map(|on| ends.map(|end| (on, end))) {
                    for bytes in sizes {
                        let one = moving(bytes, of(call, variant, on, error));
                        used.extend(priced(one).priced_by.into_iter().map(|by| {
                            let PricedBy { row, of, .. } = by;
                            let parameter = if row == "bill.call" { "call" } else { "kind" };
                            format!("{row}{{{parameter}={of},displaced=0}}")
                        }));
                    }
                }
            }
        }
        let group = CATALOGUE.groups().find(|group| group.name == "bill");
        let benchmarks = group.expect("this group").benchmarks.iter();
        let rows = Catalogue::rows(benchmarks, &Testbed::plain());
        let names = rows.iter().map(Row::name);
        let listed: BTreeSet<String> = names.filter(|name| name.contains("displaced=0")).collect();
        assert_eq!(used, listed);
    }
}
