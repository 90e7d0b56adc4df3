//! The programs that are brought to nodes, and for which processors they are.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::folder::{FolderError, failed};

/// The beginning of a little-endian 64-bit ELF file, and where it names its processor (System V ABI, chapter 4).
const ELF: &[u8] = b"\x7fELF\x02\x01";
const E_MACHINE: usize = 18;

/// Processors as ELF files number them, and as `uname -m` calls them.
const MACHINES: [(u8, &str); 2] = [(62, "x86_64"), (183, "aarch64")];

/// A program that is brought to nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// What `uname -m` prints on nodes that it is for; `None` if it may be for any, as a script is.
    pub machine: Option<String>,
}

impl Program {
    /// The program in this file.
    ///
    /// # Errors
    /// When it cannot be read, or is for a processor that syscost does not know.
    pub fn read(path: PathBuf) -> Result<Self, FolderError> {
        let bytes = fs::read(&path).map_err(failed("reading", &path))?;
        let machine = match bytes.starts_with(&ELF[..4]) {
            true => {
                let number = bytes.get(E_MACHINE).filter(|_| bytes.starts_with(ELF));
                let known = MACHINES.iter().find(|(known, _)| Some(known) == number);
                let (_, name) = known.ok_or_else(|| FolderError::Processor(path.clone()))?;
                Some((*name).to_owned())
            }
            false => None,
        };
        Ok(Self {
            sha256: checksum(&bytes),
            path,
            machine,
        })
    }

    /// Makes sure that the file at this path is still this program.
    pub(crate) fn check(&self, path: &Path) -> Result<(), FolderError> {
        let bytes = fs::read(path).map_err(failed("reading", path))?;
        match checksum(&bytes) == self.sha256 {
            true => Ok(()),
            false => Err(FolderError::OtherProgram(self.path.clone())),
        }
    }

    /// What it is called where it lies beside the others: `syscost-aarch64`.
    pub(crate) fn name(&self) -> String {
        let machine = self.machine.as_deref();
        machine.map_or_else(|| "syscost".to_owned(), |name| format!("syscost-{name}"))
    }
}

/// What a node says that none of these programs is for; `machine` stands for its processor there.
pub(crate) fn none_for(programs: &[Program], machine: &str) -> String {
    let known: Vec<&str> = programs
        .iter()
        .filter_map(|program| program.machine.as_deref())
        .collect();
    format!(
        "no program for {machine}, only for {}: give one with a further --binary",
        known.join(" and ")
    )
}

fn checksum(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_tells_for_which_processor_it_is() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let machine = |bytes: &[u8]| {
            let path = place.path().join("program");
            fs::write(&path, bytes).expect("written");
            let program = Program::read(path)?;
            program.check(&program.path)?;
            Ok(program.machine)
        };
        let elf = |number| [b"\x7fELF\x02\x01", &[0; 12][..], &[number, 0]].concat();
        let is_for = |bytes: &[u8], name: Option<&str>| {
            let found: Result<_, FolderError> = machine(bytes);
            assert_eq!(found.expect("it is known").as_deref(), name);
        };
        is_for(&elf(62), Some("x86_64"));
        is_for(&elf(183), Some("aarch64"));
        is_for(b"#!/bin/sh\nexec syscost \"$@\"\n", None);
        // RISC-V; 32 bits; big-endian; cut off.
        let [narrow, big] =
            [b"\x7fELF\x01\x01", b"\x7fELF\x02\x02"].map(|begin| [&begin[..], &[0; 14]].concat());
        for other in [elf(243), narrow, big, b"\x7fELF".to_vec()] {
            let refused = machine(&other).expect_err("for another processor");
            assert!(matches!(refused, FolderError::Processor(_)), "{refused}");
        }
    }
}
