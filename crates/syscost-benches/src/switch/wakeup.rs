//! How late a sleeping task runs again, as a distribution.
//!
//! ## Measures
//! `via=timer`: a task sleeps until a point in time 100 µs ahead (clock_nanosleep with
//! TIMER_ABSTIME, timer slack 1 ns); its latency is by how much that point is past when it reads
//! the same clock again: interrupt, leaving the idle state, wake-up, switch, return. `via=futex`: a
//! task waits for a futex, and a process on the CPU that `cpus` names wakes it, about 100 µs later;
//! its latency is from the waker's clock reading right before its FUTEX_WAKE to the woken task's
//! first one. With `cpus=same`, which is measured only where there is no other CPU, the waker also
//! has to leave the CPU first. `cpu=idle`: no other task is started on the CPU of the sleeping
//! task. `cpu=loaded`: a busy process of the normal class is pinned to it. `class=fifo`: the
//! sleeping task is in the real-time class (SCHED_FIFO, priority 80), waker and load are not.
//! ## Does not measure
//! What the default timer slack adds
//! (`timing.sleep`); sleeps much longer than 100 µs, from which deeper idle states wake later; many sleepers together (`switch.messaging`).
//! ## Interpretation
//! The number is the median of all wake-ups: each sample is the median of many, and every wake-up
//! is in the histogram. What matters is its tail: `p99_9_ns` is reported from 2,995 wake-ups on,
//! `p99_99_ns` from 29,956 on (the careful profile), `longest_ns` always, from `singles_count`.
//! An idle CPU may wake fast or slowly: then `fast_state_ns`, `slow_state_ns` and
//! `slow_state_percent` tell the two apart. A normal task on a loaded CPU either takes the CPU immediately or waits until the
//! load's turn ends, some ms. A real-time one never waits for it; what is late then is the
//! kernel, the interrupt, or the hypervisor. Its rows are measured only with `syscost run
//! --real-time`. Two CPUs' counters may differ by some ns (`timing.tsc_skew`); the run uses them
//! only if no reading was ever seen to go backwards from one to the other. What interrupts the
//! waker between its clock reading and its wake is in the tail, too.
//! ## Source
//! cyclictest; schbench.

mod sleeper;
mod tally;

use std::hint::black_box;
use std::time::Instant;

use syscost_harness::prelude::*;
use syscost_sys::counters::{TaskReading, TaskStat};
use syscost_sys::partner::Partner;
use syscost_sys::process::{RealTime, class, descendants, set_timer_slack, timer_slack};
use syscost_sys::topology::{Relation, Topology};

use self::sleeper::Sleeper;
use self::tally::Tally;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Wakeup latency",
    tags: "wakeup latency, scheduling latency, scheduler latency, timer latency, \
        real-time latency, tail latency, cyclictest, schbench",
    expect: &[
        // Far from one: on a busy machine a timer may expire before the sleep begins. Such tries
        // are discarded, and counted.
        within(Counter::VoluntarySwitches, 0.5, 1.5),
        // They witness every sleep, before and after it.
        exactly(Counter::Syscall(Sysno::GETRUSAGE), 2.0),
        at_most(Counter::OtherSyscalls, 0.0),
        exactly(Counter::Reported("early wake-ups"), 0.0),
    ],
    revision: 2,
    roles: roles!(
        SwitchWakeup {
            via: Via::Futex,
            class: Class::Normal,
            cpu: State::Idle,
            cpus: Some(Placement::At(Relation::SameLastLevelCache)),
        } => Role::Wakeup,
    ),
    ..Benchmark::of::<SwitchWakeup>()
};

static CLASS: Witness = Witness::of("class of the task", "sched_getscheduler");

static BUSY: Witness = Witness::of("processes that keep its CPU busy", "/proc");

static WAKER: Witness = Witness::of("where its waker is", "/proc");

/// The real-time priority that is most common in such measurements.
const PRIORITY: u8 = 80;

/// What wakes the sleeping task.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Timer,
    Futex,
}

/// The scheduling class of the sleeping task.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Normal,
    Fifo,
}

/// What else runs on the sleeping task's CPU.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Loaded,
}

#[derive(Params, Clone)]
struct SwitchWakeup {
    via: Via,
    class: Class,
    cpu: State,
    /// Where the waker is.
    cpus: Option<Placement>,
}

impl Measured for SwitchWakeup {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(SwitchWakeup {
            via: Via::ALL,
            class: Class::ALL,
            cpu: State::ALL,
            cpus: [match via {
                Via::Timer => None,
                Via::Futex => Some(waker_placement(here)),
            }]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.class, self.cpu) {
            (Class::Normal, State::Idle) => Profile::Quick,
            (Class::Normal | Class::Fifo, _) => Profile::Standard,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        SwitchWakeupProofs {
            via: Proof::counted(match self.via {
                Via::Timer => [calls(Sysno::CLOCK_NANOSLEEP)],
                Via::Futex => [calls(Sysno::FUTEX)],
            }),
            class: CLASS.expects(match self.class {
                Class::Fifo => format!("SCHED_FIFO {PRIORITY}"),
                Class::Normal => "SCHED_OTHER".to_owned(),
            }),
            cpu: BUSY.expects(match self.cpu {
                State::Loaded => 1_u64,
                State::Idle => 0,
            }),
            cpus: WAKER.expects(self.cpus.map_or(NOWHERE, Placement::name)),
        }
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        match self.class {
            Class::Normal => Ok(()),
            Class::Fifo => here.targets.real_time(),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let own = TaskStat::of(TaskId::own())?;
        let load = match self.cpu {
            State::Loaded => Some(Load::start(plan.cpu())?),
            State::Idle => None,
        };
        if let Some(load) = &load {
            plan.accompanied_by(load.process.task())?;
        }
        let mut sleeper = match (self.via, self.cpus) {
            (Via::Timer, _) => Sleeper::timer(),
            (Via::Futex, Some(waker)) => {
                Sleeper::futex(&waker.cpus(plan.cpu(), plan.allowed())?, *plan.clock())?
            }
            (Via::Futex, None) => return Err(Failure::Broken("has no CPU for its waker".into())),
        };
        // Before the class, in which it cannot be set; real-time tasks have no slack.
        let slack = Slack::set()?;
        let real_time = match self.class {
            Class::Fifo => Some(RealTime::enter(PRIORITY).map_err(refused)?),
            Class::Normal => None,
        };
        let beside = Beside::look()?;
        let mut tally = Tally::default();
        let mut outcome = tally.measure(plan, || sleeper.wake_up())?;
        tally.report(&mut outcome);
        sleeper.claim(&mut outcome);
        if let Some(asked_ns) = sleeper.asked_ns() {
            tally::claim_beyond(&mut outcome, &tally, asked_ns);
        }
        if let Some(load) = &load {
            load.detail(&mut outcome, &tally)?;
        }
        outcome.observe(&CLASS, class()?.to_string());
        let ns = timer_slack()? as f64;
        outcome.claim_within("timer slack in ns", Bound::AtMost(1.0), ns, "prctl");
        drop(real_time);
        drop(slack);
        let cpu = own.processor()?;
        let named = outcome.cpu();
        outcome.claim_equal("CPU of the task", named, cpu, "/proc");
        outcome.observe(&BUSY, beside.busy_on(cpu)?);
        match place_of(sleeper.waker(), cpu) {
            Ok(place) => outcome.observe(&WAKER, place),
            Err(reason) => outcome.unobserved(&WAKER, reason),
        }
        Ok(outcome)
    }
}

/// The nearest CPU that shares no core with the sleeping task's; a nearer one if there is no such CPU.
fn waker_placement(here: &Testbed) -> Placement {
    let placements = Placement::among(&here.allowed);
    [
        Relation::SameLastLevelCache,
        Relation::OtherCache,
        Relation::OtherSocket,
        Relation::SmtSibling,
    ]
    .into_iter()
    .map(Placement::At)
    .find(|placement| placements.contains(placement))
    .unwrap_or(Placement::SAME)
}

fn refused(error: syscost_sys::SystemError) -> Failure {
    Failure::Unsupported(format!(
        "{error}; it needs CAP_SYS_NICE or an RLIMIT_RTPRIO of {PRIORITY}"
    ))
}

/// Where there is no waker.
const NOWHERE: &str = "nowhere";

/// What the CPU of this waker is to that of the task that it wakes.
fn place_of(waker: Option<&TaskStat>, cpu: u32) -> Result<&'static str, Unsupported> {
    let Some(waker) = waker else {
        return Ok(NOWHERE);
    };
    let relation = Topology::here().relation(cpu, waker.processor()?);
    let unknown = || Unsupported::new("the kernel does not say how its CPU and that one relate");
    Ok(Placement::At(relation.ok_or_else(unknown)?).name())
}

/// The processes that this one has started, as they were before the measurement.
struct Beside(Vec<(TaskStat, TaskReading)>);

impl Beside {
    fn look() -> Result<Self, Unsupported> {
        let started = descendants(std::process::id()).into_iter();
        let stats = started.map(|id| {
            let stat = TaskStat::of(TaskId {
                process: id,
                thread: id,
            })?;
            let before = stat.read()?;
            Ok((stat, before))
        });
        Ok(Self(stats.collect::<Result<_, Unsupported>>()?))
    }

    /// How many of them are on this CPU and have not slept since.
    fn busy_on(&self, cpu: u32) -> Result<u64, Unsupported> {
        let mut busy = 0;
        for (stat, before) in &self.0 {
            let slept = (stat.read()? - *before).voluntary_switches > 0 || stat.is_asleep()?;
            busy += u64::from(!slept && stat.processor()? == cpu);
        }
        Ok(busy)
    }
}

/// The minimum timer slack, until dropped.
struct Slack(u64);

impl Slack {
    fn set() -> Result<Self, Failure> {
        let unsupported = |error: syscost_sys::SystemError| Failure::Unsupported(error.to_string());
        let before = timer_slack().map_err(unsupported)?;
        set_timer_slack(1).map_err(unsupported)?;
        Ok(Self(before))
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        // The kernel accepted this value before.
        let _ = set_timer_slack(self.0);
    }
}

/// A busy process on the CPU of the task that sleeps; it ends when this is dropped, or its parent ends.
struct Load {
    process: Partner,
    stat: TaskStat,
    at_start: (Instant, TaskReading),
}

impl Load {
    fn start(cpu: u32) -> Result<Self, Failure> {
        let process = Partner::start(Between::Processes, &[cpu], || -> Result<(), String> {
            let mut sum = 0_u64;
            loop {
                sum = black_box(sum.wrapping_add(1));
            }
        })?;
        let stat = TaskStat::of(process.task())?;
        let at_start = (Instant::now(), stat.read()?);
        Ok(Self {
            process,
            stat,
            at_start,
        })
    }

    /// Details the share of the CPU that it got, and how often it was preempted: on a busy machine
    /// other tasks preempt it, too.
    fn detail(&self, b: &mut Bencher, tally: &Tally) -> Result<(), Failure> {
        let (began, before) = self.at_start;
        let used = self.stat.read()? - before;
        if let Some(run_ns) = used.run_ns {
            let percent = 100.0 * run_ns as f64 / began.elapsed().as_nanos() as f64;
            b.detail("load_ran_percent", percent);
        }
        let preempted = used.involuntary_switches as f64 / tally.tries().max(1) as f64;
        b.detail("load_preemptions_per_wake_up", preempted);
        Ok(())
    }
}
