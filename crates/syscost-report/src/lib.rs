//! Pure renderers of a run: from a [`Run`](syscost_results::Run) to text, with no terminal, file or clock involved.
//!
//! - [`mod@summary`]: the first answer: the numbers people look for first.
//! - [`mod@table`]: the table people read in a terminal.
//! - [`mod@compare`]: two sides of runs, compared.
//! - [`mod@history`]: the kept runs as a list, metrics over time as charts.
//! - [`mod@numbers`]: the latency numbers every programmer should know.
//! - [`study`]: published experiments beside a run.
//! - [`mod@html`]: the page people look at in a browser. [`mod@chart`]: one picture for papers and documents.
//! - [`export`]: the forms other tools read.
//! - [`sentence`]: the words of statuses, flags and summaries, the same in every renderer.
//! - [`units`]: numbers at a readable scale, with no more digits than their interval allows.
//! - [`wrap`]: text in lines for a terminal.

pub mod chart;
pub mod compare;
mod curves;
pub mod export;
mod footer;
mod hierarchy;
pub mod history;
pub mod html;
mod layout;
pub mod numbers;
mod page;
mod paint;
pub mod sentence;
mod side_by_side;
pub mod study;
pub mod summary;
pub mod table;
pub mod units;
pub mod wrap;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use table::{TableOptions, table};
