//! Robust statistics of costs: no normality assumed, nothing dropped by size.
//!
//! The independent unit is the process, not the sample: intervals are computed over the medians of
//! fresh processes ([`interval`]). Every function takes finite values; a NaN never causes a panic, but
//! makes the result meaningless. A model that one benchmark fits is beside that benchmark.

pub mod changes;
mod dip;
mod dip_table;
pub mod interval;
pub mod level;
pub mod looks;
pub mod modes;
pub mod multiple;
pub mod normal;
pub mod order;
pub mod outliers;
pub mod proportion;
mod rank;
pub mod scale;
pub mod series;
pub mod states;
pub mod student;
