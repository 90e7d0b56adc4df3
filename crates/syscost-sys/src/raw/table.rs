//! Every system call by name, with the number libc knows for this target.

use super::Sysno;

/// Two lists: calls of every architecture, and those that only x86-64 has (newer architectures
/// began without the old forms; libc also names `fchmodat2` and `kexec_file_load` on x86-64 only).
macro_rules! table {
    (
        common { $($common:ident $common_number:ident),* $(,)? }
        x86_64 { $($old:ident $old_number:ident),* $(,)? }
    ) => {
        #[allow(missing_docs)] // the name says it; the call is documented in section 2 of the manual
        impl Sysno {
            $(
                pub const $common: Sysno = Sysno::new(stringify!($common_number), Some(libc::$common_number));
            )*
            $(
                #[cfg(target_arch = "x86_64")]
                pub const $old: Sysno = Sysno::new(stringify!($old_number), Some(libc::$old_number));
                #[cfg(not(target_arch = "x86_64"))]
                pub const $old: Sysno = Sysno::new(stringify!($old_number), None);
            )*

            /// Every call named here, including those absent on this target.
            pub const ALL: &[Sysno] = &[$(Sysno::$common,)* $(Sysno::$old,)*];
        }
    };
}

table! {
common {
    ACCEPT SYS_accept, ACCEPT4 SYS_accept4, ACCT SYS_acct, ADD_KEY SYS_add_key,
    ADJTIMEX SYS_adjtimex, BIND SYS_bind, BPF SYS_bpf, BRK SYS_brk, CAPGET SYS_capget,
    CAPSET SYS_capset, CHDIR SYS_chdir, CHROOT SYS_chroot, CLOCK_ADJTIME SYS_clock_adjtime,
    CLOCK_GETRES SYS_clock_getres, CLOCK_GETTIME SYS_clock_gettime,
    CLOCK_NANOSLEEP SYS_clock_nanosleep, CLOCK_SETTIME SYS_clock_settime, CLONE SYS_clone,
    CLONE3 SYS_clone3, CLOSE SYS_close, CLOSE_RANGE SYS_close_range, CONNECT SYS_connect,
    COPY_FILE_RANGE SYS_copy_file_range, DELETE_MODULE SYS_delete_module, DUP SYS_dup,
    DUP3 SYS_dup3, EPOLL_CREATE1 SYS_epoll_create1, EPOLL_CTL SYS_epoll_ctl,
    EPOLL_PWAIT SYS_epoll_pwait, EPOLL_PWAIT2 SYS_epoll_pwait2, EVENTFD2 SYS_eventfd2,
    EXECVE SYS_execve, EXECVEAT SYS_execveat, EXIT SYS_exit, EXIT_GROUP SYS_exit_group,
    FACCESSAT SYS_faccessat, FACCESSAT2 SYS_faccessat2, FADVISE64 SYS_fadvise64,
    FALLOCATE SYS_fallocate, FANOTIFY_INIT SYS_fanotify_init, FANOTIFY_MARK SYS_fanotify_mark,
    FCHDIR SYS_fchdir, FCHMOD SYS_fchmod, FCHMODAT SYS_fchmodat, FCHOWN SYS_fchown,
    FCHOWNAT SYS_fchownat, FCNTL SYS_fcntl, FDATASYNC SYS_fdatasync, FGETXATTR SYS_fgetxattr,
    FINIT_MODULE SYS_finit_module, FLISTXATTR SYS_flistxattr, FLOCK SYS_flock,
    FREMOVEXATTR SYS_fremovexattr, FSCONFIG SYS_fsconfig, FSETXATTR SYS_fsetxattr,
    FSMOUNT SYS_fsmount, FSOPEN SYS_fsopen, FSPICK SYS_fspick, FSTAT SYS_fstat,
    FSTATFS SYS_fstatfs, FSYNC SYS_fsync, FTRUNCATE SYS_ftruncate, FUTEX SYS_futex,
    FUTEX_WAITV SYS_futex_waitv, GET_MEMPOLICY SYS_get_mempolicy,
    GET_ROBUST_LIST SYS_get_robust_list, GETCPU SYS_getcpu, GETCWD SYS_getcwd,
    GETDENTS64 SYS_getdents64, GETEGID SYS_getegid, GETEUID SYS_geteuid, GETGID SYS_getgid,
    GETGROUPS SYS_getgroups, GETITIMER SYS_getitimer, GETPEERNAME SYS_getpeername,
    GETPGID SYS_getpgid, GETPID SYS_getpid, GETPPID SYS_getppid, GETPRIORITY SYS_getpriority,
    GETRANDOM SYS_getrandom, GETRESGID SYS_getresgid, GETRESUID SYS_getresuid,
    GETRLIMIT SYS_getrlimit, GETRUSAGE SYS_getrusage, GETSID SYS_getsid,
    GETSOCKNAME SYS_getsockname, GETSOCKOPT SYS_getsockopt, GETTID SYS_gettid,
    GETTIMEOFDAY SYS_gettimeofday, GETUID SYS_getuid, GETXATTR SYS_getxattr,
    INIT_MODULE SYS_init_module, INOTIFY_ADD_WATCH SYS_inotify_add_watch,
    INOTIFY_INIT1 SYS_inotify_init1, INOTIFY_RM_WATCH SYS_inotify_rm_watch,
    IO_CANCEL SYS_io_cancel, IO_DESTROY SYS_io_destroy, IO_GETEVENTS SYS_io_getevents,
    IO_SETUP SYS_io_setup, IO_SUBMIT SYS_io_submit, IO_URING_ENTER SYS_io_uring_enter,
    IO_URING_REGISTER SYS_io_uring_register, IO_URING_SETUP SYS_io_uring_setup, IOCTL SYS_ioctl,
    IOPRIO_GET SYS_ioprio_get, IOPRIO_SET SYS_ioprio_set, KCMP SYS_kcmp, KEXEC_LOAD SYS_kexec_load,
    KEYCTL SYS_keyctl, KILL SYS_kill, LANDLOCK_ADD_RULE SYS_landlock_add_rule,
    LANDLOCK_CREATE_RULESET SYS_landlock_create_ruleset,
    LANDLOCK_RESTRICT_SELF SYS_landlock_restrict_self, LGETXATTR SYS_lgetxattr, LINKAT SYS_linkat,
    LISTEN SYS_listen, LISTXATTR SYS_listxattr, LLISTXATTR SYS_llistxattr,
    LOOKUP_DCOOKIE SYS_lookup_dcookie, LREMOVEXATTR SYS_lremovexattr, LSEEK SYS_lseek,
    LSETXATTR SYS_lsetxattr, MADVISE SYS_madvise, MBIND SYS_mbind, MEMBARRIER SYS_membarrier,
    MEMFD_CREATE SYS_memfd_create, MEMFD_SECRET SYS_memfd_secret, MIGRATE_PAGES SYS_migrate_pages,
    MINCORE SYS_mincore, MKDIRAT SYS_mkdirat, MKNODAT SYS_mknodat, MLOCK SYS_mlock,
    MLOCK2 SYS_mlock2, MLOCKALL SYS_mlockall, MMAP SYS_mmap, MOUNT SYS_mount,
    MOUNT_SETATTR SYS_mount_setattr, MOVE_MOUNT SYS_move_mount, MOVE_PAGES SYS_move_pages,
    MPROTECT SYS_mprotect, MQ_GETSETATTR SYS_mq_getsetattr, MQ_NOTIFY SYS_mq_notify,
    MQ_OPEN SYS_mq_open, MQ_TIMEDRECEIVE SYS_mq_timedreceive, MQ_TIMEDSEND SYS_mq_timedsend,
    MQ_UNLINK SYS_mq_unlink, MREMAP SYS_mremap, MSEAL SYS_mseal, MSGCTL SYS_msgctl,
    MSGGET SYS_msgget, MSGRCV SYS_msgrcv, MSGSND SYS_msgsnd, MSYNC SYS_msync, MUNLOCK SYS_munlock,
    MUNLOCKALL SYS_munlockall, MUNMAP SYS_munmap, NAME_TO_HANDLE_AT SYS_name_to_handle_at,
    NANOSLEEP SYS_nanosleep, NEWFSTATAT SYS_newfstatat, NFSSERVCTL SYS_nfsservctl,
    OPEN_BY_HANDLE_AT SYS_open_by_handle_at, OPEN_TREE SYS_open_tree, OPENAT SYS_openat,
    OPENAT2 SYS_openat2, PERF_EVENT_OPEN SYS_perf_event_open, PERSONALITY SYS_personality,
    PIDFD_GETFD SYS_pidfd_getfd, PIDFD_OPEN SYS_pidfd_open,
    PIDFD_SEND_SIGNAL SYS_pidfd_send_signal, PIPE2 SYS_pipe2, PIVOT_ROOT SYS_pivot_root,
    PKEY_ALLOC SYS_pkey_alloc, PKEY_FREE SYS_pkey_free, PKEY_MPROTECT SYS_pkey_mprotect,
    PPOLL SYS_ppoll, PRCTL SYS_prctl, PREAD64 SYS_pread64, PREADV SYS_preadv, PREADV2 SYS_preadv2,
    PRLIMIT64 SYS_prlimit64, PROCESS_MADVISE SYS_process_madvise,
    PROCESS_MRELEASE SYS_process_mrelease, PROCESS_VM_READV SYS_process_vm_readv,
    PROCESS_VM_WRITEV SYS_process_vm_writev, PSELECT6 SYS_pselect6, PTRACE SYS_ptrace,
    PWRITE64 SYS_pwrite64, PWRITEV SYS_pwritev, PWRITEV2 SYS_pwritev2, QUOTACTL SYS_quotactl,
    QUOTACTL_FD SYS_quotactl_fd, READ SYS_read, READAHEAD SYS_readahead, READLINKAT SYS_readlinkat,
    READV SYS_readv, REBOOT SYS_reboot, RECVFROM SYS_recvfrom, RECVMMSG SYS_recvmmsg,
    RECVMSG SYS_recvmsg, REMAP_FILE_PAGES SYS_remap_file_pages, REMOVEXATTR SYS_removexattr,
    RENAMEAT SYS_renameat, RENAMEAT2 SYS_renameat2, REQUEST_KEY SYS_request_key,
    RESTART_SYSCALL SYS_restart_syscall, RSEQ SYS_rseq, RT_SIGACTION SYS_rt_sigaction,
    RT_SIGPENDING SYS_rt_sigpending, RT_SIGPROCMASK SYS_rt_sigprocmask,
    RT_SIGQUEUEINFO SYS_rt_sigqueueinfo, RT_SIGRETURN SYS_rt_sigreturn,
    RT_SIGSUSPEND SYS_rt_sigsuspend, RT_SIGTIMEDWAIT SYS_rt_sigtimedwait,
    RT_TGSIGQUEUEINFO SYS_rt_tgsigqueueinfo, SCHED_GET_PRIORITY_MAX SYS_sched_get_priority_max,
    SCHED_GET_PRIORITY_MIN SYS_sched_get_priority_min, SCHED_GETAFFINITY SYS_sched_getaffinity,
    SCHED_GETATTR SYS_sched_getattr, SCHED_GETPARAM SYS_sched_getparam,
    SCHED_GETSCHEDULER SYS_sched_getscheduler, SCHED_RR_GET_INTERVAL SYS_sched_rr_get_interval,
    SCHED_SETAFFINITY SYS_sched_setaffinity, SCHED_SETATTR SYS_sched_setattr,
    SCHED_SETPARAM SYS_sched_setparam, SCHED_SETSCHEDULER SYS_sched_setscheduler,
    SCHED_YIELD SYS_sched_yield, SECCOMP SYS_seccomp, SEMCTL SYS_semctl, SEMGET SYS_semget,
    SEMOP SYS_semop, SEMTIMEDOP SYS_semtimedop, SENDFILE SYS_sendfile, SENDMMSG SYS_sendmmsg,
    SENDMSG SYS_sendmsg, SENDTO SYS_sendto, SET_MEMPOLICY SYS_set_mempolicy,
    SET_MEMPOLICY_HOME_NODE SYS_set_mempolicy_home_node, SET_ROBUST_LIST SYS_set_robust_list,
    SET_TID_ADDRESS SYS_set_tid_address, SETDOMAINNAME SYS_setdomainname, SETFSGID SYS_setfsgid,
    SETFSUID SYS_setfsuid, SETGID SYS_setgid, SETGROUPS SYS_setgroups, SETHOSTNAME SYS_sethostname,
    SETITIMER SYS_setitimer, SETNS SYS_setns, SETPGID SYS_setpgid, SETPRIORITY SYS_setpriority,
    SETREGID SYS_setregid, SETRESGID SYS_setresgid, SETRESUID SYS_setresuid, SETREUID SYS_setreuid,
    SETRLIMIT SYS_setrlimit, SETSID SYS_setsid, SETSOCKOPT SYS_setsockopt,
    SETTIMEOFDAY SYS_settimeofday, SETUID SYS_setuid, SETXATTR SYS_setxattr, SHMAT SYS_shmat,
    SHMCTL SYS_shmctl, SHMDT SYS_shmdt, SHMGET SYS_shmget, SHUTDOWN SYS_shutdown,
    SIGALTSTACK SYS_sigaltstack, SIGNALFD4 SYS_signalfd4, SOCKET SYS_socket,
    SOCKETPAIR SYS_socketpair, SPLICE SYS_splice, STATFS SYS_statfs, STATX SYS_statx,
    SWAPOFF SYS_swapoff, SWAPON SYS_swapon, SYMLINKAT SYS_symlinkat, SYNC SYS_sync,
    SYNC_FILE_RANGE SYS_sync_file_range, SYNCFS SYS_syncfs, SYSINFO SYS_sysinfo, SYSLOG SYS_syslog,
    TEE SYS_tee, TGKILL SYS_tgkill, TIMER_CREATE SYS_timer_create, TIMER_DELETE SYS_timer_delete,
    TIMER_GETOVERRUN SYS_timer_getoverrun, TIMER_GETTIME SYS_timer_gettime,
    TIMER_SETTIME SYS_timer_settime, TIMERFD_CREATE SYS_timerfd_create,
    TIMERFD_GETTIME SYS_timerfd_gettime, TIMERFD_SETTIME SYS_timerfd_settime, TIMES SYS_times,
    TKILL SYS_tkill, TRUNCATE SYS_truncate, UMASK SYS_umask, UMOUNT2 SYS_umount2, UNAME SYS_uname,
    UNLINKAT SYS_unlinkat, UNSHARE SYS_unshare, USERFAULTFD SYS_userfaultfd,
    UTIMENSAT SYS_utimensat, VHANGUP SYS_vhangup, VMSPLICE SYS_vmsplice, WAIT4 SYS_wait4,
    WAITID SYS_waitid, WRITE SYS_write, WRITEV SYS_writev,
}
x86_64 {
    _SYSCTL SYS__sysctl, ACCESS SYS_access, ALARM SYS_alarm, ARCH_PRCTL SYS_arch_prctl,
    CHMOD SYS_chmod, CHOWN SYS_chown, CREAT SYS_creat, DUP2 SYS_dup2,
    EPOLL_CREATE SYS_epoll_create, EPOLL_WAIT SYS_epoll_wait, EVENTFD SYS_eventfd,
    FCHMODAT2 SYS_fchmodat2, FORK SYS_fork, FUTIMESAT SYS_futimesat,
    GET_THREAD_AREA SYS_get_thread_area, GETDENTS SYS_getdents, GETPGRP SYS_getpgrp,
    INOTIFY_INIT SYS_inotify_init, IOPERM SYS_ioperm, IOPL SYS_iopl,
    KEXEC_FILE_LOAD SYS_kexec_file_load, LCHOWN SYS_lchown, LINK SYS_link, LSTAT SYS_lstat,
    MKDIR SYS_mkdir, MKNOD SYS_mknod, MODIFY_LDT SYS_modify_ldt, OPEN SYS_open, PAUSE SYS_pause,
    PIPE SYS_pipe, POLL SYS_poll, READLINK SYS_readlink, RENAME SYS_rename, RMDIR SYS_rmdir,
    SELECT SYS_select, SET_THREAD_AREA SYS_set_thread_area, SIGNALFD SYS_signalfd, STAT SYS_stat,
    SYMLINK SYS_symlink, SYSFS SYS_sysfs, TIME SYS_time, UNLINK SYS_unlink, USELIB SYS_uselib,
    USTAT SYS_ustat, UTIME SYS_utime, UTIMES SYS_utimes, VFORK SYS_vfork,
}
}
