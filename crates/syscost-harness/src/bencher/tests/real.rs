//! A bencher on the system's clock, for what tasks really do.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use syscost_results::{Evidence, Verdict};
use syscost_sys::clock::Clock;
use syscost_sys::partner::{Between, Partner};
use syscost_sys::{Unsupported, cpu};

use crate::bencher::{Findings, Outcome, Plan, Situation};
use crate::bencher::{Stop, TaskGroup, Team};
use crate::case::Case;
use crate::clock::ClockCost;
use crate::cores::Cores;
use crate::expect::Expect;
use crate::failure::Failure;
use crate::pass::Pass;
use crate::profile::Effort;
use crate::testbed::Testbed;

const EFFORT: Effort = Effort {
    warm_up_ns: 1e5,
    case_ns: 1e6,
    ..super::EFFORT
};

/// The first two CPUs; an error where there are fewer.
pub(in crate::bencher) fn two_cpus() -> Result<Vec<u32>, Unsupported> {
    let allowed = cpu::allowed().unwrap_or_default();
    let two = allowed.get(..2).map(<[u32]>::to_vec);
    two.ok_or(Unsupported::new("needs two CPUs"))
}

/// What a measurement on the first of these CPUs finds of a case, in a separate thread,
/// which is pinned as a worker is.
pub(in crate::bencher) fn found_of(
    case: &Case,
    cpus: &[u32],
    pass: Pass,
    declared: &[Expect],
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure> + Send,
) -> Result<Findings, Failure> {
    found_on(&crate::cores::UNKNOWN, case, cpus, pass, declared, measure)
}

/// The same where this is known of cores.
pub(in crate::bencher) fn found_on(
    cores: &Cores,
    case: &Case,
    cpus: &[u32],
    pass: Pass,
    declared: &[Expect],
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure> + Send,
) -> Result<Findings, Failure> {
    let found = || {
        cpu::pin(cpus[0]).expect("the CPU is allowed");
        let clock = Clock::system();
        let here = Testbed {
            allowed: cpus.to_vec(),
            ..Testbed::plain()
        };
        let situation = Situation {
            clock_cost: ClockCost {
                step_ns: 1.0,
                read_ns: 40.0,
            },
            cpu: cpus[0],
            here: &here,
            ..super::situation(case, pass, &EFFORT, &clock, cores)
        };
        measure(Plan::new(declared, situation))?.finish()
    };
    std::thread::scope(|scope| scope.spawn(found).join().expect("no panic"))
}

/// The worst verdict on a claim.
pub(in crate::bencher) fn verdict_of(findings: &Findings, claim: &str) -> Verdict {
    let mut evidence: Vec<&Evidence> = findings.evidence.iter().collect();
    evidence.retain(|one| one.claim.sentence == claim);
    let worst = evidence.iter().map(|one| one.verdict).max();
    worst.unwrap_or_else(|| panic!("nothing claims {claim}: {:?}", findings.evidence))
}

/// The result of `body` beside a busy loop on each of these CPUs.
pub(in crate::bencher) fn beside_busy_loops<T>(cpus: &[u32], body: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    let spin_on = |cpu: u32| {
        let _ = cpu::pin(cpu);
        while !is_over.load(Relaxed) {
            std::hint::spin_loop();
        }
    };
    std::thread::scope(|scope| {
        for cpu in cpus {
            scope.spawn(|| spin_on(*cpu));
        }
        let result = body();
        is_over.store(true, Relaxed);
        result
    })
}

/// A process that keeps this CPU busy until it is dropped.
pub(in crate::bencher) fn busy_process(cpu: u32) -> Partner {
    let spin = || -> Result<(), String> {
        loop {
            std::hint::spin_loop();
        }
    };
    Partner::start(Between::Processes, &[cpu], spin).expect("it only spins")
}

/// A team with this many partners, each of which takes turns until it is stopped; the measuring task
/// takes one in each iteration.
pub(in crate::bencher) fn team_of<'t>(
    (between, partners): (Between, usize),
    cpus: &[u32],
    theirs: fn(),
    own: fn(),
) -> Result<Team<'t>, Failure> {
    let mut workers = TaskGroup::new(between)?;
    for _ in 0..partners {
        let work = move |(): &mut (), stop: &Stop| {
            while !stop.is_set() {
                theirs();
            }
            Ok::<_, Failure>(())
        };
        workers.add(cpus, || Ok(()), work)?;
    }
    let driver = move |iterations| {
        (0..iterations).for_each(|_| own());
        Ok(())
    };
    Ok(workers.driven_by(driver).map(drop))
}
