//! Processors for which no kernel has been written.

use super::written::Does;
use super::{
    Atomic, Branch, Call, Code, Filler, Forward, Kind, LoopShape, Operation, Path, Shape, Simd,
    Stream, VectorOperation,
};
use crate::Unsupported;

pub(super) type Entry = unsafe extern "C" fn(turns: u64, data: *mut u64, position: u64) -> u64;

const NONE: Result<Code, Unsupported> = Err(Unsupported(std::borrow::Cow::Borrowed(
    "its assembly is written for x86-64 and aarch64 only",
)));

pub(super) const ADD_CHAIN: Result<Code, Unsupported> = NONE;

pub(super) fn arithmetic(_: Operation, _: Kind, _: Shape) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn vector(_: Simd, _: VectorOperation, _: Shape) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn branch(_: Branch) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn atomic(_: Atomic) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn call(_: Call) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn empty_loop(_: LoopShape) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn stream(_: Stream, _: Simd) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn chase(_: usize) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn forward(_: Forward) -> Result<Code, Unsupported> {
    NONE
}

pub(super) fn jumps(_: Path, _: usize) -> Result<Vec<u8>, Unsupported> {
    NONE.map(|_| Vec::new())
}

pub(super) fn fetch(_: Filler, _: usize) -> Result<Vec<u8>, Unsupported> {
    NONE.map(|_| Vec::new())
}

pub(super) fn window(_: usize, _: usize) -> Result<Vec<u8>, Unsupported> {
    NONE.map(|_| Vec::new())
}

pub(super) const NOP_BYTES: usize = 1;

pub(super) const COUNTING: usize = 0;

pub(super) fn loads_in_a_row(_: Entry) -> usize {
    0
}

pub(super) fn decode(_: &[u8]) -> Option<(usize, Does)> {
    None
}
