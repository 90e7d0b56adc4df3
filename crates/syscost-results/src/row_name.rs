//! The parts of a row's name, and what its values mean.

use syscost_params::{nanoseconds, size};

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
        assert!(is_same("1M", "1024K") && is_same("1ms", "1000us") && is_same("0", "0ns"));
        assert!(is_same("*", "*") && is_same("idle", "idle"));
        assert!(!is_same("64K", "64"));
        assert!(!is_same("50", "50us"), "a time has a unit");
    }
}
