//! Content that says where it belongs: each eight bytes hold their own position, mixed with a seed,
//! so that bytes of another place or another file, or ones never written, are recognised. It does
//! not compress, and no two blocks are alike.

use crate::random;

/// Bytes per stamp. Positions and lengths are multiples of it.
pub const BYTES: usize = 8;

/// Content that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the content at byte {position} is {found:#018x}, not {expected:#018x} as it was written")]
pub struct Wrong {
    /// Position in the file, in bytes.
    pub position: u64,
    /// The stamp that was written there.
    pub expected: u64,
    /// The stamp that was read.
    pub found: u64,
}

/// Fills `bytes`, which are to be written at `offset`.
pub fn fill(bytes: &mut [u8], offset: u64, seed: u64) {
    for (number, stamp) in bytes.chunks_mut(BYTES).enumerate() {
        let value = value(offset + (number * BYTES) as u64, seed).to_le_bytes();
        stamp.copy_from_slice(&value[..stamp.len()]);
    }
}

/// Compares `bytes`, which were read from `offset`, with what [`fill`] wrote there.
pub fn check(bytes: &[u8], offset: u64, seed: u64) -> Result<(), Wrong> {
    for (number, stamp) in bytes.chunks(BYTES).enumerate() {
        let position = offset + (number * BYTES) as u64;
        let expected = value(position, seed).to_le_bytes();
        if stamp != &expected[..stamp.len()] {
            let mut found = [0; BYTES];
            found[..stamp.len()].copy_from_slice(stamp);
            return Err(Wrong {
                position,
                expected: u64::from_le_bytes(expected),
                found: u64::from_le_bytes(found),
            });
        }
    }
    Ok(())
}

/// No two positions have the same stamp.
fn value(position: u64, seed: u64) -> u64 {
    random::mixed(position ^ seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_another_place_are_recognised() {
        let mut block = [0; 4096];
        fill(&mut block, 8192, 5);
        assert_eq!(check(&block, 8192, 5), Ok(()));
        assert_eq!(check(&block[512..], 8192 + 512, 5), Ok(()));
        assert_eq!(check(&block, 4096, 5).unwrap_err().position, 4096);
        assert!(check(&block, 8192, 6).is_err());
        block[4095] ^= 1;
        assert_eq!(check(&block, 8192, 5).unwrap_err().position, 8192 + 4088);
    }

    #[test]
    fn zeros_are_the_content_of_no_file() {
        assert!(check(&[0; 512], 512, 99).is_err());
    }
}
