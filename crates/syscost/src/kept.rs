//! The kept run that a person means.

use anyhow::Result;
use syscost_results::Run;
use syscost_store::Store;

use crate::terminal::say;

/// The run called `name`. Where that is `latest`, and the latest run lacks what is asked for, it is
/// the latest that has it, and standard error says so.
///
/// # Errors
/// When there is no such run, or its document cannot be read.
pub(crate) fn find(name: &str, has: impl Fn(&Run) -> bool) -> Result<Run> {
    let (loaded, passed) = Store::of_user().find_having(name, has)?;
    if passed > 0 {
        let id = &loaded.run.id;
        let runs = match passed {
            1 => "a later run lacks".to_owned(),
            _ => format!("{passed} later runs lack"),
        };
        say!("This is run {id}: {runs} what is asked for.");
    }
    Ok(loaded.run)
}
