//! Shared: rows that say how many times as long one operation takes as another.

use std::collections::BTreeMap;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_results::{Evidence, Verdict};

/// One row: its benchmark's id, and its parameters.
pub(crate) type Named<R> = (&'static str, R);

/// Whether it is either of these rows.
pub(crate) fn takes<A, B>(of: &Named<A>, over: &Named<B>, row: &Row) -> bool
where
    A: Params + PartialEq,
    B: Params + PartialEq,
{
    row.of(of.0).as_ref() == Some(&of.1) || row.of(over.0).as_ref() == Some(&over.1)
}

/// How many times `over` fits into a `share` of `of`, which by what both operations do is `least`
/// at the minimum.
pub(crate) fn compute<A, B>(
    of: &Named<A>,
    over: &Named<B>,
    share: f64,
    least: f64,
    sources: &[Source<'_>],
) -> Result<Derived, Failure>
where
    A: Params + PartialEq,
    B: Params + PartialEq,
{
    let (long, short) = (share * median(of, sources)?, median(over, sources)?);
    let value = long / short;
    let holds = value >= least;
    Ok(Derived {
        value,
        evidence: vec![Evidence::new(
            format!("times that {} takes", over.0),
            Bound::AtLeast(least).fact(),
            value,
            "what both operations do",
            Verdict::of(holds),
        )],
        details: BTreeMap::from([("of_ns".to_owned(), long), ("over_ns".to_owned(), short)]),
        ..Derived::default()
    })
}

fn median<R: Params + PartialEq>(
    (id, row): &Named<R>,
    sources: &[Source<'_>],
) -> Result<f64, Failure> {
    let mut sources = sources.iter();
    let source = sources.find(|source| source.of(id).as_ref() == Some(row));
    let missing = || Failure::Unsupported(format!("it takes a row of {id}"));
    source.map(|source| source.median).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Params, PartialEq)]
    struct Switch {
        /// Whether it is between processes.
        processes: bool,
    }

    #[derive(Params, PartialEq)]
    struct Syscall {
        /// Its arguments.
        arguments: u32,
        /// How often it is called.
        times: Option<u32>,
    }

    const OF: Named<Switch> = ("some.switch", Switch { processes: true });
    const OVER: Named<Syscall> = (
        "some.syscall",
        Syscall {
            arguments: 0,
            times: None,
        },
    );

    fn ratio(of_ns: f64, over_ns: f64) -> Result<Derived, Failure> {
        let of = rows!(Switch { processes: [true] });
        let over = rows!(Syscall {
            arguments: [0],
            times: [Some(2), None]
        });
        let source = |id, case, median| Source { id, case, median };
        let sources = [
            source(OVER.0, &over[0], 1.0),
            source(OVER.0, &over[1], over_ns),
            source(OF.0, &of[0], of_ns),
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
