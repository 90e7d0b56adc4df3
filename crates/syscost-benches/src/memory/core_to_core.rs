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
//! All pairs of up to 16 CPUs are measured; if there are more, the pairs of 16 of them: one CPU per
//! core, evenly taken from the list of cores in the order of their distance, so that every cache
//! and package is covered, and one second thread of a core. Messages are measured between 8 of
//! them. `syscost plot` draws the rows as a map.
//! ## Source
//! The core-to-core tables of hardware reviews; lines that move back and forth are the standard
//! test of coherence in many papers on multicore memory.

mod cpus;
mod pair;

use syscost_harness::prelude::*;

use pair::Method;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.core_to_core",
    title: "Core-to-core latency: cache line ping-pong",
    tags: &[
        "cache-to-cache",
        "inter-core latency",
        "cache coherence",
        "cache line bouncing",
        "c2c",
        "multichase",
    ],
    cases: Cases::Here(cases),
    expect: &[at_least(Counter::CoreCycles, ROUND_TRIP)],
    quick: is_first,
    full: |case| case.get("via") != "exchange",
    support: |case| match case.get("from") == case.get("to") {
        true => Err(Unsupported::new("this process may use one CPU only")),
        false => Ok(()),
    },
    run,
    source: include_str!("core_to_core.rs"),
    ..Benchmark::DEFAULT
};

/// Minimum core cycles of a round trip: two threads of one core need a store and a load each.
const ROUND_TRIP: f64 = 10.0;

/// Maximum number of CPUs that send messages, so as not to measure each pair twice.
const MAX_MESSENGERS: usize = 8;

/// Whether people look at it first.
fn is_first(case: &Case) -> bool {
    let is = |key, cpu: u32| case.number(key) == u64::from(cpu);
    let of_pair = |(from, to)| is("from", from) && is("to", to);
    cpus::first_pair().is_some_and(of_pair) && case.get("via") == Method::Exchange.name()
}

fn cases(_: &Here) -> Vec<Case> {
    let cpus = cpus::measured();
    let of = |method: Method, cpus: &[u32]| -> Vec<Case> {
        let pairs = cpus
            .iter()
            .flat_map(|from| cpus.iter().map(move |to| (from, to)));
        // With one CPU a placeholder case shows why there are no pairs.
        pairs
            .filter(|(from, to)| from != to || cpus.len() == 1)
            .map(|(from, to)| {
                Case::new([
                    ("via", method.name().to_owned()),
                    ("from", from.to_string()),
                    ("to", to.to_string()),
                ])
            })
            .collect()
    };
    let mut cases = of(Method::Exchange, cpus);
    let messengers = crate::timing::spread(cpus, MAX_MESSENGERS);
    cases.extend(of(Method::Message, &messengers));
    cases.extend(of(Method::MessageOneLine, &messengers));
    // The summary shows the first row that exists.
    cases.sort_by_key(|case| !is_first(case));
    cases
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let number = |key| b.case().number(key) as u32;
    let method = Method::of(b.case())?;
    let placement = Placement::Pair(number("from"), number("to"));
    b.operations_per_turn(pair::PER_TURN);
    let watches = !b.is_timed();
    let make = |cpus: &[u32]| pair::team(method, cpus, watches);
    let (asking, replying) = b.together(placement, make)?;
    asking.judge(b, &replying);
    b.detail_times("one_way_ns", 0.5);
    Ok(())
}
