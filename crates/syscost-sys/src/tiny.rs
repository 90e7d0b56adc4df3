//! A program of our own, a few hundred bytes long, to be executed where only the cost of executing counts.
//!
//! It is an ELF file with one loadable segment and no interpreter: it writes one byte to a given
//! descriptor and exits, with status 0 if the byte was accepted. So the reader of the byte knows
//! that the program ran. It exists only in memory (memfd_create), and is executed by its name under
//! /proc.
#![allow(unsafe_code)] // the program's own instructions, in assembly

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::elf::{self, Access, BASE, Segment, machine_code};
use crate::{SystemError, Unsupported, os};

/// The byte that the program writes.
pub const MARKER: u8 = 0x5c;

machine_code! {
    /// The instructions, then the two words that they read: the descriptor and the marker.
    code: syscost_tiny_begin to syscost_tiny_end in ".rodata.syscost_tiny",
    x86_64 [
        "mov edi, dword ptr [rip + 2f]",
        "lea rsi, [rip + 3f]",
        "mov edx, 1",
        "mov eax, {write}",
        "syscall",
        "xor edi, edi",
        "cmp rax, 1",
        "setne dil",
        "mov eax, {exit_group}",
        "syscall",
        ".balign 4",
        "2: .long 0",
        "3: .long 0",
    ],
    aarch64 [
        "ldr w0, 2f",
        "adr x1, 3f",
        "mov x2, #1",
        "mov x8, #{write}",
        "svc 0",
        "cmp x0, #1",
        "cset x0, ne",
        "mov x8, #{exit_group}",
        "svc 0",
        "2: .long 0",
        "3: .long 0",
    ],
    write = const libc::SYS_write,
    exit_group = const libc::SYS_exit_group,
}

/// The program, which can be executed as long as this lives.
#[derive(Debug)]
pub struct TinyProgram {
    file: OwnedFd,
    path: CString,
}

impl TinyProgram {
    /// A program that writes its byte to this descriptor, which the executing process must have open.
    ///
    /// # Errors
    /// `Unsupported` where the kernel does not permit executable files in memory (before Linux 3.17,
    /// or with `vm.memfd_noexec=2`).
    pub fn new(report_to: RawFd) -> Result<Self, Unsupported> {
        Self::holding(&image(report_to))
    }

    /// The program of this file, an executable that needs no interpreter.
    ///
    /// # Errors
    /// `Unsupported` where the kernel does not permit executable files in memory.
    pub fn holding(image: &[u8]) -> Result<Self, Unsupported> {
        let file = os::program_in_memory(image)
            .map_err(|cause| SystemError::new("memfd_create", "for a program of ours", cause))?;
        // A decimal number contains no NUL.
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .map_err(|_| Unsupported::new("no path"))?;
        Ok(Self { file, path })
    }

    /// The program's path, for this process and those that inherit its descriptor, which stays open
    /// across exec.
    pub fn path(&self) -> &CStr {
        &self.path
    }

    /// The program's file.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }
}

/// The whole file.
fn image(report_to: RawFd) -> Vec<u8> {
    let code = code();
    let (instructions, _) = code.split_at(code.len() - 8);
    let mut code = instructions.to_vec();
    for word in [report_to.cast_unsigned(), u32::from(MARKER)] {
        code.extend(word.to_le_bytes());
    }
    let entry = BASE + elf::headers(1);
    let text = Segment {
        access: Access::ReadAndExecute,
        address: entry,
        bytes: &code,
        zeros: 0,
    };
    elf::executable(entry, &[text])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    fn the_file_is_a_few_hundred_bytes() {
        let file = image(1);
        assert!((120..400).contains(&file.len()), "{}", file.len());
        assert!(file.starts_with(b"\x7fELF") && file.ends_with(&[1, 0, 0, 0, MARKER, 0, 0, 0]));
    }

    #[test]
    fn it_runs_and_leaves_its_marker() {
        let program = or_skip!(TinyProgram::new(1));
        let mut child = Command::new(program.path().to_str().unwrap())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
        assert_eq!(said, [MARKER]);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_byte_that_cannot_be_written_shows_in_the_status() {
        let program = or_skip!(TinyProgram::new(99), "no program in memory");
        let status = Command::new(program.path().to_str().unwrap())
            .status()
            .unwrap();
        assert_eq!((status.code(), status.signal()), (Some(1), None));
    }

    #[test]
    fn the_file_cannot_be_changed() {
        let program = or_skip!(TinyProgram::new(1), "no program in memory");
        let file = program.file().as_fd();
        assert!(rustix::io::write(file, b"x").is_err());
        assert!(rustix::fs::ftruncate(file, 0).is_err());
    }
}
