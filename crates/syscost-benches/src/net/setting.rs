//! Shared: the parameters of a round trip, and its rows.

use syscost_harness::prelude::*;

use super::far_end::{Family, Path};

/// The key of the parameter with the size of a message, in bytes.
pub(crate) const SIZE: &str = "size";

/// The value of a parameter that must be a number greater than 0.
pub(crate) fn positive(case: &Case, key: &str) -> Result<usize, Failure> {
    let number = case.find_number(key).filter(|number| *number > 0);
    let number = number.ok_or_else(|| case.unknown(key))?;
    Ok(number as usize)
}

/// A case over this path, with the placement of a partner on this machine and further parameters.
pub(crate) fn case<const N: usize>(
    path: &'static str,
    family: Family,
    placement: Option<Placement>,
    further: [(&'static str, String); N],
) -> Case {
    let first = [(Path::KEY, path), (Family::KEY, family.name())];
    let first = first.map(|(key, value)| (key, value.to_owned()));
    let placement = placement.map(|placement| (Placement::KEY, placement.name().to_owned()));
    Case::new(first.into_iter().chain(placement).chain(further))
}

/// Whether a case is of loopback rather than of the given far end.
pub(crate) fn is_of_loopback(case: &Case) -> bool {
    case.get(Path::KEY) != Path::REMOTE
}

/// Whether a case is of loopback over IPv4, or of the given far end.
pub(crate) fn is_usual_path(case: &Case) -> bool {
    case.get(Path::KEY) == Path::REMOTE || case.get(Family::KEY) == Family::Ipv4.name()
}
