//! How many bytes per second are read, written and copied, in each cache and in memory, by one
//! thread and by several.
//!
//! ## Measures
//! Bytes that the program's instructions load and store per second, by all threads together. Each
//! thread is on its own CPU and has its own arrays, which it touched first. `size` is the
//! total size of all arrays of all threads: 24 KiB per thread lie in a first-level cache, 384 KiB in a
//! second-level one, 12 MiB beyond it, and 512 MiB for all threads together in memory. `read` only loads;
//! `write` stores a constant (like a fill); `copy` is a = b, `scale` a = s b, `add` a = b +
//! c, `triad` a = b + s c, `add_three` a = b + c + d, so that 1, 1, 2, 2 and 3 lines are read for
//! each one written. `_nontemporal` stores bypass the caches. `rep_stosb`, `rep_movsb`,
//! `memset` and `memcpy` have `simd=none`: the processor or the C library chooses how, also depending on the
//! length of a call, so one call goes through a whole array. The loops are assembly, unrolled, in
//! whole cache lines from aligned arrays, in huge pages where the machine has them (`page_bytes`).
//! ## Does not measure
//! Additional traffic on the memory bus: a store to a line that is in no cache usually reads the
//! line first
//! (`with_write_allocate_bytes_per_s` adds those reads), and every changed line goes back to memory once. Access in any other order than forwards (`memory.latency`),
//! the kernel's copying.
//! ## Interpretation
//! `copy`, `add` and similar streams count what is read and what is written, as STREAM does; halve
//! `copy` to compare with tools that count copied bytes once. In a cache the width of the
//! instructions decides, in memory hardly anything but the number of threads, and stores that
//! bypass the caches. One thread can seldom use the whole bandwidth: see the rows with more
//! threads. `memory.peak_bandwidth` shows the maximum of each level.
//! ## Source
//! McCalpin, STREAM: copy, scale, add and triad with its way of counting; likwid-bench's kernels for caches.

mod cases;
mod pool;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Course, Stream, Streaming, supports};
use syscost_sys::perf::{Uses, Watch};

pub(super) use cases::{Level, ReadOrWrite, max_threads, widest};
use cases::{ReadOrWriteProofs, Vectors};
pub(super) use pool::{PooledStream, enough_for_all};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Memory and cache bandwidth",
    tags: "read, write, copy, scale, add, triad, memcpy, memset, memory throughput, bw_mem, \
        stream, STREAM, likwid-bench, mbw, sysbench memory, perf bench mem memcpy, \
        perf bench mem memset",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    stays: true,
    revision: 2,
    roles: roles!(
        ReadOrWrite {
            op: Stream::Read,
            size,
            threads: Copies(1),
            ..
        } if size == Bytes::mib(512) => Role::ReadBandwidth,
    ),
    ..Benchmark::of::<ReadOrWrite>()
};

static BYTES: Witness = Witness::of("bytes of all arrays", "kernel");
static SIMD: Witness = Witness::of("simd of the machine code", "kernel");

impl Measured for ReadOrWrite {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        cases::rows(here)
    }

    fn profile(&self, here: &Testbed) -> Profile {
        cases::profile(self, here)
    }

    fn setup(&self) -> Option<Setup> {
        let seconds = cases::LARGE_SECONDS;
        self.is_in_memory().then_some(Setup::Expensive { seconds })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        supports(self.op, self.simd())
    }

    fn proofs(&self) -> ReadOrWriteProofs<Proof> {
        ReadOrWriteProofs {
            op: cases::proof_of(self.op),
            simd: SIMD.expects(&*self.simd.text()),
            // Rounding to whole kilobytes and parts leaves a remainder.
            size: BYTES.within(Bound::Within(0.9 * self.size.0 as f64, self.size.0 as f64)),
            threads: Proof::by_tasks(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let course = self.course();
        plan.rate(course.bytes());
        let mut outcome = match self.threads.0 {
            1 => alone(plan, &self, course)?,
            0 | 2.. => together(plan, &self, course)?,
        };
        if self.is_in_memory() && self.op.allocates() {
            let arrays = self.op.arrays() as f64;
            outcome.detail_times("with_write_allocate_bytes_per_s", (arrays + 1.0) / arrays);
        }
        Ok(outcome)
    }
}

/// Measures one thread: the measuring one.
fn alone<'p>(plan: Plan<'p>, row: &ReadOrWrite, course: Course) -> Result<Outcome<'p>, Failure> {
    let lent = PooledStream::new(row.simd(), course)?;
    let streaming: &Streaming = &lent;
    let mut outcome = plan.measure(Kernel::of(streaming))?;
    look_at(&mut outcome, 1, streaming);
    for memory in streaming.arrays().used_by(streaming.course()) {
        outcome.claim_resident(memory)?;
        outcome.detail("page_bytes", memory.pages().bytes()? as f64);
    }
    if !outcome.is_timed() {
        prove_loads(&mut outcome, streaming)?;
        prove_destination(&mut outcome, streaming);
    }
    Ok(outcome)
}

/// Looks at a stream like those of all these threads, which has done something.
fn look_at(b: &mut Bencher, threads: usize, streaming: &Streaming) {
    b.observe(&BYTES, threads * streaming.course().footprint());
    b.observe(&SIMD, Vectors::name(streaming.simd()));
    b.observe(&cases::STORES, streaming.storing());
    b.observe(&cases::LEFT, streaming.left());
}

/// Claims that every word that was written has its expected value.
fn prove_destination(b: &mut Bencher, streaming: &Streaming) {
    if streaming.course().writes() {
        let (written, right) = streaming.verify();
        let holds = written == right && written > 0;
        let claim = "written words that are what they must be";
        b.claim(claim, written, right, "memory", holds);
    }
}

/// Number of words watched simultaneously: that of the processors' debug registers.
const WATCHED: usize = 4;

/// Claims that randomly chosen words are loaded when all arrays are gone through: the processor
/// counts these loads, where the kernel permits it. Otherwise the checksum suffices as a witness,
/// as it does for string instructions, which the processor may not count.
fn prove_loads(b: &mut Bencher, streaming: &Streaming) -> Result<(), Failure> {
    let course = streaming.course();
    if !course.stream().is_vector() {
        return Ok(());
    }
    let words = (0..WATCHED).map_while(|_| streaming.some_source());
    let watches = words.map(|word| Watch::of(TaskId::own(), word, Uses::All));
    let Ok(watches) = watches.collect::<Result<Vec<_>, _>>() else {
        return Ok(());
    };
    for _ in 0..(course.footprint() as u64).div_ceil(course.bytes()) {
        streaming.proved().map_err(Failure::Refuted)?;
    }
    let loaded = watches
        .iter()
        .filter(|watch| watch.count().is_ok_and(|uses| uses > 0));
    let claim = "words, chosen by chance, that were loaded";
    b.claim_equal(claim, watches.len(), loaded.count(), "debug registers");
    Ok(())
}

/// Measures several threads, each with its own arrays, which verify every operation themselves.
fn together<'p>(
    mut plan: Plan<'p>,
    row: &ReadOrWrite,
    course: Course,
) -> Result<Outcome<'p>, Failure> {
    let (simd, threads) = (row.simd(), row.threads.0 as usize);
    let mut cpus = spread_from(plan.cpu(), plan.allowed());
    cpus.truncate(threads);
    enough_for_all(course, &cpus)?;
    // An audited child then finds its memory filled: it has less time than filling may take.
    let lent = PooledStream::new(simd, course)?;
    lent.proved().map_err(Failure::Refuted)?;
    look_at(&mut plan, threads, &lent);
    if !plan.is_timed() {
        prove_loads(&mut plan, &lent)?;
    }
    drop(lent);
    plan.expect(costs(Counter::CoreCycles, course.floor_cycles(simd)));
    let done = Arc::new(AtomicU64::new(0));
    let all = Arc::clone(&done);
    let make = move |_| {
        let lent = PooledStream::new(simd, course)?.looking_at_one();
        let counted = Counted::new(lent, Arc::clone(&all));
        Ok(move || counted.proved())
    };
    let mut outcome = plan.measure(Copied::of(Between::Threads, threads, 1, make))?;
    // Each copy has reported at its end.
    let claim = "operations that the streams did, each proved";
    let operations = outcome.operations();
    let done = done.load(Relaxed);
    outcome.claim_equal(claim, operations, done, "kernel");
    outcome.claim_moved(done * course.bytes(), "kernel");
    Ok(outcome)
}

/// A stream that adds its number of operations to that of all copies when it is dropped.
struct Counted {
    lent: PooledStream,
    before: u64,
    all: Arc<AtomicU64>,
}

impl Counted {
    fn new(lent: PooledStream, all: Arc<AtomicU64>) -> Self {
        Self {
            before: lent.operations(),
            lent,
            all,
        }
    }

    #[inline]
    fn proved(&self) -> Result<(), String> {
        self.lent.proved()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let did = self.lent.operations() - self.before;
        self.all.fetch_add(did, Relaxed);
    }
}
