//! Finds what a server exports: its ports, and the handle of the export.

use std::net::SocketAddr;

use nfs3_client::nfs3_types::mount::{self, dirpath};
use nfs3_client::nfs3_types::nfs3::{self, nfs_fh3};
use nfs3_client::nfs3_types::portmap::{IPPROTO_TCP, PMAP_PORT};
use nfs3_client::nfs3_types::rpc::{auth_flavor, auth_unix, opaque_auth};
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::{MountClient, MountError, PortmapError, PortmapperClient, RpcError};
use rustix::process::{getegid, geteuid, getgroups};
use rustix::system::uname;
use syscost_net::nfs::Export;
use syscost_net::socket::{self, Tcp};

use crate::NfsError;
use crate::wire::{PATIENCE, Watch, Wire, at_once};

/// Maximum number of supplementary groups in a call (AUTH_SYS of RFC 5531).
const MAX_GROUPS: usize = 16;

/// Returns the export with its server's ports: its own, or else those that the port mapper knows.
pub(super) fn locate(export: &Export, server: SocketAddr) -> Result<Export, NfsError> {
    let asked = |program, what| {
        let mapper = SocketAddr::new(server.ip(), PMAP_PORT);
        let (wire, _) = connect(mapper, what)?;
        let mut mapper = PortmapperClient::new(wire);
        let port = at_once(mapper.getport(program, nfs3::VERSION, IPPROTO_TCP));
        port.map_err(|error| match error {
            PortmapError::Rpc(error) => NfsError::of(server, what, error),
            other => NfsError::Stranger(server, what, other.to_string()),
        })
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

/// Connects, from a reserved port if this process may use one, since most servers require one.
pub(super) fn connect(server: SocketAddr, what: &'static str) -> Result<(Wire, Watch), NfsError> {
    let failed = |cause| NfsError::Unreachable(server, what, cause);
    let socket = socket::connect_reserved(server, &Tcp::nodelay(), PATIENCE)
        .map_err(|error| failed(error.cause))?;
    Wire::over(socket).map_err(failed)
}

/// Returns the handle of the directory exported under this path. It is unmounted at once: handles
/// stay valid without it, and the server's list of mounts is left as it was.
pub(super) fn root_of(server: SocketAddr, path: &str) -> Result<nfs_fh3, NfsError> {
    const WHAT: &str = "mounting";
    let (wire, _) = connect(server, "connecting to its mount service")?;
    let mut client = MountClient::new_with_auth(wire, credential(), opaque_auth::default());
    let directory = || dirpath(Opaque::borrowed(path.as_bytes()));
    let mounted = at_once(client.mnt(directory())).map_err(|error| match error {
        MountError::Denied(status) => {
            let why = "`showmount -e` lists what it exports, and to whom";
            NfsError::Refused(server, WHAT, format!("{status} for {path}; {why}"))
        }
        MountError::Rpc(RpcError::ProgUnavail) => {
            let cause = "no mount service at this port; give it as nfs://HOST:PORT:MOUNTPORT/PATH";
            NfsError::Stranger(server, WHAT, cause.to_owned())
        }
        MountError::Rpc(error) => NfsError::of(server, WHAT, error),
    })?;
    let unmounted = at_once(client.umnt(directory()));
    unmounted.map_err(|error| NfsError::of(server, "unmounting", error))?;
    let known = [auth_flavor::AUTH_NULL as u32, auth_flavor::AUTH_UNIX as u32];
    let flavors = &mounted.auth_flavors;
    if !flavors.is_empty() && !flavors.iter().any(|flavor| known.contains(flavor)) {
        let status = format!("it requires credentials of kind {flavors:?}, not AUTH_SYS");
        return Err(NfsError::Refused(server, WHAT, status));
    }
    Ok(nfs_fh3 {
        data: mounted.fhandle.0,
    })
}

/// The caller's credential (AUTH_SYS): this machine's name, and this process's user and groups.
pub(super) fn credential() -> opaque_auth<'static> {
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
