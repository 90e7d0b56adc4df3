//! A published experiment compared with runs: for terminals, as a documentation page.
//!
//! - [`Repeated`]: a study, judged by one run or several.
//! - [`text()`]: four views of each quantity and what follows from them. [`list()`]: all studies.
//! - [`page`], [`index`]: the published side alone, for docs/studies/.

mod brief;
mod charts;
mod csv;
mod facts;
mod lab_report;
mod markdown;
mod repeated;
mod side_by_side;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod words;

pub(crate) use brief::{Brief, briefs, without};
pub(crate) use charts::{Drawn, Picture, pictures};
pub(crate) use facts::{facts, flags, method, what_cycles_are};
pub(crate) use lab_report::{CONCLUSION, READING, headings, title};
pub(crate) use repeated::{QuantityBy, ratio_rows};
pub(crate) use words::{
    CORE_OURS, ViewOf, counter, cycles, cycles_beside, cycles_here, here_lines, machine, note,
    notes, published_lines, remarks, row, short, value, views,
};

pub use charts::{Figure, figures};
pub use csv::csv;
pub use lab_report::markdown;
pub use markdown::{index, page};
pub use repeated::{Repeated, labels};
pub use text::{list, published, text};
