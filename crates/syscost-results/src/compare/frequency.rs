//! Two runs whose cores ran at different frequencies.
//!
//! A core's frequency depends on its neighbours, in steps of 2 to 3 %: what is work of the core then differs between runs though nothing changed. Where
//! the processes of both sides agree much better as if they had run at one frequency, the new side is taken as if it had run at the base's.

use super::pool::Pooled;
use crate::Unit;
use crate::estimate::selection::scatter;

/// Frequencies nearer than this share are the same.
const SAME: f64 = 0.004;

/// At one frequency, processes must scatter by no more than this share of what they scatter by as they were.
const MUCH_LESS: f64 = 0.5;

/// The new side at the base's frequency, and what to say of it; `None` where that explains nothing, or more than one run is on a side.
pub(super) fn at_the_bases<'a>(
    base: &Pooled<'a>,
    new: &Pooled<'a>,
) -> Option<(Pooled<'a>, String)> {
    let (before, after) = (base.core_ghz?, new.core_ghz?);
    let faster = after / before;
    let ([left], [right]) = (&base.samples.as_ref()?[..], &new.samples.as_ref()?[..]) else {
        return None;
    };
    let factor = match base.first?.unit {
        Unit::Nanoseconds => faster,
        Unit::BytesPerSecond | Unit::OperationsPerSecond => 1.0 / faster,
        Unit::Bytes | Unit::Gigahertz | Unit::Percent | Unit::Count | Unit::Ratio => return None,
    };
    let converted: Vec<Vec<f64>> = right
        .iter()
        .map(|process| process.iter().map(|value| value * factor).collect())
        .collect();
    let both = |new: &[Vec<f64>]| scatter(&[left, new].concat());
    let explains = both(&converted)? <= MUCH_LESS * both(right)?;
    (faster.ln().abs() > SAME && explains).then(|| {
        let note = format!(
            "the core ran at {after:.2} GHz instead of {before:.2} GHz: compared as if at {before:.2} GHz, where the two sides agree much better"
        );
        let new = Pooled {
            samples: Some(vec![converted]),
            core_ghz: base.core_ghz,
            ..new.clone()
        };
        (new, note)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::run_of;
    use super::super::{Change, compare};
    use crate::Run;

    /// Eight processes at this frequency that take so many cycles.
    fn run(ghz: f64, cycles: f64) -> Run {
        let processes: Vec<Vec<f64>> = (0..8)
            .map(|process| vec![cycles / ghz * (1.0 + 0.001 * f64::from(process)); 5])
            .collect();
        let mut run = run_of(&processes);
        for round in run.measurements[0].samples.iter_mut().flatten() {
            round.core_ghz = Some(ghz);
            round.sample_ghz = vec![ghz; 5];
            round.usual_ghz = Some(ghz);
            round.alone_percent = Some(100.0);
        }
        run
    }

    #[test]
    fn another_frequency_is_no_change() {
        let (base, new) = (run(4.2, 400.0), run(3.9, 400.0));
        let row = &compare(&[&base], &[&new], &[]).rows[0];
        assert_eq!(row.verdict, Change::Same, "{row:?}");
        assert!(
            row.notes
                .iter()
                .any(|note| note.contains("3.90 GHz instead of 4.20"))
        );
    }

    #[test]
    fn a_change_is_seen_at_another_frequency_as_well() {
        let (base, new) = (run(4.2, 400.0), run(3.9, 440.0));
        let row = &compare(&[&base], &[&new], &[]).rows[0];
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
        let (base, new) = (run(4.2, 400.0), run(4.2, 420.0));
        assert_eq!(
            compare(&[&base], &[&new], &[]).rows[0].verdict,
            Change::Worse
        );
    }
}
