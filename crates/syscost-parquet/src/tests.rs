//! The tables of whole runs, read back by the library's own reader. DuckDB reads them in the program's
//! tests.

use bytes::Bytes;
use insta::assert_snapshot;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};
use syscost_report::export::to_csv;
use syscost_results::measurement::{Cause, Disturbance};
use syscost_results::{Measurement, RoundSamples, Status};

use super::*;

/// The recorded quick run.
fn run() -> Run {
    let document = include_bytes!("../../../fixtures/runs/quick.json");
    syscost_results::document::read(document).expect("a run document")
}

/// The tables of these runs, each as the contents of a file.
fn to_parquet(runs: &[&Run]) -> Result<[Vec<u8>; 3], TablesError> {
    let mut tables = Tables::new([const { Vec::new() }; 3])?;
    runs.iter().try_for_each(|run| tables.add(run))?;
    tables.finish()
}

/// All rows of a Parquet file.
fn rows(file: &[u8]) -> Vec<Row> {
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
    parquet::schema::printer::print_schema(&mut text, metadata.schema());
    String::from_utf8(text).expect("text")
}

#[test]
fn the_schemas_are_stable_and_without_unsigned_types() {
    let files = to_parquet(&[&run()]).expect("written");
    let schemas = files.each_ref().map(|file| schema(file));
    let schemas = schemas.join("\n");
    assert!(!schemas.contains("UINT") && !schemas.contains("INTEGER("));
    assert!(schemas.contains("OPTIONAL INT64 started (TIMESTAMP(MICROS,true))"));
    assert_snapshot!(schemas);
}

/// A row with three samples, of which one was disturbed.
fn with_samples(run: &mut Run, raw: Vec<f64>) -> &mut Measurement {
    let is_meant = |row: &&mut Measurement| row.name == "syscall.null{call=getppid}";
    let row = run.measurements.iter_mut().find(is_meant);
    let row = row.expect("a row of the fixture");
    row.samples = Some(vec![RoundSamples {
        round: 0,
        cpu: 1,
        iterations: 4096,
        core_ghz: Some(3.69),
        sample_ghz: vec![3.69, 0.0, 3.71],
        usual_ghz: Some(3.7),
        alone_percent: Some(61.5),
        values: vec![79.0, 80.5, 77.1],
        raw,
        disturbed: vec![Disturbance {
            sample: 1,
            cause: Cause::SharedCore,
        }],
        ..RoundSamples::default()
    }]);
    row
}

#[test]
fn every_sample_has_its_line_with_cause_and_raw_value() {
    let mut run = run();
    run.id = "one".to_owned();
    with_samples(&mut run, vec![81.0, 82.5, 79.1]);
    run.measurements
        .retain(|row| row.name == "syscall.null{call=getppid}");
    let files = to_parquet(&[&run]).expect("written");
    let lines: Vec<String> = rows(&files[2]).iter().map(Row::to_string).collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn samples_that_ratios_show_to_be_shared_have_that_cause() {
    let mut run = run();
    with_samples(&mut run, vec![81.0, 82.5, 79.1]);
    run.measurements
        .retain(|row| row.name == "syscall.null{call=getppid}");
    let round = &mut run.measurements[0].samples.as_mut().expect("samples")[0];
    round.disturbed.clear();
    (round.ratios, round.own_limit) = (vec![1262, 1270, 2100], Some(1.34));
    let files = to_parquet(&[&run]).expect("written");
    let lines: Vec<String> = rows(&files[2]).iter().map(Row::to_string).collect();
    let is_shared = lines
        .iter()
        .map(|line| line.contains("disturbed: \"shared_core\""));
    assert_eq!(
        is_shared.collect::<Vec<_>>(),
        [false, false, true],
        "{lines:?}"
    );
    assert!(
        lines[2].contains("ratio: 2.1, own_limit: 1.34"),
        "{lines:?}"
    );
}

#[test]
fn a_row_without_a_number_has_none_here_either() {
    let mut run = run();
    let row = with_samples(&mut run, vec![]);
    row.status = Status::Withheld;
    row.estimate.median = Some(66.6);
    row.core_cycles = Some(66.6);
    let name = row.name.clone();
    let files = to_parquet(&[&run]).expect("written");
    let is_its = |row: &&Row| row.to_string().contains(&name);
    let its = |file: &[u8]| rows(file).iter().filter(is_its).count();
    assert_eq!((its(&files[1]), its(&files[2])), (1, 0));
    let measurements = rows(&files[1]);
    let mut all = measurements.iter();
    assert!(all.all(|row| !row.to_string().contains("66.6")));
}

#[test]
fn any_text_is_kept() {
    let mut run = run();
    run.id = "=cmd\n\"'\0\u{2028}é".to_owned();
    run.measurements[0].name = "x{<b>|\\}".to_owned();
    let files = to_parquet(&[&run]).expect("written");
    let row = &rows(&files[1])[0];
    assert_eq!(row.get_string(0).expect("run"), &run.id);
    assert_eq!(row.get_string(8).expect("name"), &run.measurements[0].name);
}

#[test]
fn no_run_and_no_row_are_legal_and_a_start_that_is_no_time_is_not() {
    let mut empty = run();
    empty.measurements.clear();
    for runs in [&[][..], &[&empty]] {
        let files = to_parquet(runs).expect("written");
        assert_eq!(rows(&files[0]).len(), runs.len());
        assert_eq!(rows(&files[2]).len(), 0);
    }
    empty.started = "yesterday".to_owned();
    let error = to_parquet(&[&empty]).expect_err("no time").to_string();
    assert!(
        error.contains("its start `yesterday` is no RFC 3339 time"),
        "{error}"
    );
}

#[test]
fn measurements_are_the_lines_of_the_csv() {
    let run = run();
    let files = to_parquet(&[&run]).expect("written");
    let rows = rows(&files[1]);
    assert_eq!(rows.len(), run.measurements.len());
    let names = rows[0].get_column_iter().map(|(name, _)| name.as_str());
    let header = names.collect::<Vec<&str>>().join(",");
    let csv = to_csv(&[&run]).expect("written");
    assert_eq!(csv.lines().next(), Some(header.as_str()));
}

#[test]
fn a_number_that_no_column_holds_is_reported() {
    let mut run = run();
    let row = with_samples(&mut run, vec![]);
    row.samples.as_mut().expect("samples")[0].round = u32::MAX;
    let error = to_parquet(&[&run]).expect_err("too large").to_string();
    assert!(error.contains("round is 4294967295"), "{error}");
}
