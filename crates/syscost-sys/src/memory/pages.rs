//! Page sizes.

use std::borrow::Cow;
use std::fs;
use std::sync::OnceLock;

use syscost_params::Value;

use crate::{Unsupported, os};

/// The kind of pages that memory consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Pages of the kernel's base size: 4 KiB almost everywhere, 16 or 64 KiB on some aarch64 machines.
    Small,
    /// Transparent huge pages: 2 MiB on x86-64.
    Huge,
    /// Pages of 1 GiB, which the administrator has to set aside beforehand.
    Gigantic,
}

impl Pages {
    /// All kinds, the smallest first.
    pub const ALL: [Pages; 3] = [Pages::Small, Pages::Huge, Pages::Gigantic];

    /// The kinds that this machine has: 1 GiB only where some are set aside.
    pub fn here() -> Vec<Pages> {
        Self::ALL
            .into_iter()
            .filter(|pages| match pages {
                Pages::Small => true,
                Pages::Huge => huge_bytes().is_some(),
                Pages::Gigantic => are_set_aside(),
            })
            .collect()
    }

    /// The name in cases: the pages' size on this machine (`4K`, `2M`, `1G`).
    pub fn name(self) -> &'static str {
        match self {
            Pages::Small => match os::page_size() {
                0x4000 => "16K",
                0x1_0000 => "64K",
                _ => "4K",
            },
            Pages::Huge => match huge_bytes() {
                Some(0x200_0000) => "32M",
                Some(0x2000_0000) => "512M",
                _ => "2M",
            },
            Pages::Gigantic => "1G",
        }
    }

    /// The size of one page, in bytes.
    ///
    /// # Errors
    /// `Unsupported` where the kernel has no such pages.
    pub fn bytes(self) -> Result<usize, Unsupported> {
        match self {
            Pages::Small => Ok(os::page_size()),
            Pages::Huge => huge_bytes().ok_or_else(|| {
                Unsupported::new(
                    match crate::process::has_huge_pages() {
                        true => "transparent huge pages are off; see /sys/kernel/mm/transparent_hugepage/enabled",
                        false => crate::process::NO_HUGE_PAGES,
                    },
                )
            }),
            Pages::Gigantic if are_set_aside() => Ok(1 << 30),
            Pages::Gigantic => Err(Unsupported::new(
                "no pages of 1 GiB are set aside; the administrator can, in /sys/kernel/mm/hugepages",
            )),
        }
    }
}

impl Value for Pages {
    const MEANING: &'static str = "The size of the memory's pages.";

    fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.name())
    }

    fn read(text: &str) -> Option<Self> {
        // By the sizes that they have on any machine.
        match text {
            "4K" | "16K" | "64K" => Some(Pages::Small),
            "2M" | "32M" | "512M" => Some(Pages::Huge),
            "1G" => Some(Pages::Gigantic),
            _ => None,
        }
    }
}

/// The size of a transparent huge page in bytes; `None` where they are compiled out or switched off.
fn huge_bytes() -> Option<usize> {
    static BYTES: OnceLock<Option<usize>> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let of = |file: &str| {
            fs::read_to_string(format!("/sys/kernel/mm/transparent_hugepage/{file}")).ok()
        };
        let enabled = of("enabled")?;
        if enabled.contains("[never]") {
            return None;
        }
        of("hpage_pmd_size")?.trim().parse().ok()
    })
}

fn are_set_aside() -> bool {
    let free = "/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages";
    fs::read_to_string(free).is_ok_and(|count| count.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_here_has_a_size() {
        let here = Pages::here();
        assert_eq!(here[0], Pages::Small);
        for pages in here {
            assert!(pages.bytes().unwrap().is_power_of_two());
        }
    }
}
