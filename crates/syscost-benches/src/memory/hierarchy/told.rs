//! What the system says of its caches.

use std::path::Path;

use syscost_results::{Evidence, Verdict};
use syscost_sys::topology::{CacheKind, Topology};

/// Sizes that differ by less than this factor agree: the sizes measured are a fifth apart, and not every cache can be filled.
const ALIKE: f64 = 1.5;

/// The size of the data cache of this level, in bytes, if it is told.
pub(in super::super) fn cache_bytes(level: u32) -> Option<f64> {
    let topology = Topology::read(Path::new("/sys")).ok()?;
    let bytes = topology.cpus.first()?.data_cache(level)?.size_bytes;
    (bytes > 0).then_some(bytes as f64)
}

/// The length of a line of the nearest data cache, in bytes, if it is told.
pub(in super::super) fn line_bytes() -> Option<f64> {
    let topology = Topology::read(Path::new("/sys")).ok()?;
    let mut caches = topology.cpus.first()?.caches.iter();
    let bytes = caches
        .find(|cache| cache.kind != CacheKind::Instruction)?
        .line_bytes;
    (bytes > 0).then_some(f64::from(bytes))
}

/// Whether what is told agrees with what was found. If not, that refutes nothing: either may be right.
pub(in super::super) fn agrees(claim: &str, told: f64, found: f64) -> Evidence {
    let alike = (1.0 / ALIKE..=ALIKE).contains(&(told / found));
    Evidence {
        claim: claim.to_owned(),
        expected: told.into(),
        observed: Some(found.into()),
        source: "sysfs".to_owned(),
        verdict: match alike {
            true => Verdict::Confirmed,
            false => Verdict::Unverified,
        },
        reason: (!alike).then(|| {
            "a virtual machine may be told another size than it has, and others may use the same cache"
                .to_owned()
        }),
    }
}
