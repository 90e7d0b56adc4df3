//! What is written on a server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::client::{Client, Handle};
use super::error::NfsError;
use super::owner::Owner;

/// The one file in a folder.
pub const FILE: &str = "stamped";

/// A folder whose maker cannot be seen is taken for forgotten when it is so old, in s: a case takes
/// seconds.
const FORGOTTEN_S: u32 = 86_400;

/// After this the rest is left to the next sweep: a run should not wait for a slow server.
const MAX_SWEEP: Duration = Duration::from_secs(10);

/// Folders that this process has made.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A folder on a server, of this process alone, with one file in it. It is removed by
/// [`Folder::remove`], or by the next [`sweep`] where that never came to be called.
#[derive(Debug)]
pub struct Folder {
    name: String,
    handle: Handle,
    file: Handle,
}

impl Folder {
    /// Makes one in the exported directory, and writes this content into its file.
    ///
    /// # Errors
    /// When the server does not let this user write there. Nothing is left then, if it lets us
    /// remove what was made.
    pub fn make(client: &mut Client, content: &[u8]) -> Result<Folder, NfsError> {
        let name = Owner::this().folder(MADE.fetch_add(1, Ordering::Relaxed));
        let root = client.root();
        let handle = client.make_directory(&root, &name)?;
        let filled = fill(client, &handle, content);
        match filled {
            Ok(file) => Ok(Folder { name, handle, file }),
            Err(error) => {
                // The error that led here is the one worth telling.
                let _ = empty(client, &name, &handle);
                Err(error)
            }
        }
    }

    /// The folder.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The file in it.
    pub fn file(&self) -> &Handle {
        &self.file
    }

    /// Removes both.
    ///
    /// # Errors
    /// When the server is gone or refuses.
    pub fn remove(&self, client: &mut Client) -> Result<(), NfsError> {
        empty(client, &self.name, &self.handle)
    }
}

fn fill(client: &mut Client, folder: &Handle, content: &[u8]) -> Result<Handle, NfsError> {
    let file = client.make_file(folder, FILE)?;
    let most = client.limits()?.write;
    client.write(&file, 0, content, most)?;
    Ok(file)
}

/// Removes the file of a folder, if there is one, and then the folder, unless there is more in it.
fn empty(client: &mut Client, name: &str, folder: &Handle) -> Result<(), NfsError> {
    if client.names(folder)?.iter().any(|name| name == FILE) {
        client.remove(folder, FILE)?;
    }
    let root = client.root();
    client.remove_directory(&root, name)
}

/// Removes the folders in the exported directory whose makers were killed; returns how many.
///
/// A maker is known to have ended if it was a process of this machine, since it booted, in the same
/// PID namespace. Of others nothing can be seen from here: their folders are removed once they are a
/// day old by the server's clock. A folder with anything else in it than our file is left alone.
/// What is not come to within 10 s is left to the next sweep.
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
            None => is_forgotten(client, &root, &folder),
        };
        if is_over && empty(client, &name, &folder).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether a folder is old beside the latest change of the directory it is in.
fn is_forgotten(client: &mut Client, root: &Handle, folder: &Handle) -> bool {
    let mut modified = |handle| client.getattr(handle).map(|is| is.modified_s);
    match (modified(root), modified(folder)) {
        (Ok(now), Ok(then)) => now.saturating_sub(then) > FORGOTTEN_S,
        (_, _) => false,
    }
}
