//! Procedure calls: a caller that prepares arguments as a compiler does, and a procedure that does
//! hardly more than return.

use super::branch::by_table;
use super::machine::call as code;
use super::table::{memory_with, random_words};
use super::{Checksum, Code, Kernel, Targets};
use crate::Unsupported;

/// The largest number of integer arguments of [`Call::Integer`]; on some machines the last ones do
/// not fit into registers.
pub const MAX_ARGUMENTS: u64 = 8;

/// The deepest [`Call::Recursion`], in calls.
pub const MAX_DEPTH: u64 = 1024;

/// The deepest [`Call::RecursionByChance`]: its choices are the bits of one word.
pub const MAX_DEPTH_BY_CHANCE: u64 = 64;

/// A kind of call. Preparing the arguments and using the result are part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Takes this many (0 to [`MAX_ARGUMENTS`]) 64-bit integers; returns the last, or 1.
    Integer(u64),
    /// Takes one 64-bit floating-point argument from memory; returns twice that.
    Double,
    /// Takes eight 64-bit floating-point arguments from memory; returns the last.
    EightDoubles,
    /// Takes a structure of 16 bytes by value, in two registers; returns the sum of its fields.
    StructArgument16,
    /// Takes a structure of 64 bytes by value, copied to memory for the callee; returns the sum of
    /// two fields.
    StructArgument64,
    /// Returns a structure of 16 bytes in two registers.
    StructReturn16,
    /// Returns a structure of 64 bytes in memory that the caller provides; the caller reads a field.
    StructReturn64,
    /// Through a pointer in a register that always leads to the same procedure.
    Pointer,
    /// Through a table of [`TARGETS`](super::TARGETS) pointers, chosen by a table of bytes.
    PointerByTable(Targets),
    /// Calls another library's procedure, by a stub that jumps through a slot, as linkers make it.
    LinkageStub,
    /// A virtual call: from the object to its table of methods, to the method, which reads a field.
    Virtual,
    /// A procedure that calls itself down to this depth (1 to [`MAX_DEPTH`]); one operation is one
    /// level, down and up again. All returns but the outermost lead to the same place, so that a
    /// core whose return stack has overflowed can still predict them.
    Recursion(u64),
    /// As [`Call::Recursion`], but each level chooses at random between two places to call from.
    /// The choice is a branch mispredicted half of the time at any depth; beyond the depth that the
    /// core's return stack holds, the returns are mispredicted too, and the difference is what such
    /// a return costs.
    RecursionByChance {
        /// Number of levels, 1 to [`MAX_DEPTH_BY_CHANCE`].
        depth: u64,
        /// Seed of the random choices.
        seed: u64,
    },
}

impl Call {
    /// The instructions that its name stands for here, as [`Kernel::instructions`] lists them.
    pub fn instructions(self) -> String {
        code::instructions(self)
    }
}

/// Returns the kernel of a call; one operation is a call with its return.
///
/// # Errors
/// More arguments or a greater depth than there is a kernel for, or none written for this architecture.
pub fn call(call: Call) -> Result<Kernel, Unsupported> {
    match call {
        Call::Integer(arguments) if arguments > MAX_ARGUMENTS => {
            return Err(Unsupported::new(format!(
                "{arguments} arguments: at most {MAX_ARGUMENTS}"
            )));
        }
        Call::Recursion(depth) => within(depth, MAX_DEPTH)?,
        Call::RecursionByChance { depth, .. } => within(depth, MAX_DEPTH_BY_CHANCE)?,
        _ => {}
    }
    let code = code_of(call)?;
    // A call and its return are two taken branches; no core executes more than two per cycle.
    let floor_cycles = 0.8;
    Ok(match call {
        Call::PointerByTable(targets) => by_table(code, targets, floor_cycles),
        Call::Recursion(depth) => nested(code, depth, &[depth], floor_cycles),
        Call::RecursionByChance { depth, seed } => {
            let mut words = memory_with(random_words(seed));
            words[0] = depth;
            nested(code, depth, &words, floor_cycles)
        }
        _ => {
            let (words, amount) = operands(call);
            Kernel::new(
                code,
                &words,
                Checksum::PerTurn(code.operations() * amount),
                floor_cycles,
            )
        }
    })
}

/// A kernel each of whose calls is nested this deep: as many calls, which the checksum counts.
fn nested(code: Code, depth: u64, words: &[u64], floor_cycles: f64) -> Kernel {
    let calls = depth * code.operations();
    Kernel {
        operations_per_iteration: calls,
        operations_in_code: None,
        ..Kernel::new(code, words, Checksum::PerTurn(calls), floor_cycles)
    }
}

fn code_of(call: Call) -> Result<Code, Unsupported> {
    Ok(match call {
        Call::Integer(arguments) => code::INTEGERS[arguments as usize],
        Call::Double => code::DOUBLE,
        Call::EightDoubles => code::EIGHT_DOUBLES,
        Call::StructArgument16 => code::STRUCT_ARGUMENT_16,
        Call::StructArgument64 => code::STRUCT_ARGUMENT_64,
        Call::StructReturn16 => code::STRUCT_RETURN_16,
        Call::StructReturn64 => code::STRUCT_RETURN_64,
        Call::Pointer => code::POINTER,
        Call::PointerByTable(_) => code::POINTER_BY_TABLE,
        Call::LinkageStub => code::linkage_stub()?,
        Call::Virtual => code::VIRTUAL,
        Call::Recursion(_) => code::RECURSION,
        Call::RecursionByChance { .. } => code::RECURSION_BY_CHANCE,
    })
}

fn within(depth: u64, limit: u64) -> Result<(), Unsupported> {
    if (1..=limit).contains(&depth) {
        return Ok(());
    }
    Err(Unsupported::new(format!(
        "a depth of {depth}: choose 1 to {limit}"
    )))
}

/// The kernel's memory, and what one call adds to the checksum.
fn operands(call: Call) -> ([u64; 8], u64) {
    let doubles = |from: f64| std::array::from_fn(|index| (from + index as f64).to_bits());
    match call {
        // Arguments are 1, 2, 3 and so on.
        Call::Integer(arguments) => ([0; 8], arguments.max(1)),
        Call::Double => (doubles(1.5), 3),
        Call::EightDoubles => (doubles(1.0), 8),
        Call::StructArgument16 => ([5, 6, 0, 0, 0, 0, 0, 0], 11),
        // The sum of the first and the last field.
        Call::StructArgument64 => ([1, 2, 3, 4, 5, 6, 7, 8], 9),
        // The callee returns 1 and 2.
        Call::StructReturn16 => ([0; 8], 3),
        // The callee fills every field with this.
        Call::StructReturn64 => ([7; 8], 7),
        // The object's field; its first word holds the pointer to the methods.
        Call::Virtual => ([0, 4, 0, 0, 0, 0, 0, 0], 4),
        _ => ([0; 8], 1),
    }
}
