//! Times on the command line.

use std::time::Duration;

use syscost_results::row_name::nanoseconds;

/// Longer than anybody would wait.
const LIMIT: Duration = Duration::from_secs(1_000_000);

/// Parses a time: a number of seconds, or of another unit that follows it.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let ns = nanoseconds(text).or_else(|| nanoseconds(&format!("{text}s")));
    match ns.map(Duration::from_nanos) {
        Some(time) if !time.is_zero() && time < LIMIT => Ok(time),
        Some(_) | None => {
            Err("give a positive number of seconds, or a time such as 90s, 1.5m or 2h".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_durations_are_refused() {
        assert!(seconds("-1").is_err());
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
