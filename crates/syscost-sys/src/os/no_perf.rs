//! For targets without perf: a counter that cannot exist.

use std::io;

use crate::Unsupported;
use crate::perf::{Event, Uses};

#[derive(Debug)]
pub(crate) enum PerfCounter {}

impl PerfCounter {
    pub(crate) fn open(event: Event) -> Result<PerfCounter, Unsupported> {
        Err(Unsupported::new(format!(
            "perf counts {event} on Linux only, and here on x86-64 and aarch64"
        )))
    }

    pub(crate) fn watch(_: u32, _: usize, _: Uses) -> Result<PerfCounter, Unsupported> {
        Err(Unsupported::new(
            "perf watches words on Linux only, and here on x86-64 and aarch64",
        ))
    }

    pub(crate) fn enable(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn disable(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn reset(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn read(&self) -> io::Result<u64> {
        match *self {}
    }
}
