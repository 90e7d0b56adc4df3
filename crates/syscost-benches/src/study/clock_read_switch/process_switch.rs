//! Two child processes that pass a byte back and forth, the minimum of several runs, as the clock-read-switch
//! experiment took it.
//!
//! ## Measures
//! 20, 200 or 20 000 bytes passed from one child to the other and back through two pipes, between two
//! readings of gettimeofday by the child that writes first, which waits until the other is ready; per byte;
//! the minimum of several runs, each with new children. How many runs is not published: here 10, and 2
//! of 20 000. `hint=none` lets the kernel place the children, as published. `hint=same_cpu` stands for the
//! published hint to keep them together: it binds both to one CPU, since Linux has no such hint.
//! ## Does not measure
//! A switch, unless both share a CPU: left alone, each may have a CPU that waits idle for it. The details
//! show it: `placed_on_one_cpu_percent` of all runs ended with both on one CPU,
//! `placed_best_on_one_cpu_percent` of those that were the minimum of a result. With
//! `hint=same_cpu` both must have been on one, and a child must have left it for each byte.
//! ## Interpretation
//! Compare with half of `switch.pipe{between=processes,cpus=same}`.
//! ## Source
//! The clock-read-switch experiment, part 3 (docs/studies/clock-read-switch.md).

use syscost_harness::prelude::*;

use super::super::procedure::Unpinned;
use super::STEP_NS;
use super::children::{Passed, pass};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.clock_read_switch.process_switch",
    title: "Process switch, as published",
    tags: &["context switch", "ping-pong", "pipe"],
    cases: Cases::Grid(&[
        ("in_a_row", &["20", "200", "20000"]),
        ("hint", &["none", "same_cpu"]),
    ]),
    // The children do all the work; this task waits for them a few times in a run, of at least 20 bytes.
    expect: &[at_most(Counter::VoluntarySwitches, 0.5)],
    // It is not known beforehand where unpinned children run.
    disregards_neighbours: |case| case.get("hint") == "none",
    run,
    source: include_str!("process_switch.rs"),
    ..Benchmark::DEFAULT
};

/// Number of runs whose minimum is a result: of few bytes, and of many.
const RUNS: u64 = 10;
const LONG_RUNS: u64 = 2;

/// What was observed in the runs of all results.
#[derive(Debug, Default)]
struct Seen {
    runs: u64,
    together: u64,
    results: u64,
    best_together: u64,
    messages: u64,
    received: u64,
    switches: u64,
    faults: u64,
    best_ns: f64,
}

impl Seen {
    /// Notes the runs of one result; returns the shortest one, in ns.
    fn note(&mut self, runs: &[Passed], messages: u64) -> Option<f64> {
        for run in runs {
            self.runs += 1;
            self.together += u64::from(run.on_one_cpu == Some(true));
            self.messages += messages;
            self.received += run.received;
            self.switches += run.switches;
            self.faults += run.faults;
        }
        let fastest = runs
            .iter()
            .min_by(|one, other| one.ns.total_cmp(&other.ns))?;
        self.results += 1;
        self.best_together += u64::from(fastest.on_one_cpu == Some(true));
        self.best_ns = fastest.ns;
        Some(fastest.ns)
    }
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let messages = b.case().number("in_a_row");
    let runs = if messages > 1000 { LONG_RUNS } else { RUNS };
    let is_pinned = b.case().is("hint", "same_cpu", "none")?;
    let (unpinned, cpus) = match is_pinned {
        true => (None, vec![b.cpu()]),
        false => (Some(Unpinned::new(b)?), b.allowed().to_vec()),
    };
    let mut seen = Seen::default();
    b.as_published(runs * messages, || {
        let passed = (0..runs).map(|_| pass(messages, &cpus));
        let passed: Vec<Passed> = passed.collect::<Result<_, _>>()?;
        let fastest = seen.note(&passed, messages);
        let fastest = fastest.ok_or_else(|| Failure::Broken("makes no run".into()))?;
        Ok(fastest / messages as f64)
    })?;
    drop(unpinned);
    b.claim_equal(
        "bytes received per byte sent",
        1.0,
        seen.received as f64 / seen.messages as f64,
        "both children",
    );
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
    let together = percent(seen.together, seen.runs);
    let switches_per_byte = seen.switches as f64 / seen.messages as f64;
    if is_pinned {
        let claim = "runs that ended with both on one CPU, in percent";
        b.claim_equal(claim, 100.0, together, "getcpu");
        // From the first byte to the last: no byte is read before its writer has left their one CPU.
        let claim = "switches of both children per byte";
        b.claim_within(claim, Bound::AtLeast(0.9), switches_per_byte, "getrusage");
    }
    b.detail("placed_on_one_cpu_percent", together);
    b.detail(
        "placed_best_on_one_cpu_percent",
        percent(seen.best_together, seen.results),
    );
    b.detail("switches_per_byte_count", switches_per_byte);
    b.detail(
        "page_faults_per_run_count",
        seen.faults as f64 / seen.runs as f64,
    );
    b.detail("clock_step_percent", 100.0 * STEP_NS / seen.best_ns);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_run_decides_and_all_are_counted() {
        let run = |ns, on_one_cpu| Passed {
            ns,
            received: 20,
            on_one_cpu: Some(on_one_cpu),
            switches: 20,
            faults: 3,
        };
        let mut seen = Seen::default();
        let runs = [
            run(50_000.0, false),
            run(49_000.0, true),
            run(60_000.0, false),
        ];
        assert_eq!(seen.note(&runs, 20), Some(49_000.0));
        assert_eq!((seen.runs, seen.together), (3, 1));
        assert_eq!((seen.results, seen.best_together), (1, 1));
        assert_eq!((seen.messages, seen.received), (60, 60));
    }
}
