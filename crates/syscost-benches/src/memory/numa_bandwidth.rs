//! Bandwidth of memory by its node and the node of the CPU.
//!
//! ## Measures
//! Bytes per second that one thread on a CPU of `cpu_node` loads from 512 MiB of memory that is
//! bound to `memory_node`, from end to end as `memory.bandwidth` with `op=read`.
//! ## Does not measure
//! The bandwidth of all CPUs of a node together, which has other limits. Writing.
//! ## Interpretation
//! Rows with two equal numbers are local. One thread is limited by how many lines it can wait for
//! simultaneously, so that where latency is twice as long (`memory.numa`) its bandwidth is about
//! half.
//! ## Source
//! The matrix of Intel's Memory Latency Checker; likwid-bench with memory of another domain.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Arrays, Course, Stream, Streaming};

use super::bandwidth::widest;
use super::chases;
use super::nodes::{self, OnNodes};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "NUMA memory bandwidth, by node",
    tags: "remote memory, local memory, memory throughput, intel memory latency checker, mlc, \
        likwid-bench",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    expect: &[nodes::SLEEPS],
    setup: Setup::Expensive { seconds: 0.3 },
    ..Benchmark::by::<OnNodes, Bandwidth>()
};

/// Bytes of memory: more than most caches hold.
const BYTES: usize = 512 << 20;

/// Bytes per observation.
const PART: usize = 4 << 20;

struct Bandwidth;

impl nodes::Work for Bandwidth {
    fn measure(row: OnNodes, mut plan: Plan) -> Result<Outcome, Failure> {
        let (cpu, node) = (nodes::cpu_of(&plan, row.cpu_node)?, row.memory_node);
        let course = Course::new(Stream::Read, BYTES, PART);
        let arrays = Arrays::on_node(chases::largest(), node);
        let streaming = Streaming::new(widest(), course, arrays)?;
        for memory in streaming.arrays().memories() {
            nodes::look_at_memory(&mut plan, memory)?;
        }
        let bytes = course.bytes() as f64;
        nodes::observe(plan, cpu, move || streaming.proved(), |ns| bytes * 1e9 / ns)
    }
}
