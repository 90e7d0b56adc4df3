//! The functions of the running kernel.

use std::fs;

use super::kind::{Kind, Role, kind, role};
use crate::{Unsupported, os};

/// The functions of the running kernel and its modules, by address. Reading them takes 0.1 s or more; any
/// number of [samplers](super::Sampler) can use the same.
#[derive(Debug)]
pub struct Symbols(Vec<Function>);

#[derive(Debug)]
struct Function {
    start: u64,
    /// Without what a compiler appends: `.isra.0`.
    name: Box<str>,
    role: Role,
}

impl Symbols {
    /// Reads /proc/kallsyms.
    ///
    /// # Errors
    /// `Unsupported` where the file is missing, or hides the addresses; it names the settings.
    pub fn of_kernel() -> Result<Symbols, Unsupported> {
        let text = fs::read_to_string("/proc/kallsyms").map_err(|cause| {
            let advice = "the kernel needs CONFIG_KALLSYMS, and a container may hide the file";
            Unsupported::new(format!("/proc/kallsyms: {cause}; {advice}"))
        })?;
        let symbols = Self::parse(&text);
        if symbols.0.is_empty() {
            return Err(Unsupported::new(format!(
                "/proc/kallsyms hides the kernel's addresses: kernel.kptr_restrict is {}, perf_event_paranoid {}; it \
                 needs CAP_SYSLOG (root) and the first to be at most 1, or the first to be 0 and the second at most 1",
                os::kernel_setting("kptr_restrict"),
                os::kernel_setting("perf_event_paranoid"),
            )));
        }
        Ok(symbols)
    }

    /// Of lines `address type name [module]`.
    pub(super) fn parse(text: &str) -> Symbols {
        let function = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let start = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            let name = words.next()?;
            let name = name.split_once('.').map_or(name, |(name, _)| name);
            // What lies behind the kernel's own functions is in no list: programs for its BPF machine, such
            // as seccomp filters.
            let name = if name == "_einittext" { "(BPF)" } else { name };
            (is_code && start != 0).then(|| Function {
                start,
                name: name.into(),
                role: role(name),
            })
        };
        let mut functions: Vec<Function> = text.lines().filter_map(function).collect();
        // Of several names of one function, one that says what it is.
        functions.sort_by_key(|function| (function.start, function.role == Role::Plain));
        functions.dedup_by_key(|function| function.start);
        Symbols(functions)
    }

    fn at(&self, address: u64) -> Option<&Function> {
        let after = self.0.partition_point(|function| function.start <= address);
        self.0.get(after.checked_sub(1)?)
    }

    /// What a program was in the kernel for, and the function that it was in, by the addresses on its stack
    /// from the inside out, and what the link register held, where there is one.
    pub(super) fn classify(
        &self,
        mut stack: impl DoubleEndedIterator<Item = u64>,
        link: Option<u64>,
    ) -> (Kind, &str) {
        let innermost = stack.next().and_then(|address| self.at(address));
        // A call that never returns can be a function's last instruction.
        let caller = |address: u64| self.at(address.wrapping_sub(1));
        let callers = stack.rev().filter_map(caller);
        // A function that has a frame left its caller in both, or returned to itself since.
        let linked = link
            .and_then(caller)
            .filter(|caller| innermost.is_some_and(|innermost| innermost.start != caller.start));
        let all: Vec<_> = callers
            .chain(linked)
            .chain(innermost)
            .map(|function| (&*function.name, function.role))
            .collect();
        (kind(&all), innermost.map_or("?", |function| &function.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_any_of_its_addresses() {
        let text = "0000000000000010 d data\n\
                    ffffffff81000000 T _stext\n\
                    ffffffff81000000 t __x64_sys_first\n\
                    ffffffff81000100 t second.isra.0\t[module]\n\
                    ffffffff81000180 D data\n";
        let symbols = Symbols::parse(text);
        let name = |address| symbols.at(address).map(|function| &*function.name);
        let (first, second) = (Some("__x64_sys_first"), Some("second"));
        for (address, expected) in [
            (0, None),
            (0xffff_ffff_8100_0000, first),
            (0xffff_ffff_8100_00ff, first),
            (0xffff_ffff_8100_0100, second),
            (u64::MAX, second),
        ] {
            assert_eq!(name(address), expected, "{address:x}");
        }
        assert!(
            Symbols::parse("0000000000000000 T _stext\n").0.is_empty(),
            "a hidden address"
        );
        assert_eq!(symbols.classify([].into_iter(), None).1, "?");
        // A function that calls none has no caller but in the link register; that of one that does is stale.
        let (in_first, in_second) = (0xffff_ffff_8100_0010, 0xffff_ffff_8100_0110);
        for (stack, link, expected) in [
            (&[in_second][..], None, Kind::Other),
            (&[in_second], Some(in_first), Kind::Call("first".to_owned())),
            (&[in_second], Some(in_second + 8), Kind::Other),
            (
                &[in_second, in_first],
                Some(in_first),
                Kind::Call("first".to_owned()),
            ),
        ] {
            let (kind, function) = symbols.classify(stack.iter().copied(), link);
            assert_eq!(
                (kind, function),
                (expected, "second"),
                "{stack:x?} {link:x?}"
            );
        }
    }
}
