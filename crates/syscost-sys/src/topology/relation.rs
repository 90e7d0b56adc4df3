//! How close two processors are.

use std::fmt;

use syscost_params::Value;

use super::{Cache, Topology};

/// How close two processors are, the closest first.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// They are the same processor.
    SameCpu,
    /// Two threads of one core.
    SmtSibling,
    /// Two cores that share their last-level cache.
    #[value("same_cache")]
    SameLastLevelCache,
    /// Two cores of one package that share no cache (or no cache is known).
    OtherCache,
    /// Two packages.
    OtherSocket,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Topology {
    /// How close two processors are; `None` where that is not known. Each is the same as itself,
    /// even one of which nothing else is known: a container may be shown other processors than
    /// those it may use.
    pub fn relation(&self, a: u32, b: u32) -> Option<Relation> {
        if a == b {
            return Some(Relation::SameCpu);
        }
        let (a, b) = (self.cpu(a)?, self.cpu(b)?);
        let is_shared = |cache: &Cache| cache.shared_cpus.contains(&b.cpu);
        let is_sibling = a.smt_siblings.as_ref().map(|all| all.contains(&b.cpu));
        match is_sibling {
            Some(true) => Some(Relation::SmtSibling),
            _ if a.package? != b.package? => Some(Relation::OtherSocket),
            None => None,
            Some(false) if a.last_level_cache().is_some_and(is_shared) => {
                Some(Relation::SameLastLevelCache)
            }
            Some(false) => Some(Relation::OtherCache),
        }
    }

    /// All pairs among `usable` (see [`crate::cpu::allowed`]) that stand in this relation, the
    /// lower number first.
    pub fn pairs(&self, relation: Relation, usable: &[u32]) -> Vec<(u32, u32)> {
        let pairs = usable
            .iter()
            .flat_map(|&a| usable.iter().map(move |&b| (a, b)));
        pairs
            .filter(|&(a, b)| a <= b && self.relation(a, b) == Some(relation))
            .collect()
    }

    /// The first of [`Topology::pairs`].
    pub fn pair(&self, relation: Relation, usable: &[u32]) -> Option<(u32, u32)> {
        self.pairs(relation, usable).into_iter().next()
    }

    /// `cpu` and the other usable processors in the order in which copies of a workload are spread
    /// over them: one of each core first, those that share `cpu`'s last cache before others of its
    /// package, cache by cache, then package by package; then the second threads of these cores in
    /// the same order, and so on. Those of which nothing is known come last.
    pub fn spread(&self, cpu: u32, usable: &[u32]) -> Vec<u32> {
        let place = |number: u32| {
            let own = self.cpu(number)?;
            let cache = own.last_level_cache().map_or(own.cpu, |cache| {
                cache.shared_cpus.iter().copied().min().unwrap_or(own.cpu)
            });
            let near = self
                .relation(cpu, number)?
                .max(Relation::SameLastLevelCache);
            Some((near, own.package, cache))
        };
        let mut near: Vec<u32> = usable
            .iter()
            .copied()
            .filter(|other| *other != cpu)
            .collect();
        near.sort_by_key(|other| (place(*other).is_none(), place(*other), *other));
        near.insert(0, cpu);
        let threads_before = |index: usize| {
            let is_sibling =
                |other: &&u32| self.relation(near[index], **other) == Some(Relation::SmtSibling);
            near[..index].iter().filter(is_sibling).count()
        };
        let mut order: Vec<(usize, u32)> = near
            .iter()
            .enumerate()
            .map(|(index, number)| (threads_before(index), *number))
            .collect();
        order.sort_by_key(|(thread, _)| *thread);
        order.into_iter().map(|(_, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn server() -> Topology {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/machines/server-two-sockets/sys");
        Topology::read(&root, &[])
    }

    #[test]
    fn every_relation_is_distinguished() {
        let server = server();
        for (a, b, relation) in [
            (0, 0, Relation::SameCpu),
            (0, 4, Relation::SmtSibling),
            (0, 1, Relation::SameLastLevelCache),
            (4, 1, Relation::SameLastLevelCache),
            (0, 2, Relation::OtherCache),
            (2, 3, Relation::OtherSocket),
        ] {
            assert_eq!(server.relation(a, b), Some(relation), "{a} {b}");
            assert_eq!(server.relation(b, a), Some(relation), "{b} {a}");
        }
        assert_eq!(server.relation(0, 7), None, "offline");
    }

    #[test]
    fn pairs_are_found_among_usable_processors_only() {
        let server = server();
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(
            server.pairs(Relation::SmtSibling, &all),
            [(0, 4), (1, 5), (2, 6)]
        );
        assert_eq!(server.pair(Relation::OtherSocket, &all), Some((0, 3)));
        assert_eq!(server.pair(Relation::OtherSocket, &[0, 1, 2]), None);
        assert_eq!(server.pair(Relation::SameCpu, &[5]), Some((5, 5)));
        assert_eq!(server.pair(Relation::SameCpu, &[7]), Some((7, 7)));
    }

    #[test]
    fn work_spreads_over_cores_before_threads() {
        // Cores 0+4 and 1+5 share a cache, 2+6 has one of its own, 3 is another package.
        let all: Vec<u32> = (0..7).collect();
        assert_eq!(server().spread(0, &all), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(server().spread(5, &all), [5, 0, 2, 3, 1, 4, 6]);
        assert_eq!(server().spread(3, &[0, 2, 3, 4]), [3, 0, 2, 4]);
        assert_eq!(server().spread(0, &[0]), [0]);
        let unknown = [7, 9, 0, 2];
        assert_eq!(server().spread(0, &unknown), [0, 2, 7, 9]);
        assert_eq!(Topology::default().spread(9, &unknown), [9, 0, 2, 7]);
    }
}
