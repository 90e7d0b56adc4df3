//! Reads and writes of the process.

use super::proc_file::ProcFile;
use crate::Unsupported;
use crate::process::proc_of;

/// What the process read and wrote (/proc/self/io).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes that read-like calls returned, from wherever they came.
    pub rchar: u64,
    /// Bytes that write-like calls took.
    pub wchar: u64,
    /// Read-like system calls.
    pub syscr: u64,
    /// Write-like system calls.
    pub syscw: u64,
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes sent to storage, or to be sent.
    pub write_bytes: u64,
}

/// Reads [`Io`] from a file kept open. Reading it is itself a read.
#[derive(Debug)]
pub struct IoReader(ProcFile);

impl IoReader {
    /// Opens the counters of this process.
    ///
    /// # Errors
    /// `Unsupported` where the kernel has none (it needs CONFIG_TASK_IO_ACCOUNTING).
    pub fn open() -> Result<IoReader, Unsupported> {
        ProcFile::open("/proc/self/io").map(IoReader)
    }

    /// Opens the counters of the calling thread alone. They leave out children that ended and were
    /// waited for.
    pub fn of_thread() -> Result<IoReader, Unsupported> {
        ProcFile::open("/proc/thread-self/io").map(IoReader)
    }

    /// Opens the counters of a process; those of children that ended and were waited for are in them.
    ///
    /// # Errors
    /// As [`IoReader::open`], and where /proc does not show it.
    pub fn of_process(pid: u32) -> Result<IoReader, Unsupported> {
        ProcFile::open(format!("{}/io", proc_of(pid)?)).map(IoReader)
    }

    /// Reads them now; this read itself is not yet included.
    ///
    /// # Errors
    /// `Unsupported` when the text is not as proc(5) describes.
    pub fn read(&self) -> Result<Io, Unsupported> {
        let mut buffer = [0; 512];
        let text = self.0.read(&mut buffer)?;
        parse(text).ok_or_else(|| self.0.unexpected())
    }
}

fn parse(text: &str) -> Option<Io> {
    let field = |name: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().parse().ok()
    };
    Some(Io {
        rchar: field("rchar")?,
        wchar: field("wchar")?,
        syscr: field("syscr")?,
        syscw: field("syscw")?,
        read_bytes: field("read_bytes")?,
        write_bytes: field("write_bytes")?,
    })
}

difference! { Io { rchar, wchar, syscr, syscw, read_bytes, write_bytes } }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_understood_and_cancelled_writes_are_not_writes() {
        let text = "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 2\nread_bytes: 3\nwrite_bytes: 4\ncancelled_write_bytes: 5\n";
        let io = Io {
            rchar: 6976,
            wchar: 1,
            syscr: 10,
            syscw: 2,
            read_bytes: 3,
            write_bytes: 4,
        };
        assert_eq!(parse(text), Some(io));
        assert_eq!(parse("rchar: 1\n"), None);
    }
}
