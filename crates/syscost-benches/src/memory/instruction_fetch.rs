//! How many bytes of code a core executes per second, going straight through it.
//!
//! ## Measures
//! Bytes of instructions executed per second, of code without a branch except the one from its end
//! to its beginning, executed repeatedly. `size` is its length: 16 KiB lie in a first-level
//! instruction cache, 512 KiB in a second-level cache, 16 MiB beyond it on most machines. It
//! consists of no-ops
//! (`op=nop`, 8 bytes each on x86-64, 4 on aarch64) or of additions to seven registers in rotation (`op=add`,
//! 4 bytes each). Each KiB adds its own number to a register. The code is written when the
//! benchmark starts, into small pages (`page_bytes`), as in most programs.
//! ## Does not measure
//! Branches (`op.branch_targets`), the latency of a single line of code that is far away, or code
//! that shares the second-level cache with data.
//! ## Interpretation
//! Near code is bound by instructions, not by bytes: a six-wide core executes at most 48 bytes of
//! `nop` and 24 of `add` per cycle, and a cache of decoded instructions may hold all of it. Farther
//! away the caches decide, together with prefetching: where both `op` give the same bytes, that is
//! the bound. It may be far below the bandwidth that `memory.bandwidth` reads from there, and
//! limits large programs with few loops. With 16 MiB each page also needs a translation that no
//! near TLB holds.
//! ## Source
//! The measurements of instruction fetch in processor reviews; not part of any published experiment here.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Fetch, Filler, Iteration, Work};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Instruction-fetch bandwidth",
    tags: "instruction cache, icache, l1i, front end, frontend, decode, code size",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    ..Benchmark::of::<InstructionFetch>()
};

const SIZES: [Bytes; 3] = [Bytes::kib(16), Bytes::kib(512), FAR];
const FAR: Bytes = Bytes::mib(16);

static FILLERS: Witness = Witness::of("instructions beside the blocks' heads", "the code's bytes");
static BYTES: Witness = Witness::of("bytes of the instructions of a turn", "the code's bytes");

/// Number of passes beforehand: a cache that receives what another one evicts has the code only then.
const LAPS: u64 = 3;

#[derive(Params, Clone)]
struct InstructionFetch {
    op: Filler,
    /// Bytes of code.
    size: Bytes,
}

impl Measured for InstructionFetch {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(InstructionFetch {
            op: Filler::ALL,
            size: SIZES
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            Filler::Nop if self.size != FAR => Profile::Standard,
            Filler::Nop | Filler::Add => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        Fetch::write(Filler::Nop, Fetch::BLOCK).map(drop)
    }

    fn proofs(&self) -> InstructionFetchProofs<Proof> {
        InstructionFetchProofs {
            op: FILLERS.expects(self.op.name()),
            size: BYTES.expects(self.size.0),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (filler, bytes) = (self.op, self.size.get());
        let fetch = Fetch::write(filler, bytes)?;
        let page = Pages::Small.bytes()?;
        plan.claim_resident(fetch.memory())?;
        plan.detail("page_bytes", page as f64);
        // The loop takes less than a page in addition to the blocks.
        let expected = (bytes + 1).next_multiple_of(page);
        let used = fetch.memory().bytes();
        plan.claim_equal("bytes of the code's pages", expected, used, "benchmark");
        let expected = LAPS * Fetch::sum(filler, (bytes / Fetch::BLOCK) as u64);
        let what = format!("numbers and additions of all blocks, added up in {LAPS} turns");
        plan.claim_equal(&what, expected, fetch.run(LAPS), "kernel");
        let iteration = fetch.iteration()?;
        let (what, of_it, others) = match filler {
            Filler::Nop => (
                "instructions that do nothing",
                iteration.nops,
                iteration.additions,
            ),
            Filler::Add => ("additions of one", iteration.additions, iteration.nops),
        };
        let heads = bytes / Fetch::BLOCK;
        let fillers = (bytes - heads * Fetch::HEAD) / filler.instruction_bytes();
        let source = "the code's bytes";
        plan.observe(&BYTES, iteration.bytes);
        plan.observe(&FILLERS, fillers_of(&iteration));
        plan.claim_equal(format!("of them {what}"), fillers, of_it, source);
        plan.claim_equal(
            "additions of a block's number",
            heads,
            iteration.numbers,
            source,
        );
        let others = others + iteration.jumps + iteration.loads;
        plan.claim_equal("others among them", 0, others, source);
        let claim = "others beside them";
        plan.claim_equal(claim, Iteration::COUNTING, iteration.others, source);
        plan.rate(Fetch::BLOCK as u64);
        plan.measure(Kernel::of(&fetch))
    }
}

fn fillers_of(iteration: &Iteration) -> &'static str {
    match (iteration.nops, iteration.additions) {
        (1.., 0) => Filler::Nop.name(),
        (0, 1..) => Filler::Add.name(),
        (0, 0) | (1.., 1..) => "none, or several kinds",
    }
}
