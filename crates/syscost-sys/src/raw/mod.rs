//! System calls made directly by the instruction, without the C library in between: nothing is cached,
//! nothing is answered from the vDSO, `errno` is not touched.
//!
//! ```
//! use syscost_sys::raw::{Sysno, syscall0};
//!
//! // SAFETY: getppid takes nothing and touches no memory.
//! assert!(unsafe { syscall0(Sysno::GETPPID) } >= 0);
//! ```

mod call;
mod table;

use std::fmt;

pub use call::{syscall0, syscall1, syscall2, syscall3, syscall4, syscall5, syscall6};

/// A system call: its name everywhere, its number where this target has it.
///
/// `Sysno::STAT` is a constant on aarch64 too, but absent there: calling it returns -ENOSYS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sysno {
    name: &'static str,
    number: Option<u32>,
}

impl Sysno {
    /// Makes one from the name of libc's constant (`SYS_getppid`).
    const fn new(constant: &'static str, number: Option<i64>) -> Sysno {
        let name = constant.split_at("SYS_".len()).1;
        let number = match number {
            Some(number) => Some(number as u32),
            None => None,
        };
        Sysno { name, number }
    }

    /// The name of the call, as in the manual.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The number; `None` where this target lacks the call.
    pub const fn number(self) -> Option<u32> {
        self.number
    }

    /// The call of this number.
    pub fn from_number(number: u32) -> Option<Sysno> {
        Self::ALL
            .iter()
            .copied()
            .find(|call| call.number == Some(number))
    }

    /// The call of this name, whether present or not.
    pub fn from_name(name: &str) -> Option<Sysno> {
        Self::ALL.iter().copied().find(|call| call.name == name)
    }

    /// The value for the number's register; for an absent call, a number that no kernel has.
    #[inline(always)]
    const fn register(self) -> usize {
        match self.number {
            Some(number) => number as usize,
            None => u32::MAX as usize,
        }
    }
}

impl fmt::Display for Sysno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_and_numbers_are_unique() {
        let names: BTreeSet<_> = Sysno::ALL.iter().map(|call| call.name()).collect();
        assert_eq!(names.len(), Sysno::ALL.len());
        assert!(
            names.contains("getppid")
                && names.contains("stat")
                && !names.iter().any(|name| name.contains("SYS"))
        );
        let present: Vec<_> = Sysno::ALL.iter().filter_map(|call| call.number()).collect();
        assert_eq!(present.iter().collect::<BTreeSet<_>>().len(), present.len());
    }

    #[test]
    fn a_call_is_found_by_number_and_name() {
        for call in [Sysno::GETPPID, Sysno::STAT, Sysno::IO_URING_ENTER] {
            assert_eq!(Sysno::from_name(call.name()), Some(call));
            if let Some(number) = call.number() {
                assert_eq!(Sysno::from_number(number), Some(call));
            }
        }
        assert_eq!(Sysno::from_number(100_000), None);
    }
}
