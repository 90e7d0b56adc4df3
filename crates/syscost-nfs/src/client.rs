//! NFS calls to a server, one at a time.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use nfs3_client::nfs3_types::nfs3::{
    CREATE3args, FSINFO3args, GETATTR3args, LOOKUP3args, MKDIR3args, Nfs3Option, Nfs3Result,
    READ3args, READDIR3args, REMOVE3args, RMDIR3args, WRITE3args, cookieverf3, createhow3,
    diropargs3, fattr3, filename3, nfs_fh3, nfsstat3, sattr3, stable_how,
};
use nfs3_client::nfs3_types::rpc::opaque_auth;
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::{Nfs3Client, RpcError};
use syscost_net::nfs::{Export, NFS_PORT};

use crate::NfsError;
use crate::mount;
use crate::wire::{Traffic, Watch, Wire, at_once};

/// Size of a page of a directory, in bytes.
const DIRECTORY_BYTES: u32 = 8192;

/// Maximum number of entries that are read of a directory, which may have any number.
const MAX_ENTRIES: usize = 10_000;

/// Time after which no further page of a directory is requested.
const MAX_READING: Duration = Duration::from_secs(10);

/// A file handle: a server's name for a file or directory.
pub type Handle = nfs_fh3;

/// Attributes of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Its file id (inode number).
    pub id: u64,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Time of its last modification (mtime), by the server's clock, in s since 1970.
    pub modified_s: u32,
}

impl From<&fattr3> for Attributes {
    fn from(attributes: &fattr3) -> Self {
        Self {
            id: attributes.fileid,
            bytes: attributes.size,
            modified_s: attributes.mtime.seconds,
        }
    }
}

/// The result of a READ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether the file ends after them.
    pub is_last: bool,
}

/// Maximum sizes of a server's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferLimits {
    /// Maximum size of a READ, in bytes.
    pub read: u32,
    /// Maximum size of a WRITE, in bytes.
    pub write: u32,
}

/// A connection to a server, and the handle of an exported directory.
#[derive(Debug)]
pub struct Client {
    nfs: Nfs3Client<Wire>,
    watch: Watch,
    server: SocketAddr,
    root: Handle,
}

impl Client {
    /// Finds the ports of a server: those of the export, or else those that its port mapper knows.
    ///
    /// # Errors
    /// When it has no port mapper, or NFS over TCP is not registered there.
    pub fn locate(export: &Export, server: SocketAddr) -> Result<Export, NfsError> {
        mount::locate(export, server)
    }

    /// Connects to the server of a located export, and gets the handle of the exported directory.
    pub fn mount(export: &Export) -> Result<Client, NfsError> {
        let unlocated = SocketAddr::from(([0, 0, 0, 0], NFS_PORT));
        let (server, mount_server) = export.addresses().ok_or_else(|| {
            let cause = io::Error::other(format!("{export} is not located"));
            NfsError::Unreachable(unlocated, "mounting", cause)
        })?;
        let root = mount::root_of(mount_server, &export.path)?;
        let (wire, watch) = mount::connect(server, "connecting to NFS")?;
        let nfs = Nfs3Client::new_with_auth(wire, mount::credential(), opaque_auth::default());
        Ok(Client {
            nfs,
            watch,
            server,
            root,
        })
    }

    /// The server's address.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// The socket of its connection.
    pub fn socket(&self) -> &TcpStream {
        &self.watch.socket
    }

    /// What has passed over its connection.
    pub fn traffic(&self) -> Traffic {
        self.watch.traffic()
    }

    /// The handle of the exported directory.
    pub fn root(&self) -> Handle {
        self.root.clone()
    }

    /// Calls the procedure that does nothing.
    #[inline]
    pub fn null(&mut self) -> Result<(), NfsError> {
        let result = at_once(self.nfs.null());
        result.map_err(|error| NfsError::of(self.server, "NULL", error))
    }

    /// Gets the attributes of a file or directory.
    #[inline]
    pub fn getattr(&mut self, object: &Handle) -> Result<Attributes, NfsError> {
        let arguments = GETATTR3args {
            object: object.clone(),
        };
        let result = at_once(self.nfs.getattr(&arguments));
        let done = self.done("GETATTR", result)?;
        Ok(Attributes::from(&done.obj_attributes))
    }

    /// Looks up a name in a directory.
    #[inline]
    pub fn lookup(&mut self, directory: &Handle, name: &str) -> Result<Handle, NfsError> {
        let arguments = LOOKUP3args {
            what: place(directory, name),
        };
        let result = at_once(self.nfs.lookup(&arguments));
        Ok(self.done("LOOKUP", result)?.object)
    }

    /// Reads up to this many bytes of a file.
    #[inline]
    pub fn read(&mut self, file: &Handle, offset: u64, bytes: u32) -> Result<Slice, NfsError> {
        let arguments = READ3args {
            file: file.clone(),
            offset,
            count: bytes,
        };
        let result = at_once(self.nfs.read(&arguments));
        let done = self.done("READ", result)?;
        if done.data.len() > bytes as usize || done.count as usize != done.data.len() {
            let got = done.data.len();
            return Err(self.odd("READ", format!("{got} bytes instead of {bytes}")));
        }
        Ok(Slice {
            is_last: done.eof,
            bytes: done.data.into_owned(),
        })
    }

    /// Gets the maximum sizes of calls.
    pub fn limits(&mut self) -> Result<TransferLimits, NfsError> {
        let arguments = FSINFO3args {
            fsroot: self.root(),
        };
        let result = at_once(self.nfs.fsinfo(&arguments));
        let done = self.done("FSINFO", result)?;
        Ok(TransferLimits {
            read: done.rtmax,
            write: done.wtmax,
        })
    }

    /// Makes a directory that only its owner can access.
    pub fn make_directory(&mut self, parent: &Handle, name: &str) -> Result<Handle, NfsError> {
        let arguments = MKDIR3args {
            where_: place(parent, name),
            attributes: sattr3 {
                mode: Nfs3Option::Some(0o700),
                ..sattr3::default()
            },
        };
        let result = at_once(self.nfs.mkdir(&arguments));
        match self.done("MKDIR", result)?.obj {
            Nfs3Option::Some(handle) => Ok(handle),
            Nfs3Option::None => self.lookup(parent, name),
        }
    }

    /// Makes a file that only its owner can access.
    pub fn make_file(&mut self, directory: &Handle, name: &str) -> Result<Handle, NfsError> {
        let arguments = CREATE3args {
            where_: place(directory, name),
            how: createhow3::GUARDED(sattr3 {
                mode: Nfs3Option::Some(0o600),
                ..sattr3::default()
            }),
        };
        let result = at_once(self.nfs.create(&arguments));
        match self.done("CREATE", result)?.obj {
            Nfs3Option::Some(handle) => Ok(handle),
            Nfs3Option::None => self.lookup(directory, name),
        }
    }

    /// Writes all of these bytes from `offset` on, in calls of at most `max_bytes` each.
    ///
    /// # Errors
    /// When the server accepts no bytes of a call.
    pub fn write(
        &mut self,
        file: &Handle,
        mut offset: u64,
        mut bytes: &[u8],
        max_bytes: u32,
    ) -> Result<(), NfsError> {
        while !bytes.is_empty() {
            let part = &bytes[..bytes.len().min(max_bytes.max(1) as usize)];
            let arguments = WRITE3args {
                file: file.clone(),
                offset,
                count: part.len() as u32,
                stable: stable_how::UNSTABLE,
                data: Opaque::borrowed(part),
            };
            let result = at_once(self.nfs.write(&arguments));
            let taken = self.done("WRITE", result)?.count as usize;
            if !(1..=part.len()).contains(&taken) {
                let what = format!("{taken} bytes taken of {}", part.len());
                return Err(self.odd("WRITE", what));
            }
            offset += taken as u64;
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    /// Removes a file.
    pub fn remove(&mut self, directory: &Handle, name: &str) -> Result<(), NfsError> {
        let arguments = REMOVE3args {
            object: place(directory, name),
        };
        let result = at_once(self.nfs.remove(&arguments));
        self.done("REMOVE", result).map(drop)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&mut self, parent: &Handle, name: &str) -> Result<(), NfsError> {
        let arguments = RMDIR3args {
            object: place(parent, name),
        };
        let result = at_once(self.nfs.rmdir(&arguments));
        self.done("RMDIR", result).map(drop)
    }

    /// Lists the names in a directory, without `.` and `..`; only the first ones of a very long
    /// directory or from a very slow server.
    ///
    /// # Errors
    /// When a page ends where the previous one did.
    pub fn names(&mut self, directory: &Handle) -> Result<Vec<String>, NfsError> {
        let begun = Instant::now();
        let (mut names, mut seen) = (Vec::new(), 0);
        let (mut cookie, mut cookieverf) = (0, cookieverf3::default());
        loop {
            let arguments = READDIR3args {
                dir: directory.clone(),
                cookie,
                cookieverf,
                count: DIRECTORY_BYTES,
            };
            let result = at_once(self.nfs.readdir(&arguments));
            let page = self.done("READDIR", result)?;
            cookieverf = page.cookieverf;
            let entries = page.reply.entries.into_inner();
            let is_last = page.reply.eof || entries.is_empty();
            let asked_from = cookie;
            seen += entries.len();
            for entry in entries {
                cookie = entry.cookie;
                let name = String::from_utf8_lossy(&entry.name.0).into_owned();
                if name != "." && name != ".." {
                    names.push(name);
                }
            }
            if is_last || seen >= MAX_ENTRIES || begun.elapsed() >= MAX_READING {
                return Ok(names);
            }
            if cookie == asked_from {
                let what = format!("a page that ends where the last one did, at cookie {cookie}");
                return Err(self.odd("READDIR", what));
            }
        }
    }

    /// Returns the result of a call, or the error if the server refused it.
    fn done<T, E>(
        &self,
        what: &'static str,
        result: Result<Nfs3Result<T, E>, RpcError>,
    ) -> Result<T, NfsError> {
        let server = self.server;
        match result {
            Ok(Nfs3Result::Ok(done)) => Ok(done),
            Ok(Nfs3Result::Err((status, _))) => {
                Err(NfsError::Refused(server, what, explained(status)))
            }
            Err(error) => Err(NfsError::of(server, what, error)),
        }
    }

    fn odd(&self, what: &'static str, cause: String) -> NfsError {
        NfsError::Stranger(self.server, what, cause)
    }
}

fn place<'n>(directory: &Handle, name: &'n str) -> diropargs3<'n> {
    diropargs3 {
        dir: directory.clone(),
        name: filename3(Opaque::borrowed(name.as_bytes())),
    }
}

fn explained(status: nfsstat3) -> String {
    let advice = match status {
        nfsstat3::NFS3ERR_ACCES | nfsstat3::NFS3ERR_PERM => {
            ": this user may not do that there; a server squashes root unless it exports with no_root_squash"
        }
        nfsstat3::NFS3ERR_ROFS => ": the export is read-only",
        nfsstat3::NFS3ERR_NOSPC => ": its file system is full",
        nfsstat3::NFS3ERR_DQUOT => ": the quota there is used up",
        nfsstat3::NFS3ERR_STALE | nfsstat3::NFS3ERR_BADHANDLE => {
            ": what the handle named is gone, or the server has been restarted"
        }
        _ => "",
    };
    format!("{status}{advice}")
}

#[cfg(test)]
mod tests;
