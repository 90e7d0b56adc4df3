//! How many interrupts a processor has served.

use std::fs;

use crate::{SystemError, Unsupported};

const PATH: &str = "/proc/interrupts";

/// Counts the interrupts of one processor: of devices, of its timer, from other processors.
///
/// A reading takes as long as there are processors and sources: 30 us with two, milliseconds with
/// hundreds.
#[derive(Debug, Clone, Copy)]
pub struct Interrupts {
    cpu: u32,
}

impl Interrupts {
    /// Those of this processor.
    pub fn of(cpu: u32) -> Self {
        Self { cpu }
    }

    /// How many it has served since the machine started.
    ///
    /// # Errors
    /// `Unsupported` where there is no /proc/interrupts, or the processor is not in it.
    pub fn read(self) -> Result<u64, Unsupported> {
        let text =
            fs::read_to_string(PATH).map_err(|cause| SystemError::new("read", PATH, cause))?;
        parse(&text, self.cpu)
            .ok_or_else(|| Unsupported::new(format!("{PATH} has no column of cpu {}", self.cpu)))
    }
}

/// The sum of a processor's column. Lines with fewer columns (ERR, MIS) are of the whole machine.
fn parse(text: &str, cpu: u32) -> Option<u64> {
    let (head, lines) = text.split_once('\n')?;
    let name = format!("CPU{cpu}");
    let columns = head.split_ascii_whitespace().count();
    let column = head.split_ascii_whitespace().position(|one| one == name)?;
    let of_line = |line: &str| -> Option<u64> {
        let (_, fields) = line.split_once(':')?;
        let counts = fields.split_ascii_whitespace().take(columns);
        let counts: Option<Vec<u64>> = counts.map(|field| field.parse().ok()).collect();
        counts
            .filter(|counts| counts.len() == columns)?
            .get(column)
            .copied()
    };
    Some(lines.lines().filter_map(of_line).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CPU 1 is offline.
    const TEXT: &str = "            CPU0       CPU2\n  0:         41          7   IO-APIC   2-edge  timer\n\
                        LOC:     305050     306321   Local timer interrupts\nERR:          9\n";

    #[test]
    fn a_processors_column_is_found_by_its_name() {
        assert_eq!(parse(TEXT, 0), Some(305_091));
        assert_eq!(parse(TEXT, 2), Some(306_328));
        assert_eq!(parse(TEXT, 1), None);
    }

    #[test]
    fn a_processor_that_works_is_interrupted() {
        let cpu = crate::cpu::allowed().expect("some")[0];
        let served = or_skip!(Interrupts::of(cpu).read());
        assert!(served > 0);
    }
}
