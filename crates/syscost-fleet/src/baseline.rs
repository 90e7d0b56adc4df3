//! What machines of each kind cost, kept in a file: what a single machine is held against where the others' documents are not.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use syscost_results::document::{Digest, DigestRow};
use syscost_results::renamed::rename;
use syscost_results::{Better, Unit};

use crate::deviation::{Deviation, Expected, Figure};
use crate::facts;

/// Version of the file's shape.
pub const VERSION: u32 = 1;
/// Maximum size of the file, in bytes: some hundred kinds of machines with a thousand rows each.
const MAX_SIZE: u64 = 64 << 20;

/// What machines of each kind cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// [`VERSION`] when written.
    pub syscost_baseline: u32,
    /// The kinds of machines.
    pub cohorts: Vec<CohortBaseline>,
}

/// What baselines of all versions have.
#[derive(Deserialize)]
struct Versioned {
    syscost_baseline: u32,
}

/// What machines of one kind cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CohortBaseline {
    /// What the machines have in common, by the name of the fact; null where it is not recorded.
    pub facts: BTreeMap<String, Option<String>>,
    /// How many machines.
    pub machines: usize,
    /// Their rows, by name.
    pub rows: Vec<ExpectedRow>,
}

/// What machines of one kind say of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedRow {
    /// The row's name.
    pub name: String,
    /// Only rows of equal revisions measure the same.
    pub revision: u32,
    /// The unit of the median.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The median of the machines.
    pub median: f64,
    /// How far machines are apart: a robust standard deviation, as a share of the median.
    pub scale: f64,
    /// How many machines have a number beyond doubt.
    pub machines: usize,
    /// Degrees of freedom of the distribution that chances are taken from.
    pub freedom: f64,
}

/// Why there is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("cannot read {0}: {1}")]
    Read(PathBuf, io::Error),
    /// It contains no baseline.
    #[error("{0} is no baseline: {1}; `syscost fleet report --save-baseline FILE` writes one")]
    Foreign(PathBuf, String),
    /// A newer version wrote it.
    #[error(
        "{0} is a baseline of version {1}, and this program reads version {VERSION}; take a newer syscost"
    )]
    Newer(PathBuf, u32),
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let mut bytes = Vec::new();
        let file =
            File::open(path).and_then(|file| file.take(MAX_SIZE + 1).read_to_end(&mut bytes));
        file.map_err(|cause| BaselineError::Read(path.to_owned(), cause))?;
        let foreign = |cause: String| BaselineError::Foreign(path.to_owned(), cause);
        if bytes.len() as u64 > MAX_SIZE {
            return Err(foreign(format!("it is larger than {} MiB", MAX_SIZE >> 20)));
        }
        let not_json = |cause: serde_json::Error| foreign(cause.to_string());
        // A newer one may have another shape.
        let Versioned { syscost_baseline } = serde_json::from_slice(&bytes).map_err(not_json)?;
        if syscost_baseline > VERSION {
            return Err(BaselineError::Newer(path.to_owned(), syscost_baseline));
        }
        let mut baseline: Baseline = serde_json::from_slice(&bytes).map_err(not_json)?;
        let cohorts = baseline.cohorts.iter_mut();
        for row in cohorts.flat_map(|cohort| &mut cohort.rows) {
            rename(&mut row.name);
        }
        let of_none = |cohort: &CohortBaseline| {
            cohort.machines == 0 || cohort.rows.iter().any(|row| row.machines == 0)
        };
        if baseline.cohorts.iter().any(of_none) {
            return Err(foreign("it has a row or a kind of no machine".to_owned()));
        }
        let rows = baseline.cohorts.iter().flat_map(|cohort| &cohort.rows);
        let is_usable = |row: &ExpectedRow| {
            [row.median, row.scale, row.freedom]
                .iter()
                .all(|value| *value > 0.0 && value.is_finite())
        };
        match rows.into_iter().find(|row| !is_usable(row)) {
            Some(row) => Err(foreign(format!(
                "`{}` has a figure that is not above zero",
                row.name.escape_default().take(100).collect::<String>()
            ))),
            None => Ok(baseline),
        }
    }

    /// Its bytes in a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The kind that a measured machine is of; `None` if it is of none.
    pub fn cohort_of(&self, digest: &Digest) -> Option<&CohortBaseline> {
        let known = facts::of(digest);
        self.cohorts.iter().find(|cohort| {
            let mut facts = cohort.facts.iter();
            facts.all(|(name, value)| known.get(name) == value.as_ref())
        })
    }
}

impl CohortBaseline {
    /// What is expected of this row: that of the same name, revision and unit.
    pub fn row(&self, row: &DigestRow) -> Option<&ExpectedRow> {
        let found = self.rows.iter().find(|known| known.name == row.name)?;
        (found.revision == row.revision && found.unit == row.unit).then_some(found)
    }

    /// How far a row is from what is expected of it, by the same test as a machine's among its cohort; `None` if nothing is
    /// expected, or its number is doubtful.
    pub fn deviation(&self, row: &DigestRow) -> Option<Deviation> {
        let known = self.row(row)?;
        let expected = Expected {
            log: known.median.ln(),
            scale: known.scale,
            machines: known.machines,
            freedom: known.freedom,
        };
        Some(expected.deviation(Figure::of(row)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline() -> Baseline {
        Baseline {
            syscost_baseline: VERSION,
            cohorts: vec![CohortBaseline {
                facts: BTreeMap::from([
                    ("arch".to_owned(), Some("x86_64".to_owned())),
                    ("product".to_owned(), None),
                ]),
                machines: 8,
                rows: vec![ExpectedRow {
                    name: "syscall.null".to_owned(),
                    revision: 1,
                    unit: Unit::Nanoseconds,
                    better: Better::Lower,
                    median: 70.0,
                    scale: 0.01,
                    machines: 8,
                    freedom: 2.59,
                }],
            }],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("baseline.json");
        std::fs::write(&path, baseline().to_bytes()).expect("written");
        assert_eq!(Baseline::read(&path).expect("a baseline"), baseline());
        let read = |text: String| {
            std::fs::write(&path, text).expect("written");
            Baseline::read(&path).expect_err("refused").to_string()
        };
        let text = String::from_utf8(baseline().to_bytes()).expect("text");
        assert!(read("{}".to_owned()).contains("is no baseline"));
        assert!(read(r#"{"syscost_baseline": 2, "kinds": []}"#.to_owned()).contains("newer"));
        let of_none = text.replace("\"machines\": 8", "\"machines\": 0");
        assert!(read(of_none).contains("no machine"));
        assert!(read(text.replace("70.0", "0.0")).contains("above zero"));
    }
}
