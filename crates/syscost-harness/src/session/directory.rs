//! The directories of a resumed run.

use syscost_results::Directory;
use syscost_results::run::Config;

use crate::directory::{VARIABLE, facts_of, give, given, parse};

/// Gives this process the directories of a run with this configuration, if it names any: its rows
/// depend on them.
pub(super) fn give_of(config: &Config) {
    let set = config.environment.get(VARIABLE).and_then(Option::as_deref);
    if let Some(directories) = set.and_then(parse) {
        give(directories);
    }
}

/// Why the rest of a run would be measured on different storage than its beginning; `None` if it would not.
pub(super) fn difference(then: &[Directory]) -> Option<String> {
    let given = given();
    then.iter().find_map(|then| {
        // A directory that could not be used then has no facts; its rows said why.
        let (label, was) = (&then.label, then.storage());
        let directory = given.iter().find(|one| one.label == *label);
        let directory = directory.filter(|_| !was.is_empty())?;
        match facts_of(directory) {
            Ok(now) if now.storage() == was => None,
            Ok(now) => Some(format!(
                "its directory {label} was on {was}, and is on {} now",
                now.storage()
            )),
            Err(reason) => Some(format!("its directory {label} cannot be used: {reason}")),
        }
    })
}
