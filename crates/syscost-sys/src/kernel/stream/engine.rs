//! What executes a stream: machine code of our own, or the C library.

use super::super::{Entry, Simd, machine};
use super::Stream;
use crate::Unsupported;

/// How a stream is executed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine {
    Assembly(Entry),
    Memset,
    Memcpy,
}

/// Checks whether this processor supports the stream.
///
/// # Errors
/// `Unsupported` when it lacks these instructions, or the stream has not been written for it.
pub fn supports(stream: Stream, simd: Simd) -> Result<(), Unsupported> {
    engine(stream, simd).map(drop)
}

/// How this stream is executed, and its instructions for one vector.
pub(super) fn engine(stream: Stream, simd: Simd) -> Result<(Engine, &'static str), Unsupported> {
    Ok(match stream {
        Stream::Memset => (Engine::Memset, "memset"),
        Stream::Memcpy => (Engine::Memcpy, "memcpy"),
        _ => {
            let code = machine::stream::stream(stream, simd)?;
            (Engine::Assembly(code.entry), code.instructions)
        }
    })
}
