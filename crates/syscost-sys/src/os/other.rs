//! Any system but Linux: the same functions, each returning that it is not written for this system.

mod folder;

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::Unsupported;
use crate::audit::{AuditError, SyscallCounts};
use crate::counters::{Usage, Whose};
use crate::process::Class;
use crate::raw::Sysno;

pub(crate) use folder::{
    create_at, make_folder, names_in, open_at, open_folder, remove_file_at, remove_folder_at,
    rename_at, room, room_at, root, step_into,
};

fn unsupported() -> Unsupported {
    Unsupported::new("not written for this operating system yet; Linux has it")
}

fn refused<T>() -> io::Result<T> {
    Err(unsupported().into())
}

/// The standard library's monotonic clock, in ns since the first call.
#[inline]
pub(crate) fn monotonic_raw_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

pub(crate) fn set_affinity(_: &[u32]) -> io::Result<()> {
    refused()
}

pub(crate) fn affinity() -> io::Result<Vec<u32>> {
    refused()
}

pub(crate) fn current_cpu() -> io::Result<u32> {
    refused()
}

pub(crate) fn usage(whose: Whose) -> Result<Usage, Unsupported> {
    match whose {
        Whose::Thread | Whose::Process | Whose::Children => Err(unsupported()),
    }
}

pub(crate) fn read_at_start(_: &File, _: &mut [u8]) -> io::Result<usize> {
    refused()
}

/// Nothing is counted in ticks here; 100 is what POSIX systems have in common.
pub(crate) fn clock_ticks_per_second() -> u64 {
    100
}

pub(crate) fn program_in_memory(_: &[u8]) -> io::Result<std::os::fd::OwnedFd> {
    refused()
}

pub(crate) fn private_pages_at(address: u64, bytes: u64) -> [u64; 6] {
    [address, bytes, 0, 0, 0, 0]
}

pub(crate) fn execute(_: &std::ffi::CStr, _: &[std::os::fd::BorrowedFd<'_>]) -> io::Error {
    io::ErrorKind::Unsupported.into()
}

pub(crate) fn kill_me_with_parent() -> io::Result<()> {
    refused()
}

pub(crate) fn parent_id() -> Option<u32> {
    None
}

/// Does nothing: the signal's default is not known here.
pub(crate) fn ignore_file_size_signal() {}

/// Does nothing: what signals there are is not known here.
pub(crate) fn reset_signals() {}

/// Does nothing: no system but Linux is known to forbid it.
pub(crate) fn allow_tsc() {}

/// Does nothing: the limit is not known here.
pub(crate) fn leave_no_core() {}

pub(crate) fn address_space_limit() -> Option<u64> {
    None
}

pub(crate) fn niceness() -> io::Result<i32> {
    refused()
}

pub(crate) fn make_idle_timer() -> io::Result<()> {
    refused()
}

pub(crate) fn become_subreaper() -> io::Result<()> {
    refused()
}

pub(crate) fn reap(_: u32) -> bool {
    false
}

pub(crate) fn set_name(_: &std::ffi::CStr) -> io::Result<()> {
    refused()
}

pub(crate) fn set_timer_slack(_: u64) -> io::Result<()> {
    refused()
}

pub(crate) fn timer_slack() -> io::Result<u64> {
    refused()
}

pub(crate) fn aslr_disabled() -> Result<bool, Unsupported> {
    Err(unsupported())
}

pub(crate) fn kill_process(_: u32) -> io::Result<()> {
    refused()
}

pub(crate) fn kill_found(_: u32, _: impl FnOnce() -> bool) -> io::Result<()> {
    refused()
}

pub(crate) fn kill_group(_: u32) -> io::Result<()> {
    refused()
}

pub(crate) fn stop_process(_: u32) -> io::Result<()> {
    refused()
}

pub(crate) fn count_syscalls(
    _: Duration,
    _: &[Sysno],
    _: &mut dyn FnMut(),
) -> Result<SyscallCounts, AuditError> {
    Err(AuditError::SeccompUnavailable(unsupported()))
}

pub(crate) fn count_calls(_: bool) {}

pub(crate) fn one_system_call() {}

pub(crate) fn signal_name(_: i32) -> String {
    String::new()
}

pub(crate) fn fork(_: &mut dyn FnMut() -> i32) -> io::Result<u32> {
    refused()
}

pub(crate) fn wait_for(_: u32) -> io::Result<i32> {
    refused()
}

pub(crate) fn thread_id() -> u32 {
    0
}

pub(crate) fn share(_: usize) -> io::Result<*mut u8> {
    refused()
}

pub(crate) fn unshare(_: *mut u8, _: usize) {}

/// The page size of most systems, in bytes.
pub(crate) fn page_size() -> usize {
    4096
}

pub(crate) fn map(_: usize, _: bool) -> io::Result<*mut u8> {
    refused()
}

pub(crate) fn unmap(_: *mut u8, _: usize) {}

pub(crate) fn forbid(_: *mut u8, _: usize) -> io::Result<()> {
    refused()
}

pub(crate) fn advise_huge(_: *mut u8, _: usize, _: bool) -> io::Result<()> {
    refused()
}

pub(crate) fn advise_copying(_: *mut u8, _: usize, _: bool) -> io::Result<()> {
    refused()
}

pub(crate) fn populate(_: *mut u8, _: usize) -> io::Result<()> {
    refused()
}

pub(crate) fn map_blocks_from(_: usize) -> io::Result<()> {
    refused()
}

pub(crate) fn cachestat(_: &std::fs::File) -> io::Result<crate::files::Cached> {
    refused()
}

pub(crate) fn extents(_: &std::fs::File) -> io::Result<crate::files::Extents> {
    refused()
}

pub(crate) fn device_numbers(_: u64) -> (u32, u32) {
    (0, 0)
}

pub(crate) fn direct_alignment(_: &std::fs::File) -> io::Result<Option<crate::files::Alignment>> {
    refused()
}

pub(crate) fn forget_cached(_: &std::fs::File) -> io::Result<()> {
    refused()
}

pub(crate) fn is_absent(_: &io::Error) -> bool {
    false
}

pub(crate) fn is_direct(_: &std::fs::File) -> io::Result<bool> {
    refused()
}

pub(crate) fn resident_pages(_: &std::fs::File) -> io::Result<u64> {
    refused()
}

pub(crate) fn make_executable(_: *mut u8, _: usize) -> io::Result<()> {
    refused()
}

pub(crate) fn bind_to_node(_: *mut u8, _: usize, _: u32) -> io::Result<()> {
    refused()
}

pub(crate) fn nodes_of(_: &[*mut u8]) -> io::Result<Vec<i32>> {
    refused()
}

pub(crate) fn make_message_queue(_: i32) -> io::Result<i32> {
    refused()
}

pub(crate) fn make_semaphores(_: i32, _: u16) -> io::Result<i32> {
    refused()
}

pub(crate) fn remove_message_queue(_: i32) -> io::Result<()> {
    refused()
}

pub(crate) fn remove_semaphores(_: i32) -> io::Result<()> {
    refused()
}

pub(crate) fn remove_posix_queue(_: &std::ffi::CStr) -> io::Result<()> {
    refused()
}

/// No such flag here.
pub(crate) const DIRECT: i32 = 0;

/// No such flags here.
pub(crate) const NEITHER_WAIT_NOR_FOLLOW: i32 = 0;

/// A number that no user has.
pub(crate) fn user_id() -> u32 {
    u32::MAX
}

pub(crate) fn class() -> io::Result<Class> {
    refused()
}

pub(crate) fn set_class(_: Class) -> io::Result<()> {
    refused()
}

pub(crate) fn tcp_info(_: BorrowedFd<'_>, _: &mut [u8]) -> io::Result<usize> {
    refused()
}

pub(crate) fn congestion(_: BorrowedFd<'_>) -> io::Result<String> {
    refused()
}

pub(crate) fn set_congestion(_: BorrowedFd<'_>, _: &str) -> io::Result<()> {
    refused()
}

pub(crate) fn interface_addresses() -> io::Result<Vec<(String, std::net::IpAddr)>> {
    refused()
}

pub(crate) fn only_echo_replies(_: BorrowedFd<'_>, _: bool) -> io::Result<()> {
    refused()
}

pub(crate) fn offloads(_: &str) -> io::Result<crate::network::Offloads> {
    refused()
}

pub(crate) fn interface_index(_: &str) -> io::Result<u32> {
    refused()
}

pub(crate) fn queue_dump() -> io::Result<Vec<u8>> {
    refused()
}

/// Nothing waits by epoll here.
#[derive(Debug)]
pub(crate) enum Epoll {}

impl Epoll {
    pub(crate) fn of(_: BorrowedFd<'_>) -> io::Result<Epoll> {
        refused()
    }

    pub(crate) fn wait(&self, _: Option<Duration>) -> io::Result<bool> {
        match *self {}
    }
}

/// No call returns this error here.
pub(crate) const NO_BUFFERS: i32 = -1;

pub(crate) fn allow_zero_copy(_: BorrowedFd<'_>) -> io::Result<()> {
    refused()
}

pub(crate) fn send_zero_copy(_: BorrowedFd<'_>, _: &[u8]) -> io::Result<usize> {
    refused()
}

pub(crate) fn from_error_queue(_: BorrowedFd<'_>) -> io::Result<Option<[u8; 16]>> {
    refused()
}

pub(crate) fn file_in_memory(_: usize) -> io::Result<(File, *mut u8)> {
    refused()
}

pub(crate) fn send_file(
    _: BorrowedFd<'_>,
    _: BorrowedFd<'_>,
    _: u64,
    _: usize,
) -> io::Result<usize> {
    refused()
}

pub(crate) fn move_pages(
    _: BorrowedFd<'_>,
    _: Option<u64>,
    _: BorrowedFd<'_>,
    _: usize,
) -> io::Result<usize> {
    refused()
}

pub(crate) fn limit_real_time(_: Option<u64>) -> io::Result<Option<u64>> {
    refused()
}

pub(crate) fn wait_for_nothing(length: std::time::Duration) -> std::io::Result<()> {
    std::thread::sleep(length);
    Ok(())
}

pub(crate) fn is_readable(_: BorrowedFd<'_>) -> bool {
    false
}
