//! The instruction.
#![allow(unsafe_code)] // entering the kernel has no safe form

use super::Sysno;

/// x86-64: number in rax, arguments in rdi rsi rdx r10 r8 r9; rcx and r11 are lost. aarch64: number
/// in x8, arguments in x0 to x5.
macro_rules! define {
    ($($name:ident($($arg:ident $x86:tt $arm:tt),*) $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// Returns what the kernel returned: an error is its number, negated (-ENOSYS for an absent
        /// call).
        ///
        /// # Safety
        /// The call must be sound with these arguments: those that are addresses must be valid for
        /// what it reads and writes, and it must not end or change what Rust relies on (mappings,
        /// other threads' memory).
        #[inline(always)]
        #[allow(clippy::too_many_arguments)] // the ABI has that many
        pub unsafe fn $name(call: Sysno, $($arg: usize),*) -> isize {
            #[cfg(target_arch = "x86_64")]
            {
                let result: isize;
                // SAFETY: the kernel keeps all registers but rax, rcx and r11; the call itself is
                // the caller's promise.
                unsafe {
                    std::arch::asm!(
                        "syscall",
                        inlateout("rax") call.register() => result,
                        $(in($x86) $arg,)*
                        lateout("rcx") _,
                        lateout("r11") _,
                        options(nostack),
                    );
                }
                result
            }
            #[cfg(target_arch = "aarch64")]
            {
                // One register is both the first argument and the result.
                define!(@arm call, $($arg $arm),*)
            }
        }
    )*};
    (@arm $call:ident,) => {{
        let result: isize;
        // SAFETY: the kernel keeps all registers but x0; the call itself is the caller's promise.
        unsafe { std::arch::asm!("svc 0", in("x8") $call.register(), lateout("x0") result, options(nostack)); }
        result
    }};
    (@arm $call:ident, $first:ident $x0:tt $(, $arg:ident $arm:tt)*) => {{
        let result: isize;
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "svc 0",
                in("x8") $call.register(),
                inlateout("x0") $first => result,
                $(in($arm) $arg,)*
                options(nostack),
            );
        }
        result
    }};
}

define! {
    syscall0() "A system call without arguments.";
    syscall1(a "rdi" "x0") "A system call with one argument.";
    syscall2(a "rdi" "x0", b "rsi" "x1") "A system call with two arguments.";
    syscall3(a "rdi" "x0", b "rsi" "x1", c "rdx" "x2") "A system call with three arguments.";
    syscall4(a "rdi" "x0", b "rsi" "x1", c "rdx" "x2", d "r10" "x3") "A system call with four arguments.";
    syscall5(a "rdi" "x0", b "rsi" "x1", c "rdx" "x2", d "r10" "x3", e "r8" "x4")
        "A system call with five arguments.";
    syscall6(a "rdi" "x0", b "rsi" "x1", c "rdx" "x2", d "r10" "x3", e "r8" "x4", f "r9" "x5")
        "A system call with six arguments.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors_come_back_as_the_kernel_gave_them() {
        // SAFETY: neither call touches memory.
        unsafe {
            assert_eq!(syscall0(Sysno::GETPID), std::process::id() as isize);
            assert_eq!(syscall1(Sysno::CLOSE, usize::MAX), -9); // EBADF
        }
        let absent = Sysno::new("SYS_nothing", None);
        // SAFETY: the kernel has no such call.
        assert_eq!(unsafe { syscall0(absent) }, -38);
    }

    #[test]
    fn all_six_arguments_arrive_in_order() {
        // mmap takes six: a page of this very file from its second page on, so that the last
        // argument matters.
        let mut file = tempfile::tempfile().unwrap();
        let page = 4096;
        let mut content = vec![1_u8; 16 * page];
        content.resize(32 * page, 2);
        std::io::Write::write_all(&mut file, &content).unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file) as usize;
        let (read, private) = (1, 2);
        // SAFETY: a fresh mapping that nothing else knows, read within its size and unmapped once.
        unsafe {
            let address = syscall6(Sysno::MMAP, 0, page, read, private, fd, 16 * page);
            assert!(address > 0, "mmap: {address}");
            assert_eq!(*(address as *const u8), 2);
            assert_eq!(syscall2(Sysno::MUNMAP, address as usize, page), 0);
        }
    }
}
