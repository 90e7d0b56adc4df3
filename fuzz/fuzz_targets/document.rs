//! Any bytes are read as a run, or fail with an error of one printable line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use syscost_results::document;

fuzz_target!(|bytes: &[u8]| {
    match document::read(bytes) {
        Ok(run) => {
            let again = serde_json::to_vec(&run).expect("a run is JSON");
            assert!(document::read(&again).is_ok(), "a run that was read is written so that it can be read");
        }
        Err(error) => assert!(!error.to_string().chars().any(char::is_control)),
    }
});
