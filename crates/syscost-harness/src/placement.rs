//! Where the tasks of an operation run: part of a row's name, since it decides what is measured.

use std::borrow::Cow;

use syscost_params::{TaskRole, Value};
use syscost_sys::Unsupported;
use syscost_sys::topology::{Relation, Topology};

/// Where a partner runs, relative to the measuring task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// On a CPU that has this relation to the measuring one.
    At(Relation),
    /// Several partners and the measuring task, each on a separate CPU.
    Distinct,
    /// The measuring task on the first of these CPUs, whichever CPU measures other rows, and the
    /// partner on the second.
    Pair(u32, u32),
    /// Wherever the kernel puts it, including the measuring task.
    Free,
}

impl Placement {
    /// On the measuring task's own CPU, which there always is.
    pub const SAME: Placement = Placement::At(Relation::SameCpu);

    /// The name in cases.
    pub const fn name(self) -> &'static str {
        match self {
            Placement::At(Relation::SameCpu) => "same",
            Placement::At(relation) => relation.name(),
            Placement::Distinct => "distinct",
            Placement::Pair(..) => "pair",
            Placement::Free => "free",
        }
    }

    /// The placements of a pair that are possible on these CPUs, the nearest first.
    pub fn among(allowed: &[u32]) -> Vec<Placement> {
        let topology = Topology::here();
        let others = Relation::ALL
            .into_iter()
            .filter(|relation| *relation != Relation::SameCpu)
            .filter(|relation| topology.pair(*relation, allowed).is_some())
            .map(Placement::At);
        let free = (allowed.len() > 1).then_some(Placement::Free);
        [Self::SAME].into_iter().chain(others).chain(free).collect()
    }

    /// The CPU of the measuring task, which is `own` unless this names another.
    pub fn own_cpu(self, own: u32) -> u32 {
        match self {
            Placement::Pair(first, _) => first,
            _ => own,
        }
    }

    /// The CPUs a partner may use when the measuring task is on `own` and both may use `allowed`.
    ///
    /// # Errors
    /// When no allowed CPU has this relation to `own`, or one that is named is not allowed.
    pub fn cpus(self, own: u32, allowed: &[u32]) -> Result<Vec<u32>, Unsupported> {
        let relation = match self {
            Placement::Free => return Ok(allowed.to_vec()),
            Placement::Distinct => {
                let others = spread_from(own, allowed).split_off(1);
                return match others.is_empty() {
                    true => Err(Unsupported::new(format!("no CPU but {own} may be used"))),
                    false => Ok(others),
                };
            }
            Placement::Pair(first, second) => {
                let missing = [first, second]
                    .into_iter()
                    .find(|cpu| !allowed.contains(cpu));
                return match missing {
                    Some(cpu) => Err(Unsupported::new(format!("this run may not use CPU {cpu}"))),
                    None => Ok(vec![second]),
                };
            }
            Placement::At(Relation::SameCpu) => return Ok(vec![own]),
            Placement::At(relation) => relation,
        };
        let topology = Topology::here();
        let partner = allowed
            .iter()
            .find(|other| topology.relation(own, **other) == Some(relation));
        partner.map(|cpu| vec![*cpu]).ok_or_else(|| {
            Unsupported::new(format!("no allowed CPU is {} to CPU {own}", self.name()))
        })
    }
}

impl Value for Placement {
    const MEANING: &'static str = "Where the other tasks run, relative to the measuring one.";

    fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.name())
    }

    fn read(text: &str) -> Option<Self> {
        let related = Relation::ALL.map(Placement::At).into_iter();
        // The name of a pair does not say which it is.
        let mut all = related.chain([Placement::Distinct, Placement::Free]);
        all.find(|placement| placement.name() == text)
    }

    fn task_role(&self) -> TaskRole {
        match *self == Self::SAME {
            true => TaskRole::Plain,
            false => TaskRole::BindsCpus,
        }
    }
}

/// `own` and the other CPUs in the order in which tasks spread over them.
pub fn spread_from(own: u32, allowed: &[u32]) -> Vec<u32> {
    Topology::here().spread(own, allowed)
}

/// Where tasks ran that do an operation together.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Placed {
    /// All on one CPU, or there is but one.
    #[default]
    OneCpu,
    /// Where the scheduler put them: perhaps at the same time.
    AnyCpu,
    /// Each on a separate CPU.
    SeparateCpus,
}

impl Placed {
    /// The placement of a task on `cpu` with this many partners on `cpus`.
    pub(crate) fn of(cpu: u32, partners: usize, cpus: &[u32]) -> Self {
        if cpus == [cpu] {
            Self::OneCpu
        } else if cpus.contains(&cpu) || partners > cpus.len() {
            Self::AnyCpu
        } else {
            Self::SeparateCpus
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_sys::or_skip;

    #[test]
    fn the_same_cpu_is_always_there_and_partners_stand_where_they_are_named() {
        let allowed = or_skip!(syscost_sys::cpu::allowed(), "no affinity here");
        let own = allowed[0];
        match Placement::Distinct.cpus(own, &allowed) {
            Ok(mut others) => {
                others.sort_unstable();
                assert_eq!(others, allowed[1..]);
            }
            Err(reason) => println!("skipped: {reason}"),
        }
        assert!(Placement::Distinct.cpus(own, &[own]).is_err());
        let last = allowed[allowed.len() - 1];
        let pair = Placement::Pair(last, own);
        assert_eq!(
            (pair.own_cpu(own), pair.cpus(own, &allowed).unwrap()),
            (last, vec![own])
        );
        let reason = Placement::Pair(own, 9_999).cpus(own, &allowed).unwrap_err();
        assert!(reason.to_string().contains("9999"), "{reason}");
        let placements = Placement::among(&allowed);
        assert_eq!(placements[0].name(), "same");
        for placement in placements {
            match placement {
                Placement::Distinct | Placement::Pair(..) => {
                    unreachable!("a pair stands in some relation")
                }
                Placement::Free => assert_eq!(placement.cpus(own, &allowed).unwrap(), allowed),
                Placement::At(relation) => match placement.cpus(own, &allowed) {
                    Ok(cpus) => {
                        assert_eq!(Topology::here().relation(own, cpus[0]), Some(relation))
                    }
                    Err(reason) => println!("skipped: {reason}"),
                },
            }
        }
    }
}
