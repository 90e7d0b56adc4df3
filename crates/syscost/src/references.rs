//! What is normal: runs of named machines that ship with the program, and whatever run a person names.

use anyhow::{Context, Result};
use syscost_report::summary;
use syscost_results::{Machine, Run, document};
use syscost_store::Store;

use crate::Failed;

/// The shipped ones: a name, and a run document without samples (`cargo xtask reference` writes them).
const SHIPPED: &[(&str, &str)] = &[];

/// A run to put numbers beside.
pub(crate) struct Reference {
    name: String,
    run: Run,
}

impl Reference {
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
    SHIPPED.iter().map(|(name, text)| Reference {
        name: (*name).to_owned(),
        run: document::read(text.as_bytes()).expect("a test reads every shipped reference"),
    })
}

/// The reference of this name, or else the shipped one of the machine most similar to the run's; none where
/// none is similar at all.
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
    if let Some(reference) = shipped().find(|reference| reference.name == name) {
        return Ok(reference);
    }
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let loaded = Store::of_user().find(name).with_context(|| {
        let names = names.join(", ");
        Failed::Usage(format!(
            "no reference is called `{name}`; shipped are: {names}"
        ))
    })?;
    Ok(Reference {
        name: name.to_owned(),
        run: loaded.run,
    })
}

/// How much alike two machines are: the same model above the same maker above the same architecture.
fn likeness(one: &Machine, other: &Machine) -> u32 {
    let is_same = [
        one.cpu_model == other.cpu_model,
        one.cpu_vendor == other.cpu_vendor,
        one.arch == other.arch,
        one.hypervisor.is_some() == other.hypervisor.is_some(),
    ];
    let weights = [8, 4, 2, 1];
    is_same
        .into_iter()
        .zip(weights)
        .filter_map(|(is_same, weight)| is_same.then_some(weight))
        .sum()
}
