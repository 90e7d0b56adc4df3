//! Reading a clock once: the processor's counter, and every clock of the system through the C library.
//!
//! ## Measures
//! One reading, many in a row. `tsc` is the bare `rdtsc`
//! (`cntvct_el0` on aarch64), free to move among the instructions around it; `tsc_fenced` waits for
//! everything before it and holds back everything after it; `rdtscp` waits for what is before it.
//! The other cases call `clock_gettime`, `gettimeofday` and `time` as programs do.
//! ## Does not measure
//! How finely the clock counts
//! (`timing.clock_step`), or the pair of fenced readings that times the samples of this run (`clock.read_ns`
//! of the run).
//! ## Interpretation
//! A reading that the vDSO answers costs little more than the counter itself; one that enters the
//! kernel costs a system call. Which of the two it is was counted, and is in the evidence. CPU-time
//! clocks always enter the kernel. If the ordinary clocks do too, the machine's clock source cannot
//! be read from user space: programs that take many timestamps will notice. Coarse clocks read a
//! stored time, and lag by up to a tick.
//! ## Source
//! The timer costs of the call-and-switch, three-costs, whole-system and clock-read-switch experiments.

pub(super) mod source;

use std::hint::black_box;

use syscost_harness::prelude::*;
use syscost_sys::audit::{AuditError, note_syscalls};

#[cfg(feature = "studies")]
pub(crate) use source::counter_ticks_per_ns;
pub(super) use source::{Named, Source, by_reader};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Clock reading: timer overhead",
    tags: "timing overhead, clock_gettime, gettimeofday, rdtsc, rdtscp, tsc, vdso, timing_o",
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    roles: roles!(ClockRead { source: Named::Monotonic } => Role::ClockReading),
    ..Benchmark::of::<ClockRead>()
};

/// Readings in the audit that determines whether the vDSO or the kernel serves them.
const AUDITED: u64 = 64;

#[derive(Params, Clone)]
struct ClockRead {
    source: Named,
}

impl Measured for ClockRead {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ClockRead { source: Named::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.source {
            Named::Tsc | Named::Monotonic => Profile::Quick,
            Named::Rdtscp
            | Named::Realtime
            | Named::MonotonicCoarse
            | Named::MonotonicRaw
            | Named::ThreadCputime
            | Named::Gettimeofday => Profile::Standard,
            Named::TscFenced
            | Named::RealtimeCoarse
            | Named::RealtimeAlarm
            | Named::Boottime
            | Named::BoottimeAlarm
            | Named::Tai
            | Named::ProcessCputime
            | Named::Time => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.source.source().support()
    }

    fn proofs(&self) -> ClockReadProofs<Proof> {
        let source = self.source.proof();
        ClockReadProofs {
            source: match self.source {
                // No vDSO serves these.
                Named::ProcessCputime
                | Named::ThreadCputime
                | Named::RealtimeAlarm
                | Named::BoottimeAlarm => source.and(Proof::counted([calls(Sysno::CLOCK_GETTIME)])),
                Named::Tsc
                | Named::TscFenced
                | Named::Rdtscp
                | Named::Realtime
                | Named::RealtimeCoarse
                | Named::Monotonic
                | Named::MonotonicCoarse
                | Named::MonotonicRaw
                | Named::Boottime
                | Named::Tai
                | Named::Gettimeofday
                | Named::Time => source,
            },
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let clock = self.source.source();
        if plan.looks()
            && let Some(call) = clock.look(&mut plan)?
        {
            plan.expect(calls(call));
        }
        by_reader!(
            clock,
            read,
            plan.measure(Loop::infallible(read)),
            plan.measure(Loop::each(read))
        )
    }
}

/// Claims that either the vDSO or the kernel serves all readings: both are valid, but a mixture is
/// not, since its cost would be that of neither. Returns the call that the kernel serves, and its first
/// argument: which clock it is asked for.
fn claim_served_by(
    b: &mut Bencher,
    clock: Source,
) -> Result<(Option<Sysno>, Option<u64>), Failure> {
    let noted = [Sysno::CLOCK_GETTIME];
    let counted = note_syscalls(b.audit_limit(), &noted, || {
        for _ in 0..AUDITED {
            let _ = black_box(clock.read());
        }
    });
    let (made, asked): (Vec<(u32, u64)>, _) = match counted {
        Ok(counts) => {
            let asked = counts.arguments(Sysno::CLOCK_GETTIME).first();
            (counts.iter().collect(), asked.map(|given| given[0]))
        }
        // Without the audit, the harness reports so along with its own expectations.
        Err(AuditError::SeccompUnavailable(_)) => return Ok((None, None)),
        Err(error) => return Err(Failure::of("counting the system calls of a reading", error)),
    };
    let (who, call) = match made[..] {
        [] if clock.is_counter() => ("the processor".to_owned(), None),
        [] => ("the vDSO".to_owned(), None),
        [(number, AUDITED)] => ("the kernel".to_owned(), Sysno::from_number(number)),
        _ => (
            format!("a mixture: calls {made:?} in {AUDITED} readings"),
            None,
        ),
    };
    let pure = made.is_empty() || call.is_some();
    let expected = "processor, vDSO or kernel alone";
    b.claim(
        "who answers a reading",
        expected,
        who,
        "seccomp audit",
        pure,
    );
    Ok((call, asked))
}
