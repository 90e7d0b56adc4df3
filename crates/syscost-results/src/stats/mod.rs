//! Robust statistics: no normality assumed, nothing dropped by size.
//!
//! The independent unit is the process, not the sample: intervals are computed over the medians of
//! fresh processes ([`interval`]). Every function takes finite values; a NaN never causes a panic, but
//! makes the result meaningless.

pub mod changes;
pub mod dip;
mod dip_table;
pub mod growth;
pub mod hockney;
pub mod interval;
pub mod level;
pub mod looks;
pub mod modes;
pub mod multiple;
pub mod normal;
pub mod order;
pub mod outliers;
pub mod proportion;
pub mod rank;
pub mod scale;
pub mod series;
pub mod staircase;
pub mod states;
pub mod student;
mod two_terms;
pub mod usl;
