//! What of a study was left out for want of time.

use syscost_results::compare::INTERRUPTED;
use syscost_results::study::{Quantity, Study, means};
use syscost_results::{Run, Status};

/// The quantities with published figures for which a run has no figure because its time was too
/// short.
pub fn left_out<'s>(study: &'s Study, run: &Run) -> Vec<&'s Quantity> {
    let is_left_out = |one: &&Quantity| {
        let name = one.as_published.as_ref().or(one.ours.as_ref());
        let is_it = |name: &String| {
            let mut rows = run.measurements.iter();
            rows.find(|row| means(name, &row.name)).is_some_and(|row| {
                row.status == Status::Skipped && row.reason.as_deref() != Some(INTERRUPTED)
            })
        };
        !one.published.is_empty() && name.is_some_and(is_it)
    };
    study.quantities.iter().filter(is_left_out).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use syscost_results::fixture::{row, run};

    const STUDY: &str = r#"
id = "mine"
title = "Mine"
source = "A note"
about = "What I measured."

[[machine]]
id = "old"
name = "An old machine"

[[quantity]]
id = "call"
title = "A call"
table = "CPU"
unit = "ns"
procedure = "A loop."
ours = "call"

[[quantity]]
id = "getpid"
title = "getpid()"
table = "CPU"
unit = "ns"
procedure = "A loop."
as_published = "study.mine.getpid"
ours = "syscall.null"
published = [{ machine = "old", value = 90.0, place = "page 1" }]

[[quantity]]
id = "access"
title = "An access"
table = "Memory"
unit = "ns"
procedure = "A chain."
ours = "memory{size=*}"

[[chart]]
title = "Access"
kind = "curve"
quantities = ["access"]
"#;

    #[test]
    fn curves_come_first_then_published_figures() {
        let study = parse(STUDY).expect("it is right");
        let [curves, published] = study.tiers();
        assert_eq!(curves, ["memory{size=*}"]);
        assert_eq!(published, ["study.mine.getpid", "syscall.null"]);
    }

    #[test]
    fn a_published_figure_without_its_repetition_is_left_out_for_want_of_time_alone() {
        let study = parse(STUDY).expect("it is right");
        let found = |status, reason: &str| {
            let mut skipped = row("study.mine.getpid", vec![]);
            (skipped.status, skipped.reason) = (status, Some(reason.to_owned()));
            let mut of_others = row("call", vec![]);
            of_others.status = Status::Skipped;
            let run = run("one", vec![of_others, skipped]);
            let found = left_out(&study, &run).into_iter();
            found.map(|one| one.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            found(Status::Skipped, "the budget was too short"),
            ["getpid"]
        );
        assert_eq!(found(Status::Skipped, INTERRUPTED), [""; 0]);
        assert_eq!(found(Status::Unsupported, "no counter"), [""; 0]);
    }
}
