//! perf's page faults of a program, one by one, with what it maps: a ring of records for each CPU, into which
//! all of the program's tasks write. Allowed without privilege at perf_event_paranoid 2.

use std::io;
use std::os::fd::OwnedFd;

use perf_event_open_sys::bindings;

use crate::Unsupported;
use crate::os::perf::{attributes, open, refusal};
use crate::os::ring::{Bytes, Ring, rings};
use crate::trace::FaultKind;

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
    /// The number of records.
    Lost(u64),
}

/// A ring on each CPU, to which these tasks and all that they start write: from when they execute a program,
/// or from now on.
pub(super) fn rings_of(
    tasks: &[u32],
    cpus: &[u32],
    from_exec: bool,
) -> Result<Vec<Ring>, Unsupported> {
    let (first, others) = tasks
        .split_first()
        .ok_or_else(|| Unsupported::new("no task"))?;
    let open = || {
        let mut rings = rings(cpus, |cpu| event(*first, cpu, from_exec))?;
        for (ring, &cpu) in rings.iter_mut().zip(cpus) {
            for &task in others {
                match event(task, cpu, from_exec) {
                    Ok(other) => ring.add(other)?,
                    // It has ended.
                    Err(cause) if cause.raw_os_error() == Some(libc::ESRCH) => {}
                    Err(cause) => return Err(cause),
                }
            }
        }
        Ok(rings)
    };
    open().map_err(|cause| refusal("page-faults", 2, &cause))
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
        bindings::perf_event_attr::set_use_clockid,
    ] {
        set(&mut wanted, 1);
    }
    wanted.clockid = libc::CLOCK_MONOTONIC;
    open(wanted, task, cpu.cast_signed())
}

/// A record's time in ns of the monotonic clock, and what it says; `None` for one that says nothing here.
pub(super) fn parse(bytes: Bytes<'_>) -> Option<(u64, Record)> {
    let (word, long) = (|at| bytes.word(at), |at| bytes.long(at));
    // Samples have it after the task, all others at their end.
    let time = match bytes.kind()? {
        bindings::PERF_RECORD_SAMPLE => long(16)?,
        _ => long(bytes.length().checked_sub(8)?)?,
    };
    let record = match bytes.kind()? {
        bindings::PERF_RECORD_SAMPLE => Record::Fault {
            process: word(8)?,
            address: long(24)?,
        },
        bindings::PERF_RECORD_MMAP2 => {
            let (start, length) = (long(16)?, long(24)?);
            let name = bytes.after(72)?.split(|byte| *byte == 0).next()?;
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
        bindings::PERF_RECORD_COMM if bytes.misc()? & bindings::PERF_RECORD_MISC_COMM_EXEC != 0 => {
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
