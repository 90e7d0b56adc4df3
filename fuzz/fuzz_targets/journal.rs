//! Any bytes are read as a run that can be resumed, or fail with an error of one printable line. Each
//! line gets its checksum first: without it, nothing beyond the checksum would be tested.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use syscost_harness::session::journal::{line, read};

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n');
    let journal: Vec<u8> = lines.flat_map(line::sealed).collect();
    match read(&journal) {
        Ok((header, records)) => {
            assert!(!header.id.contains('/') && !header.config.cpus.is_empty());
            let written: Vec<u8> = std::iter::once(serde_json::to_vec(&header))
                .chain(records.iter().map(serde_json::to_vec))
                .flat_map(|json| line::sealed(&json.expect("it is JSON")))
                .collect();
            // The same record twice is one.
            let distinct: BTreeSet<String> = records.iter().map(|record| serde_json::to_string(record).expect("it is JSON")).collect();
            let (_, again) = read(&written).expect("what was read is written so that it can be read");
            assert_eq!(again.len(), distinct.len());
        }
        Err(cause) => assert!(!cause.chars().any(char::is_control), "{cause:?}"),
    }
});
