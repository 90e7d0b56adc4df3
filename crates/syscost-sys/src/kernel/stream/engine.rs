//! Who does a stream: machine code of our own, or the C library.

use super::super::{Simd, machine};
use super::Stream;
use crate::Unsupported;

/// How a stream is done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine {
    Assembly(machine::Entry),
    Memset,
    Memcpy,
}

/// Whether there is such a stream on this processor.
///
/// # Errors
/// `Unsupported` when it has not these instructions, or nobody has written them for it.
pub fn supports(stream: Stream, simd: Simd) -> Result<(), Unsupported> {
    engine(stream, simd).map(drop)
}

/// How this stream is done, and its instructions for one vector.
pub(super) fn engine(stream: Stream, simd: Simd) -> Result<(Engine, &'static str), Unsupported> {
    Ok(match stream {
        Stream::Memset => (Engine::Memset, "memset"),
        Stream::Memcpy => (Engine::Memcpy, "memcpy"),
        _ => {
            let code = machine::stream(stream, simd)?;
            (Engine::Assembly(code.entry), code.instructions)
        }
    })
}
