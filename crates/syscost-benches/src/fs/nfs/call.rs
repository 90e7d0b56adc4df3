//! A call, and the answer that it must get.

use syscost_harness::prelude::*;
use syscost_net::nfs::{Client, FILE, Folder, NfsError, Procedure};
use syscost_sys::files::stamp;

/// The program of NFS (RFC 1813).
const NFS: u32 = 100_003;

/// Bytes of the file that is read.
const FILE_BYTES: usize = 1 << 20;

/// Bytes of the file of which only attributes or the name are requested.
const PLAIN_BYTES: usize = 4 << 10;

/// A procedure that is called.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fs) enum Call {
    Null,
    Getattr,
    Lookup,
    Read,
}

impl Call {
    /// Its name in the protocol.
    pub(super) fn in_protocol(self) -> String {
        self.name().to_uppercase()
    }

    /// Its number in the protocol.
    pub(super) const fn procedure(self) -> Procedure {
        let number = match self {
            Call::Null => 0,
            Call::Getattr => 1,
            Call::Lookup => 3,
            Call::Read => 6,
        };
        Procedure {
            program: NFS,
            number,
        }
    }

    /// Size of the file that it needs, in bytes; `None` if it needs none.
    pub(super) const fn file_bytes(self) -> Option<usize> {
        match self {
            Call::Null => None,
            Call::Getattr | Call::Lookup => Some(PLAIN_BYTES),
            Call::Read => Some(FILE_BYTES),
        }
    }
}

/// A stamped file on the server.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) folder: Folder,
    bytes: usize,
    seed: u64,
    /// Its file id on the server.
    id: u64,
    /// Where the next READ begins.
    offset: usize,
    /// READs whose content was compared.
    pub(super) checked: u64,
    /// Whether all content is compared, or only its ends.
    is_whole: bool,
}

impl Subject {
    /// Creates a file of this many bytes.
    pub(super) fn make(
        client: &mut Client,
        bytes: usize,
        seed: u64,
        is_whole: bool,
    ) -> Result<Self, NfsError> {
        let mut content = vec![0; bytes];
        stamp::fill(&mut content, 0, seed);
        let folder = Folder::make(client, &content)?;
        let id = client.getattr(folder.file())?.id;
        Ok(Self {
            folder,
            bytes,
            seed,
            id,
            offset: 0,
            checked: 0,
            is_whole,
        })
    }

    /// Requests its attributes.
    #[inline]
    pub(super) fn getattr(&self, client: &mut Client) -> Result<(), Failure> {
        let is = client.getattr(self.folder.file()).map_err(failed)?;
        match is.id == self.id && is.bytes == self.bytes as u64 {
            true => Ok(()),
            false => Err(Failure::Refuted(format!(
                "GETATTR reports file {} with {} bytes, not file {} with {}",
                is.id, is.bytes, self.id, self.bytes
            ))),
        }
    }

    /// Looks its name up.
    #[inline]
    pub(super) fn lookup(&self, client: &mut Client) -> Result<(), Failure> {
        let found = client.lookup(self.folder.handle(), FILE).map_err(failed)?;
        match found == *self.folder.file() {
            true => Ok(()),
            false => Err(Failure::Refuted(
                "LOOKUP found another file than the one that was made".into(),
            )),
        }
    }

    /// Reads its next block.
    #[inline]
    pub(super) fn read(&mut self, client: &mut Client, bytes: u32) -> Result<(), Failure> {
        let (offset, size) = (self.offset, bytes as usize);
        let slice = client
            .read(self.folder.file(), offset as u64, bytes)
            .map_err(failed)?;
        if slice.bytes.len() != size {
            let got = slice.bytes.len();
            let what = format!("a READ of {size} bytes returned {got}");
            return Err(Failure::Refuted(what));
        }
        super::check(&slice.bytes, offset as u64, self.seed, self.is_whole)?;
        self.checked += 1;
        self.offset = (offset + size) % self.bytes;
        Ok(())
    }

    /// The names in its folder, as the server lists them.
    pub(super) fn names(&self, client: &mut Client) -> Result<Vec<String>, NfsError> {
        client.names(self.folder.handle())
    }
}

/// The failure of a row: a server that refuses, or is gone, costs one row.
pub(super) fn failed(error: NfsError) -> Failure {
    Failure::Failed(error.to_string())
}
