//! Content that encodes its position in a stream.
//!
//! Every stamped word of 8 bytes is a function of its position in the stream, so a receiver that
//! knows only how many bytes came before notices what is lost, duplicated, swapped or changed.

/// Bytes of a word.
const WORD: u64 = 8;

/// Distance between stamped words in sparse content, in bytes.
pub const SPARSE_BYTES: u64 = 4096;

/// An odd multiplier, 2^64 divided by the golden ratio: neighbouring positions differ in all bytes.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// How much of a stream is stamped and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Every word, for evidence. Costs both ends a pass over all bytes.
    Whole,
    /// One word in every [`SPARSE_BYTES`] bytes, for timing. The others are arbitrary and not checked.
    Sparse,
}

/// What a receiver found in some bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// The wrapping sum of the stamped words received, to be compared with the sender's.
    pub checksum: u64,
    /// Number of bytes that differ from the expected content.
    pub wrong: u64,
}

impl Content {
    const fn distance(self) -> u64 {
        match self {
            Content::Whole => WORD,
            Content::Sparse => SPARSE_BYTES,
        }
    }

    /// Stamps the bytes at this position of the stream, and returns the sum of their words.
    #[inline]
    pub fn stamp(self, position: u64, bytes: &mut [u8]) -> u64 {
        let mut checksum = 0_u64;
        self.each_word(position, bytes.len(), |at, word, from, to| {
            let stamp = stamp(word).to_le_bytes();
            bytes[at..at + (to - from)].copy_from_slice(&stamp[from..to]);
            checksum = checksum.wrapping_add(part(&stamp[from..to], from));
        });
        checksum
    }

    /// Checks the bytes received at this position of the stream.
    #[inline]
    pub fn check(self, position: u64, bytes: &[u8]) -> Checked {
        let mut checked = Checked::default();
        self.each_word(position, bytes.len(), |at, word, from, to| {
            let stamp = stamp(word).to_le_bytes();
            let came = &bytes[at..at + (to - from)];
            checked.checksum = checked.checksum.wrapping_add(part(came, from));
            if came != &stamp[from..to] {
                let pairs = came.iter().zip(&stamp[from..to]);
                checked.wrong += pairs.filter(|(came, stamp)| came != stamp).count() as u64;
            }
        });
        checked
    }

    /// Calls `visit(index in the bytes, position of the word, first byte of it, end of it)` for
    /// each stamped word that the bytes at this position hold, wholly or in part.
    #[inline(always)]
    fn each_word(
        self,
        position: u64,
        length: usize,
        mut visit: impl FnMut(usize, u64, usize, usize),
    ) {
        let end = position + length as u64;
        let distance = self.distance();
        let mut word = position - position % distance;
        while word < end {
            let from = position.max(word);
            let to = end.min(word + WORD);
            if from < to {
                let (from, to) = (from - word, to - word);
                visit(
                    (word + from - position) as usize,
                    word,
                    from as usize,
                    to as usize,
                );
            }
            word += distance;
        }
    }
}

#[inline(always)]
fn stamp(position: u64) -> u64 {
    (position / WORD + 1).wrapping_mul(SPREAD)
}

/// Returns what these bytes, which begin at this index in their word, add to a sum of words: the
/// parts of a word add up to the whole.
#[inline(always)]
fn part(bytes: &[u8], from: usize) -> u64 {
    let mut word = [0; WORD as usize];
    word[from..from + bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Content; 2] = [Content::Whole, Content::Sparse];

    #[test]
    fn content_stamped_in_any_pieces_is_right_in_any_others() {
        for content in BOTH {
            let mut stream = vec![0; 20_000];
            let (mut sent, mut at) = (0_u64, 0);
            for size in [1, 7, 8, 4096, 3, 4088, 5, 9000].into_iter().cycle() {
                let end = stream.len().min(at + size);
                sent = sent.wrapping_add(content.stamp(at as u64, &mut stream[at..end]));
                at = end;
                if at == stream.len() {
                    break;
                }
            }
            let mut sum = 0_u64;
            for (number, piece) in stream.chunks(333).enumerate() {
                let checked = content.check(333 * number as u64, piece);
                assert_eq!(checked.wrong, 0, "{content:?}, piece {number}");
                sum = sum.wrapping_add(checked.checksum);
            }
            assert_eq!(sum, sent);
            assert_ne!(sum, 0);
        }
    }

    #[test]
    fn lost_swapped_and_changed_bytes_are_noticed() {
        let mut bytes = vec![0; 3 * SPARSE_BYTES as usize];
        for content in BOTH {
            let sum = content.stamp(0, &mut bytes);
            assert!(content.check(SPARSE_BYTES, &bytes).wrong > 0, "lost before");
            assert!(
                content.check(0, &vec![0; bytes.len()]).wrong > 0,
                "not written"
            );
            bytes[SPARSE_BYTES as usize] ^= 1;
            let checked = content.check(0, &bytes);
            assert_eq!(checked.wrong, 1);
            assert_ne!(checked.checksum, sum);
        }
        Content::Whole.stamp(0, &mut bytes);
        bytes[5000] ^= 1;
        assert_eq!(Content::Whole.check(0, &bytes).wrong, 1);
        assert_eq!(Content::Sparse.check(0, &bytes).wrong, 0, "not checked");
    }
}
