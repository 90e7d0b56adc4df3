//! Thins out curves in a table: of rows for many sizes people read only a few, and use the chart
//! for all of them.

use syscost_results::row_name;
use syscost_results::{Measurement, Status};

/// A curve with more rows than this is thinned out.
const MANY: usize = 14;

/// Number of rows kept of such a curve.
const SHOWN: usize = 9;

/// A row that the table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Its index among the rows given.
    pub(crate) index: usize,
    /// Number of rows of its curve that are not shown, if it is the last of the curve.
    pub(crate) left_out: usize,
}

/// The rows of one benchmark that a brief table shows: all of them, except that of a curve
/// (consecutive rows that differ only in their last, numeric parameter) it shows the first, the
/// last and some in between. A row without a number is always shown.
pub(crate) fn brief(rows: &[Measurement]) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut begin = 0;
    for curve in rows.chunk_by(|a, b| stem(a).is_some() && stem(a) == stem(b)) {
        let last = curve.len() - 1;
        let is_chosen = |index: usize| {
            curve.len() <= MANY
                || curve[index].status != Status::Ok
                || (0..SHOWN).any(|step| (step * last).div_ceil(SHOWN - 1) == index)
        };
        let chosen: Vec<usize> = (0..curve.len()).filter(|index| is_chosen(*index)).collect();
        let left_out = curve.len() - chosen.len();
        shown.extend(chosen.into_iter().map(|index| Shown {
            index: begin + index,
            left_out: if index == last { left_out } else { 0 },
        }));
        begin += curve.len();
    }
    shown
}

/// A row's name without the value of its last parameter, if that value is a number.
fn stem(row: &Measurement) -> Option<&str> {
    let (_, value) = row_name::parameters(&row.name).last()?;
    row_name::number(value)?;
    row.name.strip_suffix('}')?.strip_suffix(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn rows(names: impl IntoIterator<Item = String>) -> Vec<Measurement> {
        let pattern = fixture::run().measurements[0].clone();
        let row = |name| Measurement {
            name,
            status: Status::Ok,
            ..pattern.clone()
        };
        names.into_iter().map(row).collect()
    }

    #[test]
    fn a_long_curve_is_thinned_and_says_by_how_much() {
        let curve = (0..100).map(|power| format!("m.l{{pages=4K,size={power}}}"));
        let mut rows = rows(curve.chain(["m.l{pages=2M,size=1}".to_owned()]));
        rows[50].status = Status::Withheld;
        let shown = brief(&rows);
        let indexes: Vec<usize> = shown.iter().map(|row| row.index).collect();
        assert_eq!(indexes, [0, 13, 25, 38, 50, 62, 75, 87, 99, 100]);
        assert_eq!(shown[8].left_out, 91);
        assert!(shown.iter().all(|row| row.left_out == 0 || row.index == 99));
        rows[51].status = Status::Failed;
        assert!(
            brief(&rows).iter().any(|row| row.index == 51),
            "never hidden"
        );
    }

    #[test]
    fn short_curves_and_other_cases_are_whole() {
        let few = rows((0..14).map(|size| format!("m.l{{size={size}}}")));
        assert_eq!(brief(&few).len(), 14);
        let words = rows((0..40).map(|word| format!("m.l{{kind=w{word}}}")));
        assert_eq!(brief(&words).len(), 40);
    }
}
