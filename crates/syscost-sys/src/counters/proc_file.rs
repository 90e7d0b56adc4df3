//! A file under /proc, kept open and read anew from its start into the caller's buffer: nothing is
//! allocated.

use std::borrow::Cow;
use std::fs::File;

use crate::{SystemError, Unsupported, os};

#[derive(Debug)]
pub(super) struct ProcFile {
    file: File,
    path: Cow<'static, str>,
}

impl ProcFile {
    pub(super) fn open(path: impl Into<Cow<'static, str>>) -> Result<ProcFile, Unsupported> {
        let path = path.into();
        let file = File::open(&*path).map_err(|cause| SystemError::new("open", &*path, cause))?;
        Ok(ProcFile { file, path })
    }

    /// The file's text, in one read. A text longer than the buffer is cut.
    pub(super) fn read<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str, Unsupported> {
        let length = os::read_at_start(&self.file, buffer)
            .map_err(|cause| SystemError::new("read", &*self.path, cause))?;
        str::from_utf8(&buffer[..length]).map_err(|_| self.unexpected())
    }

    /// The error for a text that lacks what the manual says it has.
    pub(super) fn unexpected(&self) -> Unsupported {
        Unsupported::new(format!(
            "{} does not have the form that proc(5) describes",
            self.path
        ))
    }
}
