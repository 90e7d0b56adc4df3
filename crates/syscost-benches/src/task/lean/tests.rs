//! A lean parent, and what its iterations must leave.

use syscost_harness::bencher::Pass;
use syscost_results::Verdict;

use super::*;
use crate::testing::{claims, findings_by, found_by};

/// A child that exits with this status, where 0 is wanted.
fn exiting(status: u64) -> Iteration {
    Iteration {
        end: vec![ScriptCall::new(Sysno::EXIT_GROUP, [status])],
        ..crate::task::fork::iteration()
    }
}

#[test]
fn a_small_process_makes_children_and_its_calls_are_counted() {
    use crate::task::{clone_vm, clone3, exec, first_child, fork, posix_spawn, shell, vfork};
    for row in [
        fork::BENCHMARK,
        vfork::BENCHMARK,
        clone3::BENCHMARK,
        clone_vm::BENCHMARK,
        posix_spawn::BENCHMARK,
        exec::BENCHMARK,
        shell::BENCHMARK,
        first_child::BENCHMARK,
    ] {
        for case in (row.cases)(&syscost_harness::Here::plain()) {
            if let Err(reason) = (row.support)(&case, &syscost_harness::Here::plain()) {
                println!("skipped: {reason}");
                continue;
            }
            makes_children(&row, &case);
        }
    }
}

fn makes_children(row: &Benchmark, case: &Case) {
    for pass in [Pass::Timed, Pass::Evidence] {
        let measure = row.measure;
        let Some(found) = found_by(case, pass, row.expect, measure) else {
            return;
        };
        let name = format!("{}{} {pass:?}", row.title, case.suffix());
        let confirmed = claims(&found, Verdict::Confirmed);
        assert!(
            confirmed
                .iter()
                .any(|one| one == "memory of the parent's own, in bytes"),
            "{name}: {confirmed:?}"
        );
        let mut refuted = claims(&found, Verdict::Refuted);
        // Other tests keep the CPU busy.
        refuted.retain(|claim| !claim.starts_with("voluntary") && !claim.starts_with("time"));
        assert_eq!(refuted, [""; 0], "{name}");
    }
}

#[test]
fn a_child_that_fails_fails_the_row() {
    let expect = [exactly(Counter::Reported(DISTINCT), 1.0)];
    let found = findings_by(&Case::default(), Pass::Timed, &expect, |plan| {
        measure(plan, exiting(7), Until::Reaped)
    });
    match found {
        Err(Failure::Unsupported(reason)) => println!("skipped: {reason}"),
        Err(Failure::Failed(why)) => assert!(why.contains("status 0x700"), "{why}"),
        other => panic!("{other:?}"),
    }
}

fn checked(until: Until, status: u8, iteration: &[u64]) -> Result<(i32, u64), String> {
    let wanted = Wanted {
        until,
        status,
        left: None,
    };
    wanted
        .check(iteration)
        .map_err(|failure| failure.to_string())
}

#[test]
fn a_iteration_must_have_made_a_child_that_ended_well() {
    assert_eq!(checked(Until::Reaped, 0, &[7, 7]), Ok((7, 0)));
    assert_eq!(checked(Until::Created, 0, &[100, 7, 130, 7]), Ok((7, 30)));
    let again = checked(Until::Reaped, 0, &[-11_i64 as u64, -10_i64 as u64]).unwrap_err();
    assert!(again.contains("creating a child"), "{again}");
    let lost = checked(Until::Reaped, 0, &[7, -10_i64 as u64]).unwrap_err();
    assert!(lost.contains("waiting"), "{lost}");
    let other = checked(Until::Reaped, 0, &[7, 7 | 127 << 40]).unwrap_err();
    assert!(other.contains("status 0x7f00"), "{other}");
}

#[test]
fn a_status_that_is_wanted_must_come() {
    assert_eq!(checked(Until::Reaped, 43, &[7, 7 | 43 << 40]), Ok((7, 0)));
    assert!(checked(Until::Reaped, 43, &[7, 7]).is_err());
    assert!(checked(Until::Reaped, 43, &[7, 7 | 9 << 32]).is_err());
}

#[test]
fn a_program_that_leaves_no_marker_is_noticed() {
    let wanted = Wanted {
        until: Until::Reaped,
        status: 0,
        left: Some(1),
    };
    assert!(wanted.check(&[7, 7, 1]).is_ok() && wanted.check(&[7, 7, 0]).is_err());
}
