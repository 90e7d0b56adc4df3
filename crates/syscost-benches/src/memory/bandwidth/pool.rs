//! Memory that the cases of one worker use one after the other: a gigabyte takes longer to fill than to measure.

use std::ops::Deref;
use std::sync::Mutex;

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::kernel::{Arrays, Course, Simd, Streaming, Work};
use syscost_sys::memory::{Pages, enough_for};

/// What nobody uses at the moment, by the CPU whose thread touched it first.
static POOL: Mutex<Vec<(u32, Arrays)>> = Mutex::new(Vec::new());

/// How much could not be had, and why.
static REFUSED: Mutex<Option<(usize, Unsupported)>> = Mutex::new(None);

/// Arrays that may lie in a cache are gone through so often beforehand: a cache that takes what another one drops has them only then.
const LAPS: u64 = 3;

/// No cache of one core's holds more, in bytes.
const MOST_CACHED: usize = 32 << 20;

/// A stream through memory of the pool, to which it goes back.
pub(in crate::memory) struct Lent {
    cpu: u32,
    streaming: Option<Streaming>,
}

impl Lent {
    /// A stream of the calling thread, which stays where it is.
    pub(in crate::memory) fn new(simd: Simd, course: Course) -> Result<Self, Failure> {
        let cpu = cpu::current().map_err(|error| Failure::Failed(error.to_string()))?;
        // Whoever could not get so much would wait for it once more, in each case.
        let refused = REFUSED
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, reason)) = refused
            .as_ref()
            .filter(|(bytes, _)| *bytes <= course.footprint())
        {
            return Err(reason.clone().into());
        }
        drop(refused);
        let streaming = Streaming::new(simd, course, take(cpu)).inspect_err(|reason| {
            let mut refused = REFUSED
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            *refused = Some((course.footprint(), reason.clone()));
        })?;
        let lent = Self {
            cpu,
            streaming: Some(streaming),
        };
        if course.footprint() <= MOST_CACHED {
            let around = (course.footprint() as u64).div_ceil(course.bytes());
            lent.run(LAPS * around);
        }
        Ok(lent)
    }

    /// The same that looks at one word after each operation, not at several: its checks are timed.
    pub(super) fn looking_at_one(mut self) -> Self {
        self.streaming = self
            .streaming
            .take()
            .map(|streaming| streaming.looking_at(1));
        self
    }
}

impl Deref for Lent {
    type Target = Streaming;

    fn deref(&self) -> &Streaming {
        self.streaming.as_ref().expect("only `drop` takes it")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let arrays = self.streaming.take().map(Streaming::into_arrays);
        let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        pool.extend(arrays.map(|arrays| (self.cpu, arrays)));
    }
}

/// Whether threads on these CPUs may take what such a stream of each of them still has to get: each of them asks for itself only.
pub(in crate::memory) fn enough_for_all(course: Course, cpus: &[u32]) -> Result<(), Unsupported> {
    let pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let missing_bytes = |cpu: &u32| match pool.iter().find(|(owner, _)| owner == cpu) {
        Some((_, arrays)) => arrays.missing_bytes(course),
        None => course.footprint(),
    };
    match cpus.iter().map(missing_bytes).sum() {
        0 => Ok(()),
        missing => enough_for(missing),
    }
}

fn take(cpu: u32) -> Arrays {
    let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match pool.iter().position(|(owner, _)| *owner == cpu) {
        Some(place) => pool.swap_remove(place).1,
        None => Arrays::new(match Pages::here().contains(&Pages::Huge) {
            true => Pages::Huge,
            false => Pages::Small,
        }),
    }
}
