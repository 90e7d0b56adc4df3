//! Published experiments: what they printed, compared with what the same procedure and syscost's own method give on
//! a machine.
//!
//! [`parse`] reads a [`Study`](syscost_results::study::Study) from TOML; [`judge`] compares a run with it. Nothing here
//! measures, and a program without studies is built without this crate.

mod comparison;
mod disturbed;
mod figure;
mod judge;
mod left_out;
mod lines;
mod parse;
mod scale;
mod verdict;
mod view;

pub use figure::{Converted, JudgedFigure, figures, published_ratios};
pub use judge::{Between, JudgedQuantity, JudgedRatio, JudgedStudy, judge};
pub use left_out::left_out;
pub use lines::{Lines, counted};
pub use parse::{StudyError, parse, parse_with_lines};
pub use scale::Scale;
pub use verdict::{Sentence, VerdictKind};
pub use view::{Seen, View};
