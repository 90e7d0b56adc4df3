//! The clocks a program can read, by their names in rows.
#![allow(unsafe_code)] // the C library's calls have no safe form, and they are what programs make

use std::io;

use syscost_harness::prelude::*;
use syscost_sys::arch;
use syscost_sys::clock::{self, Bracket, Clock};
use syscost_sys::counters::SchedStat;
use syscost_sys::raw::syscall2;

use super::claim_served_by;

/// A clock a program can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::timing) enum Source {
    /// The processor's counter, unfenced.
    Tsc,
    /// The processor's counter, fenced on both sides.
    TscFenced,
    /// The processor's counter, by the instruction that waits for those before it.
    Rdtscp,
    /// `clock_gettime` of this clock.
    Clock(libc::clockid_t),
    /// `gettimeofday`.
    TimeOfDay,
    /// `time`.
    Seconds,
}

/// Either expression with `$read` as the function that reads this clock: the first one for a
/// counter, which cannot fail, the second one for any other. Who measures a clock and who looks at it
/// read it by the same function, since it is written here alone.
macro_rules! by_reader {
    ($source:expr, $read:ident, $of_counter:expr, $of_clock:expr) => {{
        use $crate::timing::clock_read::source;
        match $source {
            source::Source::Tsc => {
                let $read = syscost_sys::arch::cycle_counter_unfenced;
                $of_counter
            }
            source::Source::TscFenced => {
                let $read = syscost_sys::arch::cycle_counter_fenced;
                $of_counter
            }
            source::Source::Rdtscp => {
                let $read = syscost_sys::arch::cycle_counter_rdtscp;
                $of_counter
            }
            source::Source::Clock(id) => {
                let $read = move || source::clock_gettime(id);
                $of_clock
            }
            source::Source::TimeOfDay => {
                let $read = source::time_of_day;
                $of_clock
            }
            source::Source::Seconds => {
                let $read = source::seconds;
                $of_clock
            }
        }
    }};
}
pub(in crate::timing) use by_reader;

/// The clock; those of clock_gettime(2) have the names that they have there.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::timing) enum Named {
    Tsc,
    TscFenced,
    Rdtscp,
    Realtime,
    RealtimeCoarse,
    RealtimeAlarm,
    Monotonic,
    MonotonicCoarse,
    MonotonicRaw,
    Boottime,
    BoottimeAlarm,
    Tai,
    ProcessCputime,
    ThreadCputime,
    Gettimeofday,
    Time,
}

impl Named {
    pub(in crate::timing) fn source(self) -> Source {
        match self {
            Self::Tsc => Source::Tsc,
            Self::TscFenced => Source::TscFenced,
            Self::Rdtscp => Source::Rdtscp,
            Self::Realtime => Source::Clock(libc::CLOCK_REALTIME),
            Self::RealtimeCoarse => Source::Clock(libc::CLOCK_REALTIME_COARSE),
            Self::RealtimeAlarm => Source::Clock(libc::CLOCK_REALTIME_ALARM),
            Self::Monotonic => Source::Clock(libc::CLOCK_MONOTONIC),
            Self::MonotonicCoarse => Source::Clock(libc::CLOCK_MONOTONIC_COARSE),
            Self::MonotonicRaw => Source::Clock(libc::CLOCK_MONOTONIC_RAW),
            Self::Boottime => Source::Clock(libc::CLOCK_BOOTTIME),
            Self::BoottimeAlarm => Source::Clock(libc::CLOCK_BOOTTIME_ALARM),
            Self::Tai => Source::Clock(libc::CLOCK_TAI),
            Self::ProcessCputime => Source::Clock(libc::CLOCK_PROCESS_CPUTIME_ID),
            Self::ThreadCputime => Source::Clock(libc::CLOCK_THREAD_CPUTIME_ID),
            Self::Gettimeofday => Source::TimeOfDay,
            Self::Time => Source::Seconds,
        }
    }

    /// By the name alone: what [`Named::source`] makes of it is what is to be proven.
    pub(in crate::timing) fn proof(self) -> Proof {
        match self {
            Self::Tsc => COUNTER.expects(arch::UNFENCED),
            Self::TscFenced => COUNTER.expects(arch::FENCED),
            Self::Rdtscp => COUNTER.expects(arch::RDTSCP),
            // By chance the microseconds may be round ones.
            Self::Gettimeofday => ROUND.within(Bound::Within(1e3, 1e7)),
            Self::Time => ROUND.within(Bound::AtLeast(1e9)),
            clock => of_clock(clock.name()),
        }
    }
}

static COUNTER: Witness =
    Witness::of("instructions that read the counter", "the code's bytes").only_in(Pass::Evidence);

static ROUND: Witness =
    Witness::of("unit of the readings, in ns", "100 readings").only_in(Pass::Evidence);

/// A clock by the name of its constant, with its witness.
struct NamedClock {
    name: &'static str,
    id: libc::clockid_t,
    witness: Witness,
}

macro_rules! clocks {
    ($($id:ident,)+) => {
        [$(NamedClock {
            name: stringify!($id),
            id: libc::$id,
            witness: Witness::of(
                concat!("of 100 readings, those of ", stringify!($id)),
                "clock_gettime and seccomp audit",
            )
            .only_in(Pass::Evidence),
        }),+]
    };
}

/// The clocks of clock_gettime(2), and the witness of each: how many readings lie between two of that
/// clock by the kernel, and ask the kernel, if they ask it, for no other.
static CLOCKS: [NamedClock; 11] = clocks![
    CLOCK_REALTIME,
    CLOCK_REALTIME_COARSE,
    CLOCK_REALTIME_ALARM,
    CLOCK_MONOTONIC,
    CLOCK_MONOTONIC_COARSE,
    CLOCK_MONOTONIC_RAW,
    CLOCK_BOOTTIME,
    CLOCK_BOOTTIME_ALARM,
    CLOCK_TAI,
    CLOCK_PROCESS_CPUTIME_ID,
    CLOCK_THREAD_CPUTIME_ID,
];

/// Readings of which it is seen whose they are.
const READINGS: usize = 100;

/// The clock that is called this, by the name of its constant: `monotonic`.
fn clock_called(name: &str) -> Option<&'static NamedClock> {
    let wanted = format!("CLOCK_{}", name.to_uppercase());
    let mut all = CLOCKS.iter();
    all.find(|clock| clock.name.trim_end_matches("_ID") == wanted)
}

/// Proof that the clock of this name is read: nearly all, since it may be set meanwhile.
fn of_clock(name: &str) -> Proof {
    let nearly_all = Bound::AtLeast(0.95 * READINGS as f64);
    let own = clock_called(name).map(|clock| clock.witness.within(nearly_all));
    own.unwrap_or_default()
}

/// The rate of the processor's counter, in ticks per ns.
pub(crate) fn counter_ticks_per_ns(run_clock: &Clock) -> f64 {
    let counter = clock::Source::preferred();
    if run_clock.source() == counter {
        return run_clock.ticks_per_ns();
    }
    // The run does not trust the counter, so it has not been calibrated yet.
    let first = Bracket::take(counter);
    std::thread::sleep(std::time::Duration::from_millis(20));
    clock::ticks_per_ns(&first, &Bracket::take(counter))
}

impl Source {
    pub(in crate::timing) fn support(self) -> Result<(), Unsupported> {
        match self {
            Self::Tsc | Self::TscFenced => Ok(()),
            Self::Rdtscp => arch::rdtscp(),
            _ => self.read().map(drop).map_err(|cause| match cause.raw_os_error() {
                Some(libc::EINVAL) => Unsupported::new(
                    "the kernel has no such clock; alarm clocks need a real-time clock that can wake the machine",
                ),
                _ => Unsupported::new(format!("the clock cannot be read: {cause}")),
            }),
        }
    }

    /// Whether it is the processor's counter, whose readings are ticks. All others count nanoseconds.
    pub(in crate::timing) fn is_counter(self) -> bool {
        matches!(self, Self::Tsc | Self::TscFenced | Self::Rdtscp)
    }

    /// Whether it stands still while its task waits for a CPU.
    fn is_of_cpu_time(self) -> bool {
        matches!(
            self,
            Self::Clock(libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID)
        )
    }

    /// One reading, in ticks or ns.
    pub(in crate::timing) fn read(self) -> io::Result<u64> {
        match self {
            Self::Seconds => Ok(seconds()? * 1_000_000_000),
            other => by_reader!(other, read, Ok(read()), read()),
        }
    }

    /// The rate of its readings, in units per ns.
    pub(in crate::timing) fn units_per_ns(self, run_clock: &Clock) -> f64 {
        match self.is_counter() {
            true => counter_ticks_per_ns(run_clock),
            false => 1.0,
        }
    }

    /// Shows which clock it is; claims that either the vDSO or the kernel answers, and that it is a clock at
    /// all: that it advances as the run's own does. Returns the call that the kernel answers.
    pub(in crate::timing) fn look(self, b: &mut Bencher) -> Result<Option<Sysno>, Failure> {
        let (call, asked) = claim_served_by(b, self)?;
        self.show(b, asked)?;
        if self == Self::Seconds {
            claim_its_second(b)?;
            return Ok(call);
        }
        let ratio = self.time_over_elapsed(b.clock())?;
        let holds = (0.95..=1.05).contains(&ratio);
        b.claim(
            "its time over elapsed time",
            "0.95 to 1.05",
            ratio,
            "run's clock",
            holds,
        );
        Ok(call)
    }

    /// Shows which clock it is, whichever of them was `asked` of the kernel.
    fn show(self, b: &mut Bencher, asked: Option<u64>) -> Result<(), Failure> {
        let by = by_reader!(self, read, arch::reads_by(read), {
            let _ = read;
            "none".to_owned()
        });
        b.observe(&COUNTER, by);
        let failed = |cause| Failure::of("reading the clock", cause);
        let readings = (0..READINGS).map(|_| self.read());
        let readings: Vec<u64> = readings.collect::<Result<_, _>>().map_err(failed)?;
        let units = (0..=9).rev().map(|power| 10_u64.pow(power));
        let unit =
            units.filter(|unit| readings.iter().all(|reading| reading.is_multiple_of(*unit)));
        b.observe(&ROUND, unit.max().unwrap_or(1));
        let mut alike = 0;
        for NamedClock { id, witness, .. } in &CLOCKS {
            let is_other = asked.is_some_and(|asked| asked != *id as u64);
            let mut between = 0_u64;
            for _ in 0..READINGS {
                // A machine may lack this clock.
                let Ok(before) = kernel_time(*id) else {
                    break;
                };
                let read = self.read().map_err(failed)?;
                let after = kernel_time(*id).map_err(failed)?;
                between += u64::from((before..=after).contains(&read) && !is_other);
            }
            // Where the vDSO answers, its argument is not seen: CLOCK_BOOTTIME is CLOCK_MONOTONIC
            // on a machine that never slept.
            match asked.is_none() && between > 0 && between == alike {
                true => b.unobserved(
                    witness,
                    "it shows the same time as another one: CLOCK_BOOTTIME where the machine never \
                     slept, CLOCK_TAI where nobody has set its offset",
                ),
                false => b.observe(witness, between),
            }
            alike = alike.max(between);
        }
        Ok(())
    }

    /// How far it advances while the run's clock advances by one: the best of a few tries over longer and
    /// longer times, because delays between the readings of both are not the clock's fault. The
    /// first takes a quarter of a millisecond, or two of the clock's steps. For a clock of CPU
    /// time, what this task waited for its CPU does not count.
    fn time_over_elapsed(self, run_clock: &Clock) -> Result<f64, Failure> {
        let units_per_ns = self.units_per_ns(run_clock);
        let waits = SchedStat::open().ok().filter(|_| self.is_of_cpu_time());
        let waited_ns = || {
            let now = waits.as_ref().and_then(|waits| waits.read().ok());
            now.map_or(0, |now| now.run_delay_ns)
        };
        let mut best = f64::INFINITY;
        for tries in 0..10 {
            let (first, start) = self.edge(run_clock)?;
            let before_ns = waited_ns();
            let ratio = loop {
                let (last, stop) = self.edge(run_clock)?;
                let elapsed = run_clock.to_ns(stop.saturating_sub(start));
                if elapsed >= 250_000.0 * f64::from(1 << tries) {
                    let could_run = elapsed - waited_ns().saturating_sub(before_ns) as f64;
                    break last.wrapping_sub(first).cast_signed() as f64 / units_per_ns / could_run;
                }
            };
            if (ratio - 1.0).abs() < (best - 1.0).abs() {
                best = ratio;
            }
            if (best - 1.0).abs() < 0.01 {
                break;
            }
        }
        Ok(best)
    }

    /// Waits for its next step; returns the new reading and the run's clock.
    fn edge(self, run_clock: &Clock) -> Result<(u64, u64), Failure> {
        /// A clock that does not advance within this time is none: the coarse ones step every few
        /// milliseconds.
        const PATIENCE_NS: f64 = 200e6;
        let read = || self.read().tried("reading the clock");
        let start = run_clock.start();
        let before = read()?;
        loop {
            let now = read()?;
            let ticks = run_clock.start();
            if now != before {
                return Ok((now, ticks));
            }
            if run_clock.to_ns(ticks.saturating_sub(start)) > PATIENCE_NS {
                return Err(Failure::Refuted("this clock stood still for 200 ms".into()));
            }
        }
    }
}

/// What the kernel itself answers, without the C library and the vDSO, in ns.
fn kernel_time(id: libc::clockid_t) -> io::Result<u64> {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let place = (&raw mut now).expose_provenance();
    // SAFETY: the kernel writes the time to `now`, which outlives the call.
    match unsafe { syscall2(Sysno::CLOCK_GETTIME, id as usize, place) } {
        0 => {
            // SAFETY: `place` is the address of `now`.
            let now = unsafe { (place as *const libc::timespec).read_volatile() };
            Ok(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
        }
        error => Err(io::Error::from_raw_os_error(-error as i32)),
    }
}

/// `clock_gettime` through the C library, in ns.
#[inline(always)]
pub(in crate::timing) fn clock_gettime(id: libc::clockid_t) -> io::Result<u64> {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is one timespec, writable.
    if unsafe { libc::clock_gettime(id, &mut now) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// `gettimeofday` through the C library, in ns.
#[inline(always)]
pub(crate) fn time_of_day() -> io::Result<u64> {
    let mut now = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    // SAFETY: `now` is one timeval, writable; no time zone is requested.
    if unsafe { libc::gettimeofday(&mut now, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(now.tv_sec as u64 * 1_000_000_000 + now.tv_usec as u64 * 1_000)
}

/// `time` through the C library, in seconds.
#[inline(always)]
pub(in crate::timing) fn seconds() -> io::Result<u64> {
    // SAFETY: a null pointer means that only the returned value is wanted.
    let now = unsafe { libc::time(std::ptr::null_mut()) };
    u64::try_from(now).map_err(|_| io::Error::last_os_error())
}

/// It would take seconds to see `time` move; but its second must be that of the clock from which it
/// is derived.
fn claim_its_second(b: &mut Bencher) -> Result<(), Failure> {
    let read = || -> io::Result<[u64; 3]> {
        let of_clock = || clock_gettime(libc::CLOCK_REALTIME_COARSE).map(|ns| ns / 1_000_000_000);
        Ok([of_clock()?, seconds()?, of_clock()?])
    };
    let [before, seen, after] = read().tried("reading the clock")?;
    let holds = (before..=after).contains(&seen);
    let (expected, observed) = (format!("{before} to {after}"), seen.to_string());
    b.claim(
        "its second is that of CLOCK_REALTIME_COARSE",
        expected,
        observed,
        "clock_gettime",
        holds,
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_and_time_of_day_are_one_clock() {
        let before = clock_gettime(libc::CLOCK_REALTIME).unwrap();
        let between = time_of_day().unwrap();
        let after = clock_gettime(libc::CLOCK_REALTIME).unwrap();
        assert!(
            (before - before % 1000..=after).contains(&between),
            "{before} {between} {after}"
        );
        assert!(seconds().unwrap().abs_diff(after / 1_000_000_000) <= 1);
    }

    #[test]
    fn each_clock_is_the_one_of_its_name() {
        for named in Named::ALL {
            let known = clock_called(named.name()).map(|clock| clock.id);
            let read = match named.source() {
                Source::Clock(id) => Some(id),
                _ => None,
            };
            assert_eq!(read, known, "{}", named.name());
        }
    }

    #[test]
    fn a_clock_that_is_none_is_unsupported() {
        assert!(Source::Clock(1_000).support().is_err());
        assert!(Source::Clock(libc::CLOCK_MONOTONIC).support().is_ok());
    }
}
