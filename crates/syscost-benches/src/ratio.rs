//! Shared: rows that say how many times as long one operation takes as another.

use std::collections::BTreeMap;

use syscost_harness::Row;
use syscost_harness::prelude::*;

/// Whether it is either of these rows.
pub(crate) fn takes<A, B>(of: &A, over: &B, row: &Row) -> bool
where
    A: Params + PartialEq,
    B: Params + PartialEq,
{
    row.case.row() == Some(of) || row.case.row() == Some(over)
}

/// How many times `over` fits into a `share` of `of`, which by what both operations do is `least`
/// at the minimum. They are rows of the benchmarks `from`, in this order.
pub(crate) fn compute<A, B>(
    from: &[&'static str],
    of: &A,
    over: &B,
    share: f64,
    least: f64,
    sources: &[Source<'_>],
) -> Result<ComputedValue, Failure>
where
    A: Params + PartialEq,
    B: Params + PartialEq,
{
    let &[of_id, over_id] = from else {
        return Err(Failure::Broken(format!(
            "is a ratio of {} rows",
            from.len()
        )));
    };
    let (long, short) = (
        share * median(of_id, of, sources)?,
        median(over_id, over, sources)?,
    );
    let value = long / short;
    let holds = value >= least;
    Ok(ComputedValue {
        value,
        evidence: vec![Evidence::new(
            format!("times that {over_id} takes"),
            Bound::AtLeast(least).fact(),
            value,
            "what both operations do",
            Verdict::of(holds),
        )],
        details: BTreeMap::from([("of_ns".to_owned(), long), ("over_ns".to_owned(), short)]),
        ..ComputedValue::default()
    })
}

/// The median of this row of the benchmark `id`.
fn median<R: Params + PartialEq>(
    id: &str,
    row: &R,
    sources: &[Source<'_>],
) -> Result<f64, Failure> {
    let mut sources = sources.iter();
    let source = sources.find(|source| source.id == id && source.case.row() == Some(row));
    let missing = || Failure::Unsupported(format!("the row of {id} that it takes is missing"));
    source.map(|source| source.median).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Params, Clone, PartialEq)]
    struct Switch {
        /// Whether it is between processes.
        processes: bool,
    }

    #[derive(Params, Clone, PartialEq)]
    struct Syscall {
        /// Its arguments.
        arguments: u32,
        /// How often it is called.
        times: Option<u32>,
    }

    const FROM: [&str; 2] = ["some.switch", "some.syscall"];
    const OF: Switch = Switch { processes: true };
    const OVER: Syscall = Syscall {
        arguments: 0,
        times: None,
    };

    fn ratio(of_ns: f64, over_ns: f64) -> Result<ComputedValue, Failure> {
        let of = rows!(Switch { processes: [true] }).remove(0).erased();
        let over = rows!(Syscall {
            arguments: [0],
            times: [Some(2), None]
        });
        let over = [0, 1].map(|index: usize| over[index].clone().erased());
        let source = |id, case, median| Source { id, case, median };
        let sources = [
            source("some.syscall", &over[0], 1.0),
            source("some.syscall", &over[1], over_ns),
            source("some.switch", &of, of_ns),
        ];
        compute(&FROM, &OF, &OVER, 0.5, 2.0, &sources)
    }

    #[test]
    fn it_is_computed_from_the_two_rows_it_names() {
        let computed = ratio(2000.0, 100.0).unwrap();
        assert_eq!(computed.value, 10.0);
        assert_eq!(computed.evidence[0].verdict, Verdict::Confirmed);
        assert_eq!(computed.details["of_ns"], 1000.0);
    }

    #[test]
    fn an_operation_that_contains_the_other_cannot_be_shorter() {
        let computed = ratio(300.0, 100.0).unwrap();
        assert_eq!(computed.evidence[0].verdict, Verdict::Refuted);
    }

    #[test]
    fn a_row_that_is_missing_is_named() {
        let of = rows!(Switch { processes: [true] }).remove(0).erased();
        let of = Source {
            id: "some.switch",
            case: &of,
            median: 1.0,
        };
        let missing = |sources: &[Source<'_>]| compute(&FROM, &OF, &OVER, 0.5, 2.0, sources);
        let named = |id| Failure::Unsupported(format!("the row of {id} that it takes is missing"));
        assert_eq!(missing(&[]), Err(named("some.switch")));
        assert_eq!(missing(&[of]), Err(named("some.syscall")));
    }
}
