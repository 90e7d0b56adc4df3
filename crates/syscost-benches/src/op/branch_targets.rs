//! Branches that are always taken, by how many there are.
//!
//! ## Measures
//! One block of 16 bytes of code; `branches` of them stand in a row and are executed over and over.
//! `code=jumps`: each block adds one to a register and jumps to the next; the
//! bytes between would trap. `code=straight`: the same bytes with instructions that do nothing in
//! place of the jump, to show what fetching that much code costs by itself. The register counts the
//! blocks. The code is written when the benchmark starts.
//! ## Does not measure
//! Mispredicted directions (`op.branch_miss`), branches farther apart or several on few bytes,
//! whose share of the predictor differs. Where jumps cost more, the instruction cache may be the
//! reason as well as the predictor: 32 KiB hold 2048 blocks.
//! ## Interpretation
//! As long as the branch target buffer knows all targets, a jump takes one or two core cycles. Each
//! step upwards is a buffer that is full: the next level takes a cycle or more, and with none left
//! the core learns of the jump only when it has decoded it. A step that `straight` shows too is the
//! cache's. In a virtual machine the buffers may be shared with another one on the same core.
//! ## Source
//! The measurements of branch target buffers in processor reviews; not part of any published experiment.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Iteration, Jumps, Path, Work};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Branch target buffer (BTB): taken branches",
    tags: "btb capacity, branch predictor, jump",
    ..Benchmark::of::<BranchTargets>()
};

const BYTES_OF_CODE: &str = "the code's bytes";

static BLOCKS: Witness = Witness::of("blocks that one iteration counts", "kernel");
static JUMPS: Witness = Witness::of("jumps of an iteration", BYTES_OF_CODE);
static BYTES: Witness = Witness::of("bytes that an iteration leads through", BYTES_OF_CODE);

#[derive(Params, Clone)]
struct BranchTargets {
    code: Path,
    /// How many blocks of code stand in a row.
    branches: usize,
}

impl Measured for BranchTargets {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(BranchTargets {
            code: Path::ALL,
            branches: (7..=14).map(|power| 1 << power)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.code {
            Path::Jumps if [128, 512, 2048, 8192].contains(&self.branches) => Profile::Standard,
            Path::Jumps | Path::Straight => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        Jumps::write(Path::Jumps, 1).map(drop)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let jumps = Jumps::write(self.code, self.branches)?;
        // Decoded from the code itself, not from what was requested.
        let iteration = jumps.iteration()?;
        plan.observe(&BLOCKS, jumps.run(1));
        plan.observe(&JUMPS, iteration.jumps);
        plan.observe(&BYTES, iteration.span);
        let claim = "others than those of the blocks";
        plan.claim_equal(claim, Iteration::COUNTING, iteration.others, BYTES_OF_CODE);
        plan.measure(Kernel::of(&jumps))
    }

    fn proofs(&self) -> BranchTargetsProofs<Proof> {
        let branches = self.branches;
        BranchTargetsProofs {
            code: JUMPS.expects(match self.code {
                Path::Jumps => branches,
                Path::Straight => 0,
            }),
            branches: BLOCKS
                .expects(branches)
                .and(BYTES.expects(branches * Jumps::SPACING)),
        }
    }
}
