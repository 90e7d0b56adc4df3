//! Reference figures to show beside a run's: those of named machines that ship with the program, or
//! of any run that the user names.

use std::path::Path;

use anyhow::Result;
use syscost_benches::CATALOGUE;
use syscost_report::summary;
use syscost_results::{Nearness, Run};
use syscost_store::{StoreError, load, wrong_numbers};

use crate::cli::BesideArgument;
use crate::terminal::warn;
use crate::{Failed, kept};

/// A reference that ships with the program.
struct Shipped {
    name: &'static str,
    /// Of its processor, which guests are often not told.
    family: &'static str,
    /// The run as it was shared.
    packed: &'static [u8],
}

macro_rules! shipped {
    ($($name:literal: $family:literal,)+) => {
        const SHIPPED: &[Shipped] = &[$(Shipped {
            name: $name,
            family: $family,
            packed: include_bytes!(concat!("../references/", $name, ".json.gz")),
        }),+];
    };
}

// `cargo xtask reference` adds to it.
shipped! {
    "epyc-guest": "AMD Zen 5",
    "granite-rapids-guest": "Intel Granite Rapids",
}

/// A run whose figures are shown beside those of another.
pub(crate) struct Reference {
    name: String,
    family: Option<&'static str>,
    run: Run,
}

impl Reference {
    /// Returns it in the form that the renderers take.
    pub(crate) fn as_beside(&self) -> summary::Reference<'_> {
        summary::Reference {
            name: &self.name,
            family: self.family,
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
    SHIPPED.iter().map(|shipped| shipped.name)
}

/// The shipped references in words: `epyc-guest (AMD Zen 5)`.
pub(crate) fn listed() -> String {
    let words = |shipped: &Shipped| format!("{} ({})", shipped.name, shipped.family);
    let all: Vec<String> = SHIPPED.iter().map(words).collect();
    all.join(", ")
}

/// The shipped references.
pub(crate) fn shipped() -> impl Iterator<Item = Reference> {
    SHIPPED.iter().map(read)
}

fn read(shipped: &Shipped) -> Reference {
    let run = load::read(Path::new(shipped.name), shipped.packed.to_vec());
    let mut run = run.expect("a test reads every shipped reference");
    CATALOGUE.assign_roles(&mut run);
    Reference {
        name: shipped.name.to_owned(),
        family: Some(shipped.family),
        run,
    }
}

/// Returns the shipped reference of the machine most similar to the run's: of the nearest processor, and
/// virtual if it is.
pub(crate) fn nearest(run: &Run) -> Option<Reference> {
    let is_virtual = |run: &Run| run.machine.hypervisor.name().is_some();
    shipped().max_by_key(|reference| {
        let nearness = Nearness::of(&reference.run.machine, &run.machine);
        (nearness, is_virtual(&reference.run) == is_virtual(run))
    })
}

/// Returns the reference that `--beside` names, if it is given.
///
/// # Errors
/// When nothing has that name, or when figures have no place beside what is printed.
pub(crate) fn given(beside: &BesideArgument, is_table: bool) -> Result<Option<Reference>> {
    let Some(name) = &beside.name else {
        return Ok(None);
    };
    if !is_table {
        let words = "--beside shows figures beside those of a table; JSON has no place for them, so export or show the other run as well";
        return Err(Failed::Usage(words.to_owned()).into());
    }
    find(name).map(Some)
}

/// Finds a shipped reference, or a run by its document, id or tag.
fn find(name: &str) -> Result<Reference> {
    if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == name) {
        return Ok(read(shipped));
    }
    let (loaded, _) = kept::having(name, |_| true).map_err(|error| match error {
        StoreError::Unknown { .. } => {
            anyhow::Error::new(Failed::Usage(format!(
                "no reference and no run is called `{name}`; the shipped references are: {}; or give a file, `latest`, or an id or tag from \
                 `syscost history`",
                listed()
            )))
        }
        other => other.into(),
    })?;
    kept::tell(name, &loaded);
    if let Some(reason) = wrong_numbers(&loaded.run) {
        warn(&format!("{name} is no reference: {reason}"));
    }
    Ok(Reference {
        name: name.to_owned(),
        family: None,
        run: loaded.run,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use syscost_results::summary::{has_many, titles};

    use super::*;

    #[test]
    fn every_shipped_reference_has_the_rows_of_the_summary_and_is_as_shared() {
        assert!(titles().count() > 20);
        for reference in shipped() {
            assert!(has_many(&reference.run), "{}", reference.name);
            assert_eq!(reference.run.machine.hostname, "", "{}", reference.name);
        }
    }

    #[test]
    fn a_reference_stands_beside_a_run_of_its_own_machine() {
        for reference in shipped() {
            let nearest = nearest(&reference.run).expect("there is one");
            let sentence = nearest.as_beside().sentence(&reference.run);
            assert_eq!(nearest.name, reference.name, "{sentence}");
            assert!(sentence.ends_with(": same model"), "{sentence}");
            let family = reference.family.expect("it has one");
            assert!(sentence.contains(family), "{sentence}");
        }
    }

    #[test]
    fn the_help_names_every_shipped_reference() {
        let help = crate::cli::Cli::command();
        for verb in ["run", "show"] {
            let command = help.find_subcommand(verb).expect("a verb");
            let mut arguments = command.get_arguments();
            let beside = arguments.find(|argument| argument.get_id() == "beside");
            let help = beside.and_then(|argument| argument.get_help());
            let help = help.expect("it has help").to_string();
            assert!(help.contains(&listed()), "{help}");
        }
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
