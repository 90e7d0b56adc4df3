//! Operations that several tasks do together: their partners, their switches, and where they run.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;

use syscost_sys::counters::{TaskId, TaskPlace, TaskReading, TaskStat};
use syscost_sys::partner::Partner;
use syscost_sys::topology::Topology;
use syscost_sys::{Unsupported, cpu};

use super::Bencher;
use super::body::Body;
use super::evidence::{AUDITED_TOGETHER, Audited, COUNTED_TOGETHER, Counted};
use super::pass::Pass;
use crate::expect::{Counter, Manner};
use crate::failure::Failure;
use crate::placement::Placement;

/// What a team does, untimed, before it works.
type Prepare<'t> = Box<dyn FnMut() -> Result<(), Failure> + 't>;

/// The tasks that do an operation together: the measuring one, which runs `turns`, and its partners.
pub struct Team<'t> {
    pub(super) partners: Vec<Partner>,
    pub(super) prepare: Prepare<'t>,
    is_prepared: bool,
    pub(super) turns: Box<dyn FnMut(u64) -> Result<(), Failure> + 't>,
    end: Box<dyn FnOnce() -> Result<(), Failure> + 't>,
}

impl<'t> Team<'t> {
    /// `turns(n)` does exactly `n` operations together with the partners (`n` times as many as
    /// [`Bencher::operations_per_turn`] says); `end` tells the partners to come to their end, which is
    /// then waited for.
    pub fn new(
        partners: Vec<Partner>,
        turns: impl FnMut(u64) -> Result<(), Failure> + 't,
        end: impl FnOnce() -> Result<(), Failure> + 't,
    ) -> Self {
        Self {
            partners,
            prepare: Box::new(|| Ok(())),
            is_prepared: false,
            turns: Box::new(turns),
            end: Box::new(end),
        }
    }

    /// The same team with `prepare` to be done, untimed, before each batch of [`Bencher::together`] and each operation of
    /// [`Bencher::single_together`]. It returns when every partner has done what came before and is ready for what comes.
    ///
    /// A batch that must be prepared is more than its operations, so none of them is timed singly.
    #[must_use]
    pub fn prepared_by(self, prepare: impl FnMut() -> Result<(), Failure> + 't) -> Self {
        Self {
            prepare: Box::new(prepare),
            is_prepared: true,
            ..self
        }
    }

    /// One turn with its preparation.
    pub(super) fn single(&mut self) -> Result<(), Failure> {
        (self.prepare)()?;
        (self.turns)(1)
    }

    /// Ends partner processes at once, in an audited child: their last calls are no part of the operation. Nothing else is
    /// dropped, for threads would notice; they go with the child.
    pub(super) fn abandon(self) {
        // Waited for, lest the dead of hundreds of audits stay until the worker ends.
        drop(self.partners);
        mem::forget((self.prepare, self.turns, self.end));
    }

    /// Ends the partners and tells what went wrong with them.
    fn dismiss(self) -> Result<(), Failure> {
        (self.end)()?;
        for partner in self.partners {
            partner
                .join()
                .map_err(|error| Failure::Failed(error.to_string()))?;
        }
        Ok(())
    }
}

/// A team at work: its loop, who and where its tasks are.
pub(super) struct AtWork<'t> {
    pub(super) team: Team<'t>,
    pub(super) per_turn: u64,
    tasks: Vec<TaskId>,
    places: Vec<TaskPlace>,
    seen: Vec<Vec<u32>>,
    batches: usize,
    /// How the last preparation went.
    prepared: Result<(), Failure>,
}

impl<'t> AtWork<'t> {
    /// Takes a team and does one turn, so that every partner is ready before the first that counts.
    pub(super) fn new(mut team: Team<'t>, per_turn: u64) -> Result<Self, Failure> {
        team.single()?;
        let own = [TaskId::own()].into_iter();
        let tasks: Vec<TaskId> = own.chain(team.partners.iter().map(Partner::task)).collect();
        let places = tasks.iter().map(|task| TaskPlace::of(*task));
        Ok(Self {
            places: places.collect::<Result<_, _>>()?,
            team,
            per_turn,
            tasks,
            seen: Vec::new(),
            batches: 0,
            prepared: Ok(()),
        })
    }

    /// What was counted for all its tasks together. Their files are opened one task after the other: those of many tasks are more
    /// than a process may have open.
    fn read(&self) -> Result<TaskReading, Unsupported> {
        let mut readings = self.tasks.iter().map(|task| TaskStat::of(*task)?.read());
        let first = readings.next().unwrap_or(Ok(TaskReading::default()))?;
        readings.try_fold(first, |sum, reading| Ok(sum + reading?))
    }

    /// Notes where its tasks are, the measuring one first.
    pub(super) fn look(&mut self) {
        let now: Result<Vec<u32>, _> = self.places.iter().map(TaskPlace::processor).collect();
        self.seen.extend(now.ok());
    }

    /// Notes a last time where its tasks are, and ends it.
    pub(super) fn dismiss(mut self) -> Result<Vec<Vec<u32>>, Failure> {
        self.look();
        self.team.dismiss()?;
        Ok(self.seen)
    }
}

impl Body for AtWork<'_> {
    fn before(&mut self, _: u64) {
        self.prepared = (self.team.prepare)();
    }

    fn run(&mut self, turns: u64) -> Result<(), Failure> {
        self.prepared.clone()?;
        (self.team.turns)(turns)
    }

    fn after(&mut self, _: u64) -> Result<(), Failure> {
        self.batches += 1;
        // Looking for many takes longer than a batch and leaves the caches to /proc.
        if self.batches.is_multiple_of((self.tasks.len() / 2).max(1)) {
            self.look();
        }
        Ok(())
    }

    fn has_singles(&self) -> bool {
        !self.team.is_prepared
    }
}

impl Bencher<'_> {
    /// Measures an operation that several tasks do together. `make` is given the CPUs that partners may use and starts them; it
    /// is called anew in the audited child, so that the calls of all tasks are counted.
    ///
    /// The cost is one operation's. Every switch of every task must be declared.
    pub fn together<'t>(
        &mut self,
        placement: Placement,
        make: impl Fn(&[u32]) -> Result<Team<'t>, Failure>,
    ) -> Result<(), Failure> {
        self.begin(Manner::Together)?;
        self.seated(placement, |b, cpus| match b.pass {
            Pass::Timed => b.time_together(cpus, &make),
            Pass::Evidence => b.count_together(cpus, b.per_turn, &make),
        })
    }

    /// Measures with the measuring task where the placement wants it, and claims that all were there.
    pub(super) fn seated(
        &mut self,
        placement: Placement,
        measure: impl FnOnce(&mut Self, &[u32]) -> Result<Vec<Vec<u32>>, Failure>,
    ) -> Result<(), Failure> {
        if placement == Placement::Free {
            // The kernel moves who is free to be moved.
            self.declared
                .retain(|expect| expect.counter != Counter::Migrations);
        }
        let cpus = placement.cpus(self.cpu, &self.allowed)?;
        self.pinned = placement != Placement::Free;
        let own = match placement {
            Placement::Free => self.allowed.clone(),
            Placement::At(_) | Placement::Distinct => vec![self.cpu],
        };
        let pin = |cpus: &[u32]| {
            cpu::pin_to(cpus).map_err(|error| Failure::Unsupported(error.to_string()))
        };
        pin(&own)?;
        let result = measure(self, &cpus);
        pin(&[self.cpu])?;
        let seen = result?;
        if self.pinned {
            self.claim_seats(&cpus, &seen);
        } else {
            self.tell_mix(&seen);
        }
        Ok(())
    }

    /// CPU time of all tasks together, in ns per operation, once [`Bencher::together`] has measured; `None` where the kernel does
    /// not tell.
    pub fn cpu_ns(&self) -> Option<f64> {
        self.cpu_ns
    }

    /// Switches of all tasks together per operation, once [`Bencher::together`] has timed it; `None` in the evidence pass. For
    /// operations that may switch in one process and not in the next.
    pub fn timed_switches(&self) -> Option<f64> {
        self.timed_switches
    }

    fn time_together<'t>(
        &mut self,
        cpus: &[u32],
        make: &impl Fn(&[u32]) -> Result<Team<'t>, Failure>,
    ) -> Result<Vec<Vec<u32>>, Failure> {
        let mut work = AtWork::new(make(cpus)?, self.per_turn)?;
        let before = work.read()?;
        let done = self.operations;
        self.time_batches(self.per_turn, &mut work)?;
        let used = work.read()? - before;
        let operations = (self.operations - done) as f64;
        self.cpu_ns = used.run_ns.map(|ns| ns as f64 / operations);
        self.timed_switches = Some(used.switches() as f64 / operations);
        work.dismiss()
    }

    pub(super) fn count_together<'t>(
        &mut self,
        cpus: &[u32],
        per_turn: u64,
        make: impl Fn(&[u32]) -> Result<Team<'t>, Failure>,
    ) -> Result<Vec<Vec<u32>>, Failure> {
        // First, while this process has no other thread that a fork would lose.
        let audited_turns = AUDITED_TOGETHER.div_ceil(per_turn);
        self.judge_audit(audited_turns * per_turn, |audited| {
            let mut team = make(cpus)?;
            team.single()?;
            (team.prepare)()?;
            if audited == Audited::Operations {
                (team.turns)(audited_turns)?;
            }
            team.abandon();
            Ok(())
        })?;
        let mut work = AtWork::new(make(cpus)?, per_turn)?;
        let turns = self
            .turns_lasting(super::evidence::COUNTED_NS, per_turn, &mut work)?
            .clamp(COUNTED_TOGETHER.div_ceil(per_turn), 1 << 20);
        (work.team.prepare)()?;
        // The first reading may fault on its own code and stack.
        let before = work.read().and_then(|_| work.read());
        (work.team.turns)(turns)?;
        let used = before.and_then(|before| Ok(work.read()? - before));
        self.operations += turns * per_turn;
        self.judge_counts(used.map(Counted::from), turns * per_turn);
        if let Some(expect) = self.find(|counter| counter == Counter::TimeScaling) {
            let evidence = self.judge_scaling(expect, per_turn, &mut work)?;
            self.findings.evidence.push(evidence);
        }
        work.dismiss()
    }

    /// Claims that every task was where the row's name puts it.
    fn claim_seats(&mut self, partners: &[u32], seen: &[Vec<u32>]) {
        let strayed = seen.iter().find(|cpus| {
            let (own, others) = cpus
                .split_first()
                .expect("the measuring task is seen first");
            *own != self.cpu || others.iter().any(|cpu| !partners.contains(cpu))
        });
        let told = |own: u32, others: &[u32]| format!("{own} with {}", cpu::format_list(others));
        let expected = told(self.cpu, partners);
        let observed = match strayed {
            Some(cpus) => told(cpus[0], &cpus[1..]),
            None => expected.clone(),
        };
        let holds = strayed.is_none() && !seen.is_empty();
        self.claim("CPUs of its tasks", expected, observed, "/proc", holds);
    }

    /// Tells how often, in percent of the looks, partners were seen how near.
    fn tell_mix(&mut self, seen: &[Vec<u32>]) {
        let topology = Topology::read(Path::new("/sys")).unwrap_or_default();
        let mut counts: BTreeMap<&'static str, f64> = Placement::here()
            .into_iter()
            .filter(|placement| *placement != Placement::Free)
            .map(|placement| (placement.name(), 0.0))
            .collect();
        let pairs: Vec<(u32, u32)> = seen
            .iter()
            .flat_map(|cpus| cpus[1..].iter().map(|other| (cpus[0], *other)))
            .collect();
        for (own, other) in &pairs {
            let relation = topology.relation(*own, *other);
            let name = relation.map_or("unknown", |relation| Placement::At(relation).name());
            *counts.entry(name).or_default() += 1.0;
        }
        for (name, count) in counts {
            let percent = 100.0 * count / pairs.len().max(1) as f64;
            self.detail(&format!("placed_{name}_percent"), percent);
        }
        self.claim(
            "looks at where its tasks are",
            "at least 1",
            pairs.len() as f64,
            "/proc",
            !pairs.is_empty(),
        );
    }
}
