//! Where the tasks of a team are put, and where they were seen.

use std::collections::BTreeMap;
use std::path::Path;

use syscost_sys::cpu;
use syscost_sys::topology::Topology;

use crate::bencher::Bencher;
use crate::expect::Counter;
use crate::failure::Failure;
use crate::placement::Placement;

impl Bencher<'_> {
    /// Measures with the measuring task where the placement wants it, and claims that all were there.
    pub(super) fn seated(
        &mut self,
        placement: Placement,
        measure: impl FnOnce(&mut Self, &[u32]) -> Result<Vec<Vec<u32>>, Failure>,
    ) -> Result<(), Failure> {
        if placement == Placement::Free {
            // The kernel moves who is free to be moved.
            self.declared
                .retain(|expect| expect.counter != Counter::Migrations);
        }
        let cpus = placement.cpus(self.cpu, &self.allowed)?;
        self.pinned = placement != Placement::Free;
        let home = self.cpu;
        self.cpu = placement.own_cpu(home);
        let own = match placement {
            Placement::Free => self.allowed.clone(),
            Placement::At(_) | Placement::Distinct | Placement::Pair(..) => vec![self.cpu],
        };
        let pin = |cpus: &[u32]| {
            cpu::pin_to(cpus).map_err(|error| Failure::Unsupported(error.to_string()))
        };
        pin(&own)?;
        let result = measure(self, &cpus);
        pin(&[home])?;
        let seen = result?;
        if self.pinned {
            self.claim_seats(&cpus, &seen);
        } else {
            self.tell_mix(&seen);
        }
        self.cpu = home;
        Ok(())
    }

    /// Claims that every task was where the row's name puts it.
    fn claim_seats(&mut self, partners: &[u32], seen: &[Vec<u32>]) {
        let strayed = seen.iter().find(|cpus| {
            let (own, others) = cpus
                .split_first()
                .expect("the measuring task is seen first");
            *own != self.cpu || others.iter().any(|cpu| !partners.contains(cpu))
        });
        let told = |own: u32, others: &[u32]| format!("{own} with {}", cpu::format_list(others));
        let expected = told(self.cpu, partners);
        let observed = match strayed {
            Some(cpus) => told(cpus[0], &cpus[1..]),
            None => expected.clone(),
        };
        let holds = strayed.is_none() && !seen.is_empty();
        self.claim("CPUs of its tasks", expected, observed, "/proc", holds);
    }

    /// Tells how often, in percent of the looks, partners were seen how near.
    fn tell_mix(&mut self, seen: &[Vec<u32>]) {
        let topology = Topology::read(Path::new("/sys")).unwrap_or_default();
        let mut counts: BTreeMap<&'static str, f64> = Placement::here()
            .into_iter()
            .filter(|placement| *placement != Placement::Free)
            .map(|placement| (placement.name(), 0.0))
            .collect();
        let pairs: Vec<(u32, u32)> = seen
            .iter()
            .flat_map(|cpus| cpus[1..].iter().map(|other| (cpus[0], *other)))
            .collect();
        for (own, other) in &pairs {
            let relation = topology.relation(*own, *other);
            let name = relation.map_or("unknown", |relation| Placement::At(relation).name());
            *counts.entry(name).or_default() += 1.0;
        }
        for (name, count) in counts {
            let percent = 100.0 * count / pairs.len().max(1) as f64;
            self.detail(&format!("placed_{name}_percent"), percent);
        }
        self.claim(
            "looks at where its tasks are",
            "at least 1",
            pairs.len() as f64,
            "/proc",
            !pairs.is_empty(),
        );
    }
}
