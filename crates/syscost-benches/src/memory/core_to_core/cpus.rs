//! Which CPUs are measured where all of them would be too many.

use syscost_harness::Testbed;
use syscost_sys::topology::{Relation, Topology};

use crate::timing::spread;

/// Maximum number of CPUs whose pairs are all measured.
const MAX_CPUS: usize = 16;

/// The measured CPUs, ascending.
pub(super) fn measured(here: &Testbed) -> Vec<u32> {
    of(Topology::here(), &here.allowed, MAX_CPUS)
}

/// The pair of these CPUs that people look at first; `None` with one CPU.
pub(super) fn first_pair(measured: &[u32]) -> Option<(u32, u32)> {
    first_of(Topology::here(), measured)
}

/// The first of these CPUs and the core nearest to it; a second thread of its own core, which shares
/// the line's cache, only if there is no other core.
fn first_of(topology: &Topology, cpus: &[u32]) -> Option<(u32, u32)> {
    let order = topology.spread(*cpus.first()?, cpus);
    Some((order[0], *order.get(1)?))
}

/// At most `most` of these CPUs: one per core, evenly taken from the order of their distance, and
/// one second thread.
fn of(topology: &Topology, allowed: &[u32], most: usize) -> Vec<u32> {
    if allowed.len() <= most {
        return allowed.to_vec();
    }
    let order = topology.spread(allowed[0], allowed);
    let is_sibling = |a: u32, b: u32| topology.relation(a, b) == Some(Relation::SmtSibling);
    let is_first = |index: &usize| {
        !order[..*index]
            .iter()
            .any(|before| is_sibling(*before, order[*index]))
    };
    let cores: Vec<u32> = (0..order.len())
        .filter(is_first)
        .map(|index| order[index])
        .collect();
    let mut chosen = if cores.len() <= most {
        order[..most.min(order.len())].to_vec()
    } else {
        let sibling = order
            .iter()
            .copied()
            .find(|other| is_sibling(cores[0], *other));
        let mut some = spread(&cores, most - usize::from(sibling.is_some()));
        some.extend(sibling);
        some
    };
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use syscost_sys::topology::{Cache, CacheKind, Cpu};

    #[test]
    fn a_choice_of_cpus_meets_every_package_and_a_second_thread() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/machines/server-two-sockets/sys");
        let server = Topology::read(&root, &[]);
        // Cores 0+4, 1+5, 2+6 and, in the other package, 3.
        let all: Vec<u32> = (0..7).collect();
        assert_eq!(of(&server, &all, 7), all);
        assert_eq!(of(&server, &all, 5), [0, 1, 2, 3, 4], "cores first");
        assert_eq!(of(&server, &all, 4), [0, 1, 2, 3]);
        assert_eq!(of(&server, &all, 3), [0, 3, 4]);
    }

    /// Two threads per core with adjacent numbers; two cores share the last-level cache.
    fn of_neighbours(cores: u32) -> Topology {
        let cpu = |number: u32| Cpu {
            cpu: number,
            package: Some(0),
            node: Some(0),
            smt_siblings: Some(vec![number ^ 1]),
            caches: vec![Cache {
                level: 3,
                kind: CacheKind::Unified,
                size_bytes: Some(32 << 20),
                line_bytes: Some(64),
                shared_cpus: (number / 4 * 4..number / 4 * 4 + 4).collect(),
            }],
        };
        Topology {
            cpus: (0..2 * cores).map(cpu).collect(),
            nodes: vec![0],
        }
    }

    #[test]
    fn two_cores_are_looked_at_before_two_threads_of_one() {
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(first_of(&of_neighbours(4), &all), Some((0, 2)));
        assert_eq!(
            first_of(&of_neighbours(4), &[0, 1, 6]),
            Some((0, 6)),
            "of another cache"
        );
        assert_eq!(first_of(&of_neighbours(1), &[0, 1]), Some((0, 1)));
        assert_eq!(first_of(&of_neighbours(1), &[1]), None);
    }
}
