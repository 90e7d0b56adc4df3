//! Values on the command line.

use std::path::Path;
use std::time::Duration;

use syscost_harness::directory::{self, Directory};
use syscost_results::row_name::nanoseconds;
use syscost_sys::cpu;

use crate::Failed;

/// Longer than anybody would wait.
const LIMIT: Duration = Duration::from_secs(1_000_000);

/// Parses a time: a number of seconds, or of another unit that follows it.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let ns = nanoseconds(text).or_else(|| nanoseconds(&format!("{text}s")));
    match ns.map(Duration::from_nanos) {
        Some(time) if !time.is_zero() && time < LIMIT => Ok(time),
        Some(time) if !time.is_zero() => {
            let limit = LIMIT.as_secs();
            Err(format!("a time is shorter than {limit} seconds"))
        }
        Some(_) | None => {
            Err("give a positive number of seconds, or a time such as 90s, 1.5m or 2h".to_owned())
        }
    }
}

/// A non-empty list of CPU numbers.
#[derive(Debug, Clone)]
pub struct CpuList(pub Vec<u32>);

pub(crate) fn cpu_list(text: &str) -> Result<CpuList, String> {
    match cpu::parse_list(text) {
        Ok(cpus) if !cpus.is_empty() => Ok(CpuList(cpus)),
        _ => Err("give CPU numbers such as 0-3,5".to_owned()),
    }
}

pub(crate) fn directory(text: &str) -> Result<Directory, String> {
    let (label, path) = text.split_once('=').unwrap_or((text, text));
    if !directory::is_label(label) {
        return Err(format!(
            "{label:?} cannot be part of a row's name; give it one: LABEL=PATH"
        ));
    }
    if directory::is_reserved(label) {
        return Err(format!(
            "rows use the label {label:?} for something else; give another one: LABEL=PATH"
        ));
    }
    let path = std::fs::canonicalize(path).map_err(|cause| format!("{path}: {cause}"))?;
    match path.is_dir() {
        true => Ok(Directory {
            label: label.to_owned(),
            path,
        }),
        false => Err(format!("{} is not a directory", path.display())),
    }
}

/// Parses a label: a key that can be a column or a metric's label, and any value on one line.
pub(crate) fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').unwrap_or_default();
    let mut letters = key.chars();
    let is_key = letters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase())
        && letters
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    let is_value = !value.is_empty() && value.len() <= 100 && !value.chars().any(char::is_control);
    match is_key && key.len() <= 40 && is_value {
        true => Ok((key.to_owned(), value.to_owned())),
        false => Err(
            "give KEY=VALUE, the key of small letters, digits and _, e.g. instance=m5.large"
                .to_owned(),
        ),
    }
}

pub(crate) fn congestion(text: &str) -> Result<String, String> {
    match syscost_harness::congestion::is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("give a name such as cubic".to_owned()),
    }
}

/// The given format, or the one that the file's extension means; without either, the first.
/// `have` says what has these formats.
pub(crate) fn form<F: Copy>(
    have: &str,
    given: Option<F>,
    output: Option<&Path>,
    by_ending: &[(&str, F)],
) -> Result<F, Failed> {
    if let Some(format) = given {
        return Ok(format);
    }
    let Some(ending) = output.and_then(Path::extension) else {
        return Ok(by_ending[0].1);
    };
    let ending = ending.to_string_lossy();
    let known = by_ending.iter().find(|(known, _)| *known == ending);
    known.map(|(_, format)| *format).ok_or_else(|| {
        let endings: Vec<String> = by_ending.iter().map(|(one, _)| format!(".{one}")).collect();
        let (last, others) = endings.split_last().expect("there are formats");
        Failed::Usage(format!(
            "{have} no format called .{ending}: end the name of the file in {} or {last}, or give --format",
            others.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_labels_of_directories_are_refused() {
        for text in ["nfs=/", "remote=/", "nfs"] {
            let reason = directory(text).expect_err("it is taken");
            assert!(reason.contains("LABEL=PATH"), "{reason}");
        }
        assert_eq!(
            directory("mount=/").map(|one| one.label),
            Ok("mount".into())
        );
    }

    #[test]
    fn nonsense_durations_are_refused() {
        assert!(seconds("-1").is_err());
        for long in ["1e6", "1e9", "1000h"] {
            let refused = seconds(long).expect_err("too long");
            assert_eq!(refused, "a time is shorter than 1000000 seconds", "{long}");
        }
        assert!(seconds("NaN").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for (text, ms) in [
            ("10s", 10_000),
            ("1m", 60_000),
            ("1.5 min", 90_000),
            ("2h", 7_200_000),
            ("250ms", 250),
            ("1e3", 1_000_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(seconds(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["0", "12d", "1y", "s", "m", "1e9h", "inf", "-1m"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
