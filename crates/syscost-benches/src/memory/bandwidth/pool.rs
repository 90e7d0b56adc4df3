//! Memory that the cases of one worker reuse: a gigabyte takes longer to fill than to measure.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard};

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::kernel::{Arrays, Course, Simd, Stream, Streaming, Work, supports};
use syscost_sys::memory::enough_for;

use crate::memory::chases::MAX_CACHED;

/// Arrays that are not in use at the moment, by the CPU whose thread touched them first.
static POOL: Mutex<Vec<(u32, Arrays)>> = Mutex::new(Vec::new());

/// The size that could not be allocated, and why.
static REFUSED: Mutex<Option<(usize, Unsupported)>> = Mutex::new(None);

/// How often arrays that fit in a cache are gone through beforehand: a cache that receives what
/// another one evicts has them only then.
const LAPS: u64 = 3;

/// A stream through memory of the pool, to which it is returned.
pub(in crate::memory) struct PooledStream {
    cpu: u32,
    streaming: Option<Streaming>,
}

impl PooledStream {
    /// A stream of the calling thread, which has to stay on its CPU.
    pub(in crate::memory) fn new(simd: Simd, course: Course) -> Result<Self, Failure> {
        let cpu = cpu::current();
        // If the instructions were missing later, the arrays would be lost.
        supports(course.stream(), simd)?;
        let mut arrays = take(cpu);
        if let Err(reason) = get_whole(&mut arrays, course)
            .or_else(|reason| get(&mut arrays, course).map_err(|_| reason))
        {
            put_back(cpu, arrays);
            return Err(reason.into());
        }
        let streaming = Streaming::new(simd, course, arrays)?;
        let lent = Self {
            cpu,
            streaming: Some(streaming),
        };
        if course.footprint() <= MAX_CACHED {
            let around = (course.footprint() as u64).div_ceil(course.bytes());
            lent.run(LAPS * around);
        }
        Ok(lent)
    }

    /// Makes it check one word after each operation instead of several, since its checks are timed.
    pub(super) fn looking_at_one(mut self) -> Self {
        self.streaming = self
            .streaming
            .take()
            .map(|streaming| streaming.looking_at(1));
        self
    }
}

impl Deref for PooledStream {
    type Target = Streaming;

    fn deref(&self) -> &Streaming {
        self.streaming.as_ref().expect("only `drop` takes it")
    }
}

impl Drop for PooledStream {
    fn drop(&mut self) {
        if let Some(streaming) = self.streaming.take() {
            put_back(self.cpu, streaming.into_arrays());
        }
    }
}

/// Allocates each array with the size of all of them together, if that exceeds the caches: the next
/// stream may need fewer and longer ones, and an array that is too short would have to be filled
/// again.
fn get_whole(arrays: &mut Arrays, course: Course) -> Result<(), Unsupported> {
    if arrays.missing_bytes(course) == 0 {
        return Ok(());
    }
    courses_of_whole(course).try_for_each(|whole| get(arrays, whole))
}

/// Courses that use this much of each array; none where caches hold all of them.
fn courses_of_whole(course: Course) -> impl Iterator<Item = Course> {
    /// What sizes are rounded up to, in bytes.
    const GRAIN: usize = 1 << 20;
    // A third of a size leaves a remainder.
    let whole = course.footprint().next_multiple_of(GRAIN);
    let stream = course.stream();
    let reads = (stream.sources() > 0).then_some(Stream::Read);
    let writes = (stream.destinations() > 0).then_some(Stream::Write);
    let streams = reads.into_iter().chain(writes);
    streams
        .filter(move |_| whole > MAX_CACHED)
        .map(move |alone| Course::new(alone, whole, GRAIN))
}

/// Allocates what is missing, unless this much could not be allocated before: trying again would
/// take the same time in each case.
fn get(arrays: &mut Arrays, course: Course) -> Result<(), Unsupported> {
    let missing = arrays.missing_bytes(course);
    let refused = || {
        REFUSED
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    };
    let known = refused().clone();
    match known.filter(|(bytes, _)| missing > 0 && *bytes <= missing) {
        Some((_, reason)) => Err(reason),
        None => arrays
            .get(course)
            .inspect_err(|reason| *refused() = Some((missing, reason.clone()))),
    }
}

fn pool() -> MutexGuard<'static, Vec<(u32, Arrays)>> {
    POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn put_back(cpu: u32, arrays: Arrays) {
    pool().push((cpu, arrays));
}

/// Whether threads on these CPUs may allocate what each of their streams needs: each of them only
/// checks its own.
pub(in crate::memory) fn enough_for_all(course: Course, cpus: &[u32]) -> Result<(), Unsupported> {
    let pool = pool();
    let whole: Vec<Course> = courses_of_whole(course).collect();
    let missing_bytes = |cpu: &u32| {
        let arrays = pool.iter().find(|(owner, _)| owner == cpu);
        let missing = |course: &Course| match arrays {
            Some((_, arrays)) => arrays.missing_bytes(*course),
            None => course.footprint(),
        };
        match missing(&course) {
            0 => 0,
            least => whole.iter().map(missing).sum::<usize>().max(least),
        }
    };
    match cpus.iter().map(missing_bytes).sum() {
        0 => Ok(()),
        missing => enough_for(missing),
    }
}

fn take(cpu: u32) -> Arrays {
    let mut pool = pool();
    match pool.iter().position(|(owner, _)| *owner == cpu) {
        Some(place) => pool.swap_remove(place).1,
        None => Arrays::new(match Pages::here().contains(&Pages::Huge) {
            true => Pages::Huge,
            false => Pages::Small,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::bandwidth::widest;

    #[test]
    fn a_refusal_leaves_existing_arrays_alone() {
        // A CPU that no other test uses.
        const CPU: u32 = 9_999;
        let course = |bytes| Course::new(Stream::Read, bytes, 64 << 10);
        let mut arrays = take(CPU);
        or_skip!(get(&mut arrays, course(128 << 10)));
        let missing = get(&mut arrays, course(usize::MAX >> 8)).expect_err("nobody has so much");
        let again = get(&mut arrays, course(usize::MAX >> 7)).expect_err("nobody has so much");
        assert_eq!(missing, again, "it is not asked for once more");
        assert_eq!(get(&mut arrays, course(64 << 10)), Ok(()));
        put_back(CPU, arrays);
        assert_eq!(take(CPU).missing_bytes(course(128 << 10)), 0);
        assert!(Streaming::new(widest(), course(64 << 10), take(CPU)).is_ok());
    }
}
