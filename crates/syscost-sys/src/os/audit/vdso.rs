//! The kernel's code in user space, which makes a call itself where it cannot answer.

use std::ops::Range;

use crate::raw::Sysno;

/// Where the vDSO lies in this process and in the copies that it forks; `None` where the kernel has given
/// it none.
pub(super) struct Vdso(Option<Range<u64>>);

impl Vdso {
    /// That of this process; nowhere, where nothing tells.
    pub(super) fn own() -> Self {
        let maps = || std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let is_there = crate::platform::vdso().is_ok();
        Self(is_there.then(|| place(&maps()).unwrap_or_default()))
    }

    /// Whether this call is a reading of the time that user space makes where the kernel allows it:
    /// of a clock that the vDSO knows, made by it, or by the C library where there is none.
    pub(super) fn reads_time(&self, call: &libc::seccomp_data) -> bool {
        let number = call.nr.cast_unsigned();
        Some(number) == Sysno::CLOCK_GETTIME.number()
            && (self.0.as_ref()).is_none_or(|place| place.contains(&call.instruction_pointer))
            && is_known(call.args[0])
    }
}

/// Whether the vDSO serves this clock: no time of a task or process, which is a call everywhere.
fn is_known(clock: u64) -> bool {
    let known = [
        libc::CLOCK_REALTIME,
        libc::CLOCK_MONOTONIC,
        libc::CLOCK_MONOTONIC_RAW,
        libc::CLOCK_REALTIME_COARSE,
        libc::CLOCK_MONOTONIC_COARSE,
        libc::CLOCK_BOOTTIME,
        libc::CLOCK_TAI,
    ];
    known.iter().any(|one| u64::try_from(*one) == Ok(clock))
}

fn place(maps: &str) -> Option<Range<u64>> {
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    Some(address(begin)?..address(end)?)
}

#[cfg(test)]
mod tests {
    #![allow(unsafe_code)] // a structure of plain integers

    use rustix::time::{ClockId, clock_gettime};

    use super::*;
    use crate::audit::count_syscalls;

    #[test]
    fn a_reading_is_what_the_vdso_asks_of_a_clock_it_knows() {
        let vdso = Vdso(Some(0x1000..0x3000));
        let is_reading = |vdso: &Vdso, number: Sysno, address, clock: libc::clockid_t| {
            // SAFETY: plain integers, for which zero is a value.
            let mut call: libc::seccomp_data = unsafe { std::mem::zeroed() };
            call.nr = number.number().expect("it exists").cast_signed();
            call.instruction_pointer = address;
            call.args[0] = clock.cast_unsigned().into();
            vdso.reads_time(&call)
        };
        let reads = |number, address, clock| is_reading(&vdso, number, address, clock);
        assert!(reads(
            Sysno::CLOCK_GETTIME,
            0x1abc,
            libc::CLOCK_MONOTONIC_RAW
        ));
        assert!(reads(Sysno::CLOCK_GETTIME, 0x1abc, libc::CLOCK_REALTIME));
        // By code of ours, of a clock that is a call everywhere, or another call.
        assert!(!reads(Sysno::CLOCK_GETTIME, 0x3000, libc::CLOCK_MONOTONIC));
        assert!(!reads(
            Sysno::CLOCK_GETTIME,
            0x1abc,
            libc::CLOCK_THREAD_CPUTIME_ID
        ));
        assert!(!reads(Sysno::GETPPID, 0x1abc, libc::CLOCK_MONOTONIC));
        // Without a vDSO, the C library makes each reading itself.
        let without = |number, clock| is_reading(&Vdso(None), number, 0x3000, clock);
        assert!(without(Sysno::CLOCK_GETTIME, libc::CLOCK_MONOTONIC));
        assert!(!without(
            Sysno::CLOCK_GETTIME,
            libc::CLOCK_THREAD_CPUTIME_ID
        ));
        assert!(!without(Sysno::GETPPID, libc::CLOCK_MONOTONIC));
    }

    #[test]
    fn a_clock_that_user_space_cannot_read_is_read_by_the_vdsos_own_call() {
        let vdso = Vdso::own();
        let place = or_skip!(vdso.0.ok_or("no vDSO"));
        let noted = [Sysno::CLOCK_GETTIME];
        let limit = std::time::Duration::from_secs(20);
        let counted = crate::audit::note_syscalls(limit, &noted, || {
            let _ = clock_gettime(ClockId::ThreadCPUTime);
        });
        let counts = or_skip!(counted.map_err(|error| error.to_string()));
        let calls = counts.arguments(Sysno::CLOCK_GETTIME);
        assert_eq!((calls.len(), counts.readings()), (1, 0));
        let from = calls[0][crate::audit::CALLED_FROM];
        assert!(place.contains(&from), "{from:#x} in {place:x?}");
        // Where the kernel allows it, what the vDSO knows makes no call at all.
        let counts = count_syscalls(limit, || {
            let _ = clock_gettime(ClockId::Monotonic);
        });
        let counts = counts.expect("it was possible before");
        assert_eq!(counts.readings(), counts.get(Sysno::CLOCK_GETTIME));
    }
}
