//! The parts of a row's name, and what its values mean.

pub use syscost_params::{nanoseconds, size, size_name};

/// The benchmark's id in a row's name, `id{key=value,...}` or the id alone.
pub fn id(name: &str) -> &str {
    name.split_once('{').map_or(name, |(id, _)| id)
}

/// The group in a row's name or id: what stands before the first dot.
pub fn group(name: &str) -> &str {
    let id = id(name);
    id.split_once('.').map_or(id, |(group, _)| group)
}

/// The operation in a row's name or id: what stands after the first dot, without the case.
pub fn operation(name: &str) -> &str {
    let id = id(name);
    id.split_once('.').map_or(id, |(_, operation)| operation)
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

/// The number that a parameter's value is: of bytes for a size, otherwise as it stands; `None` if
/// it is not a number.
pub fn number(text: &str) -> Option<f64> {
    let number = || text.parse().ok().filter(|number: &f64| number.is_finite());
    size(text).map(|size| size as f64).or_else(number)
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
    fn a_name_begins_with_its_group_and_operation() {
        for (name, of_it) in [
            ("fs.read{dir=a.b,size=4K}", ("fs", "read")),
            ("net.tcp.round_trip", ("net", "tcp.round_trip")),
            ("one{dir=a.b}", ("one", "one")),
        ] {
            assert_eq!((group(name), operation(name)), of_it);
        }
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
