//! What is normal: runs of named machines that ship with the program, and whatever run a person names.

use anyhow::Result;
use syscost_report::summary;
use syscost_results::{Machine, Measurement, Run, document};
use syscost_store::{Store, StoreError};

use crate::Failed;

/// The shipped ones: a name, and a run document without samples (`cargo xtask reference` writes them from a
/// run document).
const SHIPPED: &[(&str, &str)] = &[("epyc-guest", include_str!("../references/epyc-guest.json"))];

/// A run to put numbers beside.
pub(crate) struct Reference {
    name: String,
    run: Run,
}

impl Reference {
    /// Its run, without the rows that this one has by another definition.
    pub(crate) fn comparable_with(&self, run: &Run) -> Run {
        let is_same = |other: &Measurement| {
            let mut rows = run.measurements.iter().filter(|row| row.id == other.id);
            rows.all(|row| row.revision == other.revision && row.unit == other.unit)
        };
        let mut own = self.run.clone();
        own.measurements.retain(is_same);
        own
    }

    /// As the renderers take it.
    pub(crate) fn as_beside(&self) -> summary::Reference<'_> {
        summary::Reference {
            name: &self.name,
            run: &self.run,
        }
    }
}

/// The shipped references.
pub(crate) fn shipped() -> impl Iterator<Item = Reference> {
    SHIPPED.iter().map(|(name, text)| read(name, text))
}

fn read(name: &str, text: &str) -> Reference {
    Reference {
        name: name.to_owned(),
        run: document::read(text.as_bytes()).expect("a test reads every shipped reference"),
    }
}

/// The reference of this name, or else the shipped one of the machine most similar to the run's.
///
/// # Errors
/// When nothing has that name.
pub(crate) fn beside(name: Option<&str>, run: &Run) -> Result<Option<Reference>> {
    match name {
        Some(name) => find(name).map(Some),
        None => {
            Ok(shipped().max_by_key(|reference| likeness(&reference.run.machine, &run.machine)))
        }
    }
}

/// Whether the name is one, before anything is measured.
///
/// # Errors
/// When nothing has that name.
pub(crate) fn check(name: Option<&str>) -> Result<()> {
    name.map_or(Ok(()), |name| find(name).map(drop))
}

/// A shipped reference, or a run by its document, id or tag.
pub(crate) fn find(name: &str) -> Result<Reference> {
    if let Some((name, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
        return Ok(read(name, text));
    }
    let loaded = Store::of_user().find(name).map_err(|error| match error {
        StoreError::Unknown { .. } => {
            let shipped: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
            anyhow::Error::new(Failed::Usage(format!(
                "no reference and no run is called `{name}`; shipped are: {}; or give a file, `latest`, or an id or tag from \
                 `syscost history`",
                shipped.join(", ")
            )))
        }
        other => other.into(),
    })?;
    Ok(Reference {
        name: name.to_owned(),
        run: loaded.run,
    })
}

/// How much alike two machines are: the same model above the same maker above the same architecture.
fn likeness(one: &Machine, other: &Machine) -> u32 {
    let points = [
        (8, one.cpu_model == other.cpu_model),
        (4, one.cpu_vendor == other.cpu_vendor),
        (2, one.arch == other.arch),
        (1, one.hypervisor.is_some() == other.hypervisor.is_some()),
    ];
    let won = points.into_iter().filter(|(_, is_same)| *is_same);
    won.map(|(points, _)| points).sum()
}

#[cfg(test)]
mod tests {
    use syscost_results::summary::{has_many, sources};

    use super::*;

    #[test]
    fn every_shipped_reference_has_the_rows_of_the_summary_and_names_nobody() {
        assert!(sources().count() > 20);
        for reference in shipped() {
            assert!(has_many(&reference.run), "{}", reference.name);
            assert_eq!(reference.run.machine.hostname, "", "{}", reference.name);
        }
    }

    #[test]
    fn the_most_similar_machine_stands_beside() {
        let reference = shipped().next().expect("there is one");
        let mut other = reference.run.machine.clone();
        let same = likeness(&reference.run.machine, &other);
        other.cpu_model = "another".to_owned();
        let of_maker = likeness(&reference.run.machine, &other);
        other.cpu_vendor = None;
        other.arch = "another".to_owned();
        assert!(same > of_maker && of_maker > likeness(&reference.run.machine, &other));
    }

    #[test]
    fn a_name_that_is_none_is_bad_usage() {
        let error = check(Some("no-such-machine")).expect_err("there is none");
        let said = format!("{error:#}");
        assert!(said.contains("shipped are: epyc-guest"), "{said}");
        assert_eq!(said.matches("no-such-machine").count(), 1, "{said}");
    }
}
