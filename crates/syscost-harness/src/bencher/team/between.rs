//! How many tasks an operation has, and what they are to each other, as the kernel has it:
//! processes or threads.
//!
//! The code that starts them has it from the row's value. This compares that value with what the
//! tasks are to the kernel.

use std::collections::BTreeSet;

use syscost_params::TaskRole;
use syscost_sys::Unsupported;
use syscost_sys::counters::TaskId;

use crate::bencher::Plan;

const CLAIM: &str = "what its tasks are to each other";

const COUNT_CLAIM: &str = "number of its tasks";

/// The process of each task, according to the kernel.
pub(in crate::bencher) type Groups = Result<Vec<u32>, Unsupported>;

/// The processes of these tasks.
pub(in crate::bencher) fn groups_of(tasks: impl IntoIterator<Item = TaskId>) -> Groups {
    tasks.into_iter().map(TaskId::group).collect()
}

impl Plan<'_> {
    /// Claims that the tasks of each of these teams are as many as the row says, and to each other
    /// what it says, if it says anything. The first team is that of the operation. Another one of a
    /// single task is a baseline and claims nothing; a single task is nothing to others.
    pub(in crate::bencher) fn claim_tasks<'g>(
        &mut self,
        teams: impl IntoIterator<Item = &'g Groups>,
    ) {
        let case = self.given.case;
        for (index, groups) in teams.into_iter().enumerate() {
            let is_alone = groups.as_ref().is_ok_and(|groups| groups.len() < 2);
            if index == 0 {
                self.done.tasks = groups.as_ref().ok().map(Vec::len);
            }
            for role in &case.facts.roles {
                match *role {
                    TaskRole::TaskKind(kind) if !is_alone => {
                        let seen = groups.as_deref().map(|groups| relation(groups).to_owned());
                        self.claim_as_named(CLAIM, kind.to_owned(), seen);
                    }
                    TaskRole::TaskCount(count) if !is_alone || index == 0 => {
                        self.claim_count(count, groups);
                    }
                    TaskRole::Copies(count) if !is_alone || index == 0 => {
                        self.claim_count(count.into(), groups);
                    }
                    TaskRole::TaskKind(_)
                    | TaskRole::TaskCount(_)
                    | TaskRole::Copies(_)
                    | TaskRole::BindsCpus
                    | TaskRole::Plain => {}
                }
            }
        }
    }

    /// Claims of a task that measures alone that the row says so, if it says on how many CPUs.
    pub(in crate::bencher) fn claim_alone(&mut self) {
        if let Some(count) = self.named_copies() {
            self.claim_count(count.into(), &groups_of([TaskId::own()]));
        }
    }

    /// On how many CPUs the row says that the same runs at once.
    pub(in crate::bencher) fn named_copies(&self) -> Option<u32> {
        self.given
            .case
            .facts
            .roles
            .iter()
            .find_map(|role| match role {
                TaskRole::Copies(count) => Some(*count),
                TaskRole::TaskCount(_)
                | TaskRole::TaskKind(_)
                | TaskRole::BindsCpus
                | TaskRole::Plain => None,
            })
    }

    fn claim_count(&mut self, named: u64, groups: &Groups) {
        let seen = groups.as_deref().map(|groups| groups.len().to_string());
        self.claim_as_named(COUNT_CLAIM, named.to_string(), seen);
    }

    fn claim_as_named(&mut self, claim: &str, named: String, seen: Result<String, &Unsupported>) {
        match seen {
            Ok(seen) => self.claim_equal(claim, named, seen, "/proc"),
            Err(reason) => self.claim_unobserved(claim, named, "/proc", reason),
        }
    }
}

/// What tasks of these processes are to each other: processes or threads.
fn relation(groups: &[u32]) -> &'static str {
    let processes: BTreeSet<&u32> = groups.iter().collect();
    match processes.len() {
        1 => "threads",
        all if all == groups.len() => "processes",
        _ => "some of them threads, others processes",
    }
}

#[cfg(test)]
mod tests {
    use std::thread::yield_now;

    use syscost_params::{Params, TaskCount};
    use syscost_results::{Evidence, Verdict};
    use syscost_sys::cpu;
    use syscost_sys::partner::Between;

    use super::*;
    use crate::bencher::tests::real::{found_of, team_of};
    use crate::bencher::{Findings, Loop, Outcome, Plan, Together};
    use crate::case::Case;
    use crate::failure::Failure;
    use crate::pass::Pass;
    use crate::placement::Placement;
    use crate::rows;
    use syscost_sys::or_skip;

    /// The findings of a case on this CPU.
    fn found(
        case: &Case,
        measure: impl FnOnce(Plan) -> Result<Outcome, Failure> + Send,
    ) -> Result<Findings, Failure> {
        let cpus = cpu::allowed().unwrap_or_else(|_| vec![0]);
        found_of(case, &cpus, Pass::Timed, &[], measure)
    }

    /// What it claims of tasks.
    fn claimed(findings: &Findings) -> Vec<&Evidence> {
        let is_of_tasks = |claim: &str| [CLAIM, COUNT_CLAIM].contains(&claim);
        let all = findings.evidence.iter();
        all.filter(|one| is_of_tasks(&one.claim.sentence)).collect()
    }

    #[derive(Params, Clone)]
    #[expect(dead_code)] // only its name and its roles are read
    struct Row {
        between: Option<Between>,
        /// How many there are.
        tasks: Option<TaskCount>,
    }

    fn case(between: Option<Between>, tasks: Option<TaskCount>) -> Case {
        let mut rows = rows!(Row {
            between: [between],
            tasks: [tasks]
        });
        rows.remove(0).erased()
    }

    /// The verdicts on a row that names one kind and starts the other.
    fn verdict(named: Between, between: Between) -> Result<Vec<Verdict>, Failure> {
        let case = case(Some(named), None);
        let findings = found(&case, |plan| {
            plan.measure(Together::of(Placement::Free, |cpus| {
                team_of((between, 1), cpus, yield_now, || {
                    std::hint::black_box(());
                })
            }))
        })?;
        Ok(claimed(&findings).iter().map(|one| one.verdict).collect())
    }

    #[test]
    fn tasks_that_are_not_what_the_name_says_are_refuted() {
        or_skip!(TaskId::own().group());
        for between in Between::ALL {
            for named in Between::ALL {
                let expected = [Verdict::of(named == between)];
                match verdict(named, between) {
                    Ok(verdicts) => assert_eq!(verdicts, expected, "{named:?}, {between:?}"),
                    Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
                    Err(failure) => panic!("{failure}"),
                }
            }
        }
    }

    /// The findings of a case whose teams are in these processes.
    fn of_teams<const N: usize>(case: &Case, teams: [Groups; N]) -> Findings {
        let findings = found(case, |mut plan| {
            plan.claim_tasks(&teams);
            plan.measure(Loop::infallible(|| 1))
        });
        findings.expect("measured")
    }

    #[test]
    fn more_or_fewer_tasks_than_the_name_says_are_refuted() {
        let three = vec![7, 8, 9];
        for (named, team, expected) in [
            (2, three.clone(), Verdict::Refuted),
            (3, three.clone(), Verdict::Confirmed),
            (4, three, Verdict::Refuted),
            (2, vec![7], Verdict::Refuted),
        ] {
            // The second is a baseline.
            let teams = [Ok(team), Ok(vec![7])];
            let findings = of_teams(&case(None, Some(TaskCount(named))), teams);
            let verdicts = claimed(&findings).into_iter().map(|one| one.verdict);
            assert_eq!(verdicts.collect::<Vec<_>>(), [expected], "{named}");
        }
    }

    #[test]
    fn unreadable_groups_are_unverified_and_a_single_task_claims_nothing() {
        let case = case(Some(Between::Threads), None);
        let teams = [Ok(vec![7]), Err(Unsupported::new("no /proc"))];
        let findings = of_teams(&case, teams);
        let [one] = claimed(&findings)[..] else {
            panic!("{:?}", findings.evidence);
        };
        assert_eq!(one.verdict, Verdict::Unverified);
        assert_eq!(one.expected, Some("threads".into()));
        assert_eq!(one.reason.as_deref(), Some("no /proc"));
    }

    #[test]
    fn a_row_whose_name_says_nothing_claims_nothing() {
        let findings = of_teams(&Case::default(), [Ok(vec![7, 8])]);
        assert!(claimed(&findings).is_empty());
    }

    #[test]
    fn some_of_both_are_neither() {
        assert_eq!(relation(&[7, 7, 7]), "threads");
        assert_eq!(relation(&[7, 8, 9]), "processes");
        for mixed in [[7, 7, 8], [7, 8, 8]] {
            assert!(!["threads", "processes"].contains(&relation(&mixed)));
        }
    }
}
