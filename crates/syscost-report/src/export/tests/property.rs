//! Any text in names, reasons and facts survives CSV and JSON lines, and breaks no other format.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Texts with the formats' special characters, and any others.
fn text() -> impl Strategy<Value = String> {
    let signs = proptest::collection::vec(
        prop::sample::select(vec![
            "=", "'", "\"", "|", "\\", "#", "# SKIP", "\n", "\r", "\t", ",", "`", "{", "}", "<",
            "-", " ", "a", "é", "\u{2028}", "\0", "1..2", "ok 1", "# EOF",
        ]),
        0..12,
    );
    prop_oneof![any::<String>(), signs.prop_map(|signs| signs.concat())]
}

prop_compose! {
    /// The fixture with hostile texts wherever a document may hold text.
    fn hostile()(
        texts in proptest::collection::vec(text(), 6),
        case in proptest::collection::btree_map(text(), text(), 0..3),
    ) -> Run {
        let mut run = run();
        run.machine.hostname = texts[0].clone();
        run.machine.kernel = texts[1].clone();
        run.id = texts[2].clone();
        for (index, row) in run.measurements.iter_mut().enumerate() {
            row.name = format!("{}{{{}}}{index}", row.id, texts[3]);
            row.case = case.clone();
            row.reason = row.reason.as_ref().map(|_| texts[4].clone());
            for evidence in &mut row.evidence {
                evidence.claim.sentence = texts[5].clone();
            }
        }
        run
    }
}

proptest! {
    #[test]
    fn csv_gives_back_every_text(run in hostile()) {
        let text = to_csv(&[&run]).expect("written");
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<BTreeMap<String, String>> =
            reader.deserialize().collect::<Result<_, _>>().expect("CSV");
        prop_assert_eq!(rows.len(), run.measurements.len());
        for (row, record) in rows.iter().zip(Record::all(&[&run])) {
            let is = |column: &str, text: &str| row[column].strip_prefix('\'').unwrap_or(&row[column]) == text;
            prop_assert!(is("run", &record.run));
            prop_assert!(is("hostname", &record.hostname));
            prop_assert!(is("kernel", &record.kernel));
            prop_assert!(is("name", &record.name));
            prop_assert!(is("reason", record.reason.as_deref().unwrap_or("")));
            let median = record.estimate.median.map_or_else(String::new, |median| median.to_string());
            prop_assert_eq!(&row["median"], &median);
            for column in ["run", "hostname", "name", "reason", "parameters"] {
                prop_assert!(!row[column].starts_with(['=', '+', '-', '@', '\t', '\r', '\n']));
            }
        }
    }

    #[test]
    fn json_lines_give_back_every_record(run in hostile()) {
        let text = to_jsonl(&[&run]).expect("written");
        let records: Vec<Record> = text
            .split_terminator('\n')
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect();
        prop_assert_eq!(records, Record::all(&[&run]).collect::<Vec<_>>());
    }

    #[test]
    fn bencher_keeps_every_name(run in hostile()) {
        let text = to_bencher(&run).expect("written");
        let names: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).expect("JSON");
        for row in run.measurements.iter().filter(|row| row.status == Status::Ok) {
            prop_assert!(names.contains_key(&row.name));
        }
        prop_assert_eq!(names.len(), 6);
    }

    #[test]
    fn ktap_stays_ktap(run in hostile()) {
        let tests = ktap_reader::read(&to_ktap(&[&run])).expect("KTAP");
        let rows: Vec<_> = tests[0].tests.iter().flat_map(|group| &group.tests).collect();
        prop_assert_eq!(rows.len(), run.measurements.len());
        for (test, row) in rows.iter().zip(&run.measurements) {
            let skipped = matches!(row.status, Status::Unsupported | Status::Skipped);
            prop_assert_eq!(test.skipped, skipped);
            prop_assert_eq!(test.ok, !matches!(row.status, Status::Withheld | Status::Failed));
        }
    }

    #[test]
    fn a_line_of_markdown_has_its_nine_cells(run in hostile()) {
        let text = to_markdown(&[&run]);
        let table: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
        prop_assert_eq!(table.len(), run.measurements.len() + 4, "a heading for each group");
        for line in table {
            prop_assert_eq!(line.replace("\\\\", "").replace("\\|", "").matches('|').count(), 10, "{}", line);
        }
    }

    #[test]
    fn openmetrics_stays_openmetrics(run in hostile()) {
        let text = to_openmetrics(&[&run]).expect("written");
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        prop_assert_eq!(lines.last(), Some(&"# EOF"));
        let samples: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with("# ")).collect();
        // 4 samples for the run, 3 for its cores, 7 statuses, the numbers of 6 rows, a bound, 2 for
        // a shared core, 6 rows without a number; what is to be known of each row, and whether it is beyond doubt.
        let figures = run.measurements.iter().filter(|row| row.status.has_figures()).count();
        prop_assert_eq!(samples.len(), 4 + 3 + 7 + 3 * 6 + 1 + 2 + 6 + run.measurements.len() + figures);
        for line in samples {
            prop_assert!(is_sample(line), "{}", line);
        }
    }
}

/// Whether a line is a name, distinct labels with escaped values, a space and a number.
fn is_sample(line: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let end = line.find(['{', ' ']).unwrap_or(line.len());
    let (name, mut rest) = line.split_at(end);
    let mut labels = Vec::new();
    if let Some(after) = rest.strip_prefix('{') {
        rest = after;
        loop {
            let Some((label, value)) = rest.split_once("=\"") else {
                return false;
            };
            if !is_name(label) || labels.contains(&label) {
                return false;
            }
            labels.push(label);
            let mut escaped = false;
            let end = value.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let Some(end) = end else { return false };
            rest = &value[end + 1..];
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => break,
            }
        }
        match rest.strip_prefix('}') {
            Some(after) => rest = after,
            None => return false,
        }
    }
    is_name(name)
        && rest
            .strip_prefix(' ')
            .is_some_and(|number| number.parse::<f64>().is_ok())
}
