//! Times on the command line.

use std::time::Duration;

/// Parses a time: a number of seconds, or of another unit that follows it.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 6] = [
        ("ms", 1e-3),
        ("min", 60.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("s", 1.0),
        ("", 1.0),
    ];
    let found = UNITS.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor)
    });
    match found {
        Some(seconds) if seconds > 0.0 && seconds < 1e6 => Ok(Duration::from_secs_f64(seconds)),
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
        ] {
            assert_eq!(seconds(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["1d", "s", "m", "1e9h", "inf", "-1m"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
