//! Shared: pairs of a CPU's node and a memory node, and work done on such a CPU.

use std::thread;

use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::cpu;
use syscost_sys::memory::nodes;
use syscost_sys::topology::Topology;

/// The measuring thread sleeps while another one does the work.
pub(super) const SLEEPS: Expect = at_least(
    Counter::VoluntarySwitches,
    0.5,
    "it starts the other, and waits for it",
);

/// Work of one node's CPU on another's memory that is a benchmark.
pub(super) trait Work {
    fn measure(row: OnNodes, plan: Plan) -> Result<Outcome, Failure>;
}

/// The row of such work.
#[derive(Params, Clone)]
pub(super) struct OnNodes {
    /// The NUMA node of the CPU.
    pub(super) cpu_node: u32,
    /// The NUMA node of the memory.
    pub(super) memory_node: u32,
}

impl<W: Work> Measured<W> for OnNodes {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let with_cpus = cpus_of_nodes(&here.allowed);
        rows!(OnNodes {
            cpu_node: with_cpus.iter().map(|(node, _)| *node),
            memory_node: nodes()
        })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        if nodes().len() < 2 {
            return Err(Unsupported::new("this machine has one memory node"));
        }
        Ok(())
    }

    fn proofs(&self) -> OnNodesProofs<Proof> {
        OnNodesProofs {
            cpu_node: CPU_NODE.expects(self.cpu_node),
            memory_node: MEMORY_NODE.expects(self.memory_node),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        W::measure(self, plan)
    }
}

/// The first of these CPUs of each node.
fn cpus_of_nodes(allowed: &[u32]) -> Vec<(u32, u32)> {
    let topology = Topology::here();
    let mut first: Vec<(u32, u32)> = Vec::new();
    for number in allowed {
        // Without NUMA all memory is that of node 0.
        let node = topology.cpu(*number).and_then(|cpu| cpu.node).unwrap_or(0);
        if first.iter().all(|(known, _)| *known != node) {
            first.push((node, *number));
        }
    }
    first
}

pub(super) fn cpu_of(b: &Bencher, node: u32) -> Result<u32, Unsupported> {
    let mut cpus = cpus_of_nodes(b.allowed()).into_iter();
    let of_it = cpus.find(|(known, _)| *known == node);
    of_it
        .map(|(_, cpu)| cpu)
        .ok_or_else(|| Unsupported::new(format!("this process may use no CPU of node {node}")))
}

static CPU_NODE: Witness = Witness::of("node of the CPU", "getcpu");
static MEMORY_NODE: Witness = Witness::of("node of the memory", "move_pages");

/// Looks on which node this memory is, and claims that it is there, in the requested kind of pages.
pub(super) fn look_at_memory(b: &mut Bencher, memory: &Memory) -> Result<(), Failure> {
    b.claim_resident(memory)?;
    let holds_all = |node: u32| memory.pages_on(node).map(|(asked, there)| asked == there);
    for node in nodes() {
        if holds_all(node)? {
            b.observe(&MEMORY_NODE, node);
            return Ok(());
        }
    }
    b.observe(&MEMORY_NODE, "none has all of it");
    Ok(())
}

/// How long a piece of work takes on this CPU, in ns, and the CPU on which it was done.
pub(super) fn timed_on(
    cpu: u32,
    clock: &Clock,
    work: impl FnOnce() -> Result<(), String> + Send,
) -> Result<(f64, u32), Failure> {
    let done = thread::scope(|scope| {
        let thread = scope.spawn(|| {
            cpu::pin(cpu)?;
            let begun = clock.start();
            work().map_err(Failure::Refuted)?;
            let ended = clock.stop();
            let seen = cpu::current();
            Ok((clock.to_ns(ended.ticks.saturating_sub(begun)), seen))
        });
        thread.join()
    });
    done.unwrap_or_else(|_| Err(Failure::Failed("a thread panicked".into())))
}

/// Measures a piece of work on this CPU, and claims that it was done there. `value` computes the
/// value from the time in ns.
pub(super) fn observe(
    mut plan: Plan,
    cpu: u32,
    mut work: impl FnMut() -> Result<(), String> + Send,
    value: impl Fn(f64) -> f64,
) -> Result<Outcome, Failure> {
    let clock = *plan.clock();
    let mut strayed = None;
    // The first one finds cold page tables.
    timed_on(cpu, &clock, &mut work)?;
    plan.disregard_frequency();
    let mut outcome = plan.measure(Observed::of(|| {
        let (ns, seen) = timed_on(cpu, &clock, &mut work)?;
        if seen != cpu {
            strayed = Some(seen);
        }
        Ok(value(ns))
    }))?;
    let seen = strayed.unwrap_or(cpu);
    outcome.claim_equal("CPU of the thread", cpu, seen, "getcpu");
    match Topology::here().cpu(seen).and_then(|cpu| cpu.node) {
        Some(node) => outcome.observe(&CPU_NODE, node),
        None => outcome.unobserved(
            &CPU_NODE,
            "the system does not say which node a CPU belongs to",
        ),
    }
    Ok(outcome)
}
