//! A line of a journal: JSON, a tab, and the checksum of that JSON, CRC-32 in hexadecimal digits.
//! Without it a changed digit would go unnoticed.

/// Separates the JSON, in which tabs are escaped, from its checksum.
const BETWEEN: u8 = b'\t';

/// The line for this JSON, with its line ending.
pub fn sealed(json: &[u8]) -> Vec<u8> {
    let mut line = json.to_vec();
    line.push(BETWEEN);
    line.extend(checksum(json));
    line.push(b'\n');
    line
}

/// The JSON of a line without its line ending; `None` if the checksum does not match.
pub fn unsealed(line: &[u8]) -> Option<&[u8]> {
    let end = line.iter().rposition(|byte| *byte == BETWEEN)?;
    let json = &line[..end];
    (line[end + 1..] == *checksum(json)).then_some(json)
}

fn checksum(json: &[u8]) -> Vec<u8> {
    format!("{:08x}", crc32fast::hash(json)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_changed_bit_goes_unseen() {
        let json = br#"{"values":[91.5]}"#;
        let line = sealed(json);
        let line = line.strip_suffix(b"\n").expect("ends");
        assert_eq!(unsealed(line), Some(&json[..]));
        for bit in 0..8 * line.len() {
            let mut changed = line.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unsealed(&changed), None, "bit {bit}");
        }
        assert_eq!(unsealed(json), None);
        assert_eq!(unsealed(b""), None);
    }
}
