//! perf's page faults of a program, one by one, with what it maps: a ring of records for each CPU, into which all of the
//! program's tasks write. Allowed without privilege at perf_event_paranoid 2.
#![allow(unsafe_code)] // rings are memory that the kernel writes

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::{bindings, ioctls};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::os::perf::{attributes, done, open};
use crate::trace::FaultKind;
use crate::{Unsupported, os};

/// Pages of records in a ring: what kernel.perf_event_mlock_kb (516) allows each CPU, less the page that describes it.
const PAGES: usize = 128;

/// What a record says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Record {
    Fault {
        process: u32,
        address: u64,
    },
    Mapped {
        process: u32,
        start: u64,
        end: u64,
        kind: FaultKind,
    },
    Moved {
        process: u32,
        from: u64,
        to: u64,
        length: u64,
    },
    /// A task, of its own process or of this one's.
    Started {
        process: u32,
        by: u32,
    },
    Executed {
        process: u32,
    },
    Ended {
        process: u32,
    },
    /// So many records.
    Lost(u64),
}

/// The rings of all CPUs, and what writes to them.
pub(super) struct Rings {
    rings: Vec<Ring>,
    /// One for each further task and CPU.
    _events: Vec<OwnedFd>,
}

impl Rings {
    /// Of these tasks and all that they start: from when they execute a program, or from now on.
    pub(super) fn open(tasks: &[u32], cpus: &[u32], from_exec: bool) -> Result<Rings, Unsupported> {
        let refused = |cause: io::Error| refusal(&cause);
        let (mut rings, mut events) = (Vec::new(), Vec::new());
        for &cpu in cpus {
            let (first, others) = tasks
                .split_first()
                .ok_or_else(|| Unsupported::new("no task"))?;
            let ring =
                Ring::of(event(*first, cpu, from_exec).map_err(refused)?).map_err(refused)?;
            for &task in others {
                let other = match event(task, cpu, from_exec) {
                    Ok(other) => other,
                    // It has ended.
                    Err(cause) if cause.raw_os_error() == Some(libc::ESRCH) => continue,
                    Err(cause) => return Err(refused(cause)),
                };
                // SAFETY: both are counters' own descriptors.
                done(unsafe { ioctls::SET_OUTPUT(other.as_raw_fd(), ring.event.as_raw_fd()) })
                    .map_err(refused)?;
                events.push(other);
            }
            rings.push(ring);
        }
        Ok(Rings {
            rings,
            _events: events,
        })
    }

    /// What becomes readable when a ring is half full.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = &OwnedFd> {
        self.rings.iter().map(|ring| &ring.event)
    }

    /// Takes all records, each with its time in ns of the monotonic clock; those of a CPU in their order.
    pub(super) fn take(&mut self, mut to: impl FnMut(u64, Record)) {
        for ring in &mut self.rings {
            ring.take(&mut to);
        }
    }
}

fn event(task: u32, cpu: u32, from_exec: bool) -> io::Result<OwnedFd> {
    let faults = u64::from(bindings::PERF_COUNT_SW_PAGE_FAULTS);
    let mut wanted = attributes(bindings::PERF_TYPE_SOFTWARE, faults, true);
    wanted.__bindgen_anon_1.sample_period = 1;
    wanted.sample_type = u64::from(
        bindings::PERF_SAMPLE_TID | bindings::PERF_SAMPLE_TIME | bindings::PERF_SAMPLE_ADDR,
    );
    wanted.set_inherit(1);
    wanted.set_disabled(from_exec.into());
    wanted.set_enable_on_exec(from_exec.into());
    for set in [
        bindings::perf_event_attr::set_mmap,
        bindings::perf_event_attr::set_mmap_data,
        bindings::perf_event_attr::set_mmap2,
        bindings::perf_event_attr::set_comm,
        bindings::perf_event_attr::set_comm_exec,
        bindings::perf_event_attr::set_task,
        bindings::perf_event_attr::set_sample_id_all,
        bindings::perf_event_attr::set_watermark,
        bindings::perf_event_attr::set_use_clockid,
    ] {
        set(&mut wanted, 1);
    }
    wanted.clockid = libc::CLOCK_MONOTONIC;
    wanted.__bindgen_anon_2.wakeup_watermark = (PAGES * os::page_size() / 2) as u32;
    open(wanted, task, cpu.cast_signed())
}

/// Memory that the kernel fills with records.
struct Ring {
    event: OwnedFd,
    /// A page that describes the ring, then its records.
    memory: *mut u8,
    page: usize,
}

impl Ring {
    fn of(event: OwnedFd) -> io::Result<Ring> {
        let page = os::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a mapping where the kernel likes it touches no memory in use.
        let memory = unsafe {
            mmap(
                ptr::null_mut(),
                (1 + PAGES) * page,
                access,
                MapFlags::SHARED,
                &event,
                0,
            )
        }?;
        Ok(Ring {
            event,
            memory: memory.cast(),
            page,
        })
    }

    fn take(&mut self, to: &mut impl FnMut(u64, Record)) {
        let size = PAGES * self.page;
        let description = self.memory.cast::<bindings::perf_event_mmap_page>();
        // SAFETY: both words are in the page that the kernel keeps there, and are used as atomic ones by both sides.
        let (head, tail) = unsafe {
            (
                AtomicU64::from_ptr(&raw mut (*description).data_head),
                AtomicU64::from_ptr(&raw mut (*description).data_tail),
            )
        };
        let (mut at, end) = (tail.load(Ordering::Relaxed), head.load(Ordering::Acquire));
        let mut record = Vec::new();
        while at < end {
            // A length is in the last two bytes of the 8 of a header, which are never parted.
            let header = self.copied(at, 8, size, &mut record);
            let length = u64::from(u16::from_ne_bytes([header[6], header[7]]));
            if length < 8 {
                break;
            }
            let bytes = self.copied(at, length as usize, size, &mut record);
            if let Some((time, record)) = parse(bytes) {
                to(time, record);
            }
            at += length;
        }
        tail.store(end, Ordering::Release);
    }

    /// Bytes of the ring, which may go on at its beginning.
    fn copied<'a>(&self, at: u64, length: usize, size: usize, into: &'a mut Vec<u8>) -> &'a [u8] {
        into.resize(length, 0);
        let at = at as usize % size;
        let first = length.min(size - at);
        // SAFETY: both parts lie in the ring, whose records up to the head the kernel has written and leaves alone until
        // the tail has passed them.
        unsafe {
            let records = self.memory.add(self.page);
            ptr::copy_nonoverlapping(records.add(at), into.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(records, into.as_mut_ptr().add(first), length - first);
        }
        into
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: gives up what `of` mapped.
        let _ = unsafe { munmap(self.memory.cast(), (1 + PAGES) * self.page) };
    }
}

/// A record and its time (perf_event_open(2)); `None` for one that says nothing here.
fn parse(bytes: &[u8]) -> Option<(u64, Record)> {
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let misc = u16::from_ne_bytes([*bytes.get(4)?, *bytes.get(5)?]);
    // Samples have it after the task, all others at their end.
    let time = match word(0)? {
        bindings::PERF_RECORD_SAMPLE => long(16)?,
        _ => long(bytes.len().checked_sub(8)?)?,
    };
    let record = match word(0)? {
        bindings::PERF_RECORD_SAMPLE => Record::Fault {
            process: word(8)?,
            address: long(24)?,
        },
        bindings::PERF_RECORD_MMAP2 => {
            let (start, length) = (long(16)?, long(24)?);
            let name = bytes.get(72..)?.split(|byte| *byte == 0).next()?;
            let kind = kind(name, word(64)? as i32, word(68)? as i32);
            Record::Mapped {
                process: word(8)?,
                start,
                end: start.saturating_add(length),
                kind,
            }
        }
        bindings::PERF_RECORD_FORK => Record::Started {
            process: word(8)?,
            by: word(12)?,
        },
        bindings::PERF_RECORD_EXIT => Record::Ended { process: word(8)? },
        bindings::PERF_RECORD_COMM
            if u32::from(misc) & bindings::PERF_RECORD_MISC_COMM_EXEC != 0 =>
        {
            Record::Executed { process: word(8)? }
        }
        bindings::PERF_RECORD_LOST => Record::Lost(long(16)?),
        _ => return None,
    };
    Some((time, record))
}

/// What a mapping is, by the name that the kernel gives it, how it can be used, and its flags.
pub(super) fn kind(name: &[u8], access: i32, flags: i32) -> FaultKind {
    match name {
        _ if flags & libc::MAP_SHARED != 0 => FaultKind::Shared,
        b"" | b"//anon" => FaultKind::Anonymous,
        b"[heap]" => FaultKind::Heap,
        b"[stack]" => FaultKind::Stack,
        _ if name.starts_with(b"/anon_hugepage") || name.starts_with(b"[anon") => {
            FaultKind::Anonymous
        }
        [b'[', b'v', b'd' | b'v', ..] => FaultKind::Vdso,
        [b'[', ..] => FaultKind::Other,
        _ if access & libc::PROT_WRITE != 0 => FaultKind::WritableFile,
        _ => FaultKind::File,
    }
}

fn refusal(cause: &io::Error) -> Unsupported {
    let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let advice = match cause.raw_os_error() {
        Some(libc::EACCES) => format!(
            "kernel.perf_event_paranoid is {}; it needs at most 2, or CAP_PERFMON",
            paranoid.trim()
        ),
        Some(libc::EPERM) => format!(
            "a container's filter forbids it, or kernel.perf_event_mlock_kb is used up by others (perf_event_paranoid is {})",
            paranoid.trim()
        ),
        Some(libc::EMFILE) => {
            "a descriptor is needed for each task and CPU: see ulimit -n".to_owned()
        }
        Some(libc::ENOSYS) => {
            "the kernel was built without perf events, or a filter hides the call".to_owned()
        }
        _ => "the kernel refuses it".to_owned(),
    };
    Unsupported::new(format!("perf_event_open(page-faults): {cause}; {advice}"))
}
