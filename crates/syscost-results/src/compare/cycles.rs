//! Compares rows in core cycles because the reader asked for it, regardless of their nature.

use super::pool::Pooled;
use super::{ComparedIn, Pair, Row, frequency, paired, ratio};
use crate::Unit;

/// Why a row cannot be compared in core cycles.
pub(super) const UNKNOWN: &str = "no core cycles: it is neither a time nor a rate, or the core's frequency is not known on both sides";

/// The row of two pooled sides in core cycles; the third are the base's further runs. `None` if the
/// cycles are not known.
pub(super) fn row([base, new, spread]: &[Pooled<'_>; 3]) -> Option<Row> {
    let ghz = base.core_ghz?;
    let unit = base.first?.unit;
    let runs = spread.estimates.len();
    let (base, new, spread) = match frequency::at_the_bases(base, new, spread) {
        Some(converted) => {
            let spread = frequency::runs_at(spread, unit, ghz);
            (converted.base, converted.new, spread)
        }
        // Without samples of the frequency, each run has a single one.
        None => {
            let converted = at_one(new, ghz)?;
            let is_whole = converted.estimates.len() == new.estimates.len();
            let spread = at_one(spread, ghz).unwrap_or_else(|| spread.without_runs());
            (base.clone(), is_whole.then_some(converted)?, spread)
        }
    };
    let unknown = runs - spread.estimates.len();
    // No note on the frequency: cycles are the same at any.
    let mut row = ratio::row_of(&base, &new, &spread, Some(String::new()))?;
    row.notes.retain(|note| !note.is_empty());
    if unknown > 0 {
        row.notes.push(format!(
            "{unknown} of {runs} --spread runs left out: their core cycles are not known"
        ));
    }
    let ghz = Some(ghz).filter(|_| row.unit == Unit::Nanoseconds);
    Some(Row {
        cycles: ghz.map(|ghz| Pair {
            base: row.base * ghz,
            new: row.new * ghz,
        }),
        ..asked(row)
    })
}

/// Sets what is common to all rows compared in cycles on request: tails are known as times only.
fn asked(row: Row) -> Row {
    Row {
        compared_in: ComparedIn::CoreCycles,
        p99: None,
        ..row
    }
}

/// The runs of a side whose frequency is known, converted to this frequency in GHz, each run as a
/// whole. `None` if the unit is neither a time nor a rate, or without samples.
fn at_one<'a>(side: &Pooled<'a>, ghz: f64) -> Option<Pooled<'a>> {
    let is_time = match side.first?.unit {
        Unit::Nanoseconds => true,
        Unit::BytesPerSecond | Unit::OperationsPerSecond | Unit::FlopsPerSecond => false,
        Unit::Bytes | Unit::Gigahertz | Unit::Percent | Unit::Count | Unit::Ratio => return None,
    };
    let mut found = side.without_runs();
    let runs = side.samples.as_ref()?.iter().zip(&side.estimates);
    for ((samples, estimate), own) in runs.zip(&side.run_ghz) {
        let Some(own) = *own else { continue };
        let factor = if is_time { own / ghz } else { ghz / own };
        let mut samples = samples.clone();
        for value in samples.iter_mut().flatten() {
            *value *= factor;
        }
        found.samples.get_or_insert_default().push(samples);
        found.estimates.push(*estimate);
    }
    found.core_ghz = Some(ghz);
    Some(found)
}

/// The row of two runs measured in turn, in core cycles. A rate is compared per core cycle; both
/// medians stay as measured. `None` if no round's cycles are known on both sides.
pub(super) fn paired([base, new, _]: &[Pooled<'_>; 3]) -> Option<Row> {
    if !paired::has_cycles(base.first?, new.first?) {
        return None;
    }
    let row = paired::row_in(true, base, new)?;
    let medians = base.core_cycles.zip(new.core_cycles);
    let cycles = medians.filter(|_| row.unit == Unit::Nanoseconds);
    Some(Row {
        cycles: cycles.map(|(base, new)| Pair { base, new }),
        ..asked(row)
    })
}
