//! Floating-point operations per second, by width, of one thread and of all CPUs.
//!
//! ## Measures
//! How many additions and multiplications of 64-bit numbers per second all threads make together,
//! in fused operations on registers: each counts as two for each of its numbers. `bits` is the
//! width of a register: 64 holds one number, 512 eight. Each thread is pinned to a separate CPU and
//! has twelve independent chains. Every lane of every chain counts the operations, so that none can
//! be missing; a run with a factor other than the 1 that they count with shows that the same
//! instructions also multiply.
//! ## Does not measure
//! What a program achieves that also loads and stores its numbers (`memory.bandwidth`); 32-bit
//! numbers, of which twice as many fit; matrix units.
//! ## Interpretation
//! Divided by the core's frequency (`timing.core_frequency`) it is the operations per core cycle:
//! two units of 512 bits perform 32. Where 512 bits give less than twice the rate of 256, the core
//! has half as many units, or a lower frequency, for the wide ones. All CPUs together give less
//! than one CPU's rate times their number where cores lower their clocks together, or two threads
//! share a core's units. A core that can overlap more than twelve operations (four units, each of
//! four cycles) does not reach its peak here.
//! ## Source
//! Peak performance as vendors define it, and as LINPACK approaches it.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{self, Shape, Simd, VectorOperation};

use super::Bits;
use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Peak floating-point performance, 64-bit",
    tags: "gflops, flop/s, peak flops, fma, fused multiply-add, double precision, avx2, avx-512, \
        roofline, linpack, likwid-bench",
    // Since revision 2 the unit is FLOP/s.
    revision: 2,
    unit: Unit::FlopsPerSecond,
    better: Better::Higher,
    ..Benchmark::of::<Flops>()
};

/// Maximum number of threads.
const MAX_THREADS: u32 = 512;

/// Iterations of the kernel between two comparisons of its checksum: enough to make the cost of
/// entering and leaving it negligible.
const TURNS: u64 = 64;

static COUNTED: Witness = Witness::of(
    "numbers that an instruction counts in",
    "the kernel's checksum",
);

#[derive(Params, Clone)]
struct Flops {
    bits: Bits,
    /// How many threads compute at once, each on a separate CPU.
    threads: Copies,
}

impl Measured for Flops {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let all = here.allowed.len().max(1) as u32;
        let mut threads = vec![Copies(1), Copies(all.min(MAX_THREADS))];
        threads.dedup();
        rows!(Flops {
            bits: Bits::ALL,
            threads: threads.iter().copied()
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.bits, self.threads) {
            (Bits::B256 | Bits::B512, Copies(1)) => Profile::Quick,
            (Bits::B64, Copies(1)) | (Bits::B256 | Bits::B512, _) => Profile::Standard,
            (Bits::B64 | Bits::B128, _) => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        kernel(self.bits).map(drop)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (one, simd) = kernel(self.bits)?;
        // The checksum is the sum of all lanes, each of which counts its fused operations: an addition
        // and a multiplication.
        let per_iteration = 2 * one.expected(TURNS);
        plan.observe(
            &COUNTED,
            one.run(TURNS) / (TURNS * one.operations_per_iteration),
        );
        code::show(&mut plan, &one);
        let mut outcome = plan.measure(Copied::of(
            Between::Threads,
            self.threads.0 as usize,
            per_iteration,
            move |_| {
                let (kernel, simd) = kernel(self.bits)?;
                multiplies(&kernel, simd)?;
                Ok(move || {
                    let expected = kernel.expected(TURNS);
                    match kernel.run(TURNS) {
                        sum if sum == expected => Ok(()),
                        sum => Err(format!(
                            "the kernel's checksum is {sum}, expected {expected}"
                        )),
                    }
                })
            },
        ))?;
        let [expected, observed] = one.products(simd);
        let claim = "sum of one turn with a factor of 2 and an addend of 3";
        outcome.claim_equal(claim, expected, observed, "kernel");
        Ok(outcome)
    }

    fn proofs(&self) -> FlopsProofs<Proof> {
        let (operation, shape) = (VectorOperation::FusedMultiplyAdd, Shape::Throughput);
        let instructions = code::consists_of(self.bits.instructions(operation, shape));
        let (lanes, floor) = (
            lanes(self.bits),
            kernel(self.bits).map(|(one, _)| one.floor_cycles),
        );
        let floor = floor.unwrap_or_default() / (2 * lanes) as f64;
        FlopsProofs {
            bits: instructions
                .and(COUNTED.expects(lanes))
                .and(Proof::counted([costs(Counter::CoreCycles, floor)])),
            threads: Proof::by_tasks(),
        }
    }
}

/// Twelve chains of fused operations on registers of this width, and the vector extension of these
/// registers.
fn kernel(bits: Bits) -> Result<(kernel::Kernel, Option<Simd>), Unsupported> {
    bits.kernel(VectorOperation::FusedMultiplyAdd, Shape::Throughput)
}

/// 64-bit numbers in a register.
const fn lanes(bits: Bits) -> u64 {
    match bits {
        Bits::B64 => 1,
        Bits::B128 => 2,
        Bits::B256 => 4,
        Bits::B512 => 8,
    }
}

/// Checks that the kernel, which each thread runs itself, multiplies.
fn multiplies(kernel: &kernel::Kernel, simd: Option<Simd>) -> Result<(), Failure> {
    let [expected, observed] = kernel.products(simd);
    match observed == expected {
        true => Ok(()),
        false => Err(Failure::Refuted(format!(
            "with a factor of 2 an iteration comes to {observed}, expected {expected}: it does not multiply"
        ))),
    }
}
