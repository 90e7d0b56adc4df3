//! Shared: two children that pass a byte back and forth through two pipes, one of which takes the time.

use std::sync::Arc;

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::cpu;
use syscost_sys::partner::{Between, Partner, Shared, Slot};

use super::{now_ns, passed_ns};
use crate::switch::ping_pong::{Side, Wake};
use crate::switch::pipe::Pipes;

/// What a child reports when it is done.
#[derive(Debug, Clone, Copy)]
struct Report {
    /// Time from before its first write to after its last read, in ns.
    passed_ns: f64,
    /// Bytes it has received.
    received: u64,
    /// Its CPU at the end; `None` where the kernel does not report it.
    cpu: Option<u32>,
    /// How often it was switched out meanwhile, asleep or not.
    switches: u64,
    /// Page faults meanwhile.
    faults: u64,
}

/// What both children reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    /// The time that the first writer measured, in ns.
    pub(super) ns: f64,
    /// Bytes that both received.
    pub(super) received: u64,
    /// Whether both ended on one CPU; `None` where the kernel does not report it.
    pub(super) on_one_cpu: Option<bool>,
    /// How often either was switched out: a waiting child sleeps, and a child that has woken the other may be
    /// preempted by it.
    pub(super) switches: u64,
    /// Page faults of both.
    pub(super) faults: u64,
}

/// Starts two processes that may use these CPUs, which pass a byte from one to the other `messages` times,
/// an even number; the one that writes first waits until the other is ready to receive it.
pub(super) fn pass(messages: u64, cpus: &[u32]) -> Result<Passed, Failure> {
    let pipes = Arc::new(Pipes::open()?);
    let child = |side: Side| -> Result<(Partner, Shared<Slot<Report>>), Failure> {
        let slot = Shared::new(Slot::default())?;
        let (pipes, said) = (Arc::clone(&pipes), slot.clone());
        let work = move || -> Result<(), Failure> {
            said.put(to_and_fro(&pipes, side, messages / 2)?);
            Ok(())
        };
        let partner = Partner::start(Between::Processes, cpus, work)?;
        Ok((partner, slot))
    };
    let (second, of_second) = child(Side::Partner)?;
    let (first, of_first) = child(Side::Own)?;
    first.join()?;
    second.join()?;
    let [first, second] = [of_first, of_second].map(|slot| {
        let report = slot.get();
        report.ok_or_else(|| Failure::Failed("a child ended without a report".into()))
    });
    let (first, second) = (first?, second?);
    Ok(Passed {
        ns: first.passed_ns,
        received: first.received + second.received,
        on_one_cpu: first.cpu.zip(second.cpu).map(|(one, other)| one == other),
        switches: first.switches + second.switches,
        faults: first.faults + second.faults,
    })
}

/// The work of a child: the first writer takes the time, the other answers.
fn to_and_fro(pipes: &Pipes, side: Side, round_trips: u64) -> Result<Report, Failure> {
    let failed = |cause| Failure::of("pass a byte through a pipe", cause);
    match side {
        Side::Own => pipes.sleep(side).map_err(failed)?,
        Side::Partner => pipes.wake(Side::Own).map_err(failed)?,
    }
    let before = Usage::thread()?;
    let begun = now_ns()?;
    let mut received = 0;
    for _ in 0..round_trips {
        if side == Side::Own {
            pipes.wake(Side::Partner).map_err(failed)?;
        }
        pipes.sleep(side).map_err(failed)?;
        received += 1;
        if side == Side::Partner {
            pipes.wake(Side::Own).map_err(failed)?;
        }
    }
    let passed_ns = passed_ns(begun, now_ns()?);
    let used = Usage::thread()? - before;
    Ok(Report {
        passed_ns,
        received,
        cpu: cpu::current().ok(),
        switches: used.voluntary_switches + used.involuntary_switches,
        faults: used.minor_faults + used.major_faults,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives() {
        let Ok(cpus) = cpu::allowed() else {
            println!("skipped: no affinity here");
            return;
        };
        let passed = pass(20, &cpus[..1]).unwrap();
        assert_eq!(passed.received, 20);
        assert_eq!(passed.on_one_cpu, Some(true));
        // On one CPU no byte is read before its writer is switched out.
        assert!(passed.switches >= 19, "{passed:?}");
    }
}
