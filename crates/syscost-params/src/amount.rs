//! Sizes, times and counts, and how they are written: everywhere the same.

use std::borrow::Cow;

use crate::{TaskRole, Value};

/// A number of bytes, written as rows' names do: `64`, `384K`, `1G`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A time in nanoseconds, written in the largest unit in which it is a whole number: `50us`, `1ms`; `0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanoseconds(pub u64);

/// The number of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cpu(pub u32);

/// On how many CPUs the same runs at once, from the measuring one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Copies(pub u32);

/// How many tasks an operation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskCount(pub u64);

impl Bytes {
    /// As an index or a length in memory.
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// This many KiB.
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// This many MiB.
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }
}

/// The units of times in ns, the largest first.
const UNITS: [(&str, u64); 4] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

impl Value for Bytes {
    fn text(&self) -> Cow<'static, str> {
        Cow::Owned(size_name(self.get()))
    }

    fn read(text: &str) -> Option<Self> {
        size(text).map(Self)
    }
}

impl Value for Nanoseconds {
    fn text(&self) -> Cow<'static, str> {
        let unit = UNITS.into_iter().find(|(_, ns)| self.0.is_multiple_of(*ns));
        match unit.filter(|_| self.0 > 0) {
            Some((unit, ns)) => Cow::Owned(format!("{}{unit}", self.0 / ns)),
            // Only zero is the same in all units.
            None => Cow::Borrowed("0"),
        }
    }

    fn read(text: &str) -> Option<Self> {
        nanoseconds(text).map(Self)
    }
}

macro_rules! counts {
    ($($number:ty)*) => {$(
        /// A count, written as a decimal number.
        impl Value for $number {
            fn text(&self) -> Cow<'static, str> {
                Cow::Owned(self.to_string())
            }

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

counts!(u32 u64 usize);

/// Whether something is so, written `yes` or `no`.
impl Value for bool {
    fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(if *self { "yes" } else { "no" })
    }

    fn read(text: &str) -> Option<Self> {
        match text {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        }
    }
}

macro_rules! of_cpus {
    ($($value:ident: $meaning:literal;)*) => {$(
        impl Value for $value {
            const MEANING: &'static str = $meaning;

            fn text(&self) -> Cow<'static, str> {
                self.0.text()
            }

            fn read(text: &str) -> Option<Self> {
                Value::read(text).map(Self)
            }

            fn task_role(&self) -> TaskRole {
                TaskRole::BindsCpus
            }
        }
    )*};
}

of_cpus! {
    Cpu: "The number of the CPU.";
}

impl Value for Copies {
    const MEANING: &'static str = "How many copies run at once, each on a separate CPU.";

    fn text(&self) -> Cow<'static, str> {
        self.0.text()
    }

    fn read(text: &str) -> Option<Self> {
        Value::read(text).map(Self)
    }

    fn task_role(&self) -> TaskRole {
        TaskRole::Copies(self.0)
    }
}

impl Value for TaskCount {
    fn text(&self) -> Cow<'static, str> {
        self.0.text()
    }

    fn read(text: &str) -> Option<Self> {
        Value::read(text).map(Self)
    }

    fn task_role(&self) -> TaskRole {
        TaskRole::TaskCount(self.0)
    }
}

/// Writes a number of bytes as rows' names do: `384K`, `12M`, `1G`, `100`.
pub fn size_name(bytes: usize) -> String {
    let (suffix, shift) = match bytes.trailing_zeros() {
        _ if bytes == 0 => ("", 0),
        30.. => ("G", 30),
        20..30 => ("M", 20),
        10..20 => ("K", 10),
        ..10 => ("", 0),
    };
    format!("{}{suffix}", bytes >> shift)
}

/// The number of bytes for a size as written in rows' names (`64K`) or by people (`65536`, `64k`,
/// `64KiB`); `None` if it is not a size. `64KB` is not accepted, since it is 64000 to some and
/// 65536 to others.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1 << shift)
}

/// The number of nanoseconds for a time as written in rows' names (`50us`, `0`) or by people
/// (`50000ns`, `0.05ms`, `1.5 min`, `2h`, `90d`); `None` if it is not a time.
pub fn nanoseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit_ns = match &text[digits.len()..] {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        "w" => 604_800e9,
        // Only zero is the same in all units.
        "" if digits == "0" => 0.0,
        _ => return None,
    };
    let ns = digits.trim().parse::<f64>().ok()? * unit_ns;
    (0.0..1e19).contains(&ns).then(|| ns.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_they_are_written() {
        for (bytes, name) in [
            (0, "0"),
            (1536, "1536"),
            (384 << 10, "384K"),
            (3 << 19, "1536K"),
            (1 << 30, "1G"),
        ] {
            assert_eq!(Bytes(bytes).text(), name);
            assert_eq!(size(name), Some(bytes));
        }
        for (ns, name) in [
            (0, "0"),
            (50_000, "50us"),
            (1_500_000, "1500us"),
            (2_000_000_000, "2s"),
            (7, "7ns"),
        ] {
            assert_eq!(Nanoseconds(ns).text(), name);
            assert_eq!(nanoseconds(name), Some(ns));
        }
    }
}
