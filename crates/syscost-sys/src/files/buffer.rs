//! Memory that direct I/O accepts.

use std::ops::{Deref, DerefMut};

/// Bytes that begin at a multiple of an alignment.
#[derive(Debug)]
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    /// This many bytes, all 0, at a multiple of `alignment` bytes.
    pub fn new(length: usize, alignment: usize) -> Self {
        let alignment = alignment.max(1);
        // Written, so that its pages are there; a vector never moves what it does not grow.
        let bytes = vec![0_u8; length + alignment];
        let start = bytes.as_ptr().addr().next_multiple_of(alignment) - bytes.as_ptr().addr();
        let mut buffer = Self {
            bytes,
            start,
            length,
        };
        buffer.fill(1);
        buffer.fill(0);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_where_it_is_to_begin() {
        for alignment in [1, 512, 4096] {
            let buffer = Buffer::new(1000, alignment);
            assert_eq!(buffer.as_ptr().addr() % alignment, 0);
            assert_eq!(buffer.len(), 1000);
        }
    }
}
