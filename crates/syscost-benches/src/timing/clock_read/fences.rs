//! Whether a reading of the processor's counter is fenced as its name says: fences take time.

use std::hint::black_box;

use syscost_harness::prelude::*;
use syscost_sys::arch;

use super::source::Kind;
use super::{Named, Source};

/// Readings that are timed together, since a counter may advance in steps as long as a reading.
const TOGETHER: u32 = 64;
/// Number of tries, of which the shortest counts.
const TRIES: u32 = 300;
/// Maximum time of a bare reading, relative to another bare one.
const MAX_BARE: f64 = 1.1;
/// Why a reading that should be fenced and takes no longer than a bare one is not refuted: a
/// hypervisor may execute both.
const NO_SLOWER: &str = "fences take no time here, so that a fenced reading looks like a bare one";

/// Claims that a reading by `source` takes longer than a bare one if its name says that it is
/// fenced, and otherwise no longer.
pub(super) fn claim(b: &mut Bencher, named: Named, source: Source) {
    let is_fenced = match named.kind() {
        Kind::Counter { is_fenced } => is_fenced,
        Kind::Clock(_) | Kind::TimeOfDay => return,
    };
    let [own, bare] = match source {
        Source::Tsc => beside_bare(arch::cycle_counter_unfenced),
        Source::TscFenced => beside_bare(arch::cycle_counter_fenced),
        Source::Rdtscp => beside_bare(arch::cycle_counter_rdtscp),
        Source::Clock(_) | Source::TimeOfDay | Source::Seconds => {
            beside_bare(|| source.read().unwrap_or_default())
        }
    };
    let (what, seen) = (
        Claim::by_most("its time over that of a bare reading"),
        own / bare,
    );
    let clock = "fenced readings of the counter";
    match is_fenced {
        false => b.claim_within(what, Bound::AtMost(MAX_BARE), seen, clock),
        true if seen > MAX_BARE => b.claim_within(what, Bound::AtLeast(MAX_BARE), seen, clock),
        true => b.claim_unverified(
            what,
            Bound::AtLeast(MAX_BARE).fact(),
            seen,
            clock,
            NO_SLOWER,
        ),
    }
}

/// The minimum ticks of one of these readings, and of a bare one: in turn, since the core's
/// frequency may change meanwhile.
fn beside_bare(read: impl Fn() -> u64) -> [f64; 2] {
    let mut least = [u64::MAX; 2];
    for _ in 0..TRIES {
        let took = [ticks_of(&read), ticks_of(arch::cycle_counter_unfenced)];
        least = [0, 1].map(|side| least[side].min(took[side]));
    }
    least.map(|ticks| ticks as f64 / f64::from(TOGETHER))
}

/// The ticks of [`TOGETHER`] readings.
fn ticks_of(read: impl Fn() -> u64) -> u64 {
    let begun = arch::cycle_counter_fenced();
    for _ in 0..TOGETHER {
        black_box(read());
    }
    arch::cycle_counter_fenced().wrapping_sub(begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_reading_takes_as_long_as_another() {
        let [own, bare] = beside_bare(arch::cycle_counter_unfenced);
        assert!(own <= MAX_BARE * bare, "{own} {bare}");
    }
}
