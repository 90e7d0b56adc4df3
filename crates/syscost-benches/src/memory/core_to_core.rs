//! A cache line that moves from one core to another and back.
//!
//! ## Measures
//! A round trip between two threads, one pinned to the CPU `from`, the other to the CPU `to`, both
//! of which spin. `exchange`: both compare-and-exchange the same word, one from even to odd, the
//! other from odd to even: one line goes there and back. `message`: by two lines; each side writes
//! its own and polls the other's until it has changed: two messages, one each way, and each line
//! moves both ways. `message_one_line`: the same by two words of one line. The lines lie on a fresh
//! page, first touched by the thread on `from`, so on a machine with several memory nodes
//! they belong to the node of `from`.
//! ## Does not measure
//! One direction: half of a round trip is given as `one_way_ns`, which assumes that both directions
//! are equal; clocks of two CPUs are not compared. Lines that several readers share, and waking a
//! thread that sleeps (`switch`).
//! ## Interpretation
//! Two threads of one core take some ten ns, two cores of one cache 50 to 150, two sockets several
//! hundred. Rows from lower to higher and from higher to lower CPU differ where the line's home,
//! given by its memory node and its address, is nearer to one of them. `message` costs up to twice
//! as much as `message_one_line` or an `exchange`: each writer must first take its line back from
//! the reader, who polls it, and only then is it read. So two sides that wait for each other are
//! better off with one line, two that need not wait with two (`memory.false_sharing`). In a virtual
//! machine, CPUs may share a core or move to another one meanwhile.
//!
//! All pairs of up to 16 CPUs are measured; if there are more, the pairs of 16 of them: one CPU of
//! each core, and second threads while there is room. Of more than 16 cores these are 15, evenly
//! taken from the list of cores in the order of their distance, so that every cache and package is
//! covered, and one second thread. Messages are measured between 8 of them. `syscost plot` draws
//! the rows as a map.
//! ## Source
//! The core-to-core tables of hardware reviews; lines that move back and forth are the standard
//! test of coherence in many papers on multicore memory.

mod cpus;
mod pair;

use syscost_harness::prelude::*;

use super::page::WRITTEN;
use pair::Method;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Core-to-core latency: cache line ping-pong",
    tags: "cache-to-cache, inter-core latency, cache coherence, cache line bouncing, c2c, \
        multichase",
    expect: &[costs(Counter::CoreCycles, ROUND_TRIP)],
    roles: roles!(MemoryCoreToCore { via: Method::Exchange, .. } => Role::CoreToCore),
    ..Benchmark::of::<MemoryCoreToCore>()
};

/// Minimum core cycles of a round trip: two threads of one core need a store and a load each.
const ROUND_TRIP: f64 = 10.0;

/// Maximum number of CPUs that send messages, so as not to measure each pair twice.
const MAX_MESSENGERS: usize = 8;

#[derive(Params, Clone)]
struct MemoryCoreToCore {
    via: Method,
    /// The CPU of the first thread.
    from: Cpu,
    /// The CPU of the second thread.
    to: Cpu,
}

impl Measured for MemoryCoreToCore {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let cpus = cpus::measured(here);
        let of = |methods: &[Method], cpus: &[u32]| {
            rows!(MemoryCoreToCore {
                via: methods.iter().copied(),
                from: cpus.iter().copied().map(Cpu),
                // With one CPU a placeholder row shows why there are no pairs.
                to: cpus
                    .iter()
                    .copied()
                    .map(Cpu)
                    .filter(|to| *to != from || cpus.len() == 1)
            })
        };
        let messengers = crate::timing::spread(&cpus, MAX_MESSENGERS);
        let mut rows = [
            of(&[Method::Exchange], &cpus),
            of(&[Method::Message, Method::MessageOneLine], &messengers),
        ]
        .concat();
        // The summary shows the first row that exists.
        let pair = cpus::first_pair(&cpus);
        let is_first = |row: &MemoryCoreToCore| pair == Some((row.from.0, row.to.0));
        if let Some(first) = rows.iter().position(|case| is_first(&case.row)) {
            let first = rows.remove(first).in_profile(Profile::Quick);
            rows.insert(0, first);
        }
        rows
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.via {
            Method::Exchange => Profile::Standard,
            Method::Message | Method::MessageOneLine => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        match self.from == self.to {
            true => Err(Unsupported::new("this process may use one CPU only")),
            false => Ok(()),
        }
    }

    fn proofs(&self) -> MemoryCoreToCoreProofs<Proof> {
        MemoryCoreToCoreProofs {
            via: WRITTEN.expects(self.via.words()),
            from: pair::FROM.expects(self.from.0),
            to: pair::TO.expects(self.to.0),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let watches = !plan.is_timed();
        let placement = Placement::Pair(self.from.0, self.to.0);
        let make = |cpus: &[u32]| pair::team(self.via, cpus, watches);
        let team = Together::of(placement, make).per_iteration(pair::PER_TURN);
        let measured = plan.measure(team)?;
        let (mut outcome, (asking, replying)) = measured.split();
        asking.judge(&mut outcome, &replying);
        outcome.detail_each_turn("one_way_ns");
        Ok(outcome)
    }
}
