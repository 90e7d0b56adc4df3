//! Two loads that miss the caches, by the number of instructions between them.
//!
//! ## Measures
//! A step of one of two walks through memory, each of which learns its next place only from the
//! last one. Their steps alternate, with `instructions` no-ops after each. The two walks are
//! independent, so as long as the core holds both steps and everything between them, it waits for
//! both simultaneously. Where it cannot, it waits for one after the other, and a step takes about
//! twice as long. The walks go through 16 to 64 MiB in random order, as far as possible beyond the
//! last cache; the nodes they reach are the evidence.
//! ## Does not measure
//! The latency of memory (`memory.latency`), and other limits of what a core holds: registers,
//! loads, stores. A core that drops or fuses no-ops before they take a place seems to hold more
//! than it does; no known core fuses those of eight bytes that are used on x86-64.
//! ## Interpretation
//! The step in the curve is the size of the reorder buffer: `op.reorder_buffer_size`. A curve that
//! rises evenly has no step: the caches answered before the instructions between had passed. In a
//! virtual machine another thread may run on the same core, unseen, and take half of the buffer.
//! ## Source
//! Wong, Measuring Reorder Buffer Capacity (2013).

use std::cell::OnceCell;
use std::rc::Rc;

use syscost_harness::prelude::*;
use syscost_sys::frequency::core_frequency;
use syscost_sys::kernel::{self, Iteration, Jumps, Walks, Window, Work};
use syscost_sys::topology::Topology;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Reorder buffer: overlap of two cache misses",
    tags: "rob, out-of-order window, instruction window, out-of-order execution",
    ..Benchmark::of::<ReorderBuffer>()
};

/// Minimum and maximum bytes that the walks go through: beyond any second-level cache, and not too
/// long to be filled.
const BYTES: (u64, u64) = (16 << 20, 64 << 20);

/// Bytes of walks within the first cache, and the number of timed iterations along them.
const NEAR_BYTES: usize = 4 << 10;
const NEAR_TURNS: u64 = 200;

/// How often these iterations are timed.
const NEAR_TIMES: usize = 7;

/// Minimum time ratio for twice as many instructions, which holds even if the loads themselves
/// take some of the time.
const MIN_SLOPE: f64 = 1.5;

/// On an undisturbed core a time ratio below this shows that the instructions have not been executed.
const NO_SLOPE: f64 = 1.2;

/// Why a ratio between the two is inconclusive.
const DISTURBED: &str = "others may have used the core meanwhile";

/// Maximum instructions per cycle of any core.
const MAX_PER_CYCLE: f64 = 16.0;

/// Maximum frequency of any core, in GHz, used where the frequency is not known.
const FASTEST_GHZ: f64 = 6.5;

thread_local! {
    /// Created once per worker, for all its cases.
    static WALKS: OnceCell<Rc<Walks>> = const { OnceCell::new() };
}

const BYTES_OF_CODE: &str = "the code's bytes";

static FEWEST: Witness = Witness::of("instructions after a load, at the fewest", BYTES_OF_CODE);
static MOST: Witness = Witness::of("instructions after a load, at the most", BYTES_OF_CODE);

#[derive(Params, Clone)]
pub(super) struct ReorderBuffer {
    /// Instructions between two loads.
    pub(super) instructions: usize,
}

impl Measured for ReorderBuffer {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(ReorderBuffer {
            instructions: [
                64, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 640, 768,
            ]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.instructions.is_multiple_of(64) {
            true => Profile::Standard,
            false => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        Jumps::write(kernel::Path::Jumps, 1).map(drop)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let walks = walks(&mut plan)?;
        claim_walks(&mut plan, &walks)?;
        let window = window(&mut plan, self.instructions)?.along(walks);
        show_code(&mut plan, &window)?;
        plan.measure(Kernel::of(&window))
    }

    fn proofs(&self) -> ReorderBufferProofs<Proof> {
        let instructions = FEWEST.expects(self.instructions);
        ReorderBufferProofs {
            instructions: instructions.and(MOST.expects(self.instructions)),
        }
    }
}

/// Maximum share of the most frequent distance among the steps: an order with a larger one could be
/// prefetched.
const MAX_ALIKE: Bound = Bound::AtMost(0.1);

/// Claims that the walks go in random order through as much memory as they must.
fn claim_walks(b: &mut Bencher, walks: &Walks) -> Result<(), Failure> {
    b.claim_resident(walks.memory())?;
    let bound = Bound::Within(BYTES.0 as f64, BYTES.1 as f64);
    let claim = "bytes that the walks go through";
    b.claim_within(claim, bound, walks.bytes() as f64, "walk");
    let share = walks.share_of_most_frequent_step();
    let claim = "share of the most frequent distance among the steps";
    b.claim_within(claim, MAX_ALIKE, share, "walk");
    if !b.is_timed() {
        let (all, [one, other]) = (walks.nodes(), walks.visited());
        let least = one.min(other) as f64;
        let claim = "nodes that each walk comes by";
        b.claim(claim, all as f64, least, "walk", one == all && other == all);
    }
    Ok(())
}

/// Shows how many instructions the code has after each load; claims that there is nothing else.
fn show_code(b: &mut Bencher, window: &Window) -> Result<(), Failure> {
    let iteration = window.iteration()?;
    let (fewest, most) = iteration.after_loads.unwrap_or_default();
    let (steps, loads) = (window.operations_per_iteration(), iteration.loads as u64);
    let source = BYTES_OF_CODE;
    b.claim_equal("loads of a turn", steps, loads, source);
    b.observe(&FEWEST, fewest);
    b.observe(&MOST, most);
    let others = iteration.jumps + iteration.additions;
    b.claim_equal("jumps and additions among them", 0, others, source);
    let claim = "others than these and loads";
    b.claim_equal(claim, Iteration::COUNTING, iteration.others, source);
    Ok(())
}

/// The code for a case. Claims that the instructions between the loads are executed: where nothing
/// waits for memory, they take the time.
fn window(b: &mut Plan, fillers: usize) -> Result<Window, Failure> {
    let mut random = b.random().clone();
    let near = Rc::new(Walks::new(NEAR_BYTES, Pages::Small, |below| {
        random.usize(..below)
    })?);
    let windows = [
        Window::write(fillers, Rc::clone(&near))?,
        Window::write(fillers / 2, near)?,
    ];
    let clock = *b.clock();
    let ghz = core_frequency(&clock).agreed().unwrap_or(FASTEST_GHZ);
    let run = |window: &Window| {
        window.run(NEAR_TURNS);
    };
    let [whole, half] = &windows;
    let times = b.min_times(NEAR_TIMES, [&mut || run(whole), &mut || run(half)]);
    let step_cycles =
        |window: &Window, ns| ns * ghz / (NEAR_TURNS * window.operations_per_iteration()) as f64;
    let cycles = [
        step_cycles(whole, times.ns[0]),
        step_cycles(half, times.ns[1]),
    ];
    let [window, _] = windows;
    let [whole, half] = cycles;
    let least = (fillers + 1) as f64 / MAX_PER_CYCLE;
    b.claim_at_least(
        Claim::by_most("core cycles of a step within the first cache"),
        least,
        Ok::<_, String>(whole),
        "clock",
        "what half as many instructions take is held against it",
    );
    let slope = slope(whole / half);
    let (verdict, reason) = times.verdict(slope);
    let reason = reason.or((slope == Verdict::Unverified).then_some(DISTURBED));
    b.claim_verdict(
        Claim::by_most(
            "time of a step within the first cache over one with half as many instructions",
        ),
        format!("at least {MIN_SLOPE}"),
        whole / half,
        "clock",
        verdict,
        reason,
    );
    Ok(window)
}

/// Judges the time ratio of a step with twice as many instructions.
fn slope(ratio: f64) -> Verdict {
    match ratio {
        MIN_SLOPE.. => Verdict::Confirmed,
        NO_SLOPE.. => Verdict::Unverified,
        _ => Verdict::Refuted,
    }
}

fn walks(b: &mut Bencher) -> Result<Rc<Walks>, Failure> {
    if let Some(walks) = WALKS.with(|walks| walks.get().cloned()) {
        return Ok(walks);
    }
    let cache = Topology::here()
        .cpu(b.cpu())
        .and_then(|cpu| cpu.last_level_cache()?.size_bytes);
    let bytes = cache
        .map_or(BYTES.0, |bytes| 2 * bytes)
        .clamp(BYTES.0, BYTES.1) as usize;
    // With huge pages, if available, the walks need no page-table walks.
    let pages = match Memory::reserve(bytes, Pages::Huge) {
        Ok(_) => Pages::Huge,
        Err(_) => Pages::Small,
    };
    let mut random = b.random().clone();
    let mut filled = |pages| Walks::new(bytes, pages, |below| random.usize(..below)).map(Rc::new);
    let walks = match filled(pages) {
        Ok(walks) => walks,
        Err(_) => filled(Pages::Small)?,
    };
    Ok(WALKS.with(|kept| Rc::clone(kept.get_or_init(|| walks))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_take_no_time_are_refuted() {
        assert_eq!(slope(1.97), Verdict::Confirmed);
        assert_eq!(slope(1.4), Verdict::Unverified);
        for none in [1.0, 0.5, f64::NAN] {
            assert_eq!(slope(none), Verdict::Refuted);
        }
    }
}
