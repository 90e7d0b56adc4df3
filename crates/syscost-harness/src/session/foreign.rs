//! What prevents a run from being resumed here.

use super::journal::Header;
use syscost_results::Directory;

use crate::directory::facts_of;
use crate::doctor::{self, ProcessState};
use crate::machine;

/// Why the rest of a run would not be comparable with its beginning: another version, another
/// machine, a directory on different storage, or a process that pays other costs (under a filter, a
/// tracer, another class or nice value). `None` if it would be.
pub(super) fn difference(header: &Header, version: &str) -> Option<String> {
    if header.tool_version != version {
        return Some(format!("it was begun by syscost {}", header.tool_version));
    }
    let mut now = machine::capture();
    let (candidates, measured) = (&header.candidates, &header.config.cpus);
    let is_known = !candidates.is_empty();
    machine::describe(&mut now, if is_known { candidates } else { measured });
    machine::difference(&header.machine, &now)
        .or_else(|| difference_of_storage(&header.directories, &header.targets.directories))
        .or_else(|| doctor::difference(&now, &ProcessState::read(), &header.warnings))
}

/// Why the rest of a run would be measured on different storage than its beginning; `None` if it would not.
fn difference_of_storage(
    then: &[Directory],
    given: &[crate::directory::Directory],
) -> Option<String> {
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
