//! The rows.

use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::topology::Relation;

use super::setting::LARGE;
use super::{Direction, Method};
use crate::net::far_end::{Family, Path, remote_family};
use crate::net::seats::Seats;

/// Bytes of a small message.
const SMALL: usize = 1 << 10;

/// One row.
#[derive(Clone, Copy)]
struct Row {
    path: &'static str,
    family: Family,
    /// On loopback only.
    placement: Option<Placement>,
    streams: usize,
    size: usize,
    direction: Direction,
    method: Method,
}

impl Row {
    fn case(self) -> Case {
        let placement = self.placement.map(|placement| placement.name().to_owned());
        let params = [
            (Path::KEY, Some(self.path.to_owned())),
            (Family::KEY, Some(self.family.name().to_owned())),
            (Placement::KEY, placement),
            ("streams", Some(self.streams.to_string())),
            ("size", Some(size_name(self.size))),
            (Direction::KEY, Some(self.direction.name().to_owned())),
            (Method::KEY, Some(self.method.name().to_owned())),
        ];
        let given = params.into_iter();
        Case::new(given.filter_map(|(key, value)| Some((key, value?))))
    }
}

/// The CPUs of the ends of most rows on loopback: the same one, and the nearest other one if there is any.
fn places() -> (Placement, Placement) {
    let same = Placement::At(Relation::SameCpu);
    let here = Placement::here();
    let mut others = here
        .into_iter()
        .filter(|place| ![same, Placement::Free].contains(place));
    (same, others.next().unwrap_or(same))
}

pub(super) fn cases() -> Vec<Case> {
    let rows = on_loopback().into_iter().chain(to_elsewhere());
    rows.map(Row::case).collect()
}

fn on_loopback() -> Vec<Row> {
    let (same, other) = places();
    let plain = Row {
        path: Path::LOOPBACK,
        family: Family::Ipv4,
        placement: Some(other),
        streams: 1,
        size: LARGE,
        direction: Direction::Send,
        method: Method::Write,
    };
    let mut rows = Vec::new();
    let near = [same, other]
        .into_iter()
        .take(if same == other { 1 } else { 2 });
    for placement in near.clone().map(Some) {
        for size in [LARGE, SMALL] {
            rows.extend([Direction::Send, Direction::Receive].map(|direction| Row {
                placement,
                size,
                direction,
                ..plain
            }));
        }
    }
    rows.push(Row {
        family: Family::Ipv6,
        ..plain
    });
    for placement in near.clone().map(Some) {
        let methods = Method::ALL.into_iter().skip(1);
        rows.extend(methods.map(|method| Row {
            placement,
            method,
            ..plain
        }));
    }
    let allowed = cpu::allowed().unwrap_or_default();
    for (placement, streams) in near.flat_map(|placement| [(placement, 2), (placement, 4)]) {
        let own = allowed.first().copied().unwrap_or(0);
        if Seats::here(placement, streams, own, &allowed).is_ok() {
            rows.push(Row {
                placement: Some(placement),
                streams,
                ..plain
            });
        }
    }
    if allowed.len() > 1 {
        rows.extend([1, 2].map(|streams| Row {
            placement: Some(Placement::Free),
            streams,
            ..plain
        }));
    }
    rows
}

fn to_elsewhere() -> Vec<Row> {
    let Some(family) = remote_family() else {
        return Vec::new();
    };
    let plain = Row {
        path: Path::REMOTE,
        family,
        placement: None,
        streams: 1,
        size: LARGE,
        direction: Direction::Send,
        method: Method::Write,
    };
    let mut rows = Vec::new();
    for direction in [Direction::Send, Direction::Receive] {
        let both = Row { direction, ..plain };
        rows.extend([1, 2, 4].map(|streams| Row { streams, ..both }));
        rows.push(Row {
            size: SMALL,
            ..both
        });
    }
    let methods = Method::ALL.into_iter().skip(1);
    rows.extend(methods.map(|method| Row { method, ..plain }));
    rows
}

/// Whether people look at it first: one stream of large messages that this end writes, on one CPU if both ends are here.
pub(super) fn is_plain(case: &Case) -> bool {
    let place = case.get(Placement::KEY);
    case.get("streams") == "1"
        && case.number("size") == LARGE as u64
        && case.get(Direction::KEY) == Direction::Send.name()
        && case.get(Method::KEY) == Method::Write.name()
        && case.get(Family::KEY) != Family::Ipv6.name()
        && (place.is_empty() || place == places().0.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_differ_and_one_of_each_path_is_plain() {
        let cases = cases();
        let mut names: Vec<String> = cases.iter().map(Case::suffix).collect();
        assert!(names.len() >= 9, "{names:?}");
        let plain = cases.iter().filter(|case| is_plain(case)).count();
        assert_eq!(plain, 1, "no far end is given here");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases.len());
    }
}
