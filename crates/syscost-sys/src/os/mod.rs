//! What Linux provides. The modules of the crate above use only these names.

mod affinity;
mod audit;
mod clock;
mod ethtool;
mod extents;
mod files;
mod folder;
mod fork;
mod held;
#[cfg(not(target_feature = "crt-static"))]
mod imports;
mod memfd;
mod memory;
mod network;
mod perf;
mod process;
mod ring;
mod rtnetlink;
mod sampling;
mod scheduler;
mod sysv;
mod tcp;
mod trace;
mod usage;
mod zero_copy;

pub(crate) use affinity::{affinity, current_cpu, set_affinity, shown_in};
pub(crate) use audit::{
    COUNTED, UNCOUNTED, count_calls, count_syscalls, mark_program, one_system_call, signal_name,
};
pub(crate) use clock::monotonic_raw_ns;
pub(crate) use ethtool::{interface_index, offloads};
pub(crate) use extents::extents;
pub(crate) use files::{
    cachestat, device_numbers, direct_alignment, forget_cached, is_absent, is_direct,
    resident_pages,
};
pub(crate) use folder::{
    create_at, make_folder, names_in, open_at, open_folder, remove_file_at, remove_folder_at,
    rename_at, room, room_at, root, step_into,
};
pub(crate) use fork::{fork, is_readable, share, thread_id, unshare, wait_for, wait_for_nothing};
pub(crate) use held::{Held, LOOK_EVERY};
#[cfg(not(target_feature = "crt-static"))]
pub(crate) use imports::replaced;
pub(crate) use memfd::{close_on_exec, execute, private_pages_at, program_in_memory};
pub(crate) use memory::{
    advise_copying, advise_huge, allocators, bind_to_node, forbid, make_executable, map,
    map_blocks_from, nodes_of, page_size, populate, unmap,
};
pub(crate) use network::{interface_addresses, only_echo_replies};
pub(crate) use perf::PerfCounter;
pub(crate) use process::{
    MAX_LANDLOCK_LAYERS, add_landlock_layers, address_space_limit, allow_tsc, aslr_disabled,
    become_subreaper, close_files_on_exec, heed_signals, ignore_signals_of_writes, kernel_setting,
    kill_found, kill_group, kill_me_with_parent, kill_process, leave_no_core, make_idle_timer,
    parent_id, reap, reap_group, reset_signals, set_name, set_timer_slack, stop_process,
    timer_slack, vdso,
};
pub(crate) use rtnetlink::queue_dump;
pub(crate) use sampling::{At, Record, Samples};
pub(crate) use scheduler::{class, limit_real_time, niceness, set_class};
pub(crate) use sysv::{
    make_message_queue, make_semaphores, remove_message_queue, remove_posix_queue,
    remove_semaphores, user_id,
};
pub(crate) use tcp::{Epoll, congestion, set_congestion, tcp_info};
pub(crate) use trace::{Status, trace_attached, trace_run};
/// Flags for opening a file whose name may belong to anything, e.g. a FIFO or a link.
pub(crate) const NEITHER_WAIT_NOR_FOLLOW: i32 = libc::O_NONBLOCK | libc::O_NOFOLLOW;
/// The flag of direct I/O.
pub(crate) const DIRECT: i32 = libc::O_DIRECT;
/// The error number of a call for which the kernel has no buffers at the moment.
pub(crate) const NO_BUFFERS: i32 = libc::ENOBUFS;
pub(crate) use usage::{OF_CHILDREN, child_end, children_run_ns, read_at_start, run_ns, usage};
pub(crate) use zero_copy::{
    allow_zero_copy, file_in_memory, from_error_queue, move_pages, send_file, send_zero_copy,
};
