//! Reference figures to show beside a run's: those of named machines that ship with the program, or
//! of any run that the user names.

use std::path::Path;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_report::summary;
use syscost_results::{Machine, Run};
use syscost_store::{StoreError, load};

use crate::{Failed, kept};

/// The shipped references: a name, and a packed run document without samples (written by `cargo
/// xtask reference` from a run document).
const SHIPPED: &[(&str, &[u8])] = &[(
    "epyc-guest",
    include_bytes!("../references/epyc-guest.json.gz"),
)];

/// A run whose figures are shown beside those of another.
pub(crate) struct Reference {
    name: String,
    run: Run,
}

impl Reference {
    fn of(name: &str, run: Run) -> Self {
        Reference {
            name: name.to_owned(),
            run,
        }
    }

    /// Returns it in the form that the renderers take.
    pub(crate) fn as_beside(&self) -> summary::Reference<'_> {
        summary::Reference {
            name: &self.name,
            run: &self.run,
        }
    }
}

/// Whether a shipped reference has this name.
pub(crate) fn is_shipped(name: &str) -> bool {
    names().any(|shipped| shipped == name)
}

/// The names of the shipped references.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// The shipped references.
pub(crate) fn shipped() -> impl Iterator<Item = Reference> {
    SHIPPED.iter().map(|(name, packed)| read(name, packed))
}

fn read(name: &str, packed: &[u8]) -> Reference {
    let run = load::read(Path::new(name), packed.to_vec());
    let mut run = run.expect("a test reads every shipped reference");
    CATALOGUE.assign_roles(&mut run);
    Reference::of(name, run)
}

/// Returns the reference of this name, or, without a name, the shipped one of the machine most
/// similar to the run's.
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

/// Finds a shipped reference, or a run by its document, id or tag.
pub(crate) fn find(name: &str) -> Result<Reference> {
    if let Some((name, packed)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
        return Ok(read(name, packed));
    }
    let (loaded, _) = kept::having(name, |_| true).map_err(|error| match error {
        StoreError::Unknown { .. } => {
            let shipped: Vec<&str> = names().collect();
            anyhow::Error::new(Failed::Usage(format!(
                "no reference and no run is called `{name}`; the shipped references are: {}; or give a file, `latest`, or an id or tag from \
                 `syscost history`",
                shipped.join(", ")
            )))
        }
        other => other.into(),
    })?;
    kept::tell(name, &loaded);
    Ok(Reference::of(name, loaded.run))
}

/// Scores how similar two machines are: the same CPU model counts more than the same vendor, the
/// same vendor more than the same architecture. An unknown property is not the same as any other.
fn likeness(one: &Machine, other: &Machine) -> u32 {
    let is_model = one.cpu_model == other.cpu_model && !one.cpu_model.is_empty();
    let is_maker = one.cpu_vendor == other.cpu_vendor && one.cpu_vendor.is_some();
    let points = [
        (8, is_model),
        (4, is_maker),
        (2, one.arch == other.arch),
        (
            1,
            one.hypervisor.name().is_some() == other.hypervisor.name().is_some(),
        ),
    ];
    let won = points.into_iter().filter(|(_, is_same)| *is_same);
    won.map(|(points, _)| points).sum()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use syscost_results::summary::{has_many, titles};

    use super::*;

    #[test]
    fn every_shipped_reference_has_the_rows_of_the_summary_and_is_anonymous() {
        assert!(titles().count() > 20);
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
    fn the_help_of_show_names_every_shipped_reference() {
        let help = crate::cli::Cli::command();
        let show = help.find_subcommand("show").expect("a verb");
        let mut arguments = show.get_arguments();
        let beside = arguments.find(|argument| argument.get_id() == "beside");
        let help = beside.and_then(|argument| argument.get_help());
        let help = help.expect("it has help").to_string();
        for name in names() {
            assert!(help.contains(name), "{name}: {help}");
        }
    }

    #[test]
    fn machines_of_unknown_vendors_are_not_alike() {
        let unknown = Machine::default();
        let mut named = unknown.clone();
        named.cpu_vendor = Some("AuthenticAMD".to_owned());
        assert_eq!(likeness(&unknown, &unknown), likeness(&unknown, &named));
        let mut model = named.clone();
        model.cpu_model = "AMD EPYC".to_owned();
        assert!(likeness(&model, &model) > likeness(&named, &named));
    }

    #[test]
    fn an_unknown_name_is_bad_usage() {
        let error = find("no-such-machine").err().expect("there is none");
        let said = format!("{error:#}");
        assert!(
            said.contains("the shipped references are: epyc-guest"),
            "{said}"
        );
        assert_eq!(said.matches("no-such-machine").count(), 1, "{said}");
    }
}
