//! How a text for a terminal is drawn.

use std::collections::BTreeMap;

use syscost_results::beside;

/// How to draw the table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOptions {
    /// Maximum width in columns; values below 60 count as 60.
    pub width: usize,
    /// Whether to write ANSI colours.
    pub color: bool,
    /// Whether to show the evidence, flags and details of every row below it.
    pub verbose: bool,
    /// Where the run was saved, for the last line.
    pub saved_to: Option<String>,
    /// What commands call the run, e.g. `latest`; `None` if it is not stored.
    pub name: Option<String>,
    /// Whether to leave out everything but the results: warnings, where the run was saved, next
    /// steps.
    pub quiet: bool,
    /// Whether the rows are only some of the run's.
    pub is_part: bool,
    /// The figures to show beside the numbers.
    pub beside: Option<Beside>,
}

/// Another run's figures, to be shown beside those of the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// What it is, in a line.
    pub sentence: String,
    /// Its figures, by the row's name.
    pub figures: BTreeMap<String, beside::Beside>,
}

impl Default for TableOptions {
    /// 100 columns, no colours, brief.
    fn default() -> Self {
        TableOptions {
            width: 100,
            color: false,
            verbose: false,
            saved_to: None,
            name: Some("latest".to_owned()),
            quiet: false,
            is_part: false,
            beside: None,
        }
    }
}

impl TableOptions {
    /// The default ones, of another width.
    pub fn of_width(width: usize) -> Self {
        TableOptions {
            width,
            ..TableOptions::default()
        }
    }

    /// These, with the evidence of every row or without.
    #[cfg(test)]
    pub(crate) fn verbose(self, verbose: bool) -> Self {
        TableOptions { verbose, ..self }
    }
}
