//! The parts of a row's name.

/// The parameters in a row's name, `id{key=value,...}`, with their values and in its order.
pub fn parameters(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let (_, case) = name.split_once('{').unwrap_or_default();
    let parameters = case.strip_suffix('}').unwrap_or_default().split(',');
    parameters.filter_map(|parameter| parameter.split_once('='))
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
}
