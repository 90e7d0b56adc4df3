//! Where tasks may run that are no team.

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::topology::Topology;

static PLACEMENT: Witness = Witness::of("CPU placement of the two ends", "/proc/PID/status");

/// Proof that the tasks of each pair are placed like that, and share no CPU with other pairs.
pub(crate) fn placement(named: Option<Placement>) -> Proof {
    named.map_or_else(Proof::default, |named| PLACEMENT.expects(named.name()))
}

/// Reports how the tasks of these pairs are placed, by the CPUs that the kernel lets them use.
pub(crate) fn see_placement(b: &mut Bencher, pairs: &[(TaskId, TaskId)]) {
    let may_use =
        |(near, far): &(TaskId, TaskId)| Some([cpu::allowed_to(*near)?, cpu::allowed_to(*far)?]);
    match pairs.iter().map(may_use).collect::<Option<Vec<_>>>() {
        Some(pairs) => b.observe(&PLACEMENT, seen(&pairs, b.allowed())),
        None => b.unobserved(&PLACEMENT, "/proc does not show which CPUs a task may use"),
    }
}

/// How the tasks of all pairs are placed.
fn seen(pairs: &[[Vec<u32>; 2]], allowed: &[u32]) -> &'static str {
    let mut relations = pairs.iter().map(|pair| relation(pair, allowed));
    let first = relations.next().unwrap_or("nowhere");
    let taken = |pair: &[Vec<u32>; 2]| {
        let mut cpus = pair.concat();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    };
    let mut all: Vec<u32> = pairs.iter().flat_map(taken).collect();
    let before = all.len();
    all.sort_unstable();
    all.dedup();
    match (relations.all(|one| one == first), all.len() == before) {
        (false, _) => "in several ways",
        (true, false) if first != Placement::Free.name() => "on CPUs of other pairs",
        (true, _) => first,
    }
}

fn relation([near, far]: &[Vec<u32>; 2], allowed: &[u32]) -> &'static str {
    match (&near[..], &far[..]) {
        ([near], [far]) => Topology::here()
            .relation(*near, *far)
            .map_or("unknown", |relation| Placement::At(relation).name()),
        (near, far) if near == far && near == allowed => Placement::Free.name(),
        (_, _) => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_lets_tasks_use_is_their_placement() {
        let allowed = or_skip!(cpu::allowed(), "no affinity here");
        assert_eq!(cpu::allowed_to(TaskId::own()), Some(allowed.clone()));
        let on = |near: &[u32], far: &[u32]| [near.to_vec(), far.to_vec()];
        let same = on(&allowed[..1], &allowed[..1]);
        assert_eq!(seen(std::slice::from_ref(&same), &allowed), "same");
        assert_eq!(
            seen(&[same.clone(), same], &allowed),
            "on CPUs of other pairs"
        );
        if let [one, .., other] = allowed[..] {
            let apart = on(&[one], &[other]);
            assert_ne!(seen(&[apart], &allowed), "same");
            let free = || on(&allowed, &allowed);
            assert_eq!(seen(&[free(), free()], &allowed), "free");
            let half = on(&allowed, &allowed[..1]);
            assert_eq!(seen(&[half], &allowed), "unknown");
        }
    }
}
