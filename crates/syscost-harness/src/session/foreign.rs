//! What forbids that a run is resumed here.

use super::directory;
use super::journal::Header;
use crate::machine;

/// Why the rest of a run would not be comparable with its beginning, if so: another version, another
/// machine, or a directory that lies on something else.
pub(super) fn difference(header: &Header, version: &str) -> Option<String> {
    if header.tool_version != version {
        return Some(format!("it was begun by syscost {}", header.tool_version));
    }
    machine::difference(&header.machine, &machine::capture())
        .or_else(|| directory::difference(&header.directories))
}
