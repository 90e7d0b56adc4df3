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

use syscost_results::Unit;
use syscost_results::study::{Converted, JudgedFigure};

pub(crate) use charts::{Drawn, Picture, pictures};
pub(crate) use words::{ViewOf, counter, doubt, machine, note, notes, views};

pub use markdown::{index, page};
pub use text::{list, published, text};

use crate::units;

/// A figure in its unit, with the digits that were printed: `17.83 ns`; or the words of a figure
/// that is not a number.
pub(crate) fn value(unit: Unit, figure: &JudgedFigure) -> String {
    match (figure.value, &figure.words) {
        (Some(value), _)
            if unit == Unit::Nanoseconds && figure.converted != Some(Converted::Value) =>
        {
            format!("{value} ns")
        }
        (Some(value), _) => units::quantity(unit, value),
        (None, Some(words)) if figure.cycles.is_none() => in_unit(unit, words),
        (None, _) => String::new(),
    }
}

/// A figure in cycles.
pub(crate) fn cycles(figure: &JudgedFigure) -> String {
    match (figure.cycles, figure.converted) {
        (Some(cycles), Some(Converted::Cycles)) => format!("{} cycles", units::cycles(cycles)),
        (Some(cycles), _) => format!("{cycles} cycles"),
        (None, _) => String::new(),
    }
}

/// Words that end with a number get the unit: `2 to 3 ns`; others stand alone.
fn in_unit(unit: Unit, words: &str) -> String {
    match words.ends_with(|last: char| last.is_ascii_digit()) {
        true => format!("{words} {}", unit.symbol()),
        false => words.to_owned(),
    }
}

/// Which of value and cycles was converted, for notes.
fn conversion(figure: &JudgedFigure) -> Option<String> {
    let what = match figure.converted? {
        Converted::Value => "time",
        Converted::Cycles => "cycles",
    };
    Some(format!("{what} by the stated clock"))
}
