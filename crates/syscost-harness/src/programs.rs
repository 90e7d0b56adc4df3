//! The programs of a user's own studies: made by `syscost study run` before anything is measured. A worker
//! gets them with its job.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The program of a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProgram {
    /// Which it is.
    pub id: ProgramId,
    /// What is started, or why nothing can be.
    pub made: Result<Executable, String>,
}

/// What tells a program from others. A journal keeps this, and nothing that could be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramId {
    /// The study's id.
    pub study: String,
    /// The quantity's id.
    pub quantity: String,
    /// Of how it was made, its unit, and the files among its command's words, up to 16 MiB each (CRC-32).
    pub checksum: u32,
}

/// A program that can be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executable {
    /// The executable and its arguments.
    pub command: Vec<String>,
    /// The directory in which it runs.
    pub directory: PathBuf,
    /// The unit of a number that it prints alone: `ns`, `us`, `ms`, `s` or `ticks`.
    pub unit: String,
    /// The counts that its study names.
    pub counted: Vec<String>,
    /// How it was made, e.g. `cc -O0 -static loop.c`.
    pub how: String,
}

/// The programs of a resumed run, of those that it is given: one that is gone, or another than when the
/// run began, is not started.
pub(crate) fn resumed(begun: &[ProgramId], given: &[OwnProgram]) -> Vec<OwnProgram> {
    let again = |then: &ProgramId| {
        let mut given = given.iter();
        let now =
            given.find(|now| (&now.id.study, &now.id.quantity) == (&then.study, &then.quantity));
        let made = match now.map(|now| (&now.made, now.id == *then)) {
            None => Err("the study no longer has the program with which the run began".to_owned()),
            Some((Ok(made), false)) => Err(format!(
                "the program is no longer the one with which the run began: {}",
                made.how
            )),
            Some((made, _)) => made.clone(),
        };
        OwnProgram {
            id: then.clone(),
            made,
        }
    };
    begun.iter().map(again).collect()
}

impl OwnProgram {
    /// The program of this quantity of a study.
    pub fn new(study: &str, quantity: &str, made: Result<Executable, String>) -> Self {
        Self {
            id: ProgramId {
                study: study.to_owned(),
                quantity: quantity.to_owned(),
                checksum: made.as_ref().map_or(0, Executable::checksum),
            },
            made,
        }
    }
}

impl Executable {
    /// A checksum (CRC-32) of how it was made, its unit, and the files among the words of its command: the
    /// executable, scripts.
    fn checksum(&self) -> u32 {
        /// Maximum number of bytes of a file that are read.
        const LARGEST: u64 = 16 << 20;
        let mut checksum = crc32fast::Hasher::new();
        for text in [&self.how, &self.unit] {
            checksum.update(text.as_bytes());
            checksum.update(b"\n");
        }
        let paths = self.command.iter().map(|word| self.directory.join(word));
        for path in paths.filter(|path| path.is_file()) {
            let mut bytes = Vec::new();
            // One that cannot be read is as if it were not there.
            let _ = File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
            checksum.update(&bytes);
        }
        checksum.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_run_starts_only_the_programs_with_which_it_began() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = folder.path().join("script");
        let make = |quantity: &str, unit: &str| {
            let made = Executable {
                command: vec!["sh".to_owned(), "script".to_owned()],
                directory: folder.path().to_owned(),
                unit: unit.to_owned(),
                counted: Vec::new(),
                how: "sh script".to_owned(),
            };
            OwnProgram::new("mine", quantity, Ok(made))
        };
        let write = |text: &str| std::fs::write(&script, text).expect("written");
        write("echo 1");
        let begun = ["a", "b", "c"].map(|quantity| make(quantity, "ns"));
        let ids = begun.clone().map(|one| one.id);
        assert_eq!(resumed(&ids, &begun), begun);
        let gone = OwnProgram::new("mine", "b", Err("there is no file".to_owned()));
        let now = resumed(&ids, &[make("a", "us"), gone]);
        let reasons: Vec<String> = now
            .into_iter()
            .map(|one| one.made.expect_err("not to be started"))
            .collect();
        assert!(reasons[0].contains("no longer the one"), "{}", reasons[0]);
        assert_eq!(reasons[1], "there is no file");
        assert!(reasons[2].contains("no longer has"), "{}", reasons[2]);
        write("echo 2");
        assert!(resumed(&ids, &[make("a", "ns")])[0].made.is_err());
    }
}
