//! Integer and floating-point operations, one at a time or as many as the core can overlap.

use syscost_params::Value;

use super::machine::{self, float, integer};
use super::{Checksum, Closed, Code, Kernel};
use crate::Unsupported;

/// The operation of the arithmetic unit.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Register plus register; never an immediate, which some cores handle at register renaming.
    Add,
    /// Register times register.
    Multiply,
    /// Quotient. Integers: a small dividend (15 bits) and a quotient of 8 bits. Floating point: 10/3 divided
    /// by a number with a full mantissa.
    Divide,
    /// Integer quotient with half as many bits as the dividend, which fills the type.
    DivideLong,
    /// Integer remainder, of operands as [`Operation::Divide`].
    Remainder,
    /// Integer remainder, of operands as [`Operation::DivideLong`].
    RemainderLong,
    /// Bitwise and of two registers.
    And,
    /// Bitwise exclusive or of two registers.
    Xor,
    /// Arithmetic shift to the right by one bit.
    Shift,
    /// Fused multiply-add, the chain going through the multiplicand (as in the evaluation of a polynomial).
    FusedMultiplyAdd,
    /// Square root of a number with a full mantissa.
    SquareRoot,
}

/// The type of the operands.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandType {
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 32-bit IEEE 754 number.
    F32,
    /// 64-bit IEEE 754 number.
    F64,
}

/// Which property of the operation is measured.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Each operation needs the result of the one before it: the time until a result can be used.
    Latency,
    /// Operations are independent: the average time from one to the next.
    Throughput,
}

impl Operation {
    /// The instructions that its name stands for here, as [`Kernel::instructions`] lists them.
    pub fn instructions(self, kind: OperandType, shape: Shape) -> String {
        match kind {
            OperandType::I32 | OperandType::I64 => integer::instructions(self, kind.bits(), shape),
            OperandType::F32 | OperandType::F64 => float::instructions(self, kind.bits(), shape),
        }
    }

    /// Core cycles (latency, throughput) somewhat below the lowest in published tables of x86-64 and aarch64
    /// cores: an addition takes 1 cycle and 8 of them start in a cycle, other operations take at
    /// least 2 and 6 of them start in a cycle, the fastest integer division takes 4 and
    /// floating-point division 6.
    const fn floor_cycles(self, kind: OperandType, shape: Shape) -> f64 {
        let (latency, throughput) = match (self, kind) {
            (
                Self::Add | Self::And | Self::Xor | Self::Shift,
                OperandType::I32 | OperandType::I64,
            ) => (0.8, 0.1),
            (
                Self::Divide
                | Self::DivideLong
                | Self::Remainder
                | Self::RemainderLong
                | Self::SquareRoot,
                _,
            ) => (3.5, 0.45),
            _ => (1.5, 0.12),
        };
        match shape {
            Shape::Latency => latency,
            Shape::Throughput => throughput,
        }
    }
}

impl OperandType {
    const fn bits(self) -> u32 {
        match self {
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 => 64,
        }
    }
}

/// Returns the kernel of an arithmetic operation.
///
/// Where the chain of a latency kernel cannot consist of the operation alone, [`Kernel::instructions`] says
/// what else the chain contains: remainders and square roots have one addition or exclusive or,
/// integer quotients a register move that most cores eliminate by renaming.
///
/// # Errors
/// The processor has no such instruction.
pub fn arithmetic(
    operation: Operation,
    kind: OperandType,
    shape: Shape,
) -> Result<Kernel, Unsupported> {
    let code = code_of(operation, kind, shape)?;
    let (words, checksum) = match kind {
        OperandType::I32 | OperandType::I64 => integer_operands(operation, kind, shape, code),
        OperandType::F32 => float_operands(operation, shape, code, &F32),
        OperandType::F64 => float_operands(operation, shape, code, &F64),
    };
    Ok(Kernel::new(
        code,
        &words,
        checksum,
        operation.floor_cycles(kind, shape),
    ))
}

fn code_of(operation: Operation, kind: OperandType, shape: Shape) -> Result<Code, Unsupported> {
    let all = match kind {
        OperandType::I32 | OperandType::I64 => integer_codes(operation)?,
        OperandType::F32 | OperandType::F64 => float_codes(operation)?,
    };
    let [latency64, throughput64, latency32, throughput32] = all;
    Ok(match (kind, shape) {
        (OperandType::I64 | OperandType::F64, Shape::Latency) => latency64,
        (OperandType::I64 | OperandType::F64, Shape::Throughput) => throughput64,
        (OperandType::I32 | OperandType::F32, Shape::Latency) => latency32,
        (OperandType::I32 | OperandType::F32, Shape::Throughput) => throughput32,
    })
}

/// The kernels of an operation on integers: latency and throughput of 64 bits, then of 32.
fn integer_codes(operation: Operation) -> Result<[Code; 4], Unsupported> {
    Ok(match operation {
        Operation::Add => integer::ADD,
        Operation::Multiply => integer::MULTIPLY,
        Operation::And => integer::AND,
        Operation::Xor => integer::XOR,
        Operation::Shift => integer::SHIFT,
        Operation::Divide | Operation::DivideLong => integer::DIVIDE,
        Operation::Remainder | Operation::RemainderLong => integer::REMAINDER,
        Operation::FusedMultiplyAdd | Operation::SquareRoot => {
            return Err(Unsupported::new(format!(
                "{} has no such instruction for integers",
                machine::NAME
            )));
        }
    })
}

/// As [`integer_codes`], on floating-point numbers.
fn float_codes(operation: Operation) -> Result<[Code; 4], Unsupported> {
    use float::*;
    Ok(match operation {
        Operation::Add => [ADD_64, ADDS_64, ADD_32, ADDS_32],
        Operation::Multiply => [MULTIPLY_64, MULTIPLIES_64, MULTIPLY_32, MULTIPLIES_32],
        Operation::Divide => [DIVIDE_64, DIVIDES_64, DIVIDE_32, DIVIDES_32],
        Operation::SquareRoot => [ROOT_64, ROOTS_64, ROOT_32, ROOTS_32],
        Operation::FusedMultiplyAdd => {
            has_fused()?;
            [FUSED_64, FUSEDS_64, FUSED_32, FUSEDS_32]
        }
        Operation::Remainder | Operation::RemainderLong => {
            return Err(Unsupported::new(
                "no instruction: a floating remainder is a library's loop",
            ));
        }
        Operation::DivideLong => {
            return Err(Unsupported::new("floating divisions have no long form"));
        }
        Operation::And | Operation::Xor | Operation::Shift => {
            return Err(Unsupported::new("bitwise operations are for integers"));
        }
    })
}

/// A kernel whose operation is a chain of exactly `adds` dependent 64-bit additions, so that its true cost is
/// `adds` core cycles: the yardstick of the self-test.
///
/// # Errors
/// `adds` does not divide the 200 additions of an iteration.
pub fn dependent_adds(adds: u64) -> Result<Kernel, Unsupported> {
    let code = integer::CHAIN;
    let per_iteration = code.operations();
    if adds == 0 || !per_iteration.is_multiple_of(adds) {
        return Err(Unsupported::new(format!(
            "a chain of {adds} additions: choose a divisor of {per_iteration}"
        )));
    }
    let checksum = Checksum::PerTurn(per_iteration);
    Ok(Kernel {
        operations_per_iteration: per_iteration / adds,
        operations_in_code: None,
        ..Kernel::new(code, &[0, 1], checksum, 0.8 * adds as f64)
    })
}

/// The operands (start or dividend, second operand or divisor, correction) and the checksum they lead to.
fn integer_operands(
    operation: Operation,
    kind: OperandType,
    shape: Shape,
    code: Code,
) -> ([u64; 3], Checksum) {
    let bits = kind.bits();
    let fits = |value: u64| {
        if bits == 32 {
            value & u64::from(u32::MAX)
        } else {
            value
        }
    };
    let Code { chains, .. } = code;
    let steps_per_iteration = code.operations() / chains;
    // About the square root of the largest integer, so that its square fills the type.
    let long = if bits == 32 { 46_337 } else { 3_037_000_493 };
    let divisor = match operation {
        Operation::DivideLong | Operation::RemainderLong => long,
        _ => 181,
    };
    let constant =
        |words: [u64; 3], result: u64| (words.map(fits), Checksum::PerTurn(fits(result)));
    match operation {
        Operation::Add => {
            let closed = Closed::Counters {
                chains,
                steps_per_iteration,
                limit: u64::MAX,
                bits,
            };
            ([0, 1, 0], Checksum::Closed(closed))
        }
        Operation::Multiply => {
            let closed = Closed::Powers {
                chains,
                steps_per_iteration,
                base: 3,
                bits,
            };
            ([1, 3, 0], Checksum::Closed(closed))
        }
        Operation::And => constant(
            [0x5555_1111_5555_1111, 0x7777_3333_7777_3333, 0],
            0x5555_1111_5555_1111,
        ),
        Operation::Xor => constant(
            [0x0123_4567_89AB_CDEF, 0x5A5A_A5A5_5A5A_A5A5, 0],
            0x0123_4567_89AB_CDEF,
        ),
        Operation::Shift => constant([u64::MAX, 0, 0], u64::MAX),
        Operation::Remainder | Operation::RemainderLong => {
            let remainder = divisor / 2;
            let words = [divisor * divisor + remainder, divisor, divisor - remainder];
            constant(
                words,
                if shape == Shape::Latency {
                    divisor
                } else {
                    remainder
                },
            )
        }
        _ => constant([divisor * divisor, divisor, 0], divisor),
    }
}

/// What the choice of floating-point operands depends on, for one type. Values are bit patterns.
struct Float {
    bits: fn(f64) -> u64,
    quotient: fn(u64, u64) -> u64,
    root: fn(u64) -> u64,
    /// The value at which adding 1 stops having an effect.
    limit: u64,
}

const F64: Float = Float {
    bits: f64::to_bits,
    quotient: |a, b| (f64::from_bits(a) / f64::from_bits(b)).to_bits(),
    root: |a| f64::from_bits(a).sqrt().to_bits(),
    limit: 1 << 53,
};

const F32: Float = Float {
    bits: |value| u64::from((value as f32).to_bits()),
    quotient: |a, b| u64::from((f32::from_bits(a as u32) / f32::from_bits(b as u32)).to_bits()),
    root: |a| u64::from(f32::from_bits(a as u32).sqrt().to_bits()),
    limit: 1 << 24,
};

/// The operands and the checksum they lead to. The checksum of a constant result is its bit pattern.
fn float_operands(
    operation: Operation,
    shape: Shape,
    code: Code,
    float: &Float,
) -> ([u64; 3], Checksum) {
    let bits = float.bits;
    match operation {
        Operation::Multiply => {
            let start = bits(1.772_453_850_905_516);
            ([start, bits(2.0), bits(0.5)], Checksum::PerTurn(start))
        }
        Operation::Divide => {
            let dividend = bits(10.0 / 3.0);
            // Dividing by the quotient gives the divisor back except for rounding: find a pair
            // where it does exactly.
            let mut divisor = bits(1.772_453_850_905_516);
            let mut partner = (float.quotient)(dividend, divisor);
            while (float.quotient)(dividend, partner) != divisor {
                divisor = (float.quotient)(dividend, partner);
                partner = (float.quotient)(dividend, divisor);
            }
            ([divisor, dividend, partner], Checksum::PerTurn(divisor))
        }
        Operation::SquareRoot => {
            let square = bits(std::f64::consts::E);
            let root = (float.root)(square);
            // In a chain, the exclusive or with the third word turns the root back into the
            // square.
            let result = if shape == Shape::Latency {
                square
            } else {
                root
            };
            ([square, square, square ^ root], Checksum::PerTurn(result))
        }
        // Add, and fused multiply-add with a factor of 1, count.
        _ => {
            let chains = code.chains;
            let steps_per_iteration = code.operations() / chains;
            let closed = Closed::Counters {
                chains,
                steps_per_iteration,
                limit: float.limit,
                bits: 64,
            };
            ([0, bits(1.0), bits(1.0)], Checksum::Closed(closed))
        }
    }
}
