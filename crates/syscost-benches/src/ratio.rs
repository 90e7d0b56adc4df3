//! Shared: rows that say how many times as long one operation takes as another.

use std::collections::BTreeMap;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_results::{Evidence, Verdict};

/// One row: its benchmark, and the parameters of its case.
pub(crate) type Named = (&'static str, &'static [(&'static str, &'static str)]);

/// Whether this is the row of that name.
pub(crate) fn is(named: &Named, id: &str, case: &Case) -> bool {
    let (benchmark, parameters) = named;
    let has = |(key, value): &(&str, &str)| case.find(key) == Some(*value);
    id == *benchmark && parameters.len() == case.len() && parameters.iter().all(has)
}

/// Whether it is either of these rows.
pub(crate) fn takes(of: &Named, over: &Named, row: &Row) -> bool {
    is(of, row.benchmark.id, &row.case) || is(over, row.benchmark.id, &row.case)
}

/// How many times `over` fits into a `share` of `of`, which by what both operations do is `least`
/// at the minimum.
pub(crate) fn compute(
    of: &Named,
    over: &Named,
    share: f64,
    least: f64,
    sources: &[Source<'_>],
) -> Result<Derived, Failure> {
    let find = |named: &Named| {
        let source = sources
            .iter()
            .find(|source| is(named, source.id, source.case));
        let missing = || Failure::Unsupported(format!("it takes a row of {}", named.0));
        source.map(|source| source.median).ok_or_else(missing)
    };
    let (long, short) = (share * find(of)?, find(over)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    const OF: Named = ("switch.pipe", &[("between", "threads"), ("cpus", "same")]);
    const OVER: Named = ("syscall.null", &[("call", "getppid")]);

    fn ratio(of_ns: f64, over_ns: f64) -> Result<Derived, Failure> {
        let of = Case::new([("between", "threads"), ("cpus", "same")]);
        let over = Case::new([("call", "getppid")]);
        let libc = Case::new([("call", "getppid"), ("via", "libc")]);
        let source = |id, case, median| Source { id, case, median };
        let sources = [
            source(OVER.0, &libc, 1.0),
            source(OVER.0, &over, over_ns),
            source(OF.0, &of, of_ns),
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
