//! Loads that do not depend on each other: how many misses can be outstanding simultaneously.
//!
//! ## Measures
//! `chains` independent pointer chases around the same random cycle through `size` bytes of memory,
//! evenly spaced on it; the time is that of one load, over all chains. Sizes are chosen to be in a
//! second cache, in a third one and in memory on most machines. Pages are huge where available.
//! ## Does not measure
//! What prefetchers do, or several cores together: `memory.bandwidth`. With 16 chains and more each
//! step also loads and stores its chain's place in a table, which a miss hides.
//! ## Interpretation
//! The time falls with the number of chains until the core has no more buffers for misses (its line
//! fill buffers, 10 to 24 in most cores) and then stays. `speedup` is how many times longer a load
//! takes with a single chain, measured in the same process: the number of misses that were actually
//! outstanding. Memory latency divided by the best of these is what a program pays that can request
//! everything at the same time, like a hash join with prefetching; a linked list pays the whole.
//! ## Source
//! Not part of any published experiment here.

use std::cell::RefCell;

use syscost_harness::prelude::*;
use syscost_results::stats::order;
use syscost_sys::kernel::{Chase, LINE, Order, Route, Work};
use syscost_sys::memory::Pages;

use super::chases::{self, SIZE};

/// The key of the parameter with the number of chains.
const CHAINS: &str = "chains";

/// The sizes, and the number of entries of `COUNTS` with which each is measured: in a near cache
/// the table of 16 and more chains would be visible.
const SIZES: [(usize, usize); 3] = [(512 << 10, 6), (24 << 20, 7), (256 << 20, 11)];

/// From this size on, in bytes, the set-up takes longer than the measurement.
const EXPENSIVE: usize = 64 << 20;

/// Seconds that a row of the largest size takes to get its chase, which is laid once per round for
/// all of them.
const SECONDS: f64 = 0.3 / COUNTS.len() as f64;

/// Numbers of chains, in an order of which any prefix is useful.
const COUNTS: [usize; 11] = [1, 2, 4, 8, 12, 6, 16, 3, 10, 24, 32];

/// Turns of a single chain that determine the speed-up, and how often.
const TURNS: u64 = 8;
const TIMES: usize = 9;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.parallelism",
    title: "Memory-level parallelism: independent loads",
    tags: &[
        "mlp",
        "outstanding misses",
        "cache misses in flight",
        "line fill buffer",
        "mshr",
        "miss status holding register",
        "par_mem",
    ],
    cases: Cases::Here(cases),
    full: |case| {
        // Some points of the curves in the second-level cache and in memory.
        case.get(SIZE) == "24M" || !["1", "4", "16"].contains(&case.get("chains"))
    },
    support: chases::support,
    run,
    source: include_str!("parallelism.rs"),
    ..Benchmark::DEFAULT
};

fn cases(_: &Here) -> Vec<Case> {
    let pages = chases::largest();
    let case = |bytes: usize, chains: usize| {
        let case = Case::new([
            (Pages::KEY, pages.name().to_owned()),
            (SIZE, size_name(bytes)),
            (CHAINS, chains.to_string()),
        ]);
        match bytes < EXPENSIVE {
            true => case,
            false => case.expensive(SECONDS),
        }
    };
    SIZES
        .into_iter()
        .flat_map(|(bytes, first)| {
            let mut counts = COUNTS[..first].to_vec();
            counts.sort_unstable();
            counts.into_iter().map(move |chains| case(bytes, chains))
        })
        .collect()
}

thread_local! {
    /// Chases shared by the cases of a worker: laying them takes longer than measuring.
    static CHASES: RefCell<Vec<Chase>> = const { RefCell::new(Vec::new()) };
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let bytes = b.case().number(SIZE) as usize;
    let chains = b.case().number(CHAINS) as usize;
    let known = CHASES.with_borrow_mut(|chases| {
        let known = chases.iter().position(|chase| chase.route().bytes == bytes);
        known.map(|index| chases.swap_remove(index))
    });
    let mut chase = match known {
        Some(chase) => {
            chases::claim(b, &chase, bytes / LINE, LINE)?;
            chases::claim_random(b, &chase);
            chase
        }
        None => {
            let route = Route::dense(bytes, Order::Random(b.random().u64(..)));
            chases::chase(b, chases::pages(b.case())?, route, 1)?
        }
    };
    // At another place of the cycle than the case before.
    let first = b.random().usize(..chase.lines());
    let single_ns = match b.is_timed() {
        true => Some(single(b, &mut chase, first)?),
        false => None,
    };
    chase.set_chains(chains, first / 2)?;
    chases::claim_chains(b, &chase, b.case().number(CHAINS) as usize);
    chases::go_round(b, &chase);
    b.kernel(&chase)?;
    if let (Some(single_ns), Some(median)) = (single_ns, b.median()) {
        b.detail("speedup_ratio", single_ns / median);
    }
    CHASES.with_borrow_mut(|chases| chases.push(chase));
    Ok(())
}

/// The time of a load with one chain, in ns.
fn single(b: &Bencher, chase: &mut Chase, first: usize) -> Result<f64, Failure> {
    chase.set_chains(1, first)?;
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let expected = chase.expected(TURNS);
        let start = b.clock().start();
        let sum = chase.run(TURNS);
        let stop = b.clock().stop();
        if sum != expected {
            let reason = format!("a single chain arrived at {sum}, expected {expected}");
            return Err(Failure::Refuted(reason));
        }
        let ns = b.clock().to_ns(stop.ticks.saturating_sub(start));
        times.push(ns / (TURNS * chase.operations_per_turn()) as f64);
    }
    Ok(order::high_median(&times).expect("there are several"))
}
