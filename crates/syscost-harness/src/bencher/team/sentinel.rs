//! Probes the cores of a team's partners: a sleeping process on each of their CPUs, woken for a
//! probe.
//!
//! The partners belong to the benchmark and do not probe their cores. A thread of this process
//! would do as well, but then this process's address space would be active on the other CPU, and
//! every change of a mapping would interrupt it there.

use std::hint::spin_loop;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use syscost_sys::clock::Clock;
use syscost_sys::partner::{Between, Partner, Shared};

use crate::cores::Cores;
use crate::cores::moment::{probes_in_a_row, slowdown};
use crate::failure::Failure;

/// How long a sentinel may take to answer.
const PATIENCE: Duration = Duration::from_millis(1);

/// How long to wait for the last answer of a late sentinel, so that it comes before the next
/// timing.
const LAST_ANSWER: Duration = Duration::from_millis(50);

/// A sentinel's answer, in shared memory.
struct Answer {
    count: AtomicU64,
    /// How slow its core seemed to the last probes, as the bits of an `f64`.
    slowdown: AtomicU64,
}

/// A process that probes the core of another CPU when asked.
pub(in crate::bencher) struct Sentinel {
    answer: Shared<Answer>,
    asked: u64,
    /// How many probes in a row must find its core ours.
    probes: u32,
    is_late: bool,
    ask: PipeWriter,
    /// Ended together with the sentinel.
    _process: Partner,
}

impl Sentinel {
    /// A sentinel on this CPU; `None` where nothing is known of its core.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(in crate::bencher) fn start(
        clock: Clock,
        cpu: u32,
        cores: &Cores,
    ) -> Result<Option<Self>, Failure> {
        let Some(alone) = cores.alone_or_alike(cpu) else {
            return Ok(None);
        };
        let probe = cores.probe(clock);
        let probes = probes_in_a_row(&probe);
        let failed = |cause| Failure::of("make a pipe", cause);
        let (mut questions, ask): (PipeReader, PipeWriter) = pipe().map_err(failed)?;
        let answer = Shared::new(Answer {
            count: AtomicU64::new(0),
            slowdown: AtomicU64::new(0),
        })?;
        let shared = answer.clone();
        let work = move || -> Result<(), String> {
            let mut question = [0_u8; 1];
            while questions.read(&mut question).is_ok_and(|count| count == 1) {
                let slowdown = slowdown(&probe, &alone, u32::from(question[0]));
                shared.slowdown.store(slowdown.to_bits(), Ordering::Relaxed);
                shared.count.fetch_add(1, Ordering::Release);
            }
            Ok(())
        };
        let process = Partner::start(Between::Processes, &[cpu], work)?;
        Ok(Some(Self {
            answer,
            asked: 0,
            probes,
            is_late: false,
            ask,
            _process: process,
        }))
    }

    /// Whether it was too late to answer.
    pub(in crate::bencher) fn is_late(&self) -> bool {
        self.is_late
    }

    /// How slow its core seems now, by the worst of a few probes: 1 for one of our own; `None` once it was too late to
    /// answer: a partner that spins keeps the CPU, and a late sentinel would disturb what is
    /// timed. It is not asked again.
    pub(in crate::bencher) fn slowdown(&mut self) -> Option<f64> {
        let probes = [self.probes as u8];
        if self.is_late || self.ask.write(&probes).is_err() {
            return None;
        }
        self.asked += 1;
        let begun = Instant::now();
        while self.answer.count.load(Ordering::Acquire) < self.asked {
            let waited = begun.elapsed();
            self.is_late |= waited > PATIENCE;
            if waited > LAST_ANSWER {
                break;
            }
            spin_loop();
        }
        (!self.is_late).then(|| f64::from_bits(self.answer.slowdown.load(Ordering::Relaxed)))
    }
}
