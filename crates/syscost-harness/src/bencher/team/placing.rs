//! Where the tasks of a team are put, and where they were seen.

use std::collections::{BTreeMap, BTreeSet};

use syscost_sys::topology::Topology;
use syscost_sys::{Unsupported, cpu};

use super::between::Groups;
use super::sentinel::Sentinel;
use crate::bencher::core_probes::CoreProbes;
use crate::bencher::sampling::PARTNERS_UNSEEN;
use crate::bencher::{Over, Plan};
use crate::expect::Counter;
use crate::failure::Failure;
use crate::pass::Pass;
use crate::placement::Placement;

/// Maximum number of partners' CPUs that are looked at.
const MAX_WATCHED: usize = 8;

/// Measures by a plan on these CPUs.
type Measure<'m, P> = dyn FnMut(&mut P, &[u32]) -> Result<PlacementRecord, Failure> + 'm;

/// Where the tasks of a team were seen, and to which processes they belong.
#[derive(Default)]
pub(super) struct PlacementRecord {
    /// The CPUs of all tasks at each look, the measuring one's first.
    looks: Vec<Vec<u32>>,
    /// The CPUs that the partners may use in the end.
    may_use: BTreeSet<u32>,
    /// Why a look failed, if one did.
    unread: Option<Unsupported>,
    /// For each team, the processes of its tasks.
    groups: Vec<Groups>,
}

impl PlacementRecord {
    pub(super) fn note(&mut self, look: Result<Vec<u32>, Unsupported>) {
        match look {
            Ok(cpus) => self.looks.push(cpus),
            Err(reason) => self.unread = Some(reason),
        }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.looks.len()
    }

    /// All CPUs that were seen: the measuring task's at the first look, then the partners'. `None`
    /// without a look.
    fn all(&self) -> Option<Vec<u32>> {
        let (own, _) = self.looks.first()?.split_first()?;
        let partners = self.looks.iter().flat_map(|cpus| &cpus[1..]);
        Some([own].into_iter().chain(partners).copied().collect())
    }

    /// Each CPU that was seen, once.
    pub(super) fn cpus(&self) -> Vec<u32> {
        let mut cpus = self.looks.concat();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    pub(super) fn note_may_use(&mut self, partners: impl Iterator<Item = Vec<u32>>) {
        self.may_use.extend(partners.flatten());
    }

    pub(super) fn note_groups(&mut self, groups: Groups) {
        self.groups.push(groups);
    }

    pub(super) fn extend(&mut self, other: PlacementRecord) {
        self.looks.extend(other.looks);
        self.may_use.extend(other.may_use);
        self.groups.extend(other.groups);
        self.unread = other.unread.or(self.unread.take());
    }
}

impl Plan<'_> {
    /// How many CPUs the tasks of a team may use.
    pub(super) fn cpus_of(&self, placement: Placement) -> Result<usize, Failure> {
        let mut cpus = placement.cpus(self.cpu, &self.given.here.allowed)?;
        cpus.push(placement.own_cpu(self.cpu));
        cpus.sort_unstable();
        cpus.dedup();
        Ok(cpus.len())
    }

    /// Measures with the measuring task on the placement's CPU, and claims that all tasks were on
    /// theirs, and as many, and processes or threads, as the row's name says.
    pub(super) fn placed(
        &mut self,
        placement: Placement,
        measure: &mut Measure<'_, Self>,
    ) -> Result<(), Failure> {
        if placement == Placement::Free {
            // The kernel moves tasks that are not pinned.
            self.declared
                .retain(|expect| expect.counter != Counter::Migrations);
        }
        let cpus = placement.cpus(self.cpu, &self.given.here.allowed)?;
        self.pinned = placement != Placement::Free;
        let home = self.cpu();
        self.cpu = placement.own_cpu(home);
        let own = match placement {
            Placement::Free => self.given.here.allowed.clone(),
            Placement::At(_) | Placement::Distinct | Placement::Pair(..) => vec![self.cpu],
        };
        let pin = |cpus: &[u32]| {
            cpu::pin_to(cpus).map_err(|error| Failure::Unsupported(error.to_string()))
        };
        pin(&own)?;
        let own = cpu::allowed().unwrap_or(own);
        if self.cpu != home && self.core_probes.is_some() {
            self.core_probes = CoreProbes::new(*self.given.clock, self.cpu, self.given.cores);
        }
        self.watch_partners(placement, &cpus)?;
        let result = measure(self, &cpus);
        let back = pin(&[home]);
        let seen = result?;
        back?;
        // Where the row's name puts them, whatever was asked for.
        let named = self.given.case.facts.placement.unwrap_or(placement);
        match named {
            Placement::Free => self.claim_free(&own, &seen),
            _ => {
                let partners = named.cpus(home, &self.given.here.allowed)?;
                self.claim_placement(named, (named.own_cpu(home), &own), &partners, &seen);
            }
        }
        self.claim_tasks(&seen.groups);
        Ok(())
    }

    /// Starts looking at the cores of partners on other CPUs, where it is known which CPUs these
    /// are and a look does not change what is measured: it would wake a CPU that sleeps.
    fn watch_partners(&mut self, placement: Placement, partners: &[u32]) -> Result<(), Failure> {
        let own = self.cpu;
        let others = || partners.iter().filter(|cpu| **cpu != own);
        let is_known = placement != Placement::Free && others().count() <= MAX_WATCHED;
        if self.given.pass == Pass::Evidence || !is_known {
            return Ok(());
        }
        if self.is_uninterrupted {
            self.detail(PARTNERS_UNSEEN, others().count() as f64);
            return Ok(());
        }
        let sentinels =
            others().map(|cpu| Sentinel::start(*self.given.clock, *cpu, self.given.cores));
        let sentinels: Vec<_> = sentinels.collect::<Result<_, _>>()?;
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.watch_partners(sentinels.into_iter().flatten().collect());
        }
        Ok(())
    }

    /// Claims that every task was where the row's name puts it: the measuring one, which may use
    /// these CPUs, was to stay there.
    fn claim_placement(
        &mut self,
        placement: Placement,
        (measuring, may_use): (u32, &[u32]),
        partners: &[u32],
        seen: &PlacementRecord,
    ) {
        let strayed = seen.looks.iter().find(|cpus| {
            let (own, others) = cpus
                .split_first()
                .expect("the measuring task is seen first");
            let is_shared = placement == Placement::Distinct && !all_differ(cpus);
            *own != measuring || others.iter().any(|cpu| !partners.contains(cpu)) || is_shared
        });
        let named = partners;
        // A far end on another machine is no partner here.
        let is_alone = seen.looks.first().is_some_and(|cpus| cpus.len() == 1);
        let partners = if is_alone { &[] } else { partners };
        let described = |cpus: &[u32]| match placement {
            _ if cpus.len() == 1 => cpus[0].to_string(),
            Placement::Distinct => format!("{} with {:?}", cpus[0], &cpus[1..]),
            _ => format!("{} with {}", cpus[0], cpu::format_list(&cpus[1..])),
        };
        let mut places = vec![measuring];
        places.extend(partners);
        let expected = match placement {
            Placement::Distinct => {
                format!("among {}, each on its own", cpu::format_list(&places))
            }
            _ => described(&places),
        };
        let is_pinned = may_use == [measuring];
        let strays: Vec<u32> = seen.may_use.iter().copied().collect();
        let may_stray = strays.iter().any(|cpu| !named.contains(cpu));
        let observed = match (strayed, seen.all(), placement) {
            _ if !is_pinned => format!("any of {}", cpu::format_list(may_use)),
            _ if may_stray => format!("{measuring} with any of {}", cpu::format_list(&strays)),
            (Some(cpus), ..) => described(cpus),
            (None, None, _) => return self.claim_unseen("CPUs of its tasks", expected, seen),
            (None, Some(all), Placement::Distinct) => {
                format!("{}, each on its own", cpu::format_list(&all))
            }
            (None, Some(all), _) => described(&all),
        };
        let holds = is_pinned && !may_stray && strayed.is_none();
        self.claim("CPUs of its tasks", expected, observed, "/proc", holds);
    }

    /// Claims that the kernel may put the measuring task on any CPU, and adds where it put all of
    /// them.
    fn claim_free(&mut self, own: &[u32], seen: &PlacementRecord) {
        let all = cpu::format_list(&self.given.here.allowed);
        let claim = "CPUs that the measuring task may use";
        self.claim_equal(claim, all, cpu::format_list(own), "sched_getaffinity");
        self.detail_mix(seen);
    }

    /// Adds details: for each relation of CPUs, the percentage of looks that found the partners placed
    /// like that.
    fn detail_mix(&mut self, seen: &PlacementRecord) {
        let topology = Topology::here();
        let mut counts: BTreeMap<&'static str, f64> = Placement::among(&self.given.here.allowed)
            .into_iter()
            .filter(|placement| *placement != Placement::Free)
            .map(|placement| (placement.name(), 0.0))
            .collect();
        let looks = seen.looks.iter();
        let pairs: Vec<(u32, u32)> = looks
            .flat_map(|cpus| cpus[1..].iter().map(|other| (cpus[0], *other)))
            .collect();
        for (own, other) in &pairs {
            let relation = topology.relation(*own, *other);
            let name = relation.map_or("unknown", |relation| Placement::At(relation).name());
            *counts.entry(name).or_default() += 1.0;
        }
        for (name, count) in counts {
            let percent = 100.0 * count / pairs.len().max(1) as f64;
            self.detail_over(Over::Mean, &format!("placed_{name}_percent"), percent);
        }
        let (what, least) = ("looks at the CPUs of its tasks", "at least 1");
        match pairs.is_empty() {
            true => self.claim_unseen(what, least.to_owned(), seen),
            false => self.claim(what, least, pairs.len() as f64, "/proc", true),
        }
    }

    /// A claim on CPUs that could not be looked up.
    fn claim_unseen(&mut self, claim: &str, expected: String, seen: &PlacementRecord) {
        let reason = seen.unread.as_ref().map(Unsupported::to_string);
        let reason = reason.unwrap_or_else(|| "it was not looked up".to_owned());
        self.claim_unobserved(claim, expected, "/proc", reason);
    }
}

fn all_differ(cpus: &[u32]) -> bool {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|two| two[0] != two[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_were_seen_are_named_and_none_that_were_not() {
        let mut seen = PlacementRecord::default();
        assert_eq!(seen.all(), None);
        for look in [vec![0, 1], vec![0, 3], vec![0]] {
            seen.note(Ok(look));
        }
        assert_eq!(seen.all(), Some(vec![0, 1, 3]));
    }
}
