//! An archive as the kernel unpacks it into its first root (`cpio --format newc`).

/// An archive that is being made.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: usize,
}

impl Archive {
    /// Adds empty folders.
    pub(super) fn folders(self, names: &[&str]) -> Self {
        names
            .iter()
            .fold(self, |archive, name| archive.entry(name, 0o040_755, &[]))
    }

    /// Adds a file that may be executed.
    pub(super) fn file(self, name: &str, content: &[u8]) -> Self {
        self.entry(name, 0o100_755, content)
    }

    /// The whole archive.
    pub(super) fn end(self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]).bytes
    }

    fn entry(mut self, name: &str, mode: usize, content: &[u8]) -> Self {
        self.entries += 1;
        // A magic number, then: inode, mode, owner, group, links, time, size, four device numbers, length of
        // the name, checksum.
        let (size, length) = (content.len(), name.len() + 1);
        let header = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, length, 0];
        self.bytes.extend(b"070701");
        for number in header {
            self.bytes.extend(format!("{number:08x}").bytes());
        }
        self.bytes.extend(name.bytes().chain([0]));
        self.align();
        self.bytes.extend(content);
        self.align();
        self
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_header_a_name_and_a_content_each_aligned_to_four_bytes() {
        let archive = Archive::default().file("init", b"#!/bin/sh\n").end();
        let expected = "070701\
            00000001000081ed00000000000000000000000100000000\
            0000000a0000000000000000000000000000000000000005\
            00000000init\0\0#!/bin/sh\n\0\0\
            070701\
            00000002000000000000000000000000000000010000000000000000\
            000000000000000000000000000000000000000b00000000TRAILER!!!\0\0\0\0";
        assert_eq!(String::from_utf8(archive).expect("text"), expected);
    }
}
