//! What prevents a run from being resumed here.

use super::directory;
use super::journal::Header;
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
        .or_else(|| directory::difference(&header.directories))
        .or_else(|| doctor::difference(&now, &ProcessState::read(), &header.warnings))
}
