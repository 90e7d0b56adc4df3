//! The shuffled rounds, the stop rule and the budget.

use std::time::Instant;

use syscost_results::stats::looks::StopRule;
use syscost_results::study::means;

use super::budget::{Pace, rest, scaled, shed};
use super::journal::{self, Journal, Record};
use super::rows::RowState;
use super::{Event, Observer, Profile, Session};
use crate::bencher::{Effort, Pass};
use crate::benchmark::{Benchmark, Setup};
use crate::catalogue::Row;
use crate::failure::Failure;
use crate::worker::{Interrupted, Job, JobCase};

/// Rounds of a benchmark with an expensive set-up: the minimum that gives an interval, each with
/// more samples.
pub(super) const EXPENSIVE_LOOKS: [u32; 1] = [6];

impl Session<'_> {
    /// Measures until every row is settled, the budget is spent or Ctrl-C arrives. Everything
    /// measured by then is kept.
    pub fn measure(&mut self, observer: &mut dyn Observer) {
        let profile = Profile::from_name(&self.header.config.profile).unwrap_or_default();
        self.skip_what_cannot_fit(1.0);
        observer.event(Event::Begin {
            rows: self.states.len(),
            journal: self.journal.as_ref().map(Journal::path),
        });
        let mut pace = Pace::FULL;
        for round in 0..profile.max_rounds() {
            let replayed = !self.replay.is_empty();
            match self.round(round, pace, profile, observer) {
                Ok(Round::Whole) => {}
                // A round that was cut short is not judged as if it were complete.
                Ok(Round::Cut) | Err(Interrupted) => return,
            }
            self.settle(profile);
            if !self.states.iter().any(|state| state.is_active()) || self.is_spent() {
                return;
            }
            if !replayed {
                shed(&mut [self], round + 1);
                pace = self.pace(pace, round + 1, &[self]);
                rest(&mut [self], round + 1, profile);
            }
        }
    }

    /// One round: every active benchmark once, in a fresh order.
    fn round(
        &mut self,
        round: u32,
        pace: Pace,
        profile: Profile,
        observer: &mut dyn Observer,
    ) -> Result<Round, Interrupted> {
        // Records of rounds that are over now belong to rows that needed fewer rounds this time.
        self.replay.retain(|record| record.round >= round);
        let mut random = fastrand::Rng::with_seed(mix(self.header.config.seed, u64::from(round)));
        let order = order(&[self], round, &mut random);
        let count = order.len();
        for (index, benchmark) in order.into_iter().enumerate() {
            // Every job draws its numbers whether it runs or not, so that a resumed run shuffles
            // like an unbroken one.
            let seed = random.u64(..);
            if self.is_spent() {
                return Ok(Round::Cut);
            }
            observer.event(self.working(benchmark, round, index as f64 / count as f64));
            self.choose_cpu();
            self.step(benchmark, round, pace, profile, seed, observer)?;
            if round == 0 && self.replay.is_empty() {
                shed(&mut [self], 0);
            }
        }
        Ok(Round::Whole)
    }

    /// The event before a benchmark, when this share of its round is done.
    pub(super) fn working(
        &self,
        benchmark: &'static Benchmark,
        round: u32,
        share: f64,
    ) -> Event<'static> {
        let rounds = self.header.config.min_rounds.max(round + 1);
        let done = (f64::from(round) + share) / f64::from(rounds);
        Event::Working {
            benchmark: benchmark.id,
            round: round + 1,
            rounds,
            done,
            left: self.time_left(done),
        }
    }

    /// One benchmark in one round: the evidence pass, if it is the first round or a count is
    /// doubtful, then the timed one.
    pub(super) fn step(
        &mut self,
        benchmark: &'static Benchmark,
        round: u32,
        pace: Pace,
        profile: Profile,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        let mut random = fastrand::Rng::with_seed(seed);
        let effort = scaled(&profile.effort(), pace);
        for pass in [Pass::Evidence, Pass::Timed] {
            if self.is_spent() {
                return Ok(());
            }
            self.job(
                benchmark,
                pass,
                round,
                effort.clone(),
                &mut random,
                observer,
            )?;
        }
        Ok(())
    }

    fn job(
        &mut self,
        benchmark: &'static Benchmark,
        pass: Pass,
        round: u32,
        effort: Effort,
        random: &mut fastrand::Rng,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        let is_source = |row: &Row| {
            let mut others = self.states.iter();
            others.any(|other| other.row.is_computed_from(row))
        };
        let active = self.states.iter();
        let mut cases: Vec<JobCase> = active
            .filter(|state| state.row.benchmark.id == benchmark.id && state.takes_part())
            .filter(|state| pass == Pass::Timed || round == 0 || state.is_doubtful())
            .map(|state| JobCase {
                suffix: state.row.case.suffix(),
                iterations: state.iterations,
                // Rows that are sources of derived rows need rounds that all of them have.
                may_defer: self.may_defer && state.may_defer() && !is_source(&state.row),
            })
            .collect();
        random.shuffle(&mut cases);
        let job = Job {
            benchmark: benchmark.id.to_owned(),
            cases,
            keeps_order: self.is_of_pair || benchmark.stays,
            pass,
            effort,
            clock: self.settings.clone(),
            cpu: self.cpu,
            candidates: self.measurable.clone(),
            allowed: self.usable.clone(),
            cores: self.cores.clone(),
            seed: random.u64(..1 << 53),
            stack_offset: random.usize(..4096),
            parent: std::process::id(),
        };
        let padding = random.usize(..4096);
        if job.cases.is_empty() {
            return Ok(());
        }
        let known = |record: &Record| {
            (record.round, record.pass, &*record.benchmark) == (round, pass, benchmark.id)
        };
        if let Some(index) = self.replay.iter().position(known) {
            let record = self.replay.swap_remove(index);
            self.absorb(record);
            return Ok(());
        }
        let begun = Instant::now();
        let record = self.execute(job, round, padding)?;
        if pass == Pass::Timed {
            let cases = record
                .cases
                .iter()
                .filter_map(|(_, result)| result.as_ref().ok());
            let took_ns: f64 = cases.map(|findings| findings.took_ns).sum();
            self.beside_s
                .push((begun.elapsed().as_secs_f64() - took_ns / 1e9).max(0.0));
        }
        for (suffix, result) in &record.cases {
            if let Err(failure) = result
                && *failure != Failure::Deferred
            {
                observer.event(Event::Trouble {
                    name: &format!("{}{suffix}", benchmark.id),
                    reason: &failure.to_string(),
                });
            }
        }
        if record.is_whole {
            self.write(&record);
        }
        self.absorb(record);
        Ok(())
    }

    fn write(&mut self, record: &Record) {
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.append(record)
        {
            self.header.warnings.push(journal::lost(&error));
            self.journal = None;
        }
    }

    /// Settles rows at a look: those whose interval is narrow enough, and those that no more rounds
    /// would help.
    pub(super) fn settle(&mut self, profile: Profile) {
        let rule = profile.stop_rule();
        let frequencies = self.frequencies();
        for state in &mut self.states {
            let looks = looks_of(state.row.setup(), rule.looks);
            let kept = self.kept.of(state);
            state.settled |= state.ends(StopRule { looks, ..rule }, &frequencies, kept);
        }
        self.may_defer = self.cores_are_often_ours();
    }
}

/// The benchmarks with such rows in these sessions, in the report's order.
pub(super) fn benchmarks(
    sessions: &[&Session<'_>],
    is_wanted: fn(&RowState) -> bool,
) -> Vec<&'static Benchmark> {
    let mut found: Vec<&'static Benchmark> = Vec::new();
    for session in sessions {
        for state in session.states.iter().filter(|state| is_wanted(state)) {
            if !found.iter().any(|known| known.id == state.row.benchmark.id) {
                found.push(state.row.benchmark);
            }
        }
    }
    found
}

/// The benchmarks that the coming round measures, in random order, except that those with a
/// costly set-up are adjacent, see [`arranged`], and that the first round begins with those that come
/// first.
pub(super) fn order(
    sessions: &[&Session<'_>],
    round: u32,
    random: &mut fastrand::Rng,
) -> Vec<&'static Benchmark> {
    let states = || sessions.iter().flat_map(|session| &session.states);
    let is_expensive = |benchmark: &'static Benchmark| {
        let mut active = states().filter(|state| state.takes_part());
        active.any(|state| {
            state.row.benchmark.id == benchmark.id && state.row.setup() != Setup::Cheap
        })
    };
    let all = benchmarks(sessions, RowState::takes_part).into_iter();
    let mut benchmarks: Vec<_> = all.map(|one| (one, is_expensive(one))).collect();
    random.shuffle(&mut benchmarks);
    let tier = |benchmark: &Benchmark| {
        let of_it = states().filter(|state| state.row.benchmark.id == benchmark.id);
        of_it.map(|state| state.tier).min()
    };
    led(arranged(benchmarks, round), round, tier)
}

/// The same order, but in the first round with those that come first, by their tier or by themselves.
fn led(
    mut order: Vec<&'static Benchmark>,
    round: u32,
    tier: impl Fn(&Benchmark) -> Option<usize>,
) -> Vec<&'static Benchmark> {
    if round == 0 {
        order.sort_by_key(|benchmark| (tier(benchmark), !benchmark.comes_first));
    }
    order
}

/// These rows, each with the first tier that names it or a row that is computed from it; those that
/// none names come after all tiers.
pub(super) fn tiered(rows: Vec<Row>, tiers: &[Vec<String>]) -> Vec<(Row, usize)> {
    let named = |row: &Row| {
        let name = row.name();
        let is_it = |tier: &Vec<String>| tier.iter().any(|meant| means(meant, &name));
        tiers.iter().position(is_it).unwrap_or(tiers.len())
    };
    let tier = |row: &Row| {
        let computed = rows.iter().filter(|other| other.is_computed_from(row));
        computed
            .map(named)
            .min()
            .unwrap_or(tiers.len())
            .min(named(row))
    };
    let found: Vec<usize> = rows.iter().map(tier).collect();
    rows.into_iter().zip(found).collect()
}

/// The same order, but with expensive benchmarks adjacent: at the end of even rounds, so that in
/// the first one they do not take the time that many others need, and at the beginning of odd ones.
/// Most of them fill much memory, and the next one gets what the one before freed: a virtual
/// machine returns unused memory to its host within seconds, and getting a gigabyte of it back
/// takes seconds more.
fn arranged<T>(benchmarks: Vec<(T, bool)>, round: u32) -> Vec<T> {
    let (expensive, cheap): (Vec<_>, Vec<_>) = benchmarks
        .into_iter()
        .partition(|(_, expensive)| *expensive);
    let (first, last) = match round % 2 {
        0 => (cheap, expensive),
        _ => (expensive, cheap),
    };
    first.into_iter().chain(last).map(|(one, _)| one).collect()
}

/// How a round ended.
enum Round {
    /// Every active benchmark was measured.
    Whole,
    /// The budget was spent before the last of them.
    Cut,
}

/// The numbers of rounds at which a benchmark with this set-up may stop.
pub(super) fn looks_of(setup: Setup, looks: &[u32]) -> &[u32] {
    match setup {
        Setup::Cheap => looks,
        Setup::Expensive { .. } => &EXPENSIVE_LOOKS,
    }
}

/// Mixes two seeds into one, by the finaliser of SplitMix64.
pub(super) fn mix(seed: u64, salt: u64) -> u64 {
    let mut z = seed.wrapping_add(salt.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    const EXPENSIVE: Setup = Setup::Expensive { seconds: 2.0 };

    #[test]
    fn an_expensive_set_up_gets_fewer_and_longer_rounds() {
        let looks = Profile::Full.looks();
        assert_eq!(looks_of(Setup::Cheap, looks), looks);
        assert_eq!(looks_of(EXPENSIVE, looks), [6]);
        let cheap = Profile::Standard.effort();
        assert_eq!(cheap.with_setup(EXPENSIVE).samples, 2 * cheap.samples);
        assert_eq!(cheap.with_setup(Setup::Cheap), cheap);
    }

    #[test]
    fn expensive_ones_are_adjacent_within_a_round_and_from_even_to_odd_ones() {
        let shuffled = vec![("a", false), ("b", true), ("c", false), ("d", true)];
        assert_eq!(arranged(shuffled.clone(), 0), ["a", "c", "b", "d"]);
        assert_eq!(arranged(shuffled.clone(), 1), ["b", "d", "a", "c"]);
        assert_eq!(arranged(shuffled, 2), ["a", "c", "b", "d"]);
    }

    #[test]
    fn the_first_round_begins_with_what_comes_first() {
        static ANY: Benchmark = Benchmark::DEFAULT;
        static FIRST: Benchmark = Benchmark {
            id: "first",
            comes_first: true,
            ..Benchmark::DEFAULT
        };
        let ids = |round| {
            led(vec![&ANY, &FIRST, &ANY], round, |_| None)
                .into_iter()
                .map(|one| one.id)
        };
        assert_eq!(ids(0).collect::<Vec<_>>(), ["first", "", ""]);
        assert_eq!(ids(1).collect::<Vec<_>>(), ["", "first", ""]);
    }

    #[test]
    fn the_first_round_begins_with_the_first_tier_and_what_it_is_computed_from() {
        static ANY: Benchmark = Benchmark {
            id: "any",
            comes_first: true,
            ..Benchmark::DEFAULT
        };
        static NAMED: Benchmark = Benchmark {
            id: "named",
            ..Benchmark::DEFAULT
        };
        let row = |benchmark: &'static Benchmark, size: &'static str| Row {
            benchmark,
            case: Case::new([("size", size)]),
        };
        let rows = vec![row(&ANY, "1"), row(&NAMED, "1"), row(&NAMED, "2")];
        let tiers = ["named{size=2}", "named{size=*}"].map(|name| vec![name.to_owned()]);
        let found: Vec<usize> = tiered(rows, &tiers).iter().map(|(_, tier)| *tier).collect();
        assert_eq!(found, [2, 1, 0]);
        let tier = |benchmark: &Benchmark| Some(usize::from(benchmark.id != "named"));
        let first = |round| led(vec![&ANY, &NAMED], round, tier)[0].id;
        assert_eq!((first(0), first(1)), ("named", "any"));
    }

    #[test]
    fn seeds_of_rounds_differ() {
        let seeds: std::collections::BTreeSet<u64> = (0..100).map(|round| mix(7, round)).collect();
        assert_eq!(seeds.len(), 100);
        assert_ne!(mix(7, 1), mix(8, 1));
    }
}
