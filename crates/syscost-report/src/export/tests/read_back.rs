//! The Parquet tables, read back by the crate's own reader. DuckDB reads them in the program's tests.

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Row;
use bytes::Bytes;

use super::*;

/// All rows of a Parquet file.
pub(super) fn rows(file: &[u8]) -> Vec<Row> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).expect("a Parquet file");
    reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row"))
        .collect()
}

/// The schema of a Parquet file, in the format's notation.
fn schema(file: &[u8]) -> String {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).expect("a Parquet file");
    let mut text = Vec::new();
    let metadata = reader.metadata().file_metadata();
    ::parquet::schema::printer::print_schema(&mut text, metadata.schema());
    String::from_utf8(text).expect("text")
}

#[test]
fn the_schemas_are_stable_and_without_unsigned_types() {
    let files = to_parquet(&[&run()]).expect("written");
    let schemas = [&files.runs, &files.measurements, &files.samples].map(|file| schema(file));
    let schemas = schemas.join("\n");
    assert!(!schemas.contains("UINT") && !schemas.contains("INTEGER("));
    assert!(schemas.contains("OPTIONAL INT64 started (TIMESTAMP(MICROS,true))"));
    assert_snapshot!(schemas);
}

#[test]
fn every_sample_has_its_line_with_cause_and_raw_value() {
    let files = to_parquet(&[&run()]).expect("written");
    let rows = rows(&files.samples);
    let lines: Vec<String> = rows.iter().map(Row::to_string).collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn measurements_are_the_lines_of_the_csv() {
    let run = run();
    let files = to_parquet(&[&run]).expect("written");
    let rows = rows(&files.measurements);
    assert_eq!(rows.len(), run.measurements.len());
    let names = rows[0].get_column_iter().map(|(name, _)| name.as_str());
    let header = names.collect::<Vec<&str>>().join(",");
    let csv = to_csv(&[&run]).expect("written");
    assert_eq!(csv.lines().next(), Some(header.as_str()));
}

#[test]
fn a_number_that_no_column_holds_is_reported() {
    let mut run = run();
    let row = row_mut(&mut run, "signal.catch");
    let samples = row.samples.as_mut().expect("samples");
    samples[0].round = u32::MAX;
    assert_eq!(
        to_parquet(&[&run]).expect_err("too large").to_string(),
        "run 20261121T080000Z-1 cannot be exported: round is 4294967295, more than any real run has; take another copy of \
         the document"
    );
}
