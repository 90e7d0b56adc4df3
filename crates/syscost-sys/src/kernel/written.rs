//! Code written at run time, for kernels whose length is a parameter.

use std::mem::transmute;
use std::{ptr, slice};

use super::{Entry, machine};
use crate::memory::{Memory, Pages};
use crate::{Unsupported, cold_code, os};

/// Executable code in small pages of its own, no longer writable.
#[derive(Debug)]
pub(super) struct Written {
    memory: Memory,
}

impl Written {
    /// Makes these instructions executable.
    ///
    /// # Errors
    /// `Unsupported` where the system does not let a process write code, or has no room for it.
    pub(super) fn new(code: &[u8]) -> Result<Self, Unsupported> {
        let memory = Memory::reserve(code.len(), Pages::Small)?;
        // SAFETY: the memory is at least as long, and nothing else refers to it.
        let copy = unsafe {
            ptr::copy_nonoverlapping(code.as_ptr(), memory.start(), code.len());
            slice::from_raw_parts(memory.start(), code.len())
        };
        // No instruction cache may still hold what was at these addresses before.
        cold_code::evict(copy);
        let bytes = memory.bytes();
        os::make_executable(memory.start(), bytes).map_err(|cause| {
            Unsupported::new(format!(
                "execute {bytes} bytes of code written at run time: {cause}"
            ))
        })?;
        Ok(Self { memory })
    }

    /// The entry of the code, which must keep to the calling convention of kernels.
    #[inline]
    pub(super) fn entry(&self) -> Entry {
        // SAFETY: the memory begins with code; calling it remains unsafe.
        unsafe { transmute::<*mut u8, Entry>(self.memory.start()) }
    }

    /// The memory that the code lies in, which can only be read and executed.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What one iteration of the code executes, decoded from the bytes that are run.
    pub(super) fn iteration(&self) -> Result<Iteration, Unsupported> {
        // SAFETY: the memory is ours, of that length, and no longer writable.
        let code = unsafe { slice::from_raw_parts(self.memory.start(), self.memory.bytes()) };
        Iteration::read(code)
    }
}

/// The effect of an instruction of written code, according to its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Nothing.
    Nothing,
    /// Adds one to a register.
    AddsOne,
    /// Adds the number of a block.
    AddsNumber,
    /// Loads the address for the next step.
    Loads,
    /// Continues this many bytes after its own beginning, as long as there are iterations left.
    Jumps(isize),
    /// Part of the prologue, the loop's counting or the epilogue.
    Else,
}

/// The instructions executed in one iteration of written code, counted by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Iteration {
    /// Bytes from the iteration's beginning to its end, without the instructions that count
    /// iterations.
    pub span: usize,
    /// Bytes of the instructions executed, without those that count iterations.
    pub bytes: usize,
    /// Instructions that do nothing.
    pub nops: usize,
    /// Additions of one.
    pub additions: usize,
    /// Additions of a block's number.
    pub numbers: usize,
    /// Loads.
    pub loads: usize,
    /// Jumps forward.
    pub jumps: usize,
    /// All other instructions except the jump back: [`Iteration::COUNTING`] of them, if they only count
    /// iterations.
    pub others: usize,
    /// Minimum and maximum number of no-ops between a load and the next one, or the iteration's
    /// end.
    pub after_loads: Option<(usize, usize)>,
}

impl Iteration {
    /// Instructions that count iterations.
    pub const COUNTING: usize = machine::written::COUNTING;

    /// Follows the code from its beginning to its first jump back, and from there until it jumps back again.
    fn read(code: &[u8]) -> Result<Self, Unsupported> {
        let (_, top) = Self::until_back(code, 0)?;
        let (iteration, again) = Self::until_back(code, top)?;
        match again == top {
            true => Ok(iteration),
            false => Err(Unsupported::new("written code whose iterations differ")),
        }
    }

    /// What is executed from `begin` until the first jump back, and where that leads.
    fn until_back(code: &[u8], begin: usize) -> Result<(Self, usize), Unsupported> {
        let mut iteration = Self::default();
        let mut at = begin;
        let mut nops_before = 0;
        let after_load = |iteration: &mut Self, nops_before: usize| {
            if iteration.loads > 0 {
                let since = iteration.nops - nops_before;
                let (least, most) = iteration.after_loads.unwrap_or((since, since));
                iteration.after_loads = Some((least.min(since), most.max(since)));
            }
        };
        loop {
            let read = code.get(at..).and_then(machine::written::decode);
            let (length, does) = read.ok_or_else(|| {
                Unsupported::new(format!(
                    "an unknown instruction at byte {at} of written code"
                ))
            })?;
            match does {
                Does::Nothing => iteration.nops += 1,
                Does::AddsOne => iteration.additions += 1,
                Does::AddsNumber => iteration.numbers += 1,
                Does::Loads => {
                    after_load(&mut iteration, nops_before);
                    nops_before = iteration.nops;
                    iteration.loads += 1;
                }
                Does::Jumps(by) if by <= 0 => {
                    after_load(&mut iteration, nops_before);
                    return Ok((iteration, at.saturating_add_signed(by)));
                }
                Does::Jumps(_) => iteration.jumps += 1,
                Does::Else => iteration.others += 1,
            }
            if does != Does::Else {
                iteration.bytes += length;
                iteration.span = at + length - begin;
            }
            at = match does {
                Does::Jumps(by) => at.saturating_add_signed(by),
                _ => at + length,
            };
            if let Does::Jumps(_) = does {
                iteration.span = at - begin;
            }
        }
    }
}
