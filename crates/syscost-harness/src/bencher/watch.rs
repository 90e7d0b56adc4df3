//! What could have disturbed a sample, as the kernel reports.

use std::cell::Cell;

use syscost_results::measurement::Cause;
use syscost_sys::clock::{Clock, Source, mock};
use syscost_sys::counters::{FamilyRun, SchedStat, TaskId, Usage, own_run_ns};

use super::background;
use crate::placement::Placed;

/// Maximum share of a time for which the tasks of an operation may have waited for a CPU: beyond it
/// others are a part of the cost.
pub(super) const MAX_WAITED: f64 = 0.1;

/// Maximum number of tasks whose waiting is read around what is timed, at about 1 us each: those of
/// more would fill the caches with data of /proc.
const MAX_TASKS: usize = 8;

/// Reads how long the tasks of an operation were ready and did not run because others did.
pub(super) struct Waits {
    clock: Clock,
    /// The measuring task's statistics, then those of its partners.
    tasks: Vec<SchedStat>,
    ran: Ran,
    programs: Option<Programs>,
    /// Tasks that run on this CPU because the row's name says so: they are no others.
    company: Vec<SchedStat>,
    /// Whether others wanted this CPU when a sample was first found to have waited.
    others: Cell<Option<bool>>,
}

/// Programs that this task has started and waited for.
#[derive(Debug, Clone, Copy, Default)]
struct Programs {
    /// How long they were ready and did not run.
    delay_ns: u64,
    /// Whether one of them had several tasks.
    had_several_tasks: bool,
}

/// Whose running is the operation itself, though a task of it is ready meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// Nobody's: the task never sleeps, or each has a CPU to itself.
    Nobody,
    /// Nobody's, of several tasks of which each has a CPU to itself and never sleeps.
    NobodyOfSeveral,
    /// That of this process and its children, which may share the task's CPU.
    Family,
    /// That of all tasks, which take turns on one CPU.
    Tasks,
}

/// One reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    ticks: u64,
    ran_ns: u64,
    delay_ns: u64,
    family: Option<FamilyRun>,
}

/// How long tasks waited in a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Waited {
    pub(super) ns: f64,
    /// The length of the stretch, or of what of it is the value.
    pub(super) of_ns: f64,
}

impl Waited {
    pub(super) fn share(self) -> f64 {
        match self.of_ns > 0.0 {
            true => (self.ns / self.of_ns).min(1.0),
            false => 0.0,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            ns: self.ns + other.ns,
            of_ns: self.of_ns + other.of_ns,
        }
    }
}

impl Waits {
    /// Those of this task; one that may sleep can be kept waiting by what it wakes or starts, which is no
    /// waiting for others.
    pub(super) fn alone(clock: Clock, may_block: bool, company: Vec<SchedStat>) -> Self {
        let ran = match may_block {
            true => Ran::Family,
            false => Ran::Nobody,
        };
        Self {
            company,
            ..Self::of(clock, SchedStat::open().into_iter().collect(), ran)
        }
    }

    /// Those of tasks, this one first. Nothing is known of too many to read, nor of tasks that the
    /// scheduler places, which may wait for each other.
    pub(super) fn of_team(clock: Clock, tasks: &[TaskId], placed: Placed, may_sleep: bool) -> Self {
        let is_known = placed != Placed::AnyCpu && tasks.len() <= MAX_TASKS;
        let known = if is_known { tasks } else { &[] };
        let tasks: Result<Vec<_>, _> = known.iter().map(|task| SchedStat::of(*task)).collect();
        let ran = match placed {
            Placed::OneCpu => Ran::Tasks,
            Placed::SeparateCpus if !may_sleep => Ran::NobodyOfSeveral,
            Placed::AnyCpu | Placed::SeparateCpus => Ran::Nobody,
        };
        Self::of(clock, tasks.unwrap_or_default(), ran)
    }

    fn of(clock: Clock, tasks: Vec<SchedStat>, ran: Ran) -> Self {
        Self {
            clock,
            tasks,
            ran,
            programs: None,
            company: Vec::new(),
            others: Cell::default(),
        }
    }

    /// Those of this task where the kernel does not report them.
    #[cfg(test)]
    pub(super) fn untold(clock: Clock, may_block: bool) -> Self {
        Self {
            tasks: Vec::new(),
            ..Self::alone(clock, may_block, Vec::new())
        }
    }

    /// From now on the operation is what programs do that this task starts and waits for.
    pub(super) fn begin_programs(&mut self) {
        self.programs = Some(Programs::default());
        self.ran = Ran::Family;
    }

    /// Adds a program that has ended, how long it was ready and did not run, and whether it had
    /// several tasks.
    pub(super) fn add_program(&mut self, delay_ns: u64, had_several_tasks: bool) {
        let programs = self.programs.get_or_insert_default();
        programs.delay_ns += delay_ns;
        programs.had_several_tasks |= had_several_tasks;
    }

    /// Whether this task only waits for others to do the operation, or may sleep in it.
    pub(super) fn may_sleep(&self) -> bool {
        matches!(self.ran, Ran::Family | Ran::Tasks)
    }

    /// Whether tasks on one CPU wake each other: another one that is ready there changes how. Beside tasks
    /// that the row's name puts there nothing is known of others.
    pub(super) fn are_of_several_tasks(&self) -> bool {
        let programs = self.programs;
        self.may_sleep()
            && self.are_of_stretches()
            && self.company.is_empty()
            && programs.is_none_or(|all| all.had_several_tasks)
    }

    /// Whether they are known for each stretch of time. A partner that sleeps on a CPU of its own may have
    /// been waiting for long when it is read, which counts only once it runs.
    pub(super) fn are_of_stretches(&self) -> bool {
        self.ran != Ran::Nobody && !self.tasks.is_empty()
    }

    /// Whether nothing tells how long a task waited that may have. Of too many tasks to read it is known as
    /// a whole.
    pub(super) fn are_unknown(&self) -> bool {
        self.ran == Ran::Family && self.tasks.is_empty() && self.programs.is_none()
    }

    /// Whether others want this CPU: a wait that they did not cause is a part of the operation.
    pub(super) fn are_of_others(&self) -> bool {
        // What programs waited for one another is known, and is none of it.
        let is_known = self.programs.is_some() || self.clock.source() == Source::Mock;
        let never_sleeps = self.ran == Ran::NobodyOfSeveral;
        is_known || never_sleeps || self.others.get() == Some(true) || background::is_there()
    }

    /// Looks for others at the first long wait: once all samples are taken they may have gone.
    fn look_for_others(&self) {
        if self.others.get().is_none() {
            self.others.set(Some(self.are_of_others()));
        }
    }

    /// Whether a sample was kept waiting for long, beyond what every one is, the `least` of all:
    /// the kernel accounts for a part of an exit or a switch to nobody, which looks like waiting,
    /// 10 % of a fork. Of a whole program that is a smaller part, and beside a busy loop every one
    /// waits. Tasks that never sleep wait for nobody but others.
    pub(super) fn is_long(&self, waited: Waited, least: f64) -> bool {
        if self.ran == Ran::NobodyOfSeveral {
            return waited.ns > 0.0;
        }
        let least = self.programs.map_or(least, |_| 0.0);
        waited.share() - least > MAX_WAITED
    }

    /// A reading; `None` where the kernel does not report it.
    pub(super) fn now(&self) -> Option<Moment> {
        if self.clock.source() == Source::Mock {
            return Some(Moment {
                ticks: mock::now_ns(),
                ran_ns: 0,
                delay_ns: mock::waited_ns(),
                family: None,
            });
        }
        let ticks = self.clock.stop().ticks;
        if let Some(Programs { delay_ns, .. }) = self.programs {
            // That this task waits once they have ended matters to none of them.
            return Some(Moment {
                ticks,
                ran_ns: FamilyRun::read().ok()?.ns,
                delay_ns,
                family: None,
            });
        }
        let (mut ran_ns, mut delay_ns) = (own_run_ns(), 0);
        for (number, task) in self.tasks.iter().enumerate() {
            let now = task.read().ok()?;
            delay_ns += now.run_delay_ns;
            // Its own time is not up to date in /proc.
            ran_ns += if number == 0 { 0 } else { now.run_ns };
        }
        let family = match self.ran {
            Ran::Family => Some(FamilyRun::read().ok()?),
            Ran::Nobody | Ran::NobodyOfSeveral | Ran::Tasks => None,
        };
        ran_ns = family.map_or(ran_ns, |family| family.ns);
        for task in &self.company {
            ran_ns += task.read().ok()?.run_ns;
        }
        (!self.tasks.is_empty()).then_some(Moment {
            ticks,
            ran_ns,
            delay_ns,
            family,
        })
    }

    /// How long tasks waited for others since a reading; nothing where it is not known.
    pub(super) fn since(&self, before: Option<Moment>) -> Waited {
        let Some((before, now)) = before.zip(self.now()) else {
            return Waited::default();
        };
        let of_ns = self.clock.to_ns(now.ticks.saturating_sub(before.ticks));
        let delay_ns = now.delay_ns.saturating_sub(before.delay_ns) as f64;
        let ran_ns = now.ran_ns.saturating_sub(before.ran_ns) as f64;
        let family = now.family.zip(before.family);
        let had_family = family.is_some_and(|(now, before)| now.had_others_since(&before));
        let others_ns = match had_family && ran_ns > of_ns {
            true => of_ns,
            false => (of_ns - ran_ns).max(0.0),
        };
        let ns = match self.ran {
            _ if self.clock.source() == Source::Mock => delay_ns,
            Ran::Nobody | Ran::NobodyOfSeveral => delay_ns,
            // How long the others of the family were ready meanwhile nothing tells; on other CPUs they
            // ran beside this task.
            _ if ran_ns <= of_ns && had_family => others_ns,
            Ran::Family | Ran::Tasks => others_ns.min(delay_ns),
        };
        Waited { ns, of_ns }
    }
}

/// Reads, between samples, what could have disturbed them.
pub(super) struct Watch {
    usage: Option<Usage>,
    before: Option<Moment>,
    /// Whether the task makes the operation alone and never sleeps: then it never waits or is switched
    /// out but for others, whenever it was.
    is_steady: bool,
    /// How often it has given up its CPU before.
    sleeps: Option<u64>,
    /// The smallest share of a sample that was waited for so far.
    least: f64,
}

impl Watch {
    pub(super) fn start(waits: &Waits, is_steady: bool) -> Self {
        let usage = usage(waits);
        Self {
            usage,
            sleeps: usage.map(|usage| usage.voluntary_switches),
            before: waits.now().filter(|_| is_steady),
            is_steady,
            least: f64::INFINITY,
        }
    }

    /// Whether the task has given up its CPU since the start.
    pub(super) fn has_slept(&self, waits: &Waits) -> bool {
        let now = usage(waits).map(|usage| usage.voluntary_switches);
        now > self.sleeps
    }

    /// What disturbed the last sample, in whose timed stretches the tasks `waited` that long, and how
    /// long they waited in the time that is known. In an uninterrupted series nothing comes between samples.
    pub(super) fn look(
        &mut self,
        waits: &Waits,
        waited: Waited,
        is_uninterrupted: bool,
    ) -> (Option<Cause>, Waited) {
        if !self.is_steady {
            if waited.share() > MAX_WAITED && !is_uninterrupted {
                waits.look_for_others();
            }
            self.least = self.least.min(waited.share());
            let is_long = waits.is_long(waited, self.least);
            return (is_long.then_some(Cause::RunDelay), waited);
        }
        let usage = usage(waits);
        let preempted = usage
            .zip(self.usage)
            .is_some_and(|(now, then)| now.involuntary_switches > then.involuntary_switches);
        self.usage = usage;
        let waited = waits.since(self.before);
        self.before = waits.now();
        let cause = match preempted {
            true => Some(Cause::Preempted),
            false => (waited.ns > 0.0).then_some(Cause::RunDelay),
        };
        (cause, waited)
    }
}

/// What the kernel counted for this task; nothing on a mocked clock.
fn usage(waits: &Waits) -> Option<Usage> {
    (waits.clock.source() != Source::Mock)
        .then(Usage::thread)?
        .ok()
}
