//! Rows compared in core cycles because the reader asked for it, whatever their own nature is.

use super::pool::Pooled;
use super::{ComparedIn, Pair, Row, frequency, paired, ratio};
use crate::Unit;

/// Why a row is not among those compared in core cycles.
pub(super) const UNKNOWN: &str = "no core cycles: it is neither a time nor a rate, or the core's frequency is not known on both sides";

/// The row of two pooled sides in core cycles; the third is the base's further runs. `None` where they are not known.
pub(super) fn row([base, new, spread]: &[Pooled<'_>; 3]) -> Option<Row> {
    let ghz = base.core_ghz?;
    let (base, new, spread) = match frequency::at_the_bases(base, new, spread) {
        Some(converted) => (converted.base, converted.new, converted.spread),
        // Where nobody could look at the core each side has one frequency.
        None => (
            base.clone(),
            at_one(new, ghz)?,
            at_one(spread, ghz).unwrap_or_else(|| spread.clone()),
        ),
    };
    // No note on the frequency: cycles are the same at any.
    let mut row = ratio::row_of(&base, &new, &spread, Some(String::new()))?;
    row.notes.retain(|note| !note.is_empty());
    let ghz = Some(ghz).filter(|_| row.unit == Unit::Nanoseconds);
    Some(Row {
        compared_in: ComparedIn::CoreCycles,
        cycles: ghz.map(|ghz| Pair {
            base: row.base * ghz,
            new: row.new * ghz,
        }),
        ..row
    })
}

/// A side as if its core had run at this frequency, all of its samples alike.
fn at_one<'a>(side: &Pooled<'a>, ghz: f64) -> Option<Pooled<'a>> {
    let own = side.core_ghz?;
    let factor = match side.first?.unit {
        Unit::Nanoseconds => own / ghz,
        Unit::BytesPerSecond | Unit::OperationsPerSecond | Unit::FlopsPerSecond => ghz / own,
        Unit::Bytes | Unit::Gigahertz | Unit::Percent | Unit::Count | Unit::Ratio => return None,
    };
    let mut samples = side.samples.clone()?;
    for value in samples.iter_mut().flatten().flatten() {
        *value *= factor;
    }
    Some(Pooled {
        samples: Some(samples),
        core_ghz: Some(ghz),
        ..side.clone()
    })
}

/// The row of two runs measured in turn, in core cycles.
pub(super) fn paired([base, new, _]: &[Pooled<'_>; 3]) -> Option<Row> {
    base.core_cycles.zip(new.core_cycles)?;
    let row = paired::row_in(true, base, new)?;
    Some(Row {
        cycles: base
            .core_cycles
            .zip(new.core_cycles)
            .filter(|_| row.unit == Unit::Nanoseconds)
            .map(|(base, new)| Pair { base, new }),
        ..row
    })
}
