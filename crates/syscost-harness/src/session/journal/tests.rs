use syscost_results::RoundSamples;

use super::*;

pub(in crate::session) fn header() -> Header {
    Header {
        journal_version: JOURNAL_VERSION,
        tool_version: "0".into(),
        id: "run".into(),
        started: "2026-01-01T00:00:00Z".into(),
        config: Config {
            profile: "quick".into(),
            budget_s: 1.0,
            seed: 1,
            cpus: vec![0],
            min_rounds: 6,
            max_rounds: 6,
            samples_per_round: 20,
            ..Config::default()
        },
        time_limit_s: 10.0,
        rows: vec!["syscall.null{call=getppid}".into()],
        ..Header::default()
    }
}

pub(super) fn record(round: u32) -> Record {
    Record {
        cases: vec![(
            "{call=getppid}".into(),
            Ok(Findings {
                samples: RoundSamples {
                    iterations: 100,
                    values: vec![91.5, 0.1 + 0.2],
                    ..RoundSamples::default()
                },
                ..Findings::default()
            }),
        )],
        started_in_ms: 1.5,
        elapsed_s: 2.0,
        ..Record::new(round, Pass::Timed, "syscall.null", 1)
    }
}

fn rounds(records: &[Record]) -> Vec<u32> {
    records.iter().map(|record| record.round).collect()
}

#[test]
fn what_was_written_is_read_back_to_the_last_bit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("new/run.journal");
    let mut journal = Journal::create(&path, &header()).expect("created");
    journal.append(&record(0)).expect("appended");
    assert!(is_busy(&path));
    assert!(matches!(Journal::open(&path), Err(JournalError::Busy(_))));
    drop(journal);
    assert!(!is_busy(&path));
    let (_journal, read, records) = Journal::open(&path).expect("opened");
    assert_eq!(read.rows, header().rows);
    assert_eq!(records[0].cases, record(0).cases);
}

#[test]
fn a_torn_line_is_cut_off_and_the_next_one_is_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.journal");
    let mut journal = Journal::create(&path, &header()).expect("created");
    journal.append(&record(0)).expect("appended");
    journal.append(&record(1)).expect("appended");
    drop(journal);
    let bytes = std::fs::read(&path).expect("read");
    std::fs::write(&path, &bytes[..bytes.len() - 20]).expect("torn");
    let (mut journal, _, records) = Journal::open(&path).expect("opened");
    assert_eq!(rounds(&records), [0]);
    journal.append(&record(2)).expect("appended");
    drop(journal);
    let (_journal, _, records) = Journal::open(&path).expect("opened again");
    assert_eq!(rounds(&records), [0, 2]);
}

#[test]
fn what_is_no_journal_is_refused_with_the_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.journal");
    let refusal = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        Journal::open(&path).expect_err("refused").to_string()
    };
    assert!(refusal(b"").contains("it is empty"));
    assert!(refusal(b"\x7fELF\n").contains("its first lines"));
    let sealed = |header: &Header| line::sealed(&serde_json::to_vec(header).expect("JSON"));
    let mut other = header();
    other.journal_version = 99;
    assert!(refusal(&sealed(&other)).contains("its version is 99"));
    let mut other = header();
    other.id = "../elsewhere".to_owned();
    assert!(refusal(&sealed(&other)).contains("is no name"));
    let endless = Journal::open(Path::new("/dev/zero")).expect_err("refused");
    assert!(endless.to_string().contains("no regular file"), "{endless}");
}

#[test]
fn a_damaged_line_costs_one_worker() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.journal");
    let mut journal = Journal::create(&path, &header()).expect("created");
    for round in 0..3 {
        journal.append(&record(round)).expect("appended");
    }
    drop(journal);
    let text = std::fs::read_to_string(&path).expect("read");
    let rounds_with = |original: &str, other: &str| {
        assert!(text.contains(original), "{original}");
        let (_, records) = read(text.replacen(original, other, 1).as_bytes()).expect("read");
        rounds(&records)
    };
    assert_eq!(rounds_with("\"round\":1", "\"round\":?"), [0, 2]);
    // A changed digit would be another number, or remove part of the evidence.
    assert_eq!(rounds_with("91.5", "19.5"), [1, 2]);
    assert_eq!(rounds_with("\"evidence\":[]", "\"evidence\":[ ]"), [1, 2]);
    // There are two copies of the header.
    assert_eq!(rounds_with("\"seed\":1", "\"seed\":2"), [0, 1, 2]);
}

#[test]
fn a_line_that_was_copied_counts_once() {
    let sealed = |json: Vec<u8>| line::sealed(&json);
    let header = sealed(serde_json::to_vec(&header()).expect("JSON"));
    let record = |round| sealed(serde_json::to_vec(&record(round)).expect("JSON"));
    let lines = [header, record(0), record(1), record(0)].concat();
    let (_, records) = read(&lines).expect("read");
    assert_eq!(rounds(&records), [0, 1]);
}

#[test]
fn the_journal_of_an_earlier_build_is_one_of_a_run_without_studies() {
    let mut json = serde_json::to_value(header()).expect("JSON");
    let fields = json.as_object_mut().expect("an object");
    for new in ["studies", "programs"] {
        assert!(fields.remove(new).is_some(), "{new}");
    }
    let line = line::sealed(json.to_string().as_bytes());
    let (header, _) = read(&line).expect("read");
    assert_eq!(header.command(), "syscost run");
    let studies = ["three-costs".to_owned(), "mine".to_owned()].into();
    let of_studies = Header { studies, ..header };
    assert_eq!(of_studies.command(), "syscost study run mine three-costs");
}
