use std::time::Duration;

use syscost_results::Verdict;
use syscost_sys::partner::Between;

use super::*;
use crate::bencher::tests::real::{found_of, team_of, verdict_of};
use crate::bencher::{Loop, Together};
use crate::case::Case;
use crate::expect::{at_most, within};
use crate::pass::Pass;
use crate::placement::Placement;

fn counted(voluntary_switches: u64, switches: u64, run_ns: Option<u64>) -> Counted {
    Counted {
        voluntary_switches,
        switches,
        run_ns,
        ..Counted::default()
    }
}

#[test]
fn others_preempt_now_and_then_and_own_tasks_all_the_time() {
    let bound = Bound::Within(0.95, 1.15);
    let hops = 1000;
    // Hops of 60 us on a busy machine.
    let disturbed = counted(1000, 1165, Some(60_000_000));
    assert!(disturbed.may_be_background_tasks(bound, hops));
    // Hops of 60 us beside a build.
    let often = counted(3072, 3867, Some(184_000_000));
    assert!(often.may_be_background_tasks(bound, 3072));
    // Hops of 2 us; in every fifth, the woken task preempts the one that woke it.
    let own = counted(1000, 1200, Some(2_000_000));
    assert!(!own.may_be_background_tasks(bound, hops));
    // Yields: none of their switches is voluntary.
    let twice = counted(0, 2000, Some(500_000));
    assert!(!twice.may_be_background_tasks(Bound::Within(0.95, 1.05), hops));
}

/// What was counted for a measuring task that ran and was preempted this often, and for others that
/// ran this long.
fn tasks(preempted: u64, others_ns: &[u64]) -> Counted {
    let of = |involuntary_switches, run_ns| TaskReading {
        involuntary_switches,
        run_ns: Some(run_ns),
        ..TaskReading::default()
    };
    let others = others_ns.iter().map(|run_ns| of(0, *run_ns));
    let each: Vec<TaskReading> = [of(preempted, 300_000)].into_iter().chain(others).collect();
    Counted::of_tasks(&each)
}

#[test]
fn no_other_task_of_its_own_preempts_the_only_one_that_runs() {
    let expect = at_most(Counter::Switches, 0.001);
    let excuse =
        |counted: Counted, others| counted.beside(Some(others), 400e3).excuse(&expect, 100);
    // Waiters that sleep throughout, and programs that have the CPU for some microseconds each
    // time.
    assert_eq!(excuse(tasks(18, &[0; 8]), 0.25), Some(BACKGROUND_TASKS));
    assert_eq!(excuse(tasks(18, &[]), 0.25), Some(BACKGROUND_TASKS));
    // Nobody else ran, or a partner may have been what preempted it.
    assert_eq!(excuse(tasks(18, &[0; 8]), 0.0), None);
    assert_eq!(excuse(tasks(48, &[100_000]), 0.25), None);
}

#[test]
fn tasks_that_yield_go_on_while_their_reader_waits_for_its_cpu() {
    let expect = within(Counter::Switches, 0.95, 1.05);
    let seen = |switches, others| {
        let yields = tasks(switches, &[300_000; 7]).beside(Some(others), 3e6);
        yields.excuse(&expect, 128)
    };
    assert_eq!(seen(147, 0.2), Some(BACKGROUND_TASKS));
    assert_eq!(seen(256, 0.2), None, "two switches a yield");
}

#[test]
fn waits_beside_others_sleep_more_or_less_often_and_never_not_at_all() {
    let seen = |bound, voluntary| counted(voluntary, 0, None).may_be_sleeps(bound, 100);
    let once = Bound::Within(1.75, 2.5);
    assert!(seen(once, 119) && seen(once, 269));
    assert!(!seen(once, 0) && !seen(once, 400));
    // What never sleeps does not wait for others either.
    let never = Bound::AtMost(0.02);
    assert!(!seen(never, 30));
}

#[test]
fn few_faults_in_much_time_change_nothing() {
    let copies = |minor_faults, run_ns| Counted {
        minor_faults,
        ..counted(0, 0, run_ns)
    };
    let bound = Bound::AtMost(0.01);
    assert!(copies(4, Some(20_000_000)).are_harmless(bound, 170));
    assert!(!copies(400, Some(20_000_000)).are_harmless(bound, 170));
    assert!(copies(100, Some(20_000_000)).are_harmless(bound, 170));
    assert!(!copies(103, Some(20_000_000)).are_harmless(bound, 170));
    assert!(!copies(4, None).are_harmless(bound, 170));
}

#[test]
fn partners_have_separate_cpus_only_if_there_are_enough() {
    assert!(Placed::of(0, 1, &[0]) == Placed::OneCpu);
    assert!(Placed::of(0, 1, &[0, 1]) == Placed::AnyCpu);
    assert!(Placed::of(0, 2, &[1]) == Placed::AnyCpu);
    assert!(Placed::of(0, 1, &[1]) == Placed::SeparateCpus);
}

#[test]
fn tasks_that_wait_on_separate_cpus_need_not_sleep_each_time() {
    let bound = Bound::Within(1.9, 2.1);
    let here = |switches| counted(switches, switches, None);
    let apart = |switches| {
        here(switches)
            .placed(Placed::SeparateCpus)
            .may_be_early(bound, 1000)
    };
    assert!(apart(1070));
    // On one CPU each must make way for the other.
    assert!(!here(1070).may_be_early(bound, 1000));
    // Neither side sleeps: they spin.
    assert!(!apart(900));
    assert!(!apart(2200));
    // Nor here, where busy programs preempt them.
    let expect = within(Counter::Switches, 1.9, 2.1);
    let spinning = counted(0, 2000, Some(2_000_000_000)).placed(Placed::SeparateCpus);
    assert_eq!(spinning.own_switches(), 0);
    assert_eq!(spinning.excuse(&expect, 1000), None);
    // Whoever sleeps, but was preempted in every second turn, found its answer there.
    let seen = |voluntary, switches| {
        let counted = counted(voluntary, switches, Some(2_000_000_000));
        counted.placed(Placed::SeparateCpus).excuse(&expect, 1000)
    };
    assert_eq!(seen(600, 1100), None);
    assert_eq!(seen(750, 1250), Some(EARLY));
    // A few sleeps are none, however often one is preempted.
    assert_eq!(seen(400, 9000), None);
    // Where the scheduler puts both on one CPU, they may yield to each other.
    assert_eq!(spinning.placed(Placed::AnyCpu).own_switches(), 2000);
}

#[test]
fn yields_beside_other_tasks_may_go_to_these() {
    let bound = Bound::Within(0.95, 1.05);
    let seen = |voluntary, switches| {
        counted(voluntary, switches, None).may_be_yields_to_others(bound, 1000)
    };
    assert!(seen(0, 917));
    // There is no partner to yield to, whatever else runs.
    assert!(!seen(0, 300));
    // Nor here, but each yield leads to another program: two switches were claimed.
    assert!(!counted(0, 1030, None).may_be_yields_to_others(Bound::Within(1.9, 2.1), 1000));
    // Tasks that sleep switch each time, whatever others do.
    assert!(!seen(900, 917) && !seen(11, 917) && seen(9, 917));
    assert!(!seen(0, 1200));
}

#[test]
fn others_are_switched_to_as_often_as_their_time_allows() {
    let bound = Bound::Within(0.95, 1.05);
    let seen = |voluntary, switches, others, passed_ns| {
        let counted = counted(voluntary, switches, Some(300_000)).beside(others, passed_ns);
        counted.may_be_background_tasks(bound, 100)
    };
    // Wake-ups beside a busy loop, which gets a slice during each of them.
    assert!(seen(100, 193, Some(0.94), 300e6));
    // A task falls asleep by itself.
    assert!(!seen(193, 193, Some(0.94), 300e6));
    // Tasks that yield eight times, whatever else runs.
    assert!(!seen(0, 800, Some(0.5), 2e6));
    assert!(!seen(100, 193, None, 300e6));
}

#[test]
fn beside_others_a_wake_may_cost_the_waker_its_turn() {
    let expect = within(Counter::Switches, 0.95, 1.05);
    let seen = |voluntary, switches, others| {
        let counted = counted(voluntary, switches, Some(3_000_000)).beside(others, 5e6);
        counted.excuse(&expect, 100)
    };
    // Wake-ups in 5 ms beside a program that has 42 % of the CPU: few slices of it, but 100 wake-ups.
    assert_eq!(seen(100, 181, Some(0.42)), Some(BACKGROUND_TASKS));
    // Each wake-up allows one such moment.
    assert_eq!(seen(100, 281, Some(0.42)), None);
    // A task's own sleep is not a preemption.
    assert_eq!(seen(150, 181, Some(0.42)), None);
    // Nor are there others where the kernel does not say so.
    assert_eq!(seen(100, 181, None), None);
}

#[test]
fn only_background_tasks_excuse_yields_to_others() {
    let expect = within(Counter::Switches, 0.95, 1.05);
    let seen = |others| counted(0, 917, None).beside(others, 1e6);
    assert_eq!(
        seen(Some(0.3)).excuse(&expect, 1000),
        Some(YIELDS_TO_OTHERS)
    );
    // On separate CPUs, or where the kernel does not report it.
    assert_eq!(seen(None).excuse(&expect, 1000), None);
}

#[test]
fn preemptions_are_excused_up_to_a_limit() {
    // In 300 us that tasks ran, three; of others' 3 ms, one for each slice that they kept.
    let bound = Bound::Within(0.95, 1.05);
    let seen = |switches| {
        let counted = counted(0, switches, Some(300_000)).beside(Some(0.03), 100e6);
        counted.may_be_background_tasks(bound, 100)
    };
    assert!(seen(111) && !seen(112));
    // Of others' 4 us, one each, where no other task of its own ran. Should others want this CPU now, two
    // more.
    let expect = at_most(Counter::Switches, 0.001);
    let seen = |preempted| {
        let counted = tasks(preempted, &[]).beside(Some(0.01), 400e3);
        counted.excuse(&expect, 100).is_some()
    };
    assert!(seen(7) && !seen(10));
}

#[test]
fn sleeps_and_missing_switches_are_not_caused_by_others() {
    let bound = Bound::Within(0.95, 1.15);
    assert!(!counted(1200, 1200, Some(u64::MAX)).may_be_background_tasks(bound, 1000));
    assert!(!counted(500, 500, Some(u64::MAX)).may_be_background_tasks(bound, 1000));
    assert!(!counted(1000, 1151, None).may_be_background_tasks(bound, 1000));
}

#[test]
fn tasks_that_the_scheduler_places_are_preempted_by_others_too() {
    let expect = within(Counter::Switches, 1.0, 2.1);
    // A hundred connections beside seven other runs.
    let seen = |others| {
        let counted = counted(200, 228, Some(1_200_000)).placed(Placed::AnyCpu);
        counted.beside(others, 16e6).excuse(&expect, 100)
    };
    assert_eq!(seen(Some(0.8)), Some(BACKGROUND_TASKS));
    assert_eq!(seen(None), None);
}

/// The verdict on voluntary switches in the timed pass of an operation that declares none.
fn timed_verdict(operation: fn()) -> Verdict {
    let cpus = syscost_sys::cpu::allowed().expect("some");
    let case = Case::default();
    let findings = found_of(&case, &cpus[..1], Pass::Timed, &[], |plan| {
        plan.measure(Loop::infallible(operation))
    });
    let findings = findings.expect("measured");
    let verdict = verdict_of(&findings, "voluntary switches per timed operation");
    let faults = verdict_of(&findings, "minor page faults per timed operation");
    assert_eq!(faults, Verdict::Confirmed);
    verdict
}

#[test]
fn what_is_done_only_where_it_is_timed_is_counted_there() {
    assert_eq!(timed_verdict(std::hint::spin_loop), Verdict::Confirmed);
    let sleep = || std::thread::sleep(Duration::from_micros(1));
    assert_eq!(timed_verdict(sleep), Verdict::Refuted);
}

#[test]
fn what_tasks_do_together_is_counted_where_it_is_timed() {
    let cpus = syscost_sys::cpu::allowed().expect("some");
    let case = Case::default();
    let verdict = |own: fn(), count: f64| {
        let declared = [crate::expect::switches(count)];
        let findings = found_of(&case, &cpus[..1], Pass::Timed, &declared, |plan| {
            plan.measure(Together::of(Placement::SAME, |cpus| {
                team_of(
                    (Between::Threads, 1),
                    cpus,
                    || std::thread::park_timeout(Duration::from_secs(1)),
                    own,
                )
            }))
        });
        let claim = "switches of all its tasks per timed operation";
        verdict_of(&findings.expect("measured"), claim)
    };
    let sleep = || std::thread::sleep(Duration::from_micros(1));
    // Other tests may be on the CPU.
    assert_ne!(verdict(sleep, 1.0), Verdict::Refuted);
    // More than its name says, and fewer.
    assert_ne!(verdict(sleep, 0.3), Verdict::Confirmed);
    assert_eq!(verdict(std::hint::spin_loop, 1.0), Verdict::Refuted);
}
