//! Runs in formats for other tools. Every export is a pure function; docs/export.md documents each
//! for its users. The tables in Parquet are made of the same [`COLUMNS`] by the crate for many machines.
//!
//! | Function | Format | Runs |
//! |---|---|---|
//! | [`to_csv`] | one line per row | any |
//! | [`to_markdown`] | tables for documents | any |
//! | [`to_jsonl`] | one JSON object, a [`Record`], per row | any |
//! | [`to_openmetrics`] | gauges, for both OpenMetrics and the older Prometheus text format | any, one for each host |
//! | [`to_bencher`] | Bencher Metric Format | one |
//! | [`to_ktap`] | Kernel Test Anything Protocol, version 1 | any |
//!
//! [`Record`] alone decides which numbers of a row are exported: a row whose status allows no
//! number has none in any format, whatever its document holds.

mod bencher;
mod columns;
mod csv;
mod ktap;
mod markdown;
mod openmetrics;
mod record;
#[cfg(test)]
mod tests;

pub use bencher::to_bencher;
pub use columns::{COLUMNS, Value, word};
pub(crate) use csv::guarded;
pub use csv::to_csv;
pub use ktap::to_ktap;
pub(crate) use markdown::escaped;
pub use markdown::to_markdown;
pub use openmetrics::{Families, Labels, to_openmetrics};
pub use record::{Record, parameters, to_jsonl};

/// Why runs could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The run's start time cannot be parsed.
    #[error(
        "run {run} cannot be exported: its start `{started}` is no RFC 3339 time ({cause}); take another copy of the document"
    )]
    Started {
        /// Id of the run.
        run: String,
        /// The text given as its start time.
        started: String,
        /// Why it is not a time.
        cause: jiff::Error,
    },
    /// A number is too large for its column.
    #[error(
        "run {run} cannot be exported: {column} is {value}, more than any real run has; take another copy of the document"
    )]
    TooLarge {
        /// Id of the run.
        run: String,
        /// The column.
        column: &'static str,
        /// The number.
        value: u64,
    },
    /// A writer failed unexpectedly.
    #[error("the runs cannot be written as {form} ({cause}); report this as a defect of syscost")]
    Writer {
        /// The format.
        form: &'static str,
        /// The writer's error.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<::csv::Error> for ExportError {
    fn from(cause: ::csv::Error) -> Self {
        let (form, cause) = ("CSV", cause.into());
        ExportError::Writer { form, cause }
    }
}

impl From<serde_json::Error> for ExportError {
    fn from(cause: serde_json::Error) -> Self {
        let (form, cause) = ("JSON", cause.into());
        ExportError::Writer { form, cause }
    }
}

/// The run's start in microseconds since 1970, UTC.
///
/// # Errors
/// [`ExportError::Started`] if it is no time.
pub fn started_us(run: &str, started: &str) -> Result<i64, ExportError> {
    started
        .parse::<jiff::Timestamp>()
        .map(jiff::Timestamp::as_microsecond)
        .map_err(|cause| ExportError::Started {
            run: run.to_owned(),
            started: started.to_owned(),
            cause,
        })
}

/// Text on one line: characters that could end or overwrite the line become spaces.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\u{2028}' | '\u{2029}' => ' ',
            control if control.is_control() => ' ',
            letter => letter,
        })
        .collect()
}
