//! Integer operations, 32 and 64 bits: latency and reciprocal throughput.
//!
//! ## Measures
//! `latency`: a chain in which each operation needs the result before it. `throughput`: twelve
//! independent chains, enough that the core never waits for a result. Operands are in registers;
//! the loop around them costs less than 1 %. `divide` and `remainder` have a dividend of 15 bits
//! and a divisor of 8, `divide_long` a dividend that fills the type and a divisor half as long:
//! cores whose divider stops early take different times for them. The dividend is extended to
//! double length first, as a compiler does. A chain of quotients contains a register move, which
//! most cores rename away; one of remainders an addition, which is included.
//! ## Does not measure
//! Operands from memory (`memory.latency`), other lengths of quotient, constants as divisors:
//! compilers replace those by multiplications.
//! ## Interpretation
//! Look at the core cycles: an addition takes 1 cycle on nearly all cores and is what core cycles
//! are counted with; a multiplication takes 3 to 4, a division 10 to 90 on older cores and 10 to 18
//! on newer ones. A throughput of 0.25 cycles means that four of these start in every cycle.
//! ## Source
//! lmbench `lat_ops` and `par_ops` (its `bit` is the `xor` here); latency and throughput as
//! instruction tables define them.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{OperandType, Operation, Shape, arithmetic};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Integer operation, latency and throughput",
    tags: "instruction latency, alu, arithmetic, add, multiply, divide, cpi, lat_ops, par_ops",
    roles: roles!(
        OpInteger {
            op: Operation::Add,
            r#type: OperandType::I64,
            shape: Shape::Latency,
        } => Role::Addition,
        OpInteger {
            op: Operation::Divide,
            r#type: OperandType::I64,
            shape: Shape::Latency,
        } => Role::Division,
    ),
    ..Benchmark::of::<OpInteger>()
};

static RESULT: Witness = Witness::of("what an iteration comes to", "the instructions' checksum");

#[derive(Params, Clone)]
struct OpInteger {
    op: Operation,
    r#type: OperandType,
    shape: Shape,
}

impl Measured for OpInteger {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        use Operation::{Add, Divide, DivideLong, Multiply, Remainder, Shift, Xor};
        rows!(OpInteger {
            op: [Add, Xor, Shift, Multiply, Divide, DivideLong, Remainder],
            r#type: [OperandType::I32, OperandType::I64],
            shape: Shape::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        let is_common = matches!(
            self.op,
            Operation::Add | Operation::Multiply | Operation::Divide
        );
        let is_alike = matches!(self.op, Operation::Xor | Operation::DivideLong);
        if self.r#type != OperandType::I64 || is_alike {
            Profile::Full
        } else if self.shape == Shape::Latency && is_common {
            Profile::Quick
        } else {
            Profile::Standard
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        arithmetic(self.op, self.r#type, self.shape).map(drop)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let kernel = arithmetic(self.op, self.r#type, self.shape)?;
        plan.observe(&RESULT, format!("{:#x}", kernel.run(1)));
        code::measure(plan, &kernel)
    }

    fn proofs(&self) -> OpIntegerProofs<Proof> {
        let instructions = self.op.instructions(self.r#type, self.shape);
        let instructions = code::consists_of(instructions);
        // How long the operands of a division are shows in what comes out.
        let result = match arithmetic(self.op, self.r#type, self.shape) {
            Ok(kernel) => RESULT.expects(format!("{:#x}", kernel.expected(1))),
            Err(_) => Proof::default(),
        };
        OpIntegerProofs {
            op: instructions.clone().and(result),
            r#type: instructions.clone(),
            shape: instructions,
        }
    }
}
