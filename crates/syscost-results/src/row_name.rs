//! The parts of a row's name, and what its values mean.

/// The benchmark's id in a row's name, `id{key=value,...}` or the id alone.
pub fn id(name: &str) -> &str {
    name.split_once('{').map_or(name, |(id, _)| id)
}

/// The parameters in a row's name, `id{key=value,...}`, with their values, in order.
pub fn parameters(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let (_, case) = name.split_once('{').unwrap_or_default();
    let parameters = case.strip_suffix('}').unwrap_or_default().split(',');
    parameters.filter_map(|parameter| parameter.split_once('='))
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

/// The number of nanoseconds for a time as written in rows' names (`50us`, `0`) or by people
/// (`50000ns`, `0.05ms`); `None` if it is not a time.
pub fn nanoseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit_ns = match &text[digits.len()..] {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        // Only zero is the same in all units.
        "" if digits == "0" => 0.0,
        _ => return None,
    };
    let ns = digits.parse::<f64>().ok()? * unit_ns;
    (0.0..1e18).contains(&ns).then(|| ns.round() as u64)
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
    }

    #[test]
    fn values_are_the_same_however_they_are_written() {
        for text in ["64K", "64k", "65536", "64KiB", "64kib"] {
            assert_eq!(size(text), Some(65536), "{text}");
        }
        for text in ["50us", "50µs", "50000ns", "0.05ms"] {
            assert_eq!(nanoseconds(text), Some(50_000), "{text}");
        }
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
            "99999999999G",
            "4K*",
            "avx512",
            "ü",
        ] {
            assert_eq!(size(text), None, "{text}");
        }
        for text in ["", "us", "50", "-1ns", "1h", "nans", "infs", "1e300s", "ü"] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
