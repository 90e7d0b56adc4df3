//! Pressure stall information: how much work waits for a resource.

use std::fs;

use crate::{SystemError, Unsupported};

/// The share of time in which tasks stood still, in percent, over the last 10, 60 and 300 s, and
/// the total time in µs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stall {
    /// Percent of the last 10 s.
    pub avg10: f64,
    /// Percent of the last 60 s.
    pub avg60: f64,
    /// Percent of the last 300 s.
    pub avg300: f64,
    /// Total since the machine started, in µs.
    pub total_us: u64,
}

/// The pressure on one resource.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pressure {
    /// At least one task stood still.
    pub some: Stall,
    /// All tasks that were not idle stood still; older kernels do not report it for the processor.
    pub full: Option<Stall>,
}

impl Pressure {
    /// The machine's pressure on `cpu`, `memory` or `io` (/proc/pressure).
    ///
    /// # Errors
    /// `Unsupported` where the kernel was built or started without it (CONFIG_PSI, `psi=1`), or
    /// outside Linux.
    pub fn read(resource: &str) -> Result<Pressure, Unsupported> {
        let path = format!("/proc/pressure/{resource}");
        let text = fs::read_to_string(&path)
            .map_err(|cause| SystemError::new("read", path.as_str(), cause))?;
        parse(&text).ok_or_else(|| {
            Unsupported::new(format!(
                "{path} does not have the form the kernel documents"
            ))
        })
    }
}

fn parse(text: &str) -> Option<Pressure> {
    let line = |kind: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(kind))?;
        let field = |name: &str| {
            rest.split_ascii_whitespace()
                .find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
        };
        Some(Stall {
            avg10: field("avg10")?.parse().ok()?,
            avg60: field("avg60")?.parse().ok()?,
            avg300: field("avg300")?.parse().ok()?,
            total_us: field("total")?.parse().ok()?,
        })
    };
    Some(Pressure {
        some: line("some ")?,
        full: line("full "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_understood_with_and_without_full() {
        let text = "some avg10=1.50 avg60=0.02 avg300=0.12 total=4387597\nfull avg10=0.25 avg60=0.00 avg300=0.00 total=9\n";
        let pressure = parse(text).unwrap();
        assert_eq!(
            pressure.some,
            Stall {
                avg10: 1.5,
                avg60: 0.02,
                avg300: 0.12,
                total_us: 4_387_597
            }
        );
        assert_eq!(pressure.full.unwrap().total_us, 9);
        assert_eq!(parse(text.lines().next().unwrap()).unwrap().full, None);
        assert_eq!(parse("some avg10=x"), None);
    }

    #[test]
    fn an_unknown_resource_is_named() {
        assert!(
            Pressure::read("coffee")
                .unwrap_err()
                .to_string()
                .contains("/proc/pressure/coffee")
        );
    }
}
