//! What others take of an operation's time: batches are planned without it, samples that have it are
//! tagged, and what it explains of those that count is told.

use std::collections::BTreeMap;

use syscost_results::measurement::Cause;
use syscost_sys::counters::{SchedStat, TaskId, own_run_ns};
use syscost_sys::partner::{Between, Partner};

use super::*;
use crate::bencher::watch::Waits;

/// One stall of a few time slices.
const STALL_NS: u64 = 2_000_000;

/// Iterations in the batches of an operation of 1 us, each of which begins with a stall in the first
/// `stalled` batches, where an earlier process found `known`.
fn planned(stalled: u32, known: Option<u64>) -> u64 {
    mock::reset();
    let (case, clock) = (Case::default(), Clock::mock());
    let given = Situation {
        iterations: known,
        ..situation(&case, Pass::Timed, &EFFORT, &clock, &crate::cores::UNKNOWN)
    };
    let mut batches = 0;
    let outcome = Plan::new(&[], given).measure(Loop::batches(1, |n| {
        if batches < stalled {
            mock::wait_ns(STALL_NS);
        }
        batches += 1;
        mock::advance_ns(1_000 * n);
        Ok(())
    }));
    let findings = outcome.and_then(Outcome::finish).expect("measured");
    findings.samples.iterations
}

#[test]
fn a_batch_is_as_long_as_its_operations_last_however_often_they_are_stalled() {
    let undisturbed = planned(0, None);
    // 10 us are wanted.
    assert!((10..=16).contains(&undisturbed), "{undisturbed}");
    for stalled in [1, 2, 3, 5, 1_000] {
        assert_eq!(planned(stalled, None), undisturbed, "{stalled}");
    }
}

#[test]
fn a_plan_that_fills_next_to_nothing_of_a_batch_is_made_anew() {
    assert_eq!(planned(0, Some(1)), 10);
    // A neighbour on the core may have been there when it was made.
    assert_eq!(planned(0, Some(5)), 5);
    assert_eq!(planned(0, Some(40)), 40);
}

/// Single operations of 100 us that may sleep; in some samples they wait for a CPU, and so does what
/// prepares them.
fn waiting_singles(waits: impl Fn(u32) -> bool) -> Findings {
    let (case, clock) = (Case::default(), Clock::mock());
    let declared = [at_most(Counter::VoluntarySwitches, 20.0)];
    let plan = plan(&case, &declared, &clock, Pass::Timed);
    // Three precede the first sample.
    let mut made = 0_u32;
    let prepare = || {
        mock::wait_ns(STALL_NS);
        Ok(())
    };
    let outcome = plan.measure(Single::of(prepare, || {
        if made >= 3 && waits(made - 3) {
            mock::wait_ns(STALL_NS);
        }
        made += 1;
        mock::advance_ns(100_000);
        Ok(())
    }));
    outcome.and_then(Outcome::finish).expect("measured")
}

fn tagged(findings: &Findings, cause: Cause) -> Vec<u32> {
    let tags = findings.samples.disturbed.iter();
    tags.filter(|tag| tag.cause == cause)
        .map(|tag| tag.sample)
        .collect()
}

#[test]
fn of_operations_that_may_sleep_those_that_waited_for_a_cpu_are_tagged() {
    let findings = waiting_singles(|sample| [1, 4, 5].contains(&sample));
    assert_eq!(tagged(&findings, Cause::RunDelay), [1, 4, 5]);
    assert!(findings.explained.is_empty(), "{:?}", findings.explained);
    assert!(waiting_singles(|_| false).samples.disturbed.is_empty());
}

#[test]
fn where_hardly_any_operation_did_not_wait_it_is_told_how_much_of_the_time_is_waiting() {
    let findings = waiting_singles(|sample| sample != 3);
    assert_eq!(tagged(&findings, Cause::RunDelay).len(), 9);
    // Nine of ten wait for 2 ms of 2.1.
    let share = findings.explained[&Cause::RunDelay];
    assert!((0.94..0.96).contains(&share), "{share}");
}

/// Batches of 10 us, in each of which `interrupts` take 1 us in all.
fn interrupted(interrupts: u64, shape: impl Fn(u64)) -> Findings {
    timed(|plan| {
        mock::set_read_cost_ns(2);
        plan.measure(Loop::batches(1, |n| {
            mock::advance_ns(1_000 * n);
            mock::interrupt_ns(interrupts, 1_000);
            shape(n);
            Ok(())
        }))
    })
    .expect("measured")
}

/// Costs of the clock's readings of which those after the last batch have gaps of 1 us, and shorter
/// ones that no interrupt leaves.
fn gaps(_: u64) {
    mock::script_reads([2; 8].into_iter().chain([100, 1_000, 100].repeat(40)));
}

#[test]
fn interrupts_in_most_batches_explain_a_share_of_their_time() {
    let findings = interrupted(1, gaps);
    let share = findings.explained[&Cause::Interrupted];
    assert!((0.05..0.15).contains(&share), "1 us of 11 or so: {share}");
}

#[test]
fn without_interrupts_or_the_gaps_that_they_leave_none_are_told() {
    assert!(interrupted(0, gaps).explained.is_empty());
    assert!(interrupted(1, |_| ()).explained.is_empty());
}

/// Batches of an operation that sleeps, in each of which interrupts take most of the time.
fn sleeping(batch: impl Fn(u64)) -> Findings {
    let (case, clock) = (Case::default(), Clock::mock());
    let declared = [at_most(Counter::VoluntarySwitches, 20.0)];
    let plan = plan(&case, &declared, &clock, Pass::Timed);
    mock::set_read_cost_ns(2);
    let outcome = plan.measure(Loop::batches(1, |n| {
        mock::interrupt_ns(n, 1_000 * n);
        batch(n);
        Ok(())
    }));
    outcome.and_then(Outcome::finish).expect("measured")
}

#[test]
fn interrupts_that_end_with_an_operation_that_sleeps_are_its_own() {
    let explained = sleeping(|_| ()).explained;
    assert!(explained.is_empty(), "{explained:?}");
    let explained = sleeping(gaps).explained;
    assert!(explained.contains_key(&Cause::Interrupted), "{explained:?}");
}

#[test]
fn no_sample_of_tasks_that_sleep_counts_beside_another_program_on_their_cpu() {
    let findings = sleeping(|_| mock::contend());
    assert_eq!(
        findings.explained,
        BTreeMap::from([(Cause::Contended, 1.0)])
    );
    let samples = findings.samples.values.len();
    assert_eq!(tagged(&findings, Cause::Contended).len(), samples);
    // What never sleeps has the CPU or has it not.
    let alone = timed(|plan| {
        mock::contend();
        plan.measure(Loop::batches(1, |n| {
            mock::advance_ns(1_000 * n);
            Ok(())
        }))
    });
    assert!(alone.expect("measured").explained.is_empty());
}

/// What is found on a CPU that another program keeps busy; nothing where the kernel does not report how
/// long tasks wait.
fn found_beside(
    declared: &[Expect],
    measure: impl FnOnce(Plan, TaskId) -> Result<Outcome, Failure> + Send,
) -> Option<Findings> {
    let cpus = syscost_sys::cpu::allowed().expect("some");
    if SchedStat::open().is_err() {
        println!("skipped: the kernel does not report how long tasks wait");
        return None;
    }
    let other = real::busy_process(cpus[0]);
    let findings = real::found_of(
        &Case::default(),
        &cpus[..1],
        Pass::Timed,
        declared,
        |plan| measure(plan, other.task()),
    );
    Some(findings.expect("measured"))
}

#[test]
fn what_others_of_its_family_waited_for_is_a_part_of_an_operation_that_waits_for_them() {
    // A worker has no other threads than those of its operation.
    let cpus = syscost_sys::cpu::allowed().expect("some");
    let worker =
        Partner::start(Between::Processes, &cpus[..1], behind_a_program).expect("it starts");
    worker.join().expect("most of its time was waited for");
}

fn behind_a_program() -> Result<(), String> {
    let declared = [at_most(Counter::VoluntarySwitches, 20.0)];
    let found = found_beside(&declared, |plan, _| {
        plan.measure(Observed::of(|| {
            // Behind a program of the usual priority for most of the time, which this task sleeps.
            let child = std::thread::spawn(|| {
                let _ = rustix::process::nice(19);
                while own_run_ns() < 5_000_000 {}
            });
            child.join().expect("it only spins");
            Ok(1.0)
        }))
    });
    let is_told = |found: Findings| {
        let share = found.explained.get(&Cause::RunDelay);
        share.is_some_and(|share| *share > 0.5) || !tagged(&found, Cause::RunDelay).is_empty()
    };
    match found.is_none_or(is_told) {
        true => Ok(()),
        false => Err("it seems to have waited for nobody".to_owned()),
    }
}

fn is_contended(found: Findings) -> bool {
    found.explained.contains_key(&Cause::Contended)
}

#[test]
fn what_the_rows_name_puts_on_the_cpu_is_no_other_program() {
    let declared = [at_most(Counter::VoluntarySwitches, 20.0)];
    let found = found_beside(&declared, |mut plan, other| {
        plan.accompanied_by(other)?;
        plan.measure(Observed::of(|| {
            std::thread::sleep(std::time::Duration::from_micros(50));
            Ok(1.0)
        }))
    });
    assert!(!found.is_some_and(is_contended));
}

#[test]
fn waits_are_a_share_of_what_the_values_are_times_of() {
    let declared = [at_most(Counter::VoluntarySwitches, 20.0)];
    let share = |times: Option<usize>| {
        let (case, clock) = (Case::default(), Clock::mock());
        let plan = plan(&case, &declared, &clock, Pass::Timed);
        let sleep = || {
            mock::advance_ns(1_000_000);
            mock::wait_ns(30_000);
            Ok(50_000.0)
        };
        let observed = Observed::of(sleep);
        let outcome = plan.measure(match times {
            Some(times) => observed.time_of_one_in(times),
            None => observed,
        });
        let findings = outcome.and_then(Outcome::finish).expect("measured");
        (findings.explained[&Cause::RunDelay] * 100.0).round()
    };
    assert_eq!(
        [share(None), share(Some(1)), share(Some(2))],
        [3.0, 60.0, 30.0]
    );
}

#[test]
fn a_row_says_where_nothing_tells_how_long_its_tasks_waited() {
    let (case, clock) = (Case::default(), Clock::mock());
    let mut plan = plan(&case, &[], &clock, Pass::Timed);
    for (may_block, is_unknown) in [(true, true), (false, false)] {
        plan.waits = Waits::untold(clock, may_block);
        assert_eq!(plan.waits.are_unknown(), is_unknown);
    }
    plan.waits = Waits::untold(clock, true);
    plan.explain_waits(&[]);
    let evidence = plan.findings.evidence.last().expect("claimed");
    assert_eq!(evidence.verdict, Verdict::Unverified);
    assert_eq!(evidence.claim.sentence, crate::bencher::WAITED_SHARE);
}

#[test]
fn an_observation_that_sleeps_is_contended_though_nothing_says_that_it_sleeps() {
    let observe = |operation: fn()| {
        found_beside(&[], |plan, _| {
            plan.measure(Observed::of(|| {
                operation();
                Ok(1.0)
            }))
        })
    };
    let sleep = || std::thread::sleep(std::time::Duration::from_micros(50));
    assert!(observe(sleep).is_none_or(is_contended));
    assert!(!observe(std::hint::spin_loop).is_some_and(is_contended));
}
