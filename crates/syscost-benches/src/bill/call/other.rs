//! Small calls on descriptors and on the process itself.
#![allow(unsafe_code)] // raw calls

use std::cell::Cell;
use std::fs::File;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::AtomicU32;

use libc::{c_int, c_short};
use rustix::fs::{Mode, fchmod, fchown, fcntl_getfl, fstat};
use rustix::io::{DupFlags, Errno, dup3, ioctl_fionread};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{getgid, getppid, getuid};
use rustix::termios::tcgetwinsize;
use rustix::thread::futex;
use syscost_harness::prelude::*;
use syscost_sys::raw::{syscall1, syscall2, syscall3, syscall4};

use super::names::Names;
use super::sockets::{Connections, unix};
use super::{Bench, Kind, Returns, file, nothing};
use crate::signal::own::{SET_BYTES, set_of};

pub(super) const KINDS: &[Kind] = &[
    Kind::of("null", Sysno::GETPPID, null),
    Kind::of("close_file", Sysno::CLOSE, close_file).on("file"),
    Kind::of("close_pipe", Sysno::CLOSE, close_pipe).on("pipe"),
    Kind::of("close_unix", Sysno::CLOSE, close_unix).on("unix stream socket without a path"),
    Kind::of("close_tcp", Sysno::CLOSE, close_tcp).on("IPv4 stream socket"),
    Kind::of("fstat", Sysno::FSTAT, fstat_file).on("file"),
    Kind::of("chmod", Sysno::FCHMOD, chmod).on("file"),
    Kind::of("chown", Sysno::FCHOWN, chown).on("file"),
    Kind::of("dup", Sysno::DUP3, dup).on("pipe"),
    Kind::of("pipe", Sysno::PIPE2, pipe),
    Kind::of("fcntl_flags", Sysno::FCNTL, get_flags)
        .on("file")
        .given(&[(1, "command", ArgumentValue::Always(libc::F_GETFL as u64))]),
    Kind::of("fcntl_lock", Sysno::FCNTL, lock)
        .on("file, then locked")
        .given(&[LOCKS]),
    Kind::of("ioctl_no_terminal", Sysno::IOCTL, ask_terminal)
        .on("file")
        .returning(Returns::Error(&[Errno::NOTTY])),
    Kind::of("ioctl_pipe", Sysno::IOCTL, ask_pipe)
        .on("pipe")
        .returning(Returns::Number(0)),
    Kind::of("sigaction", Sysno::RT_SIGACTION, sigaction),
    Kind::of("sigmask", Sysno::RT_SIGPROCMASK, sigmask),
    Kind::of("futex_wake", Sysno::FUTEX, wake).returning(Returns::Number(0)),
    Kind::of("getcwd", Sysno::GETCWD, getcwd),
    Kind::of("uname", Sysno::UNAME, uname),
];

/// What is seen of a file after its lock was released, and set.
const FREE: &str = ", then free";
const LOCKED: &str = ", then locked";

/// The command that sets a lock.
const LOCKS: (usize, &str, ArgumentValue) =
    (1, "command", ArgumentValue::Always(libc::F_SETLK as u64));

/// Files that are opened in turn.
const FILES: usize = 1000;

/// The result of a raw call.
#[inline(always)]
fn answered(answer: isize) -> Result<usize, Errno> {
    let error = || Errno::from_raw_os_error(-answer as i32);
    usize::try_from(answer).map_err(|_| error())
}

fn null(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    bench.measure(nothing, || {
        std::hint::black_box(getppid());
        Ok(())
    })
}

/// Closes what `open` gives each time.
fn close<'p>(
    bench: Bench<'p>,
    open: impl Fn() -> Result<OwnedFd, Failure>,
) -> Result<Outcome<'p>, Failure> {
    let bench = bench.made_on(open()?);
    let opened = Cell::new(None);
    let prepare = || {
        opened.set(Some(open()?));
        Ok(())
    };
    bench.measure(prepare, || {
        let number = opened.take().map_or(-1, IntoRawFd::into_raw_fd);
        // SAFETY: the descriptor was given up, and is not used again.
        answered(unsafe { syscall1(Sysno::CLOSE, number as usize) })
    })
}

fn close_file(mut bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let space = bench.space()?;
    let names = Names::files(&space, FILES)?;
    close(bench, || names.open_next().tried("open"))
}

fn close_pipe(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    close(bench, || {
        let (reader, _) = pipe_with(PipeFlags::CLOEXEC).tried("make a pipe")?;
        Ok(reader)
    })
}

fn close_unix(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let other = Cell::new(None);
    close(bench, || {
        let (near, far) = unix()?;
        other.set(Some(far));
        Ok(near)
    })
}

fn close_tcp(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let connections = Connections::new()?;
    let other = Cell::new(None);
    close(bench, || {
        let (near, far) = connections.pair()?;
        other.set(Some(far));
        Ok(near.into())
    })
}

/// Has a small file at hand.
fn on_file<'p>(
    mut bench: Bench<'p>,
    measure: impl FnOnce(Bench<'p>, &File) -> Result<Outcome<'p>, Failure>,
) -> Result<Outcome<'p>, Failure> {
    let space = bench.space()?;
    let file = file(&space, 4 << 10)?;
    measure(bench.on(&file), &file)
}

fn fstat_file(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    on_file(bench, |bench, file| {
        bench.measure(nothing, || fstat(file).map(drop))
    })
}

fn chmod(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let modes = [Mode::RUSR, Mode::RUSR | Mode::WUSR];
    let mut turn = 0;
    on_file(bench, |bench, file| {
        bench.measure(nothing, || {
            turn = 1 - turn;
            fchmod(file, modes[turn])
        })
    })
}

fn chown(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let own = (Some(getuid()), Some(getgid()));
    on_file(bench, |bench, file| {
        bench.measure(nothing, || fchown(file, own.0, own.1))
    })
}

fn get_flags(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    on_file(bench, |bench, file| {
        bench.measure(nothing, || fcntl_getfl(file).map(drop))
    })
}

/// Locks a byte that only this process uses, not an audited copy of it.
fn lock(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let after = Rc::clone(&bench.after);
    on_file(bench, |bench, file| {
        let number = file.as_raw_fd() as usize;
        let (byte, is_set) = (Cell::new(0), Cell::new(false));
        let ask = |command: c_int, kind: c_int| {
            let mut lock = libc::flock {
                l_type: kind as c_short,
                l_whence: libc::SEEK_SET as c_short,
                l_start: byte.get(),
                l_len: 1,
                l_pid: 0,
            };
            let place = (&raw mut lock).expose_provenance();
            // SAFETY: the lock outlives the call.
            answered(unsafe { syscall3(Sysno::FCNTL, number, command as usize, place) })?;
            Ok::<c_int, Errno>(lock.l_type.into())
        };
        let prepare = || {
            if is_set.replace(false) {
                // A lock of the open file would conflict with one of the process.
                let conflict = ask(libc::F_OFD_GETLK, libc::F_WRLCK).tried("fcntl")?;
                after.set(match conflict == libc::F_UNLCK {
                    true => FREE,
                    false => LOCKED,
                });
            }
            byte.set(std::process::id().into());
            ask(libc::F_SETLK, libc::F_UNLCK).tried("fcntl").map(drop)
        };
        bench.measure(prepare, || {
            is_set.set(true);
            ask(libc::F_SETLK, libc::F_WRLCK).map(drop)
        })
    })
}

fn ask_terminal(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    on_file(bench, |bench, file| {
        bench.measure(nothing, || tcgetwinsize(file).map(drop))
    })
}

fn ask_pipe(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (reader, _writer) = pipe_with(PipeFlags::CLOEXEC).tried("make a pipe")?;
    bench
        .on(&reader)
        .measure(nothing, || ioctl_fionread(&reader))
}

fn dup(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let (reader, mut writer) = pipe_with(PipeFlags::CLOEXEC).tried("make a pipe")?;
    bench
        .on(&reader)
        .measure(nothing, || dup3(&reader, &mut writer, DupFlags::CLOEXEC))
}

fn pipe(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let made = Cell::new(None);
    let prepare = || {
        drop(made.take());
        Ok(())
    };
    bench.measure(prepare, || {
        made.set(Some(pipe_with(PipeFlags::CLOEXEC)?));
        Ok(())
    })
}

/// Sets what is set.
fn sigaction(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    /// More words than any kernel's structure has.
    const WORDS: usize = 16;
    let (signal, mut action) = (libc::SIGUSR1 as usize, [0_usize; WORDS]);
    let place = (&raw mut action).expose_provenance();
    let set = |new: usize, old: usize| {
        // SAFETY: both structures are as long as the kernel's, which wrote the one that it reads.
        answered(unsafe { syscall4(Sysno::RT_SIGACTION, signal, new, old, SET_BYTES) })
    };
    set(0, place).tried("rt_sigaction")?;
    bench.measure(nothing, || set(place, 0))
}

/// Blocks a signal that is not blocked.
fn sigmask(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let signal = set_of(libc::SIGUSR1);
    let place = (&raw const signal).expose_provenance();
    let change = |how: c_int| {
        let how = how as usize;
        // SAFETY: the set outlives the call, which only reads it.
        answered(unsafe { syscall4(Sysno::RT_SIGPROCMASK, how, place, 0, SET_BYTES) })
    };
    let unblock = || change(libc::SIG_UNBLOCK).tried("rt_sigprocmask").map(drop);
    let outcome = bench.measure(unblock, || change(libc::SIG_BLOCK));
    unblock()?;
    outcome
}

fn wake(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let word = AtomicU32::new(0);
    bench.measure(nothing, || futex::wake(&word, futex::Flags::PRIVATE, 1))
}

fn getcwd(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    let mut path = [1_u8; 4 << 10];
    let (place, bytes) = (path.as_mut_ptr().expose_provenance(), path.len());
    bench.measure(nothing, || {
        // SAFETY: the buffer has this size, and outlives the call.
        answered(unsafe { syscall2(Sysno::GETCWD, place, bytes) })
    })
}

fn uname(bench: Bench<'_>) -> Result<Outcome<'_>, Failure> {
    bench.measure(nothing, || {
        std::hint::black_box(rustix::system::uname());
        Ok(())
    })
}
