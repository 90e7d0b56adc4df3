//! Shared: pairs of a CPU's node and a memory node, and work done on such a CPU.

use std::thread;

use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::cpu;
use syscost_sys::memory::{Memory, nodes};
use syscost_sys::topology::Topology;

/// The measuring thread sleeps while another one does the work.
pub(super) const SLEEPS: Expect = at_least(Counter::VoluntarySwitches, 0.5);

/// Every node with a CPU that this process may use, with every node that has memory.
pub(super) fn cases(_: &Here) -> Vec<Case> {
    let from = cpus_of_nodes(&cpu::allowed().unwrap_or_default());
    from.into_iter()
        .flat_map(|(node, _)| nodes().into_iter().map(move |memory| (node, memory)))
        .map(|(node, memory)| {
            Case::new([
                ("cpu_node", node.to_string()),
                ("memory_node", memory.to_string()),
            ])
        })
        .collect()
}

/// Whether there are several nodes to compare.
pub(super) fn support(_: &Case) -> Result<(), Unsupported> {
    match nodes().len() {
        0 | 1 => Err(Unsupported::new("this machine has one memory node")),
        _ => Ok(()),
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

/// The CPU and the memory node of a case.
pub(super) fn pair(b: &Bencher) -> Result<(u32, u32), Failure> {
    let node = b.case().number("cpu_node") as u32;
    let cpus = cpus_of_nodes(b.allowed());
    let cpu = cpus
        .iter()
        .find(|(known, _)| *known == node)
        .map(|(_, cpu)| *cpu);
    let cpu = cpu.ok_or_else(|| {
        Failure::Unsupported(format!("this process may use no CPU of node {node}"))
    })?;
    Ok((cpu, b.case().number("memory_node") as u32))
}

/// Claims that the memory is on this node, in the requested kind of pages.
pub(super) fn claim_memory(b: &mut Bencher, memory: &Memory, node: u32) -> Result<(), Failure> {
    b.claim_resident(memory)?;
    let (asked, there) = memory.pages_on(node)?;
    let claim = format!("of some pages those on node {node}");
    b.claim_equal(&claim, asked, there, "move_pages");
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
    b: &mut Bencher,
    cpu: u32,
    mut work: impl FnMut() -> Result<(), String> + Send,
    value: impl Fn(f64) -> f64,
) -> Result<(), Failure> {
    let clock = *b.clock();
    let mut strayed = None;
    // The first one finds cold page tables.
    timed_on(cpu, &clock, &mut work)?;
    b.disregard_frequency();
    b.observe(|| {
        let (ns, seen) = timed_on(cpu, &clock, &mut work)?;
        if seen != cpu {
            strayed = Some(seen);
        }
        Ok(value(ns))
    })?;
    let seen = strayed.unwrap_or(cpu);
    b.claim_equal("CPU of the thread", cpu, seen, "getcpu");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_nodes_is_a_case() {
        let from = cpus_of_nodes(&cpu::allowed().unwrap_or_default()).len();
        assert_eq!(cases(&Here::now()).len(), from * nodes().len());
        let is_supported = support(&Case::default()).is_ok();
        assert_eq!(is_supported, nodes().len() > 1);
    }
}
