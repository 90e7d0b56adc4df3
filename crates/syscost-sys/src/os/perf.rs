//! perf_event_open.
#![allow(unsafe_code)] // the call, its ioctls and the detached mount have no safe form

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use perf_event_open_sys::{bindings, ioctls, perf_event_open};

use crate::Unsupported;
use crate::perf::Uses;
use crate::raw::{Sysno, syscall2, syscall3, syscall5};

#[derive(Debug)]
pub(crate) struct PerfCounter(OwnedFd);

impl PerfCounter {
    /// A disabled counter of the calling thread's system calls. They happen in the kernel, so that a
    /// counter that excludes it would always read 0.
    pub(crate) fn of_syscalls() -> Result<PerfCounter, Unsupported> {
        let attributes = attributes(bindings::PERF_TYPE_TRACEPOINT, tracepoint_id()?, false);
        let counter = of_thread(attributes, 0).map(PerfCounter);
        counter.map_err(|cause| refusal("raw_syscalls:sys_enter", -1, &cause))
    }

    /// A counter of the system calls of the program that this process is to execute, from its first instruction
    /// on, and of all that it starts.
    pub(crate) fn of_program(child: u32) -> Result<PerfCounter, Unsupported> {
        let mut attributes = attributes(bindings::PERF_TYPE_TRACEPOINT, tracepoint_id()?, false);
        attributes.set_inherit(1);
        attributes.set_enable_on_exec(1);
        let counter = of_thread(attributes, child).map(PerfCounter);
        counter.map_err(|cause| refusal("raw_syscalls:sys_enter", -1, &cause))
    }

    /// An enabled counter of this thread's uses of a word in user mode.
    pub(crate) fn watch(
        thread: u32,
        address: usize,
        uses: Uses,
    ) -> Result<PerfCounter, Unsupported> {
        let mut attributes = attributes(bindings::PERF_TYPE_BREAKPOINT, 0, true);
        // No x86-64 processor watches loads alone.
        attributes.bp_type = match uses {
            Uses::Stores => bindings::HW_BREAKPOINT_W,
            Uses::All => bindings::HW_BREAKPOINT_RW,
            Uses::Calls => bindings::HW_BREAKPOINT_X,
        };
        attributes.__bindgen_anon_3.bp_addr = address as u64;
        attributes.__bindgen_anon_4.bp_len = bindings::HW_BREAKPOINT_LEN_8.into();
        attributes.set_disabled(0);
        let counter = of_thread(attributes, thread).map(PerfCounter);
        counter.map_err(|cause| Unsupported::new(format!("perf_event_open(breakpoint): {cause}")))
    }

    pub(crate) fn enable(&self) -> io::Result<()> {
        // SAFETY: a counter's own descriptor; the request takes no address.
        done(unsafe { ioctls::ENABLE(self.0.as_raw_fd(), 0) })
    }

    pub(crate) fn disable(&self) -> io::Result<()> {
        // SAFETY: as above.
        done(unsafe { ioctls::DISABLE(self.0.as_raw_fd(), 0) })
    }

    pub(crate) fn reset(&self) -> io::Result<()> {
        // SAFETY: as above.
        done(unsafe { ioctls::RESET(self.0.as_raw_fd(), 0) })
    }

    pub(crate) fn read(&self) -> io::Result<u64> {
        let mut value = [0; 8];
        let length = rustix::io::read(&self.0, &mut value)?;
        if length == value.len() {
            Ok(u64::from_ne_bytes(value))
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

pub(super) fn done(result: i32) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

pub(super) fn attributes(
    kind: u32,
    config: u64,
    exclude_kernel: bool,
) -> bindings::perf_event_attr {
    let mut attributes = bindings::perf_event_attr::default();
    attributes.type_ = kind;
    attributes.config = config;
    attributes.size = size_of::<bindings::perf_event_attr>() as u32;
    attributes.set_disabled(1);
    attributes.set_exclude_hv(1);
    attributes.set_exclude_kernel(exclude_kernel.into());
    attributes
}

/// A counter of this thread; 0 is the calling one.
fn of_thread(attributes: bindings::perf_event_attr, thread: u32) -> io::Result<OwnedFd> {
    open(attributes, thread, -1)
}

/// A counter of this thread, while it is on this CPU; -1 is any.
pub(super) fn open(
    mut attributes: bindings::perf_event_attr,
    thread: u32,
    cpu: i32,
) -> io::Result<OwnedFd> {
    let flags = libc::c_ulong::from(bindings::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the attributes are initialised and their size is set.
    let fd = unsafe { perf_event_open(&raw mut attributes, thread.cast_signed(), cpu, -1, flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just made it, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Why this event is refused, which needs perf_event_paranoid to be no larger than this.
pub(super) fn refusal(event: &str, at_most: i32, cause: &io::Error) -> Unsupported {
    let advice = match cause.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            denied(&super::kernel_setting("perf_event_paranoid"), at_most)
        }
        Some(libc::EMFILE) => "a descriptor is needed for each event: see ulimit -n".to_owned(),
        Some(libc::ESRCH) => "the process has ended".to_owned(),
        Some(libc::ENOSYS) => {
            "the kernel was built without perf events, or a filter hides the call".to_owned()
        }
        _ => "the kernel does not have this event".to_owned(),
    };
    Unsupported::new(format!("perf_event_open({event}): {cause}; {advice}"))
}

/// Why an event is not permitted, which needs a perf_event_paranoid, that is this, to be no larger than that.
fn denied(level: &str, at_most: i32) -> String {
    match level.parse().is_ok_and(|level: i32| level <= at_most) {
        true => format!(
            "kernel.perf_event_paranoid, which is {level}, allows it: a filter, as of a container, forbids the call, or \
             kernel.perf_event_mlock_kb is used up"
        ),
        false => format!(
            "kernel.perf_event_paranoid is {level}; it needs CAP_PERFMON (root) or a value of at most {at_most}, no \
             filter of a container, and what is left of kernel.perf_event_mlock_kb"
        ),
    }
}

/// The number that the kernel gave the tracepoint, read from the tracing file system: a mounted
/// one, or else a detached mount of our own that is in no mount tree.
fn tracepoint_id() -> Result<u64, Unsupported> {
    const FILE: &str = "events/raw_syscalls/sys_enter/id";
    let mounted = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let text = mounted
        .iter()
        .find_map(|root| fs::read_to_string(format!("{root}/{FILE}")).ok());
    let text = match text {
        Some(text) => text,
        None => read_detached().map_err(|cause| {
            Unsupported::new(format!("cannot read {FILE} of the tracing file system ({cause}); it needs root or CAP_PERFMON and a readable /sys/kernel/tracing"))
        })?,
    };
    text.trim()
        .parse()
        .map_err(|_| Unsupported::new(format!("{FILE} holds {text:?}, which is no number")))
}

/// Reads the id through a mount that is attached nowhere and disappears with its descriptor (Linux 5.2,
/// CAP_SYS_ADMIN).
fn read_detached() -> io::Result<String> {
    const CLOEXEC: usize = 1; // FSOPEN_CLOEXEC and FSMOUNT_CLOEXEC
    const CREATE: usize = 6; // FSCONFIG_CMD_CREATE
    // SAFETY: the name is a C string that outlives the call.
    let context = owned(unsafe { syscall2(Sysno::FSOPEN, c"tracefs".as_ptr().addr(), CLOEXEC) })?;
    // SAFETY: this command takes neither key nor value.
    result(unsafe {
        syscall5(
            Sysno::FSCONFIG,
            context.as_raw_fd() as usize,
            CREATE,
            0,
            0,
            0,
        )
    })?;
    // SAFETY: takes a descriptor and flags.
    let mount =
        owned(unsafe { syscall3(Sysno::FSMOUNT, context.as_raw_fd() as usize, CLOEXEC, 0) })?;
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    let file = rustix::fs::openat(
        &mount,
        c"events/raw_syscalls/sys_enter/id",
        flags,
        rustix::fs::Mode::empty(),
    )?;
    let mut text = String::new();
    fs::File::from(file).read_to_string(&mut text)?;
    Ok(text)
}

fn result(value: isize) -> io::Result<isize> {
    if value < 0 {
        Err(io::Error::from_raw_os_error(-value as i32))
    } else {
        Ok(value)
    }
}

fn owned(value: isize) -> io::Result<OwnedFd> {
    let fd = result(value)? as i32;
    // SAFETY: the call has just made it, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::denied;

    #[test]
    fn a_level_that_suffices_is_not_why() {
        assert!(denied("2", 2).contains("which is 2, allows it: a filter"));
        assert!(denied("3", 2).contains("a value of at most 2"));
        assert!(denied("", 2).contains("a value of at most 2"));
    }
}
