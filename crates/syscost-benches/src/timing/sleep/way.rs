//! The ways to end a sleep.
#![allow(unsafe_code)] // pselect6 and epoll_pwait2 have no safe form that takes nanoseconds

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::thread::{ClockId, NanosleepRelativeResult, clock_nanosleep_relative};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall6;

/// What ends the sleep.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    ClockNanosleep,
    Timerfd,
    Select,
    Poll,
    Epoll,
}

/// It, with the descriptor that it takes.
pub(super) enum Way {
    Nanosleep,
    Timerfd(OwnedFd),
    Select,
    Poll,
    Epoll(OwnedFd),
}

impl Via {
    /// The calls of a sleep.
    pub(super) fn calls(self) -> &'static [Sysno] {
        match self {
            Self::ClockNanosleep => &[Sysno::CLOCK_NANOSLEEP],
            Self::Timerfd => &[Sysno::TIMERFD_SETTIME, Sysno::READ],
            Self::Select => &[Sysno::PSELECT6],
            Self::Poll => &[Sysno::PPOLL],
            Self::Epoll => &[Sysno::EPOLL_PWAIT2],
        }
    }
}

impl Way {
    pub(super) fn open(via: Via) -> Result<Self, Failure> {
        let failed = |cause: Errno| Failure::of(via.name(), cause);
        let monotonic = TimerfdClockId::Monotonic;
        Ok(match via {
            Via::ClockNanosleep => Self::Nanosleep,
            Via::Timerfd => {
                Self::Timerfd(timerfd_create(monotonic, TimerfdFlags::CLOEXEC).map_err(failed)?)
            }
            Via::Select => Self::Select,
            Via::Poll => Self::Poll,
            Via::Epoll => Self::Epoll(epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?),
        })
    }

    #[inline]
    pub(super) fn sleep(&mut self, length: &Timespec) -> Result<(), Errno> {
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut limit = *length;
        let woken = match self {
            Self::Nanosleep => match clock_nanosleep_relative(ClockId::Monotonic, length) {
                NanosleepRelativeResult::Ok => return Ok(()),
                NanosleepRelativeResult::Interrupted(_) => return Err(Errno::INTR),
                NanosleepRelativeResult::Err(error) => return Err(error),
            },
            Self::Timerfd(timer) => {
                let once = Itimerspec {
                    it_interval: zero,
                    it_value: *length,
                };
                timerfd_settime(timer.as_fd(), TimerfdTimerFlags::empty(), &once)?;
                rustix::io::read(timer.as_fd(), &mut [0_u8; 8])?;
                return Ok(());
            }
            Self::Poll => return rustix::event::poll(&mut [], Some(length)).map(drop),
            // SAFETY: no set is given; the kernel reads and writes the limit, which is the caller's own copy.
            Self::Select => unsafe {
                syscall6(
                    Sysno::PSELECT6,
                    0,
                    0,
                    0,
                    0,
                    (&raw mut limit).expose_provenance(),
                    0,
                )
            },
            Self::Epoll(epoll) => {
                let mut event = epoll::Event {
                    flags: epoll::EventFlags::empty(),
                    data: epoll::EventData::new_u64(0),
                };
                let (fd, events) = (
                    epoll.as_raw_fd() as usize,
                    (&raw mut event).expose_provenance(),
                );
                // SAFETY: room for one event is given, and the limit is the caller's own copy;
                // there is no signal mask.
                unsafe {
                    syscall6(
                        Sysno::EPOLL_PWAIT2,
                        fd,
                        events,
                        1,
                        (&raw mut limit).expose_provenance(),
                        0,
                        0,
                    )
                }
            }
        };
        // No descriptor can be ready: anything but the time limit is an error.
        if woken == 0 {
            Ok(())
        } else {
            Err(Errno::from_raw_os_error(-woken as i32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn every_way_sleeps_as_long_as_asked() {
        let length = Timespec {
            tv_sec: 0,
            tv_nsec: 2_000_000,
        };
        for via in Via::ALL {
            let mut way = Way::open(via).unwrap();
            let start = Instant::now();
            match way.sleep(&length) {
                Err(Errno::NOSYS) => println!("skipped: this kernel has no {via:?}"),
                result => {
                    result.unwrap();
                    assert!(start.elapsed() >= Duration::from_millis(2), "{via:?}");
                }
            }
        }
    }
}
