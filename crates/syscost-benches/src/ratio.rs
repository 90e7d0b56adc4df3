//! Shared: rows that say how many times as long one operation takes as another.

use std::collections::BTreeMap;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_results::{Evidence, Verdict};

/// Whether it is either of these rows.
pub(crate) fn takes<A, B>(of: &A, over: &B, row: &Row) -> bool
where
    A: Params + PartialEq,
    B: Params + PartialEq,
{
    row.case.row() == Some(of) || row.case.row() == Some(over)
}

/// How many times `over` fits into a `share` of `of`, which by what both operations do is `least`
/// at the minimum.
pub(crate) fn compute<A, B>(
    of: &A,
    over: &B,
    share: f64,
    least: f64,
    sources: &[Source<'_>],
) -> Result<Derived, Failure>
where
    A: Params + PartialEq,
    B: Params + PartialEq,
{
    let (long, (short, over)) = (share * median(of, sources)?.0, median(over, sources)?);
    let value = long / short;
    let holds = value >= least;
    Ok(Derived {
        value,
        evidence: vec![Evidence::new(
            format!("times that {over} takes"),
            Bound::AtLeast(least).fact(),
            value,
            "what both operations do",
            Verdict::of(holds),
        )],
        details: BTreeMap::from([("of_ns".to_owned(), long), ("over_ns".to_owned(), short)]),
        ..Derived::default()
    })
}

/// The median of this row, and its benchmark's id.
fn median<R: Params + PartialEq>(
    row: &R,
    sources: &[Source<'_>],
) -> Result<(f64, &'static str), Failure> {
    let mut sources = sources.iter();
    let source = sources.find(|source| source.case.row() == Some(row));
    let missing = || Failure::Unsupported("one of the two rows that it takes is missing".into());
    source
        .map(|source| (source.median, source.id))
        .ok_or_else(missing)
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

    const OF: Switch = Switch { processes: true };
    const OVER: Syscall = Syscall {
        arguments: 0,
        times: None,
    };

    fn ratio(of_ns: f64, over_ns: f64) -> Result<Derived, Failure> {
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
        compute(&OF, &OVER, 0.5, 2.0, &sources)
    }

    #[test]
    fn it_is_computed_from_the_two_rows_it_names() {
        let derived = ratio(2000.0, 100.0).unwrap();
        assert_eq!(derived.value, 10.0);
        assert_eq!(derived.evidence[0].verdict, Verdict::Confirmed);
        assert_eq!(derived.details["of_ns"], 1000.0);
    }

    #[test]
    fn an_operation_that_contains_the_other_cannot_be_shorter() {
        let derived = ratio(300.0, 100.0).unwrap();
        assert_eq!(derived.evidence[0].verdict, Verdict::Refuted);
        assert!(compute(&OF, &OVER, 0.5, 2.0, &[]).is_err());
    }
}
