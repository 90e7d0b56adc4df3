//! Notes for the reader of a compared row.

use super::pool::Pooled;
use crate::measurement::CoreShare;

/// Difference of core frequencies, as a share, from which it is mentioned if it explains a good
/// part of the change.
const FREQUENCY_TOLERANCE: f64 = 0.01;
/// The part of the change that it must explain.
const FREQUENCY_SHARE: f64 = 0.25;

/// The notes on these sides, except on their frequencies.
pub(super) fn notes(base: &Pooled<'_>, new: &Pooled<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (pooled, side) in [(base, "base"), (new, "new")] {
        if let Some((count, reason)) = &pooled.without {
            let runs = count + pooled.estimates.len();
            notes.push(format!(
                "{count} of {runs} runs on the {side} side left out: {reason}"
            ));
        }
    }
    for (pooled, side) in [(base, "base"), (new, "new")] {
        if pooled.left_in_company > 0 {
            let runs = pooled.left_in_company + pooled.estimates.len();
            notes.push(format!(
                "{} of {runs} runs on the {side} side left out: their price is that in company, not the own one",
                pooled.left_in_company
            ));
        }
    }
    if base.is_disturbed && new.is_disturbed {
        notes.push(
            "both are prices in company: what else ran on the cores may be part of the difference"
                .to_owned(),
        );
    }
    for (looked, other, side) in [(new, base, "base"), (base, new, "new")] {
        if looked.is_looked_at && !other.is_looked_at {
            notes.push(format!(
                "whether the core was shared is not known on the {side} side: SMT interference \
                 may be part of the difference"
            ));
        }
    }
    if base.runs.is_none() || new.runs.is_none() {
        notes.push("no samples were kept: estimated from the intervals of the medians".to_owned());
    }
    notes
}

/// The note on the frequencies of two sides that are compared as measured; `change` is the logarithm
/// of the ratio.
pub(super) fn of_frequency(base: &Pooled<'_>, new: &Pooled<'_>, change: f64) -> Option<String> {
    let (before, after) = base.core_ghz.zip(new.core_ghz)?;
    let least = FREQUENCY_TOLERANCE.max(FREQUENCY_SHARE * change.abs());
    ((after / before).ln().abs() > least)
        .then(|| format!("the core ran at {after:.2} GHz instead of {before:.2} GHz"))
}

/// The note on two sides that were converted to this frequency in GHz by this share, if they ran at
/// different ones.
pub(super) fn of_share(
    [base, new]: [&Pooled<'_>; 2],
    ghz: f64,
    share: CoreShare,
) -> Option<String> {
    let [before, after] = [base, new].map(|side| side.core_ghz.map(|ghz| format!("{ghz:.2}")));
    let (before, after) = before
        .zip(after)
        .filter(|(before, after)| before != after)?;
    let [share, low, high] = [share.share, share.low, share.high].map(|share| 100.0 * share);
    Some(format!(
        "the core ran at {after} GHz instead of {before} GHz: compared at {ghz:.2} GHz, where {share:.0} % of the cost are \
         core cycles (95 %: {low:.0} to {high:.0} %)"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{Change, compare};
    use crate::Run;
    use crate::fixture::run_of;
    use crate::measurement::{Cause, Disturbance, Flag};

    /// Nine rounds of ten samples at this level, the first `shared` of each half as long again
    /// because of interference.
    fn with_interference(level: f64, shared: u32) -> Run {
        let value = |sample: u32| if sample < shared { 1.5 * level } else { level };
        let values: Vec<f64> = (0..10).map(value).collect();
        let mut run = run_of(&vec![values; 9]);
        let row = &mut run.measurements[0];
        row.estimate.undisturbed_percent = Some(10.0 * f64::from(10 - shared));
        for round in row.samples.iter_mut().flatten() {
            round.alone_percent = Some(50.0);
            let tag = |sample| Disturbance {
                sample,
                cause: Cause::SharedCore,
            };
            round.disturbed = (0..shared).map(tag).collect();
        }
        run
    }

    fn notes_and_verdict(base: &Run, new: &Run) -> (Vec<String>, Change) {
        let mut compared = compare(&[base], &[new], &[]);
        let row = compared.rows.remove(0);
        (row.notes, row.verdict)
    }

    #[test]
    fn interference_makes_no_difference_where_samples_are_undisturbed() {
        let (base, new) = (with_interference(100.0, 0), with_interference(100.0, 7));
        assert_eq!(notes_and_verdict(&base, &new), (vec![], Change::Same));
    }

    #[test]
    fn a_side_without_undisturbed_samples_is_named() {
        let base = with_interference(100.0, 2);
        let mut new = with_interference(100.0, 10);
        new.measurements[0].flags = vec![Flag::Disturbed];
        let (notes, verdict) = notes_and_verdict(&base, &new);
        assert_eq!(
            notes,
            [
                "no interval: the new side is a price in company, the base side an own one, which may be the whole difference"
            ]
        );
        assert_eq!(verdict, Change::Inconclusive);
    }

    #[test]
    fn interference_on_one_side_only_changes_nothing() {
        let base = with_interference(100.0, 0);
        let mut new = with_interference(160.0, 10);
        new.measurements[0].flags = vec![Flag::Disturbed];
        for (base, new) in [(&base, &new), (&new, &base)] {
            assert_eq!(notes_and_verdict(base, new).1, Change::Inconclusive);
        }
        // With interference on both sides it is known only up to how the neighbours differed.
        let mut base = with_interference(100.0, 10);
        base.measurements[0].flags = vec![Flag::Disturbed];
        let (notes, verdict) = notes_and_verdict(&base, &new);
        assert_eq!(verdict, Change::Inconclusive);
        let together =
            "both are prices in company: what else ran on the cores may be part of the difference";
        assert!(
            notes.contains(&together.to_owned()) && notes.len() == 2,
            "{notes:?}"
        );
        for (slowest, expected) in [(1.3, Change::Worse), (2.0, Change::Inconclusive)] {
            for run in [&mut base, &mut new] {
                for round in run.measurements[0].samples.iter_mut().flatten() {
                    round.own_limit = Some(1.06);
                    round.ratios = vec![1200; 10];
                    round.ratios[3] = (1200.0 * slowest) as u16;
                }
            }
            let (notes, verdict) = notes_and_verdict(&base, &new);
            assert_eq!((notes, verdict), (vec![together.to_owned()], expected));
        }
    }

    #[test]
    fn own_prices_are_not_pooled_with_prices_in_company() {
        let own = with_interference(100.0, 0);
        let mut other = with_interference(160.0, 10);
        other.measurements[0].flags = vec![Flag::Disturbed];
        let compared = compare(&[&own, &other], &[&own], &[&other]);
        let row = &compared.rows[0];
        assert_eq!((row.base, row.disturbed), (100.0, false));
        assert_eq!(row.verdict, Change::Same);
        assert_eq!(
            row.notes,
            [
                "1 of 2 runs on the base side left out: their price is that in company, not the own one"
            ]
        );
    }

    #[test]
    fn a_side_that_nobody_looked_at_is_named() {
        let (base, new) = (
            run_of(&vec![vec![120.0; 10]; 9]),
            with_interference(100.0, 5),
        );
        let (notes, _) = notes_and_verdict(&base, &new);
        assert_eq!(
            notes,
            [
                "whether the core was shared is not known on the base side: SMT interference may \
                 be part of the difference"
            ]
        );
        assert!(notes_and_verdict(&base, &base).0.is_empty());
    }

    #[test]
    fn another_frequency_is_reported() {
        let at = |level, ghz| {
            let mut run = with_interference(level, 2);
            // Too few rounds know their frequency for all to be converted.
            for round in run.measurements[0].samples.iter_mut().flatten() {
                round.core_ghz = Some(ghz).filter(|_| round.round % 3 == 1);
            }
            run
        };
        let (notes, verdict) = notes_and_verdict(&at(100.0, 4.0), &at(140.0, 3.6));
        assert_eq!(verdict, Change::Worse);
        assert_eq!(notes, ["the core ran at 3.60 GHz instead of 4.00 GHz"]);
    }
}
