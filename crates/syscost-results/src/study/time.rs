//! What of a study comes first where the time is short, and what was left out for want of it.

use super::{ChartKind, Quantity, Study, means};
use crate::compare::INTERRUPTED;
use crate::{Run, Status};

impl Study {
    /// The rows that come first, in tiers: those of its curves, which say nothing with points left out,
    /// and those of all other quantities with published figures.
    pub fn tiers(&self) -> [Vec<String>; 2] {
        let curves = self.charts.iter();
        let curves = curves.filter(|chart| chart.kind == ChartKind::Curve);
        let drawn: Vec<&String> = curves.flat_map(|chart| &chart.quantities).collect();
        let rows = |is_meant: &dyn Fn(&Quantity) -> bool| {
            let meant = self.quantities.iter().filter(|one| is_meant(one));
            let rows = meant.flat_map(|one| [&one.as_published, &one.ours]);
            rows.flatten().cloned().collect()
        };
        [
            rows(&|one| drawn.contains(&&one.id)),
            rows(&|one| !one.published.is_empty()),
        ]
    }

    /// The quantities with published figures for which a run has no figure because its time was too
    /// short.
    pub fn left_out(&self, run: &Run) -> Vec<&Quantity> {
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
        self.quantities.iter().filter(is_left_out).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{row, run};

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
        let study = Study::parse(STUDY).expect("it is right");
        let [curves, published] = study.tiers();
        assert_eq!(curves, ["memory{size=*}"]);
        assert_eq!(published, ["study.mine.getpid", "syscall.null"]);
    }

    #[test]
    fn a_published_figure_without_its_repetition_is_left_out_for_want_of_time_alone() {
        let study = Study::parse(STUDY).expect("it is right");
        let left_out = |status, reason: &str| {
            let mut skipped = row("study.mine.getpid", vec![]);
            (skipped.status, skipped.reason) = (status, Some(reason.to_owned()));
            let mut of_others = row("call", vec![]);
            of_others.status = Status::Skipped;
            let run = run("one", vec![of_others, skipped]);
            let found = study.left_out(&run).into_iter();
            found.map(|one| one.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            left_out(Status::Skipped, "the budget was too short"),
            ["getpid"]
        );
        assert_eq!(left_out(Status::Skipped, INTERRUPTED), [""; 0]);
        assert_eq!(left_out(Status::Unsupported, "no counter"), [""; 0]);
    }
}
