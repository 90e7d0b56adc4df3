//! Scratch folders on a server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::NfsError;
use crate::client::{Client, Handle};
use crate::owner::Owner;

/// Name of the file in a folder.
pub const FILE: &str = "stamped";

/// Age at which a folder whose owner cannot be seen counts as abandoned, in s: a case takes only
/// seconds.
const ABANDONED_S: u32 = 86_400;

/// Time limit of a sweep: a run should not wait for a slow server, so the rest is left to the next
/// sweep.
const MAX_SWEEP: Duration = Duration::from_secs(10);

/// Number of folders that this process has made.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A folder on a server, for this process alone, with one file in it. It is removed by
/// [`Folder::remove`], or by the next [`sweep`] if that was never called.
#[derive(Debug)]
pub struct Folder {
    name: String,
    handle: Handle,
    file: Handle,
}

impl Folder {
    /// Makes a folder in the exported directory, and writes this content into its file.
    ///
    /// # Errors
    /// When the server does not let this user write there. What was made is then removed, as far as
    /// the server allows that.
    pub fn make(client: &mut Client, content: &[u8]) -> Result<Folder, NfsError> {
        let name = Owner::this().folder(MADE.fetch_add(1, Ordering::Relaxed));
        let root = client.root();
        let handle = client.make_directory(&root, &name)?;
        let filled = fill(client, &handle, content);
        match filled {
            Ok(file) => Ok(Folder { name, handle, file }),
            Err(error) => {
                // The first error is the one to report.
                let _ = empty(client, &name, &handle);
                Err(error)
            }
        }
    }

    /// The handle of the folder.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The handle of the file in it.
    pub fn file(&self) -> &Handle {
        &self.file
    }

    /// Removes the file and the folder.
    ///
    /// # Errors
    /// When the server is gone or refuses.
    pub fn remove(&self, client: &mut Client) -> Result<(), NfsError> {
        empty(client, &self.name, &self.handle)
    }
}

fn fill(client: &mut Client, folder: &Handle, content: &[u8]) -> Result<Handle, NfsError> {
    let file = client.make_file(folder, FILE)?;
    let max_bytes = client.limits()?.write;
    client.write(&file, 0, content, max_bytes)?;
    Ok(file)
}

/// Removes the file of a folder, if there is one, and then the folder, unless it contains more.
fn empty(client: &mut Client, name: &str, folder: &Handle) -> Result<(), NfsError> {
    if client.names(folder)?.iter().any(|name| name == FILE) {
        client.remove(folder, FILE)?;
    }
    let root = client.root();
    client.remove_directory(&root, name)
}

/// Removes the folders in the exported directory whose owners were killed, and returns how many.
///
/// Whether an owner has ended is known only of processes of this boot of this machine, in the same
/// PID namespace. Folders of others are removed once they are a day old by the server's clock. A
/// folder that contains anything other than our file is left alone. What is not reached within 10 s
/// is left to the next sweep.
///
/// # Errors
/// When the directory cannot be read.
pub fn sweep(client: &mut Client) -> Result<usize, NfsError> {
    let (root, begun) = (client.root(), Instant::now());
    let mut removed = 0;
    for name in client.names(&root)? {
        if begun.elapsed() >= MAX_SWEEP {
            break;
        }
        let Some(owner) = Owner::of(&name) else {
            continue;
        };
        // Another run may be sweeping at the same time.
        let Ok(folder) = client.lookup(&root, &name) else {
            continue;
        };
        let is_over = match owner.has_ended() {
            Some(has_ended) => has_ended,
            None => is_abandoned(client, &root, &folder),
        };
        if is_over && empty(client, &name, &folder).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether a folder is old, compared with the latest change of its parent directory.
fn is_abandoned(client: &mut Client, root: &Handle, folder: &Handle) -> bool {
    let mut modified = |handle| client.getattr(handle).map(|is| is.modified_s);
    match (modified(root), modified(folder)) {
        (Ok(now), Ok(then)) => now.saturating_sub(then) > ABANDONED_S,
        (_, _) => false,
    }
}
