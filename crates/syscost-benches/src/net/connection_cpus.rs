//! Shared: the CPUs of the two tasks of a connection.

use syscost_harness::prelude::*;
use syscost_sys::topology::{Relation, Topology};

use super::far_end::Route;

/// The CPUs on which the two tasks of a connection run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConnectionCpus {
    /// CPUs of the task at this end.
    pub(super) near: Vec<u32>,
    /// CPUs of the task at the far end, if it is on this machine.
    pub(super) far: Vec<u32>,
}

impl ConnectionCpus {
    /// The CPUs of this many connections over this route.
    ///
    /// # Errors
    /// When there are too few CPUs.
    pub(super) fn of(
        route: &Route,
        connections: usize,
        b: &Bencher,
    ) -> Result<Vec<ConnectionCpus>, Failure> {
        match route {
            Route::Loopback(placement, _) => {
                Self::here(*placement, connections, b.cpu(), b.allowed())
            }
            Route::Remote(_) => Ok(Self::to_elsewhere(connections, b.cpu(), b.allowed())),
        }
    }

    /// The CPUs of this many connections on this machine, whose two tasks are placed as
    /// `placement` says. Pinned tasks share no CPU with those of other connections. The near task
    /// of the first connection is on `own`.
    ///
    /// # Errors
    /// When there are too few CPUs.
    pub(super) fn here(
        placement: Placement,
        connections: usize,
        own: u32,
        allowed: &[u32],
    ) -> Result<Vec<ConnectionCpus>, Failure> {
        let too_few = || {
            let name = placement.name();
            Failure::Unsupported(format!(
                "{connections} connections with cpus={name} need more CPUs than this run may use"
            ))
        };
        let mut left = spread_from(own, allowed);
        let mut all = Vec::new();
        for _ in 0..connections {
            let near = *left.first().ok_or_else(too_few)?;
            let far = match placement {
                Placement::Free => {
                    all.push(ConnectionCpus {
                        near: allowed.to_vec(),
                        far: allowed.to_vec(),
                    });
                    continue;
                }
                Placement::At(Relation::SameCpu) => near,
                // The CPUs that are left are sorted by distance.
                Placement::At(relation) => *left
                    .iter()
                    .find(|far| Topology::here().relation(near, **far) == Some(relation))
                    .ok_or_else(too_few)?,
                Placement::Distinct | Placement::Pair(..) => {
                    return Err(Failure::Broken("has no pairs of CPUs".into()));
                }
            };
            left.retain(|cpu| ![near, far].contains(cpu));
            all.push(ConnectionCpus {
                near: vec![near],
                far: vec![far],
            });
        }
        Ok(all)
    }

    /// The CPUs of this many connections to another machine: the tasks of this end, each on a
    /// separate CPU as long as there are enough.
    fn to_elsewhere(connections: usize, own: u32, allowed: &[u32]) -> Vec<ConnectionCpus> {
        let cpus = spread_from(own, allowed);
        let places = cpus
            .iter()
            .cycle()
            .take(connections)
            .map(|cpu| ConnectionCpus {
                near: vec![*cpu],
                far: Vec::new(),
            });
        places.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_on_one_cpu_each_share_no_cpu() {
        let allowed = syscost_sys::cpu::allowed().unwrap();
        let same = Placement::At(Relation::SameCpu);
        let own = allowed[allowed.len() - 1];
        let places = ConnectionCpus::here(same, allowed.len(), own, &allowed).unwrap();
        assert_eq!(places[0].near, [own]);
        let mut taken: Vec<u32> = places
            .iter()
            .flat_map(|places| places.near.clone())
            .collect();
        taken.sort_unstable();
        assert_eq!(taken, allowed);
        assert!(places.iter().all(|places| places.near == places.far));
        let too_many = ConnectionCpus::here(same, allowed.len() + 1, own, &allowed);
        assert!(matches!(too_many, Err(Failure::Unsupported(_))));
    }

    #[test]
    fn free_tasks_may_be_anywhere_and_remote_ones_have_no_seat() {
        let places = ConnectionCpus::here(Placement::Free, 3, 0, &[0, 1]).unwrap();
        assert_eq!(places[2].far, [0, 1]);
        let places = ConnectionCpus::to_elsewhere(3, 0, &[0]);
        assert_eq!((places.len(), places[2].near.as_slice()), (3, &[0][..]));
        assert!(places[2].far.is_empty());
    }
}
