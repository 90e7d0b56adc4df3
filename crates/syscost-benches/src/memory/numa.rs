//! Latency of memory by its node and the node of the CPU.
//!
//! ## Measures
//! A load that depends on the one before it, at random places of 128 MiB
//! (`memory.latency`), by a thread on a CPU of `cpu_node`, in memory that is bound to
//! `memory_node`.
//! ## Does not measure
//! Memory under load (`memory.loaded_latency`), or the memory that a process gets by default:
//! usually that of the node where it first touches it.
//! ## Interpretation
//! Rows with two equal numbers are local. The extra cost of the others is the path between the
//! packages (or parts of one), which every cache miss pays whose memory was first touched
//! elsewhere. `memory.numa_bandwidth` has the same matrix for bandwidth.
//! ## Source
//! The matrix of Intel's Memory Latency Checker.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, LINE, Order, Route, Work};

use super::chases;
use super::nodes::{self, OnNodes};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "NUMA memory latency, by node",
    tags: "remote memory, local memory, numa distance, dram latency, intel memory latency checker, \
        mlc",
    expect: &[nodes::SLEEPS],
    setup: Setup::Expensive { seconds: 0.2 },
    ..Benchmark::by::<OnNodes, Latency>()
};

/// Bytes of memory, of which a cache holds hardly anything: a measurement visits a small part of it, once.
const BYTES: usize = 128 << 20;

/// Iterations of the chase per observation.
const TURNS: u64 = 64;

struct Latency;

impl nodes::Work for Latency {
    fn measure(row: OnNodes, mut plan: Plan) -> Result<Outcome, Failure> {
        let (cpu, node) = (nodes::cpu_of(&plan, row.cpu_node)?, row.memory_node);
        let memory = Memory::fill_on(BYTES, chases::largest(), node)?;
        let route = Route {
            bytes: BYTES,
            spacing: LINE,
            order: Order::Random(plan.random().u64(..)),
        };
        let chase = Chase::new(memory, route, 1)?;
        nodes::look_at_memory(&mut plan, chase.memory())?;
        chases::claim_beyond_caches(&mut plan, BYTES);
        chases::claim_one_chain(&mut plan, &chase);
        chases::claim_random(&mut plan, &chase);
        let steps = (TURNS * chase.operations_per_iteration()) as f64;
        let work = move || {
            let expected = chase.expected(TURNS);
            let sum = chase.run(TURNS);
            match sum == expected {
                true => Ok(()),
                false => Err(format!(
                    "the chase's checksum is {sum}, expected {expected}"
                )),
            }
        };
        nodes::observe(plan, cpu, work, |ns| ns / steps)
    }
}
