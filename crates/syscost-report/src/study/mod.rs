//! A published experiment compared with a run: for terminals, and as a documentation page.
//!
//! - [`text()`]: four views of each quantity and what follows from them. [`list()`]: all studies.
//! - [`page`], [`index`]: the published side alone, for docs/studies/.

mod charts;
mod markdown;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod words;

pub(crate) use charts::{Drawn, Picture, pictures};
pub(crate) use words::{
    ViewOf, counter, cycles, doubt, machine, not_here, note, notes, ratios, value, views,
};

pub use markdown::{index, page};
pub use text::{list, published, text};
