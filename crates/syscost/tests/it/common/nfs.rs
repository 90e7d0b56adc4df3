//! An NFS server in the test's own process, with its files in memory, which needs neither
//! privileges nor a port mapper.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use nfs3_server::memfs::{MemFs, MemFsConfig};
use nfs3_server::tcp::{NFSTcp, NFSTcpListener};
use syscost_net::nfs::Export;
use syscost_nfs::Client;
use tokio::sync::oneshot;

/// A server that exports `/`; when dropped it ends and closes its connections.
pub(crate) struct NfsServer {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl NfsServer {
    /// Starts a server on a free port of the loopback interface, with a directory `data` in its
    /// export.
    pub(crate) fn start() -> Self {
        let (stop, stopped) = oneshot::channel();
        let (tell, port) = mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let mut files = MemFsConfig::default();
                files.add_dir("/data");
                let files = MemFs::new(files).expect("files");
                let listener = NFSTcpListener::bind("127.0.0.1:0", files)
                    .await
                    .expect("a port");
                tell.send(listener.get_listen_port()).expect("a listener");
                tokio::select! {
                    ended = listener.handle_forever() => panic!("the server ended: {ended:?}"),
                    _ = stopped => {}
                }
            });
        });
        let port = port.recv().expect("the server listens");
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// What it exports.
    pub(crate) fn export(&self) -> Export {
        format!("nfs://{}/", self.address).parse().expect("a URL")
    }

    /// The names in its export.
    pub(crate) fn names(&self) -> Vec<String> {
        let located = self.export().located(self.address, self.address.port());
        let mut client = Client::mount(&located).expect("it answers");
        let root = client.root();
        let mut names = client.names(&root).expect("a folder");
        names.sort();
        names
    }

    /// Stops the server, which closes its connections.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server ends");
        }
    }
}

impl Drop for NfsServer {
    fn drop(&mut self) {
        self.stop();
    }
}
