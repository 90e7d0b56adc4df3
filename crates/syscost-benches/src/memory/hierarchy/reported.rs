//! What the system reports of its caches.
//!
//! CPUs may differ, and a computed row does not know which of them was measured: only what holds for all
//! those that may be used is used.

use syscost_results::details::{REPORTED_SIZE, agree};
use syscost_results::{Evidence, Fact, Verdict};
use syscost_sys::topology::{CacheKind, Cpu, Topology};

/// In memory this many times as large as the last cache, that cache holds half at most.
const BEYOND: f64 = 2.0;

fn known(allowed: &[u32]) -> Vec<Cpu> {
    let cpus = Topology::here().cpus.iter();
    cpus.filter(|cpu| allowed.contains(&cpu.cpu))
        .cloned()
        .collect()
}

/// The values reported for these CPUs; `None` if one is missing.
fn of_each(cpus: &[Cpu], reported: impl Fn(&Cpu) -> Option<u64>) -> Option<Vec<u64>> {
    let reported = |cpu: &Cpu| reported(cpu).filter(|number| *number > 0);
    cpus.iter().map(reported).collect()
}

/// The value reported for all of these CPUs; `None` if they differ.
fn of_all(cpus: &[Cpu], reported: impl Fn(&Cpu) -> Option<u64>) -> Option<f64> {
    let reported = of_each(cpus, reported)?;
    let first = *reported.first()?;
    reported
        .iter()
        .all(|other| *other == first)
        .then_some(first as f64)
}

/// The size of the data cache of this level, in bytes, if it is reported.
pub(in super::super) fn cache_bytes(allowed: &[u32], level: u32) -> Option<f64> {
    of_all(&known(allowed), |cpu| cpu.data_cache(level)?.size_bytes)
}

/// The size of the last-level cache, in bytes, if it is reported: the largest if there are several.
pub(in super::super) fn last_bytes(allowed: &[u32]) -> Option<f64> {
    let reported = of_each(&known(allowed), |cpu| cpu.last_level_cache()?.size_bytes)?;
    reported.into_iter().max().map(|bytes| bytes as f64)
}

/// The length of a line of the nearest data cache, in bytes, if it is reported.
pub(in super::super) fn line_bytes(allowed: &[u32]) -> Option<f64> {
    of_all(&known(allowed), |cpu| {
        let mut caches = cpu.caches.iter();
        let nearest = caches.find(|cache| cache.kind != CacheKind::Instruction)?;
        nearest.line_bytes.map(u64::from)
    })
}

/// Whether a cache that ends there is the one that the system reports for this level.
pub(in super::super) fn is_level(reported: Option<f64>, end: f64) -> Evidence {
    agrees(REPORTED_SIZE, reported, end)
}

/// Whether the reported value agrees with the one found. A difference refutes nothing: either may be right.
pub(in super::super) fn agrees(claim: &str, reported: Option<f64>, found: f64) -> Evidence {
    let reason = match reported {
        None => Some("the system does not report it"),
        Some(reported) if !agree(reported, found) => Some(
            "a virtual machine may be shown another size than it has, and others may use the same cache",
        ),
        Some(_) => None,
    };
    let reported = reported.map_or_else(|| "not reported".into(), Fact::from);
    Evidence::new(claim, reported, found, "sysfs", Verdict::Confirmed).unless(reason)
}

/// Whether memory of this many bytes is beyond the last-level cache of this reported size. A reported
/// size may be wrong, so it refutes nothing.
pub(in super::super) fn is_beyond(last: Option<f64>, bytes: f64) -> Evidence {
    let least = last.map(|last| BEYOND * last);
    let reason = match least {
        None => Some("the system does not report its caches".to_owned()),
        Some(least) if bytes < least => Some(format!(
            "the last cache is reported to hold {:.0} MiB: much of this may be in it",
            least / BEYOND / f64::from(1 << 20)
        )),
        Some(_) => None,
    };
    let least = least.map_or("twice the last cache".to_owned(), |least| {
        format!("at least {least:.0}")
    });
    let claim = "bytes of the memory, of which the last cache holds no more than half";
    Evidence::new(claim, least, bytes, "sysfs", Verdict::Confirmed).unless(reason)
}

#[cfg(test)]
mod tests {
    use syscost_sys::topology::Cache;

    use super::*;

    fn cpu(number: u32, l2: impl Into<Option<u64>>) -> Cpu {
        let cache = |level, size_bytes| Cache {
            level,
            kind: CacheKind::Unified,
            size_bytes,
            line_bytes: Some(64),
            shared_cpus: vec![number],
        };
        Cpu {
            cpu: number,
            package: Some(0),
            node: Some(0),
            smt_siblings: Some(Vec::new()),
            caches: vec![cache(1, Some(32 << 10)), cache(2, l2.into())],
        }
    }

    #[test]
    fn what_differs_from_cpu_to_cpu_is_not_reported() {
        let size = |level| move |cpu: &Cpu| cpu.data_cache(level)?.size_bytes;
        let cpus = [cpu(0, 1 << 20), cpu(1, 2 << 20)];
        assert_eq!(of_all(&cpus, size(1)), Some(32768.0));
        assert_eq!(of_all(&cpus, size(2)), None);
        assert_eq!(of_all(&cpus, size(3)), None);
        assert_eq!(of_all(&[], size(1)), None);
        assert_eq!(of_each(&cpus, size(2)), Some(vec![1 << 20, 2 << 20]));
        assert_eq!(of_each(&[cpu(0, 1 << 20), cpu(1, None)], size(2)), None);
    }

    #[test]
    fn memory_that_the_last_cache_may_hold_is_doubted() {
        let verdict = |last, bytes| is_beyond(last, bytes).verdict;
        assert_eq!(verdict(Some(32e6), 64e6), Verdict::Confirmed);
        assert_eq!(verdict(Some(32e6), 63e6), Verdict::Unverified);
        assert_eq!(verdict(None, 1e12), Verdict::Unverified);
        let reason = is_beyond(Some(f64::from(260 << 20)), 1e8).reason.unwrap();
        assert!(reason.contains("260 MiB"), "{reason}");
    }
}
