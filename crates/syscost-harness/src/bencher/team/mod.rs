//! Operations that several tasks do together.
//!
//! - [`at_work`]: a team's loop, and what the kernel counts for it.
//! - [`seats`]: where its tasks are put, and where they were seen.
//! - [`difference`]: what an operation of several tasks costs more than others.
//! - [`single`]: one task's share, timed alone.
//! - [`sentinel`]: looks at the cores of partners on other CPUs.

mod at_work;
mod difference;
mod seats;
mod sentinel;
mod single;

use std::mem;
use std::time::{Duration, Instant};

use syscost_results::measurement::Cause;
use syscost_sys::counters::TaskReading;
use syscost_sys::partner::Partner;
use syscost_sys::process::pause;

use super::body::MAX_TURNS;
use super::counts::{Counted, Placed};
use super::evidence::{AUDITED_TOGETHER, Audited, COUNTED_NS, COUNTED_PER_TASK, COUNTED_TOGETHER};
use super::pass::Pass;
use super::{Bencher, company};
use crate::expect::{Counter, Manner};
use crate::failure::Failure;
use crate::placement::Placement;

use at_work::AtWork;
pub use difference::Baseline;
use seats::Seen;
pub(super) use sentinel::Sentinel;

/// Starts a team whose partners may use these CPUs.
type Make<'m, 't> = &'m dyn Fn(&[u32]) -> Result<Team<'t>, Failure>;

/// What a team does, untimed, before or after it works.
type Aside<'t> = Box<dyn FnMut() -> Result<(), Failure> + 't>;

/// How long a partner may take to say what went wrong and end, once the measuring task has felt it.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long its neighbours may take to feel it, too.
const NEIGHBOURS: Duration = Duration::from_millis(5);

/// Maximum number of different complaints in a reason.
const MOST_WORDS: usize = 3;

/// The tasks that do an operation together: the measuring one, which runs `turns`, and its partners.
pub struct Team<'t> {
    partners: Vec<Partner>,
    prepare: Aside<'t>,
    is_prepared: bool,
    check: Aside<'t>,
    max_turns: u64,
    turns: Box<dyn FnMut(u64) -> Result<(), Failure> + 't>,
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
            check: Box::new(|| Ok(())),
            max_turns: MAX_TURNS,
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

    /// The same team with `check` to be done, untimed, right after each timed batch of [`Bencher::together`]. Batches that are only
    /// counted go without.
    #[must_use]
    pub fn checked_by(self, check: impl FnMut() -> Result<(), Failure> + 't) -> Self {
        Self {
            check: Box::new(check),
            ..self
        }
    }

    /// The same team for batches of at most this many turns, at least [`Bencher::together`]'s
    /// hundred: as many as are prepared at once.
    #[must_use]
    pub fn at_most(self, turns: u64) -> Self {
        Self {
            max_turns: turns,
            ..self
        }
    }

    /// One turn with its preparation.
    fn single(&mut self) -> Result<(), Failure> {
        (self.prepare)()?;
        (self.turns)(1)
    }

    /// Ends partner processes at once, in an audited child: their last calls are no part of the operation. Nothing else is
    /// dropped, for threads would notice; they go with the child.
    fn abandon(self) {
        // Stopped first: one that sees its neighbour's end would say so, and be counted.
        self.partners.iter().for_each(Partner::freeze);
        // Waited for, lest the dead of hundreds of audits stay until the worker ends.
        drop(self.partners);
        mem::forget((self.prepare, self.check, self.turns, self.end));
    }

    /// What the partners of teams that failed say of it. The measuring task often sees no more than that one of them is gone: a closed
    /// pipe, a missing file.
    fn explain(teams: impl IntoIterator<Item = Team<'t>>, failure: Failure) -> Failure {
        // The rest stays as it is meanwhile: whose pipes close would complain of that.
        let (mut partners, mut rests) = (Vec::new(), Vec::new());
        for Team {
            partners: of_this,
            prepare,
            check,
            turns,
            end,
            ..
        } in teams
        {
            partners.extend(of_this);
            rests.push((prepare, check, turns, end));
        }
        let begun = Instant::now();
        while !partners.iter().any(Partner::has_ended) {
            if partners.is_empty() || begun.elapsed() > LAST_WORDS {
                return failure;
            }
            pause(NEIGHBOURS);
        }
        // One after the other sees that its neighbour is gone.
        pause(NEIGHBOURS);
        let mut said: Vec<String> = Vec::new();
        for partner in partners.into_iter().filter(Partner::has_ended) {
            let words = partner.join().err().map(|error| error.to_string());
            said.extend(words.filter(|words| !said.contains(words)));
        }
        said.truncate(MOST_WORDS);
        match (failure, said.is_empty()) {
            (Failure::Broken(what), _) => Failure::Broken(what),
            (Failure::Refuted(_), false) => Failure::Refuted(said.join("; ")),
            (_, false) => Failure::Failed(said.join("; ")),
            // What cannot be read of a task that is gone is not missing in this machine.
            (Failure::Unsupported(what), true) => {
                Failure::Failed(format!("a partner ended early: {what}"))
            }
            (failure, true) => failure,
        }
    }

    /// Does in an audited child what `work` says, and leaves the child's partners as they are.
    fn audited(
        mut self,
        work: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match work(&mut self) {
            Ok(()) => {
                self.abandon();
                Ok(())
            }
            Err(failure) => Err(Team::explain([self], failure)),
        }
    }

    /// Ends the partners and tells what went wrong with them.
    fn dismiss(mut self) -> Result<(), Failure> {
        let end = mem::replace(&mut self.end, Box::new(|| Ok(())));
        if let Err(failure) = end() {
            return Err(Team::explain([self], failure));
        }
        for partner in self.partners {
            partner.join()?;
        }
        Ok(())
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
        self.begin_on(Manner::Together, self.cpus_of(placement)?)?;
        self.seated(placement, |b, cpus| match b.pass {
            Pass::Timed => b.time_together(cpus, &make),
            Pass::Evidence => b.count_together(cpus, b.per_turn, &make),
        })
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

    /// A team whose first turn is done, and counts as any other in what the benchmark reports per operation.
    fn at_work<'t>(&mut self, team: Team<'t>, per_turn: u64) -> Result<AtWork<'t>, Failure> {
        self.operations += per_turn;
        AtWork::new(team, per_turn)
    }

    fn time_together<'t>(&mut self, cpus: &[u32], make: Make<'_, 't>) -> Result<Seen, Failure> {
        self.at_work(make(cpus)?, self.per_turn)?.lead(|work| {
            let before = work.read()?;
            let (done, begun) = (self.operations, Instant::now());
            self.time_batches(self.per_turn, work)?;
            let passed_ns = begun.elapsed().as_nanos() as f64;
            let used = work.read()? - before;
            self.tag_others(cpus, &used, passed_ns);
            let operations = (self.operations - done) as f64;
            self.cpu_ns = used.run_ns.map(|ns| ns as f64 / operations);
            self.timed_switches = Some(used.switches() as f64 / operations);
            Ok(())
        })
    }

    /// Tags all samples of a team on one CPU if other programs ran there meanwhile.
    fn tag_others(&mut self, cpus: &[u32], used: &TaskReading, passed_ns: f64) {
        let Some(others) = self.others(cpus, used, passed_ns) else {
            return;
        };
        self.detail("others_percent", 100.0 * others);
        self.had_company = others > company::MAX_OTHERS;
        if self.had_company {
            for sample in 0..self.findings.values.len() as u32 {
                if !self.is_disturbed(sample) {
                    self.disturbed(sample, Cause::Preempted);
                }
            }
        }
    }

    /// The share of the time that others had of the CPU, where all tasks of a team were on one.
    fn others(&self, cpus: &[u32], used: &TaskReading, passed_ns: f64) -> Option<f64> {
        (cpus == [self.cpu])
            .then(|| company::share(used, passed_ns))
            .flatten()
    }

    fn count_together<'t>(
        &mut self,
        cpus: &[u32],
        per_turn: u64,
        make: Make<'_, 't>,
    ) -> Result<Seen, Failure> {
        // First, while this process has no other thread that a fork would lose.
        let audited_turns = AUDITED_TOGETHER.div_ceil(per_turn);
        self.judge_audit(audited_turns * per_turn, &mut |audited| {
            make(cpus)?.audited(|team| {
                team.single()?;
                (team.prepare)()?;
                match audited {
                    Audited::Operations => (team.turns)(audited_turns),
                    Audited::Nothing => Ok(()),
                }
            })
        })?;
        self.at_work(make(cpus)?, per_turn)?.lead(|work| {
            let least = COUNTED_TOGETHER.max(COUNTED_PER_TASK * work.tasks() as u64);
            let turns = self
                .turns_lasting(COUNTED_NS, per_turn, work)?
                .clamp(least.div_ceil(per_turn), 1 << 20);
            (work.team.prepare)()?;
            // The first reading may fault on its own code and stack.
            let before = work.read().and_then(|_| work.read());
            let begun = Instant::now();
            (work.team.turns)(turns)?;
            let passed_ns = begun.elapsed().as_nanos() as f64;
            let used = before.and_then(|before| Ok(work.read()? - before));
            self.operations += turns * per_turn;
            let counted = used.map(|used| {
                let placed = Placed::of(self.cpu, work.team.partners.len(), cpus);
                let others = self.others(cpus, &used, passed_ns);
                Counted::from(used).placed(placed).beside(others, passed_ns)
            });
            self.judge_counts(counted, turns * per_turn);
            if let Some(expect) = self.find(|counter| counter == Counter::TimeScaling) {
                let evidence = self.judge_scaling(expect, per_turn, work)?;
                self.findings.evidence.push(evidence);
            }
            Ok(())
        })
    }
}
