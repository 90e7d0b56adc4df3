//! Shared: a message, whose contents tell its number.

use std::ffi::c_long;

/// Where its bytes begin: what follows a page's start is as any other buffer of that size.
const PAGE: usize = 4096;

/// Before the bytes there is room for the type that a SysV queue wants.
const TYPE: usize = size_of::<c_long>();

/// And for the head of an ICMP echo.
const HEAD: usize = 8;

/// Bytes of this room.
const ROOM: usize = if TYPE > HEAD { TYPE } else { HEAD };

/// Bytes that tell the number of a message.
const NUMBER: usize = size_of::<u64>();

/// This many bytes at the start of a page, never paged in while they are measured.
pub(crate) struct Message {
    buffer: Vec<u8>,
    start: usize,
}

impl Message {
    /// A message of this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        // Other than zeros, so that every page is there from now on.
        let mut buffer = vec![0xFF; bytes + ROOM + PAGE];
        let address = buffer.as_ptr().addr();
        let start = (address + ROOM).next_multiple_of(PAGE) - address;
        let only_type: c_long = 1;
        buffer[start - TYPE..start].copy_from_slice(&only_type.to_ne_bytes());
        buffer.truncate(start + bytes);
        Self { buffer, start }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..]
    }

    /// The type and the bytes behind it.
    pub(super) fn typed(&self) -> &[u8] {
        &self.buffer[self.start - TYPE..]
    }

    /// As [`Message::typed`].
    pub(super) fn typed_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start - TYPE..]
    }

    /// Eight bytes for a head of the protocol's, and the bytes behind it.
    pub(crate) fn headed(&self) -> &[u8] {
        &self.buffer[self.start - HEAD..]
    }

    /// As [`Message::headed`].
    pub(crate) fn headed_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start - HEAD..]
    }

    /// Makes it the message of this number: its first bytes tell it, and if it is to be `whole`, every byte depends on it.
    pub(crate) fn write(&mut self, number: u64, whole: bool) {
        let bytes = self.bytes_mut();
        if whole {
            let mut words = lanes(number);
            for places in bytes.chunks_mut(LANES * NUMBER) {
                for (place, word) in places.chunks_mut(NUMBER).zip(&mut words) {
                    place.copy_from_slice(&word.to_le_bytes()[..place.len()]);
                    *word = word.wrapping_mul(ODD).rotate_left(23);
                }
            }
        } else {
            let told = bytes.len().min(NUMBER);
            bytes[..told].copy_from_slice(&number.to_le_bytes()[..told]);
        }
    }

    /// The number it tells, of which one shorter than 8 bytes holds the lower part.
    pub(crate) fn number(&self) -> u64 {
        le(&self.bytes()[..self.bytes().len().min(NUMBER)])
    }

    /// So much of a number as a message of this size tells.
    pub(super) fn part(&self, number: u64) -> u64 {
        match self.bytes().len() {
            short @ ..NUMBER => number & ((1 << (8 * short)) - 1),
            _ => number,
        }
    }

    /// A checksum of all its bytes and their order.
    pub(super) fn sum(&self) -> u64 {
        let add = |sum: u64, word: u64| (sum ^ word).wrapping_mul(ODD).rotate_left(29);
        let mut sums = lanes(1);
        for places in self.bytes().chunks(LANES * NUMBER) {
            for (place, sum) in places.chunks(NUMBER).zip(&mut sums) {
                *sum = add(*sum, le(place));
            }
        }
        sums.into_iter().fold(1, add)
    }
}

/// Odd, so that a product with it loses nothing; its bits are those of the golden ratio.
pub(super) const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Words that are made or added up side by side: one after the other, each would wait for the one before.
const LANES: usize = 8;

/// Where each of them begins, the first with this number.
fn lanes(first: u64) -> [u64; LANES] {
    std::array::from_fn(|lane| first.wrapping_add((lane as u64).wrapping_mul(ODD)))
}

/// Up to eight bytes as a number, the lowest first.
fn le(bytes: &[u8]) -> u64 {
    let mut all = [0; NUMBER];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_tells_its_number_whatever_its_size() {
        for bytes in [1, 7, 8, 9, 64, 5000] {
            let mut message = Message::new(bytes);
            for whole in [false, true] {
                message.write(0x0102_0304_0506_0708, whole);
                let part = message.part(0x0102_0304_0506_0708);
                assert_eq!(message.number(), part, "{bytes} bytes");
                assert_eq!(part & 0xFF, 8);
                assert_eq!(message.bytes().len(), bytes);
            }
        }
    }

    #[test]
    fn no_byte_of_a_whole_message_changes_unseen() {
        let mut message = Message::new(77);
        message.write(5, true);
        let sum = message.sum();
        for at in 0..77 {
            message.bytes_mut()[at] ^= 4;
            assert_ne!(message.sum(), sum, "byte {at}");
            message.bytes_mut()[at] ^= 4;
        }
        assert_eq!(message.sum(), sum);
        message.write(6, true);
        assert_ne!(message.sum(), sum, "the next one differs");
        // Neighbours, and two words of one lane.
        for other in [1, LANES] {
            message.write(5, true);
            let bytes = message.bytes_mut();
            (0..NUMBER).for_each(|at| bytes.swap(at, other * NUMBER + at));
            assert_ne!(message.sum(), sum, "words 0 and {other} are exchanged");
        }
    }
}
