//! Shared: a message whose content holds its number.

use std::ffi::c_long;

use syscost_harness::prelude::Compares;

/// Messages begin at the start of a page, like any other buffer of that size.
const PAGE: usize = 4096;

/// Before the content there is room for the type that a SysV queue requires.
const TYPE: usize = size_of::<c_long>();

/// The same room serves for the header of an ICMP echo.
const HEAD: usize = 8;

/// Size of this room, in bytes.
const ROOM: usize = if TYPE > HEAD { TYPE } else { HEAD };

/// Bytes that hold the number of a message.
const NUMBER: usize = size_of::<u64>();

/// A message of this many bytes at the start of a page, resident before it is measured.
pub(crate) struct Message {
    buffer: Vec<u8>,
    start: usize,
}

impl Message {
    pub(crate) fn new(bytes: usize) -> Self {
        // Not zeros, so that every page is resident from now on.
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

    /// The type and the content after it.
    pub(super) fn typed(&self) -> &[u8] {
        &self.buffer[self.start - TYPE..]
    }

    /// As [`Message::typed`].
    pub(super) fn typed_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start - TYPE..]
    }

    /// Eight bytes for a protocol's header, and the content after it.
    pub(crate) fn headed(&self) -> &[u8] {
        &self.buffer[self.start - HEAD..]
    }

    /// As [`Message::headed`].
    pub(crate) fn headed_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start - HEAD..]
    }

    /// Makes it the message of this number: its first bytes hold the number, and if it is to be
    /// `whole`, every byte depends on it.
    pub(crate) fn write(&mut self, number: u64, whole: Compares) {
        let bytes = self.bytes_mut();
        if whole.all() {
            let mut words = lanes(number);
            for places in bytes.chunks_mut(LANES * NUMBER) {
                for (place, word) in places.chunks_mut(NUMBER).zip(&mut words) {
                    place.copy_from_slice(&word.to_le_bytes()[..place.len()]);
                    *word = word.wrapping_mul(ODD).rotate_left(23);
                }
            }
        } else {
            let length = bytes.len().min(NUMBER);
            bytes[..length].copy_from_slice(&number.to_le_bytes()[..length]);
        }
    }

    /// The number in its content; a message shorter than 8 bytes holds only the lower part.
    pub(crate) fn number(&self) -> u64 {
        le(&self.bytes()[..self.bytes().len().min(NUMBER)])
    }

    /// The part of a number that a message of this size can hold.
    pub(super) fn part(&self, number: u64) -> u64 {
        match self.bytes().len() {
            short @ ..NUMBER => number & ((1 << (8 * short)) - 1),
            _ => number,
        }
    }

    /// A checksum that depends on all its bytes and their order.
    pub(crate) fn sum(&self) -> u64 {
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

/// Odd, so that multiplying by it is invertible; its bits are those of the golden ratio.
pub(crate) const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Words that are computed or summed side by side, so that none waits for the one before.
const LANES: usize = 8;

/// The first word of each lane, for this number.
fn lanes(first: u64) -> [u64; LANES] {
    std::array::from_fn(|lane| first.wrapping_add((lane as u64).wrapping_mul(ODD)))
}

/// Up to eight bytes as a little-endian number.
fn le(bytes: &[u8]) -> u64 {
    let mut all = [0; NUMBER];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;

    use super::*;

    #[test]
    fn a_message_holds_its_number_at_any_size() {
        for bytes in [1, 7, 8, 9, 64, 5000] {
            let mut message = Message::new(bytes);
            for whole in [Pass::Timed, Pass::Evidence].map(Compares::from) {
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
        message.write(5, Pass::Evidence.into());
        let sum = message.sum();
        for at in 0..77 {
            message.bytes_mut()[at] ^= 4;
            assert_ne!(message.sum(), sum, "byte {at}");
            message.bytes_mut()[at] ^= 4;
        }
        assert_eq!(message.sum(), sum);
        message.write(6, Pass::Evidence.into());
        assert_ne!(message.sum(), sum, "the next one differs");
        // Adjacent words, and two words of one lane.
        for other in [1, LANES] {
            message.write(5, Pass::Evidence.into());
            let bytes = message.bytes_mut();
            (0..NUMBER).for_each(|at| bytes.swap(at, other * NUMBER + at));
            assert_ne!(message.sum(), sum, "words 0 and {other} are exchanged");
        }
    }
}
