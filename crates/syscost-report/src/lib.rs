//! Pure renderers of a run: from a [`Run`](syscost_results::Run) to text, without using a terminal,
//! a file or the clock.
//!
//! - [`mod@summary`]: the short answer: the numbers people look for first.
//! - [`mod@table`]: the table in a terminal.
//! - [`commands`]: commands of a user's own.
//! - [`mod@compare`]: two sides of runs, compared.
//! - [`mod@history`]: the kept runs as a list, metrics over time as charts.
//! - [`document`]: what lies between facts and media: headings, tables, facts and what else is laid out
//!   once.
//! - [`study`]: published experiments compared with a run.
//! - [`mod@html`]: the page for a browser. [`mod@chart`]: single pictures for papers and documents.
//! - [`export`]: formats for other tools.
//! - [`sentence`]: the words of statuses, flags and summaries, the same in every renderer.
//! - [`units`]: numbers at a readable scale, with no more digits than their interval supports.
//! - [`wrap`]: text wrapped for a terminal.

// Grouped bars and histograms, which studies alone draw, are laid out with the rest.
#![cfg_attr(not(feature = "studies"), allow(dead_code, unused_imports))]

pub mod bill;
pub mod chart;
pub mod commands;
pub mod compare;
mod curves;
pub mod document;
pub mod export;
mod flags;
mod footer;
mod grid;
mod hierarchy;
pub mod history;
pub mod html;
mod markup;
mod names;
mod options;
mod page;
mod paint;
pub mod sentence;
mod side_by_side;
#[cfg(feature = "studies")]
pub mod study;
pub mod summary;
pub mod table;
mod tone;
pub mod units;
mod view;
pub mod wrap;

#[cfg(test)]
mod expect;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use options::{Beside, TableOptions};
pub use table::table;
