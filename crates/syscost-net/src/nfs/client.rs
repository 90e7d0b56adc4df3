//! Calls to a server, one at a time.

use std::io;
use std::net::{SocketAddr, TcpStream};

use nfs3_client::nfs3_types::mount::{self, dirpath};
use nfs3_client::nfs3_types::nfs3::{
    self, CREATE3args, FSINFO3args, GETATTR3args, LOOKUP3args, MKDIR3args, Nfs3Option, Nfs3Result,
    READ3args, READDIR3args, REMOVE3args, RMDIR3args, WRITE3args, cookieverf3, createhow3,
    diropargs3, fattr3, filename3, ftype3, nfs_fh3, nfsstat3, sattr3, stable_how,
};
use nfs3_client::nfs3_types::portmap::{IPPROTO_TCP, PMAP_PORT};
use nfs3_client::nfs3_types::rpc::{auth_flavor, auth_unix, opaque_auth};
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::{MountClient, MountError, Nfs3Client, PortmapError, PortmapperClient, RpcError};
use rustix::process::{getegid, geteuid, getgroups};
use rustix::system::uname;

use super::error::NfsError;
use super::export::{Export, NFS_PORT};
use super::wire::{PATIENCE, Traffic, Watch, Wire, at_once};
use crate::socket::{self, Tcp};

/// Groups beside the first that a server can be told (AUTH_SYS of RFC 5531).
const MAX_GROUPS: usize = 16;

/// Bytes of a directory that are asked for at once.
const DIRECTORY_BYTES: u32 = 8192;

/// Longest directory that is read, in names: another's may have any number of them.
const MAX_NAMES: usize = 10_000;

/// How a server names a file or directory.
pub type Handle = nfs_fh3;

/// What a server says of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Its number in its file system.
    pub id: u64,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// When its content was last changed, by the server's clock, in s since 1970.
    pub modified_s: u32,
}

impl From<&fattr3> for Attributes {
    fn from(attributes: &fattr3) -> Self {
        Self {
            id: attributes.fileid,
            bytes: attributes.size,
            is_directory: attributes.type_ == ftype3::NF3DIR,
            modified_s: attributes.mtime.seconds,
        }
    }
}

/// What a READ returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether the file ends behind them.
    pub is_last: bool,
}

/// What a server takes and gives at most in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a READ.
    pub read: u32,
    /// Bytes of a WRITE.
    pub write: u32,
}

/// A connection to a server, and the directory that it exports.
#[derive(Debug)]
pub struct Client {
    nfs: Nfs3Client<Wire>,
    watch: Watch,
    server: SocketAddr,
    root: Handle,
}

impl Client {
    /// Finds out which ports a server has: those of the export, or else those that its port mapper
    /// knows.
    ///
    /// # Errors
    /// When it has no port mapper, or that knows of no NFS over TCP.
    pub fn locate(export: &Export, server: SocketAddr) -> Result<Export, NfsError> {
        let asked = |program, what| {
            let mapper = SocketAddr::new(server.ip(), PMAP_PORT);
            let (wire, _) = connect(mapper, what)?;
            let mut mapper = PortmapperClient::new(wire);
            let port = at_once(mapper.getport(program, nfs3::VERSION, IPPROTO_TCP));
            port.map_err(|error| unmapped(server, what, error))
        };
        let port = match export.port {
            Some(port) => port,
            None => asked(nfs3::PROGRAM, "asking its port mapper for NFS")?,
        };
        let mount_port = match export.mount_port.or(export.port) {
            Some(port) => port,
            None => asked(mount::PROGRAM, "asking its port mapper for MOUNT")?,
        };
        Ok(export.located(SocketAddr::new(server.ip(), port), mount_port))
    }

    /// Connects to the server of a located export, and gets the handle of what it exports.
    ///
    /// # Errors
    /// As [`NfsError`] tells them apart.
    pub fn mount(export: &Export) -> Result<Client, NfsError> {
        let unlocated = SocketAddr::from(([0, 0, 0, 0], NFS_PORT));
        let (server, mount_server) = export.addresses().ok_or(NfsError::Unreachable {
            server: unlocated,
            what: "mounting",
            cause: io::Error::other(format!("{export} is not located")),
        })?;
        let root = root_of(mount_server, &export.path)?;
        let (wire, watch) = connect(server, "connecting to NFS")?;
        let nfs = Nfs3Client::new_with_auth(wire, credential(), opaque_auth::default());
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

    /// What is exported.
    pub fn root(&self) -> Handle {
        self.root.clone()
    }

    /// Calls the procedure that does nothing.
    ///
    /// # Errors
    /// As [`NfsError`] tells them apart, as of every call here.
    #[inline]
    pub fn null(&mut self) -> Result<(), NfsError> {
        let result = at_once(self.nfs.null());
        result.map_err(|error| NfsError::of(self.server, "NULL", error))
    }

    /// Asks for attributes.
    ///
    /// # Errors
    /// As above.
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
    ///
    /// # Errors
    /// As above.
    #[inline]
    pub fn lookup(&mut self, directory: &Handle, name: &str) -> Result<Handle, NfsError> {
        let arguments = LOOKUP3args {
            what: place(directory, name),
        };
        let result = at_once(self.nfs.lookup(&arguments));
        Ok(self.done("LOOKUP", result)?.object)
    }

    /// Reads this many bytes of a file, or fewer if the server gives no more.
    ///
    /// # Errors
    /// As above.
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

    /// Asks what it takes and gives at most.
    ///
    /// # Errors
    /// As above.
    pub fn limits(&mut self) -> Result<Limits, NfsError> {
        let arguments = FSINFO3args {
            fsroot: self.root(),
        };
        let result = at_once(self.nfs.fsinfo(&arguments));
        let done = self.done("FSINFO", result)?;
        Ok(Limits {
            read: done.rtmax,
            write: done.wtmax,
        })
    }

    /// Makes a directory for its owner alone.
    ///
    /// # Errors
    /// As above; when the name is taken.
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

    /// Makes a file for its owner alone.
    ///
    /// # Errors
    /// As above; when the name is taken.
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

    /// Writes all of this from `offset` on, in calls of at most `most` bytes each.
    ///
    /// # Errors
    /// As above; when the server takes none of it.
    pub fn write(
        &mut self,
        file: &Handle,
        mut offset: u64,
        mut bytes: &[u8],
        most: u32,
    ) -> Result<(), NfsError> {
        while !bytes.is_empty() {
            let part = &bytes[..bytes.len().min(most.max(1) as usize)];
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
    ///
    /// # Errors
    /// As above.
    pub fn remove(&mut self, directory: &Handle, name: &str) -> Result<(), NfsError> {
        let arguments = REMOVE3args {
            object: place(directory, name),
        };
        let result = at_once(self.nfs.remove(&arguments));
        self.done("REMOVE", result).map(drop)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// As above.
    pub fn remove_directory(&mut self, parent: &Handle, name: &str) -> Result<(), NfsError> {
        let arguments = RMDIR3args {
            object: place(parent, name),
        };
        let result = at_once(self.nfs.rmdir(&arguments));
        self.done("RMDIR", result).map(drop)
    }

    /// The names in a directory, without `.` and `..`; of a very long one only the first.
    ///
    /// # Errors
    /// As above.
    pub fn names(&mut self, directory: &Handle) -> Result<Vec<String>, NfsError> {
        let mut names = Vec::new();
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
            for entry in entries {
                cookie = entry.cookie;
                let name = String::from_utf8_lossy(&entry.name.0).into_owned();
                if name != "." && name != ".." {
                    names.push(name);
                }
            }
            if is_last || names.len() > MAX_NAMES {
                return Ok(names);
            }
        }
    }

    /// What was done, unless the server refused.
    fn done<T, E>(
        &self,
        what: &'static str,
        result: Result<Nfs3Result<T, E>, RpcError>,
    ) -> Result<T, NfsError> {
        let server = self.server;
        match result {
            Ok(Nfs3Result::Ok(done)) => Ok(done),
            Ok(Nfs3Result::Err((status, _))) => Err(NfsError::Refused {
                server,
                what,
                status: explained(status),
            }),
            Err(error) => Err(NfsError::of(server, what, error)),
        }
    }

    fn odd(&self, what: &'static str, cause: String) -> NfsError {
        NfsError::Stranger {
            server: self.server,
            what,
            cause,
        }
    }
}

/// A name in a directory.
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

/// Connects; from a reserved port where this process may, since most servers ask for one.
fn connect(server: SocketAddr, what: &'static str) -> Result<(Wire, Watch), NfsError> {
    let failed = |cause| NfsError::Unreachable {
        server,
        what,
        cause,
    };
    let socket = socket::connect_reserved(server, &Tcp::nodelay(), PATIENCE)
        .map_err(|error| failed(error.cause))?;
    Wire::over(socket).map_err(failed)
}

/// The handle of what is exported under this path. The mount is ended at once: handles hold without
/// it, and the server's list of mounts is left as it was.
fn root_of(server: SocketAddr, path: &str) -> Result<Handle, NfsError> {
    const WHAT: &str = "mounting";
    let (wire, _) = connect(server, "connecting to its mount service")?;
    let mut client = MountClient::new_with_auth(wire, credential(), opaque_auth::default());
    let directory = || dirpath(Opaque::borrowed(path.as_bytes()));
    let mounted = at_once(client.mnt(directory())).map_err(|error| match error {
        MountError::Denied(status) => NfsError::Refused {
            server,
            what: WHAT,
            status: format!(
                "{status} for {path}; `showmount -e` lists what it exports, and to whom"
            ),
        },
        MountError::Rpc(RpcError::ProgUnavail) => NfsError::Stranger {
            server,
            what: WHAT,
            cause: "no mount service at this port; give it as nfs://HOST:PORT:MOUNTPORT/PATH"
                .to_owned(),
        },
        MountError::Rpc(error) => NfsError::of(server, WHAT, error),
    })?;
    let unmounted = at_once(client.umnt(directory()));
    unmounted.map_err(|error| NfsError::of(server, "unmounting", error))?;
    let known = [auth_flavor::AUTH_NULL as u32, auth_flavor::AUTH_UNIX as u32];
    let flavors = &mounted.auth_flavors;
    if !flavors.is_empty() && !flavors.iter().any(|flavor| known.contains(flavor)) {
        return Err(NfsError::Refused {
            server,
            what: WHAT,
            status: format!("it wants credentials of kind {flavors:?}, not AUTH_SYS"),
        });
    }
    Ok(nfs_fh3 {
        data: mounted.fhandle.0,
    })
}

/// Why a port mapper gave no port.
fn unmapped(server: SocketAddr, what: &'static str, error: PortmapError) -> NfsError {
    match error {
        PortmapError::Rpc(error) => NfsError::of(server, what, error),
        other => NfsError::Stranger {
            server,
            what,
            cause: other.to_string(),
        },
    }
}

/// Who calls: this machine's name, and this process's user and groups (AUTH_SYS).
fn credential() -> opaque_auth<'static> {
    let groups = getgroups().unwrap_or_default();
    opaque_auth::auth_unix(&auth_unix {
        stamp: 0,
        machinename: Opaque::owned(uname().nodename().to_bytes().to_vec()),
        uid: geteuid().as_raw(),
        gid: getegid().as_raw(),
        gids: groups
            .into_iter()
            .take(MAX_GROUPS)
            .map(|group| group.as_raw())
            .collect(),
    })
}
