//! The parts of a row's name, and what its values mean.

/// The benchmark's id in a row's name, `id{key=value,...}` or the id alone.
pub fn id(name: &str) -> &str {
    name.split_once('{').map_or(name, |(id, _)| id)
}

/// The case in a row's name, `key=value,...`; `None` for an id alone.
pub fn case(name: &str) -> Option<&str> {
    name.split_once('{')?.1.strip_suffix('}')
}

/// The parameters in a row's name, with their values, in order.
pub fn parameters(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let parameters = case(name).unwrap_or_default().split(',');
    parameters.filter_map(|parameter| parameter.split_once('='))
}

/// Writes a number of bytes as rows' names do: `384K`, `12M`, `1G`, `100`.
pub fn size_name(bytes: usize) -> String {
    let (suffix, shift) = match bytes.trailing_zeros() {
        _ if bytes == 0 => ("", 0),
        30.. => ("G", 30),
        20..30 => ("M", 20),
        10..20 => ("K", 10),
        ..10 => ("", 0),
    };
    format!("{}{suffix}", bytes >> shift)
}

/// The number of bytes for a size as written in rows' names (`64K`) or by people (`65536`, `64k`,
/// `64KiB`); `None` if it is not a size. `64KB` is not accepted, since it is 64000 to some and
/// 65536 to others.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1 << shift)
}

/// The number that a parameter's value is: of bytes for a size, otherwise as it stands; `None` if
/// it is not a number.
pub fn number(text: &str) -> Option<f64> {
    let number = || text.parse().ok().filter(|number: &f64| number.is_finite());
    size(text).map(|size| size as f64).or_else(number)
}

/// The number of nanoseconds for a time as written in rows' names (`50us`, `0`) or by people
/// (`50000ns`, `0.05ms`, `1.5 min`, `2h`, `90d`); `None` if it is not a time.
pub fn nanoseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit_ns = match &text[digits.len()..] {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        "w" => 604_800e9,
        // Only zero is the same in all units.
        "" if digits == "0" => 0.0,
        _ => return None,
    };
    let ns = digits.trim().parse::<f64>().ok()? * unit_ns;
    (0.0..1e19).contains(&ns).then(|| ns.round() as u64)
}

/// Whether two values of a parameter are equal, however they are written.
pub fn is_same(one: &str, other: &str) -> bool {
    let both = |amount: fn(&str) -> Option<u64>| {
        amount(one).is_some_and(|found| amount(other) == Some(found))
    };
    one == other || both(size) || both(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_parameters_in_order() {
        let of = |name| parameters(name).collect::<Vec<_>>();
        assert_eq!(of("fs.read{dir=a,size=4K}"), [("dir", "a"), ("size", "4K")]);
        assert_eq!(of("op.ramp_up"), []);
        assert_eq!(case("fs.read{dir=a,size=4K}"), Some("dir=a,size=4K"));
        assert_eq!((case("op.ramp_up"), case("fs.read{dir=a")), (None, None));
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (bytes, name) in [
            (0, "0"),
            (16, "16"),
            (1536, "1536"),
            (384 << 10, "384K"),
            (3 << 19, "1536K"),
            (1 << 30, "1G"),
        ] {
            assert_eq!(size_name(bytes), name);
            assert_eq!(size(name), Some(bytes as u64));
            assert_eq!(number(name), Some(bytes as f64));
        }
        assert_eq!((number("-0.5"), number("4k")), (Some(-0.5), Some(4096.0)));
        for text in ["", "inf", "NaN", "pipe", "5us"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_the_same_however_they_are_written() {
        for text in ["64K", "64k", "65536", "64KiB", "64kib"] {
            assert_eq!(size(text), Some(65536), "{text}");
        }
        for text in ["50us", "50µs", "50000ns", "0.05ms"] {
            assert_eq!(nanoseconds(text), Some(50_000), "{text}");
        }
        for (text, seconds) in [("90s", 90), ("1.5 min", 90), ("2m", 120), ("2h", 7200)] {
            assert_eq!(nanoseconds(text), Some(seconds * 1_000_000_000), "{text}");
        }
        assert_eq!(nanoseconds("2w"), nanoseconds("14d"));
        assert!(is_same("1M", "1024K") && is_same("1ms", "1000us") && is_same("0", "0ns"));
        assert!(is_same("*", "*") && is_same("idle", "idle"));
        assert!(!is_same("64K", "64"));
        assert!(!is_same("50", "50us"), "a time has a unit");
    }

    #[test]
    fn what_is_no_size_or_time_is_none() {
        for text in [
            "",
            "K",
            "-1",
            "1.5K",
            "64KB",
            "64B",
            "64iB",
            "99999999999G",
            "4K*",
            "avx512",
            "ü",
        ] {
            assert_eq!(size(text), None, "{text}");
        }
        for text in ["", "us", "50", "-1ns", "1y", "nans", "infs", "1e300s", "ü"] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
