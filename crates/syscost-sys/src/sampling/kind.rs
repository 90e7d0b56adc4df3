//! What a program was in the kernel for, by the functions on its stack.

use std::fmt;

use crate::raw::Sysno;

/// What a program was in the kernel for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// This system call, as strace names it. If its own function is not on the stack, because all it does is
    /// to go on in another one, the name follows from that, or is that function's where it serves several
    /// calls: `path_getxattrat`.
    Call(String),
    /// A page fault in the program itself. One in a system call, which uses the program's memory, is that
    /// call's.
    PageFault,
    /// Any other exception.
    Exception,
    /// An interrupt, whatever it interrupted, and what was to be done after it.
    Interrupt,
    /// The first steps of a new task.
    TaskStart,
    /// On the way back to the program: other tasks, signals, files to be closed.
    ExitWork,
    /// The way into a system call and back, with filters and tracers of calls.
    Entry,
    /// The stack does not tell.
    Other,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Call(name) => name,
            Kind::PageFault => "page fault",
            Kind::Exception => "exception",
            Kind::Interrupt => "interrupt",
            Kind::TaskStart => "task start",
            Kind::ExitWork => "exit work",
            Kind::Entry => "entry",
            Kind::Other => "other",
        })
    }
}

/// What a function of the kernel says of those that it is called by and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// What it calls is a system call, or says itself what it is.
    Gate,
    /// It is a system call's own.
    Call,
    PageFault,
    Exception,
    Interrupt,
    TaskStart,
    ExitWork,
    Entry,
    /// It ends the process.
    Exits,
    Plain,
}

/// What the kernel's macros put before the names of calls.
const OF_CALLS: [&str; 10] = [
    "__x64_sys_",
    "__ia32_compat_sys_",
    "__ia32_sys_",
    "__x32_compat_sys_",
    "__arm64_compat_sys_",
    "__arm64_sys_",
    "__se_compat_sys_",
    "__se_sys_",
    "__do_compat_sys_",
    "__do_sys_",
];

/// What is before the names of functions in which calls go on.
const OF_PARTS: [&str; 6] = ["ksys_", "__sys_", "do_sys_", "kernel_", "vfs_", "do_"];

/// Names that the kernel has for calls, or for what they go on in, and those of the calls.
const RENAMED: [(&str, &str); 12] = [
    ("newstat", "stat"),
    ("newfstat", "fstat"),
    ("newlstat", "lstat"),
    ("newuname", "uname"),
    ("sendfile64", "sendfile"),
    ("umount", "umount2"),
    ("ksys_mmap_pgoff", "mmap"),
    ("vm_mmap_pgoff", "mmap"),
    ("do_mprotect_pkey", "mprotect"),
    ("do_sys_open", "open"),
    ("do_sys_openat2", "openat"),
    ("vfs_fstatat", "newfstatat"),
];

/// Functions by role, those of x86-64 before those of aarch64; of a name that ends in `*`, all that begin so.
/// The first match counts.
#[rustfmt::skip]
const ROLES: &[(Role, &[&str])] = &[
    (Role::Gate, &["entry_SYS*", "do_syscall_64", "x64_sys_call"]),
    (Role::Gate, &["asm_fred_entrypoint_user", "fred_entry_from_user", "fred_other"]),
    (Role::Gate, &["entry_INT80*", "do_int80_*", "do_fast_syscall_*", "__do_fast_*", "ia32_sys_call", "x32_sys_call"]),
    (Role::Interrupt, &["asm_sysvec_*", "sysvec_*", "asm_common_interrupt", "common_interrupt"]),
    (Role::Interrupt, &["fred_sysvec_*", "fred_extint", "asm_exc_nmi", "exc_nmi"]),
    (Role::PageFault, &["asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault"]),
    (Role::Exception, &["asm_exc_*", "exc_*"]),
    (Role::Interrupt, &["el0_irq", "el0_interrupt", "el0t_64_irq*", "el0t_64_fiq*", "el0t_32_irq*", "el0t_32_fiq*"]),
    (Role::Interrupt, &["el1_irq", "el1_interrupt", "el1h_64_irq*", "el1h_64_fiq*"]),
    (Role::Gate, &["el0t_*", "el0_svc*", "do_el0_svc*", "invoke_syscall"]),
    (Role::PageFault, &["el0_da", "el0_ia", "do_mem_abort"]),
    (Role::Exception, &["el0_*"]),
    (Role::TaskStart, &["ret_from_fork*", "schedule_tail"]),
    (Role::Exits, &["do_exit", "do_group_exit"]),
    (Role::ExitWork, &["exit_to_user_mode_loop", "irqentry_exit_to_user_mode", "do_notify_resume"]),
    (Role::ExitWork, &["task_work_run", "arch_do_signal_or_restart", "__rseq_handle_notify_resume"]),
    (Role::Entry, &["syscall_*", "__audit_syscall*", "__secure_computing"]),
    (Role::Entry, &["enter_from_user*", "exit_to_user*", "switch_fpu_return"]),
    // What mitigations put between functions.
    (Role::Entry, &["__x86_*", "__pi___x86_*", "its_return_thunk", "srso_*", "retbleed_*", "clear_bhb_*"]),
];

/// The role of a function of this name.
pub(super) fn role(name: &str) -> Role {
    let is = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *pattern,
    };
    let known = ROLES.iter().find(|(_, patterns)| patterns.iter().any(is));
    match known {
        Some((role, _)) => *role,
        None if OF_CALLS.iter().any(|start| name.starts_with(start)) => Role::Call,
        None => Role::Plain,
    }
}

/// The name of the call that a function is, or is a part of; else the function's own.
fn call_name(function: &str) -> &str {
    let without = |starts: &[&str]| starts.iter().find_map(|start| function.strip_prefix(start));
    let call = without(&OF_CALLS);
    let kernels = call.unwrap_or(function);
    let renamed = RENAMED.iter().find(|(name, _)| *name == kernels);
    let of_part = || without(&OF_PARTS).filter(|name| Sysno::from_name(name).is_some());
    renamed
        .map(|(_, name)| *name)
        .or(call)
        .or_else(of_part)
        .unwrap_or(function)
}

/// What a program was in the kernel for whose stack has these functions, from the outside in.
pub(super) fn kind(stack: &[(&str, Role)]) -> Kind {
    let interrupted = stack.iter().rposition(|(_, role)| *role == Role::Interrupt);
    let (entered, inside) = match interrupted {
        Some(at) => (Kind::Interrupt, &stack[at..]),
        None => (entered(stack), stack),
    };
    let has = |wanted| inside.iter().any(|(_, role)| *role == wanted);
    match entered {
        Kind::Call(_) | Kind::TaskStart => entered,
        // A signal has killed it.
        _ if has(Role::Exits) => Kind::Call("exit_group".to_owned()),
        _ if has(Role::ExitWork) => Kind::ExitWork,
        _ => entered,
    }
}

/// By the first function that says what it is.
fn entered(stack: &[(&str, Role)]) -> Kind {
    let mut is_in_gate = false;
    for (name, role) in stack {
        match role {
            Role::Gate => is_in_gate = true,
            Role::Plain if !is_in_gate => {}
            Role::Plain | Role::Call => return Kind::Call(call_name(name).to_owned()),
            Role::Exits => return Kind::Call("exit_group".to_owned()),
            Role::PageFault => return Kind::PageFault,
            Role::Exception => return Kind::Exception,
            Role::Interrupt => return Kind::Interrupt,
            Role::TaskStart => return Kind::TaskStart,
            Role::ExitWork => return Kind::ExitWork,
            Role::Entry => return Kind::Entry,
        }
    }
    match is_in_gate {
        true => Kind::Entry,
        false => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Symbols;

    /// Of stacks from the outside in: what the program is in the kernel for.
    fn kind_of(stack: &str) -> String {
        let functions: Vec<&str> = stack.split(' ').collect();
        let address = |at: usize| 0xffff_8000_0000_0000 + 0x100 * at as u64;
        let line = |(at, name): (usize, &&str)| format!("{:x} t {name}\n", address(at));
        let text: String = functions.iter().enumerate().map(line).collect();
        // Callers go on at the end of a function, which is where the next one begins.
        let returns = (1..functions.len()).map(address);
        let inside = address(functions.len() - 1) + 8;
        let stack: Vec<u64> = returns.chain([inside]).rev().collect();
        let symbols = Symbols::parse(&text);
        let (kind, function) = symbols.classify(stack.into_iter(), None);
        assert!(functions[functions.len() - 1].starts_with(function));
        kind.to_string()
    }

    #[test]
    #[rustfmt::skip] // a stack in each line
    fn a_stack_tells_what_a_program_is_in_the_kernel_for() {
        for (stack, kind) in [
            ("CALL __x64_sys_getppid", "getppid"),
            ("CALL x64_sys_call __x64_sys_getppid its_return_thunk", "getppid"),
            ("CALL __do_sys_newfstatat vfs_fstatat vfs_statx", "newfstatat"),
            ("CALL vfs_fstatat vfs_statx", "newfstatat"),
            ("CALL __x64_sys_newstat vfs_statx", "stat"),
            ("CALL ksys_mmap_pgoff vm_mmap_pgoff do_mmap", "mmap"),
            ("CALL vm_mmap_pgoff", "mmap"),
            ("CALL kernel_wait4 do_wait schedule", "wait4"),
            ("CALL __sys_sendto tcp_sendmsg do_softirq handle_softirqs tcp_v4_rcv", "sendto"),
            ("CALL ksys_write vfs_write asm_exc_page_fault exc_page_fault", "write"),
            ("entry_INT80_compat do_int80_emulation __ia32_sys_write ksys_write", "write"),
            ("CALL do_faccessat user_path_at", "faccessat"),
            ("CALL path_getxattrat filename_lookup", "path_getxattrat"),
            ("CALL __x64_sys_execve do_execveat_common.isra.0 exec_mmap mmput exit_mmap", "execve"),
            ("CALL __x64_sys_exit_group do_group_exit do_exit task_work_run", "exit_group"),
            ("CALL exit_to_user_mode_loop get_signal do_group_exit do_exit exit_mmap", "exit_group"),
            ("asm_sysvec_reschedule_ipi irqentry_exit_to_user_mode get_signal do_group_exit do_exit", "exit_group"),
            ("CALL", "entry"),
            ("CALL x64_sys_call", "entry"),
            ("CALL its_return_thunk", "entry"),
            ("CALL syscall_trace_enter __secure_computing __seccomp_filter", "entry"),
            ("CALL exit_to_user_mode_loop task_work_run __fput", "exit work"),
            ("asm_exc_page_fault irqentry_exit_to_user_mode schedule", "exit work"),
            ("asm_sysvec_apic_timer_interrupt irqentry_exit_to_user_mode schedule", "exit work"),
            ("asm_exc_page_fault", "page fault"),
            ("asm_exc_page_fault exc_page_fault do_user_addr_fault handle_mm_fault", "page fault"),
            ("asm_fred_entrypoint_user fred_entry_from_user exc_page_fault handle_mm_fault", "page fault"),
            ("asm_exc_invalid_op exc_invalid_op", "exception"),
            ("asm_sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt handle_softirqs", "interrupt"),
            ("CALL ksys_read vfs_read asm_common_interrupt common_interrupt __irq_exit_rcu", "interrupt"),
            ("CALL asm_sysvec_apic_timer_interrupt irq_exit_rcu", "interrupt"),
            ("asm_exc_page_fault exc_page_fault asm_sysvec_apic_timer_interrupt preempt_schedule_irq", "interrupt"),
            ("ret_from_fork_asm ret_from_fork schedule_tail", "task start"),
            ("ret_from_fork_asm ret_from_fork exit_to_user_mode_loop", "task start"),
            ("__memcpy", "other"),
            ("common_interrupt_return", "other"),
        ] {
            let stack = stack.replace("CALL", "entry_SYSCALL_64_after_hwframe do_syscall_64");
            assert_eq!(kind_of(&stack), kind, "{stack}");
        }
    }

    #[test]
    #[rustfmt::skip] // as above
    fn so_does_one_of_aarch64() {
        for (stack, kind) in [
            ("0 el0_svc do_el0_svc el0_svc_common.constprop.1 invoke_syscall __arm64_sys_getppid", "getppid"),
            ("0 el0_svc do_el0_svc el0_svc_common invoke_syscall __do_sys_newfstatat vfs_fstatat", "newfstatat"),
            ("0 el0_svc do_el0_svc invoke_syscall __arm64_sys_read copy_to_user el1_abort do_mem_abort", "read"),
            ("el0t_32_sync el0t_32_sync_handler el0_svc_compat invoke_syscall __arm64_compat_sys_read", "read"),
            ("0 el0_svc do_el0_svc el0_svc_common invoke_syscall", "entry"),
            ("0 el0_svc exit_to_user_mode do_notify_resume schedule", "exit work"),
            ("0 el0_da do_mem_abort do_page_fault handle_mm_fault", "page fault"),
            ("0 el0_ia do_mem_abort do_translation_fault", "page fault"),
            ("0 el0_fpsimd_acc do_fpsimd_acc", "exception"),
            ("el0t_64_irq el0t_64_irq_handler __el0_irq_handler_common el0_interrupt irq_exit_rcu", "interrupt"),
            ("0 el0_svc do_el0_svc __arm64_sys_read el1h_64_irq el1h_64_irq_handler el1_interrupt", "interrupt"),
            ("ret_from_fork schedule_tail", "task start"),
        ] {
            let stack = stack.replace("0 ", "el0t_64_sync el0t_64_sync_handler ");
            assert_eq!(kind_of(&stack), kind, "{stack}");
        }
    }
}
