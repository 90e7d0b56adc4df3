//! A file that the cases of one worker share: a device should not be written to
//! more often than needed.

use std::cell::RefCell;
use std::rc::Rc;

use syscost_harness::directory;
use syscost_harness::prelude::*;

use super::{Space, Stamped};

/// A stamped file and the folder that it is in.
pub(in crate::fs) struct Kept {
    /// The folder.
    pub(in crate::fs) space: Space,
    /// The file.
    pub(in crate::fs) file: Stamped,
}

thread_local! {
    /// The files with the labels of their directories. They are removed when the worker ends, by it
    /// or by the process that waits for it.
    static ALL: RefCell<Vec<(String, Rc<Kept>)>> = const { RefCell::new(Vec::new()) };
}

/// A file of this many bytes in the directory of the case, which is never changed.
pub(in crate::fs) fn kept(b: &mut Bencher, bytes: u64) -> Result<Rc<Kept>, Failure> {
    let label = b.case().get(directory::KEY).to_owned();
    let known = ALL.with_borrow(|all| {
        let fits = |(of, kept): &&(String, Rc<Kept>)| *of == label && kept.file.bytes() == bytes;
        all.iter().find(fits).map(|(_, kept)| Rc::clone(kept))
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let seed = b.random().u64(..);
    let space = Space::of(b)?;
    let file = space.file("content", bytes, seed)?;
    let kept = Rc::new(Kept { space, file });
    ALL.with_borrow_mut(|all| all.push((label, Rc::clone(&kept))));
    Ok(kept)
}
