//! The rows of `net.tcp.bandwidth`.

use syscost_harness::prelude::*;
use syscost_sys::cpu;

use super::setting::{LARGE, STREAMS};
use super::{Direction, Method};
use crate::ipc::setting::same_and_nearest;
use crate::net::far_end::{Family, Path, remote_family};
use crate::net::seats::Seats;
use crate::net::setting::{self, SIZE, is_of_loopback, is_usual_path};

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
        let further = [
            (STREAMS, self.streams.to_string()),
            (SIZE, size_name(self.size)),
            (Direction::KEY, self.direction.name().to_owned()),
            (Method::KEY, self.method.name().to_owned()),
        ];
        setting::case(self.path, self.family, self.placement, further)
    }
}

pub(super) fn cases(here: &Here) -> Vec<Case> {
    let rows = on_loopback().into_iter().chain(to_elsewhere(here));
    rows.map(Row::case).collect()
}

fn on_loopback() -> Vec<Row> {
    let near = same_and_nearest();
    let plain = Row {
        path: Path::LOOPBACK,
        family: Family::Ipv4,
        placement: near.last().copied(),
        streams: 1,
        size: LARGE,
        direction: Direction::Send,
        method: Method::Write,
    };
    let mut rows = Vec::new();
    for placement in near.iter().copied().map(Some) {
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
    for placement in near.iter().copied().map(Some) {
        let methods = Method::ALL.into_iter().skip(1);
        rows.extend(methods.map(|method| Row {
            placement,
            method,
            ..plain
        }));
    }
    let allowed = cpu::allowed().unwrap_or_default();
    for (placement, streams) in near
        .into_iter()
        .flat_map(|placement| [(placement, 2), (placement, 4)])
    {
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

fn to_elsewhere(here: &Here) -> Vec<Row> {
    let Some(family) = remote_family(here) else {
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

/// Whether the quick profile includes the case: one stream of large messages that this end writes,
/// on the same CPU if both ends are on this machine.
pub(super) fn is_plain(case: &Case) -> bool {
    let place = case.find(Placement::KEY);
    case.number(STREAMS) == 1
        && case.number(SIZE) == LARGE as u64
        && case.get(Direction::KEY) == Direction::Send.name()
        && case.get(Method::KEY) == Method::Write.name()
        && is_usual_path(case)
        && place.is_none_or(|place| place == same_and_nearest()[0].name())
}

/// Whether only the full profile includes this case: on loopback, what differs in more than one
/// way from a plain stream.
pub(super) fn is_full(case: &Case) -> bool {
    let ways = [
        case.find(Placement::KEY)
            .is_some_and(|place| place != same_and_nearest()[0].name()),
        case.number(SIZE) != LARGE as u64,
        case.get(Direction::KEY) != Direction::Send.name(),
        case.get(Method::KEY) != Method::Write.name(),
        case.number(STREAMS) != 1,
        !is_usual_path(case),
    ];
    is_of_loopback(case) && ways.iter().filter(|differs| **differs).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_differ_and_one_of_each_path_is_plain() {
        let cases = cases(&Here::plain());
        let mut names: Vec<String> = cases.iter().map(Case::suffix).collect();
        assert!(names.len() >= 9, "{names:?}");
        let plain = cases.iter().filter(|case| is_plain(case)).count();
        assert_eq!(plain, 1, "no far end is given here");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases.len());
    }
}
