//! Shared: of which rows of this group the price of a program's call is made. Pure.

use syscost_sys::raw::Sysno;

/// A kind of use of the kernel that a program made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Use<'a> {
    /// The call as strace names it; `page_fault` for a fault.
    pub call: &'a str,
    /// What tells its kinds apart, where flags do: `create`, `directory`, `descriptor` (of a stat without a name),
    /// `anonymous`, `file`, `thread`, `process`, `vfork`, `wait`, `wake`, `lock`, `unlock`; of a fault `anonymous`,
    /// `stack`, `file`, `file_write`, `after_fork`.
    pub variant: Option<&'a str>,
    /// What its descriptor refers to: `file`, `directory`, `pipe`, `tcp`, `unix`, `socket`, `terminal`, `device`, `event`.
    pub on: Option<&'a str>,
    /// How it ended.
    pub ended: Ended<'a>,
    /// Mean bytes that a call moved; of a mapping its length, of the end of a process or a fork the memory that it
    /// has touched.
    pub bytes: Option<u64>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended<'a> {
    /// It returned a result.
    Ok,
    /// With an error of this name, as `ENOENT`.
    Error(&'a str),
    /// It did not return, as exit.
    Never,
}

/// What a use costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Priced {
    /// The rows whose values, each times its weight, add up to the price.
    pub parts: Vec<Part>,
    /// How the price compares with the true one.
    pub bound: PriceBound,
}

/// A row in a price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The row's first parameter: the call, or the kind of fault or task.
    pub value: &'static str,
    /// How often it is in the price. Below 0 where it is taken away.
    pub weight: f64,
}

impl Part {
    /// Whether its price is that of a file system, and of what is in it.
    pub fn is_of_files(&self) -> bool {
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
            "fcntl_unlock",
            "close_file",
            "file",
        ];
        let is_named = OF_FILES.iter().any(|start| self.value.starts_with(start));
        is_named && !["read_tcp", "read_pipe"].contains(&self.value)
    }

    /// The id of its benchmark.
    pub fn benchmark(&self) -> &'static str {
        match self.value {
            "anonymous" | "stack" | "file" | "file_write" | "after_fork" => "bill.fault",
            "fork" | "fork_30M" | "vfork" | "vfork_exec" | "thread" | "thread_join" | "wait"
            | "exit_100" | "exit_10000" => "bill.task",
            _ => "bill.call",
        }
    }
}

/// How a price compares with the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceBound {
    /// It is of such an operation.
    Exact,
    /// It is of one that does less.
    LowerBound,
}

/// How a price is made of rows.
enum Made {
    Of(&'static str),
    /// Of something that does less.
    Above(&'static str),
    /// The first without the second.
    Difference(&'static str, &'static str),
    /// A program in the place of one that has touched so many bytes, which are given back.
    Execution(u64),
    /// Of rows that move so many bytes, between which it is interpolated.
    Sized(&'static [(u64, &'static str)]),
    /// Of a row that costs the same up to so many bytes.
    UpTo(u64, &'static str),
}

use Made::{Above, Difference, Execution, Of, Sized, UpTo};

/// Bytes up to which a message costs what one of a hundred does.
const SHORT: u64 = 4 << 10;

/// Bytes up to which a mapping costs what one of 128 KiB does.
const MAPPED: u64 = 256 << 10;

/// Bytes of a page of the rows that say how many they touch.
const PAGE: f64 = 4096.0;

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

/// Of which rows the price of one such use is made: of the null call, as a lower bound, where none is of the like.
/// Nothing if there is no such call.
pub fn price_of(one: &Use) -> Option<Priced> {
    if one.call != "page_fault" && Sysno::from_name(one.call).is_none() {
        return None;
    }
    let made = match one.ended {
        Ended::Error(error) => failed(family(one.call), error),
        Ended::Ok | Ended::Never => done(family(one.call), one),
    };
    let (parts, bound) = match made {
        Of(row) => (vec![(row, 1.0)], PriceBound::Exact),
        Above(row) => (vec![(row, 1.0)], PriceBound::LowerBound),
        Difference(row, without) => (vec![(row, 1.0), (without, -1.0)], PriceBound::LowerBound),
        Execution(bytes) => {
            let pages = bytes as f64 / PAGE;
            let (few, many) = EXITS;
            let share = pages / (many.0 - few.0);
            let parts = [
                ("vfork_exec", 1.0),
                ("vfork", -1.0),
                (many.1, share),
                (few.1, -share),
            ];
            let is_part = |(_, times): &(&str, f64)| *times != 0.0;
            (
                parts.into_iter().filter(is_part).collect(),
                PriceBound::LowerBound,
            )
        }
        UpTo(most, row) if one.bytes.is_some_and(|bytes| bytes > most) => {
            (vec![(row, 1.0)], PriceBound::LowerBound)
        }
        UpTo(_, row) => (vec![(row, 1.0)], PriceBound::Exact),
        Sized(rows) => match one.bytes {
            Some(bytes) => (between(rows, bytes), PriceBound::Exact),
            None => (vec![(rows[0].1, 1.0)], PriceBound::LowerBound),
        },
    };
    let parts = parts.into_iter();
    Some(Priced {
        parts: parts
            .map(|(value, weight)| Part { value, weight })
            .collect(),
        bound,
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
    let on = one.on.unwrap_or("file");
    match (family, one.variant) {
        ("page_fault", Some("stack")) => Of("stack"),
        ("page_fault", Some("file")) => Of("file"),
        ("page_fault", Some("file_write")) => Of("file_write"),
        ("page_fault", Some("after_fork")) => Of("after_fork"),
        ("page_fault", _) => Of("anonymous"),
        ("stat", Some("descriptor")) | ("fstat", _) => Of("fstat"),
        // Of a descriptor, not of a name beneath it.
        ("stat", None) if one.on.is_some() => Of("fstat"),
        ("stat", _) => Of("stat"),
        ("open", Some("create")) => Of("create"),
        ("open", Some("directory")) => Of("open_directory"),
        ("open", _) => Of("open"),
        ("unlink", Some("directory")) | ("rmdir", _) => Of("rmdir"),
        ("mmap", Some("file")) => Of("mmap_file"),
        ("mmap", _) => Of("mmap_anonymous"),
        ("munmap", _) => UpTo(MAPPED, "munmap"),
        ("madvise", _) => UpTo(MAPPED, "madvise"),
        ("mprotect", _) => Of("mprotect"),
        ("mremap" | "pkey_mprotect", _) => Above("mprotect"),
        ("clone", Some("thread")) => Of("thread"),
        ("clone", Some("vfork")) | ("vfork", _) => Of("vfork"),
        ("clone", _) => Sized(&[(0, "fork"), (30 << 20, "fork_30M")]),
        ("execve", _) => Execution(one.bytes.unwrap_or(0)),
        ("exit", _) => Difference("thread_join", "thread"),
        ("exit_group", _) => Sized(&[(100 << 12, "exit_100"), (10_000 << 12, "exit_10000")]),
        ("wait4", _) => Of("wait"),
        ("futex", Some("wait")) => Above("futex_wake"),
        ("futex", _) => Of("futex_wake"),
        ("fcntl", Some("lock")) => Of("fcntl_lock"),
        ("fcntl", Some("unlock")) => Of("fcntl_unlock"),
        ("fcntl", Some("dup")) | ("dup", _) => Of("dup"),
        ("fcntl", _) => Of("fcntl_flags"),
        ("flock", _) => Above("fcntl_lock"),
        ("ioctl", _) => Above("ioctl_pipe"),
        ("close", _) => match on {
            "pipe" => Of("close_pipe"),
            "tcp" => Of("close_tcp"),
            "unix" | "socket" => Of("close_unix"),
            _ => Of("close_file"),
        },
        ("read", _) => read(on, one.bytes),
        ("recvfrom", _) => match on {
            "tcp" => UpTo(SHORT, "read_tcp"),
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
        "tcp" => UpTo(SHORT, "read_tcp"),
        "unix" | "socket" => UpTo(SHORT, "recv_unix"),
        "pipe" | "event" => UpTo(SHORT, "read_pipe"),
        "terminal" => Above("read_pipe"),
        "device" => Above("read_end"),
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
        ("tcp", _) => UpTo(SHORT, "write_tcp"),
        ("unix" | "socket", _) | ("file", "sendto") => UpTo(SHORT, "send_unix"),
        ("pipe" | "event", _) => UpTo(SHORT, "write_pipe"),
        ("terminal", _) => Above("write_pipe"),
        ("device", _) => Of("write_null"),
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

    fn of<'a>(call: &'a str, variant: &'a str, on: &'a str, ended: Ended<'a>) -> Use<'a> {
        let given = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        Use {
            call,
            variant: given(variant),
            on: given(on),
            ended,
            bytes: None,
        }
    }

    fn parts(one: &Use) -> Vec<(&'static str, f64)> {
        let priced = price_of(one).expect("there is such a call");
        priced
            .parts
            .iter()
            .map(|one| (one.value, one.weight))
            .collect()
    }

    #[test]
    fn a_use_has_the_price_of_its_like() {
        use Ended::{Error, Never, Ok};
        use PriceBound::{Exact, LowerBound};
        for (call, variant, on, ended, row, bound) in [
            ("statx", "", "", Ok, "stat", Exact),
            ("newfstatat", "descriptor", "", Ok, "fstat", Exact),
            ("lstat", "", "", Error("ENOENT"), "stat_missing", Exact),
            ("lstat", "", "", Error("EACCES"), "stat_missing", LowerBound),
            ("openat", "create", "", Ok, "create", Exact),
            ("open", "", "", Error("ENOENT"), "open_missing", Exact),
            ("close", "", "tcp", Ok, "close_tcp", Exact),
            ("write", "", "terminal", Ok, "write_pipe", LowerBound),
            ("sendto", "", "tcp", Ok, "write_tcp", Exact),
            ("clone3", "thread", "", Ok, "thread", Exact),
            ("vfork", "", "", Ok, "vfork", Exact),
            ("fcntl", "dup", "", Ok, "dup", Exact),
            ("ioctl", "", "", Error("ENOTTY"), "ioctl_no_terminal", Exact),
            ("exit_group", "", "", Never, "exit_100", LowerBound),
            ("futex", "wait", "", Ok, "futex_wake", LowerBound),
            ("page_fault", "after_fork", "", Ok, "after_fork", Exact),
            ("set_robust_list", "", "", Ok, "null", Exact),
            // Nothing prices these.
            ("bpf", "", "", Ok, "null", LowerBound),
            ("bpf", "", "", Error("EPERM"), "null", LowerBound),
        ] {
            let one = of(call, variant, on, ended);
            let priced = price_of(&one).expect("there is such a call");
            assert_eq!(parts(&one), [(row, 1.0)], "{one:?}");
            assert_eq!(priced.bound, bound, "{one:?}");
        }
        assert_eq!(price_of(&of("no_such_call", "", "", Ok)), None);
    }

    #[test]
    fn a_size_between_two_rows_is_a_mixture_of_both() {
        let sized = |call, bytes| {
            parts(&Use {
                bytes: Some(bytes),
                ..of(call, "", "", Ended::Ok)
            })
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
            "descriptor",
            "file",
            "file_write",
            "anonymous",
            "stack",
            "after_fork",
            "thread",
            "vfork",
            "lock",
            "unlock",
        ];
        let ons = ["", "pipe", "tcp", "unix", "device"];
        let ends = ["", "ENOENT", "ENOTTY", "ENODATA"];
        let sizes = [0, 400, 30 << 10, 600 << 10, 60 << 20];
        let mut used = BTreeSet::new();
        let calls = Sysno::ALL.iter().map(|call| call.name());
        for call in calls.chain(["page_fault"]) {
            for variant in variants {
                for (on, error) in ons.iter().flat_map(|on| ends.map(|end| (on, end))) {
                    let ended = match error {
                        "" => Ended::Ok,
                        error => Ended::Error(error),
                    };
                    for bytes in sizes {
                        let one = Use {
                            bytes: Some(bytes),
                            ..of(call, variant, on, ended)
                        };
                        let parts = price_of(&one).expect("there is such a call").parts;
                        used.extend(parts.iter().map(|part| {
                            let (id, value) = (part.benchmark(), part.value);
                            let parameter = if id == "bill.call" { "call" } else { "kind" };
                            format!("{id}{{{parameter}={value},displaced=0}}")
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
