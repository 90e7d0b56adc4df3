//! Whether two sides were asked for the same.

use crate::Run;

/// Whether each run of the new side was asked for what a run of the base was: the same selectors, at
/// the same profile, with the same kind of far end, NFS server and directories. A row that is not in
/// its document then was lost; else the selection is another on purpose.
pub(super) fn for_the_same(base: &[&Run], new: &[&Run]) -> bool {
    let asked = |run: &Run| {
        let labels = run
            .directories
            .iter()
            .map(|directory| directory.label.clone());
        (
            run.config.selectors.clone(),
            run.config.profile.clone(),
            run.peer.is_some(),
            run.nfs.is_some(),
            labels.collect::<Vec<String>>(),
        )
    };
    let of_base: Vec<_> = base.iter().map(|run| asked(run)).collect();
    new.iter().all(|run| of_base.contains(&asked(run)))
}
